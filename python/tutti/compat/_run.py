"""python -m tutti run: scripts that import numba, pycuda, pyopencl, cupy, jax, keras or torch get our modules for them.

With --as joblib, multiprocessing or concurrent the script's own imports of that module do; what libraries import stays
theirs.
"""

import __future__

import builtins
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import operator
import os
import runpy
import sys
import time
import types

import tutti

# What a script imports, and who serves it; a module that does not exist here is not covered.
NAMES = ("numba", "pycuda", "pyopencl", "cupy", "cupyx", "jax", "keras", "tensorflow", "torch")
ASKED = ("joblib", "multiprocessing", "concurrent")  # on request only, in the script and the files beside it
_FUTURE = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
COVERED = {name: "tutti.compat." + name for name in NAMES}
PART_OF = {"cupyx": "cupy"}  # packages of one library


def covering(name):
    """The module of tutti.compat by that name, or None. Only our folders are asked, no other library's finder."""
    parent, _, last = name.rpartition(".")
    above = importlib.import_module(parent) if parent == "tutti.compat" else covering(parent)
    own = f"{getattr(above, '__name__', parent)}.{last}"  # a borrowed module's parts have its name
    if own in sys.modules:
        return sys.modules[own]
    folder = getattr(above, "__path__", None)
    if folder is not None and importlib.machinery.PathFinder.find_spec(own, folder) is not None:
        return importlib.import_module(own)
    return borrowed(above, last)


def borrowed(above, name):
    """The module of ours that a covered one has by that name: cupy.fft is tutti.fft, and its parts are that one's."""
    value = getattr(above, name, None) if not name.startswith("_") else None
    is_ours = isinstance(value, types.ModuleType) and value.__name__.startswith("tutti.")
    return value if is_ours and "._" not in value.__name__ else None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports of covered libraries end in tutti.compat."""

    def __init__(self, arrays_on=None, only=None):
        self.served, self.arrays_on = {}, arrays_on  # where arrays of CuPy live
        self.covered = {name: ours for name, ours in COVERED.items() if only in (None, name, PART_OF.get(name))}
        self.specs = {}  # of modules that are served by another name: they keep their own

    def find_spec(self, name, path=None, target=None):
        head, _, rest = name.partition(".")
        if head not in self.covered:
            return None
        if covering(COVERED[head] + ("." + rest if rest else "")) is None:
            raise ImportError(f"tutti does not cover {name} (python -m tutti run serves {head} from {COVERED[head]})")
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        head, _, rest = spec.name.partition(".")
        if spec.name == "cupy" and self.arrays_on:
            tutti._core._set_device(tutti.device(self.arrays_on)._number)
        module = covering(COVERED[head] + ("." + rest if rest else ""))
        self.served[spec.name] = module
        self.specs[module] = module.__spec__
        return module

    def exec_module(self, module):
        """It was executed under its own name, which it keeps."""
        module.__spec__ = self.specs.pop(module)


class OwnImports:
    """Import statements of a program's own files, by which module of ours serves what they name."""

    def __init__(self, name, folder):
        self.name, self.folder, self.served, self.before = name, os.path.join(folder, ""), {}, builtins.__import__

    def __call__(self, name, names=None, locals=None, fromlist=(), level=0):
        head, _, rest = name.partition(".")
        if level or head != self.name or not self.is_own(names):
            return self.before(name, names, locals, fromlist, level)
        ours = "tutti.compat." + head
        module = covering(ours + ("." + rest if rest else ""))
        if module is None:
            raise ImportError(f"tutti does not cover {name} (python -m tutti run serves {head} from {ours})")
        self.served[name] = module
        for below in fromlist or ():  # from concurrent import futures
            if not hasattr(module, below):
                covering(f"{module.__name__}.{below}")
        return module if fromlist else importlib.import_module(ours)

    def is_own(self, names):
        """Whether a module with these globals is the script, or lies in its folder."""
        file = (names or {}).get("__file__")
        if not file:
            return (names or {}).get("__name__") == "__main__"
        file = os.path.abspath(file)
        return file.startswith(self.folder) and "site-packages" not in file[len(self.folder) :]


