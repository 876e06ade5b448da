"""Compiles and runs models on the CPU, checks them, and explains what was fused.

Writes to out/: the PTX of each model for an H100 or H200 (no GPU is needed for
that), pictures of the kernels, and the compiler's account of every decision.
"""

import copy
import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

import fusion
from fusion.explain import format_bytes
from models import MODELS

OUT = Path("out")
GPU = "sm_90a"
# Of the largest value: what the order of summation may change in float32.
TOLERANCE = 1e-5


def cast(value, dtype):
    """Arrays in nested dicts and tuples, in another type."""
    if isinstance(value, dict):
        return {name: cast(item, dtype) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(cast(item, dtype) for item in value)
    return value.astype(dtype)


def seconds(call):
    """The result of a call and how long it took."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def verdict(ok):
    return "equal" if ok else "DIFFERENT"


def demonstrate(title, function, in_numpy, inputs):
    """Runs one model; returns whether it matched numpy."""
    exact = inputs(np.random.default_rng(0))
    arguments = cast(exact, np.float32)
    jitted = fusion.jit(function)

    _, first = seconds(lambda: jitted(*arguments))
    result, warm = seconds(lambda: jitted(*arguments))
    reference = in_numpy(*exact)
    _, numpy_time = seconds(lambda: in_numpy(*arguments))
    error = np.max(np.abs(result - reference)) / np.max(np.abs(reference))
    ok = bool(error <= TOLERANCE)

    explanation = fusion.explain(jitted, *arguments)
    traffic = explanation.report["traffic"]
    print(f"\n{title}")
    print(
        f"  first call {first:.3f} s with compilation, then {warm * 1e3:.1f} ms;"
        f" numpy {numpy_time * 1e3:.1f} ms"
    )
    print(f"  {verdict(ok)} to numpy in float64: largest error {error:.1e}")
    print(
        f"  kernels: {explanation.kernels_before} before fusion,"
        f" {len(explanation.kernels)} after"
    )
    print(
        f"  memory traffic: {format_bytes(traffic['unfused_bytes'])} before,"
        f" {format_bytes(traffic['fused_bytes'])} after,"
        f" {format_bytes(explanation.bytes_saved)} saved"
    )
    folder = OUT / function.__name__
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in ("svg", "dot", "txt", "mlir"):
        explanation.save(folder / f"kernels.{suffix}")
    print(f"  picture: {folder}/kernels.svg, .dot; every decision: kernels.txt")
    write_ptx(folder, function, arguments)
    return ok


def write_ptx(folder, function, arguments):
    graph = fusion.trace(function, *arguments)
    executable = fusion.compile(graph, target=GPU)
    modules = dict.fromkeys(executable.kernels)  # kernels may share one
    for number, code in enumerate(modules):
        text = code if isinstance(code, str) else code.decode()
        (folder / f"{number}.{GPU}.ptx").write_text(text)
    print(f"  PTX for {GPU}: {len(executable.kernels)} kernels, {folder}/*.ptx")


def demonstrate_torch():
    """Runs PyTorch models through torch.compile; returns whether all matched."""
    import torch

    import fusion.torch
    from torch_models import models

    all_ok = True
    for title, model, inputs in models():
        compiled = torch.compile(model, backend="fusion")
        with torch.no_grad():
            _, first = seconds(lambda: compiled(*inputs))
            result, warm = seconds(lambda: compiled(*inputs))
            eager = model(*inputs)
            wide = [x.double() if x.is_floating_point() else x for x in inputs]
            exact = copy.deepcopy(model).double()(*wide)
        scale = exact.abs().max()
        errors = [((y - exact).abs().max() / scale).item() for y in (result, eager)]
        ok = errors[0] <= max(2 * errors[1], 1e-6)
        all_ok &= ok
        print(f"\n{title}, by torch.compile(model, backend='fusion')")
        print(f"  first call {first:.1f} s, then {warm * 1e3:.1f} ms")
        print(
            f"  {verdict(ok)} to eager: largest error against float64"
            f" {errors[0]:.1e}, eager's own {errors[1]:.1e}"
        )
    report = str(fusion.torch.report())
    (OUT / "torch.txt").write_text(report + "\n")
    print(f"\nof {OUT}/torch.txt, which lists the kernels:")
    for line in report.splitlines():
        if line.startswith(("graph", "  eager")):
            print(f"  {line.strip()}")
    return all_ok


def main():
    print(f"fusion {fusion.__version__}, {fusion.get_num_threads()} threads")
    ok = all([demonstrate(*model) for model in MODELS])
    if importlib.util.find_spec("torch"):
        ok &= demonstrate_torch()
    else:
        print("\nPyTorch is not installed: torch.compile is not shown.")
    print("\nAll results are equal." if ok else "\nSome results DIFFER.")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
