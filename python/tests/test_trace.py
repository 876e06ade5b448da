"""The text that tracing gives. Needs no compiler."""

import re

import numpy as np
import pytest

import fusion
from fusion.graph import Builder


def body(f, *args, **options):
    """The ops of the graph, without locations and indentation."""
    text = fusion.trace(f, *args, **options).text
    lines = [re.sub(r" loc\(.*\)$", "", line.strip()) for line in text.splitlines()]
    return [line for line in lines if line.startswith(("%", "return"))]


def ops(f, *args, **options):
    """The mnemonics of the graph, in order."""
    return re.findall(r"= fusion\.(\w+)", fusion.trace(f, *args, **options).text)


F32 = np.zeros((4, 8), np.float32)
I32 = np.zeros((4, 8), np.int32)


def test_operators_and_locations():
    graph = fusion.trace(lambda x: x * x + 1, F32)
    line = next(s for s in graph.text.splitlines() if "fusion.mul" in s)
    assert (
        "%0 = fusion.mul %arg0, %arg0 : (tensor<4x8xf32>, tensor<4x8xf32>) "
        "-> tensor<4x8xf32>" in line
    )
    assert re.search(r'loc\(".*test_trace.py":\d+:\d+\)$', line)
    assert 'loc("x")' in graph.text


def test_broadcast_is_explicit():
    row = np.zeros(8, np.float32)
    assert body(lambda x, b: x + b, F32, row)[0] == (
        "%0 = fusion.broadcast %arg1 {dims = array<i64: 1>} : (tensor<8xf32>) -> "
        "tensor<4x8xf32>"
    )


def test_number_takes_the_array_type():
    assert body(lambda x: x + 0.1, F32)[0] == (
        "%0 = fusion.constant dense<0.1> : tensor<f32>"
    )
    assert fusion.trace(lambda x: x + 1, I32).text.count("i32") > 0
    assert "convert" not in ops(lambda x: x + 1, I32)


@pytest.mark.parametrize(
    "other",
    [
        np.float32,
        np.float64,
        np.float16,
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.bool_,
    ],
)
@pytest.mark.parametrize(
    "first", [np.float32, np.float16, np.int8, np.int32, np.int64, np.uint8, np.bool_]
)
def test_promotion_is_numpy_s(first, other):
    seen = []

    def f(x, y):
        z = x + y
        seen.append(z.dtype)
        return z

    fusion.trace(f, np.zeros(2, first), np.zeros(2, other))
    assert seen[0] == np.result_type(first, other)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int64, np.bool_])
@pytest.mark.parametrize("number", [True, 1, 1.5])
def test_numbers_promote_as_in_numpy(dtype, number):
    x = np.zeros(2, dtype)
    seen = []
    fusion.trace(lambda x: seen.append((x * number).dtype), x)
    assert seen[0] == (x * number).dtype


def test_dtype_names():
    assert fusion.float32 == np.float32 == np.dtype("f4")
    assert fusion.float32 == "float32" and fusion.float32 != np.float64
    seen = []
    fusion.trace(lambda x: seen.append(x.dtype == np.float32), F32)
    assert seen == [True]
    assert np.zeros(1, fusion.int16).dtype == np.int16


def test_indexing():
    assert ops(lambda x: x[:], F32) == []
    assert body(lambda x: x[1:, ::3], F32)[0] == (
        "%0 = fusion.slice %arg0 {starts = array<i64: 1, 0>, steps = array<i64: 1, "
        "3>} : (tensor<4x8xf32>) -> tensor<3x3xf32>"
    )
    assert ops(lambda x: x[::-1], F32) == ["reverse"]
    assert ops(lambda x: x[0], F32) == ["slice", "reshape"]
    assert ops(lambda x: x[:, None], F32) == ["broadcast"]


def test_channels_last_is_an_order():
    x = np.zeros((2, 5, 6, 3), np.float32).transpose(0, 3, 1, 2)
    text = fusion.trace(fusion.relu, x).text
    kept = "tensor<2x3x5x6xf32, #fusion.layout<order = [0, 2, 3, 1]>>"
    assert f"fusion.relu %arg0 : ({kept}) -> {kept}" in text


def test_other_views_are_strides():
    text = fusion.trace(fusion.relu, np.zeros((4, 16), np.float32)[:, ::2]).text
    assert "tensor<4x8xf32, #fusion.layout<strides = [16, 2]>>" in text
    assert "-> (tensor<4x8xf32>)" in text


def test_negative_strides_are_reversed():
    assert ops(lambda x: x + 1, F32[::-1])[0] == "reverse"
    assert "strides" not in fusion.trace(lambda x: x + 1, F32[::-1]).text


