"""Platforms, devices and contexts: the processor, which runs OpenCL C by our own compiler."""

import functools
import os
from dataclasses import dataclass

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from ._constants import CLASSES
from ._errors import Error, failure
from ._handle import Handle

_VERSION = "OpenCL 3.0 tutti"
_TYPE, _SVM = CLASSES["device_type"], CLASSES["device_svm_capabilities"]
_FLOAT = sum(CLASSES["device_fp_config"]._all()[name] for name in ("DENORM", "INF_NAN", "ROUND_TO_NEAREST", "FMA"))
_EXTENSIONS = (
    "cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_global_int32_base_atomics "
    "cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics "
    "cl_khr_int64_base_atomics"
)
_BYTES = {"CHAR": 1, "SHORT": 2, "INT": 4, "LONG": 8, "FLOAT": 4, "DOUBLE": 8, "HALF": 2}
_LANES = 32  # bytes that vectors of the processor have in common
_LOCAL_BYTES = 1 << 20
_GROUP = 1024


def _numbers(version):
    major, minor = version.split()[1].split(".")
    return int(major), int(minor)


@dataclass
class NameVersion:
    """A name and the number of its version."""

    version: int = 0
    name: str = ""


class Platform(Handle):
    """A platform, and the devices of it. One is always there: this library, whose device is the processor."""

    _info = "platform_info"

    def __init__(self, devices):
        self._devices = devices

    def get_devices(self, device_type=_TYPE.ALL):
        """The devices of a type."""
        if not device_type & _TYPE.ALL:
            raise failure("INVALID_DEVICE_TYPE", "Platform.get_devices")
        return [d for d in self._devices if device_type == _TYPE.ALL or device_type & (d.type | _TYPE.DEFAULT)]

    def _get_cl_version(self):
        return _numbers(self.version)

    def _of_profile(self):
        return "FULL_PROFILE"

    def _of_version(self):
        return _VERSION

    def _of_name(self):
        return "tutti"

    def _of_vendor(self):
        return "tutti"

    def _of_extensions(self):
        return ""

    def _of_host_timer_resolution(self):
        return 1

    def _of_numeric_version(self):
        return 3 << 22

    def _of_extensions_with_version(self):
        return []

    def __repr__(self):
        return f"<pyopencl.Platform '{self.name}' at 0x{self.int_ptr:x}>"


def _memory():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


# What a device says of itself where nothing needs to be asked: names of device_info in small letters, and the answer.
_SAID = {
    "type": _TYPE.CPU, "vendor_id": 0, "max_work_item_dimensions": 3, "max_work_group_size": _GROUP,
    "max_work_item_sizes": [_GROUP] * 3, "address_bits": 64, "max_read_image_args": 0, "max_write_image_args": 0,
    "image2d_max_width": 0, "image2d_max_height": 0, "image3d_max_width": 0, "image3d_max_height": 0,
    "image3d_max_depth": 0, "image_support": 0, "max_parameter_size": 4096, "max_samplers": 0,
    "mem_base_addr_align": 1024, "min_data_type_align_size": 128, "single_fp_config": _FLOAT,
    "double_fp_config": _FLOAT, "half_fp_config": 0, "global_mem_cache_type": 2, "global_mem_cacheline_size": 64,
    "global_mem_cache_size": 0, "max_constant_args": 64, "local_mem_type": 2, "local_mem_size": _LOCAL_BYTES,
    "error_correction_support": 0, "profiling_timer_resolution": 1, "endian_little": 1, "available": 1,
    "compiler_available": 1, "execution_capabilities": 1, "queue_on_host_properties": 3, "queue_properties": 3,
    "vendor": "tutti", "driver_version": _tt.__version__, "profile": "FULL_PROFILE", "version": _VERSION,
    "extensions": _EXTENSIONS, "host_unified_memory": 1, "opencl_c_version": "OpenCL C 1.2 tutti",
    "linker_available": 1, "built_in_kernels": "", "image_max_buffer_size": 0, "image_max_array_size": 0,
    "parent_device": None, "partition_max_sub_devices": 1, "partition_properties": [],
    "partition_affinity_domain": [0], "partition_type": [], "preferred_interop_user_sync": 1,
    "printf_buffer_size": 1 << 20, "max_read_write_image_args": 0, "max_global_variable_size": 0,
    "queue_on_device_properties": 0, "queue_on_device_preferred_size": 0, "queue_on_device_max_size": 0,
    "max_on_device_queues": 0, "max_on_device_events": 0, "global_variable_preferred_total_size": 0,
    "max_pipe_args": 0, "pipe_max_active_reservations": 0, "pipe_max_packet_size": 0,
    "preferred_platform_atomic_alignment": 0, "preferred_global_atomic_alignment": 0,
    "preferred_local_atomic_alignment": 0, "il_version": "", "max_num_sub_groups": 0,
    "sub_group_independent_forward_progress": 0, "numeric_version": 3 << 22, "ils_with_version": [],
    "built_in_kernels_with_version": [], "atomic_memory_capabilities": 17, "atomic_fence_capabilities": 19,
    "non_uniform_work_group_support": 0, "preferred_work_group_size_multiple": 8,
    "work_group_collective_functions_support": 0, "generic_address_space_support": 0, "opencl_c_features": [],
    "device_enqueue_capabilities": 0, "pipe_support": 0,
    "svm_capabilities": _SVM.COARSE_GRAIN_BUFFER | _SVM.FINE_GRAIN_BUFFER | _SVM.FINE_GRAIN_SYSTEM,
}  # fmt: skip


