"""The contract of concurrent.futures over our workers."""

import asyncio
import concurrent.futures
import os
import threading
import time

import pytest
import tutti as tt


@pytest.fixture(scope="module")
def executor():
    with tt.parallel.Executor(2) as e:
        yield e


def add(a, b=0):
    return a + b


def slow(x):
    time.sleep(x)
    return x


def fails():
    raise ZeroDivisionError("of a worker")


def test_futures(executor):
    f = executor.submit(add, 1, b=2)
    assert isinstance(f, concurrent.futures.Future) and f.result() == 3 and f.done()
    assert executor.submit(os.getpid).result() != os.getpid()
    with pytest.raises(ZeroDivisionError, match="of a worker"):
        executor.submit(fails).result()
    assert isinstance(executor.submit(fails).exception(), ZeroDivisionError)


def test_wait_and_as_completed(executor):
    futures = [executor.submit(slow, x) for x in (0.2, 0.01, 0.02)]
    assert sorted(f.result() for f in concurrent.futures.as_completed(futures)) == [0.01, 0.02, 0.2]
    done, rest = concurrent.futures.wait([executor.submit(add, k) for k in range(10)])
    assert len(done) == 10 and not rest


def test_callbacks(executor):
    seen = []
    f = executor.submit(slow, 0.05)
    f.add_done_callback(lambda f: seen.append(f.result()))
    end = time.monotonic() + 5
    while not seen and time.monotonic() < end:
        time.sleep(0.005)
    assert seen == [0.05]


def test_a_result_that_is_late(executor):
    f = executor.submit(slow, 0.4)
    with pytest.raises(TimeoutError):
        f.result(timeout=0.05)
    assert f.result() == 0.4


def test_cancel(executor):
    futures = [executor.submit(slow, 0.2) for _ in range(6)]
    assert futures[-1].cancel() and futures[-1].cancelled()
    with pytest.raises(concurrent.futures.CancelledError):
        futures[-1].result()
    assert [f.result() for f in futures[:-1]] == [0.2] * 5


def test_map(executor):
    assert list(executor.map(add, range(100), range(100))) == list(range(0, 200, 2))
    assert list(executor.map(add, range(100), chunksize=7)) == list(range(100))
    assert list(executor.map(add, [])) == []
    with pytest.raises(TimeoutError):
        list(executor.map(slow, [0.5, 0.5], timeout=0.05))
    with pytest.raises(ValueError, match="chunksize"):
        executor.map(add, [1], chunksize=0)


def test_asyncio(executor):
    async def main():
        loop = asyncio.get_running_loop()
        return await asyncio.gather(*(loop.run_in_executor(executor, add, k, 1) for k in range(20)))

    assert asyncio.run(main()) == list(range(1, 21))


def test_after_shutdown():
    e = tt.parallel.Executor(2)
    f = e.submit(slow, 0.05)
    e.shutdown()
    assert f.done() and f.result() == 0.05
    with pytest.raises(RuntimeError, match="after shutdown"):
        e.submit(add, 1)
    e.shutdown()


def test_cancel_futures():
    e = tt.parallel.Executor(2)
    futures = [e.submit(slow, 0.1) for _ in range(8)]
    e.shutdown(cancel_futures=True)
    assert all(f.done() for f in futures) and any(f.cancelled() for f in futures)


value = None


def set_value(x):
    global value
    value = x


def get_value():
    return value


def test_initializer():
    with tt.parallel.Executor(2, initializer=set_value, initargs=(7,)) as e:
        assert {e.submit(get_value).result() for _ in range(6)} == {7}
    with tt.parallel.Executor(1) as e:
        assert e.submit(get_value).result() is None
    with tt.parallel.Executor(1, initializer=fails) as e:
        with pytest.raises(concurrent.futures.BrokenExecutor) as caught:
            e.submit(get_value).result()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(TypeError, match="callable"):
        tt.parallel.Executor(1, initializer=3)


def test_threads():
    with tt.parallel.Executor(2, threads=True) as e:
        assert e.submit(os.getpid).result() == os.getpid()
        assert list(e.map(add, range(5))) == list(range(5))


def test_a_worker_that_dies_takes_its_call_along():
    with tt.parallel.Executor(2) as e:
        with pytest.raises(tt.parallel.WorkerDied, match="exited with code 9"):
            e.submit(os._exit, 9).result()
        assert e.submit(add, 1).result() == 1


