"""Every mistake is one FusionError with place and remedy."""

import inspect
import math

import numpy as np
import pytest

import fusion

X = np.ones((4, 8), np.float32)


def branch(x):
    if fusion.sum(x) > 0:
        return x
    return -x


MISTAKES = {
    "branch": (branch, "fusion.where"),
    "and": (lambda x: x > 0 and x < 1, "& | ~"),
    "float": (lambda x: float(fusion.sum(x)), "astype"),
    "math": (lambda x: math.exp(fusion.sum(x)), "fusion.exp"),
    "int": (lambda x: int(fusion.sum(x)), "astype"),
    "item": (lambda x: fusion.sum(x).item(), "outside"),
    "asarray": (lambda x: np.asarray(x), "fusion function"),
    "range": (lambda x: range(fusion.sum(x)), "Python integer"),
    "assignment": (lambda x: x.__setitem__(0, 1), "fusion.where"),
    "membership": (lambda x: 3 in x, "fusion.any"),
    "shapes": (lambda x: x + np.ones((3, 8), np.float32), "equal"),
    "matmul": (lambda x: x @ x, "last but one"),
    "reshape": (lambda x: x.reshape(5, 7), "number of elements"),
    "axis": (lambda x: fusion.sum(x, axis=2), "-2 to 1"),
    "concat": (lambda x: fusion.concat([x, x[:, :3]]), ""),
    "index": (lambda x: x[4], ""),
    "mask": (lambda x: x[x > 0], "fusion.where"),
    "too many indices": (lambda x: x[0, 0, 0], ""),
    "complex": (lambda x: x + 1j, "real"),
    "string": (lambda x: fusion.add(x, "a"), "arrays"),
    "bits of floats": (lambda x: x & 1, "integer"),
    "number too large": (lambda x: x.astype(np.uint8) + 256, "astype"),
    "conv": (lambda x: fusion.conv2d(x, x), "[N, C, spatial...]"),
    "groups": (lambda x: fusion.group_norm(x, 3), "divides"),
    "labels": (lambda x: fusion.cross_entropy(x, np.zeros(3, np.int64)), "shape [4]"),
    "max of nothing": (lambda x: fusion.max(x[:0], axis=0), "other dimensions"),
    "complex array": (lambda x: x + np.zeros(8, np.complex64), "convert"),
    "out": (lambda x: np.exp(x, out=np.zeros((4, 8))), "result"),
    "result": (lambda x: {1, 2}, "return arrays"),
    "cumsum": (lambda x: fusion.cumsum(x), "outside"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake(name):
    function, remedy = MISTAKES[name]
    with pytest.raises(fusion.FusionError) as caught:
        fusion.trace(function, X)
    problem = caught.value
    assert problem.kind and problem.message
    assert remedy in problem.remedy
    assert str(problem).endswith(problem.remedy)
    if problem.location:
        path, line, column = problem.location.rsplit(":", 2)
        assert path == __file__ and int(column) > 0


def test_location_is_the_line_of_the_branch():
    with pytest.raises(fusion.FusionError) as caught:
        fusion.trace(branch, X)
    first = inspect.getsourcelines(branch)[1]
    assert caught.value.location.startswith(f"{__file__}:{first + 1}:")


def test_long_loop_is_refused():
    with pytest.raises(fusion.FusionError, match="unrolled"):
        fusion.trace(lambda x: sum(row for row in x), np.ones((1000, 2)))


def test_functions_outside_a_trace():
    with pytest.raises(fusion.FusionError, match="none is being traced"):
        fusion.zeros(3)


def test_leaked_value():
    kept = []
    fusion.trace(lambda x: kept.append(x), X)
    with pytest.raises(fusion.FusionError):
        fusion.trace(lambda x: x + kept[0], X)


def test_torch_function_on_a_traced_value():
    torch = pytest.importorskip("torch")
    with pytest.raises(fusion.FusionError, match="torch.exp") as caught:
        fusion.trace(lambda x: torch.exp(x), torch.ones(3))
    assert "fusion.exp" in caught.value.remedy


def test_symbolic_size_has_no_value():
    with pytest.raises(fusion.FusionError, match="symbolic size N"):
        fusion.trace(lambda x: x.reshape(x.shape[0] + 28), X, dynamic={"x": {0: "N"}})
    with pytest.raises(fusion.FusionError, match="no array parameter"):
        fusion.trace(lambda x: x, X, dynamic={"y": {0: "N"}})


def test_types_that_are_not_supported():
    for dtype in (np.complex128, np.uint32, object):
        with pytest.raises(fusion.FusionError, match="element type"):
            fusion.trace(lambda x: x, np.zeros(3, dtype))


def test_too_many_dimensions():
    with pytest.raises(fusion.FusionError, match="at most 8"):
        fusion.trace(lambda x: x, np.zeros((1,) * 9))


def test_numerics():
    with pytest.raises(fusion.FusionError, match="numerics"):
        fusion.jit(lambda x: x, numerics="sloppy")


# From here on the compiler speaks.


def test_unknown_target():
    with pytest.raises(fusion.FusionError) as caught:
        fusion.jit(lambda x: x + 1, target="abacus")(X)
    assert "abacus" in caught.value.message and caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "func.func @main() {",
        "func.func @other() { return }",
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  return %y : tensor<3xf32>\n}",
        "func.func @main(%x: tensor<3xf32>) -> tensor<4xf32> {\n"
        "  %0 = fusion.exp %x : (tensor<3xf32>) -> tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}",
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %0 = fusion.nothing %x : (tensor<3xf32>) -> tensor<3xf32>\n"
        "  return %0 : tensor<3xf32>\n}",
    ],
)
def test_malformed_text(text):
    with pytest.raises(fusion.FusionError) as caught:
        fusion.compile(text)
    assert caught.value.kind in ("parse", "verify", "argument", "unsupported")


ADD = """func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = fusion.add %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""


@pytest.mark.parametrize(
    "args",
    [
        (np.ones(3, np.float32),),
        (np.ones(3, np.float32),) * 3,
        (np.ones(3, np.float32), np.ones(3)),
        (np.ones(3, np.float32), np.ones(4, np.float32)),
        (np.ones(3, np.float32), np.ones((3, 1), np.float32)),
        (np.ones(3, np.float32), "text"),
    ],
)
def test_wrong_arguments_of_a_call(args):
    with pytest.raises(fusion.FusionError) as caught:
        fusion.compile(ADD)(*args)
    assert caught.value.kind == "argument"


def test_other_arguments_than_traced():
    exe = fusion.compile(fusion.trace(lambda x, n: x * n, X, 2))
    with pytest.raises(fusion.FusionError, match="structure"):
        exe(X, 3)


def test_gpu_target_with_host_arrays():
    with pytest.raises(fusion.FusionError) as caught:
        fusion.jit(lambda x: x + 1, target="sm_90")(X)
    assert caught.value.kind == "device"
