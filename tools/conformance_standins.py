"""What the tests of kernel libraries import of their own library's interior, for tools/conformance_kernels.py.

A stand-in has the few names that mean something here; each other name skips the test that asks for it. CuPy's testing
helpers are the checkout's own: they are programs over CuPy's names.
"""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import math
import os
import subprocess
import sys
import types
import unittest
import warnings

import numpy as np
from tutti._jit import settings
from tutti.compat import _run
from tutti.compat import numba as compat_numba


@contextlib.contextmanager
def captured_stdout():
    """What is printed, by Python or by a kernel."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        yield out


@contextlib.contextmanager
def captured_stderr():
    with contextlib.redirect_stderr(io.StringIO()) as out:
        yield out


@contextlib.contextmanager
def override_config(name, value):
    """A setting of numba.config for a while."""
    before = getattr(settings.config, name)
    setattr(settings.config, name, value)
    try:
        yield
    finally:
        setattr(settings.config, name, before)


class TestCase(unittest.TestCase):
    """Numba's test case: the assertions that its tests add to unittest's."""

    def assertPreciseEqual(self, first, second, prec="exact", ulps=1, msg=None, **others):
        if prec == "exact":
            np.testing.assert_array_equal(first, second, msg or "")
        elif np.iscomplexobj(first):
            self.assertPreciseEqual(np.real(first), np.real(second), prec, ulps, msg)
            self.assertPreciseEqual(np.imag(first), np.imag(second), prec, ulps, msg)
        else:
            kind = np.float32 if prec == "single" else np.float64
            np.testing.assert_array_max_ulp(np.asarray(first, kind), np.asarray(second, kind), ulps)

    @contextlib.contextmanager
    def assertTypingError(self):
        with self.assertRaises(TypeError) as raised:
            yield raised

    @staticmethod
    def reset_module_warnings(module):
        vars(sys.modules[module] if isinstance(module, str) else module).pop("__warningregistry__", None)

    def __getattr__(self, name):
        if name.startswith("assertFileCheck"):
            self.skipTest("PTX, machine code or LLVM's text")
        raise AttributeError(name)


class CUDATestCase(TestCase):
    """The same without performance warnings: most tests launch few threads with arrays of the host."""

    FLOAT16_RTOL = np.finfo(np.float16).eps

    def setUp(self):
        config = settings.config
        kept = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = False
        self.addCleanup(self._put_back, *kept)

    @staticmethod
    def _put_back(blocks, copies):
        settings.config.CUDA_LOW_OCCUPANCY_WARNINGS, settings.config.CUDA_WARN_ON_IMPLICIT_COPY = blocks, copies


class Leaks:
    """Tests that count what stays allocated: nobody counts for them here."""


class EnableNRTStatsMixin:
    """Tests that read the counts of Numba's own runtime."""

    def setUp(self):
        self.skipTest("counts of Numba's runtime")


class CheckWarningsMixin:
    """Tests of what is warned of."""

    @contextlib.contextmanager
    def check_warnings(self, messages, category=RuntimeWarning):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        told = [str(w.message) for w in caught if issubclass(w.category, category)]
        for message in messages:
            assert any(message in text for text in told), (message, told)


def run_in_subprocess(code, flags=None, env=None, timeout=60):
    """(what it printed, its errors) of a program in a Python of its own."""
    ran = subprocess.run(
        [sys.executable, *(flags or []), "-c", code], env=env, timeout=timeout, capture_output=True, check=True
    )
    return ran.stdout, ran.stderr


class ForeignArray:
    """An array of another library: all that is known of it is where it lies."""

    def __init__(self, array):
        self._arr, self.__cuda_array_interface__ = array, array.__cuda_array_interface__


def registers(*args):
    """A decorator that makes a type or its text known to Numba's compiler: the class or function stays what it is."""
    return lambda made: made


def taken(*args, **kwargs):
    """A decorator, or a maker of one, that lets a test run: what it looks for is there."""
    return args[0] if args and callable(args[0]) else lambda test: test


