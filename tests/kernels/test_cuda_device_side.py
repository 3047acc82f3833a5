"""What Numba does on the device beside kernels: reductions and functions of elements and rows. Here they run where
kernels run; on the CPU the kernels of these are also run by themselves, and their CUDA text is compiled."""

import numpy as np
import nvrtc
import pytest
import tutti as tt
from tutti._jit import device_ufunc
from tutti._jit.cuda_place import gpu
from tutti._jit.device_reduce import Fold
from tutti.compat.numba import cuda, guvectorize, vectorize

rng = np.random.default_rng(17)
SIZES = [1, 2, 31, 255, 256, 257, 300, 511, 1000, 256 * 1024, 256 * 1024 + 1, 700_001]


@pytest.mark.parametrize("n", SIZES)
def test_folds_of_every_length(n):
    total = Fold(lambda a, b: a + b)
    x = rng.integers(-1000, 1000, n).astype("i4")
    assert total(x).copy_to_host().tolist() == [x.sum(dtype="i8")]  # whole numbers are folded in 64 bits
    assert total(cuda.to_device(x), 7).copy_to_host().tolist() == [x.sum(dtype="i8") + 7]
    top = Fold(lambda a, b: max(a, b))
    y = rng.random(n)
    assert top(y).copy_to_host().tolist() == [y.max()]
    assert total(y).copy_to_host()[0] == pytest.approx(y.sum(), rel=1e-13)


@pytest.mark.parametrize("kind", ["u1", "i8", "u8", "f4", "f8", "c8", "c16"])
def test_folds_of_every_type(kind):
    x = (rng.random(1000) * 100).astype(kind)
    got = Fold(lambda a, b: a + b)(x)
    want = x.astype({"u1": "u8"}.get(kind, kind))
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got.copy_to_host(), want.sum(), rtol=1e-5 if kind in ("f4", "c8") else 1e-13)


def test_folds_have_the_same_bits_each_time():
    total = cuda.reduce(lambda a, b: a + b)
    x = cuda.to_device(rng.random(100_003).astype("f4"))
    assert len({total(x) for _ in range(5)}) == 1


def test_reductions_where_kernels_run():
    @cuda.reduce
    def far(a, b):
        return a if abs(a) > abs(b) else b

    x = rng.standard_normal(40_000)
    want = x[np.abs(x).argmax()]
    before = tt.ledger()["device_launches"]
    assert far(x) == far(cuda.to_device(x)) == want
    assert (tt.ledger()["device_launches"] > before) == bool(gpu())
    assert far(x, init=100.0) == 100 and far(x, size=5) == x[np.abs(x[:5]).argmax()]
    assert far(x, size=0, init=3.0) == 3 and far(x[:0], init=2.0) == 2
    assert far(tt.asarray(x)) == want
    for res in np.zeros(3), cuda.device_array(3), tt.zeros(3):
        res[:] = np.full(3, 9.0)
        assert far(x, res=res) is None
        assert np.asarray(res).tolist() == [want, 9, 9]
    assert far(cuda.to_device(x)[::2]) == x[::2][np.abs(x[::2]).argmax()]
    stream = cuda.stream()
    assert far(cuda.to_device(x), stream=stream) == want
    with pytest.raises(TypeError, match="one axis"):
        far(np.zeros((2, 2)))


def test_functions_of_elements_stay_where_their_arrays_are():
    @vectorize(target="cuda")
    def mix(a, b):
        return a * 2 + b

    a, b = rng.random((4, 1, 6)), rng.random((5, 6)).astype("f4")
    want = a * 2 + b
    there = cuda.to_device(a)
    downloads = tt.ledger()["downloads"]
    got = mix(there, cuda.to_device(b))
    again = mix(mix(got, 1.0), there)
    assert tt.ledger()["downloads"] == downloads  # broadcasting too happens there
    np.testing.assert_array_equal(got.copy_to_host(), want)
    np.testing.assert_array_equal(again.copy_to_host(), (want * 2 + 1) * 2 + a)
    np.testing.assert_array_equal(mix(there.T, b.T[..., None]).copy_to_host(), a.T * 2 + b.T[..., None])
    ours = mix(tt.asarray(a), 3)
    assert isinstance(ours, tt.ndarray)
    np.testing.assert_array_equal(ours.numpy(), a * 2 + 3)
    assert mix(2, 3) == 7 and mix(np.float32(2), np.float32(3)) == 7
    assert mix(np.zeros((0, 3)), 1.0).shape == (0, 3)
    turned = cuda.to_device(np.zeros((6, 5, 4)))
    mix(a, b, out=turned.T)  # no part of a dense array
    np.testing.assert_array_equal(turned.copy_to_host().T, want)

    @vectorize(["float64(float64, float64)"], target="cuda")
    def add(a, b):
        return a + b

    v = rng.integers(0, 100, 3000)
    assert add.reduce(v.astype("f8")) == v.sum() and add.reduce(cuda.to_device(v * 1.0), initial=1.0) == v.sum() + 1
    assert add(cuda.to_device(v), 1).dtype == np.float64
    np.testing.assert_array_equal(add.reduce(np.ones((3, 4))), np.full(4, 3.0))


