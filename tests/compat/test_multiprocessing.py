"""multiprocessing's and concurrent.futures' names: pools beside a loop; memory, queues, locks between processes."""

import os
import queue
import random
import subprocess
import sys
import threading
import time
from queue import Empty

import pytest
import tutti.compat.multiprocessing as mp
from tutti.compat.concurrent import futures
from tutti.compat.multiprocessing import shared_memory
from tutti.compat.multiprocessing.pool import ThreadPool


def square(x):
    if x == 13:
        raise ArithmeticError("thirteen")
    return x * x


@pytest.fixture(scope="module")
def pool():
    with mp.Pool(2) as pool:
        yield pool


@pytest.mark.parametrize("kind", [mp.Pool, ThreadPool])
def test_pools_are_loops(kind):
    expected = [x * x for x in range(12)]
    with kind(2) as pool:
        for chunksize in (None, 1, 5):
            assert pool.map(square, range(12), chunksize) == expected
        assert pool.starmap(pow, [(2, 3), (3, 2)]) == [8, 9]
        assert list(pool.imap(square, range(12))) == expected
        assert sorted(pool.imap_unordered(square, range(12))) == sorted(expected)
        assert pool.apply(pow, (2, 5)) == 32 and pool.apply(int, ("11",), {"base": 2}) == 3
        assert pool.map_async(square, range(12)).get(20) == expected
        assert pool.starmap_async(pow, [(2, 3)]).get(20) == [8]
        assert pool.map(square, []) == []


def test_callbacks_and_failures(pool):
    told = queue.Queue()
    pool.apply_async(square, (3,), callback=told.put)
    assert told.get(timeout=20) == 9
    result = pool.apply_async(square, (13,), error_callback=told.put)
    assert isinstance(told.get(timeout=20), ArithmeticError)
    result.wait(20)
    assert result.ready() and not result.successful()
    with pytest.raises(ArithmeticError, match="thirteen"):
        pool.map(square, range(20))
    slow = pool.apply_async(time.sleep, (0.5,))
    with pytest.raises(mp.TimeoutError):
        slow.get(0.01)
    with pytest.raises(ValueError, match="not ready"):
        slow.successful()
    slow.get(20)
    results = pool.imap(time.sleep, [0.3])
    with pytest.raises(mp.TimeoutError):
        results.next(0.01)
    assert results.next(20) is None
    with pytest.raises(StopIteration):
        results.next()


def test_the_ends_of_pools():
    pool = mp.Pool(1)
    with pytest.raises(ValueError, match="still running"):
        pool.join()
    result = pool.apply_async(square, (4,))
    pool.close()
    pool.join()
    assert result.get(0) == 16
    with pytest.raises(ValueError, match="not running"):
        pool.map(square, [1])
    for bad in ({"processes": 0}, {"maxtasksperchild": -1}):
        with pytest.raises(ValueError):
            mp.Pool(**bad)
    with pytest.raises(TypeError, match="initializer"):
        mp.Pool(1, initializer=3)


PROGRAM = """
import multiprocessing as mp
from multiprocessing.pool import ThreadPool
counter = None
seen = {}
def begin(c, word):
    global counter
    counter = c
    seen["word"] = word
def task(x):
    with counter.get_lock():
        counter.value += x
    return seen["word"]
def other(x):
    return x, mp.current_process().name != ""
c = mp.Value("q", 0)
with mp.Pool(2, initializer=begin, initargs=(c, "hello")) as pool:
    assert pool.map(task, range(100), chunksize=3) == ["hello"] * 100
    assert pool.apply(task, (50,)) == "hello"
assert c.value == 5000, c.value
assert seen == {} and counter is None
p = mp.Process(target=lambda q: q.put(other(3)), args=(q := mp.Queue(),))
p.start()
assert q.get(timeout=60) == (3, True)
p.join()
assert p.exitcode == 0
assert ThreadPool(2).map(abs, [-1]) == [1]
try:
    mp.reduction
except AttributeError as e:
    print(e)
print("done")
"""