CUDA_TESTING = {
    "unittest": unittest,
    "CUDATestCase": CUDATestCase,
    "ContextResettingTestCase": CUDATestCase,
    "ForeignArray": ForeignArray,
    "cc_X_or_above": lambda major, minor: True,
    "skip_unless_cudasim": unittest.skip,
    "skip_without_nvdisasm": unittest.skip,
    "xfail_unless_cudasim": unittest.expectedFailure,
    **dict.fromkeys(
        "skip_on_cudasim skip_unless_cc_32 skip_unless_cc_50 skip_unless_cc_53 skip_unless_cc_60 skip_unless_cc_75 "
        "skip_unless_cc_90 skip_if_external_memmgr skip_if_cuda_includes_missing skip_under_cuda_memcheck skip_on_arm "
        "skip_on_wsl2 skip_on_standalone_numba_cuda skip_with_nvdisasm".split(),
        taken,
    ),
}
SUPPORT = {
    "TestCase": TestCase,
    "captured_stdout": captured_stdout,
    "captured_stderr": captured_stderr,
    "override_config": override_config,
    "windows_only": unittest.skip("for Windows"),
    "MemoryLeakMixin": Leaks,
    "EnableNRTStatsMixin": EnableNRTStatsMixin,
    "CheckWarningsMixin": CheckWarningsMixin,
    "run_in_subprocess": run_in_subprocess,
    "IS_NUMPY_2": np.__version__ >= "2",
    **dict.fromkeys(
        "skip_parfors_unsupported skip_unless_scipy linux_only tag ignore_internal_warnings".split(), taken
    ),
}
NUMPY_SUPPORT = {
    "numpy_version": tuple(map(int, np.__version__.split(".")[:2])),
    "from_dtype": compat_numba.from_dtype,
    "as_dtype": lambda kind: np.dtype(kind._jit_dtype),
}
# Modules of Numba's that its tests look into, and what of them means something here.
NUMBA = {
    "numba.tests": {},
    "numba.tests.support": SUPPORT,
    "numba.core.config": {"IS_WIN32": sys.platform == "win32"},
    "numba.np": {},
    "numba.np.numpy_support": NUMPY_SUPPORT,
}
# The compiler's parts and the bindings of the driver. What we have of their names is served, other names skip.
NUMBA_CUDA_PARTS = """
    _internal _internal.cuda_bf16 _internal.cuda_fp8 api_util args bf16 cloudpickle cudadecl codegen compiler core
    core.analysis core.annotations core.bytecode core.byteflow core.caching core.callconv core.compiler
    core.compiler_machinery core.config core.controlflow core.errors core.event core.funcdesc core.imputils
    core.inline_closurecall core.interpreter core.ir core.ir_utils core.options core.rewrites core.sigutils
    core.targetconfig core.transforms core.typed_passes core.typeinfer core.untyped_passes cuda_paths cudadrv
    cudadrv.devicearray cudadrv.devices cudadrv.drvapi cudadrv.driver cudadrv.dummyarray cudadrv.enums cudadrv.error
    cudadrv.libs cudadrv.linkable_code cudadrv.mappings cudadrv.ndarray cudadrv.nvjitlink cudadrv.nvrtc cudadrv.nvvm
    cudadrv.rtapi cudadrv.runtime cudaimpl datamodel datamodel.models debuginfo descriptor deviceufunc dispatcher
    errors extending flags itanium_mangler launchconfig libdevice libdevicefuncs libdeviceimpl lowering
    memory_management memory_management.nrt misc misc.special models np.npdatetime np.ufunc serialize simulator
    stubs tests.cudapy tests.cudapy.cache_usecases tests.data typeconv typeconv.castgraph typeconv.rules
    typeconv.typeconv typing typing.templates typing.typeof ufuncs vector_types vectorizers
""".split()
OTHERS = """
    cuda cuda.bindings cuda.core cuda.core._utils cuda.core._utils.cuda_utils cuda.core.experimental llvmlite
    llvmlite.ir numba.core.cgutils numba.core.compiler numba.core.datamodel numba.core.extending numba.core.imputils
    numba.core.ir numba.core.registry numba.core.typing numba.core.typing.templates numba.core.typing.typeof
    numba.extending
""".split()
NUMBA_CUDA = {
    **dict.fromkeys(OTHERS, {}),
    **{f"numba.cuda.{part}": {} for part in NUMBA_CUDA_PARTS},
    **NUMBA,
    "numba.cuda.np": {},
    "numba.cuda.np.numpy_support": NUMPY_SUPPORT,
    "numba.cuda.testing": CUDA_TESTING,
    # Types with LLVM's text of their own are registered at the import of tests of which few use one.
    "numba.cuda.extending": {
        **dict.fromkeys("register_model type_callable make_attribute_wrapper".split(), registers),
        "typeof_impl": types.SimpleNamespace(register=registers),
    },
    "numba.cuda.cudaimpl": {"lower": registers},
    "numba.cuda.tests": {},
    "numba.cuda.tests.support": SUPPORT,
    "numba.cuda.utils": {"PYVERSION": sys.version_info[:2]},
}


