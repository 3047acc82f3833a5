"""CPython's tests of concurrent.futures and of multiprocessing over tutti's workers.

    python tests/programs/executor_programs.py futures [pattern]
    python tests/programs/executor_programs.py multiprocessing [pattern]

The tests are those of the interpreter that runs this (its `test` package must be installed, of 3.12 or later).
At the end there is a line for each test that failed, was left out, or whether all is well. Tests of how CPython's own
pools are built inside are left out, each for the reason beside its name.
"""

import concurrent.futures
import faulthandler
import importlib
import signal
import sys
import unittest

# A part of a test's name, and why it is not asked.
INSIDE = "about the insides of CPython's pool: its queues, threads and lists of processes"
LEFT_OUT_FUTURES = {
    "test_processes_terminate": INSIDE,
    "test_context_manager_shutdown": INSIDE,
    "test_del_shutdown": INSIDE,
    "test_shutdown_no_wait": INSIDE,
    "test_spawn_process": INSIDE,
    "test_idle_process_reuse": INSIDE,
    "test_saturation": INSIDE,
    "test_ressources_gced_in_workers": "about when a manager's server, which is not there, is told",
    "test_max_tasks": "workers stay; max_tasks_per_child has no effect",
    "test_python_finalization_error": "about threads of CPython's pool at the interpreter's end",
    "test_force_shutdown_workers": INSIDE,
    "test_terminate_workers": INSIDE,
    "test_kill_workers": INSIDE,
    "test_process_fork_from_a_threadpool": "nothing is forked",
    "test_shutdown_deadlock_pickle": INSIDE,
    "test_gh105829": INSIDE,
    "test_crash_big_data": INSIDE,
    "test_killed_child": INSIDE,
    "test_traceback": "about the class of CPython's text of a traceback; ours is `tutti.parallel`'s",
    "FailingInitializer": "hands over CPython's own queue, which is inherited only",
}
# Classes of multiprocessing's tests whose subject is there.
PROCESSES = (
    "_TestQueue _TestLock _TestSemaphore _TestCondition _TestEvent _TestValue _TestArray _TestPool "
    "_TestPoolWorkerErrors _TestConnection _TestPoll _TestProcess TestSimpleQueue"
).split()
NAMES = (
    "Process current_process parent_process active_children Pool Pipe Queue JoinableQueue Lock RLock Semaphore "
    "BoundedSemaphore Condition Event Value Array RawValue RawArray"
).split()
START = "about ways in which processes begin, or descriptors that they inherit; here all begin anew"
LEFT_OUT_PROCESSES = {
    "test_fork": START,
    "test_forkserver": START,
    "test_child_fd_inflation": START,
    "test_fd_transfer": "sends a descriptor of the operating system along a connection",
    "test_large_fd_transfer": "as test_fd_transfer",
    "test_missing_fd_transfer": "as test_fd_transfer",
    "test_notify": "about the insides of CPython's conditions: their semaphores",
    "test_make_pool": "about the insides of CPython's pool: its list of processes",
    "test_resource_warning": "a pool that is not closed keeps nothing of its own",
    "test_map_unplicklable": "the first items are called where the map is",
    "test_imap_handle_iterable_exception": "what came before the exception is given, also of its chunk",
    "test_set_executable": "all begin with the interpreter that runs",
    "test_process": "there is no authkey: nothing listens",
    "test_current": "as test_process",
    "test_parent_process": "asks Python's own multiprocessing in the process",
    "test_closed": "about the insides of CPython's queues: their pipes",
    "test_connection": "connections are no files, and have no number",
    "test_context": "connections are no files",
    "test_closed_queue_raises": "a queue stays while somebody has it",
    "test_queue_feeder": "there is no thread that feeds a queue",
    "test_interrupt": "sends signals by the number of the test's own interpreter",
    "test_pool_worker_lifetime": "workers stay; maxtasksperchild has no effect",
    "test_release_task_refs": "counts references with a class that is changed in the test alone",
}
LIMIT = 900  # seconds for all of them
EACH = 30  # and for one of multiprocessing's
FUTURES = "test_wait test_as_completed test_process_pool test_shutdown test_init test_deadlock".split()


def chosen(suite, left_out, pattern, wanted):
    """Tests of the suite that are asked, and names of those left out with their reasons."""
    asked, left = unittest.TestSuite(), {}
    for test in flat(suite):
        if not wanted(type(test).__name__) or (pattern and pattern not in test.id()):
            continue
        reason = next((why for part, why in left_out.items() if part in test.id()), None)
        if reason:
            left[test.id()] = reason
        else:
            asked.addTest(test)
    return asked, left


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def futures(pattern):
    import tutti.compat.concurrent.futures as ours

    concurrent.futures.ProcessPoolExecutor = ours.ProcessPoolExecutor
    suite = unittest.TestSuite()
    for name in FUTURES:
        module = importlib.import_module("test.test_concurrent_futures." + name)
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    return chosen(suite, LEFT_OUT_FUTURES, pattern, lambda name: name.startswith("ProcessPoolSpawn"))


def processes(pattern):
    import test._test_multiprocessing as theirs
    import tutti.compat.multiprocessing as ours

    theirs.multiprocessing = ours
    names = {name: staticmethod(getattr(ours, name)) for name in NAMES}
    names.update(Process=ours.Process, TYPE="processes")
    suite = unittest.TestSuite()
    for name in PROCESSES:
        base = getattr(theirs, name)
        bases = (base,) if issubclass(base, unittest.TestCase) else (base, Limited)
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(type("Our" + name, bases, dict(names))))
    return chosen(suite, LEFT_OUT_PROCESSES, pattern, lambda name: True)


class Limited(unittest.TestCase):
    """A test that takes too long has failed; the next one runs."""

    def run(self, result=None):
        signal.signal(signal.SIGALRM, self.late)
        signal.alarm(EACH)
        try:
            return super().run(result)
        finally:
            signal.alarm(0)

    @staticmethod
    def late(*_):
        raise TimeoutError(f"the test took longer than {EACH} s")

    def __reduce__(self):  # a process needs the methods alone
        return type(self), (self._testMethodName,)


def main(what, pattern=""):
    asked, left = {"futures": futures, "multiprocessing": processes}[what](pattern)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    result = unittest.TextTestRunner(verbosity=2).run(asked)
    for test, reason in sorted(left.items()):
        print(f"left out  {test.split('.', 2)[-1]}: {reason}")
    for word, tests in (("FAILED", result.failures), ("ERROR", result.errors), ("skipped", result.skipped)):
        for test, text in tests:
            print(f"{word:9s} {test.id().split('.', 2)[-1]}: {text.strip().splitlines()[-1][:200]}")
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} of {result.testsRun} pass, {len(left)} left out")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
