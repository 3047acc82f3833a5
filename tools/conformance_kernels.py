#!/usr/bin/env python3
"""Run Numba's own tests on tutti: make conformance-kernels NUMBA=<a checkout of numba/numba>.

Each test runs in a process of its own. What its tests import of Numba's interior is stood in for by names that skip; a
failure is told by its last line. Parts: doc_examples, or files of numba/tests by name.
"""

import argparse
import collections
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import signal
import sys
import traceback
import types
import unittest

import numpy as np

PARTS = ["doc_examples"]
SECONDS = 60  # for one test
INTERIOR = {  # modules of Numba's that its tests look into, and what of them means something here
    "numba.tests": {},
    "numba.tests.support": {},
    "numba.core.config": {"IS_WIN32": sys.platform == "win32"},
    "numba.np.numpy_support": {"numpy_version": tuple(map(int, np.__version__.split(".")[:2]))},
}


class Support(types.ModuleType):
    """numba.tests.support: the few of its names that mean something here; others skip the test that asks for them."""

    class TestCase(unittest.TestCase):
        def assertPreciseEqual(self, first, second):
            a, b = np.asarray(first), np.asarray(second)
            assert a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"), (
                first,
                second,
            )

    @staticmethod
    @contextlib.contextmanager
    def captured_stdout():
        with contextlib.redirect_stdout(io.StringIO()) as out:
            yield out

    captured_stderr = captured_stdout

    @staticmethod
    def skip_parfors_unsupported(test):
        return test

    skip_unless_scipy = skip_parfors_unsupported

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def asked_for(*args, **kwargs):
            raise unittest.SkipTest(f"numba's own {name}")

        return asked_for


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """numba.tests.support and the folder that it is in."""

    def find_spec(self, name, path=None, target=None):
        known = name in INTERIOR or name == "numba.np"
        return importlib.machinery.ModuleSpec(name, self, is_package=name.count(".") == 1) if known else None

    def create_module(self, spec):
        return Support(spec.name)

    def exec_module(self, module):
        vars(module).update(INTERIOR.get(module.__name__, {}))


def files_of(root, part):
    at = root / "numba" / "tests" / part
    return sorted(at.glob("test_*.py")) if at.is_dir() else [at.with_suffix(".py")]


def tests_in(path):
    """(name, test) of a file, or (name, why it cannot be imported)."""
    spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        return [(path.stem, last_line(error))]
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    return [(f"{path.stem}.{test._testMethodName}", test) for part in suite for test in part]


def last_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:150]


def outcome(test):
    """'ok', 'skipped: ...' or what failed, of one test in this process."""
    result = unittest.TestResult()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        test.run(result)
    if result.skipped:
        return "skipped: " + result.skipped[0][1]
    failed = result.errors + result.failures
    if not failed:
        return "ok"
    lines = [line for line in failed[0][1].splitlines() if line and not line.startswith(" ")]
    return lines[1][:150] if len(lines) > 1 else lines[-1][:150]


def apart(test):
    """The outcome, from a child: a crash or a test without end is an outcome too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        try:
            text = outcome(test)
        except BaseException:
            text = traceback.format_exc().splitlines()[-1]
        os.write(write, text.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    if text:
        return text
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return f"no end within {SECONDS} s" if ended == signal.SIGALRM else f"ended by signal {ended}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--numba", type=pathlib.Path, required=True, help="a checkout of numba/numba")
    arguments.add_argument("--least", type=int, default=0, help="fail where fewer tests pass")
    arguments.add_argument("parts", nargs="*", default=PARTS)
    given = arguments.parse_args()

    from tutti.compat import _run

    sys.meta_path[:0] = [StandIns(), _run.Finder(only="numba")]
    counts = collections.Counter()
    for part in given.parts or PARTS:
        for path in files_of(given.numba, part):
            for name, test in tests_in(path):
                text = apart(test) if isinstance(test, unittest.TestCase) else test
                kind = "ok" if text == "ok" else "skipped" if text.startswith("skipped") else "failed"
                counts[kind] += 1
                print(f"{kind:8}{name}{'' if kind == 'ok' else '  ' + text}", flush=True)
    print(f"{counts['ok']} of {counts['ok'] + counts['failed']} tests pass, {counts['skipped']} do not apply")
    return int(counts["ok"] < given.least)


if __name__ == "__main__":
    sys.exit(main())
