"""pyopencl.array, clmath and clrandom over tutti: random programs against NumPy, and single cases."""

import operator
import pickle
import random

import numpy as np
import pytest
import tutti.compat.pyopencl as cl
from tutti.compat.pyopencl import array as cl_array
from tutti.compat.pyopencl import clmath, clrandom, cltypes
from tutti.compat.pyopencl.bitonic_sort import BitonicSort
from tutti.compat.pyopencl.tools import ImmediateAllocator, MemoryPool, queue_for_pickling

TYPES = ["i4", "i8", "u1", "f4", "f8", "c8"]
BINARY = [operator.add, operator.sub, operator.mul]


@pytest.fixture(scope="module")
def queue():
    return cl.CommandQueue(cl.create_some_context())


def made(rng, queue, shape=None, kind=None):
    """An array of the host and the same on the device, sometimes in Fortran's order."""
    shape = shape or tuple(rng.randrange(1, 6) for _ in range(rng.randrange(1, 4)))
    kind = np.dtype(kind or rng.choice(TYPES))
    host = np.random.default_rng(rng.randrange(1 << 30)).integers(1, 9, shape).astype(kind)
    if kind.kind == "c":
        host = host + host.real[::-1] * kind.type(1j)
    if rng.random() < 0.3:
        host = np.asfortranarray(host)
    return host, cl_array.to_device(queue, host)


def part(rng, shape):
    """An index of slices and numbers."""
    index = []
    for n in shape:
        first = rng.randrange(n)
        index.append(rng.choice([first, slice(first, None), slice(None, None, 2), slice(None, None, -1)]))
    return tuple(index)


def step(rng, queue, host, there):
    """One operation on both."""
    what = rng.randrange(9)
    if what == 0:
        operation = rng.choice(BINARY)
        other, other_there = made(rng, queue, host.shape, rng.choice(["f8", str(host.dtype)]))
        return operation(host, other), operation(there, other_there)
    if what == 1:
        number = rng.choice([2, 3.5, np.float32(1.5)])
        operation = rng.choice(BINARY)
        return operation(host, number), operation(there, number)
    if what == 2:
        index = part(rng, host.shape)
        return host[index], there[index]
    if what == 3:
        return host.T, there.T
    if what == 4:  # other elements than before, in a row
        return host.reshape(-1).copy(), cl_array.to_device(queue, there.get().reshape(-1))
    if what == 5:  # writes into a view
        index = part(rng, host.shape)
        host[index] = 4
        there[index] = 4
        return host, there
    if what == 6:
        kind = "c16" if host.dtype.kind == "c" else rng.choice(["f8", "c16"])
        return host.astype(kind), there.astype(kind)
    if what == 7:
        host += host.dtype.type(2)
        there += there.dtype.type(2)
        return host, there
    return -host, -there


@pytest.mark.parametrize("seed", range(120))
def test_random_programs(queue, seed):
    rng = random.Random(seed)
    host, there = made(rng, queue)
    host = host.copy(order="K")
    for _ in range(6):
        with np.errstate(all="ignore"):
            host, there = step(rng, queue, host, there)
        if host.ndim == 0:
            host = np.asarray(host)
        assert there.dtype == host.dtype and there.shape == host.shape
    assert np.allclose(there.get(), host, rtol=1e-5)
    assert np.allclose(cl_array.sum(there).get(), host.sum(dtype=host.dtype), rtol=1e-4)


def test_views_share_memory_with_what_they_are_views_of(queue):
    a = cl_array.arange(queue, 12, dtype=np.int32) * 1  # nothing lies in memory yet
    b = a.reshape(3, 4)
    c = b[1:, ::2]
    c.fill(0)
    assert a.get().tolist() == [0, 1, 2, 3, 0, 5, 0, 7, 0, 9, 0, 11]
    assert c.base_data is a.base_data and c.offset == 16 and c.strides == (16, 8)
    with pytest.raises(cl_array.ArrayHasOffsetError):
        c.data  # noqa: B018
    a += 1
    assert c.get().tolist() == [[1, 1], [1, 1]]
    with pytest.raises(ValueError, match="without a copy"):
        b.T.reshape(12)


