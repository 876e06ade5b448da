"""The CPU workloads, on which fusion and its peers are measured side by side.

A builder returns (callable, inputs, bytes, flops):
  bytes  the fewest bytes that must cross memory: inputs once, outputs once
  flops  the arithmetic of its matrix or convolution core, 0 for the others
"""

import torch
import torch.nn.functional as F

SUITE = {}
N = 4096


def workload(build):
    """Registers a builder under the name of its function."""
    SUITE[build.__name__] = build
    return build


def square():
    return torch.randn(N, N)


@workload
def bias_gelu():
    inputs = square(), torch.randn(N)
    return lambda x, b: F.gelu(x + b, approximate="tanh"), inputs, 8 * N * N, 0


@workload
def layernorm():
    inputs = square(), torch.randn(N)
    return lambda x, b: F.layer_norm(x, (N,), b, b), inputs, 8 * N * N, 0


@workload
def softmax():
    return lambda x: F.softmax(x, -1), (square(),), 8 * N * N, 0


@workload
def add_rmsnorm():
    def function(x, y, b):
        h = x + y
        return h, h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * b

    return function, (square(), square(), torch.randn(N)), 16 * N * N, 0


@workload
def swiglu():
    def function(x):
        return F.silu(x[:, : N // 2]) * x[:, N // 2 :]

    return function, (square(),), 6 * N * N, 0


@workload
def colsum_tanh():
    return lambda x: torch.tanh(x).sum(0), (square(),), 4 * N * N, 0


@workload
def transpose_add():
    return lambda x, y: x.t() + y, (square(), square()), 12 * N * N, 0


@workload
def bf16_gelu():
    return lambda x: F.gelu(x), (square().bfloat16(),), 4 * N * N, 0


@workload
def cross_entropy():
    rows, classes = 2048, 32000
    inputs = torch.randn(rows, classes), torch.randint(0, classes, (rows,))
    return lambda x, t: F.cross_entropy(x, t), inputs, 4 * rows * classes, 0


def matmul(name, m, k, n, epilogue):
    """Registers epilogue(a @ b + c) on an (m, k) by (k, n) product."""

    def build():
        inputs = torch.randn(m, k), torch.randn(k, n), torch.randn(n)
        nbytes = 4 * (m * k + k * n + m * n)
        return lambda a, b, c: epilogue(a @ b + c), inputs, nbytes, 2 * m * k * n

    SUITE[name] = build


matmul("mm512_bias_relu", 512, 512, 512, F.relu)
matmul("mm1024_bias_relu", 1024, 1024, 1024, F.relu)
matmul("mm2048_bias_relu", 2048, 2048, 2048, F.relu)
matmul("mm_odd", 777, 1031, 509, F.gelu)


@workload
def gemv():
    inputs = torch.randn(1, N), square()
    return lambda a, b: a @ b, inputs, 4 * N * N, 2 * N * N


def conv(name, shape, channels, kernel, stride=1, groups=1):
    """Registers relu(conv2d + bias), padded by half the kernel."""
    n, c, h, w = shape
    padding = kernel // 2
    out_h = (h + 2 * padding - kernel) // stride + 1
    out_w = (w + 2 * padding - kernel) // stride + 1

    def build():
        x = torch.randn(*shape)
        weight = torch.randn(channels, c // groups, kernel, kernel)
        bias = torch.randn(channels)
        results = n * channels * out_h * out_w
        nbytes = 4 * (x.numel() + weight.numel() + results)
        flops = 2 * results * (c // groups) * kernel * kernel

        def function(x, weight, bias):
            return F.relu(F.conv2d(x, weight, bias, stride, padding, 1, groups))

        return function, (x, weight, bias), nbytes, flops

    SUITE[name] = build


conv("conv3x3_64", (8, 64, 56, 56), 64, 3)
conv("conv3x3_256", (8, 256, 14, 14), 256, 3)
conv("conv1x1_256_64", (8, 256, 56, 56), 64, 1)
conv("conv3x3_s2", (8, 128, 56, 56), 128, 3, stride=2)
conv("stem7x7", (8, 3, 224, 224), 64, 7, stride=2)
conv("depthwise3x3", (8, 144, 56, 56), 144, 3, groups=144)
conv("grouped32", (8, 128, 56, 56), 128, 3, groups=32)


@workload
def attention():
    b, h, n, d = 1, 8, 1024, 64
    inputs = tuple(torch.randn(b, h, n, d) for _ in range(3))

    def function(q, k, v):
        return F.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v

    return function, inputs, 4 * 4 * b * h * n * d, 4 * b * h * n * n * d
