"""joblib's names: calls beside a plain loop, files beside joblib's own, results that are kept."""

import base64
import datetime
import io
import itertools
import os
import random
import time

import pytest
import tutti.compat.joblib as joblib
from tutti.compat.joblib import Memory, Parallel, delayed

np = pytest.importorskip("numpy", reason="the arrays of files are NumPy's")

# {"a": arange(3.), "b": ones((2, 2), "i2", order="F")}, as joblib 1.6 has written it.
THEIRS = (
    "gASV2AAAAAAAAAB9lCiMAWGUjBNqb2JsaWIubnVtcHlfcGlja2xllIwRTnVtcHlBcnJheVdyYXBwZXKUk5QpgZR9lCiMCHN1YmNsYXNzlIwFbnVtcHmU"
    "jAduZGFycmF5lJOUjAVzaGFwZZRLA4WUjAVvcmRlcpSMAUOUjAVkdHlwZZRoCIwFZHR5cGWUk5SMAmY4lImIh5RSlChLA4wBPJROTk5K/////0r/////"
    "SwB0lGKMCmFsbG93X21tYXCUiIwbbnVtcHlfYXJyYXlfYWxpZ25tZW50X2J5dGVzlEsQdWIM////////////////AAAAAAAAAAAAAAAAAADwPwAAAAAA"
    "AABAlU0AAAAAAAAAjAFilGgEKYGUfZQoaAdoCmgLSwJLAoaUaA2MAUaUaA9oEYwCaTKUiYiHlFKUKEsDaBVOTk5K/////0r/////SwB0lGJoF4hoGEsQ"
    "dWIB/wEAAQABAAEAdS4="
)


def work(x, k=1):
    if x == 13:
        raise ArithmeticError("thirteen")
    return x * x + k


def late(x):
    time.sleep(0.02)
    return x


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "tutti", "threading", "sequential"])
@pytest.mark.parametrize("return_as", ["list", "generator", "generator_unordered"])
def test_calls_are_those_of_a_loop(backend, return_as):
    for n in (0, 1, 7):
        made = Parallel(n_jobs=2, backend=backend, return_as=return_as)(delayed(work)(x, k=3) for x in range(n))
        got = sorted(made) if return_as == "generator_unordered" else list(made)
        assert got == [x * x + 3 for x in range(n)]


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_an_exception_comes_back_and_the_next_call_works(backend):
    with Parallel(n_jobs=2, backend=backend) as parallel:
        with pytest.raises(ArithmeticError, match="thirteen"):
            parallel(delayed(work)(x) for x in range(20))
        assert parallel(delayed(work)(x) for x in range(3)) == [1, 2, 5]


@pytest.mark.parametrize("batch_size, pre_dispatch", list(itertools.product(["auto", 1, 5], ["all", 3, "2 * n_jobs"])))
def test_batches_and_what_is_taken_early(batch_size, pre_dispatch):
    calls = (delayed(lambda x: -x)(x) for x in range(23))
    assert Parallel(2, batch_size=batch_size, pre_dispatch=pre_dispatch)(calls) == [-x for x in range(23)]


def test_nested():
    inner = lambda n: sum(Parallel(n_jobs=2)(delayed(work)(x) for x in range(n)))  # noqa: E731
    assert Parallel(n_jobs=2)(delayed(inner)(n) for n in range(5)) == [
        sum(x * x + 1 for x in range(n)) for n in range(5)
    ]


def test_timeout():
    with pytest.raises(TimeoutError):
        Parallel(n_jobs=2, timeout=0.1)(delayed(time.sleep)(5) for _ in range(2))


def test_generators_begin_before_the_end():
    made = Parallel(n_jobs=2, return_as="generator")(delayed(late)(x) for x in range(50))
    assert next(made) == 0
    begun = time.monotonic()
    made.close()
    assert time.monotonic() - begun < 5


def test_progress_is_printed(capfd):
    Parallel(n_jobs=1, verbose=1)(delayed(work)(x) for x in range(3))
    Parallel(n_jobs=1, verbose=50)(delayed(work)(x) for x in [1, 2])
    out, err = capfd.readouterr()
    assert "[Parallel(n_jobs=1)]: Done   3 out of   3" in err and "Done   2 out of   2" in out


