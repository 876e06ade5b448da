"""jit itself: caching, trees, frameworks, verification, saving."""

import threading

import numpy as np
import pytest

import fusion


def count_traces():
    calls = []

    @fusion.jit
    def f(x, n=1):
        calls.append(x)
        return x * n + 1

    return f, calls


def test_one_compilation_for_one_form():
    f, calls = count_traces()
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(4, 5))
        np.testing.assert_allclose(f(x), x + 1)
    assert len(calls) == 1
    f(np.zeros((4, 5), np.float32))  # another type
    f(np.zeros((4, 6)))  # another shape
    f(np.zeros((5, 4)).T)  # another order
    f(np.zeros((4, 5)), 2)  # another number
    f(np.zeros((4, 5)), n=2)
    assert len(calls) == 6
    assert f(np.zeros(3), True).dtype == f(np.zeros(3), 1).dtype
    assert len(calls) == 8  # True and 1 are different programs


def test_trees():
    @fusion.jit
    def f(params, xs):
        h = xs[0] @ params["w"] + params["b"]
        return {"out": (h, [h.sum()]), "n": 3, "none": None}

    w, b, x = np.ones((3, 2)), np.zeros(2), np.ones((4, 3))
    result = f({"w": w, "b": b}, [x, None])
    assert result["n"] == 3 and result["none"] is None
    np.testing.assert_allclose(result["out"][0], np.full((4, 2), 3.0))
    assert isinstance(result["out"][1], list)
    np.testing.assert_allclose(result["out"][1][0], 24)


def test_method_and_closure():
    class Model:
        def __init__(self):
            self.w = np.linspace(0, 1, 600).reshape(20, 30)

        @fusion.jit
        def forward(self, x):
            return np.tanh(x @ self.w)

    model = Model()
    x = np.ones((2, 20))
    np.testing.assert_allclose(model.forward(x), np.tanh(x @ model.w))


def test_threads_share_one_compilation():
    f, calls = count_traces()
    x = np.arange(100.0)
    results = []
    threads = [threading.Thread(target=lambda: results.append(f(x))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(calls) == 1 and len(results) == 8
    for result in results:
        np.testing.assert_array_equal(result, x + 1)


def test_results_are_fresh():
    f = fusion.jit(lambda x: x + 1)
    x = np.zeros(1000)
    first = f(x)
    second = f(x + 1)
    assert first[0] == 1 and second[0] == 2


def test_verify(target):
    if target == "reference":
        pytest.skip("compares a target with the reference evaluator")
    if target == "cuda":
        pytest.skip("host arrays")
    f = fusion.jit(lambda x: fusion.softmax(np.exp(x), -1), target=target, verify=True)
    f(np.random.default_rng().normal(size=(8, 33)).astype(np.float32))


def test_verify_tells_a_difference(monkeypatch):
    from fusion import verification

    wrong = np.array([1.0, 2.5])
    monkeypatch.setattr(verification, "reference", lambda text, arrays: [wrong])
    with pytest.raises(fusion.FusionError, match="result 0 .* differs"):
        fusion.jit(lambda x: x + 1, verify=True)(np.array([0.0, 1.0]))


def test_compile_text():
    exe = fusion.compile("""
      func.func @main(%x: tensor<3xf32>, %y: tensor<f32>) -> tensor<3xf32> {
        %b = fusion.broadcast %y {dims = array<i64>} : (tensor<f32>) -> tensor<3xf32>
        %0 = fusion.add %x, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }""")
    got = exe(np.arange(3, dtype=np.float32), 1.5)
    np.testing.assert_array_equal(got, [1.5, 2.5, 3.5])
    assert exe.target == "cpu" and len(exe.kernels) == 1


def test_compile_graph_and_save(tmp_path):
    table = np.linspace(0, 1, 500)

    def f(x, scale=2.0):
        return {"y": x[::-1] * table * scale}

    x = np.arange(500.0)[::-1]
    exe = fusion.compile(fusion.trace(f, x))
    np.testing.assert_allclose(exe(x)["y"], f(x)["y"])
    exe.save(tmp_path / "f.fusion")
    loaded = fusion.load(tmp_path / "f.fusion")
    np.testing.assert_allclose(loaded(x)["y"], f(x)["y"])


def test_damaged_file(tmp_path):
    path = tmp_path / "bad.fusion"
    path.write_bytes(b"not a zip archive")
    with pytest.raises(fusion.FusionError, match="cannot read"):
        fusion.load(path)
    with pytest.raises(fusion.FusionError, match="cannot read"):
        fusion.load(tmp_path / "missing.fusion")


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    f = fusion.jit(lambda x, y: (fusion.relu(x + y), x @ y.T))
    x, y = torch.randn(5, 7), torch.randn(5, 7)
    a, b = f(x, y)
    assert isinstance(a, torch.Tensor)
    torch.testing.assert_close(a, torch.relu(x + y))
    torch.testing.assert_close(b, x @ y.T)
    z = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    r = fusion.jit(fusion.relu)(z)
    assert r.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(r, torch.relu(z))
    half = torch.randn(9, 9, dtype=torch.bfloat16)
    torch.testing.assert_close(fusion.jit(lambda x: x * 2)(half), half * 2)


def test_torch_gradients_are_refused():
    torch = pytest.importorskip("torch")
    x = torch.randn(3, requires_grad=True)
    f = fusion.jit(lambda x: x + 1)
    with pytest.raises(fusion.FusionError, match="no gradients"):
        f(x)
    with torch.no_grad():
        torch.testing.assert_close(f(x), x + 1)


def test_jax_in_jax_out():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(6.0).reshape(2, 3)
    y = fusion.jit(lambda x: x + 1)(x)
    assert isinstance(y, jax.Array)
    np.testing.assert_array_equal(np.asarray(y), np.asarray(x) + 1)


def test_any_dlpack_array():
    class Tensor:
        def __init__(self, data):
            self.data = data

        def __dlpack__(self, **options):
            return self.data.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.data.__dlpack_device__()

    got = fusion.jit(lambda x: x * 2)(Tensor(np.arange(4.0)))
    np.testing.assert_array_equal(got, np.arange(4.0) * 2)
