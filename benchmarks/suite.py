"""The GPU workloads, on which fusion and its peers are measured side by side.

A builder returns (callable, inputs, bytes, flops):
  bytes  the fewest bytes that must cross device memory: inputs once, outputs once
  flops  the arithmetic of its matrix or convolution core, 0 for the others
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
BF, HF, FF = torch.bfloat16, torch.float16, torch.float32
SUITE = {}


def workload(name, kind):
    """Registers a builder under a name and a kind of workload."""

    def register(build):
        SUITE[name] = (kind, build)
        return build

    return register


def rn(*s, dtype=BF, cl=False):
    """Random normal values, channels last where `cl` says so."""
    t = torch.randn(*s, device=DEV, dtype=FF).to(dtype)
    return t.contiguous(memory_format=torch.channels_last) if cl else t


def nb(*ts):
    """Bytes of some tensors."""
    return sum(t.numel() * t.element_size() for t in ts)


# ---------------------------------------------------------------- memory-bound
@workload("bias_gelu", "memory")
def _():
    x, b = rn(16384, 4096), rn(4096)
    return (lambda x, b: F.gelu(x + b, approximate="tanh")), (x, b), nb(x) * 2, 0


@workload("add_rmsnorm", "memory")
def _():
    x, r, w = rn(16384, 4096), rn(16384, 4096), rn(4096)

    def f(x, r, w):
        h = x + r
        hf = h.float()
        return h, (hf * torch.rsqrt(hf.pow(2).mean(-1, keepdim=True) + 1e-6)).to(
            x.dtype
        ) * w

    return f, (x, r, w), nb(x) * 4, 0


@workload("layernorm", "memory")
def _():
    x, w, b = rn(16384, 4096), rn(4096), rn(4096)
    return (lambda x, w, b: F.layer_norm(x, (4096,), w, b)), (x, w, b), nb(x) * 2, 0


@workload("softmax_8k", "memory")
def _():
    x = rn(16384, 8192)
    return (lambda x: F.softmax(x, -1)), (x,), nb(x) * 2, 0


@workload("softmax_128k_f32", "memory")
def _():
    x = rn(2048, 131072, dtype=FF)
    return (lambda x: F.softmax(x, -1)), (x,), nb(x) * 2, 0


@workload("swiglu", "memory")
def _():
    x = rn(16384, 22016)

    def f(x):
        a, b = x.chunk(2, -1)
        return F.silu(a) * b

    return f, (x,), int(nb(x) * 1.5), 0


@workload("rope", "memory")
def _():
    q, c, s = rn(8, 32, 4096, 128), rn(4096, 128), rn(4096, 128)

    def f(q, c, s):
        h = torch.cat((-q[..., 64:], q[..., :64]), -1)
        return q * c + h * s

    return f, (q, c, s), nb(q) * 2, 0


@workload("cross_entropy", "memory")
def _():
    x, t = rn(8192, 128256), torch.randint(0, 128256, (8192,), device=DEV)
    return (lambda x, t: F.cross_entropy(x.float(), t)), (x, t), nb(x), 0


@workload("sum_all_f32", "memory")
def _():
    x = rn(16384, 8192, dtype=FF)
    return (lambda x: (x * x).sum()), (x,), nb(x), 0


@workload("mean_dim0_f32", "memory")
def _():
    x = rn(16384, 8192, dtype=FF)
    return (lambda x: x.abs().mean(0)), (x,), nb(x), 0


@workload("bn_add_relu_nhwc", "memory")
def _():
    x, r = (
        rn(128, 256, 56, 56, dtype=HF, cl=True),
        rn(128, 256, 56, 56, dtype=HF, cl=True),
    )
    p = [
        rn(256, dtype=HF),
        rn(256, dtype=HF).abs() + 0.5,
        rn(256, dtype=HF),
        rn(256, dtype=HF),
    ]

    def f(x, r, m, v, w, b):
        return torch.relu(F.batch_norm(x, m, v, w, b, False, 0.1, 1e-5) + r)

    return f, (x, r, *p), nb(x) * 3, 0


@workload("groupnorm_silu", "memory")
def _():
    x, w, b = rn(16, 320, 64, 64, dtype=HF), rn(320, dtype=HF), rn(320, dtype=HF)
    return (lambda x, w, b: F.silu(F.group_norm(x, 32, w, b))), (x, w, b), nb(x) * 2, 0


@workload("transpose_add", "memory")
def _():
    x, y = rn(16, 2048, 32, 128), rn(16, 32, 2048, 128)
    return (lambda x, y: x.permute(0, 2, 1, 3) + y * 2), (x, y), nb(x) * 3, 0


@workload("transpose_inner", "memory")
def _():
    x, y = rn(8192, 8192), rn(8192, 8192)
    return (lambda x, y: torch.tanh(x.t()) + y), (x, y), nb(x) * 3, 0


@workload("adamw", "memory")
def _():
    n = 64 << 20
    p, g, m, v = (rn(n, dtype=FF) for _ in range(4))
    v = v.abs()

    def f(p, g, m, v):
        m = m * 0.9 + g * 0.1
        v = v * 0.999 + g * g * 0.001
        return p * (1 - 1e-4) - 1e-3 * (m / 0.1) / ((v / 0.001).sqrt() + 1e-8), m, v

    return f, (p, g, m, v), nb(p) * 7, 0


# ---------------------------------------------------------------- matmul
@workload("mm_8192", "matmul")
def _():
    a, b = rn(8192, 8192), rn(8192, 8192)
    return (lambda a, b: a @ b), (a, b), nb(a) * 3, 2 * 8192**3


@workload("linear_gelu", "matmul")
def _():
    x, w, b = rn(8192, 4096), rn(16384, 4096), rn(16384)
    return (
        (lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh")),
        (x, w, b),
        nb(x, w) + 8192 * 16384 * 2,
        2 * 8192 * 4096 * 16384,
    )


@workload("linear_residual_4096", "matmul")
def _():
    x, w, b, r = rn(4096, 4096), rn(4096, 4096), rn(4096), rn(4096, 4096)
    return (
        (lambda x, w, b, r: F.linear(x, w, b) + r),
        (x, w, b, r),
        nb(x) * 4,
        2 * 4096**3,
    )


@workload("swiglu_mlp", "matmul")
def _():
    x, g, u, d = rn(4096, 4096), rn(14336, 4096), rn(14336, 4096), rn(4096, 14336)
    return (
        (lambda x, g, u, d: F.linear(F.silu(F.linear(x, g)) * F.linear(x, u), d)),
        (x, g, u, d),
        nb(x, x, g, u, d),
        3 * 2 * 4096 * 4096 * 14336,
    )


@workload("gemv_b1", "matmul")
def _():
    x, w, b = rn(1, 4096), rn(28672, 4096), rn(28672)
    return (
        (lambda x, w, b: F.relu(F.linear(x, w, b))),
        (x, w, b),
        nb(w),
        2 * 4096 * 28672,
    )


@workload("gemv_b16", "matmul")
def _():
    x, w, b = rn(16, 4096), rn(28672, 4096), rn(28672)
    return (
        (lambda x, w, b: F.relu(F.linear(x, w, b))),
        (x, w, b),
        nb(w),
        16 * 2 * 4096 * 28672,
    )


@workload("bmm_scale_softmax", "matmul")
def _():
    a, b = rn(128, 1024, 64), rn(128, 64, 1024)
    return (
        (lambda a, b: F.softmax((a @ b) * 0.125, -1)),
        (a, b),
        nb(a, b) + 128 * 1024 * 1024 * 2,
        2 * 128 * 1024**2 * 64,
    )


@workload("mm_f32_relu", "matmul")
def _():
    a, b = rn(4096, 4096, dtype=FF), rn(4096, 4096, dtype=FF)
    return (lambda a, b: torch.relu(a @ b)), (a, b), nb(a) * 3, 2 * 4096**3


@workload("mm_irregular", "matmul")
def _():
    a, b = rn(8205, 2949), rn(2949, 5921)
    return (
        (lambda a, b: torch.relu(a @ b)),
        (a, b),
        nb(a, b) + 8205 * 5921 * 2,
        2 * 8205 * 2949 * 5921,
    )


# ---------------------------------------------------------------- convolution
def conv(
    name, n, c, h, k, r, s=1, groups=1, res=False, act=torch.relu, dtype=HF, cl=True
):
    @workload(name, "conv")
    def _():
        x = rn(n, c, h, h, dtype=dtype, cl=cl)
        w = rn(k, c // groups, r, r, dtype=dtype, cl=cl) / math.sqrt(
            c // groups * r * r
        )
        w = w.to(dtype)
        if cl:
            w = w.contiguous(memory_format=torch.channels_last)
        b = rn(k, dtype=dtype)
        o = (h + 2 * (r // 2) - r) // s + 1
        outputs = n * k * o * o
        flops = 2 * outputs * (c // groups) * r * r

        def f(x, w, b, *residual):
            y = F.conv2d(x, w, b, s, r // 2, 1, groups)
            return act(y + residual[0] if residual else y)

        ins = (x, w, b, rn(n, k, o, o, dtype=dtype, cl=cl)) if res else (x, w, b)
        return f, ins, nb(*ins) + outputs * x.element_size(), flops


conv("conv_stem7x7", 128, 3, 224, 64, 7, 2)
conv("conv3x3_64_56", 128, 64, 56, 64, 3)
conv("conv1x1_64_256_56_res", 128, 64, 56, 256, 1, res=True)
conv("conv1x1_256_64_56", 128, 256, 56, 64, 1)
conv("conv3x3_128_28", 128, 128, 28, 128, 3)
conv("conv3x3s2_128_56", 128, 128, 56, 128, 3, 2)
conv("conv3x3_256_14", 128, 256, 14, 256, 3)
conv("conv3x3_512_7", 128, 512, 7, 512, 3)
conv("conv1x1_2048_512_7", 128, 2048, 7, 512, 1)
conv("conv_dw7x7_96_56", 128, 96, 56, 96, 7, groups=96, act=F.gelu)
conv("conv_dw3x3s2_144_56", 128, 144, 56, 144, 3, 2, groups=144, act=F.relu6)
conv("conv3x3_320_64_silu", 16, 320, 64, 320, 3, act=F.silu)
conv("conv_grouped32_3x3", 128, 128, 56, 128, 3, groups=32)


@workload("conv_relu_bias_f32_nchw", "conv")
def _():
    x = torch.rand(128, 64, 128, 128, device=DEV)
    m = nn.Conv2d(64, 128, 3).to(DEV)
    b2 = torch.randn(128, 1, 1, device=DEV)
    return (
        (lambda x, w, b, b2: torch.relu(F.conv2d(x, w, b)) + b2),
        (x, m.weight.detach(), m.bias.detach(), b2),
        nb(x) + 128 * 128 * 126 * 126 * 4,
        2 * 128 * 128 * 126 * 126 * 64 * 9,
    )


@workload("convtranspose_clamp_f32", "conv")
def _():
    x = torch.rand(64, 64, 64, 64, device=DEV)
    m = nn.ConvTranspose2d(64, 64, 3, stride=2, padding=1, output_padding=1).to(DEV)
    return (
        (
            lambda x, w, b: (
                torch.clamp(
                    torch.clamp(F.conv_transpose2d(x, w, b, 2, 1, 1), 0, 1) * 2, 0, 1
                )
                / 2
            )
        ),
        (x, m.weight.detach(), m.bias.detach()),
        nb(x) * 5,
        2 * 64 * 64 * 64 * 64 * 64 * 9,
    )


# ---------------------------------------------------------------- attention
def attn(name, b, h, n, d, causal):
    @workload(name, "attention")
    def _():
        q, k, v = rn(b, h, n, d), rn(b, h, n, d), rn(b, h, n, d)
        return (
            (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),
            (q, k, v),
            nb(q) * 4,
            4 * b * h * n * n * d // (2 if causal else 1),
        )


attn("sdpa_causal_128", 4, 32, 4096, 128, True)
attn("sdpa_full_64", 16, 16, 2048, 64, False)


@workload("attn_softcap", "attention")
def _():
    """Attention written out by hand with a soft cap: no library call matches it."""
    q, k, v = rn(4, 16, 2048, 128), rn(4, 16, 2048, 128), rn(4, 16, 2048, 128)

    def f(q, k, v):
        s = (q @ k.transpose(-1, -2)).float() * (128**-0.5)
        s = torch.tanh(s / 30.0) * 30.0
        return F.softmax(s, -1).to(v.dtype) @ v

    return f, (q, k, v), nb(q) * 4, 4 * 4 * 16 * 2048 * 2048 * 128


# ---------------------------------------------------------------- whole models
def vision(name, ctor, n, dtype=HF, size=224):
    @workload(name, "model")
    def _():
        import torchvision

        m = (
            getattr(torchvision.models, ctor)()
            .eval()
            .to(DEV, dtype)
            .to(memory_format=torch.channels_last)
        )
        x = rn(n, 3, size, size, dtype=dtype, cl=True)
        return m, (x,), 0, 0


vision("resnet50_b64", "resnet50", 64)
vision("convnext_tiny_b64", "convnext_tiny", 64)
vision("mobilenet_v3_large_b64", "mobilenet_v3_large", 64)
vision("vit_b_16_b64", "vit_b_16", 64)


@workload("bert_base_b32_s512", "model")
def _():
    from transformers import BertConfig, BertModel

    m = BertModel(BertConfig()).eval().to(DEV, HF)
    x = torch.randint(0, 30000, (32, 512), device=DEV)
    return (lambda x: m(x).last_hidden_state), (x,), 0, 0


@workload("llama_1b_block_s4096", "model")
def _():
    from transformers import LlamaConfig, LlamaModel

    c = LlamaConfig(
        hidden_size=2048,
        intermediate_size=8192,
        num_hidden_layers=4,
        num_attention_heads=32,
        num_key_value_heads=8,
        vocab_size=32000,
        max_position_embeddings=8192,
    )
    m = LlamaModel(c).eval().to(DEV, BF)
    x = torch.randint(0, 30000, (2, 4096), device=DEV)
    return (lambda x: m(x, use_cache=False).last_hidden_state), (x,), 0, 0
