"""jit.thrust of tutti.compat.cupyx: each algorithm on random ranges, a range a thread, against NumPy."""

import numpy as np
import pytest
from tutti.compat.cupyx import jit
from tutti.compat.cupyx.jit import thrust

THREADS, LONGEST = 16, 40


def ranges(rng, kind, ordered=False, high=9):
    rows = rng.integers(0, high, (THREADS, LONGEST)).astype(kind)
    return np.sort(rows, axis=1) if ordered else rows


def fold(step, row, first):
    for x in row:
        first = step(first, x)
    return first


def kept(row):
    return row[np.r_[True, row[1:] != row[:-1]]]


# name: (call in the kernel of rows a, b, places p and a value v, into o; what NumPy gives of a row; are ranges sorted)
INTO_ROWS = {
    "adjacent_difference": ("x.begin(), x.end(), z.begin()", lambda a, b, p, v: np.diff(a, prepend=0), False),
    "copy": ("x.begin(), x.end(), z.begin()", lambda a, b, p, v: a, False),
    "fill": ("z.begin(), z.end(), v", lambda a, b, p, v: np.full(LONGEST, v), False),
    "gather": ("q.begin(), q.end(), x.begin(), z.begin()", lambda a, b, p, v: a[p], False),
    "scatter": ("x.begin(), x.end(), q.begin(), z.begin()", lambda a, b, p, v: a[np.argsort(p)], False),
    "sequence": ("z.begin(), z.end(), v, 3", lambda a, b, p, v: v + 3 * np.arange(LONGEST), False),
    "replace_copy": ("x.begin(), x.end(), z.begin(), v, 99", lambda a, b, p, v: np.where(a == v, 99, a), False),
    "reverse_copy": ("x.begin(), x.end(), z.begin()", lambda a, b, p, v: a[::-1], False),
    "remove_copy": ("x.begin(), x.end(), z.begin(), v", lambda a, b, p, v: a[a != v], False),
    "inclusive_scan": ("x.begin(), x.end(), z.begin()", lambda a, b, p, v: np.cumsum(a), False),
    "exclusive_scan": ("x.begin(), x.end(), z.begin(), v", lambda a, b, p, v: np.cumsum(np.r_[v, a[:-1]]), False),
    "lower_bound": (
        "x.begin(), x.end(), y.begin(), y.end(), z.begin()", lambda a, b, p, v: np.searchsorted(a, b), True
    ),
    "upper_bound": (
        "x.begin(), x.end(), y.begin(), y.end(), z.begin()", lambda a, b, p, v: np.searchsorted(a, b, "right"), True
    ),
    "binary_search": ("x.begin(), x.end(), y.begin(), y.end(), z.begin()", lambda a, b, p, v: np.isin(b, a), True),
}  # fmt: skip
INTO_ONE = {
    "count": ("x.begin(), x.end(), v", lambda a, b, v: np.sum(a == v), False),
    "find": ("x.begin(), x.end(), v", lambda a, b, v: np.argmax(np.r_[a == v, True]), False),
    "equal": ("x.begin(), x.end(), y.begin()", lambda a, b, v: np.array_equal(a, b), False),
    "is_sorted": ("x.begin(), x.end()", lambda a, b, v: bool(np.all(a[1:] >= a[:-1])), True),
    "is_sorted_until": ("x.begin(), x.end()", lambda a, b, v: np.argmax(np.r_[False, a[1:] < a[:-1], True]), False),
    "reduce": ("x.begin(), x.end(), v", lambda a, b, v: v + a.sum(), False),
    "inner_product": ("x.begin(), x.end(), y.begin(), v", lambda a, b, v: v + (a * b).sum(), False),
    "lower_bound": ("x.begin(), x.end(), v", lambda a, b, v: np.searchsorted(a, v), True),
}
IN_PLACE = {
    "sort": ("x.begin(), x.end()", np.sort),
    "stable_sort": ("x.begin(), x.end()", np.sort),
    "reverse": ("x.begin(), x.end()", lambda a: a[::-1]),
    "replace": ("x.begin(), x.end(), 3, 99", lambda a: np.where(a == 3, 99, a)),
    "unique": ("x.begin(), x.end()", kept),
    "remove": ("x.begin(), x.end(), 3", lambda a: a[a != 3]),
}


def kernel(tmp_path, name, call, form):
    """A kernel of that call, from a file: compiled functions are read from their source."""
    body = {"rows": "thrust.{}", "one": "o[t, 0] = thrust.{}", "place": "thrust.{}"}[form].format(name)
    text = (
        "from tutti.compat.cupyx import jit\nfrom tutti.compat.cupyx.jit import thrust\n@jit.rawkernel()\n"
        "def k(a, b, p, v, o):\n    t = jit.threadIdx.x\n    x, y, q, z = a[t], b[t], p[t], o[t]\n"
        f"    {body}(thrust.seq, {call})\n"
    )
    path = tmp_path / "of_thrust.py"
    path.write_text(text)
    space = {}
    exec(compile(text, path, "exec"), space)
    return space["k"]


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("name", INTO_ROWS)
def test_into_rows(tmp_path, name, kind):
    call, want, ordered = INTO_ROWS[name]
    rng = np.random.default_rng(len(name))
    a, b = ranges(rng, kind, ordered), ranges(rng, kind)
    places = rng.permuted(np.tile(np.arange(LONGEST), (THREADS, 1)), axis=1)
    out = np.zeros((THREADS, LONGEST), kind)
    kernel(tmp_path, name, call, "rows")[1, THREADS](a, b, places, 4, out)
    for t in range(THREADS):
        expected = np.asarray(want(a[t], b[t], places[t], 4))
        np.testing.assert_array_equal(out[t][: expected.size], expected)


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("name", INTO_ONE)
def test_into_one(tmp_path, name, kind):
    call, want, ordered = INTO_ONE[name]
    rng = np.random.default_rng(len(name))
    a, b, out = ranges(rng, kind), ranges(rng, kind), np.zeros((THREADS, 1))
    a[::2] = np.sort(a[::2], axis=1)
    b[::3] = a[::3]
    if ordered:
        a = np.sort(a, axis=1)
    kernel(tmp_path, name, call, "one")[1, THREADS](a, b, a, 4, out)
    np.testing.assert_array_equal(out[:, 0], [want(a[t], b[t], 4) for t in range(THREADS)])


