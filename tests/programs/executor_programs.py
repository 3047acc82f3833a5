"""CPython's tests of concurrent.futures over tutti's executor.

    python tests/programs/executor_programs.py futures [pattern]

The tests are those of the interpreter that runs this (its `test` package must be installed, of 3.12 or later).
At the end there is a line for each test that failed, was left out, or whether all is well. Tests of how CPython's own
pools are built inside are left out, each for the reason beside its name.
"""

import concurrent.futures
import faulthandler
import importlib
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
LIMIT = 600  # seconds for all of them
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


def main(what, pattern=""):
    asked, left = {"futures": futures}[what](pattern)
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
