"""PyOpenCL's names over tutti: kernels in OpenCL C run on the processor, by tutti's compiler of that language.

Replace `pyopencl` by `tutti.compat.pyopencl` in imports, or run the script by `python -m tutti run`.
"""

# ruff: noqa: F401 (programs take the names from here)
from ._constants import CLASSES
from ._copies import (
    enqueue_copy,
    enqueue_copy_buffer,
    enqueue_fill,
    enqueue_fill_buffer,
    enqueue_migrate_mem_objects,
    enqueue_read_buffer,
    enqueue_svm_memfill,
    enqueue_svm_migrate_mem,
    enqueue_write_buffer,
)
from ._devices import Context, Device, Platform, choose_devices, create_some_context, get_platforms
from ._errors import (
    CommandQueueUsedAfterExit,
    CompilerWarning,
    Error,
    LogicError,
    MemoryError,
    RepeatedKernelRetrieval,
    RuntimeError,
)
from ._images import (
    DeviceTopologyAmd,
    Image,
    ImageDescriptor,
    ImageFormat,
    Pipe,
    Sampler,
    create_image,
    enqueue_fill_image,
    enqueue_map_image,
    get_supported_image_formats,
    image_from_array,
)
from ._memory import (
    SVM,
    Buffer,
    LocalMemory,
    MemoryMap,
    MemoryObject,
    MemoryObjectHolder,
    SVMAllocation,
    SVMMap,
    SVMPointer,
    csvm_empty,
    csvm_empty_like,
    enqueue_map_buffer,
    fsvm_empty,
    fsvm_empty_like,
    svm_empty,
    svm_empty_like,
)
from ._program import Kernel, Program, create_program_with_built_in_kernels, enqueue_nd_range_kernel, link_program
from ._queue import (
    CommandQueue,
    Event,
    NannyEvent,
    UserEvent,
    enqueue_barrier,
    enqueue_marker,
    enqueue_wait_for_events,
    wait_for_events,
)
from .version import VERSION, VERSION_STATUS, VERSION_TEXT

globals().update(CLASSES)
_PYPY = False
CtxFactory = object  # what a test's ctx_factory is, for annotations
WaitList = object


def get_cl_header_version():
    """The version of OpenCL whose names are here."""
    return 3, 0


def have_gl():
    """Whether memory is shared with OpenGL."""
    return False


def unload_platform_compiler(platform):
    """Nothing to do: compilers end when a program is built."""


def enable_debugging(platform_or_context):
    """Nothing to do: TUTTI_CHECK=1 checks kernels."""


def compiler_output(text):
    """Warn of what a compiler said, where PYOPENCL_COMPILER_OUTPUT asks for it."""
    import os
    import warnings

    if os.environ.get("PYOPENCL_COMPILER_OUTPUT", "0") not in ("", "0"):
        warnings.warn(text, CompilerWarning, stacklevel=3)


def __getattr__(name):
    import importlib

    if name.startswith("__"):
        raise AttributeError(name)
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.{name}")


_MODULES = {
    "algorithm", "array", "bitonic_sort", "characterize", "clmath", "clrandom", "cltypes", "elementwise", "reduction",
    "scan", "tools", "version",
}  # fmt: skip