@pytest.mark.parametrize("kind", ["int32", "float64"])
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(tmp_path, name, kind):
    call, want = IN_PLACE[name]
    a = ranges(np.random.default_rng(len(name)), kind)
    before = a.copy()
    kernel(tmp_path, name, call, "place")[1, THREADS](a, a, a, 3, a)
    for t in range(THREADS):
        np.testing.assert_array_equal(a[t][: want(before[t]).size], want(before[t]))


@pytest.mark.parametrize("name", ["set_union", "set_intersection", "set_difference", "set_symmetric_difference"])
def test_sets(tmp_path, name):
    rng = np.random.default_rng(5)
    space = {"union": np.union1d, "intersection": np.intersect1d, "symmetric_difference": np.setxor1d}
    want = space.get(name[4:], np.setdiff1d)
    a = np.stack([np.sort(rng.choice(99, LONGEST, False)) for _ in range(THREADS)])
    b = np.stack([np.sort(rng.choice(99, LONGEST, False)) for _ in range(THREADS)])
    out = np.zeros((THREADS, 2 * LONGEST), np.int64)
    call = "x.begin(), x.end(), y.begin(), y.end(), z.begin()"
    kernel(tmp_path, name, call, "rows")[1, THREADS](a, b, a, 0, out)
    for t in range(THREADS):
        expected = want(a[t], b[t])
        np.testing.assert_array_equal(out[t][: expected.size], expected)


def test_by_keys():
    @jit.rawkernel()
    def k(keys, values, keys_out, values_out, sizes, scanned):
        ends = thrust.reduce_by_key(
            thrust.device, keys.begin(), keys.end(), values.begin(), keys_out.begin(), values_out.begin()
        )
        sizes[0] = ends[0] - keys_out.begin()
        thrust.exclusive_scan_by_key(thrust.device, keys.begin(), keys.end(), values.begin(), scanned.begin(), 5)
        thrust.sort_by_key(thrust.device, keys.begin(), keys.end(), values.begin())
        last, _ = thrust.unique_by_key(thrust.device, keys.begin(), keys.end(), values.begin())
        sizes[1] = last - keys.begin()

    keys, values = np.array([3, 3, 1, 1, 1, 3]), np.arange(6)
    keys_out, values_out, sizes, scanned = (np.zeros(6, int) for _ in range(4))
    k[1, 1](keys, values, keys_out, values_out, sizes, scanned)
    assert sizes[:2].tolist() == [3, 2]
    assert keys_out[:3].tolist() == [3, 1, 3] and values_out[:3].tolist() == [1, 9, 5]
    assert scanned.tolist() == [5, 5, 5, 7, 10, 5]
    assert keys[:2].tolist() == [1, 3] and values[:2].tolist() == [2, 0]


def test_ranges_of_shared_memory():
    @jit.rawkernel()
    def k(x, y):
        t = jit.threadIdx.x
        block = jit.shared_memory(np.int32, 32)
        block[t] = x[t]
        jit.syncthreads()
        y[t] = thrust.count(thrust.device, block, block + 20, t % 2)

    y = np.zeros(32, np.int32)
    k[1, 32]((np.arange(32) % 2).astype(np.int32), y)
    assert (y == 10).all()


def test_what_is_not_taken_says_so():
    @jit.rawkernel()
    def lacks_an_end(x):
        thrust.sort(thrust.seq, x.begin())

    @jit.rawkernel()
    def no_algorithm(x):
        thrust.transform(thrust.seq, x.begin(), x.end(), x.begin())

    with pytest.raises(TypeError, match=r"sort\(\) takes a policy, then a range: a range is x.begin\(\), x.end\(\)"):
        lacks_an_end[1, 1](np.zeros(3))
    with pytest.raises(AttributeError, match="does not cover cupyx.jit.thrust.transform"):
        no_algorithm[1, 1](np.zeros(3))


def test_texts_of_a_kernel():
    @jit.rawkernel()
    def k(x):
        x[jit.threadIdx.x] += 1

    assert k.cached_codes == {}
    k[1, 3](np.zeros(3, np.int32))
    assert "__global__" in k.cached_code and len(k.cached_codes) == 1
    k[1, 3](np.zeros(3, np.float32))
    assert len(k.cached_codes) == 2
    with pytest.warns(RuntimeWarning, match="several texts"):
        assert k.cached_code in k.cached_codes.values()