def test_a_program_that_asks_for_it(tmp_path):
    """Initialisers that bind globals, functions of the program, no guard: under `python -m tutti run --as`."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "tutti", "run", "--as", "multiprocessing", str(tmp_path / "program.py")]
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    assert made.stdout.split("\n")[-2] == "done" and "does not cover" in made.stdout
    assert "multiprocessing" in made.stderr and "came from tutti.compat" in made.stderr


def test_processes():
    def work(inbox, outbox, numbers, table, begin):
        begin.wait(60)
        while (x := inbox.get()) is not None:
            with numbers.get_lock():
                numbers[x % 4] += x
            table[x] = x * x
            outbox.put((x, os.getpid()))

    inbox, outbox, begin = mp.Queue(), mp.SimpleQueue(), mp.Event()
    numbers, table = mp.Array("d", 4), mp.Manager().dict()
    several = [mp.Process(target=work, args=(inbox, outbox, numbers, table, begin)) for _ in range(2)]
    for p in several:
        p.start()
    assert set(mp.active_children()) >= set(several)
    begin.set()
    for x in [*range(40), None, None]:
        inbox.put(x)
    for p in several:
        p.join(60)
        assert p.exitcode == 0
    assert sorted(outbox.get()[0] for _ in range(40)) == list(range(40)) and outbox.empty()
    assert list(numbers) == [sum(range(k, 40, 4)) for k in range(4)]
    assert table == {x: x * x for x in range(40)}


def test_a_lock_whose_holder_dies_is_free_again():
    lock, held = mp.Lock(), mp.Event()

    def hold(lock, held):
        lock.acquire()
        held.set()
        time.sleep(60)

    p = mp.Process(target=hold, args=(lock, held))
    p.start()
    assert held.wait(60) and not lock.acquire(False) and not lock.acquire(timeout=0.05)
    p.kill()
    p.join()
    assert p.exitcode == -9 and lock.acquire(timeout=20)
    lock.release()
    with pytest.raises(ValueError, match="too many times"):
        lock.release()


def test_locks_between_threads():
    lock, inner = mp.RLock(), mp.Lock()
    count = [0]

    def up():
        for _ in range(50):
            with lock, lock, inner:
                was = count[0]
                time.sleep(0)
                count[0] = was + 1

    threads = [threading.Thread(target=up) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count == [200]
    with pytest.raises(AssertionError, match="not owned"):
        lock.release()


def test_a_lock_that_threads_take_first_at_once(monkeypatch):
    from tutti.compat.multiprocessing import _memory

    opens = os.open

    def slowly(*args):
        time.sleep(0.05)
        return opens(*args)

    monkeypatch.setattr(_memory.os, "open", slowly)
    lock = mp.Lock()

    def take():
        with lock:
            time.sleep(0.1)

    threads = [threading.Thread(target=take, daemon=True) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(10)
    assert not any(t.is_alive() for t in threads)


def waits_and_tells(queue, event):
    queue.put("there")
    event.wait()
    queue.put("woken")


def test_who_waits_sleeps_until_something_has_changed():
    queue, event = mp.Queue(), mp.Event()
    assert "unset" in repr(event)
    p = mp.Process(target=waits_and_tells, args=(queue, event))
    p.start()
    assert queue.get() == "there"
    begun = time.process_time()
    with pytest.raises(Empty):
        queue.get(timeout=0.3)
    assert time.process_time() - begun < 0.1
    event.set()
    assert queue.get(timeout=10) == "woken"
    p.join()
    p.close()
    with pytest.raises(ValueError, match="closed"):
        p.is_alive()
    queue.close()
    with pytest.raises(ValueError, match="is closed"):
        queue.put(1)
    with pytest.raises(OSError, match="closed"):
        queue.empty()


def test_values_without_a_lock_have_none():
    for made in (mp.RawValue("i", 5), mp.Value("i", 5, lock=False), mp.Array("i", 3, lock=False)):
        assert not hasattr(made, "get_lock") and not hasattr(made, "get_obj")
    assert mp.Value("i", 5).get_obj().value == 5


def test_the_bytes_of_a_message():
    a, b = mp.Pipe()
    a.send_bytes(b"abcdef", 2, 3)
    assert b.recv_bytes() == b"cde"
    for wrong in ((7,), (4, 3), (-1,), (2, -1)):
        with pytest.raises(ValueError):
            a.send_bytes(b"abcdef", *wrong)


def test_to_terminate_a_pool_ends_what_is_under_way():
    pool = mp.Pool(2)
    result = pool.apply_async(time.sleep, (60,))
    begun = time.monotonic()
    with pytest.raises(mp.TimeoutError):
        result.get(timeout=0.2)
    pool.terminate()
    pool.join()
    assert time.monotonic() - begun < 20


def test_semaphores_conditions_and_pipes():
    two = mp.BoundedSemaphore(2)
    assert two.acquire() and two.acquire() and not two.acquire(False)
    two.release()
    two.release()
    with pytest.raises(ValueError, match="too many"):
        two.release()
    ready, here, there = mp.Condition(), *mp.Pipe()
    state = mp.Value("i", 0, lock=False)

    def answer(ready, state, there):
        with ready:
            ready.wait_for(lambda: state.value == 1, 60)
        there.send([there.recv(), state.value])
        there.close()

    p = mp.Process(target=answer, args=(ready, state, there))
    p.start()
    there.close()
    here.send("question")
    assert not here.poll(0.05)
    with ready:
        state.value = 1
        ready.notify_all()
    assert here.poll(60) and here.recv() == ["question", 1]
    with pytest.raises(EOFError):
        here.recv()
    p.join()


def test_queues():
    q = mp.JoinableQueue(3)
    for x in ("a", b"b" * 100_000, [1, {2}]):
        q.put(x)
    assert q.full() and q.qsize() == 3
    with pytest.raises(queue.Full):
        q.put(1, timeout=0.02)
    got = [q.get(), q.get_nowait(), q.get()]
    assert got == ["a", b"b" * 100_000, [1, {2}]]
    with pytest.raises(queue.Empty):
        q.get(timeout=0.02)
    for _ in range(3):
        q.task_done()
    q.join()
    with pytest.raises(ValueError, match="too many times"):
        q.task_done()


def test_managers_are_dictionaries_and_lists(pool):
    """The same random operations on ours and on Python's own, here and in workers."""
    import random

    rng, manager = random.Random(2), mp.Manager()
    ours, plain = manager.list([3, 1]), [3, 1]
    table, own = manager.dict(a=1), {"a": 1}
    for _ in range(60):
        name, args = rng.choice(
            [
                ("append", (rng.random(),)),
                ("extend", ([1, 2],)),
                ("insert", (0, 5)),
                ("reverse", ()),
                ("sort", ()),
                ("pop", ()),
                ("__len__", ()),
                ("count", (1,)),
                ("copy", ()),
            ]
        )
        if name == "pop" and not plain:
            continue
        assert getattr(ours, name)(*args) == getattr(plain, name)(*args)
        key, value = rng.choice("abcd"), rng.random()
        name, args = rng.choice(
            [
                ("__setitem__", (key, value)),
                ("get", (key,)),
                ("setdefault", (key, value)),
                ("pop", (key, None)),
                ("update", ({key: 1},)),
                ("__contains__", (key,)),
            ]
        )
        assert getattr(table, name)(*args) == getattr(own, name)(*args)
    assert ours == plain and table == own and sorted(table.keys()) == sorted(own) and list(ours) == plain
    with pytest.raises(KeyError):
        table["none"]
    pool.starmap(lambda t, k: t.__setitem__(k, k), [(table, k) for k in range(6)], 1)
    assert {k: k for k in range(6)}.items() <= dict(table.items()).items()
    names = manager.Namespace(x=1)
    pool.apply(lambda n: setattr(n, "y", n.x + 1), (names,))
    assert names.y == 2