@pytest.mark.parametrize(
    "name", ["sinpi", "cospi", "tanpi", "exp2", "exp10", "lgamma", "tgamma", "erf", "cbrt", "round"]
)
def test_functions(queue, name):
    special = pytest.importorskip("scipy.special")
    x = np.linspace(0.25, 6.25, 25)
    wanted = {
        "sinpi": special.sindg(180 * x), "cospi": special.cosdg(180 * x), "tanpi": special.tandg(180 * x),
        "exp2": 2**x, "exp10": 10**x, "lgamma": special.gammaln(x), "tgamma": special.gamma(x),
        "erf": special.erf(x), "cbrt": np.cbrt(x), "round": np.floor(x + 0.5),
    }  # fmt: skip
    got = getattr(clmath, name)(cl_array.to_device(queue, x)).get()
    finite = np.isfinite(wanted[name]) & (abs(wanted[name]) < 1e12)
    assert np.allclose(got[finite], wanted[name][finite], rtol=1e-12, atol=1e-15)


def test_functions_are_exact_where_opencl_says_so(queue):
    whole = cl_array.to_device(queue, np.arange(-5, 6, dtype=np.float32))
    assert not clmath.sinpi(whole).get().any() and set(clmath.cospi(whole).get().tolist()) == {-1.0, 1.0}
    halves = cl_array.to_device(queue, np.array([-2.5, -0.5, 0.5, 0.49999997, 2.5], np.float32))
    assert clmath.round(halves).get().tolist() == [-3, -1, 1, 0, 3]
    assert clmath.rint(halves).get().tolist() == [-2, 0, 0, 0, 2]
    numbers = cl_array.to_device(queue, np.array([0.75, 8.0, 1000.0]))
    assert clmath.ilogb(numbers).get().tolist() == [-1, 3, 9]
    assert [p.tolist() for p in (r.get() for r in clmath.modf(halves))][1] == [-2, -0.0, 0, 0, 2]
    with pytest.raises(NotImplementedError, match="of complex numbers is not covered"):
        clmath.bessel_jn(1, numbers.astype(np.complex128))


def test_random_numbers(queue):
    numbers = clrandom.rand(queue, (1000,), np.float32, a=2, b=5).get()
    assert 2 <= numbers.min() < 2.2 and 4.8 < numbers.max() < 5
    dice = clrandom.rand(queue, 1000, np.int32, a=1, b=7).get()
    assert set(dice.tolist()) == {1, 2, 3, 4, 5, 6}
    one, other, third = (
        clrandom.PhiloxGenerator(queue.context, seed=s).normal(queue, 2000, np.float64, mu=3, sigma=2).get()
        for s in (1, 1, 2)
    )
    assert np.array_equal(one, other) and not np.array_equal(one, third)
    assert abs(one.mean() - 3) < 0.2 and abs(one.std() - 2) < 0.2
    vectors = clrandom.ThreefryGenerator(queue.context).uniform(queue, 10, cltypes.float4).get()
    assert vectors.dtype == cltypes.float4 and (vectors["s2"] > 0).any()
    with pytest.raises(TypeError, match="unsupported"):
        clrandom.rand(queue, 10, np.complex64)


