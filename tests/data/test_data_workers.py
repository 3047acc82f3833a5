"""Batches of worker processes: the same as without, whoever draws random numbers; errors, deaths, and what is left."""

import collections
import gc
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tutti as tt

D = tt.data
HOME = os.path.dirname(os.path.dirname(os.path.abspath(tt.__file__)))
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")
Point = collections.namedtuple("Point", "x y")


class Squares(D.Dataset):
    """Samples of many kinds, with random numbers in them."""

    def __init__(self, n=23):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        drawn = (random.random(), np.random.rand()) if D.get_worker_info() else ()
        drawn += (float(tt.random.random()),)
        return {"x": tt.arange(3) * i, "n": (i, str(i), drawn), "p": Point(np.full((2, 2), i, "float32"), 0.5 * i)}


class Draw(Squares):
    """Random numbers of ours alone."""

    def __getitem__(self, i):
        return super().__getitem__(i) | {"n": (i, float(tt.random.random()))}


class Act(D.Dataset):
    """Does something at sample 5."""

    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i == 5:
            self.act()
        return i


class Count(D.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = D.get_worker_info()
        return iter(range(info.id if info else 0, self.n, info.num_workers if info else 1))


def plain(x):
    """Anything as Python's own objects, to be compared."""
    if isinstance(x, (tt.ndarray, np.ndarray)):
        return str(x.dtype), x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(*map(plain, x)) if hasattr(x, "_fields") else type(x)(map(plain, x))
    return x


def epoch(dataset, **how):
    tt.manual_seed(7)
    return [plain(b) for b in D.DataLoader(dataset, **how)]


def lists(loader):
    return [x.tolist() for x in loader]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_same_batches_whatever_the_number_of_workers(workers):
    how = {"batch_size": 4, "shuffle": True}
    assert epoch(Squares(), num_workers=workers, **how) == epoch(Squares(), num_workers=3, **how)
    for how in ({"batch_size": 4, "shuffle": True}, {"batch_size": None}):
        assert epoch(Draw(), **how) == epoch(Draw(), num_workers=workers, **how)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_not_forked(method):
    alone = epoch(Squares(9), batch_size=2, shuffle=True, num_workers=1)
    assert epoch(Squares(9), batch_size=2, shuffle=True, num_workers=2, multiprocessing_context=method) == alone
    data = D.TensorDataset(tt.arange(3000.0).reshape(30, 100), np.arange(30))
    how = {"batch_size": 7, "shuffle": True, "drop_last": True}
    assert epoch(data, num_workers=1, multiprocessing_context=method, **how) == epoch(data, **how)


def test_random_numbers_of_the_process_go_on_as_if_there_were_no_batches():
    def draws():
        return random.random(), np.random.rand(), float(tt.random.random())

    def seed():
        random.seed(1), np.random.seed(1), tt.manual_seed(1)

    loader = D.DataLoader(Draw(), 4, generator=tt.random.default_rng(0))
    seed()
    expected = draws()
    for workers in (0, 2):
        loader.num_workers, loader.prefetch_factor = workers, 2 if workers else None
        seed()
        assert len(list(loader)) == 6 and draws() == expected


def test_epochs_of_workers_that_stay():
    loader = D.DataLoader(Squares(), 5, shuffle=True, num_workers=2, persistent_workers=True)
    other = D.DataLoader(Squares(), 5, shuffle=True, num_workers=1)
    pids = set()
    for n in range(3):
        tt.manual_seed(n)
        batches = []
        for b in loader:
            batches.append(plain(b))
            if n == 1 and len(batches) == 2:
                break  # an epoch that is left
        pids.add(tuple(w.process.pid for w in loader._iterator._crew.workers))
        tt.manual_seed(n)
        assert batches == [plain(b) for b in other][: len(batches)]
    assert len(pids) == 1


def test_an_iterable_set_in_parts():
    assert sorted(sum(lists(D.DataLoader(Count(11), 2, num_workers=3)), [])) == list(range(11))
    loader = D.DataLoader(Count(11), 2, num_workers=3, persistent_workers=True)
    assert lists(loader) == lists(loader) == [[0, 3], [1, 4], [2, 5], [6, 9], [7, 10], [8]]
    assert list(D.DataLoader(Count(4), None, num_workers=2)) == [0, 1, 2, 3]
    assert lists(D.DataLoader(Count(0), 2, num_workers=2)) == []


def test_batches_in_any_order_are_all_there():
    loader = D.DataLoader(Squares(40), 3, num_workers=3, in_order=False, prefetch_factor=3)
    got = sorted(i for b in loader for i in b["n"][0].tolist())
    assert got == list(range(40))


def test_what_a_worker_knows():
    told = []

    class Info(D.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            info = D.get_worker_info()
            return info.id, info.num_workers, info.dataset is self, told[0], info.seed % 2

    def tell(which):
        told.append(which * 10)

    got = [
        b[0].tolist() + b[3].tolist() + b[2].tolist() for b in D.DataLoader(Info(), num_workers=2, worker_init_fn=tell)
    ]
    assert got == [[0, 0, True], [1, 10, True], [0, 0, True], [1, 10, True]]
    assert D.get_worker_info() is None


def test_arrays_come_without_a_copy_and_their_memory_is_used_again():
    data = D.TensorDataset(tt.arange(64 * 1000.0).reshape(64, 1000))
    iterator = iter(D.DataLoader(data, 1, num_workers=1))
    receiver = iterator._crew.workers[0].receiver
    for n, (x,) in enumerate(iterator):
        assert x.tolist() == data.tensors[0][n : n + 1].tolist()
        assert len(receiver.segments) <= 4
    kept = [x for (x,) in D.DataLoader(data, 4, num_workers=2)]
    assert tt.concatenate(kept).tolist() == data.tensors[0].tolist(), "kept batches are not written over"
    kept[0][:] = -1
    assert kept[1][0, 0] == 4000


def test_large_objects_that_are_no_arrays():
    class Text(D.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return "x" * (300_000 + i)

    got = list(D.DataLoader(Text(), 2, num_workers=2, prefetch_factor=3))
    assert [[len(t) - 300_000 for t in b] for b in got] == [[0, 1], [2, 3], [4, 5]]


class Two(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def _raise(error):
    raise error


@pytest.mark.parametrize(
    "error, kind",
    [(ValueError("bad sample"), ValueError), (KeyError("bad sample"), KeyError), (Two("bad sample", 1), RuntimeError)],
)
def test_a_worker_that_raises(error, kind):
    iterator = iter(D.DataLoader(Act(lambda: _raise(error)), 3, num_workers=2))
    assert next(iterator).tolist() == [0, 1, 2]
    with pytest.raises(kind) as e:
        next(iterator)
    text = str(e.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback (most")
    assert "__getitem__" in text and "bad sample" in text
    assert lists(iterator) == [[6, 7, 8], [9, 10, 11]]


def test_a_worker_that_cannot_begin_and_a_batch_that_cannot_be_sent():
    with pytest.raises(ZeroDivisionError, match="Caught ZeroDivisionError in DataLoader worker process 0"):
        list(D.DataLoader(Act(int), num_workers=1, worker_init_fn=lambda k: 1 / 0))
    with pytest.raises(Exception, match="in DataLoader worker process 0"):
        list(D.DataLoader(Act(int), num_workers=1, collate_fn=lambda b: lambda: b))


def _crash():
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # not the handler that prints where
    os.kill(os.getpid(), signal.SIGSEGV)


DEATHS = [
    (lambda: os.kill(os.getpid(), signal.SIGKILL), r"DataLoader worker \(pid \d+\) is killed by signal: Killed. "),
    (_crash, "is killed by signal: Segmentation fault. "),
    (lambda: os._exit(3), r"DataLoader worker \(pid \d+\) exited unexpectedly with exit code 3. Details are lost"),
]


@pytest.mark.parametrize("act, words", DEATHS)
@pytest.mark.parametrize("stay", [False, True])
def test_a_worker_that_dies_is_an_error_within_a_second(act, words, stay):
    loader = D.DataLoader(Act(act), 2, num_workers=2, persistent_workers=stay)
    iterator = iter(loader)
    processes = [w.process.pid for w in iterator._crew.workers]
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=words):
        list(iterator)
    assert time.monotonic() - start < 5  # of which a busy machine takes most
    assert list(iterator) == []
    assert not any(os.path.exists(f"/proc/{pid}") for pid in processes)
    loader.dataset.act = int
    assert len(lists(loader)) == 6, "the loader works again"


def test_a_worker_that_dies_between_epochs():
    loader = D.DataLoader(Act(int), 2, num_workers=2, persistent_workers=True)
    for k in range(2):
        assert len(lists(loader)) == 6
        process = loader._iterator._crew.workers[k].process
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid {process.pid}\) is killed by signal: Killed"):
            list(loader)
    assert len(lists(loader)) == 6


def test_a_worker_that_is_late():
    with pytest.raises(RuntimeError, match="DataLoader timed out after 0.2 seconds"):
        list(D.DataLoader(Act(lambda: time.sleep(20)), 3, num_workers=1, timeout=0.2))


def descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what /proc lists")
def test_nothing_is_left():
    list(D.DataLoader(Squares(), 4, num_workers=2))
    gc.collect()
    before, left = descriptors(), []
    for stay in (False, True):
        iterator = iter(D.DataLoader(Squares(), 4, num_workers=2, persistent_workers=stay))
        next(iterator)
        left += [w.process.pid for w in iterator._crew.workers]
        del iterator
        gc.collect()
    assert descriptors() == before
    assert not any(os.path.exists(f"/proc/{pid}") for pid in left)


PROGRAM = """
import os, signal, sys, time
import tutti as tt
class Slow(tt.data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(0.01)
        return i
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let programs in the background ignore it
    iterator = iter(tt.data.DataLoader(Slow(), 4, num_workers=2, multiprocessing_context=sys.argv[1]))
    next(iterator)
    how = sys.argv[2]
    try:
        print(*(w.process.pid for w in iterator._crew.workers), flush=True)
        if how == "exit":
            sys.exit(0)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        for x in iterator:
            pass
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("how", ["exit", "kill", "interrupt"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_end_with_the_one_that_made_them(how, method, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, str(file), method, how]
    environment = {**os.environ, "PYTHONPATH": HOME}
    p = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    pids = p.stdout.readline().split()
    if how == "interrupt":
        os.killpg(p.pid, signal.SIGINT)
    out, errors = p.communicate(timeout=60)
    assert len(pids) == 2 and errors == "" and out == ("interrupted\n" if how == "interrupt" else "")
    end = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)


class Computed(D.Dataset):
    """Samples that need matrix products, and kernels of many shapes."""

    def __len__(self):
        return 6

    def __getitem__(self, i):
        x = tt.ones((40 + i, 300)) * i
        return float((x @ x.T).sum()), float(tt.sin(x + 1).sum())


def test_forks_beside_threads_that_compute():
    stop, errors = threading.Event(), []

    def compute(k):
        try:
            x = tt.ones((200 + k, 300))
            while not stop.is_set():
                float((x @ x.T + tt.exp(x[:, :1])).sum())
        except Exception as e:  # noqa: BLE001 - told below
            errors.append(e)

    alone = epoch(Computed(), batch_size=2)
    threads = [threading.Thread(target=compute, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    try:
        for _ in range(5):
            assert epoch(Computed(), batch_size=2, num_workers=2, multiprocessing_context="fork", timeout=60) == alone
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert not errors