# CuPy's interior.
CUPY = {
    **dict.fromkeys(
        """
        cupy._core cupy._core._accelerator cupy._core._carray cupy._core._fusion_trace cupy._core._fusion_kernel
        cupy._core.core cupy._core.fusion cupy._core.new_fusion cupy._environment
        cupy.cuda.cub cupy.cuda.compiler cupy.cuda.device cupy.cuda.memory cupy.cuda.nvtx
        cupy.cuda.texture cupy_backends cupy_backends.cuda cupy_backends.cuda.api cupy_backends.cuda.api.runtime
        cupy_backends.cuda.libs cupy_backends.cuda.libs.nvrtc cupyx.scipy.sparse
        """.split(),
        {},
    ),
    "cupy._core._fusion_interface": {},
    "cupy_backends.cuda.api.runtime": {"is_hip": False},
    "cupy._util": {"clear_memo": lambda: None, "PerformanceWarning": RuntimeWarning},
    "cupy.cuda._compiler_cache": {"DiskKernelCacheBackend": type("Cache", (), {"__init__": lambda self, *args: None})},
    "cupy._core.internal": {"prod": math.prod, "is_in": lambda where, what: any(a is what for a in where)},
}


# Names of numba.cuda itself that make PTX, or ask the driver's bindings.
NUMBA_CUDA_NAMES = """
    compiler typing compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device
    declare_device launchconfig libdevice require_context set_memory_manager get_memory_info BaseCUDAMemoryManager
    GetIpcHandleMixin HostOnlyCUDAMemoryManager MemoryPointer MappedMemory PinnedMemory MemoryInfo IpcHandle cgutils
    cudadecl LinkableCode Archive CUSource Cubin Fatbin LTOIR Object PTXSource
""".split()


class Interior(types.ModuleType):
    """A module of the library's interior."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        part = f"{self.__name__}.{name}"
        if part in NUMBA_CUDA or part in CUPY:
            return importlib.import_module(part)
        ours = _run.covering("tutti.compat." + self.__name__)
        try:
            return getattr(ours, name)
        except AttributeError:
            return Skips(f"{self.__name__}.{name}")


class SkippedClass:
    """A class of a test's that is made of one of the interior's."""

    def __init__(self, *args, **kwargs):
        raise unittest.SkipTest("a class of the library's interior")


class Skips:
    """A name of the interior: whatever is done with it inside a test skips that test."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        raise unittest.SkipTest(f"the library's own {self._name}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Skips(f"{self._name}.{name}")

    def __mro_entries__(self, bases):
        return (TestCase,) if "Test" in self._name else (SkippedClass,)

    __getitem__ = __eq__ = __lt__ = __ge__ = __iter__ = __enter__ = __bool__ = __call__
    __hash__ = None


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the interior's names, before tutti.compat is asked."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in self.names else None

    def create_module(self, spec):
        return Interior(spec.name)

    def exec_module(self, module):
        vars(module).update(self.names.get(module.__name__, {}))


class OwnTests(importlib.abc.MetaPathFinder):
    """The modules beside numba-cuda's tests that these import: programs over Numba's names."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path=None, target=None):
        at = self.root.joinpath(*name.split(".")[3:]).with_suffix(".py")
        if name.startswith("numba.cuda.tests.") and name not in NUMBA_CUDA and at.exists():
            return importlib.util.spec_from_file_location(name, at)
        return None


class OwnTesting(importlib.abc.MetaPathFinder):
    """cupy.testing of the checkout."""

    def __init__(self, root):
        self.root = root / "cupy" / "testing"

    def find_spec(self, name, path=None, target=None):
        if name == "cupy.testing":
            at = os.fspath(self.root / "__init__.py")
            return importlib.util.spec_from_file_location(name, at, submodule_search_locations=[os.fspath(self.root)])
        if name.startswith("cupy.testing."):
            return importlib.util.spec_from_file_location(name, self.root / (name.rpartition(".")[2] + ".py"))
        return None


def hang_on(names):
    """Let `from cupy import _core` find what stands in: our modules have names of their own, so Python asks them."""
    for name in names:
        above, _, last = name.rpartition(".")
        place = _run.covering("tutti.compat." + above) if above else None
        if place is not None and last not in vars(place):
            setattr(place, last, importlib.import_module(name))


def tell_of_nvcc():
    """CuPy's tests ask NVIDIA's compiler for its version when they are imported; those that compile with it skip."""
    from tutti.compat.cupy import cuda

    cuda.get_nvcc_path = lambda: "nvcc"
    cuda.compiler._run_cc = lambda command, *others: "release 13.0"
    cuda.driver._is_cuda_python = lambda: True
    cuda.compiler._kernel_cache_backend, cuda.compiler._empty_file_preprocess_cache = None, {}
    for name in "_get_arch compile_using_nvcc _encode_cache_payload _decode_cache_payload compile_with_cache".split():
        vars(cuda.compiler).setdefault(name, Skips(f"cupy.cuda.compiler.{name}"))
