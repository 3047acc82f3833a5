"""What the tests of kernel libraries import of their own library's interior, for tools/conformance_kernels.py.

A stand-in has the few names that mean something here; each other name skips the test that asks for it. CuPy's testing
helpers are the checkout's own: they are programs over CuPy's names.
"""

import collections
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import math
import os
import subprocess
import sys
import tempfile
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
    if not hasattr(settings.config, name):
        raise unittest.SkipTest(f"Numba's setting {name}")
    before = getattr(settings.config, name)
    setattr(settings.config, name, value)
    try:
        yield
    finally:
        setattr(settings.config, name, before)


class TestCase(unittest.TestCase):
    """Numba's test case: the assertions that its tests add to unittest's."""

    def assertPreciseEqual(
        self, first, second, prec="exact", ulps=1, msg=None, ignore_sign_on_zero=False, abs_tol=None
    ):
        self.assertEqual(
            isinstance(first, (tuple, list, dict, str, set)), isinstance(second, (tuple, list, dict, str, set))
        )
        if isinstance(first, (tuple, list)):
            self.assertEqual(len(first), len(second), msg)
            for one, other in zip(first, second):
                self.assertPreciseEqual(one, other, prec, ulps, msg, ignore_sign_on_zero, abs_tol)
        elif isinstance(first, (dict, str, set)):
            self.assertEqual(first, second, msg)
        elif prec == "exact" and abs_tol is None:
            np.testing.assert_array_equal(first, second, msg or "")
        elif abs_tol is not None:
            eps = np.finfo(np.asarray(second).dtype).eps if abs_tol == "eps" else abs_tol
            np.testing.assert_allclose(first, second, rtol=2.0**-52 * ulps, atol=eps)
        else:
            single = prec == "single"
            first, second = (np.asarray(a).astype(np.complex64 if single else np.complex128) for a in (first, second))
            for part in ("real", "imag"):
                one, other = getattr(first, part), getattr(second, part)
                both = np.isnan(one) & np.isnan(other)  # their signs say nothing
                np.testing.assert_array_max_ulp(np.where(both, 0, one), np.where(both, 0, other), ulps)

    def assertStridesEqual(self, first, second):
        self.assertEqual(first.ndim, second.ndim)
        self.assertEqual(*([s for n, s in zip(a.shape, a.strides) if n > 1] for a in (first, second)))

    @property
    def random(self):
        """Numbers that are the same in every run."""
        return np.random.RandomState(42)

    def assertRefCountEqual(self, *objects):
        self.assertEqual(len({sys.getrefcount(one) for one in objects}), 1)

    def assertNotPreciseEqual(self, first, second, *how, **named):
        with self.assertRaises(AssertionError):
            self.assertPreciseEqual(first, second, *how, **named)

    @contextlib.contextmanager
    def assertNoNRTLeak(self):
        """Numba counts its blocks of memory here."""
        yield

    def subprocess_test_runner(self, *test, **how):
        self.skipTest("it starts other tests, which run here by themselves")

    @contextlib.contextmanager
    def assertRefCount(self, *objects):
        before = [sys.getrefcount(one) for one in objects]
        yield
        self.assertEqual(before, [sys.getrefcount(one) for one in objects])

    @staticmethod
    def run_test_in_subprocess(test=None, **how):
        """Every test is run in a process of its own."""
        return test if test is not None else lambda test: test

    @contextlib.contextmanager
    def check_warnings(self, messages, category=RuntimeWarning):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        told = [str(w.message) for w in caught if w.category is category]
        self.assertEqual([], [m for m in messages if not any(m in one for one in told)])

    @contextlib.contextmanager
    def assertTypingError(self):
        with self.assertRaises(TypeError) as raised:
            yield raised

    def assertRaises(self, error, *args, **names):
        self._ours(error)
        return super().assertRaises(error, *args, **names)

    def assertRaisesRegex(self, error, *args, **names):
        self._ours(error)
        return super().assertRaisesRegex(error, *args, **names)

    def _ours(self, error):
        """An error of the interior's is raised by nothing here."""
        if isinstance(error, Skips) and not isinstance(error, Lacks):
            self.skipTest(f"the library's own {error._name}")

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
        self.addCleanup(CUDATestCase._put_back, *kept)

    @staticmethod
    def _put_back(blocks, copies):
        settings.config.CUDA_LOW_OCCUPANCY_WARNINGS, settings.config.CUDA_WARN_ON_IMPLICIT_COPY = blocks, copies


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


def expected_from(minor):
    """A decorator of tests that fail with Numba from this version of Python on, by its bytecode: they run here."""
    return taken


class Watched:
    """A test case whose memory Numba counts; here processes end with each test."""

    def disable_leak_check(self):
        pass

    memory_leak_setup = memory_leak_teardown = disable_leak_check

    def assert_no_memory_leak(self):
        return contextlib.nullcontext()


