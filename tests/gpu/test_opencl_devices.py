"""Arrays on an OpenCL device, PoCL's where there is no other: the host's bits. Few kernels, because compilers of OpenCL
take long; TUTTI_DEVICE=opencl:0 runs any test there."""

import numpy as np
import pytest
import tutti as tt

DEVICES = [d for d in map(str, tt.devices()) if d.startswith("opencl")]
if not DEVICES:
    pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)", allow_module_level=True)

DEVICE = DEVICES[0]
DTYPES = "bool int8 uint64 float16 float32 complex64".split()


def values(dtype, shape, seed=0):
    r = np.random.default_rng(seed)
    x = r.standard_normal(shape) * 3
    if dtype.startswith("complex"):
        x = x + 1j * r.standard_normal(shape)
    return (x > 0) if dtype == "bool" else abs(x * 20).astype(dtype) if dtype[0] == "u" else x.astype(dtype)


def same(work, *arrays):
    """What `work` gives there is what it gives on the host, and was done there."""
    out, before = [], tt.ledger()["device_launches"]
    for device in ("cpu", DEVICE):
        with tt.device(device), np.errstate(all="ignore"):
            out.append([np.asarray(y) for y in work(*[tt.array(a) for a in arrays])])
    assert tt.ledger()["device_launches"] > before
    for want, got in zip(*out):
        assert want.dtype == got.dtype and want.shape == got.shape
        assert np.where(want == want, want, 0).tobytes() == np.where(got == got, got, 0).tobytes()
        np.testing.assert_array_equal(want != want, got != got)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 1003])
def test_elementwise(dtype, n):
    def work(x, y):
        z = tt.where(x < y, x, y) if not dtype.startswith("complex") else x - y
        return [z + x * y, x == y, z.astype("float32").astype("int16") if not dtype.startswith("complex") else z]

    same(work, values(dtype, n), values(dtype, n, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(dtype):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -3e38, 1e30, 0.5, 2.0]
    x = np.concatenate([values(dtype, 500), np.array(special, dtype)])
    with np.errstate(all="ignore"):
        same(lambda x: [tt.sqrt(abs(x)), tt.exp(x), tt.log(abs(x)), tt.floor(x), 1 / x], x)
        same(lambda x: [tt.sin(x), tt.tanh(x), tt.arctan(x)], x)


@pytest.mark.parametrize(
    "dtype, shape", [("bool", (7, 300)), ("float64", (7, 300)), ("float16", (1, 1)), ("float32", (3, 70001))]
)
def test_reductions(dtype, shape):
    x = values(dtype, shape)
    same(lambda x: [x.sum(), x.max()], x)
    same(lambda x: [x.sum(axis=0), x.min(axis=0)], x)
    same(lambda x: [x.sum(axis=1), x.argmax(axis=1)], x)


def test_a_row_is_read_twice():
    def work(x):
        e = tt.exp(x - x.max(axis=1, keepdims=True))
        return [e / e.sum(axis=1, keepdims=True), (x - x.mean(axis=0)) / x.std(axis=0)]

    same(work, values("float32", (37, 500)))
    same(work, values("float64", (2000, 3)))


def test_views_and_stores():
    def work(x):
        y = x.copy()
        y[1::2, ::-1] = x[::2] * 2
        y[3] += y[4]
        return [y, x.T.copy(), x[::-1, 5:200:7].copy(), tt.broadcast_to(x[0], (20, 300)) + 1]

    same(work, values("float32", (40, 300)))


def test_places():
    x, i = values("float64", 1000), np.random.default_rng(3).integers(-1000, 1000, 333)

    def work(x, i):
        y = x.copy()
        y[i] = x[i] + 1
        return [x[i], y]

    same(work, x, i)
    with tt.device(DEVICE), pytest.raises(IndexError, match="out of bounds"):
        np.asarray(tt.array(x)[tt.array([5, 1000])])


def test_what_has_no_words_there_is_done_by_the_host():
    def work(x):
        return [tt.sort(x + 1, axis=1), (x @ x.T) * 2, tt.cumsum(x, axis=0) + 1, tt.linalg.inv(x[:, :9] + 0)]

    same(work, values("float64", (9, 50)))


def test_many_small_steps_of_one_kernel():
    """Where memory has handles no table of addresses makes them one launch."""
    arrays = [values("float32", n, n) for n in range(1, 40)]
    same(lambda *xs: [x * 2 + 1 for x in xs], *arrays)


def test_it_is_listed():
    d = tt.device(DEVICE)
    info = tt.info()
    assert DEVICE in info and str(d) in map(str, tt.devices())
    with pytest.raises(RuntimeError, match="no such device 'opencl:99'"):
        tt.zeros(3, device="opencl:99")


def test_memory_that_is_not_there():
    with tt.device(DEVICE):
        x = tt.ones(1000, dtype="float32") + 1
        with pytest.raises(MemoryError):
            np.asarray(tt.ones(1 << 46, dtype="float64") + x[0])
        assert float(x.sum()) == 2000


def test_kernels_in_opencl_c_are_refused():
    cl = tt.opencl.Program("__kernel void f(__global float *x) { x[get_global_id(0)] += 1; }").build()
    x = tt.ones(64, dtype="float32", device=DEVICE)
    with pytest.raises(NotImplementedError, match=f"{DEVICE} runs no kernels of users yet"):
        cl.f(64, None, x)
    assert float(x.sum()) == 64