def test_surroundings():
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert joblib.effective_n_jobs(None) == 3
        assert Parallel().n_jobs == 3 and type(Parallel()._backend).__name__ == "ThreadingBackend"
        with joblib.parallel_backend("loky", n_jobs=2):
            assert Parallel().n_jobs == 2
        assert Parallel(require="sharedmem").n_jobs == 3
    assert Parallel().n_jobs == 1
    assert joblib.effective_n_jobs(-1) == joblib.cpu_count()
    assert type(Parallel(n_jobs=2, require="sharedmem")._backend).__name__ == "ThreadingBackend"


class Own(joblib.ParallelBackendBase):
    """A program's backend: its calls are done at once."""

    supports_retrieve_callback = True
    taken = 0

    def effective_n_jobs(self, n_jobs):
        return 2

    def submit(self, func, callback=None):
        Own.taken += 1
        callback(func())

    def retrieve_result_callback(self, out):
        return out


def test_a_backend_of_the_programs():
    joblib.register_parallel_backend("own", Own)
    got = Parallel(n_jobs=2, backend="own", batch_size=2)(delayed(work)(x) for x in range(7))
    assert got == [x * x + 1 for x in range(7)] and Own.taken == 4


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"n_jobs": 0}, ValueError, "n_jobs == 0"),
        ({"n_jobs": "x"}, ValueError, "could not be converted to int"),
        ({"backend": "nobody"}, ValueError, "Invalid backend"),
        ({"return_as": "tuple"}, ValueError, "return_as"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"prefer": "both"}, ValueError, "not a valid backend hint"),
        ({"prefer": "processes", "require": "sharedmem"}, ValueError, "inconsistent"),
        ({"backend": "loky", "require": "sharedmem"}, ValueError, "does not support shared memory"),
    ],
)
def test_bad_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        Parallel(**arguments)
    with pytest.raises(ValueError, match="arithmetic"):
        Parallel(n_jobs=2, pre_dispatch="__import__('os')")(delayed(work)(x) for x in range(3))


def test_a_file_of_joblibs(tmp_path):
    value = joblib.load(io.BytesIO(base64.b64decode(THEIRS)))
    assert value["a"].tolist() == [0, 1, 2] and value["b"].dtype == np.int16 and value["b"].flags.f_contiguous
    name = str(tmp_path / "again")
    assert joblib.dump(value, name, protocol=4) == [name]
    with open(name, "rb") as file:
        assert file.read() == base64.b64decode(THEIRS)  # what joblib writes, to the byte
    mapped = joblib.load(name, mmap_mode="r")
    assert isinstance(mapped["a"], np.memmap) and mapped["b"].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("compress", [0, 1, True, "zlib", ("gzip", 2), ("bz2", 1), ("xz", 1), ("lzma", 1)])
def test_files_of_random_trees(compress, tmp_path):
    rng = random.Random(3)
    kinds = ["f8", "i2", "?", "c8", ">i4", "U3", "M8[s]", "O"]

    def tree(depth):
        if depth == 0:
            shape = tuple(rng.randrange(4) for _ in range(rng.randrange(3)))
            a = np.array(np.arange(int(np.prod(shape))).reshape(shape), order=rng.choice("CF"))
            return a.astype(rng.choice(kinds)) if rng.random() < 0.7 else rng.choice([1, "a", None])
        return rng.choice([list, tuple])(tree(depth - 1) for _ in range(3))

    def same(a, b):
        if isinstance(a, np.ndarray):
            return a.dtype.newbyteorder("=") == b.dtype and a.shape == b.shape and bool((a == b).all())
        return len(a) == len(b) and all(map(same, a, b)) if isinstance(a, (list, tuple)) else a == b

    for k in range(15):
        value = tree(2)
        joblib.dump(value, tmp_path / f"x{k}", compress=compress)
        assert same(value, joblib.load(tmp_path / f"x{k}"))


def test_a_file_that_ends_early(tmp_path):
    joblib.dump(np.arange(1000.0), tmp_path / "x")
    os.truncate(tmp_path / "x", 4000)
    with pytest.raises((ValueError, EOFError), match="ends before|EOF"):
        joblib.load(tmp_path / "x")