def test_choosing_and_reducing(queue):
    a = cl_array.to_device(queue, np.array([3, 1, 2, 5], np.int32))
    places = cl_array.to_device(queue, np.array([3, 0], np.int32))
    assert a[places].get().tolist() == [5, 3] and cl_array.take(a, places).get().tolist() == [5, 3]
    a[places] = cl_array.to_device(queue, np.array([7, 8], np.int32))
    assert a.get().tolist() == [8, 1, 2, 7]
    assert cl_array.max(a).get() == 8 and cl_array.subset_min(places, a).get() == 7
    assert cl_array.if_positive(a - 2, a, a * 0 - 1).get().tolist() == [8, -1, -1, 7]
    assert cl_array.cumsum(a).get().tolist() == [8, 9, 11, 18]
    z = a.astype(np.complex64) * 1j
    assert cl_array.vdot(z, z).get() == cl_array.dot(a, a).get() == -cl_array.dot(z, z).get().real
    assert (a > 2).dtype == np.int8 and a.any().get() and not (a - a).any().get()
    assert cl_array.concatenate([a, a[:1]]).get().tolist() == [8, 1, 2, 7, 8]
    with pytest.raises(ValueError, match="zero-size"):
        cl_array.max(cl_array.zeros(queue, 0, np.float32))
    with pytest.raises(TypeError, match="arange requires a dtype"):
        cl_array.arange(queue, 5)
    with pytest.raises(TypeError, match="quotient"):
        a /= 2
    with pytest.raises(ValueError, match="sizes are whole numbers"):
        cl_array.empty(queue, 2.5, np.float32)


def test_sorts(queue):
    host = np.random.default_rng(3).integers(0, 100, (2, 64)).astype("f4")
    there, index = cl_array.to_device(queue, host), cl_array.to_device(queue, np.arange(128).reshape(2, 64) % 64)
    BitonicSort(queue.context)(there, idx=index, axis=1)
    assert np.array_equal(there.get(), np.sort(host, axis=1))
    assert np.array_equal(np.take_along_axis(host, index.get(), 1), there.get())
    with pytest.raises(ValueError, match="power of two"):
        BitonicSort(queue.context)(cl_array.zeros(queue, 5, np.float32))


def test_pools_count_what_lives(queue):
    pool = MemoryPool(ImmediateAllocator(queue))
    a = cl_array.zeros(queue, 100, np.float32, allocator=pool)
    assert pool.active_blocks == 1 and pool.active_bytes == 400 and (a + 1).allocator is pool
    b = a + 1
    assert b.data.size == 400 and pool.active_blocks == 2
    del a, b
    assert pool.active_blocks == 0 and pool.allocate(0) is None


def test_pickles(queue):
    a = cl_array.to_device(queue, np.arange(6.0).reshape(2, 3))
    kept = pickle.dumps(a)
    with queue_for_pickling(queue):
        assert np.array_equal(pickle.loads(kept).get(), a.get())
    with pytest.raises(RuntimeError, match="queue_for_pickling"):
        pickle.loads(kept)


def test_arrays_are_ready_when_their_events_are(queue):
    a = cl_array.zeros(queue, 4, np.float32)
    go = cl.UserEvent(queue.context)
    cl.enqueue_fill_buffer(queue, a.data, np.float32(3), 0, 16, wait_for=[go])
    b, event = a.get_async()
    go.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    assert b.tolist() == [3] * 4 and len((a + 1).events) == 1
    profiled = cl.CommandQueue(queue.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    c = cl_array.to_device(profiled, np.zeros(1 << 20, np.float32))
    (event,) = (c * 2 + 1).events
    assert event.profile.end > event.profile.start


def test_vectors_are_operands(queue):
    host = np.random.default_rng(4).integers(1, 9, (5, 4)).astype("f4")
    a = cl_array.to_device(queue, host.view(cltypes.float4).reshape(5))
    numbers = cl_array.arange(queue, 5, dtype=np.float32)
    for got, wanted in (
        (a + a, host + host), (2 * a - 1, 2 * host - 1), (a * numbers, host * np.arange(5)[:, None]),
        (a + cltypes.make_float4(1, 2, 3, 4), host + [1, 2, 3, 4]), (a[::2] * a[::2], host[::2] ** 2),
    ):  # fmt: skip
        assert got.dtype == cltypes.float4
        assert np.array_equal(np.ascontiguousarray(got.get()).view("f4").reshape(-1, 4), wanted)
    a *= 3
    assert np.array_equal(a.get().view("f4").reshape(5, 4), host * 3)
    structures = cl_array.zeros(queue, 3, np.dtype([("x", "i4")]))
    with pytest.raises(TypeError, match="are structures"):
        structures + structures