class Device(Handle):
    """A device of the library: `_place` is its number there."""

    _info = "device_info"

    def __init__(self, place):
        self._place = place

    @property
    def _own(self):
        """The library's device, of whose number this is."""
        return numbered(self._place)

    def _get_cl_version(self):
        return _numbers(self.version)

    def _of_name(self):
        return numbered(self._place).label or str(numbered(self._place))

    def _of_platform(self):
        return next(p for p in get_platforms() if self in p._devices)

    def _of_max_compute_units(self):
        return _tt.get_num_threads()

    def _of_max_clock_frequency(self):
        return int(numbered(self._place).clock or 0)

    def _of_global_mem_size(self):
        return _memory()

    _of_max_mem_alloc_size = _of_global_mem_size

    def _of_max_constant_buffer_size(self):
        return _memory()

    def _of_extensions_with_version(self):
        return [NameVersion(1 << 22, name) for name in _EXTENSIONS.split()]

    def _of_opencl_c_all_versions(self):
        return [NameVersion((1 << 22) + (minor << 12), "OpenCL C") for minor in range(3)]

    @property
    def hashable_model_and_version_identifier(self):
        """What tells this kind of device from others."""
        return "v1", self.vendor, self.vendor_id, self.name, self.version

    @property
    def persistent_unique_id(self):
        """The older name of hashable_model_and_version_identifier."""
        import warnings

        warnings.warn(
            "Device.persistent_unique_id is deprecated. Use Device.hashable_model_and_version_identifier instead.",
            DeprecationWarning, stacklevel=2,
        )  # fmt: skip
        return self.hashable_model_and_version_identifier

    def create_sub_devices(self, properties):
        """Refused: the pool of threads is one."""
        raise failure("DEVICE_PARTITION_FAILED", "Device.create_sub_devices", "the device is one piece")

    def host_timer(self):
        """The host's clock in nanoseconds."""
        import time

        return time.perf_counter_ns()

    def device_and_host_timer(self):
        """The device's clock and the host's, which are one."""
        now = self.host_timer()
        return now, now

    def __repr__(self):
        return f"<pyopencl.Device '{self.name.strip()}' on '{self.platform.name}' at 0x{self.int_ptr:x}>"


def _answered(value):
    return lambda self: list(value) if isinstance(value, list) else value


def _complete():
    """Give the class the answers of the table."""
    widths = {f"{kind}_vector_width_{t.lower()}": 0 if t == "HALF" else _LANES // size
              for t, size in _BYTES.items() for kind in ("native", "preferred")}  # fmt: skip
    for name, value in {**_SAID, **widths}.items():
        setattr(Device, "_of_" + name, _answered(value))
    Device.__init_subclass__.__func__(Device)


_complete()


# ---- OpenCL's own: what they say of themselves

_TEXTS = {
    "NAME", "VENDOR", "DRIVER_VERSION", "PROFILE", "VERSION", "EXTENSIONS", "OPENCL_C_VERSION", "BUILT_IN_KERNELS",
    "IL_VERSION", "ICD_SUFFIX_KHR", "LATEST_CONFORMANCE_VERSION_PASSED",
}  # fmt: skip
# What is not covered here, whatever the device can do.
_NOT_HERE = {
    "IMAGE_SUPPORT": 0, "SVM_CAPABILITIES": 0, "PIPE_SUPPORT": 0, "PARENT_DEVICE": None, "REFERENCE_COUNT": 1,
    "MAX_SAMPLERS": 0, "MAX_READ_IMAGE_ARGS": 0, "MAX_WRITE_IMAGE_ARGS": 0, "MAX_ON_DEVICE_QUEUES": 0,
}  # fmt: skip
_LISTS = {"MAX_WORK_ITEM_SIZES": 8, "PARTITION_PROPERTIES": 8, "PARTITION_TYPE": 8}
_ENTRIES = {
    "EXTENSIONS_WITH_VERSION", "ILS_WITH_VERSION", "BUILT_IN_KERNELS_WITH_VERSION", "OPENCL_C_ALL_VERSIONS",
    "OPENCL_C_FEATURES",
}  # fmt: skip


def _answer_of(place, of_platform, name, what):
    """What OpenCL answers to a question, as Python has it; None: it does not know."""
    found = _core.opencl_ask(place, of_platform, what)
    if found is None:
        return None
    if name in _TEXTS:
        return found.split(b"\0", 1)[0].decode(errors="replace")
    if name in _ENTRIES:  # 64 bytes of a name behind each version
        rows = [found[k : k + 68] for k in range(0, len(found), 68)]
        return [NameVersion(int.from_bytes(r[:4], "little"), r[4:].split(b"\0", 1)[0].decode()) for r in rows]
    if name in _LISTS:
        return [int.from_bytes(found[k : k + 8], "little") for k in range(0, len(found), 8)]
    return int.from_bytes(found, "little")