def test_host_memory_that_is_copied_fast():
    @cuda.jit
    def bump(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    like = np.zeros((3, 5), "f4")
    for a in cuda.mapped_array_like(like), cuda.pinned_array_like(like), cuda.mapped_array((3, 5), "f4", order="F"):
        assert a.shape == (3, 5) and a.dtype == np.float32 and a.flags.writeable
        a[...] = 7
        flat = a.reshape(-1, order="A")
        bump[1, 32](flat)
        assert (a == 8).all()
    assert cuda.mapped_array((2, 3), order="F").flags.f_contiguous and cuda.managed_array(0).size == 0


@guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->(m)", target="cuda")
def product(a, x, y):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(x.size):
            total += a[i, j] * x[j]
        y[i] = total


@guvectorize("(n),()->(),()", target="cuda")
def bounds(x, by, low, high):
    least = x[0]
    most = x[0]
    for v in x:
        least = min(least, v)
        most = max(most, v)
    low[0] = least * by
    high[0] = most * by


def test_functions_of_rows():
    a, x = rng.random((7, 1, 3, 4)), rng.random((5, 4))
    want = np.einsum("bcij,cj->bci", np.broadcast_to(a, (7, 5, 3, 4)), x)
    np.testing.assert_allclose(product(a, x), want, rtol=1e-13)
    np.testing.assert_allclose(product(a[0, 0], x[0]), want[0, 0], rtol=1e-13)
    before = tt.ledger()["downloads"]
    got = product(cuda.to_device(a), x)
    assert tt.ledger()["downloads"] == before and cuda.is_cuda_array(got) and got.shape == (7, 5, 3)
    np.testing.assert_allclose(got.copy_to_host(), want, rtol=1e-13)
    for out in np.zeros((7, 5, 3)), cuda.device_array((7, 5, 3)), np.zeros((3, 5, 7)).T:
        assert product(a, x, out=out) is out
        np.testing.assert_allclose(np.asarray(out), want, rtol=1e-13)
        product(a * 2, x, out)
        np.testing.assert_allclose(np.asarray(out), want * 2, rtol=1e-13)
    low, high = bounds(x, 2.0)
    np.testing.assert_array_equal(low, x.min(-1) * 2)
    np.testing.assert_array_equal(high, x.max(-1) * 2)
    low, high = bounds(x[0], 2.0)
    assert (low, high) == (x[0].min() * 2, x[0].max() * 2)
    assert isinstance(product(tt.asarray(a), x), tt.ndarray)
    ours = tt.zeros((7, 5, 3))
    assert product(tt.asarray(a), x, out=ours) is ours
    np.testing.assert_allclose(ours.numpy(), want, rtol=1e-13)
    assert product(np.zeros((0, 3, 4)), x[0]).shape == (0, 3)
    for wrong, match in (
        ((a, x[:, :3]), "the core axis 'n' is 4 and 3 long"),
        ((x[0], x), "lacks its 2 core axes"),
        ((a, x, np.zeros((7, 5, 2))), "cannot hold shape"),
    ):
        with pytest.raises(ValueError, match=match):
            product(*wrong)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        product(a)
    with pytest.raises(ValueError, match="targets"):
        guvectorize("(n)->(n)", target="roc")


def test_functions_of_rows_step_in_python(monkeypatch):
    monkeypatch.setenv("TUTTI_KERNEL_STEP", "1")
    x = rng.random((3, 4))
    low, _ = bounds(x, 1.0)
    np.testing.assert_array_equal(low, x.min(-1))


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_their_cuda_text_compiles():
    total = Fold(lambda a, b: a + b)
    total(np.arange(5, dtype="f4"), 1)
    product(np.ones((3, 4)), np.ones(4))
    plus = device_ufunc.DeviceVectorized(lambda a, b: a + b)
    plus(np.ones(3), 2)
    kernels = [*total._kernels.values(), total._begin, product._each, *plus._each.values()]
    for text in (t for k in kernels for t in k.inspect_cuda().values()):
        for arch in (80, 90):
            log = nvrtc.compile_text(text, ["--fmad=false", "--std=c++17", f"--gpu-architecture=sm_{arch}"])
            assert log is None, log