def compile_function(name, code, globs):
    """A function made of a text."""
    made = {}
    exec(code, globs, made)
    return made[name]


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
        "skip_on_wsl2 skip_on_standalone_numba_cuda skip_with_nvdisasm skip_if_cudadevrt_missing "
        "skip_if_curand_kernel_missing skip_if_nvjitlink_missing skip_on_nvjitlink_13_1_sm_120".split(),
        taken,
    ),
}
SUPPORT = {
    "TestCase": TestCase,
    "captured_stdout": captured_stdout,
    "captured_stderr": captured_stderr,
    "override_config": override_config,
    "windows_only": unittest.skip("for Windows"),
    "EnableNRTStatsMixin": EnableNRTStatsMixin,
    "CheckWarningsMixin": CheckWarningsMixin,
    "run_in_subprocess": run_in_subprocess,
    "IS_NUMPY_2": np.__version__ >= "2",
    "unittest": unittest,
    "temp_directory": lambda prefix: tempfile.mkdtemp(prefix=prefix),
    "MemoryLeak": Watched,
    "MemoryLeakMixin": Watched,
    "SerialMixin": type("SerialMixin", (), {}),
    "_32bit": False,
    "_is_armv7l": False,
    "IS_MACOS": False,
    "REDUCED_TESTING": False,
    "no_pyobj_flags": {"nopython": True},
    "nrt_flags": {"nopython": True},
    "enable_pyobj_flags": {"forceobj": True},
    "force_pyobj_flags": {"forceobj": True},
    "ignore_internal_warnings": lambda: None,
    "disabled_test": unittest.skip("a test that Numba does not run"),
    "skip_unless_typeguard": unittest.skip("typeguard"),
    "compile_function": compile_function,
    "forbid_codegen": contextlib.nullcontext,
    "redirect_c_stdout": captured_stdout,
    "redirect_c_stderr": captured_stderr,
    **{f"expected_failure_py3{minor}": expected_from(minor) for minor in (11, 12, 13, 14)},
    **dict.fromkeys(
        "skip_parfors_unsupported skip_unless_scipy skip_unless_cffi linux_only tag needs_subprocess needs_lapack "
        "needs_blas always_test skip_ppc64le_issue6465 skip_ppc64le_invalid_ctr_loop skip_if_typeguard "
        "skip_if_numpy_2 skip_if_reduced_testing skip_if_freethreading skip_if_windows skip_macos_fenv_errors "
        "skip_m1_fenv_errors expected_failure_np2".split(),
        taken,
    ),
}
NUMPY_SUPPORT = {
    "numpy_version": tuple(map(int, np.__version__.split(".")[:2])),
    "from_dtype": compat_numba.from_dtype,
    "as_dtype": lambda kind: np.dtype(kind._jit_dtype),
}
# Modules of Numba's that its tests look into, and what of them means something here.
NUMBA_PARTS = """
    core.analysis core.annotations core.base core.boxing core.byteflow core.bytecode core.callconv core.cgutils
    core.codegen core.compiler core.compiler_machinery core.controlflow core.cpu core.datamodel
    core.datamodel.testing core.descriptors core.dispatcher core.funcdesc core.imputils core.inline_closurecall
    core.interpreter core.ir core.ir_utils core.itanium_mangler core.lowering core.object_mode_passes core.options
    core.postproc core.registry core.rewrites core.runtime core.runtime.nrt core.serialize core.sigutils core.ssa
    core.target_extension core.tracing core.transforms core.typed_passes core.typeconv core.typeinfer
    core.types.functions core.types.abstract core.typing core.typing.arraydecl core.typing.npydecl
    core.typing.templates core.typing.typeof core.unsafe core.unsafe.refcount core.unsafe.nrt core.untyped_passes
    cpython cpython.unicode cpython.charseq cpython.hashing cpython.unsafe cpython.unsafe.tuple misc misc.special
    np.arraymath np.arrayobj np.linalg np.npdatetime np.ufunc np.ufunc.parallel np.ufunc.ufuncbuilder np.unsafe
    np.unsafe.ndarray parfors parfors.array_analysis parfors.parfor stencils stencils.stencil testing testing.main
    testing._runtests testing.loader typed.dictobject typed.listobject typed.typedobjectutils typed.typedlist
    typed.typeddict
""".split()
# What users import of it, and of numba-cuda: names that are not covered fail only the tests that use them.
NUMBA_PUBLIC = (
    "numba numba.types numba.core.types numba.extending numba.typed numba.errors numba.core.errors "
    "numba.core.extending numba.experimental numba.experimental.structref"
).split()
NUMBA_CUDA_PUBLIC = "numba numba.cuda numba.types numba.cuda.types numba.cuda.extending".split()
NUMBA = {
    **{f"numba.{part}": {} for part in NUMBA_PARTS},
    "numba.core.utils": {"PYVERSION": sys.version_info[:2]},
    "numba.cpython.unicode": {"_MAX_UNICODE": 0x10FFFF},
    "numba.core.datamodel.testing": {"test_factory": lambda *parts: type("Nothing", (), {})},
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
    cffi cuda cuda.bindings cuda.core cuda.core._utils cuda.core._utils.cuda_utils cuda.core.experimental llvmlite
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
    "numba.cuda.cudadrv.driver": {"_have_nvjitlink": lambda: False},
    "numba.cuda.tests": {},
    "numba.cuda.tests.support": SUPPORT,
    "numba.cuda.utils": {"PYVERSION": sys.version_info[:2]},
}


