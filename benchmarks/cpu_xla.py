"""The CPU workloads in jax, for the peer xla of cpu.py."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import lax

N = 4096


def conv(stride=1, groups=1):
    def function(x, weight, bias):
        padding = weight.shape[2] // 2
        y = lax.conv_general_dilated(
            x,
            weight,
            (stride, stride),
            [(padding, padding)] * 2,
            feature_group_count=groups,
        )
        return jax.nn.relu(y + bias[None, :, None, None])

    return function


def layernorm(x, b):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * b + b


def add_rmsnorm(x, y, b):
    h = x + y
    return h, h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6) * b


def cross_entropy(x, t):
    return -jnp.take_along_axis(jax.nn.log_softmax(x, -1), t[:, None], 1).mean()


def bias_relu(a, b, c):
    return jax.nn.relu(a @ b + c)


def attention(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) * 0.125, -1) @ v


FUNCTIONS = {
    "bias_gelu": lambda x, b: jax.nn.gelu(x + b),
    "layernorm": layernorm,
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "add_rmsnorm": add_rmsnorm,
    "swiglu": lambda x: jax.nn.silu(x[:, : N // 2]) * x[:, N // 2 :],
    "colsum_tanh": lambda x: jnp.tanh(x).sum(0),
    "transpose_add": lambda x, y: x.T + y,
    "bf16_gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "cross_entropy": cross_entropy,
    "mm512_bias_relu": bias_relu,
    "mm1024_bias_relu": bias_relu,
    "mm2048_bias_relu": bias_relu,
    "mm_odd": lambda a, b, c: jax.nn.gelu(a @ b + c, approximate=False),
    "gemv": lambda a, b: a @ b,
    "conv3x3_64": conv(),
    "conv3x3_256": conv(),
    "conv1x1_256_64": conv(),
    "conv3x3_s2": conv(stride=2),
    "stem7x7": conv(stride=2),
    "depthwise3x3": conv(groups=144),
    "grouped32": conv(groups=32),
    "attention": attention,
}


def to_jax(tensor):
    if tensor.dtype == torch.bfloat16:
        return jnp.asarray(tensor.float().numpy()).astype(jnp.bfloat16)
    return jnp.asarray(tensor.numpy())


def to_torch(array):
    return torch.from_numpy(np.asarray(array, np.float64))


def prepare(name, inputs):
    """A call to time, its results as torch tensors, and the compile time."""
    arguments = [to_jax(tensor) for tensor in inputs]
    start = time.perf_counter()
    compiled = jax.jit(FUNCTIONS[name]).lower(*arguments).compile()
    seconds = time.perf_counter() - start
    results = [to_torch(array) for array in jax.tree.leaves(compiled(*arguments))]
    return lambda: jax.block_until_ready(compiled(*arguments)), results, seconds
