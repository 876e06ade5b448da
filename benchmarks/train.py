"""The training workloads: forward and backward, timed together.

A builder returns (callable, inputs, bytes, flops) as in suite.py; inputs and
parameters that need gradients say so.
  bytes  inputs, results and their gradients, each moved once, both ways
  flops  forward plus both gradients of the matrix or convolution core
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from suite import BF, DEV, FF, HF, nb, rn, workload


def gr(*ts):
    return tuple(t.requires_grad_() for t in ts)


@workload("bias_gelu_train", "train")
def _():
    x, b = gr(rn(16384, 4096), rn(4096))
    return (lambda x, b: F.gelu(x + b, approximate="tanh")), (x, b), nb(x) * 5, 0


@workload("layernorm_train", "train")
def _():
    x, w, b = gr(rn(16384, 4096), rn(4096), rn(4096))
    return (lambda x, w, b: F.layer_norm(x, (4096,), w, b)), (x, w, b), nb(x) * 5, 0


@workload("add_rmsnorm_train", "train")
def _():
    x, r, w = gr(rn(16384, 4096), rn(16384, 4096), rn(4096))

    def f(x, r, w):
        h = x + r
        hf = h.float()
        return (hf * torch.rsqrt(hf.pow(2).mean(-1, keepdim=True) + 1e-6)).to(
            x.dtype
        ) * w

    return f, (x, r, w), nb(x) * 7, 0


@workload("softmax_dropout_train", "train")
def _():
    (x,) = gr(rn(16384, 4096))
    return (lambda x: F.dropout(F.softmax(x, -1), 0.1)), (x,), nb(x) * 5, 0


@workload("swiglu_train", "train")
def _():
    (x,) = gr(rn(16384, 22016))

    def f(x):
        a, b = x.chunk(2, -1)
        return F.silu(a) * b

    return f, (x,), int(nb(x) * 4), 0


@workload("cross_entropy_train", "train")
def _():
    (x,) = gr(rn(8192, 50304))
    t = torch.randint(0, 50304, (8192,), device=DEV)
    return (lambda x, t: F.cross_entropy(x.float(), t)), (x, t), nb(x) * 3, 0


@workload("bn_relu_train_nhwc", "train")
def _():
    x = rn(128, 256, 56, 56, dtype=HF, cl=True).requires_grad_()
    w, b = gr(rn(256, dtype=FF), rn(256, dtype=FF))
    m, v = torch.zeros(256, device=DEV), torch.ones(256, device=DEV)
    return (
        (lambda x, w, b: torch.relu(F.batch_norm(x, m, v, w, b, True))),
        (x, w, b),
        nb(x) * 8,
        0,
    )


@workload("groupnorm_silu_train", "train")
def _():
    x = rn(16, 320, 64, 64, dtype=HF).requires_grad_()
    w, b = gr(rn(320, dtype=HF), rn(320, dtype=HF))
    return (lambda x, w, b: F.silu(F.group_norm(x, 32, w, b))), (x, w, b), nb(x) * 6, 0


@workload("linear_gelu_train", "train")
def _():
    x, w, b = gr(rn(8192, 4096), rn(16384, 4096), rn(16384))
    return (
        (lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh")),
        (x, w, b),
        nb(x, w) * 3,
        6 * 8192 * 4096 * 16384,
    )


def conv(name, n, c, h, k, r, s=1, groups=1, dtype=HF, cl=True):
    @workload(name, "train")
    def _():
        x = rn(n, c, h, h, dtype=dtype, cl=cl)
        if c > 3:
            x.requires_grad_()
        w = (
            rn(k, c // groups, r, r, dtype=dtype, cl=cl)
            / math.sqrt(c // groups * r * r)
        ).to(dtype)
        w = (
            (w.contiguous(memory_format=torch.channels_last) if cl else w)
            .detach()
            .requires_grad_()
        )
        b = rn(k, dtype=dtype).requires_grad_()
        o = (h + 2 * (r // 2) - r) // s + 1
        y = n * k * o * o * x.element_size()
        return (
            (lambda x, w, b: torch.relu(F.conv2d(x, w, b, s, r // 2, 1, groups))),
            (x, w, b),
            nb(x) * 3 + y * 3,
            (3 if c > 3 else 2) * 2 * n * k * o * o * (c // groups) * r * r,
        )


conv("conv_stem7x7_train", 128, 3, 224, 64, 7, 2)
conv("conv3x3_64_56_train", 128, 64, 56, 64, 3)
conv("conv1x1_256_64_56_train", 128, 256, 56, 64, 1)
conv("conv3x3s2_128_56_train", 128, 128, 56, 128, 3, 2)
conv("conv3x3_256_14_train", 128, 256, 14, 256, 3)
conv("conv3x3_512_7_train", 128, 512, 7, 512, 3)
conv("conv_dw7x7_96_56_train", 128, 96, 56, 96, 7, groups=96)
conv("conv_dw3x3s2_144_56_train", 128, 144, 56, 144, 3, 2, groups=144)
conv("conv_grouped32_3x3_train", 128, 128, 56, 128, 3, groups=32)
conv("conv3x3_64_56_f32_nchw_train", 64, 64, 56, 64, 3, dtype=FF, cl=False)


@workload("sdpa_causal_128_train", "train")
def _():
    q, k, v = gr(rn(4, 32, 4096, 128), rn(4, 32, 4096, 128), rn(4, 32, 4096, 128))
    return (
        (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
        (q, k, v),
        nb(q) * 12,
        14 * 4 * 32 * 4096 * 4096 * 128 // 2,
    )


@workload("attn_softcap_train", "train")
def _():
    q, k, v = gr(rn(4, 16, 2048, 128), rn(4, 16, 2048, 128), rn(4, 16, 2048, 128))

    def f(q, k, v):
        s = (q @ k.transpose(-1, -2)).float() * (128**-0.5)
        s = torch.tanh(s / 30.0) * 30.0
        return F.softmax(s, -1).to(v.dtype) @ v

    return f, (q, k, v), nb(q) * 12, 14 * 4 * 16 * 2048 * 2048 * 128


def vision(name, ctor, n):
    @workload(name, "trainnet")
    def _():
        import torchvision

        m = (
            getattr(torchvision.models, ctor)()
            .train()
            .to(DEV, HF)
            .to(memory_format=torch.channels_last)
        )
        for b in m.modules():
            if isinstance(b, nn.BatchNorm2d):
                b.float()
        return m, (rn(n, 3, 224, 224, dtype=HF, cl=True),), 0, 0


vision("resnet50_b128_train", "resnet50", 128)
vision("convnext_tiny_b64_train", "convnext_tiny", 64)
vision("mobilenet_v3_large_b128_train", "mobilenet_v3_large", 128)


@workload("gpt2_b8_s1024_train", "trainnet")
def _():
    from transformers import GPT2Config, GPT2LMHeadModel

    m = GPT2LMHeadModel(GPT2Config()).train().to(DEV, BF)
    x = torch.randint(0, 50257, (8, 1024), device=DEV)
    return (lambda x: m(x, labels=x).loss), (x,), 0, 0