# CuPy's interior.
CUPY = {
    **dict.fromkeys(
        """
        cupy._core cupy._core._carray cupy._core._cub_reduction cupy._core._fusion_trace cupy._core._fusion_kernel
        cupy._core._gufuncs cupy._core._routines_linalg cupy._core._routines_math cupy._core._scalar
        cupy._core.core cupy._core.fusion cupy._core.new_fusion cupy._environment
        cupy.cuda.compiler cupy.cuda.device cupy.cuda.memory cupy.cuda.nvtx
        cupy.cuda.texture cupy_backends cupy_backends.cuda cupy_backends.cuda.api cupy_backends.cuda.api.runtime
        cupy_backends.cuda.libs cupy_backends.cuda.libs.nvrtc cupyx.scipy.sparse
        """.split(),
        {},
    ),
    "cupy._core._fusion_interface": {},
    "cupy_backends.cuda.api.runtime": {"is_hip": False},
    "cupy._core._accelerator": {name: list for name in ("get_routine_accelerators", "get_reduction_accelerators")}
    | {name: lambda names: None for name in ("set_routine_accelerators", "set_reduction_accelerators")},
    "cupy._util": {"clear_memo": lambda: None, "PerformanceWarning": RuntimeWarning, "ENABLE_SLICE_COPY": False},
    "cupy.cuda.cub": {"available": False},
    "cupy.cuda.cutensor": {"available": False},
    "cupy.cublas": {},
    "cupy._indexing": {},
    "cupy._indexing.generate": {},
    "cupy.random._distributions": {},
    "cupy.random._generator": {},
    "cupy.cuda.cufft": {},
    "cupy.fft._cache": {},
    "cupy.fft._fft": {},
    "cupy.fft.config": {"use_multi_gpus": False},
    "cupy.linalg._util": {},
    "cupyx.cusolver": {"check_availability": lambda name: True},
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
        try:
            return getattr(serving(self.__name__), name)
        except AttributeError:
            return Skips(f"{self.__name__}.{name}")


def serving(name):
    """What of ours has a module's names: a module, or a class as `config` is."""
    ours = _run.covering("tutti.compat." + name)
    above, _, last = name.rpartition(".")
    if ours is None and above:
        ours = getattr(_run.covering("tutti.compat." + above), last, None)
    return None if isinstance(ours, Interior) else ours


class SkippedClass:
    """A class of a test's that is made of one of the interior's."""

    def __init__(self, *args, **kwargs):
        raise unittest.SkipTest("a class of the library's interior")


class Skips:
    """A name of the interior: whatever is done with it inside a test skips that test."""

    importing = False  # then a call is a decorator: one test that needs it must not end all others of its file

    def __init__(self, name):
        self._name = name

    def _skip(self, *args):
        raise unittest.SkipTest(f"the library's own {self._name}")

    def __call__(self, *args, **kwargs):
        if not Skips.importing:
            self._skip()
        return unittest.skip(f"the library's own {self._name}")(args[0]) if args and is_test(args[0]) else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Skips(f"{self._name}.{name}")

    def __mro_entries__(self, bases):
        return (TestCase,) if "Test" in self._name else (SkippedClass,)

    __getitem__ = __eq__ = __lt__ = __ge__ = __iter__ = __enter__ = __bool__ = _skip
    __hash__ = object.__hash__


def is_test(what):
    is_class = isinstance(what, type)
    return issubclass(what, unittest.TestCase) if is_class else getattr(what, "__name__", "").startswith("test")


class Lacks(Skips):
    """A name that users ask for and that is not covered: what is done with it fails, and says so."""

    def __call__(self, *args, **kwargs):
        if not Skips.importing:
            raise AttributeError(f"tutti.compat does not cover {self._name}")
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Lacks(f"{self._name}.{name}")

    __getitem__ = __eq__ = __lt__ = __ge__ = __iter__ = __enter__ = __bool__ = __call__
    __hash__ = object.__hash__


class Uncovered(types.ModuleType):
    """A module of a library's public names that is not covered."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Lacks(f"{self.__name__}.{name}")


def lacks_by_name(names):
    """Let files be imported that name what our modules lack: only the tests that use it fail."""
    for name in names:
        ours = _run.covering("tutti.compat." + name)

        def lacking(word, name=name, own=getattr(ours, "__getattr__", None)):
            if word.startswith("_"):
                raise AttributeError(word)
            if own is not None:
                with contextlib.suppress(AttributeError):
                    return own(word)
            return Lacks(f"{name}.{word}")

        if ours is None:
            above, _, last = name.rpartition(".")
            ours = sys.modules[name] = Uncovered(name)
            setattr(_run.covering("tutti.compat." + above) or sys.modules[above], last, ours)
        else:
            ours.__getattr__ = lacking


class LLVMText:
    """LLVM's text of a function, which there is not: a test that looks into it is skipped there, whatever it compared
    before."""

    def __contains__(self, part):
        raise unittest.SkipTest("LLVM's text of a function (what it compared before that agreed)")

    __iter__ = __len__ = __getitem__ = __str__ = __contains__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.__contains__(name)


class Overload:
    """A function compiled for a signature, as Numba's tests take it from its dispatcher."""

    def __init__(self, compiled, signature):
        self.entry_point, self.signature = compiled, signature
        self.library = types.SimpleNamespace(
            get_llvm_str=LLVMText, get_asm_str=LLVMText, _codegen=Skips("numba.core.codegen")
        )
        self.metadata = collections.defaultdict(lambda: Skips("numba.core.compiler's metadata"))
        self.fndesc = types.SimpleNamespace(argtypes=signature)


class Overloads:
    """A dispatcher's functions by their signatures; ours are found by the arguments of each call."""

    def __init__(self, compiled):
        self.compiled = compiled

    def __getitem__(self, signature):
        return Overload(self.compiled, signature)

    def __len__(self):
        return len(self.compiled.signatures)

    def values(self):
        return [Overload(self.compiled, signature) for signature in self.compiled.signatures]

    def items(self):
        return [(signature, self[signature]) for signature in self.compiled.signatures]


def tell_of_overloads():
    from tutti._jit.dispatch import Compiled

    Compiled.overloads = property(Overloads)


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
    """A library's package of tests in its checkout, but for the modules that stand-ins serve."""

    def __init__(self, package, folder, served):
        self.package, self.folder, self.served = package + ".", folder, served

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.package) or name in self.served:
            return None
        at = self.folder.joinpath(*name.removeprefix(self.package).split("."))
        if at.is_dir():
            inside = [os.fspath(at)]
            return importlib.util.spec_from_file_location(name, at / "__init__.py", submodule_search_locations=inside)
        file = at.with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if file.exists() else None


