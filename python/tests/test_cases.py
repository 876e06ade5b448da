"""Public reports against other compilers, as tests with their right results.

Each test bears the name of its report and runs through `torch.compile`; the
result is eager's unless a value is given. Cases about what numpy's words say
better are in test_known_failures.py.

Not covered, since the op set has no counterpart (such ops run in eager): scans
(pytorch#180221, #184089), sorts (pytorch#174459), bilinear resizing
(pytorch#93262) and nearest resizing by fractions (pytorch#175154, #198201),
gradients of pooling (pytorch#198119); reports of speed and peak memory
(pytorch#138685, tvm#20401, tvm#20342, pytorch#189488) are tested for values only.
Sizes are those of the report where the emulator can run them in a moment; the
case of 13 GB (triton#832) needs a GPU.
"""

from __future__ import annotations

import math

import pytest
from torch_backend import check, move, run, seed, torch  # noqa: F401

F = torch.nn.functional


def result(target, f, *tensors):
    """What `f` gives under fusion, on the CPU."""
    got = run(target, f, *move(target, *tensors))
    return got.cpu() if isinstance(got, torch.Tensor) else [x.cpu() for x in got]


def equal(got, want):
    want = torch.as_tensor(want, dtype=got.dtype)
    assert torch.allclose(got, want, rtol=0, atol=0, equal_nan=True), f"{got} != {want}"


