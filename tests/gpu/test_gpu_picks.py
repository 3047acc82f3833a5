"""Selection on the device: masks that are never stored, results that take no more memory than they need."""

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)


@pytest.fixture
def x():
    return np.random.default_rng(5).standard_normal(1_000_003).astype(np.float32)


def there(a):
    return tt.array(a, device="cuda:0")


MASKS = {
    "of the values": lambda xp, v: v[v > 0],
    "of a function": lambda xp, v: v[xp.exp(v) > 1.5],
    "few": lambda xp, v: v[v > 3.5],
    "none": lambda xp, v: v[v > 100],
    "all": lambda xp, v: v[v < 100],
    "of values that are computed": lambda xp, v: (v * 2 + 1)[v > 0],
    "beside another array": lambda xp, v: xp.arange(v.size)[v > 0],
    "not aligned": lambda xp, v: v[1:][v[1:] > 0],
    "every third": lambda xp, v: v[::3][v[::3] > 0],
    "backwards": lambda xp, v: v[::-1][v[::-1] > 0],
    "two axes": lambda xp, v: v[:1_000_000].reshape(1000, 1000)[v[:1_000_000].reshape(1000, 1000) > 0],
    "transposed": lambda xp, v: v[:1_000_000].reshape(1000, 1000).T[v[:1_000_000].reshape(1000, 1000).T > 0],
    "a part": lambda xp, v: v[:1_000_000].reshape(1000, 1000)[3:, 5:][v[:1_000_000].reshape(1000, 1000)[3:, 5:] > 0],
    "places": lambda xp, v: xp.flatnonzero(v > 0),
    "places of two axes": lambda xp, v: xp.argwhere(v[:1_000_000].reshape(1000, 1000) > 2),
    "compress": lambda xp, v: xp.compress(v > 0, v),
    "by numbers": lambda xp, v: xp.flatnonzero(v.astype("int32")),
    "wide": lambda xp, v: v.astype("float64")[v > 0],
    "halves": lambda xp, v: v.astype("float16")[v > 0],
    "complex": lambda xp, v: v.astype("complex64")[v > 0],
    "bytes": lambda xp, v: v.astype("int8")[v > 0],
    "itself": lambda xp, v: (v > 0)[v > 0],
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(x, name):
    got = np.asarray(MASKS[name](tt, there(x)))
    want = MASKS[name](np, x)
    assert got.dtype == want.dtype and np.array_equal(got, want)


@pytest.mark.parametrize("n", [1, 3, 8191, 8192, 8193, 16384, 40_000, 9_000_001])
def test_sizes(n):
    a = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    v = there(a)
    assert np.array_equal(np.asarray(v[v > 0]), a[a > 0])
    got = tt.unique((v * 50).astype("int32"))
    assert np.array_equal(np.asarray(got), np.unique((a * np.float32(50)).astype(np.int32)))


def test_a_mask_used_twice(x):
    v = there(x)
    m = tt.sin(v) > 0.5
    want = np.asarray(m)
    for _ in range(3):
        assert np.array_equal(np.asarray(v[m]), x[want])


def test_what_is_picked_takes_its_own_memory(x):
    v = there(np.tile(x, 20))
    tt.eval(v)
    before = tt.cuda.memory_allocated()
    few = v[v > 3]
    assert few.size < v.size // 100
    assert tt.cuda.memory_allocated() - before <= 4 << 20
    assert np.array_equal(np.asarray(few), np.tile(x, 20)[np.tile(x, 20) > 3])


def test_without_room_for_all(x):
    """Where a result as long as the operands does not fit, what is picked is counted first."""
    a = np.tile(x, 16)
    tt.cuda.empty_cache()
    try:
        tt.cuda.set_memory_limit(tt.cuda.memory_reserved() + 100_000_000)
        v = there(a)
        few = v[v > 3]
        assert np.array_equal(np.asarray(few), a[a > 3])
        assert np.array_equal(np.asarray(tt.flatnonzero(v > 3)), np.flatnonzero(a > 3))
    finally:
        tt.cuda.set_memory_limit(0)