def test_deaths_are_what_users_of_concurrent_futures_catch():
    from concurrent.futures.process import BrokenProcessPool

    from tutti.compat.concurrent.futures import ProcessPoolExecutor

    with tt.parallel.Executor(1) as e:
        assert isinstance(e.submit(os._exit, 9).exception(), concurrent.futures.BrokenExecutor)
    with ProcessPoolExecutor(1) as e:
        died = e.submit(os._exit, 9).exception()
        assert isinstance(died, BrokenProcessPool) and isinstance(died, tt.parallel.WorkerDied) and died.exitcode == 9
        unread = e.submit(add, Unreadable()).exception()
        assert isinstance(unread, BrokenProcessPool) and isinstance(unread.__cause__, ZeroDivisionError)
        assert isinstance(e.submit(Unreadable).exception(), BrokenProcessPool)
        assert e.submit(add, 1).result() == 1


class Unreadable:
    def __reduce__(self):
        return divide, (1, 0)


def divide(a, b):
    return a / b


def quits():
    class Quits:
        def __reduce__(self):
            raise SystemExit(3)

    return Quits()


def test_results_whose_pickling_ends_the_process(executor):
    with pytest.raises(SystemExit):
        executor.submit(quits).result()


def test_calls_wait_in_workers_that_are_still_starting():
    with tt.parallel.Executor(2, initializer=set_value, initargs=(1,)) as e:
        futures = [e.submit(slow, 0.01) for _ in range(30)]
        e.shutdown(cancel_futures=True)
    kept = [f for f in futures if not f.cancelled()]
    assert 2 <= len(kept) <= 6 and all(f.result() == 0.01 for f in kept)


def test_workers_import_no_package_for_functions_by_value():
    import subprocess
    import sys

    text = (
        "import tutti as tt\n"
        "f = lambda x: [m for m in __import__('sys').modules if m in ('tutti', 'numpy', 'signal', 're', 'pickle')]\n"
        "print(sum(tt.parallel.map(f, range(2), workers=1, chunk=1), []))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_environment():
    with tt.parallel.Executor(1, environment={"OMP_NUM_THREADS": "3", "TUTTI_OF_A_TEST": "x"}) as e:
        assert e.submit(os.getenv, "OMP_NUM_THREADS").result() == "3"
        assert e.submit(os.getenv, "TUTTI_OF_A_TEST").result() == "x"
        e.submit(set_value, 5).result()
    with tt.parallel.Executor(1) as e:
        assert e.submit(os.getenv, "TUTTI_OF_A_TEST").result() is None


def test_pool():
    with tt.parallel.Pool(2) as pool:
        assert pool.map(add, range(3)) == [0, 1, 2]
        assert pool.starmap(add, [(1, 2)]) == [3]
        assert pool.submit(add, 4).result() == 4
        assert list(pool.imap(add, range(3))) == [0, 1, 2]
    assert tt.parallel.submit(add, 1, 1).result() == 2


def late(path):
    """Leave work for the end of the worker."""
    import atexit

    def call():
        with open(path, "w") as f:
            f.write(f"{tt.parallel.map(abs, range(-3, 0), workers=2, chunk=1)} {tt.parallel.submit(abs, -4).result()}")

    atexit.register(call)


def test_calls_at_a_workers_end(tmp_path):
    with tt.parallel.Executor(1, environment={"TUTTI_OF_A_TEST": "late"}) as e:
        e.submit(late, tmp_path / "told").result()
        e._engine.close()
    assert (tmp_path / "told").read_text() == "[3, 2, 1] 4"
    assert tt.parallel.map(abs, [-1, -2], workers=2, chunk=1) == [1, 2]


FLAGS = """
import sys
import tutti as tt


def flags(_=None):
    import sys
    return str(sys.flags), sys.warnoptions, sys._xoptions

assert tt.parallel.map(flags, [1], workers=1, chunk=1) == [flags()]
assert not {"subprocess", "concurrent.futures"} & set(sys.modules)
"""


@pytest.mark.parametrize("how", ["", "-OO -B -bb", "-b -X dev -W error::DeprecationWarning", "-X utf8 -s -W ignore"])
def test_workers_have_the_interpreters_flags(how):
    """And a map imports little: neither what starts other programs nor futures."""
    import subprocess
    import sys

    done = subprocess.run([sys.executable, *how.split(), "-c", FLAGS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_executor_that_is_broken_ends():
    """What it did not take is not waited for."""
    executor = tt.parallel.Executor(2, initializer=lambda: 1 / 0)
    with pytest.raises(concurrent.futures.BrokenExecutor):
        executor.submit(abs, 1).result(60)
    with pytest.raises(concurrent.futures.BrokenExecutor):
        executor.submit(abs, 1)
    ending = threading.Thread(target=executor.shutdown, daemon=True)
    ending.start()
    ending.join(30)
    assert not ending.is_alive()
