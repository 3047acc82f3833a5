"""pyopencl.characterize: what a device and its compiler know."""

import re

from .._constants import CLASSES


def has_double_support(dev):
    """Whether kernels have double."""
    return "cl_khr_fp64" in dev.extensions.split()


def has_amd_double_support(dev):
    return False


def reasonable_work_group_size_multiple(dev, ctx=None):
    """What sizes of groups are best a multiple of."""
    return dev.preferred_work_group_size_multiple


def nv_compute_capability(dev):
    """None: the device is not NVIDIA's."""


def usable_local_mem_size(dev, nargs=None):
    """The bytes that kernels may have as local memory."""
    return dev.local_mem_size


def simultaneous_work_items_on_local_access(dev):
    """How many work items reach local memory at once."""
    return 1


def local_memory_access_granularity(dev):
    """Bytes of one access of local memory."""
    return 4


def local_memory_bank_count(dev):
    """How many banks local memory has."""
    if dev.local_mem_type == CLASSES["device_local_mem_type"].GLOBAL:
        raise RuntimeError("asking for a bank count is meaningless for cache-based lmem")
    return 32


def why_not_local_access_conflict_free(dev, itemsize, array_shape, array_stored_shape=None):
    """(conflicts, why): there are none in a cache."""
    return 1, None


def get_fast_inaccurate_build_options(dev):
    """Options of programs that need not be exact."""
    return ["-cl-mad-enable", "-cl-fast-relaxed-math", "-cl-no-signed-zeros"]


def get_simd_group_size(dev, type_size):
    """How many work items run in step."""
    return 1


def get_pocl_version(platform, fallback_value=None):
    """(major, minor); None: the platform is not PoCL."""
    found = re.search(r"\b[Pp]o[Cc][Ll] (\d+)\.(\d+)", platform.version)
    return tuple(map(int, found.groups())) if found else fallback_value if "pocl" in platform.version.lower() else None


def has_struct_arg_count_bug(dev, ctx=None):
    """Whether structures are counted as several parameters."""
    return False


def _has_svm(dev, name):
    return bool(dev.svm_capabilities & getattr(CLASSES["device_svm_capabilities"], name))


def has_coarse_grain_buffer_svm(dev):
    return _has_svm(dev, "COARSE_GRAIN_BUFFER")


def has_fine_grain_buffer_svm(dev):
    return _has_svm(dev, "FINE_GRAIN_BUFFER")


def has_fine_grain_system_svm(dev):
    return _has_svm(dev, "FINE_GRAIN_SYSTEM")


def has_fine_grain_buffer_svm_atomics(dev):
    return has_fine_grain_buffer_svm(dev) and _has_svm(dev, "ATOMICS")


def has_fine_grain_system_svm_atomics(dev):
    return has_fine_grain_system_svm(dev) and _has_svm(dev, "ATOMICS")


def has_src_build_cache(dev):
    """Whether the library keeps programs that it built."""
    return True


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.characterize.{name}")
