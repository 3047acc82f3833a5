"""Maps over worker processes: results, order, chunks, generators, seeds, shared memory."""

import itertools
import os
import random
import threading
import time

import numpy as np
import pytest
import tutti as tt
from tutti.parallel import _engine

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads, elsewhere


def square(x):
    return x * x


def add(a, b=1):
    return a + b


def nothing():
    return None


def where(_):
    return os.getpid()


@pytest.mark.parametrize("n", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("chunk", [None, 1, 3, 10_000])
def test_results_are_a_loops(n, chunk):
    assert tt.parallel.map(square, range(n), workers=2, chunk=chunk) == [k * k for k in range(n)]
    assert list(tt.parallel.imap(square, iter(range(n)), workers=2, chunk=chunk)) == [k * k for k in range(n)]
    unordered = tt.parallel.imap_unordered(square, range(n), workers=2, chunk=chunk)
    assert sorted(unordered) == [k * k for k in range(n)]


def test_several_iterables_end_with_the_shortest():
    assert tt.parallel.map(add, range(5), itertools.count(10), workers=2, chunk=2) == [10, 12, 14, 16, 18]
    assert tt.parallel.starmap(add, [(1,), (1, 2), (5,), (3, 4)], workers=2, chunk=3) == [2, 3, 6, 7]
    assert tt.parallel.starmap(nothing, [()] * 5, workers=2, chunk=2) == [None] * 5


def test_what_is_soon_done_stays_here():
    assert set(tt.parallel.map(where, range(20), workers=2)) == {os.getpid()}
    assert os.getpid() not in tt.parallel.map(where, range(20), workers=2, chunk=1)


def test_what_takes_long_is_distributed():
    def busy(_):
        end = time.perf_counter() + 0.01
        while time.perf_counter() < end:
            pass
        return os.getpid()

    pids = tt.parallel.map(busy, range(60), workers=2)
    assert len(set(pids) - {os.getpid()}) == 2


def test_lambdas_closures_and_methods():
    class Adds:
        def __init__(self, x):
            self.x = x

        def to(self, y):
            return self.x + y

    offset = 5
    assert tt.parallel.map(lambda k: k + offset, range(4), workers=2, chunk=1) == [5, 6, 7, 8]
    assert tt.parallel.map(Adds(2).to, range(4), workers=2, chunk=1) == [2, 3, 4, 5]
    made = tt.parallel.map(Adds, range(3), workers=2, chunk=1)
    assert [type(a) for a in made] == [Adds] * 3


def test_a_generator_is_read_a_bounded_way_ahead():
    read = []

    def items():
        for k in range(100_000):
            read.append(k)
            yield k

    results = tt.parallel.imap(square, items(), workers=2, chunk=1, read_ahead=20)
    assert [next(results) for _ in range(5)] == [0, 1, 4, 9, 16]
    assert len(read) <= 25
    results.close()


def test_a_generator_that_raises_gives_what_came_before():
    def items():
        yield from range(5)
        raise KeyError("the end")

    results = tt.parallel.imap(square, items(), workers=2, chunk=2)
    assert [next(results) for _ in range(5)] == [0, 1, 4, 9, 16]
    with pytest.raises(KeyError, match="the end"):
        next(results)


def test_a_generator_that_itself_maps():
    inner = tt.parallel.imap(square, range(30), workers=2, chunk=2)
    assert tt.parallel.map(add, inner, workers=2, chunk=3) == [k * k + 1 for k in range(30)]


def draw(_):
    return random.random(), float(np.random.rand())


def test_seeds_belong_to_items():
    want = tt.parallel.map(draw, range(12), workers=1, chunk=1, seed=3)
    state = random.getstate()
    assert tt.parallel.map(draw, range(12), workers=2, chunk=5, seed=3) == want
    assert tt.parallel.map(draw, range(12), workers=2, seed=3) == want
    assert tt.parallel.map(draw, range(12), workers=2, seed=4) != want
    assert random.getstate() == state
    assert len(set(want)) == 12


def nested(n):
    return sum(tt.parallel.map(square, range(n)))


def test_maps_in_workers():
    assert tt.parallel.map(nested, range(10, 14), workers=2, chunk=1) == [
        sum(i * i for i in range(n)) for n in range(10, 14)
    ]


def share(_):
    return tt.parallel.cpu_count(), os.environ["OMP_NUM_THREADS"]


def test_workers_have_their_part_of_the_cores():
    cores = tt.parallel.cpu_count()
    [(mine, threads)] = set(tt.parallel.map(share, range(4), workers=2, chunk=1))
    assert mine == int(threads) == max(1, cores // 2)


def test_threads_that_call_at_once():
    results = {}

    def call(k):
        results[k] = tt.parallel.map(square, range(k, k + 50), workers=2, chunk=3)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [i * i for i in range(k, k + 50)] for k in range(6)}


@pytest.mark.parametrize(
    "how, error",
    [
        ({"workers": 0}, ValueError),
        ({"workers": -1}, ValueError),
        ({"workers": 100_000}, ValueError),
        ({"workers": 1.5}, TypeError),
        ({"chunk": 0}, ValueError),
        ({"retries": -1}, ValueError),
        ({"timeout": 0}, ValueError),
        ({"seed": "x"}, TypeError),
    ],
)
def test_arguments_that_make_no_sense(how, error):
    with pytest.raises(error, match=next(iter(how))):
        tt.parallel.map(square, [1], **how)


def test_a_wrong_number_of_workers_in_the_environment(monkeypatch):
    monkeypatch.setenv("TUTTI_PARALLEL_WORKERS", "many")
    with pytest.raises(ValueError, match="TUTTI_PARALLEL_WORKERS must be a number of workers, not 'many'"):
        tt.parallel.map(square, [1])


def test_threads():
    seen = []
    want = [k * k for k in range(200)]
    assert tt.parallel.map(lambda k: (seen.append(k), k * k)[1], range(200), workers=2, threads=True) == want
    assert sorted(seen) == list(range(200))
    assert sorted(tt.parallel.imap_unordered(square, range(200), workers=2, threads=True, chunk=3)) == want
    got = tt.parallel.map(lambda k: 1 // k, [1, 0, 1], workers=2, threads=True, return_exceptions=True)
    assert got[::2] == [1, 1] and isinstance(got[1], ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        tt.parallel.map(lambda k: 1 // k, [1, 0, 1], workers=2, threads=True)
    with pytest.raises(ValueError, match="timeout"):
        tt.parallel.map(square, [1], threads=True, timeout=1)


# ---- memory


def total(a):
    return float(a.sum())


def grown(a):
    return a + 1


def writes(a):
    a[0] = 1


def shared_bytes():
    return tt.parallel.counts()["shared bytes"]


def test_an_array_is_shared_once():
    a = np.arange(1_000_000.0)
    before = shared_bytes()
    want = [float(a.sum())] * 6
    assert tt.parallel.map(total, [a] * 6, workers=2, chunk=1) == want
    assert tt.parallel.map(total, [a] * 6, workers=2, chunk=1) == want
    assert tt.parallel.map(lambda k: float(a.sum()), range(6), workers=2, chunk=1) == want
    assert shared_bytes() - before == a.nbytes
    a[10] = 0.0
    assert tt.parallel.map(total, [a] * 6, workers=2, chunk=1) == [want[0] - 10] * 6
    assert shared_bytes() - before == 2 * a.nbytes


def test_what_neighbours_write_makes_no_difference():
    """Arrays that lie between others in one piece of memory, as those of the heap do."""
    block = np.zeros(3_000_000)
    part = _parts(block, 1_000_003, 1_000_001)
    before, want = shared_bytes(), [0.0] * 2
    assert tt.parallel.map(total, [part] * 2, workers=2, chunk=1) == want
    block[1_000_002] = block[2_000_004] = 1.0
    assert tt.parallel.map(total, [part] * 2, workers=2, chunk=1) == want
    assert shared_bytes() - before == part.nbytes
    for at in (0, -1, 500_000):
        part[at] += 1.0
        assert tt.parallel.map(total, [part] * 2, workers=2, chunk=1) == [float(part.sum())] * 2


def _parts(block, at, n):
    """An array whose memory is not known to be part of another's."""
    import ctypes

    return np.frombuffer((ctypes.c_double * n).from_address(block.ctypes.data + 8 * at))


def test_shared_memory_goes_with_its_array():
    def mapped():
        with open(f"/proc/{os.getpid()}/maps") as f:
            return sum("memfd:tutti" in line for line in f)

    a = np.arange(1_000_000.0)
    held = len(os.listdir("/proc/self/fd"))
    assert tt.parallel.map(lambda k: float(a[k]) and mapped(), [1, 2], workers=2, chunk=1)
    a = None
    assert len(os.listdir("/proc/self/fd")) <= held + 2
    engines = _engine.Engine.get(2)
    assert all(not w.sender.gone for w in engines.workers) and not engines.dropped


def test_threads_that_want_different_numbers_of_workers():
    results = []

    def call(n):
        for _ in range(4):
            results.append(tt.parallel.map(square, range(20), workers=n, chunk=2))

    threads = [threading.Thread(target=call, args=(n,)) for n in (1, 2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[k * k for k in range(20)]] * 12


def test_rows_are_views_of_what_was_shared():
    pictures = np.random.default_rng(0).random((32, 128, 128))
    before = shared_bytes()
    got = tt.parallel.map(grown, pictures, workers=2, chunk=1)
    assert all((g == p + 1).all() for g, p in zip(got, pictures))
    assert got[0].flags.writeable
    assert shared_bytes() - before <= pictures.nbytes


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16", "M8[s]", [("a", "i4"), ("b", "f8", (2,))]])
def test_arrays_come_as_they_are(order, dtype):
    a = np.zeros((300, 400), dtype, order=order)
    a.reshape(-1, order="A").view("u1")[:] = np.arange(a.nbytes, dtype="u1")
    for got in tt.parallel.map(lambda x: x, [a, a[::2], a.T, a[3:4]], workers=2, chunk=2):
        assert got.dtype == a.dtype
    (got,) = tt.parallel.map(lambda x: x, [a], workers=2, chunk=1)
    assert got.tobytes() == a.tobytes() and got.flags.f_contiguous == a.flags.f_contiguous


def test_large_arguments_are_for_looking_at():
    with pytest.raises(ValueError, match="read-only"):
        tt.parallel.map(writes, [np.zeros(100_000)], workers=2, chunk=1)


def test_arrays_of_ours():
    x = tt.arange(200_000.0)
    assert tt.parallel.map(lambda k: float((x * k).sum()), range(3), workers=2, chunk=1) == [
        float((x * k).sum()) for k in range(3)
    ]
    (y,) = tt.parallel.map(grown, [x], workers=2, chunk=1)
    assert isinstance(y, tt.ndarray) and bool((y == x + 1).all())


def test_memory_that_all_write():
    counts = tt.parallel.shared((4, 3), "int64")

    def count(k):
        counts[k % 4, 1] = k
        tt.parallel.add(counts, (0, 0), 1)
        tt.parallel.add(counts[:, 2], 3, 2)

    tt.parallel.map(count, range(200), workers=2, chunk=5)
    assert counts[0, 0] == 200 and counts[3, 2] == 400 and sorted(counts[:, 1] % 4) == [0, 1, 2, 3]
    assert tt.parallel.compare_exchange(counts, (0, 0), 200, 7)
    assert not tt.parallel.compare_exchange(counts, (0, 0), 200, 8)
    assert counts[0, 0] == 7


def test_long_texts_and_many_arrays():
    text = "x" * 3_000_000
    assert tt.parallel.map(len, [text] * 3, workers=2, chunk=2) == [len(text)] * 3
    arrays = [np.full(20_000, k) for k in range(300)]
    assert tt.parallel.map(total, arrays, workers=2, chunk=300) == [20_000.0 * k for k in range(300)]
    assert [a[0] for a in tt.parallel.map(grown, arrays, workers=2, chunk=100)] == list(range(1, 301))
