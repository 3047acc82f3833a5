"""Products and linear algebra on a GPU: what a library does besides, what it refuses, what people write."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

GPU = "cuda:0"
RNG = np.random.default_rng(7)


def normal(*shape, dtype="float32", scale=1.0):
    a = RNG.standard_normal(shape) * scale
    if dtype.startswith("complex"):
        a = a + 1j * RNG.standard_normal(shape) * scale
    return a.astype(dtype)


def there(a, dtype=None):
    x = tt.asarray(a, device=GPU)
    if dtype:
        x = x.astype(dtype)
    tt.eval(x)
    return x


def gelu(y, xp=tt):
    return 0.5 * y * (1 + xp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def steps(work):
    """The result of some work, and the kernels and library calls that it took."""
    before = dict(tt.ledger())
    r = work()
    tt.eval(r)
    after = dict(tt.ledger())
    return r, after["launches"] - before["launches"], after["library_calls"] - before["library_calls"]


LAYERS = {
    "bias": (lambda y, b, xp: y + b),
    "relu": (lambda y, b, xp: xp.maximum(y, 0)),
    "bias and relu": (lambda y, b, xp: xp.maximum(y + b, 0)),
    "gelu": (lambda y, b, xp: gelu(y, xp)),
    "bias and gelu": (lambda y, b, xp: gelu(y + b, xp)),
}


def test_a_layer_waits_for_the_kernel_that_makes_its_operand():
    x, w, b = normal(512, 96), normal(96, 128, scale=0.1), normal(128)
    mine, weights, bias = there(x), there(w), there(b)
    for k in range(20):  # other memory each time: what lies there before is not what the product shall read
        y = tt.exp(mine * (0.01 * k))
        r = tt.maximum(y @ weights + bias, 0)
        assert np.allclose(r.numpy(), np.maximum(np.exp(x * (0.01 * k)) @ w + b, 0), rtol=1e-3, atol=1e-3), k


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("shape", [(64, 96), (3, 40, 96), (1, 96)])
def test_layers_are_one_call(layer, dtype, shape):
    x, w, b = normal(*shape), normal(96, 128, scale=0.1), normal(128)
    mine = [there(v, dtype) for v in (x, w, b)]
    got, kernels, calls = steps(lambda: LAYERS[layer](mine[0] @ mine[1], mine[2], tt))
    assert (kernels, calls) == (0, 1)
    x, w, b = (v.astype("float32").numpy() for v in mine)
    near = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}[dtype]
    np.testing.assert_allclose(got.astype("float32").numpy(), LAYERS[layer](x @ w, b, np), rtol=near, atol=near)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_sums_are_one_call(dtype):
    x, w, r = normal(6, 40, 96), normal(96, 128, scale=0.1), normal(6, 40, 128)
    mine = [there(v, dtype) for v in (x, w, r)]
    got, kernels, calls = steps(lambda: mine[2] + mine[0] @ mine[1])
    assert (kernels, calls) == (0, 1)
    x, w, r = (v.astype("float32").numpy() for v in mine)
    near = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}[dtype]
    np.testing.assert_allclose(got.astype("float32").numpy(), r + x @ w, rtol=near, atol=near)


def test_sums_in_place():
    a, b, c = normal(64, 96), normal(96, 64), normal(64, 64)
    x, y, z = there(a), there(b), there(c)
    for _ in range(3):
        z += x @ y
        c += a @ b
    np.testing.assert_allclose(z.numpy(), c, rtol=1e-3, atol=1e-3)


def test_transposed_weights_lie_as_they_are():
    x, w, b = normal(64, 96), normal(128, 96), normal(128)
    mine = [there(v) for v in (x, w, b)]
    got, kernels, calls = steps(lambda: tt.maximum(mine[0] @ mine[1].T + mine[2], 0))
    assert (kernels, calls) == (0, 1)
    np.testing.assert_allclose(got.numpy(), np.maximum(x @ w.T + b, 0), rtol=1e-4, atol=1e-4)


def test_a_product_that_is_kept_is_made():
    x, w = normal(64, 96), normal(96, 128)
    a, c = there(x), there(w)
    y = a @ c
    z = tt.maximum(y, 0)
    tt.eval(z)
    np.testing.assert_allclose(z.numpy(), np.maximum(x @ w, 0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(y.numpy(), x @ w, rtol=1e-4, atol=1e-4)


def test_what_is_kept_on_the_way_is_not_computed_twice():
    x, w, b = there(normal(64, 96)), there(normal(96, 128)), there(normal(128))
    y = x @ w + b
    z = tt.maximum(y, 0)
    tt.eval(z)
    _, _, calls = steps(lambda: y + 0)
    assert calls == 0
    np.testing.assert_array_equal(np.maximum(y.numpy(), 0), z.numpy())


def test_a_layer_in_a_chain():
    x, w = normal(64, 96), normal(96, 96, scale=0.1)
    a, c, want = there(x), there(w), x
    for _ in range(5):
        a = tt.maximum(a @ c, 0)
        want = np.maximum(want @ w, 0)
    np.testing.assert_allclose(a.numpy(), want, rtol=1e-3, atol=1e-4)


def test_other_followers_are_kernels():
    x, w, b = normal(64, 96), normal(96, 128), normal(64, 1)
    a, c, d = there(x), there(w), there(b)
    got, kernels, calls = steps(lambda: tt.sin(a @ c + d))
    assert (kernels, calls) == (1, 1)
    np.testing.assert_allclose(got.numpy(), np.sin(x @ w + b), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16", "bool", "float16", "float64", "complex64"])
def test_products_of_views(dtype):
    a = (normal(4, 30, 50) * 3).astype(dtype) if dtype[0] in "iub" else normal(4, 30, 50, dtype=dtype)
    b = (normal(50, 20) * 3).astype(dtype) if dtype[0] in "iub" else normal(50, 20, dtype=dtype)
    x, y = there(a), there(b)
    near = 2e-2 if dtype == "float16" else 1e-4
    for p, q, r, s in [
        (x, y, a, b),
        (x[::2], y[:, ::-1], a[::2], b[:, ::-1]),
        (x[:, :, ::2], y[::2], a[:, :, ::2], b[::2]),
        (x.transpose(1, 0, 2), y, a.transpose(1, 0, 2), b),
        (x[0, 3], y, a[0, 3], b),
        (x[:, 1:, 1:], y[1:, 3:], a[:, 1:, 1:], b[1:, 3:]),
        (x[0, :, 7:23], y[5:21].T.copy().T, a[0, :, 7:23], b[5:21]),
        (x, y[:, 4], a, b[:, 4]),
        (tt.broadcast_to(x[0], (3, 30, 50)), y, np.broadcast_to(a[0], (3, 30, 50)), b),
    ]:
        np.testing.assert_allclose((p @ q).numpy(), r @ s, rtol=near, atol=near * 10)


def test_tf32_only_when_allowed():
    a, b = normal(512, 512), normal(512, 512)
    x, y, exact = there(a), there(b), a.astype("float64") @ b
    full = np.abs((x @ y).numpy() - exact).max()
    tt.set_matmul_precision("high")
    try:
        fast = np.abs((x @ y).numpy() - exact).max()
    finally:
        tt.set_matmul_precision("highest")
    again = np.abs((x @ y).numpy() - exact).max()
    assert full < 1e-3 and again == full and full < fast < 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 40)])
def test_systems(dtype, batch):
    a, b = normal(*batch, 17, 17, dtype=dtype) + 5 * np.eye(17, dtype=dtype), normal(*batch, 17, 4, dtype=dtype)
    x, y = there(a), there(b)
    near = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    for name, args, host in [("solve", (x, y), (a, b)), ("inv", (x,), (a,)), ("det", (x,), (a,))]:
        got = getattr(tt.linalg, name)(*args)
        assert str(got.device) == GPU
        np.testing.assert_allclose(got.numpy(), getattr(np.linalg, name)(*host), rtol=near, atol=near)
    s = a @ np.conj(np.swapaxes(a, -1, -2))
    np.testing.assert_allclose(
        tt.linalg.cholesky(there(s)).numpy(), np.linalg.cholesky(s), rtol=near * 10, atol=near * 10
    )
    np.testing.assert_allclose(
        tt.linalg.eigvalsh(there(s)).numpy(), np.linalg.eigvalsh(s), rtol=near * 10, atol=near * 10
    )
    np.testing.assert_allclose(tt.linalg.svdvals(x).numpy(), np.linalg.svd(a)[1], rtol=near, atol=near)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_eigenvectors(dtype, batch):
    """Complex ones of real matrices come packed from the library; where all are real, so is the result."""
    near = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    a = normal(*batch, 21, 21, dtype=dtype)
    s = a @ np.conj(np.swapaxes(a, -1, -2))  # all eigenvalues are real, and a complex matrix's stay complex
    for m in (a, s):
        x = there(m)
        w, v = (r.numpy() for r in tt.linalg.eig(x))
        alone = tt.linalg.eigvals(x).numpy()
        host = np.linalg.eigvals(m)
        scale = np.abs(host).max()
        if m is a:
            assert w.dtype == host.dtype
        np.testing.assert_allclose(m @ v, v * w[..., None, :], atol=near * scale)
        np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, rtol=near)
        np.testing.assert_allclose(np.sort_complex(alone), np.sort_complex(w), atol=near * scale)
        np.testing.assert_allclose(np.sort(np.abs(w)), np.sort(np.abs(host)), atol=near * scale)


def test_what_has_no_answer():
    x = there(np.ones((3, 3)))
    for work, words in [
        (lambda: tt.linalg.solve(x, x), "Singular matrix"),
        (lambda: tt.linalg.inv(x), "Singular matrix"),
        (lambda: tt.linalg.cholesky(x - 2 * tt.eye(3, device=GPU)), "not positive definite"),
        (lambda: tt.linalg.svd(x * tt.nan), "SVD did not converge"),
        (lambda: tt.linalg.eigvals(x * tt.inf), "infs or NaNs"),
    ]:
        with pytest.raises(tt.linalg.LinAlgError, match=words):
            tt.eval(work())
    assert (x + 1).sum().item() == 18


def test_without_the_libraries():
    """Products by kernels of ours, factorizations on the host; small systems on the GPU all the same."""
    program = """
