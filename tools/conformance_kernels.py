#!/usr/bin/env python3
"""Run the tests of kernel libraries on tutti: make conformance-kernels PYCUDA=dir PYOPENCL=dir NUMBA=dir CUPY=dir.

Each library is given by a checkout of its repository. Each test runs in a process of its own; a failure is told by its
last line. --results keeps the outcomes for docs/compat.md (tools/compat_page.py).
"""

import argparse
import collections
import contextlib
import datetime
import importlib.util
import io
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import traceback
import unittest

import conformance_standins as standins

SECONDS = 60  # for one test
MEMORY = 3 << 30  # bytes that a test may take: they run beside other work
# Failures that say that a test looks at what is not made here: a pattern of the text, and what the test looks at.
NOT_ASKED = [
    (r"inspect_(asm|llvm|sass|ptx|lto_ptx)|inspect_sass_cfg", "PTX, machine code or LLVM's text"),
    (
        r"'_Context' object has no attribute '(memory_manager|deallocations|memalloc\w*|memhostalloc|mempin|"
        r"create_stream|create_event|handle)'|get_ipc_handle",
        "the driver's objects: memory managers, pending deallocations, handles between processes",
    ),
    (r"_compile_for_args|_type_annotation|TestStructModel|StructModelType", "the dispatcher's interior"),
    (
        r"_make_immutable|_is_mutable|has no attribute '(_allocated|_dtype|_typed|_is_ascii|nopython_signatures)'"
        r"|a list's method '_\w+'",
        "the interior of typed containers and strings",
    ),
    (r"tmpdir_pyopencl_xdg_test|pyopencl\._cl\b", "PyOpenCL's interior: its caches of invokers, its C++ module"),
    (
        r"how many registers a kernel takes|has no attribute 'compile(_device)?'|a kernel has no 'compile'",
        "machine code: its registers, its lines, compiling without a launch",
    ),
    (r"has no attribute '(DUMP_\w+|ALWAYS_WARN_UNINIT_VAR|CUDA_DEBUGINFO_DEFAULT)'", "the compiler's dumps"),
]
# What of a library's repository is run where nobody names parts: folders or files.
PARTS = {
    "numba": [
        "doc_examples", "test_parfors", "test_array_methods", "test_linalg", "test_dicts", "test_dictobject",
        "test_lists", "test_listobject", "test_typedlist", "test_record_dtype", "test_recarray_usecases",
        "test_try_except", "test_exceptions", "test_unicode", "test_generators", "test_recursion", "test_closure",
    ],
    "pycuda": ["test_driver", "test_gpuarray", "test_cumath"],
    "pyopencl": ["test_wrapper", "test_array", "test_algorithm", "test_clmath", "test_clrandom", "test_enqueue_copy",
        "test_arrays_in_structs"],
    "numba-cuda": ["cudadrv", "cudapy", "doc_examples", "nrt"],
    "cupy": [
        "cupy_tests/core_tests/test_raw", "cupy_tests/core_tests/test_userkernel",
        "cupy_tests/core_tests/test_elementwise", "cupy_tests/core_tests/test_reduction",
        "cupy_tests/core_tests/fusion_tests", "cupyx_tests/jit_tests",
    ],
}  # fmt: skip
FOLDER = {
    "numba": "numba/tests",
    "pycuda": "test",
    "pyopencl": "test",
    "numba-cuda": "numba_cuda/numba/cuda/tests",
    "cupy": "tests",
}
PACKAGE = {"numba-cuda": "numba.cuda.tests.{}."}
SERVED = {
    "numba": ("numba",),
    "pycuda": ("pycuda",),
    "pyopencl": ("pyopencl",),
    "numba-cuda": ("numba",),
    "cupy": ("cupy", "cupyx"),
}


def files_of(root, library, part):
    at = root / FOLDER[library] / part
    return sorted(at.glob("test_*.py")) if at.is_dir() else [at.with_suffix(".py")]


def last_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:150]


# ---- one test, in a process of its own


def apart(outcome):
    """The text of outcome(), from a child: a crash or a test without end is an outcome too."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        try:
            text = outcome()
        except BaseException:
            text = traceback.format_exc().splitlines()[-1]
        os.write(write, text.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    if text:
        return text
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return f"no end within {SECONDS} s" if ended == signal.SIGALRM else f"ended by signal {ended}"


# ---- unittest's tests


def module_name(root, library, path):
    """The name that a file's module has: Numba's tests import one another by theirs."""
    if library in PACKAGE:
        return PACKAGE[library].format(path.parent.name) + path.stem
    return ".".join(path.with_suffix("").relative_to(root).parts)


def tests_in(name, path):
    """(name, test) of a file, or (name, why it cannot be imported)."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    standins.Skips.importing = True
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skipped:
        return [(path.stem, f"skipped: {skipped}")]
    except BaseException as error:  # pytest's Skipped is no Exception
        why = f"skipped: {error}" if type(error).__name__ == "Skipped" else last_line(error)
        return [(path.stem, why)]
    finally:
        standins.Skips.importing = False
    found = []
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__:
            try:
                suite = unittest.defaultTestLoader.loadTestsFromTestCase(value)
            except unittest.SkipTest as skipped:
                names = unittest.defaultTestLoader.getTestCaseNames(value)
                found += [(f"{path.stem}.{name}", f"skipped: {skipped}") for name in names]
                continue
            found += [(f"{path.stem}.{test._testMethodName}", test) for test in suite]
    return found