# Integers, types and special values.


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_pytorch_197895_floor_div(target, dtype):
    a = torch.tensor([1, 0.5, 6], dtype=dtype)
    b = torch.tensor([0.1, 0.1, 0.2], dtype=dtype)
    equal(result(target, lambda a, b: a // b, a, b), [9, 4, 29])


@pytest.mark.parametrize("dtype, want", [(torch.float32, 2), (torch.float64, 3)])
def test_pytorch_197895_floor_div_by_third(target, dtype, want):
    one, three = torch.ones(1, dtype=dtype), torch.full((1,), 3, dtype=dtype)
    assert (one // (one / three)).item() == want
    equal(result(target, lambda a, b: a // (a / b), one, three), [want])


def test_pytorch_188048_floor_div_of_infinity(target):
    x = torch.tensor([math.nan, math.inf, -math.inf], dtype=torch.float64)
    got = result(target, lambda x: torch.div(x, 1.0, rounding_mode="floor"), x)
    assert got.isnan().all()


def test_pytorch_178013_integer_division_by_zero(target):
    # Undefined in C: here 0 on every target.
    zero = torch.zeros(1, dtype=torch.int64)
    equal(result(target, lambda a, b: a // b, zero, zero), [0])


@pytest.mark.parametrize("count", [63, 64, 65, 200])
def test_pytorch_143566_shift_past_the_width(target, count):
    x = torch.tensor([1000, -1000])
    got = result(target, lambda x, s: (x << s, x >> s), x, torch.tensor([count] * 2))
    equal(got[0], [0, 0])
    equal(got[1], [0, -1])


def test_pytorch_105264_uint8_sum_wraps(target):
    x = torch.full((3,), 128, dtype=torch.uint8)
    equal(result(target, lambda x: (x + x).to(torch.int16), x), [0, 0, 0])


def test_pytorch_93829_uint8_negation_wraps(target):
    x = torch.full((3,), 6, dtype=torch.uint8)
    negated, less = result(target, lambda x: (-x, -x < 4), x)
    equal(negated, [250] * 3)
    assert not less.any()


def test_pytorch_187018_uint8_abs_and_cat(target):
    x = torch.full((2,), 200, dtype=torch.uint8)

    def f(x):
        y = -torch.abs(x)
        return torch.cat([y, y]).sum()

    equal(result(target, f, x), 224)


def test_pytorch_189799_negative_zero_plus_zero(target):
    x = torch.tensor([-0.5, -0.1, -0.9])
    got = result(target, lambda x: torch.reciprocal(x.ceil() + torch.zeros_like(x)), x)
    equal(got, [math.inf] * 3)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_pytorch_118266_arg_extremum_of_nan(target, name):
    x = torch.randn(4, 100)
    x[0, 40] = x[0, 70] = x[1, 99] = x[2, 0] = math.nan
    got = result(target, lambda x: getattr(torch, name)(x, 1), x)
    equal(got[:3], [40, 99, 0])
    assert got[3] == getattr(torch, name)(x[3])


@pytest.mark.parametrize("ties", [[1, 2], [0, 4999], [255, 256], [1023, 1024, 4096]])
def test_anvl_368_argmax_of_ties(target, ties):
    x = torch.zeros(5000)
    x[ties] = 5
    equal(result(target, lambda x: x.argmax(), x), ties[0])


# Precision boundaries.


def test_pytorch_183607_half_overflows(target):
    def f(x):
        y = x.half()
        return (y * y).float()

    equal(result(target, f, torch.full((3,), 5000.0)), [math.inf] * 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_pytorch_185337_round_trip_through_half(target, dtype):
    x = (torch.arange(20) / 7).reshape(5, 4).T

    def f(x):
        y = x.to(dtype).float()
        return y, y.sum(1)

    rounded, total = result(target, f, x)
    equal(rounded, x.to(dtype).float())
    torch.testing.assert_close(total, x.to(dtype).float().sum(1))


def test_pytorch_195214_bfloat16_equals_its_maximum(target):
    def f(x):
        s = x / math.sqrt(128)
        return (s == s.amax(-1, keepdim=True)).sum(-1)

    assert (result(target, f, torch.randn(64, 128).bfloat16()) >= 1).all()


# Reductions, softmax, norms.


def test_pytorch_101039_softmax_of_large_scores(target):
    q, k = torch.randn(1, 10, 40), torch.randn(1, 2, 40)
    got = result(target, lambda q, k: (q @ k.mT / 1e-6).softmax(-1), q, k)
    torch.testing.assert_close(got.sum(-1), torch.ones(1, 10), rtol=0, atol=1e-5)


def test_pytorch_161150_softmax_of_infinities(target):
    x = torch.randn(1, 10)
    got = result(target, lambda x: (x * -1.7e14 * -1.7e14 * -1.7e14).softmax(0), x)
    assert got.isnan().all()


def test_pytorch_163932_softmax_of_huge_scores(target):
    x = torch.randn(10)
    got = result(target, lambda x: (x * 1e13).softmax(0), x)
    equal(got, F.one_hot(x.argmax(), 10))


@pytest.mark.parametrize("size", [8, 64])
def test_pytorch_173793_layer_norm_near_the_largest_float(target, size):
    x, weight, bias = torch.full((4, size), 8.5e37), torch.rand(size), torch.rand(size)
    got = result(
        target, lambda x, w, b: F.layer_norm(x, (size,), w, b), x, weight, bias
    )
    torch.testing.assert_close(got, bias.expand(4, size))


def test_pytorch_186577_reciprocal_of_layer_norm(target):
    x = torch.randn(64, 128)
    got = result(target, lambda x: 1 / (F.layer_norm(x, (128,)).abs() + 1e-6), x)
    norm = F.layer_norm(x.double(), (128,)).abs()
    want = 1 / (norm + 1e-6)
    # One part in 10^6 of the norm's scale, as the reciprocal amplifies it.
    assert ((got - want).abs() <= want * (1e-4 + 2e-6 / (norm + 1e-6))).all()


@pytest.mark.parametrize("scale, shift", [(1e30, 0), (1e-30, 0), (1, 1e5)])
def test_pytorch_197089_range_of_std(target, scale, shift):
    x = torch.randn(8, 1000) * scale + shift
    got = result(target, lambda x: x.std(1), x)
    torch.testing.assert_close(got.double(), x.double().std(1), rtol=1e-5, atol=0)


# Empty tensors, rank 0, broadcasts.


def test_pytorch_95370_argmin_of_no_rows(target):
    x = torch.zeros(0, 3)
    got = check(target, lambda x: x.argmin(1, keepdim=True) + torch.zeros_like(x), x)
    assert got.shape == (0, 3)


def test_pytorch_102546_mean_of_rank_zero(target):
    equal(result(target, lambda x: x.mean(0) + 0, torch.tensor(5.0)), 5.0)


def test_pytorch_193265_flip_of_rank_zero(target):
    equal(result(target, lambda x: x.flip(()) * 1, torch.tensor(5.0)), 5.0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_pytorch_136640_size_that_becomes_one(target, dynamic):
    x, y = torch.randn(4), torch.randn(8)

    def f(x, y):
        return x.view(-1, 4) * y.view(-1, 4)

    assert check(target, f, x, y, dynamic=dynamic).shape == (2, 4)


# Aliasing, strides, alignment.


def test_pytorch_197829_overlapping_shift(target):
    x = move(target, torch.randn(256, 64))[0]
    want = torch.cat([x[:1], x[:-1]])

    def f(x):
        x[1:] = x[:-1].clone()
        return x

    run(target, f, x)
    equal(x, want)


def test_pytorch_198033_sum_with_own_flip(target):
    x = move(target, torch.randn(256, 100))[0]
    want = x + x.flip(0)

    def f(x):
        x += x.flip(0)
        return x

    run(target, f, x)
    equal(x, want)


def test_pytorch_141891_misaligned_base(target):
    base = move(target, torch.randn(16**3 + 65))[0]
    check(target, lambda x: x.sin() + x.cos(), base[1:])


def test_pytorch_184563_constant_offset(target):
    check(target, lambda x: x[1:] + 1, torch.randn(1025))


def test_pytorch_103271_cat_to_an_odd_offset(target):
    check(target, lambda x, y: torch.cat([x, y * 2]), torch.randn(3), torch.randn(64))


def test_pytorch_186057_channel_mean(target):
    # The family of triton#832, at a size that fits everywhere.
    check(
        target, lambda x: x - x.mean((0, 2, 3), keepdim=True), torch.randn(4, 8, 7, 9)
    )


# Convolution, pooling, resizing.


def test_pytorch_173068_no_two_sizes_alike(target):
    x, w = torch.randn(2, 33, 17, 21), torch.randn(34, 33, 3, 3)
    check(target, lambda x, w: F.conv2d(x, w, None, (2, 3), (4, 5)), x, w)


def test_onnxruntime_12498_addend_that_is_no_bias(target):
    x, w, c = (torch.randn(*s) for s in ((1, 24, 7, 7), (24, 6, 1, 1), (1, 24, 7, 7)))
    check(target, lambda x, w, c: F.conv2d(x, w, groups=4) + c, x, w, c)


def test_aitemplate_65_three_channels(target):
    form = torch.channels_last
    x = torch.randn(1, 3, 32, 32).half().contiguous(memory_format=form)
    w = torch.randn(16, 3, 7, 7).half().contiguous(memory_format=form)
    check(target, lambda x, w: F.conv2d(x, w, None, 4, 3), x, w)


def test_aitemplate_89_nine_channels(target):
    form = torch.channels_last
    x = torch.randn(1, 9, 8, 8).contiguous(memory_format=form)
    w = torch.randn(5, 9, 3, 3).contiguous(memory_format=form)
    check(target, lambda x, w: F.conv2d(x, w), x, w)


def test_triton_2693_small_image(target):
    x, w = torch.randn(4, 3, 5, 5), torch.randn(6, 3, 3, 3)
    check(target, lambda x, w: F.conv2d(x, w, None, 1, 1), x, w)


def test_tilelang_2426_output_narrower_than_input(target):
    x, w = torch.randn(1, 64, 8, 8), torch.randn(8, 64, 3, 3)
    check(target, lambda x, w: F.conv2d(x, w), x, w)


def test_onnxruntime_26274_asymmetric_padding(target):
    x, w = torch.randn(1, 8, 26, 26), torch.randn(12, 8, 3, 3)

    def f(x, w):
        return F.conv2d(F.pad(x, (1, 0, 1, 0)), w, None, 2)

    assert check(target, f, x, w).shape == (1, 12, 13, 13)


def test_pytorch_100987_average_pool_with_ceil_mode(target):
    def f(x):
        return F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)

    got = result(target, f, torch.ones(1, 3, 6, 6))
    want = torch.ones(4, 4)
    # Windows at the far edges reach one row past the padding: 2 of 3 rows count.
    want[0] = want[:, 0] = 6 / 9
    want[0, 0] = 4 / 9
    want[3, 1:3] = want[1:3, 3] = 3 / 6
    want[0, 3] = want[3, 0] = 2 / 6
    want[3, 3] = 1 / 4
    torch.testing.assert_close(f(torch.ones(1, 3, 6, 6))[0, 0], want)
    torch.testing.assert_close(got, want.expand(1, 3, 4, 4))


def test_pytorch_94775_max_pool_with_ceil_mode(target):
    def f(x):
        return F.max_pool2d(x, 1, 2, ceil_mode=True)

    got = check(target, f, torch.randn(1, 1, 6, 7))
    assert got.shape == (1, 1, 3, 4) and got.isfinite().all()


def test_pytorch_195582_negative_pad_after_conv_and_norm(target):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 50, 2), torch.nn.BatchNorm2d(50), torch.nn.Flatten(),
        torch.nn.ConstantPad1d((0, -400), 0.0), torch.nn.Linear(50, 10),
    ).eval()  # fmt: skip
    x = torch.randn(3, 1, 4, 4)
    want = model[4](model[:3](x)[:, :50])
    got = check(target, model, x)
    torch.testing.assert_close(got.cpu(), want.detach())


# Legality of fusion, several results, cost.


def test_jax_39100_updates_share_no_memory(target):
    a, b = torch.randn(2, 6, 8)

    def f(a, b):
        first = torch.cat([F.pad(a[:2], (1, 0))[:, :8], b[2:]])
        second = torch.cat([b[:3], F.pad(a[3:], (0, 1))[:, 1:]])
        return first, second, first[2:5] + second[1:4]

    first, second, _ = check(target, f, a, b)
    assert first.data_ptr() != second.data_ptr()


def test_jax_40588_concat_within_a_reduction(target):
    x, m1, m2, extra = (
        torch.randn(*s) for s in ((61, 64), (61, 32), (61, 32), (4, 64))
    )

    def f(x, m1, m2, extra):
        masked = x * torch.cat([m1, m2], 1)
        return torch.cat([F.rms_norm(masked, (64,), eps=1e-6), extra])

    check(target, f, x, m1, m2, extra)


def test_onnxruntime_3764_addend_that_widens(target):
    a, b, c = torch.randn(3, 3), torch.randn(3, 1), torch.randn(1, 4)
    got = check(target, lambda a, b, c: a @ b + 0.5 * c, a, b, c)
    assert got.shape == (3, 4)


def test_tvm_20342_costly_producer_of_a_broadcast(target):
    x, b = torch.rand(64, 1) - 0.5, torch.randn(64, 200)

    def f(x, b):
        z = x
        for _ in range(8):
            z = torch.exp(x - 0.5 * z)
        return b + z

    check(target, f, x, b)


def test_tvm_20401_pool_after_concat(target):
    xs, c = torch.randn(9, 1, 4, 8, 8), torch.randn(2, 1, 36, 4, 4)

    def f(xs, c):
        pooled = F.max_pool2d(torch.cat([x + 0.5 for x in xs], 1), 2)
        return pooled + c[0], pooled + c[1]

    check(target, f, xs, c)


def test_pytorch_138685_sums_of_two_products(target):
    a, b, c = torch.randn(96, 16), torch.randn(96, 16), torch.randn(16, 96)
    check(target, lambda a, b, c: (a @ c).sum(-1) + (b @ c).sum(-1), a, b, c)


def test_pytorch_189488_upsampling_conv_norm_and_activation(target):
    x, w, res = (
        torch.randn(1, 8, 5, 5),
        torch.randn(8, 8, 3, 3),
        torch.randn(1, 8, 10, 10),
    )

    def f(x, w, res):
        y = F.conv2d(F.interpolate(x, scale_factor=2), w, padding=1)
        return F.silu(F.group_norm(y, 4)) + res

    check(target, f, x, w, res)
