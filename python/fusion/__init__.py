"""Fusion: a compiler that joins array operations into few kernels.

    import fusion

    @fusion.jit
    def f(x, w):
        return fusion.softmax(fusion.relu(x @ w), axis=-1)

`jit` compiles functions of numpy, torch, cupy and jax arrays; inside them work
operators, numpy's functions, and those of this module: the Python array API
standard's and neural network layers. `explain` shows what was fused and why,
`trace` the graph, `compile` takes graphs as text.
"""

from __future__ import annotations

import importlib as _importlib
from math import e, inf, nan, pi  # the standard's constants

from .activations import (
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
)
from .array import Array
from .capture import Graph, trace
from .creation import (
    arange,
    arange_like,
    asarray,
    constant,
    empty,
    eye,
    full,
    full_like,
    linspace,
    one_hot,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from .dtypes import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

# The functions of a traced function, by module. Several bear the names of
# Python's own, as the array API standard has it.
from .elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    astype,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    cbrt,
    ceil,
    clip,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    fmod,
    greater,
    greater_equal,
    hypot,
    isclose,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    nan_to_num,
    negative,
    not_equal,
    positive,
    pow,
    power,
    reciprocal,
    remainder,
    round,
    rsqrt,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
    where,
)
from .errors import FusionError, FusionTypeError
from .executable import Executable, compile
from .explain import Explanation, explain
from .gathering import embedding, take, take_along_axis
from .indexing import getitem
from .jit import jit
from .layers import (
    attention,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    conv,
    conv1d,
    conv2d,
    conv3d,
    cross_entropy,
    group_norm,
    layer_norm,
    linear,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    rms_norm,
)
from .linalg import (
    dot,
    einsum,
    matmul,
    outer,
    tensordot,
    vecdot,
    vector_norm,
)
from .machine import doctor, get_num_threads, set_num_threads, trim
from .manipulation import (
    broadcast_arrays,
    broadcast_to,
    chunk,
    concat,
    concatenate,
    expand_dims,
    flatten,
    flip,
    matrix_transpose,
    moveaxis,
    pad,
    permute_dims,
    ravel,
    repeat,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    tile,
    transpose,
    tril,
    triu,
    unstack,
)
from .reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    logsumexp,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from .saving import load, save
from .tensor_type import Dim
from .unsupported import (
    argsort,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
    dropout,
    median,
    nonzero,
    searchsorted,
    sort,
    topk,
    unique_values,
)

newaxis = None
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # The front ends import their frameworks, so they wait until asked for.
    if name in ("torch", "onnx"):
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
