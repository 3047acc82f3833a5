"""Limits of the system, and others who kill, stop and let go workers, while calls go on."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import tutti as tt


def told(text):
    """What a program writes that has limits of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_files_may_not_be_as_long_as_an_array():
    assert told("""
        import resource
        import numpy as np
        import tutti as tt
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        a = np.ones(1_000_000)
        total = lambda x: float(x.sum())
        assert tt.parallel.map(total, [a[:10]] * 2, workers=2, chunk=1) == [10, 10]
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
        try:
            tt.parallel.map(total, [a, a], workers=2, chunk=1)
        except OSError as e:
            print("refused" if "cannot share" in str(e) else e)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        print(*tt.parallel.map(total, [a, a], workers=2, chunk=1))
    """) == ["refused", "1000000.0", "1000000.0"]


def test_no_descriptors_are_left():
    assert told("""
        import resource
        import numpy as np
        import tutti as tt
        def add(x):
            return float(x[0] + 1)
        tt.parallel.map(add, [np.ones(3)] * 2, workers=2, chunk=1)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        arrays = [np.full(200_000, float(k)) for k in range(200)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
        try:
            print(len(tt.parallel.map(add, arrays, workers=2, chunk=50)))
        except OSError as e:
            print("refused" if "Too many open files" in str(e) else e)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        print(tt.parallel.map(add, arrays, workers=2, chunk=50) == [k + 1 for k in range(200)])
    """) == ["refused", "True"]


def test_results_larger_than_memory():
    assert told("""
        import resource
        import tutti as tt
        def large(n):
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, resource.RLIM_INFINITY))
            return bytes(n)
        for found in tt.parallel.map(large, [10, 8 << 30, 20], workers=2, chunk=1, return_exceptions=True):
            print(type(found).__name__)
    """) == ["bytes", "MemoryError", "bytes"]


LITTLE_MEMORY = """
        import resource
        import numpy as np
        import tutti as tt

        def limit(room):
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + room, hard))
            return soft

        a = np.ones(20_000_000)
        total = lambda x: float(x.sum())
        assert tt.parallel.map(total, [a[:10]] * 2, workers=2, chunk=1) == [10, 10]

        def told(f, items, workers=2):
            try:
                found = tt.parallel.map(f, items, workers=workers, chunk=1)
                print(*(len(x) if isinstance(x, bytes) else x for x in found))
            except MemoryError:
                print("refused")
"""


def test_a_program_with_little_memory_left():
    """Neither what it shares nor what comes back fits; what is small goes on, and the next call has its workers."""
    assert (
        told(
            LITTLE_MEMORY
            + """
        soft = limit(60 << 20)
        for k in range(2):
            told(total, [a, a])
            told(bytes, [10, 200 << 20, 20])
            told(abs, [-1, -2])
        resource.setrlimit(resource.RLIMIT_AS, (soft, resource.getrlimit(resource.RLIMIT_AS)[1]))
        told(total, [a, a])
    """
        )
        == ["refused", "refused", "1", "2"] * 2 + ["20000000.0"] * 2
    )


def test_workers_with_little_memory_left():
    assert told(
        LITTLE_MEMORY
        + """
        tt.parallel.map(limit, [60 << 20], workers=1, chunk=1)
        told(total, [a], 1)
        told(abs, [-1, -2], 1)
        told(total, [a, a], 1)
    """
    ) == ["refused", "1", "2", "20000000.0", "20000000.0"]


def test_nothing_lies_in_the_shared_folder():
    """Shared memory has no file: how full /dev/shm is makes no difference."""
    np = pytest.importorskip("numpy")
    before = set(os.listdir("/dev/shm"))
    a = tt.parallel.shared(1 << 17)
    assert tt.parallel.map(lambda x: x.nbytes, [a, np.ones(1 << 17)], workers=2, chunk=1) == [1 << 20] * 2
    assert {n for n in os.listdir("/dev/shm") if "tutti" in n} <= before


def work(x):
    time.sleep((x * 37 % 11) / 2000)
    if x % 41 == 7:
        raise ArithmeticError(x)
    return [x] * (x % 300)


def loop(x):
    try:
        return work(x)
    except ArithmeticError as e:
        return repr(e)


@pytest.mark.parametrize("seed", range(3))
def test_others_kill_and_stop_workers(seed):
    rng, over = random.Random(seed), threading.Event()
    engine = tt.parallel._map.Engine.get(2)

    def disturb():
        for _ in range(8):
            if over.wait(rng.uniform(0.02, 0.3)):
                return
            for w in rng.sample(engine.workers, min(1, len(engine.workers))):
                if w.ready:
                    number = rng.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT, signal.SIGTERM])
                    try:
                        os.kill(w.pid, number)
                        time.sleep(0.02)
                        os.kill(w.pid, signal.SIGCONT)
                    except ProcessLookupError:
                        pass

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        how = dict(workers=2, retries=50, return_exceptions=True, chunk=rng.choice([1, 3, 20]))
        items = list(range(150))
        got = [x if isinstance(x, list) else repr(x) for x in tt.parallel.map(work, items, **how)]
    finally:
        over.set()
        thread.join()
    # Of an item that raises at every try the last try may have been the one whose worker died.
    wanted = [loop(x) for x in items]
    assert all(g == w or (isinstance(w, str) and "WorkerDied" in g) for g, w in zip(got, wanted, strict=True))
    assert tt.parallel.map(abs, [-1, -2], workers=2, chunk=1) == [1, 2]
