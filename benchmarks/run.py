"""Times the GPU workloads under several compilers and prints one table.

usage: run.py [--kinds memory,conv] [--only a,b] [--peers eager,inductor,fusion]
              [--out FILE] [--jobs N] [--deadline SECONDS]

A peer is eager, inductor (torch.compile), inductor-max (its max-autotune mode) or
another back end of torch.compile by its name. A cell has a process of its own: a
crash or a hang costs that cell. The processes of a batch compile side by side and
are then timed one after the other, alone on the card.
"""

import argparse
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time

from common import MARK, compiled, relative_error

READY = "READY"
# No batch is begun with less than this left before the deadline.
LAST_BATCH_SECONDS = 45


def training_step(inputs, parameters):
    """A step that returns the result and the gradients of every parameter."""
    import torch

    seeds = {}

    def step(function):
        out = function(*inputs)
        if not parameters:
            # A closure over a model: its own leaves take the gradients.
            out.backward()
            return out.detach()
        if "gradient" not in seeds:
            seeds["gradient"] = torch.randn_like(out)
        gradients = torch.autograd.grad(out, parameters, seeds["gradient"])
        return (out.detach(), *gradients)

    return step


def load_suite():
    import suite
    import train  # noqa: F401, registers the training workloads

    return suite.SUITE


def measure(name, peer):
    """One cell: compiles, waits for the go-ahead, times."""
    import torch
    import triton.testing

    torch.manual_seed(0)
    kind, build = load_suite()[name]
    function, inputs, nbytes, flops = build()
    training = kind.startswith("train")
    if training:
        leaves = [tensor for tensor in inputs if tensor.requires_grad]
        if isinstance(function, torch.nn.Module):
            leaves += list(function.parameters())
        step = training_step(inputs, leaves)
    else:

        def step(call):
            return call(*inputs)

    with torch.set_grad_enabled(training):
        reference = step(function)
        start = time.perf_counter()
        call = compiled(function, peer)
        result = step(call)
        torch.cuda.synchronize()
        compile_s = time.perf_counter() - start
        error = relative_error(reference, result)
        del reference, result

        print(READY, flush=True)
        sys.stdin.readline()
        # Only now: the neighbours' load would have misled cuDNN's search.
        torch.backends.cudnn.benchmark = True
        for _ in range(3):
            step(call)
        ms = triton.testing.do_bench(
            lambda: step(call), warmup=50, rep=150, return_mode="median"
        )
    return dict(
        kind=kind, ms=ms, compile_s=compile_s, error=error, bytes=nbytes, flops=flops
    )


class Batch:
    """Some cells side by side: each compiles at once, one at a time is timed."""

    def __init__(self, cells):
        self.events = queue.Queue()
        self.processes = {cell: self.start(cell) for cell in cells}

    def start(self, cell):
        errors = tempfile.TemporaryFile("w+")
        process = subprocess.Popen(
            [sys.executable, __file__, "--cell", *cell],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        reader = threading.Thread(
            target=self.read, args=(cell, process, errors), daemon=True
        )
        reader.start()
        return process

    def read(self, cell, process, errors):
        """Turns what a process prints, and its end, into events."""
        for line in process.stdout:
            if line.startswith(READY):
                self.events.put(("ready", cell, None))
            elif line.startswith(MARK):
                self.events.put(("result", cell, json.loads(line[len(MARK) :])))
        failed = process.wait() != 0
        errors.seek(0)
        self.events.put(("end", cell, errors.read() if failed else None))

    def rows(self, deadline):
        """The rows of all cells, with `failed` for those without a result."""
        rows, ready, ended, timing = {}, [], set(), None
        while len(ended) < len(self.processes):
            if time.monotonic() > deadline:
                for process in self.processes.values():
                    process.kill()
            try:
                event, cell, value = self.events.get(timeout=2)
            except queue.Empty:
                continue
            if event == "ready":
                ready.append(cell)
            elif event == "result":
                rows[cell] = value
            else:
                ended.add(cell)
                timing = None if cell == timing else timing
                if cell in ready:
                    ready.remove(cell)
                if value is not None:
                    rows.setdefault(cell, dict(failed=value[-600:]))
            idle = len(ready) + len(ended) == len(self.processes)
            if timing is None and ready and idle:
                timing = ready.pop(0)
                stdin = self.processes[timing].stdin
                stdin.write("go\n")
                stdin.flush()
        return [dict(name=c[0], peer=c[1], **row) for c, row in rows.items()]


def print_table(rows, names, peers):
    print("milliseconds, compile time in seconds, relative error")
    print(f"{'workload':28}" + "".join(f"{peer:>32}" for peer in peers))
    for name in names:
        cells = [row for row in rows if row["name"] == name]
        line = f"{name:28}"
        for peer in peers:
            row = next((row for row in cells if row["peer"] == peer), None)
            if row is None:
                line += f"{'-':>32}"
            elif "failed" in row:
                line += f"{'failed':>32}"
            else:
                numbers = f"{row['ms']:.4f} {row['compile_s']:.1f} {row['error']:.0e}"
                line += f"{numbers:>32}"
        timed = [row for row in cells if "ms" in row]
        best = min(timed, key=lambda row: row["ms"], default=None)
        if best and best["bytes"]:
            line += f"   {best['bytes'] / best['ms'] / 1e9:7.2f} TB/s"
        if best and best["flops"]:
            line += f" {best['flops'] / best['ms'] / 1e9:8.1f} TFLOP/s"
        print(line)
    for row in rows:
        if "failed" in row:
            print(f"\n{row['name']}, {row['peer']}:\n{row['failed']}")


def chosen(options):
    """The names of the workloads that the options ask for."""
    kinds = options.kinds.split(",") if options.kinds else None
    only = options.only.split(",") if options.only else None
    return [
        name
        for name, (kind, _) in load_suite().items()
        if (not kinds or kind in kinds) and (not only or name in only)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", default="", help="kinds of workloads, by comma")
    parser.add_argument("--only", default="", help="workloads, by comma")
    parser.add_argument("--peers", default="eager,inductor,fusion")
    parser.add_argument("--out", help="JSON file for the rows")
    parser.add_argument("--jobs", type=int, default=12, help="cells side by side")
    parser.add_argument("--deadline", type=float, default=540, help="seconds")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(MARK + json.dumps(measure(*options.cell)), flush=True)
        return

    deadline = time.monotonic() + options.deadline
    names, peers = chosen(options), options.peers.split(",")
    pending = [(name, peer) for name in names for peer in peers]
    rows = []
    while pending and time.monotonic() < deadline - LAST_BATCH_SECONDS:
        batch, pending = pending[: options.jobs], pending[options.jobs :]
        print(f"{len(pending)} cells after this batch", file=sys.stderr)
        rows += Batch(batch).rows(deadline)
    if options.out:
        with open(options.out, "w") as file:
            json.dump(rows, file, indent=1)
    print_table(rows, names, peers)


if __name__ == "__main__":
    main()
