"""Fixtures of the Python tests.

`run` executes a function under the target at hand and returns numpy arrays. Each
numeric test runs for the CPU, the emulated GPU and, where there is one, the GPU.
With --reference graphs are evaluated by the reference evaluator instead, which
tests the tracer alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import fusion
from fusion import frameworks, pytree
from fusion.executable import preparation
from fusion.verification import reference

# The tests' models are the demo's.
sys.path.append(str(Path(__file__).parents[2] / "examples"))


def pytest_addoption(parser):
    parser.addoption(
        "--reference",
        action="store_true",
        help="evaluate graphs by the reference evaluator",
    )


def _has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def pytest_generate_tests(metafunc):
    if "target" not in metafunc.fixturenames:
        return
    if metafunc.config.getoption("--reference"):
        targets = ["reference"]
    else:
        targets = ["cpu", "emulator"] + (["cuda"] if _has_gpu() else [])
    metafunc.parametrize("target", targets)


@pytest.fixture
def rng():
    """Fresh data in every run; the seed is printed where a test fails."""
    seed = np.random.SeedSequence().entropy % 2**32
    print("seed", seed)
    return np.random.default_rng(seed)


def _on_gpu(x):
    import torch

    if not frameworks.is_array(x):
        return x
    x = np.asarray(x)
    # torch has no reversed memory, no foreign one and no elements in records.
    odd = any(stride < 0 or stride % x.itemsize for stride in x.strides)
    if odd or not x.dtype.isnative:
        x = np.ascontiguousarray(x, x.dtype.newbyteorder("="))
    return torch.from_numpy(x).cuda()


def _tree_map(function, tree):
    leaves = []
    description = pytree.flatten(tree, frameworks.is_array, leaves)
    return pytree.unflatten(description, iter([function(x) for x in leaves]))


@pytest.fixture
def run(target):
    """`run(f, *args, **jit_options)`: the results of `f` as numpy arrays."""

    def execute(f, *args, **options):
        if target == "reference":
            graph = fusion.trace(f, *args, **options)
            leaves = graph.leaves(args, {})
            inputs = [
                prepare(x) if (prepare := preparation(x, flipped)) else x
                for x, flipped in zip(leaves, graph.flipped)
            ]
            results = reference(graph.text, inputs + graph.captured)
            return pytree.unflatten(graph.out_tree, iter(results))
        if target == "cuda":
            args = _tree_map(_on_gpu, args)
        results = fusion.jit(f, target=target, **options)(*args)
        return _tree_map(frameworks.values, results)

    return execute


def close(got, want, rtol=1e-6, atol=0.0):
    """Equal trees of arrays: types and shapes too."""
    got_leaves, want_leaves = [], []
    got_tree = pytree.flatten(got, frameworks.is_array, got_leaves)
    want_tree = pytree.flatten(want, frameworks.is_array, want_leaves)
    assert got_tree == want_tree
    for a, b in zip(got_leaves, want_leaves):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype, f"{a.dtype} is not {b.dtype}"
        assert a.shape == b.shape
        if b.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.fixture
def check(run):
    """`check(f, *args, rtol=, atol=)`: f gives the same under fusion as in
    plain numpy; `want` stands in for f where numpy needs other words.
    """

    def compare(f, *args, want=None, rtol=1e-6, atol=1e-6):
        with np.errstate(all="ignore"):
            expected = (want or f)(*args)
        close(run(f, *args), expected, rtol=rtol, atol=atol)

    return compare