def unittest_outcome(test):
    """'ok', 'skipped: ...' or what failed, of one test in this process."""
    result = unittest.TestResult()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            test.run(result)
        except unittest.SkipTest as skipped:  # said around the test
            return f"skipped: {skipped}"
    if result.skipped:
        return "skipped: " + result.skipped[0][1]
    failed = result.errors + result.failures
    if not failed:
        return "ok"
    return told(failed[0][1])


def told(text):
    """The line of a traceback that names the error."""
    lines = [line for line in text.splitlines() if re.match(r"[\w.]*(Error|Exception|Warning|Exit|Interrupt)\b", line)]
    return (lines or text.splitlines() or ["failed"])[-1][:150]


def run_unittest(root, library, parts, note):
    for part in parts:
        for path in files_of(root, library, part):
            for name, test in tests_in(module_name(root, library, path), path):
                note(
                    name,
                    apart(lambda test=test: unittest_outcome(test)) if isinstance(test, unittest.TestCase) else test,
                )


# ---- pytest's tests


class Apart:
    """A plugin of pytest that runs each test in a process of its own."""

    def __init__(self, note):
        self.note = note

    def pytest_collectreport(self, report):
        if report.failed:
            self.note(report.nodeid, told(re.sub(r"(?m)^E\s+", "", str(report.longrepr))))
        elif report.skipped:
            self.note(report.nodeid, f"skipped: {report.longrepr[2]}")

    def pytest_runtest_protocol(self, item, nextitem):
        self.note(item.nodeid.rpartition("/")[2], apart(lambda: pytest_outcome(item)))
        return True


def pytest_outcome(item):
    from _pytest.runner import runtestprotocol

    for report in runtestprotocol(item, log=False, nextitem=None):
        if report.skipped:
            return "skipped: " + str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.wasxfail)
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            return words(crash.message)[:150] if crash else told(str(report.longrepr))
    return "ok"


def words(message):
    """A message in a line; of one that quotes a traceback, what it says and the error."""
    head, quoted, rest = message.partition("Traceback (most recent call last)")
    return f"{' '.join(head.split())} {told(rest) if quoted else ''}".strip()


def run_pytest(root, library, parts, note):
    import pytest

    paths = [os.fspath(path) for part in parts for path in files_of(root, library, part)]
    options = [
        "--continue-on-collection-errors",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:terminal",
        "--noconftest",
    ]
    pytest.main(
        [*options, "-c", os.devnull, "--rootdir", os.fspath(root), "--import-mode=importlib", *paths], [Apart(note)]
    )


# ---- all of a library's


def cause(text):
    """A failure's text without places: what is the same for many tests reads the same."""
    text = re.sub(r"\(?(/[\w.+-]+){2,}[^ )]*\)?( line \d+)?", "", text)
    text = re.sub(r"0x[0-9a-f]+|\b\d{5,}\b|\bkernel\.cu:[\d:]+", "", text)
    text = re.sub(r"^(TypeError|AttributeError|NotImplementedError): ", "", text)
    text = re.sub(r"'Test\w+' object", "a test", text)
    text = re.sub(r"the source of \w+ is needed", "the source of a function is needed", text)
    text = re.sub(r"compiled functions take no arrays of format .*", "arrays of records and of other types", text)
    text = re.sub(r"'def .*' in a compiled function", "a function within a function", text)
    text = re.sub(r"images not supported on .*", "images", text)
    text = re.sub(r"CalledProcessError: Command .*", "CalledProcessError: a program of its own fails", text)
    return re.sub(r"\s+", " ", text).strip(" ,")[:120]


