"""joblib's own tests over tutti's workers: as a backend of the real joblib, or over tutti's names for joblib.

    python tests/programs/joblib_programs.py backend test_parallel [pytest's arguments...]
    python tests/programs/joblib_programs.py names PATH test_memory [pytest's arguments...]

`backend` needs joblib installed, with its tests: "loky" is tutti's backend there. `names` runs the tests of a checkout
of joblib at PATH with `joblib` being tutti.compat.joblib; private modules that tests import come from the checkout.
"""

import importlib
import signal
import sys
import types

import pytest

OURS = "parallel memory hashing numpy_pickle func_inspect logger _store_backends _parallel_backends"
LIMIT = 30  # seconds for a test


class Limited:
    """A test that takes too long has failed; the next one runs."""

    def late(self, *_):
        raise TimeoutError(f"the test took longer than {LIMIT} s")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self):
        signal.signal(signal.SIGALRM, self.late)
        signal.alarm(LIMIT)
        try:
            return (yield)
        finally:
            signal.alarm(0)


class Backend(Limited):
    """Tests that ask for joblib's default get ours."""

    def pytest_configure(self):
        import joblib.parallel
        from tutti.parallel._joblib import backend_class

        joblib.parallel.BACKENDS["loky"] = backend_class()
        joblib.parallel.BACKENDS["tutti"] = backend_class()


class Names(Limited):
    """`joblib` and what lies below is ours; what tests need beside comes from the checkout."""

    def __init__(self, path):
        self.path = path

    def pytest_configure(self):
        import tutti.compat.joblib as ours

        sys.modules["joblib"] = ours
        for name in OURS.split():
            sys.modules["joblib." + name] = importlib.import_module("tutti.compat.joblib." + name)
        for name in ("testing", "_multiprocessing_helpers", "backports"):
            self.theirs("joblib." + name, f"{self.path}/joblib/{name}.py")
        test = types.ModuleType("joblib.test")
        test.__path__ = [f"{self.path}/joblib/test"]
        sys.modules["joblib.test"] = test

    @pytest.fixture
    def memory(self, tmp_path):
        return sys.modules["joblib"].Memory(location=str(tmp_path), verbose=0)

    def theirs(self, name, file):
        spec = importlib.util.spec_from_file_location(name, file)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def main(how, *arguments):
    options = ["-v", "-p", "no:cacheprovider", "--no-header", "-o", "addopts=", "-rfEs", "--tb=line"]
    if how == "backend":
        import os

        import joblib

        folder = os.path.join(os.path.dirname(joblib.__file__), "test")
        return pytest.main([*options, f"{folder}/{arguments[0]}.py", *arguments[1:]], plugins=[Backend()])
    path, name, *more = arguments
    return pytest.main([*options, "--noconftest", f"{path}/joblib/test/{name}.py", *more], plugins=[Names(path)])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