def test_alignment():
    x = np.zeros(9, np.float32)[1:]
    assert "{fusion.align = 4 : i64}" in fusion.trace(fusion.relu, x).text
    assert "align" not in fusion.trace(fusion.relu, np.zeros(8, np.float32)).text


def test_symbolic_sizes():
    graph = fusion.trace(
        lambda x, b: fusion.mean(x + b, axis=0),
        F32,
        np.zeros(8, np.float32),
        dynamic={"x": {0: "N"}},
    )
    symbolic = 'tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>'
    assert f"%arg0: {symbolic}" in graph.text
    assert f"(tensor<8xf32>, {symbolic}) -> {symbolic}" in graph.text  # like


def test_symbolic_shape_passes_through_reshape():
    names = ops(
        lambda x: x.reshape(x.shape[0], 2, 4).reshape(x.shape[0], -1),
        F32,
        dynamic={"x": ["N", None]},
    )
    assert names == ["reshape", "reshape"]


def test_captured_arrays():
    small, large = np.arange(3.0), np.arange(1000.0)
    graph = fusion.trace(
        lambda: (fusion.exp(small), fusion.exp(large), fusion.sin(large))
    )
    assert graph.captured == [large] or graph.captured[0] is large
    assert len(graph.captured) == 1
    assert 'dense<"0x' in graph.text


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (1.0, "f32", "dense<1.0>"),
        (1e-5, "f64", "dense<1.0e-05>"),
        (float("nan"), "f32", "dense<0x7FC00000>"),
        (-float("inf"), "f16", "dense<0xFC00>"),
        (1.0, "bf16", "dense<1.0>"),
        (float("inf"), "bf16", "dense<0x7F80>"),
        ([True, False], "i1", "dense<[true, false]>"),
        ([1, 2], "i16", 'dense<"0x01000200">'),
        (250, "ui8", "dense<250>"),
        (np.zeros((0, 3)), "f32", "dense<>"),
    ],
)
def test_constants(value, dtype, text):
    builder = Builder()
    assert text in builder.text([builder.constant(value, dtype)])


def test_bfloat16_rounds_to_nearest_even():
    builder = Builder()
    # 1 + 2^-8 lies halfway between two values: the even one is 1.
    constants = [builder.constant(v, "bf16") for v in (1 + 2**-8, 1 + 3 * 2**-8)]
    text = builder.text(constants)
    assert "dense<1.0> : tensor<bf16>" in text
    assert "dense<1.015625> : tensor<bf16>" in text


def test_trees():
    def f(pair, *, named):
        return {"sum": pair[0] + pair[1], "rest": [named["z"], 3, None]}

    graph = fusion.trace(f, (F32, F32), named={"z": I32})
    assert graph.names == ["pair.0", "pair.1", "named.z"]
    assert graph.text.count("fusion.add") == 1


def test_unrolled_iteration():
    assert (
        ops(lambda x: sum(row for row in x), np.zeros((3, 2), np.float32)).count(
            "slice"
        )
        == 3
    )


def test_nested_jit_is_inlined():
    inner = fusion.jit(lambda x: fusion.exp(x))
    assert ops(lambda x: inner(x) + inner(x), F32) == ["exp", "exp", "add"]


def test_layers():
    x = np.zeros((2, 4, 8, 8), np.float32)
    w = np.zeros((6, 2, 3, 3), np.float32)
    assert (
        "pad_low = array<i64: 1, 0>, pad_high = array<i64: 2, 0>"
        in fusion.trace(
            lambda x, w: fusion.conv2d(x, w, padding=[(1, 2), 0], groups=2), x, w
        ).text
    )
    assert (
        "tensor<2x6x8x8xf32>"
        in fusion.trace(
            lambda x, w: fusion.conv2d(x, w, padding="same", groups=2), x, w
        ).text
    )
    assert (
        "{approximate = #fusion<approximation tanh>}"
        in fusion.trace(lambda x: fusion.gelu(x, approximate="tanh"), x).text
    )
    assert (
        "ceil_mode"
        in fusion.trace(lambda x: fusion.max_pool2d(x, 3, 2, ceil_mode=True), x).text
    )
    assert ops(lambda x, b: fusion.layer_norm(x, None, b), F32, F32[0])[:2] == [
        "constant",
        "broadcast",
    ]


def test_linear_multiplies_by_the_stored_weight():
    w = np.zeros((5, 8), np.float32)
    text = fusion.trace(lambda x, w: fusion.linear(x, w), F32, w).text
    assert "fusion.matmul %arg0, %arg1 {transpose_rhs}" in text


def test_results_are_never_strided():
    graph = fusion.trace(lambda x: x, np.zeros((4, 16), np.float32)[:, ::2])
    assert "-> (tensor<4x8xf32>)" in graph.text