class Outcomes:
    """How often tests pass, and why the others do not."""

    def __init__(self):
        self.counts = collections.Counter()
        self.failed, self.skipped = collections.defaultdict(list), collections.defaultdict(list)

    def note(self, name, text):
        lacking = re.match(r"ModuleNotFoundError: No module named '(\w+)", text)
        if lacking:
            text = f"skipped: needs the module {lacking[1]}"
        for pattern, why in NOT_ASKED:
            if re.search(pattern, text):
                text = f"skipped: {why}"
        kind = "ok" if text == "ok" else "skipped" if text.startswith("skipped") else "failed"
        self.counts[kind] += 1
        if kind != "ok":
            getattr(self, kind)[cause(text.removeprefix("skipped: ").removeprefix("Skipped: "))].append(name)
        print(f"{kind:8}{name}{'' if kind == 'ok' else '  ' + text}", flush=True)

    def table(self):
        def by_cause(of):
            return {cause: sorted(names) for cause, names in sorted(of.items(), key=lambda e: (-len(e[1]), e[0]))}

        passed, failed, skipped = (self.counts[kind] for kind in ("ok", "failed", "skipped"))
        causes = {"why failed": by_cause(self.failed), "why skipped": by_cause(self.skipped)}
        return {"passed": passed, "failed": failed, "skipped": skipped, **causes}


def serve(library, root):
    """Serve the library's names. One library in a process: its names would meet another's."""
    from tutti.compat import _run

    finder = _run.Finder()
    finder.covered = {name: ours for name, ours in finder.covered.items() if name in SERVED[library]}
    interior = {"numba": standins.NUMBA, "numba-cuda": standins.NUMBA_CUDA, "cupy": standins.CUPY}.get(library, {})
    sys.meta_path[:0] = [standins.StandIns(interior), finder]
    if library == "numba":
        sys.meta_path.insert(0, standins.OwnTests("numba.tests", root / "numba" / "tests", interior))
        standins.hang_on(interior)
        standins.lacks_by_name(standins.NUMBA_PUBLIC)
        standins.tell_of_overloads()
    if library == "cupy":
        sys.meta_path.insert(0, standins.OwnTesting(root))
        sys.path.insert(0, os.fspath(root / "tests"))  # tests take helpers from one another
        standins.hang_on(interior)
        standins.tell_of_nvcc()
        standins.tell_of_bit_generators()
        standins.tell_of_transform_settings()
        sys.modules["tutti.compat.cupy"].testing = importlib.import_module("cupy.testing")
    if library == "pyopencl":
        sys.path.insert(0, os.fspath(root / FOLDER[library]))  # tests take helpers from one another
    if library == "pycuda":
        from tutti.compat.pycuda import driver

        driver.Device.total_memory = lambda self: MEMORY  # tests of more say so and are skipped
    if library == "numba-cuda":
        sys.meta_path.insert(0, standins.TestsBeside(root / FOLDER[library]))
        from tutti.compat.numba import cuda

        standins.lacks_by_name(standins.NUMBA_CUDA_PUBLIC)
        for name in standins.NUMBA_CUDA_NAMES:
            vars(cuda).setdefault(name, standins.Skips(f"numba.cuda.{name}"))


@contextlib.contextmanager
def served_to_children(library, root):
    """Processes that tests start serve the names, too: Python runs a sitecustomize.py that it finds."""
    here = os.fspath(pathlib.Path(__file__).parent)
    with tempfile.TemporaryDirectory() as folder:
        text = (
            f"import pathlib, sys\nsys.path.insert(0, {here!r})\nimport conformance_kernels\n"
            f"conformance_kernels.serve({library!r}, pathlib.Path({os.fspath(root)!r}))\n"
        )
        pathlib.Path(folder, "sitecustomize.py").write_text(text)
        before = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{before}"
        yield
        os.environ["PYTHONPATH"] = before


def run_library(library, root, parts):
    """The outcomes of a library's tests."""
    from tutti.compat import _run

    serve(library, root)
    outcomes = Outcomes()
    run = run_unittest if library.startswith("numba") else run_pytest
    with served_to_children(library, root), _run.KeepSources():
        run(root, library, parts or PARTS[library], outcomes.note)
    return outcomes


def keep(path, library, table):
    """Put a library's outcomes into a file of results."""
    known = json.loads(path.read_text()) if path.exists() else {}
    known[library] = {"date": datetime.date.today().isoformat(), **table}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("library", choices=sorted(PARTS))
    arguments.add_argument("checkout", type=pathlib.Path)
    arguments.add_argument("--least", type=int, default=0, help="fail where fewer tests pass")
    arguments.add_argument("--results", type=pathlib.Path, help="a file of results to keep the outcomes in")
    arguments.add_argument("parts", nargs="*", help="folders or files of the library's tests")
    given = arguments.parse_args()
    begun = time.monotonic()
    outcomes = run_library(given.library, given.checkout.resolve(), given.parts)
    table = outcomes.table()
    if given.results:
        keep(given.results, given.library, table)
    print(
        f"{given.library}: {table['passed']} of {table['passed'] + table['failed']} tests pass, "
        f"{table['skipped']} do not apply ({time.monotonic() - begun:.0f} s)"
    )
    return int(table["passed"] < given.least)


if __name__ == "__main__":
    sys.exit(main())