def test_digests():
    assert joblib.hash({"a": 1, "b": {3, "x"}}) == joblib.hash({"b": {"x", 3}, "a": 1})
    x = np.arange(12.0).reshape(3, 4)
    assert joblib.hash(x) == joblib.hash(x.copy()) != joblib.hash(x.T)
    assert joblib.hash([x, x]) == joblib.hash([x, x.copy()]) != joblib.hash([x, x + 1])
    values = [0, 0.0, False, "0", b"0", (0,), [0], {0}, {0: 0}, None, np.float32(0), np.zeros(1), len, work]
    assert len({joblib.hash(v) for v in values}) == len(values)
    loop = []
    loop.append(loop)
    assert joblib.hash(loop) == joblib.hash(loop)
    assert joblib.hash(lambda: 1) != joblib.hash(lambda: 2)
    assert len(joblib.hash(1, "sha1")) == 40
    with pytest.raises(ValueError, match="hash_name"):
        joblib.hash(1, "crc")


@pytest.mark.parametrize("compress, mmap_mode", [(False, None), (3, None), (False, "r")])
def test_results_are_kept(tmp_path, compress, mmap_mode):
    called = []

    def f(x, y=2, log=None):
        called.append(x)
        return np.full(3, x * y)

    memory = Memory(tmp_path, verbose=0, compress=compress, mmap_mode=mmap_mode)
    g = memory.cache(f, ignore=["log"])
    for x in (1, 2, 1, 1):
        assert g(x, log=x).tolist() == [2 * x] * 3
    assert called == [1, 2] and g(1, y=2).tolist() == g(y=2, x=1).tolist() and called == [1, 2]
    assert isinstance(g(1), np.memmap) == (mmap_mode == "r")
    assert g.check_call_in_cache(1) and not g.check_call_in_cache(3)
    assert g.call_and_shelve(2).get().tolist() == [4] * 3
    assert memory.eval(f, 1, log=None).tolist() == [2] * 3 and called == [1, 2, 1]  # nothing is ignored there
    g.clear(warn=False)
    g(1)
    assert called == [1, 2, 1, 1]


def test_other_code_is_other_results(tmp_path):
    memory = Memory(tmp_path, verbose=0)
    names = {}
    for k in (1, 2, 2):
        with open(tmp_path / "m.py", "w") as file:
            file.write(f"def f(x):\n    calls.append(x)\n    return x + {k}\n")
        names["calls"] = names.get("calls", [])
        exec(compile(open(tmp_path / "m.py").read(), str(tmp_path / "m.py"), "exec"), names)
        import linecache

        linecache.checkcache()
        assert memory.cache(names["f"])(5) == 5 + k
    assert names["calls"] == [5, 5]


def test_limits_and_age(tmp_path):
    memory = Memory(tmp_path, verbose=0)
    g = memory.cache(work)
    for x in range(6):
        g(x)
        time.sleep(0.01)
    g(0)  # used again
    memory.reduce_size(items_limit=2)
    assert [g.check_call_in_cache(x) for x in range(6)] == [True, False, False, False, False, True]
    memory.reduce_size(age_limit=datetime.timedelta(0))
    assert not any(g.check_call_in_cache(x) for x in range(6))
    g(1)
    memory.reduce_size(bytes_limit="1K")
    assert g.check_call_in_cache(1)
    memory.reduce_size(bytes_limit=10)
    assert not g.check_call_in_cache(1)
    old = memory.cache(work, cache_validation_callback=joblib.expires_after(seconds=0.05))
    old(1)
    assert old.check_call_in_cache(1)
    time.sleep(0.1)
    assert not old.check_call_in_cache(1)
    assert Memory(None).cache(work)(2) == 5


def test_kept_functions_in_workers(tmp_path):
    g = Memory(tmp_path, verbose=0).cache(work)
    assert Parallel(n_jobs=2, batch_size=1)(delayed(g)(x) for x in range(4)) == [1, 2, 5, 10]
    assert all(g.check_call_in_cache(x) for x in range(4))


def test_names_that_are_not_covered():
    with pytest.raises(AttributeError, match="does not cover"):
        joblib.externals  # noqa: B018