class _Asked:
    """An object whose questions OpenCL answers."""

    _is_platform, _questions = False, "device_info"

    def _answer(self, constants, param, asked):
        for name, value in constants._all().items():
            if value == param:
                return self._told(name, value)
        raise failure("INVALID_VALUE", f"{type(self).__name__}.{asked}")

    def _told(self, name, value):
        if name in _NOT_HERE:
            return _NOT_HERE[name]
        if name == "PLATFORM":
            return self.platform
        found = _answer_of(self._place, self._is_platform, name, value)
        if found is None:
            raise failure("INVALID_VALUE", f"{type(self).__name__}.get_info")
        return found


def _asking(name, value):
    return property(lambda self: self._told(name, value), doc=f"{name} of get_info.")


def _asked_class(of, questions, doc, **more):
    """The class with attributes for all questions: device.max_compute_units."""
    names = {n.lower(): _asking(n, v) for n, v in CLASSES[questions]._all().items() if n.lower() != "platform"}
    return type(of.__name__, (_Asked, of), {"__doc__": doc, "__module__": __name__, **names, **more})


_OpenCLDevice = _asked_class(Device, "device_info", "A device of OpenCL's.")
_OpenCLPlatform = _asked_class(Platform, "platform_info", "A platform of OpenCL's.", _is_platform=True)


@functools.cache
def _all_platforms():
    found, by_platform = [Platform([Device(0)])], {}
    for device in _tt.devices():
        if device.type == "opencl":
            handle = _core.opencl_ask(device._number, False, CLASSES["device_info"].PLATFORM)
            by_platform.setdefault(handle, []).append(_OpenCLDevice(device._number))
    for devices in by_platform.values():
        found.append(_OpenCLPlatform(devices))
        found[-1]._place = devices[0]._place
    return found


def get_platforms():
    """The platforms that are here: this library's, whose device is the processor, then OpenCL's.

    The platform of the device that new arrays go to (`tt.device`, TUTTI_DEVICE) is the first one.
    """
    wanted = _core._get_device()
    return sorted(_all_platforms(), key=lambda p: all(d._place != wanted for d in p._devices))


class Context(Handle):
    """Devices that share memory and programs."""

    _info = "context_info"

    def __init__(self, devices=None, properties=None, dev_type=None, cache_dir=None):
        if devices is not None and dev_type is not None:
            raise failure("INVALID_VALUE", "Context", "one of 'devices' or 'dev_type' must be None")
        if devices is None:
            devices = get_platforms()[0].get_devices(_TYPE.DEFAULT if dev_type is None else dev_type)
        elif isinstance(devices, Device):
            devices = [devices]
        if not devices:
            raise failure("DEVICE_NOT_FOUND", "Context")
        if not all(isinstance(d, Device) for d in devices):
            raise failure("INVALID_DEVICE", "Context")
        if len({d._place for d in devices}) > 1:
            raise failure("INVALID_DEVICE", "Context", "a context has one device: make one for each")
        self._devices, self._properties, self._cache_dir = list(devices), list(properties or []), cache_dir

    def _get_cl_version(self):
        return self._devices[0]._get_cl_version()

    def _of_devices(self):
        return list(self._devices)

    def _of_num_devices(self):
        return len(self._devices)

    def _of_properties(self):
        return list(self._properties)

    def _of_interop_user_sync(self):
        return 1

    def set_default_device_command_queue(self, dev, queue):
        """Refused: kernels do not enqueue kernels here."""
        raise failure("INVALID_OPERATION", "Context.set_default_device_command_queue")

    def __repr__(self):
        return f"<pyopencl.Context at 0x{self.int_ptr:x} on {', '.join(map(repr, self._devices))}>"


def choose_devices(interactive=None, answers=None):
    """The devices of create_some_context: PYOPENCL_CTX or `answers` may name platform and devices by number or name."""
    given = os.environ.get("PYOPENCL_CTX") if answers is None else None
    answers = given.split(":") if given else list(answers or [])
    platform = _chosen("platform", answers[:1], get_platforms())
    devices = platform.get_devices()
    asked = answers[1].split(",") if len(answers) > 1 and answers[1] else [""]
    return [_chosen("device", [one], devices) for one in asked]


def _chosen(what, answer, among):
    answer = (answer or [""])[0].strip()
    if not answer:
        return among[0]
    if answer.isdigit():
        if int(answer) < len(among):
            return among[int(answer)]
        raise Error(f"{what} {answer}: there are {len(among)}")
    for one in among:
        if answer.lower() in one.name.lower():
            return one
    raise Error(f"no {what} is called '{answer}': there is {', '.join(one.name for one in among)}")


def create_some_context(interactive=None, answers=None):
    """A context of the devices that the environment (PYOPENCL_CTX) or `answers` name, else of the first one."""
    return Context(choose_devices(interactive, answers))