class KeepSources:
    """exec() that keeps the source of what it runs: kernels and functions that a program writes are compiled from it.

    Inside the context `exec` is one that gives each text a name of its own, under which linecache has its lines.
    """

    def __init__(self):
        self.plain, self.texts = builtins.exec, 0

    def __enter__(self):
        builtins.exec = self.run
        return self

    def __exit__(self, *error):
        builtins.exec = self.plain

    def run(self, source, globals=None, locals=None, /, **names):
        """Python's exec: without dictionaries it runs among the caller's names."""
        caller = sys._getframe(1)
        if globals is None:
            globals, locals = caller.f_globals, caller.f_locals if locals is None else locals
        if isinstance(source, str):
            source = self.kept(source, caller.f_code.co_flags & _FUTURE)
        return self.plain(source, globals, locals, **names)

    def kept(self, text, flags):
        """The code of a text whose lines can be asked for."""
        self.texts += 1
        name = f"<exec {self.texts}>"
        code = compile(text, name, "exec", flags, True)
        linecache.cache[name] = len(text), None, text.splitlines(True), name  # without a time: it is never dropped
        return code


def place(number):
    """Where a kernel ran, of the numbers that it keeps."""
    from .._device import numbered

    return "in Python" if number < 0 else f"on {numbered(number)}" if number else "on the CPU"


def report(finder, begun):
    """What ran where, on standard error."""
    from .._jit import dispatch

    print(
        f"\ntutti ran the script in {time.perf_counter() - begun:.2f} s; {', '.join(finder.served) or 'nothing'} "
        f"came from tutti.compat",
        file=sys.stderr,
    )
    for f in dispatch.everything:
        if getattr(f, "launches", 0):
            where = (
                ", ".join(place(k) for k in sorted(f.places))
                if hasattr(f, "places")
                else getattr(f, "language", "CUDA C")
            )
            print(f"  kernel   {f.__name__:24s} {f.launches:8d} launches, {where}", file=sys.stderr)
    for f in dispatch.everything:
        if not hasattr(f, "launches") and f.signatures:
            print(
                f"  function {f.__name__:24s} compiled for {len(f.signatures)} list(s) of types, on the CPU",
                file=sys.stderr,
            )
    ledger = tutti.ledger()
    copied = sum(ledger[k] for k in ("copy_bytes", "upload_bytes", "download_bytes")) / 1e6
    print(
        f"  in all   {ledger['launches']} kernels, {ledger['device_launches']} of them on a GPU, "
        f"{ledger['library_calls']} library calls, {copied:.1f} MB copied",
        file=sys.stderr,
    )


def run(path, arguments, device=None, only=None):
    """Run the script as __main__; `only`: the one library that is served."""
    from .._jit import dispatch

    if device:
        os.environ["TUTTI_DEVICE"] = device  # for processes that the script starts
        tutti._core._set_device(tutti.device(device)._number)
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0"):
        os.environ["TUTTI_KERNEL_STEP"] = "1"
    chosen = device or os.environ.get("TUTTI_DEVICE")
    if only in ASKED:
        finder = builtins.__import__ = OwnImports(only, os.path.dirname(os.path.abspath(path)))
    else:
        finder = _finder(chosen, only)
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    dispatch.everything = dispatch.Everything()
    begun = time.perf_counter()
    try:
        with KeepSources():
            runpy.run_path(path, run_name="__main__")
    finally:
        if only in ASKED:
            builtins.__import__ = finder.before
        report(finder, begun)


def _finder(chosen, only):
    finder = Finder("cuda" if not chosen and tutti.cuda.is_available() else None, only)
    sys.meta_path.insert(0, finder)
    return finder
