"""What goes wrong in workers: exceptions, deaths, items that never end, functions that cannot be handed over."""

import concurrent.futures
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import tutti as tt
from tutti.parallel import _engine, _workers


def fails(x):
    if x % 7 == 5:
        raise LookupError(f"item {x}")
    return x


def dies(x):
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def leaves(x):
    if x == 5:
        os._exit(3)
    return x


def sleeps(x):
    if x == 5:
        time.sleep(60)
    return x


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def raises_two(_):
    raise TwoArguments(1, 2)


@pytest.mark.parametrize("chunk", [1, 4, 50])
def test_an_exception_is_itself_with_the_workers_traceback(chunk):
    with pytest.raises(LookupError, match="item 5") as caught:  # the only one: of several the first to come is raised
        tt.parallel.map(fails, range(6), workers=2, chunk=chunk)
    assert "in fails" in str(caught.value.__cause__) and "_worker" not in str(caught.value.__cause__)


def test_in_order_what_came_before_is_given():
    results = tt.parallel.imap(fails, range(50), workers=2, chunk=3)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(LookupError, match="item 5"):
        next(results)
    assert list(results) == []


@pytest.mark.parametrize("chunk", [None, 1, 4, 50])
def test_exceptions_as_results(chunk):
    got = tt.parallel.map(fails, range(30), workers=2, chunk=chunk, return_exceptions=True)
    assert [str(g) for g in got] == [f"item {k}" if k % 7 == 5 else str(k) for k in range(30)]


def test_an_exception_that_cannot_be_pickled():
    with pytest.raises(RuntimeError, match="cannot be pickled: .*TwoArguments: 1 and 2"):
        tt.parallel.map(raises_two, [0], workers=2, chunk=1)


@pytest.mark.parametrize("f, how", [(dies, "was killed by signal 9"), (leaves, "exited with code 3")])
@pytest.mark.parametrize("chunk", [1, 4])
def test_a_worker_that_dies(f, how, chunk):
    with pytest.raises(tt.parallel.WorkerDied, match=f"{how}.*while it worked on item 5") as caught:
        tt.parallel.map(f, range(20), workers=2, chunk=chunk)
    assert caught.value.item == 5 and (caught.value.signal, caught.value.exitcode) in [(9, None), (None, 3)]
    got = tt.parallel.map(f, range(20), workers=2, chunk=chunk, return_exceptions=True)
    assert isinstance(got.pop(5), tt.parallel.WorkerDied) and got == [k for k in range(20) if k != 5]


def test_retries(tmp_path):
    def dies_once(x):
        mark = tmp_path / str(x)
        if x % 5 == 2 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if x % 5 == 3 and not mark.exists():
            mark.touch()
            raise ValueError
        return x

    assert tt.parallel.map(dies_once, range(15), workers=2, chunk=4, retries=1) == list(range(15))


@pytest.mark.parametrize("chunk", [1, 8])
def test_items_that_never_end(chunk):
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="item 5 took longer than 0.3 seconds"):
        tt.parallel.map(sleeps, range(20), workers=2, chunk=chunk, timeout=0.3)
    got = tt.parallel.map(sleeps, range(20), workers=2, chunk=chunk, timeout=0.3, return_exceptions=True)
    assert isinstance(got.pop(5), TimeoutError) and got == [k for k in range(20) if k != 5]
    assert time.monotonic() - begun < 20


def test_what_cannot_be_handed_over():
    lock = __import__("threading").Lock()
    with pytest.raises((pickle.PicklingError, TypeError), match="lock"):
        tt.parallel.map(lambda x: lock, range(3), workers=2, chunk=1)
    with pytest.raises((pickle.PicklingError, TypeError), match="lock"):
        tt.parallel.map(lambda x: __import__("threading").Lock(), range(3), workers=2, chunk=1)
    assert tt.parallel.map(abs, [-1], workers=2, chunk=1) == [1]