import numpy as np, tutti as tt
rng = np.random.default_rng(3)
for dtype in ["float16", "float32", "float64", "complex64", "complex128"]:
    a, b = rng.standard_normal((3, 70, 90)).astype(dtype), rng.standard_normal((90, 65)).astype(dtype)
    x, y = tt.asarray(a, device="cuda:0"), tt.asarray(b, device="cuda:0")
    near = 0.1 if dtype == "float16" else 1e-3
    np.testing.assert_allclose((x @ y).numpy(), a @ b, rtol=near, atol=near)
    np.testing.assert_allclose(tt.maximum((x @ y).real, 0).numpy(), np.maximum((a @ b).real, 0), rtol=near, atol=near)
for n in (6, 60):
    a, b = rng.standard_normal((4, n, n)) + 9 * np.eye(n), rng.standard_normal((4, n, 2))
    got = tt.linalg.solve(tt.asarray(a, device="cuda:0"), tt.asarray(b, device="cuda:0"))
    np.testing.assert_allclose(got.numpy(), np.linalg.solve(a, b), rtol=1e-9, atol=1e-9)
print("done")
"""
    env = {**os.environ, "TUTTI_CUBLASLT": "none", "TUTTI_CUBLAS": "none", "TUTTI_CUSOLVER": "none"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=240)
    assert done.stdout == "done\n", done.stderr