def test_shared_memory(pool):
    made = shared_memory.SharedMemory(create=True, size=64)

    def write(name):
        there = shared_memory.SharedMemory(name)
        there.buf[:3] = b"abc"
        there.close()
        return there.size

    assert pool.apply(write, (made.name,)) == 64 and bytes(made.buf[:4]) == b"abc\0"
    assert not [n for n in os.listdir("/dev/shm") if "tutti" in n]
    made.close()
    made.unlink()
    for name in ("nothing", "tutti-8-999999-3-5"):
        with pytest.raises(FileNotFoundError):
            shared_memory.SharedMemory(name)
    with pytest.raises(ValueError, match="names of shared memory are given"):
        shared_memory.SharedMemory("mine", create=True, size=3)


def test_futures():
    with futures.ProcessPoolExecutor(2) as executor:
        assert list(executor.map(square, range(9), chunksize=2)) == [x * x for x in range(9)]
        several = [executor.submit(square, x) for x in (1, 13)]
        done, _ = futures.wait(several, 60)
        assert done == set(several) and isinstance(several[1].exception(), ArithmeticError)
        assert {f.result() for f in futures.as_completed([several[0]])} == {1}
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(square, 1)
    with pytest.raises(ValueError, match="greater than 0"):
        futures.ProcessPoolExecutor(0)