def test_what_a_worker_cannot_import(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("seen = []\ndef f(x): return seen\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import only_here

    tt.parallel.shutdown()
    (tmp_path / "only_here.py").unlink()
    with pytest.raises(ModuleNotFoundError, match="only_here"):
        tt.parallel.map(only_here.f, range(3), workers=2, chunk=1)


def program(text, *args, **how):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def gone(pids, seconds=3.0):
    """Do these processes end?"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        left = [p for p in pids if os.path.exists(f"/proc/{p}") and " Z " not in open(f"/proc/{p}/stat").read()]
        if not left:
            return True
        time.sleep(0.02)
    return False


BUSY = """
    import os, sys, time
    import tutti as tt
    def f(x):
        if x:
            time.sleep(60)
        return os.getpid()
    pids = set()
    while len(pids) < 2:
        pids |= set(tt.parallel.map(lambda x: (time.sleep(0.05), os.getpid())[1], range(4), workers=2, chunk=1))
    print(*pids, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number):
    p = program(BUSY + "    tt.parallel.map(f, range(1, 5), workers=2, chunk=1)\n")
    pids = [int(x) for x in p.stdout.readline().split()]
    time.sleep(0.2)
    p.send_signal(number)
    p.communicate(timeout=10)
    assert len(pids) == 2 and gone(pids)


def test_ctrl_c_stops_all():
    """Long before the items, which take a minute each: a busy machine needs some seconds for new workers."""
    p = program(
        BUSY
        + """
    try:
        tt.parallel.map(f, range(1, 5), workers=2, chunk=1)
    except KeyboardInterrupt:
        print("stopped", tt.parallel.map(abs, [-1], workers=2, chunk=1), flush=True)
    """
    )
    pids = [int(x) for x in p.stdout.readline().split()]
    time.sleep(0.3)
    begun = time.monotonic()
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=45)
    assert out.split() == ["stopped", "[1]"], err
    assert time.monotonic() - begun < 40 and gone(pids)


def test_ctrl_c_before_workers_have_begun():
    """What was sent and not begun is not done by the workers that take their places."""
    p = program(
        """
        import os, signal, time
        import tutti as tt
        def f(x):
            time.sleep(60)
        def interrupt(*_):
            raise KeyboardInterrupt
        pids = set()
        while len(pids) < 2:
            pids |= set(tt.parallel.map(lambda x: (time.sleep(0.05), os.getpid())[1], range(4), workers=2, chunk=1))
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # as on a busy machine
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            tt.parallel.map(f, range(1, 5), workers=2, chunk=1)
        except KeyboardInterrupt:
            print("stopped", tt.parallel.map(abs, [-1], workers=2, chunk=1), flush=True)
        """
    )
    begun = time.monotonic()
    out, err = p.communicate(timeout=100)
    assert out.split() == ["stopped", "[1]"], err
    assert time.monotonic() - begun < 40


def test_an_interrupt_anywhere_leaves_workers_that_work():
    """Not only where the caller waits: an exception of a signal may come between any two of its instructions."""
    p = program(
        """
        import faulthandler, random, signal, time
        import tutti as tt
        def interrupt(*_):
            raise KeyboardInterrupt
        def slow(x):
            time.sleep(x)
        def negative(x):
            return -x
        signal.signal(signal.SIGALRM, interrupt)
        random.seed(0)
        for _ in range(60):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, random.choice([1e-3, 1e-2, 0.1]) * random.random() + 1e-6)
                    tt.parallel.map(slow, [0.05] * 6, workers=2, chunk=1)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            faulthandler.dump_traceback_later(20, exit=True)
            assert tt.parallel.map(negative, [1, 2, 3], workers=2, chunk=1) == [-1, -2, -3]
            faulthandler.cancel_dump_traceback_later()
        print("well")
        """
    )
    out, err = p.communicate(timeout=100)
    assert out == "well\n" and not err


def test_workers_that_cannot_start(monkeypatch):
    monkeypatch.setattr(_workers, "_command", lambda: [b"/bin/false"])
    engine = _engine.Engine(2)
    with pytest.raises(
        concurrent.futures.BrokenExecutor, match="workers cannot start: the last one exited with code 1"
    ):
        list(engine.run([(abs, (k,), {}) for k in range(5)]))
    engine.close()


def test_the_interpreter_ends_with_work_under_way():
    p = program(BUSY + "    it = tt.parallel.imap(f, range(5), workers=2, chunk=1); next(it)\n")
    pids = [int(x) for x in p.stdout.readline().split()]
    out, err = p.communicate(timeout=10)
    assert p.returncode == 0 and not err and gone(pids)


def test_a_fork_in_the_middle():
    p = program(
        BUSY
        + """
    it = tt.parallel.imap(abs, range(100), workers=2, chunk=1)
    next(it)
    pid = os.fork()
    got = tt.parallel.map(abs, range(10), workers=2, chunk=1) == list(range(10))
    if pid == 0:
        os._exit(0 if got else 1)
    print(os.waitpid(pid, 0)[1], got, sum(1 for _ in it))
    """
    )
    p.stdout.readline()
    out, err = p.communicate(timeout=20)
    assert out.split() == ["0", "True", "99"], err


def test_a_worker_that_is_stopped_and_continued():
    import threading

    def stopped(x):
        if x == 3:
            os.kill(os.getpid(), signal.SIGSTOP)
        return os.getpid()

    def let_go():
        end = time.monotonic() + 10
        while time.monotonic() < end:
            time.sleep(0.1)
            for w in tt.parallel._map.Engine.get(2).workers:
                os.kill(w.pid, signal.SIGCONT)

    thread = threading.Thread(target=let_go, daemon=True)
    thread.start()
    assert len(tt.parallel.map(stopped, range(6), workers=2, chunk=1)) == 6


@pytest.mark.parametrize("calls", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_nothing_is_left_over(calls):
    p = program(
        """
    import os, sys, tutti as tt
    import numpy as np
    def count():
        return len(os.listdir("/proc/self/fd")), len(open("/proc/self/maps").readlines())
    def size(pid):
        return int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    def sizes():
        return [size(pid) for pid in [os.getpid()] + [w.pid for w in tt.parallel._map.Engine.get(2).workers]]
    a = np.arange(100_000)
    def f(x):
        return x
    for k in range(50):
        tt.parallel.map(f, [1, 2], workers=2, chunk=1)
        tt.parallel.map(f, [a + k], workers=2, chunk=1)
    before, large = count(), sizes()
    for k in range(int(sys.argv[1])):
        tt.parallel.map(f, [1, 2], workers=2, chunk=1)
        if k % 10 == 0:
            tt.parallel.map(f, [a + k], workers=2, chunk=1)
    fds, maps = count()
    workers = tt.parallel._map.Engine.get(2).workers
    theirs = [len(os.listdir(f"/proc/{w.pid}/fd")) for w in workers]
    known = [len(w.functions) for w in workers]
    assert fds <= before[0] + 4 and maps <= before[1] + 20, (before, fds, maps)
    assert max(now - then for now, then in zip(sizes(), large)) < 8, (large, sizes())
    assert max(theirs) < 20 and max(known) < 20, (theirs, known)
    assert not [name for name in os.listdir("/dev/shm") if "tutti" in name]
    print("clean")
    """,
        str(calls),
    )
    out, err = p.communicate(timeout=100)
    assert out == "clean\n", err