class TestsBeside(importlib.abc.MetaPathFinder):
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
            setattr(place, last, standing_in(name, names[name]))


def standing_in(name, names):
    """A module of the interior, found by whoever imports it: the one above it may be a file here, no package."""
    module = sys.modules[name] = Interior(name)
    vars(module).update(names)
    return module


def tell_of_bit_generators():
    """Tests name bit generators where CuPy defines them."""
    from tutti.compat.cupy import random

    names = {name: getattr(random, name) for name in ("BitGenerator", "MRG32k3a", "Philox4x3210", "XORWOW")}
    random._bit_generator = standing_in("cupy.random._bit_generator", names)


class TransformSettings(Interior):
    """cupy.fft.config: its tests want each look at enable_nd_planning to warn."""

    planning = True

    @property
    def enable_nd_planning(self):
        warnings.warn("enable_nd_planning is deprecated", DeprecationWarning, stacklevel=2)
        return self.planning

    @enable_nd_planning.setter
    def enable_nd_planning(self, planning):
        warnings.warn("enable_nd_planning is deprecated", DeprecationWarning, stacklevel=2)
        self.planning = planning


def tell_of_transform_settings():
    """There is one way to plan transforms here; tests go through CuPy's two."""
    sys.modules["cupy.fft.config"].__class__ = TransformSettings


def tell_of_nvcc():
    """CuPy's tests ask NVIDIA's compiler for its version when they are imported; those that compile with it skip."""
    from tutti.compat.cupy import cuda

    cuda.get_nvcc_path = lambda: "nvcc"
    cuda.compiler._run_cc = lambda command, *others: "release 13.0"
    cuda.driver._is_cuda_python = lambda: True
    cuda.compiler._kernel_cache_backend, cuda.compiler._empty_file_preprocess_cache = None, {}
    for name in "_get_arch compile_using_nvcc _encode_cache_payload _decode_cache_payload compile_with_cache".split():
        vars(cuda.compiler).setdefault(name, Skips(f"cupy.cuda.compiler.{name}"))