def test_contexts_and_names():
    for method in ("spawn", "fork", "forkserver", None):
        assert mp.get_context(method).Pool is mp.Pool
    with pytest.raises(ValueError, match="cannot find context"):
        mp.get_context("teleport")
    assert mp.cpu_count() >= 1 and mp.current_process().name == "MainProcess" and mp.parent_process() is None
    with pytest.raises(AttributeError, match="does not cover"):
        mp.reduction  # noqa: B018


def _sends(end, seconds):
    time.sleep(seconds)
    end.send("sent")
    end.close()


def test_waiting_for_processes_and_connections():
    from tutti.compat.multiprocessing.connection import wait

    here, there = mp.Pipe(duplex=False)
    p = mp.Process(target=_sends, args=(there, 0.2))
    with pytest.raises(ValueError, match="not started"):
        p.sentinel  # noqa: B018
    p.start()
    assert wait([p.sentinel, here], timeout=0) == []
    assert wait([here, p.sentinel], timeout=60) == [here] and here.recv() == "sent"
    assert wait([p.sentinel], timeout=60) == [p.sentinel]
    p.join(60)
    fd = p.sentinel
    assert p.exitcode == 0 and isinstance(fd, int)
    p.close()
    with pytest.raises(ValueError, match="closed"):
        p.sentinel  # noqa: B018
    del p
    with pytest.raises(OSError):
        os.fstat(fd)


def meets(barrier, queue, times, first):
    for k in range(times):
        time.sleep(0.002 * ((first + k) % 3))
        queue.put((k, barrier.wait(60)))


@pytest.mark.parametrize("made", [mp.Barrier, mp.Manager().Barrier])
def test_nobody_passes_a_barrier_before_all_are_there(made):
    barrier, queue = made(3), mp.Queue()
    there = [mp.Process(target=meets, args=(barrier, queue, 10, n)) for n in range(2)]
    for p in there:
        p.start()
    meets(barrier, queue, 10, 2)
    got = [queue.get(timeout=60) for _ in range(30)]
    for p in there:
        p.join(60)
        assert p.exitcode == 0
    for k in range(10):  # each time, every place among those who wait was taken once
        assert sorted(place for turn, place in got if turn == k) == [0, 1, 2]
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait(0.05)
    assert barrier.broken and barrier.n_waiting == 0
    barrier.reset()
    assert not barrier.broken
    with pytest.raises(ValueError, match="parties"):
        made(0)


def echoes(end):
    while (said := end.recv()) != "end":
        end.send(said)


def test_a_connection_that_was_given_away_is_closed_here():
    """It may be closed before the process that has it begins."""
    here, there = mp.Pipe()
    p = mp.Process(target=echoes, args=(there,))
    p.start()
    there.close()
    for said in ("a", b"b", [1]):
        here.send(said)
        assert here.recv() == said
    here.send("end")
    p.join(60)
    assert p.exitcode == 0
    with pytest.raises(EOFError):  # it has ended, and nobody else has that end
        here.recv()
    with pytest.raises(BrokenPipeError):
        here.send(1)


