"""Times the CPU workloads under several compilers beside the machine's floor.

usage: cpu.py [--only a,b] [--peers eager,inductor,fusion] [--threads 2] [--out FILE]

A peer is eager, inductor (torch.compile), another back end of torch.compile by
its name, or xla, which needs jax. The floor of a row is the larger of the time to
copy its bytes once and the time of its flops at the rate of a large square
product, both measured. A cell has a process of its own: a crash costs that cell.
"""

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import time

from common import MARK, compiled, relative_error

TIMEOUT_SECONDS = 300


def median_seconds(call, budget=2.0):
    """Median time of a call over `budget` seconds, of 5 to 200 calls."""
    call()
    call()
    times = []
    end = time.perf_counter() + budget
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure_floor(nbytes, flops):
    import torch

    source = torch.ones(max(nbytes // 8, 1))
    target = torch.empty_like(source)
    seconds = median_seconds(lambda: target.copy_(source))
    if flops:
        a = torch.randn(2048, 2048)
        product = min(median_seconds(lambda: a @ a, 1.0) for _ in range(2))
        seconds = max(seconds, flops * product / (2 * 2048**3))
    return dict(ms=seconds * 1e3, compile_s=0.0, error=0.0)


def measure(name, peer, threads):
    """One cell of the table, in this process."""
    if peer == "xla":
        os.environ["XLA_FLAGS"] = (
            f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={threads}"
        )
    import torch

    from cpu_suite import SUITE

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    function, inputs, nbytes, flops = SUITE[name]()
    with torch.no_grad():
        if peer == "floor":
            return measure_floor(nbytes, flops)
        reference = function(*inputs)
        if peer == "xla":
            import cpu_xla

            call, result, compile_s = cpu_xla.prepare(name, inputs)
        else:
            start = time.perf_counter()
            call = functools.partial(compiled(function, peer), *inputs)
            result = call()
            compile_s = time.perf_counter() - start
        error = relative_error(reference, result)
        return dict(ms=median_seconds(call) * 1e3, compile_s=compile_s, error=error)


def run_cell(name, peer, threads):
    """One cell in a process of its own: a row, or a dict with `failed`."""
    command = [sys.executable, __file__, "--threads", str(threads)]
    command += ["--cell", name, peer]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return dict(name=name, peer=peer, failed="timeout")
    for line in run.stdout.splitlines():
        if line.startswith(MARK):
            return dict(name=name, peer=peer, **json.loads(line[len(MARK) :]))
    return dict(name=name, peer=peer, failed=run.stderr[-600:])


def describe(row):
    if "failed" in row:
        return "timeout" if row["failed"] == "timeout" else "failed"
    return f"{row['ms']:.2f} ms {row['compile_s']:.1f} s {row['error']:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="workloads, by comma")
    parser.add_argument("--peers", default="eager,inductor,fusion")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", help="JSON file for the rows")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(MARK + json.dumps(measure(*options.cell, options.threads)))
        return

    from cpu_suite import SUITE

    names = options.only.split(",") if options.only else list(SUITE)
    peers = ["floor", *options.peers.split(",")]
    print("time, compile time and relative error")
    print(f"{'workload':18}" + "".join(f"{peer:>24}" for peer in peers))
    rows = []
    for name in names:
        print(f"{name:18}", end="", flush=True)
        for peer in peers:
            rows.append(run_cell(name, peer, options.threads))
            print(f"{describe(rows[-1]):>24}", end="", flush=True)
        print()
    for row in rows:
        if row.get("failed", "timeout") != "timeout":
            print(f"\n{row['name']}, {row['peer']}:\n{row['failed']}")
    if options.out:
        with open(options.out, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