def test_who_dies_has_closed_its_end():
    here, there = mp.Pipe()
    p = mp.Process(target=echoes, args=(there,))
    p.start()
    there.close()
    here.send(1)
    assert here.recv() == 1
    p.kill()
    with pytest.raises(EOFError):
        here.recv()
    p.join()


def sends(end, x):
    end.send(x)
    return x


def test_workers_and_queues_take_connections():
    here, there = mp.Pipe()
    with mp.Pool(2) as pool:
        assert pool.starmap(sends, [(there, 1), (there, 2)]) == [1, 2]
        assert sorted([here.recv(), here.recv()]) == [1, 2]
    queue = mp.Queue()
    queue.put(there)
    again = queue.get()
    again.send(3)
    again.close()
    assert here.recv() == 3 and not here.poll()
    queue.put(there)
    there.close()
    with pytest.raises(FileNotFoundError, match="closed it"):
        queue.get()
    with pytest.raises(EOFError):
        here.recv()


def test_connections_leave_no_descriptors():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        mp.Pipe()
    assert len(os.listdir("/proc/self/fd")) <= before + 2


class Target:
    def __call__(self, queue, other):
        queue.put(5)


def test_what_a_process_was_given_is_let_go():
    import weakref

    target = Target()
    seen, queue = weakref.ref(target), mp.Queue()
    p = mp.Process(target=target, args=(queue, target))
    del target
    p.start()
    p.join(60)
    assert seen() is None and queue.get(timeout=60) == 5


def test_who_waits_later_is_not_woken_for_another():
    condition, woken, began = mp.Condition(), [], threading.Event()

    def sleeps():
        with condition:
            began.set()
            woken.append(condition.wait(60))

    for _ in range(10):
        began.clear()
        sleeper = threading.Thread(target=sleeps)
        sleeper.start()
        began.wait(60)
        with condition:
            condition.notify_all()
            assert not condition.wait(0.02)
        sleeper.join(60)
    assert woken == [True] * 10


def tells_key(queue):
    queue.put((mp.current_process().authkey, mp.parent_process().authkey))


def test_processes_have_their_parents_key():
    queue, key = mp.Queue(), mp.current_process().authkey
    p = mp.Process(target=tells_key, args=(queue,))
    p.start()
    assert len(key) == 32 and p.authkey == key and queue.get(timeout=60) == (key, key)
    p.join()


def consumes(condition, state, queue, seed):
    """Take numbers from a buffer of at most 3, waiting for some time or for ever, until a -1 comes."""
    rng = random.Random(seed)
    while True:
        with condition:
            while state[0] == state[1]:
                condition.wait(rng.choice([None, 0.0, 0.001, 0.01]))
            number = state[2 + state[0] % 3]
            state[0] += 1
            condition.notify(rng.choice([1, 2])) if rng.random() < 0.5 else condition.notify_all()
        if number < 0:
            return
        queue.put(number)


@pytest.mark.parametrize("seed", range(2))
def test_random_waits_of_many_for_one_condition(seed):
    rng = random.Random(seed)
    condition, state, queue = mp.Condition(), mp.RawArray("q", 5), mp.Queue()
    consumers = [mp.Process(target=consumes, args=(condition, state, queue, rng.random())) for _ in range(2)]
    consumers += [threading.Thread(target=consumes, args=(condition, state, queue, rng.random())) for _ in range(2)]
    for c in consumers:
        c.start()
    for number in [*range(150), -1, -1, -1, -1]:
        with condition:
            while state[1] - state[0] == 3:
                condition.wait(rng.choice([0.005, 0.01]))
            state[2 + state[1] % 3] = number
            state[1] += 1
            condition.notify_all() if rng.random() < 0.5 else condition.notify()
        if rng.random() < 0.1:
            time.sleep(0.002)
    for c in consumers:
        c.join(60)
        assert not c.is_alive()
    assert sorted(queue.get(timeout=60) for _ in range(150)) == list(range(150)) and queue.empty()


def test_an_executor_says_how_many_workers_it_has():
    with futures.ProcessPoolExecutor(3) as executor:
        assert executor._max_workers == 3
