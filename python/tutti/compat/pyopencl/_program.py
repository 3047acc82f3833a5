"""Programs in OpenCL C and their kernels, by our compiler of that language."""

import builtins
import os
import warnings

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._jit import dispatch

from . import _complex
from ._capture import capture
from ._constants import CLASSES
from ._errors import RepeatedKernelRetrieval, RuntimeError, failure
from ._handle import Handle
from ._memory import LocalMemory, MemoryObjectHolder, SVMPointer

_STATUS = CLASSES["status_code"]
_MAGIC = b"tutti OpenCL C\0"  # what get_info calls a binary: the text after this
_OURS = "pyopencl-complex.h"  # the header that PyOpenCL brings


def _options(given):
    """Options as a list of words."""
    words = given if isinstance(given, (list, tuple)) else str(given or "").split()
    words = [w.decode() if isinstance(w, bytes) else str(w) for w in words]
    return [w for word in words for w in ([word] if " " not in word.strip() or os.path.exists(word) else word.split())]


def _included(line):
    """The name of the header that a line includes, or None."""
    words = line.strip()
    if not words.startswith("#") or not words[1:].strip().startswith("include"):
        return None
    return words[1:].strip().removeprefix("include").strip().strip('<>"')


def _with_complex(text):
    """(text, options): the header of complex numbers where it is included for the first time."""
    lines, options = text.split("\n"), []
    for k, line in enumerate(lines):
        if _included(line) == _OURS:
            lines[k] = "" if options else _complex.HEADER
            options = _complex.OPTIONS
    return "\n".join(lines), options


def _with_headers(text, headers):
    """A text in which lines that include headers that are at hand are replaced by these."""
    lines = []
    for number, line in enumerate(text.split("\n"), 2):
        name = _included(line)
        lines += [_with_headers(headers[name], headers), f"#line {number}"] if name in headers else [line]
    return "\n".join(lines)


class _Launches:
    """How often a kernel was launched."""

    launches, language = 0, "OpenCL C"

    def __init__(self, name):
        self.__name__ = name


class Program(Handle):
    """A text of OpenCL C: `Program(context, source).build()`. Its kernels are attributes."""

    _info = "program_info"

    def __init__(self, arg1, arg2=None, arg3=None):
        self._context, self._native, self._options = arg1, None, []
        self._log, self._kernels, self._retrieved, self._kind = "", {}, 0, "NONE"
        self._counts = {}
        if arg3 is not None:
            self._source, self._kind = self._from_binaries(arg3), "EXECUTABLE"
        elif isinstance(arg2, bytes) and not arg2.startswith(_MAGIC):
            if arg2[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
                raise failure("INVALID_VALUE", "clCreateProgramWithIL", "SPIR-V is not covered: give the OpenCL C")
            self._source = arg2.decode()
        else:
            self._source = arg2

    @staticmethod
    def _from_binaries(binaries):
        text = binaries[0]
        if not bytes(text).startswith(_MAGIC):
            raise failure("INVALID_BINARY", "clCreateProgramWithBinary", "only what get_info gave can be taken back")
        return bytes(text)[len(_MAGIC) :].decode()

    def build(self, options=None, devices=None, cache_dir=None):
        """Compile the text: the program."""
        self._options = _options(options)
        text, options = _with_complex(self._source)
        try:
            words = [*self._options, *options]
            self._native = _tt.opencl.Program(text).build(words, device=self._context._devices[0]._own)
        except _tt.CompileError as error:
            self._log, self._kind = str(error), "NONE"
            raise self._refused(error) from None
        self._kind, self._log = "EXECUTABLE", self._native.build_log
        return self

    def _refused(self, error):
        device = self._context.devices[0]
        what = f"clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\nBuild on {device}:\n\n{error}"
        return RuntimeError(what, _STATUS.BUILD_PROGRAM_FAILURE, "clBuildProgram")

    def compile(self, options=None, devices=None, headers=()):
        """Look at the text as a part of a program, which link_program makes of several."""
        self._options = _options(options)
        known = {name: header._source for name, header in headers or ()}
        self._source, self._kind = _with_headers(self._source, known), "COMPILED_OBJECT"
        return self

    def _built(self):
        if self._native is None:
            if self._kind == "EXECUTABLE":
                return self.build()._native
            raise failure("INVALID_PROGRAM_EXECUTABLE", "clCreateKernel", "build() the program first")
        return self._native

    def all_kernels(self):
        """All kernels."""
        return [Kernel(self, name) for name in self._built().kernels]

    def __getattr__(self, name):
        if name.startswith("_") or self._native is None and self._kind != "EXECUTABLE":
            raise AttributeError(f"'{name}' was not found as a program info attribute or as a kernel name")
        if name not in self._built().kernels:
            raise AttributeError(f"'{name}' was not found as a program info attribute or as a kernel name")
        self._retrieved += 1
        if name in self._kernels and self._retrieved == 100:
            warnings.warn(
                f"Kernel '{name}' has been retrieved more than 100 times: keep it in a variable",
                RepeatedKernelRetrieval, stacklevel=2,
            )  # fmt: skip
        self._kernels[name] = made = Kernel(self, name)
        return made

    def _counted(self, name):
        """What `python -m tutti run` tells of the kernel: how often it ran."""
        if name not in self._counts:
            self._counts[name] = _Launches(name)
            if dispatch.everything is not None:
                dispatch.everything.append(self._counts[name])
        return self._counts[name]

    def get_build_info(self, device, param):
        """What is known of the last build."""
        known = {
            "STATUS": 0 if self._native is not None else -1 if self._kind == "NONE" else 0,
            "OPTIONS": " ".join(self._options), "LOG": self._log, "GLOBAL_VARIABLE_TOTAL_SIZE": 0,
            "BINARY_TYPE": getattr(CLASSES["program_binary_type"], self._kind),
        }  # fmt: skip
        return known[CLASSES["program_build_info"].to_string(param)]

    def _of_context(self):
        return self._context

    def _of_num_devices(self):
        return len(self._context.devices)

    def _of_devices(self):
        return self._context.devices

    def _of_source(self):
        return self._source

    def _of_binaries(self):
        return [_MAGIC + self._source.encode()] * len(self._context.devices)

    def _of_binary_sizes(self):
        return [len(b) for b in self._of_binaries()]

    def _of_num_kernels(self):
        return len(self._built().kernels)

    def _of_kernel_names(self):
        return ";".join(self._built().kernels)

    def _of_il(self):
        return ""

    def _of_scope_global_ctors_present(self):
        return 0

    _of_scope_global_dtors_present = _of_scope_global_ctors_present

    def __eq__(self, other):
        return isinstance(other, Program) and other is self

    __hash__ = Handle.__hash__


def link_program(context, programs, options=None, devices=None):
    """One program of several that were compiled."""
    made = Program(context, "\n".join(p._source for p in programs))
    return made.build([*(o for p in programs for o in p._options), *_options(options)])


def create_program_with_built_in_kernels(context, devices, kernel_names):
    """Refused: the device has no kernels of its own."""
    raise failure("INVALID_VALUE", "clCreateProgramWithBuiltInKernels", "there are no built-in kernels")


class Kernel(Handle):
    """A kernel of a program: kernel(queue, global_size, local_size, *args)."""

    _info = "kernel_info"

    def __init__(self, program, name):
        native = program._built()
        if name not in native.kernels:
            raise failure("INVALID_KERNEL_NAME", "clCreateKernel", name)
        self._program, self._name, self._native = program, name, native.kernel(name)
        self._parameters = [_parameter(*words) for words in _core.routine_info(self._native._routine)[0]]
        self._launches = program._counted(name)
        self._given, self._types = [_UNSET] * len(self._parameters), None

    # ---- arguments

    def set_scalar_arg_dtypes(self, arg_dtypes):
        """The types of arguments that are numbers; None for others."""
        types = tuple(arg_dtypes)
        wide = sum(2 if getattr(t, "with_offset", False) else 1 for t in types)
        if wide != len(self._parameters):
            raise TypeError(
                f"length of argument type array ({len(types)}) and CL-generated number of arguments "
                f"({len(self._parameters)}) do not agree"
            )
        self._types = types

    set_arg_types = set_scalar_arg_dtypes

    def _flat(self, args):
        """Arguments as the kernel's parameters: numbers with their types, arrays with their offsets."""
        if self._types is None:
            return args
        if len(args) != len(self._types):
            raise TypeError(f"{self._name} takes {len(self._types)} arguments, {len(args)} are given")
        flat = []
        for value, kind in zip(args, self._types, strict=True):
            if getattr(kind, "with_offset", False):
                flat += [value.base_data, np.int64(value.offset)]
            elif kind is None or hasattr(kind, "declarator"):
                flat.append(value)
            else:
                flat.append(np.dtype(kind).type(value) if np.dtype(kind).kind != "V" else value)
        return flat

    def _one(self, k, value):
        """What the compiler is given for an argument; k counts from 0."""
        space, kind, _, size = self._parameters[k]
        if isinstance(value, LocalMemory):
            if space != "local":
                raise self._bad("INVALID_ARG_SIZE", k)
            return _tt.opencl.LocalMemory(value.size)
        if isinstance(value, (MemoryObjectHolder, SVMPointer)):
            if space != "global":
                raise self._bad("INVALID_ARG_SIZE" if space == "private" else "INVALID_ARG_VALUE", k)
            return _elements(value._bytes, kind) if value._root is None else _There(value, kind)
        if value is None:
            if space == "global":
                return None
            raise self._bad("INVALID_ARG_VALUE", k)
        if isinstance(value, (np.generic, np.ndarray, bytes)):
            packed = value if isinstance(value, bytes) else value.tobytes()
            if space != "private" or len(packed) != size:
                raise self._bad("INVALID_ARG_SIZE", k)
            return packed
        raise failure(
            "INVALID_VALUE", "Kernel.set_arg", f"when processing arg#{k + 1} (1-based): invalid kernel argument"
        )

    @staticmethod
    def _bad(code, k):
        return failure(code, "clSetKernelArg", f"when processing arg#{k + 1} (1-based)")

    def set_arg(self, index, value):
        """One argument."""
        if not 0 <= index < len(self._given):
            raise failure("INVALID_ARG_INDEX", "clSetKernelArg")
        self._given[index] = self._one(index, value)

    def set_args(self, *args):
        """All arguments."""
        args = self._flat(args)
        if len(args) != len(self._given):
            raise TypeError(f"{self._name} takes {len(self._given)} arguments, {len(args)} are given")
        self._given = [self._one(k, value) for k, value in enumerate(args)]

    # ---- launches

    def __call__(
        self, queue, global_size, local_size, *args, wait_for=None, g_times_l=False, allow_empty_ndrange=False,
        global_offset=None,
    ):  # fmt: skip
        self.set_args(*args)
        return enqueue_nd_range_kernel(
            queue, self, global_size, local_size, global_offset, wait_for, g_times_l, allow_empty_ndrange
        )

    def clone(self):
        """The same kernel with arguments of its own."""
        made = Kernel(self._program, self._name)
        made._given, made._types = list(self._given), self._types
        return made

    def capture_call(
        self, output_file, queue, global_size, local_size, *args, wait_for=None, g_times_l=False,
        allow_empty_ndrange=False, global_offset=None,
    ):  # fmt: skip
        """Write a script that makes this launch again, with the values that the arguments have now."""
        words = {"g_times_l": g_times_l, "allow_empty_ndrange": allow_empty_ndrange, "global_offset": global_offset}
        queue.finish()
        capture(self, output_file, global_size, local_size, self._flat(args), words)

    def get_work_group_info(self, param, device):
        """What groups of the kernel can be."""
        group = self._native.reqd_work_group_size
        known = {
            "WORK_GROUP_SIZE": device.max_work_group_size, "LOCAL_MEM_SIZE": 0, "PRIVATE_MEM_SIZE": 0,
            "COMPILE_WORK_GROUP_SIZE": list(group or (0, 0, 0)),
            "PREFERRED_WORK_GROUP_SIZE_MULTIPLE": device.preferred_work_group_size_multiple,
        }  # fmt: skip
        name = CLASSES["kernel_work_group_info"].to_string(param)
        if name not in known:
            raise failure("INVALID_VALUE", "clGetKernelWorkGroupInfo")
        return known[name]

    def get_arg_info(self, index, param):
        """What a parameter is."""
        if not 0 <= index < len(self._parameters):
            raise failure("INVALID_ARG_INDEX", "clGetKernelArgInfo")
        space, kind, name, _ = self._parameters[index]
        known = {
            "ADDRESS_QUALIFIER": getattr(CLASSES["kernel_arg_address_qualifier"], space.upper()),
            "ACCESS_QUALIFIER": CLASSES["kernel_arg_access_qualifier"].NONE, "TYPE_NAME": kind, "NAME": name,
            "TYPE_QUALIFIER": CLASSES["kernel_arg_type_qualifier"].CONST if "const " in kind else 0,
        }  # fmt: skip
        return known[CLASSES["kernel_arg_info"].to_string(param)]

    def _of_function_name(self):
        return self._name

    def _of_num_args(self):
        return len(self._parameters)

    def _of_context(self):
        return self._program.context

    def _of_program(self):
        return self._program

    def _of_attributes(self):
        return ""


_UNSET = object()


def _parameter(name, kind, size):
    """(space, type, name, bytes) of a parameter, whose type is as launches tell it."""
    space = "local" if kind == "local memory" else "global" if kind.endswith("*") else "private"
    return space, kind, name, size


def _elements(memory, kind):
    """A buffer's bytes as what a pointer points at."""
    name = kind.removeprefix("const ").removesuffix("*").strip()
    if name == "void":
        return memory
    size = np.dtype(name).itemsize
    return memory[: len(memory) // size * size].view(name)


class _There:
    """An argument whose bytes lie on a device: what they are when the kernel is launched."""

    def __init__(self, of, kind):
        self._of, self._kind = of, kind

    def given(self):
        """The array for the launch."""
        self._of._checked()
        return _elements(self._of._there(not self._kind.startswith("const ")), self._kind)

    def launched(self):
        """The kernel has it."""
        self._of._root.launched()


def _sizes(words, routine):
    sizes = tuple(int(n) for n in words)
    if not 1 <= len(sizes) <= 3:
        raise failure("INVALID_WORK_DIMENSION", routine)
    return sizes


def enqueue_nd_range_kernel(
    queue, kernel, global_work_size, local_work_size, global_work_offset=None, wait_for=None, g_times_l=False,
    allow_empty_ndrange=False,
):  # fmt: skip
    """Run a kernel with the arguments that it was given: its event."""
    routine = "clEnqueueNDRangeKernel"
    total = _sizes(global_work_size, routine)
    group = None if local_work_size is None else _sizes(local_work_size, routine)
    if group is not None:
        if len(group) != len(total) and not g_times_l:
            raise failure("INVALID_VALUE", routine, "global and local sizes have different numbers of axes")
        if g_times_l:
            width = max(len(group), len(total))
            total, group = (s + (1,) * (width - len(s)) for s in (total, group))
            total = tuple(n * m for n, m in zip(total, group, strict=True))
        most = queue.device.max_work_group_size
        if any(m <= 0 or n % m for n, m in zip(total, group, strict=True)) or np.prod(group) > most:
            raise failure("INVALID_WORK_GROUP_SIZE", routine, f"groups of {group} for {total}, at most {most} together")
    if any(value is _UNSET for value in kernel._given):
        raise failure("INVALID_KERNEL_ARGS", routine)
    offset = None if global_work_offset is None else _sizes(global_work_offset, routine)
    given, native, device = list(kernel._given), kernel._native, queue.device._own

    def run():
        if 0 not in total:
            kernel._launches.launches += 1
            there = [value for value in given if isinstance(value, _There)]
            arguments = [value.given() if isinstance(value, _There) else value for value in given]
            with device:
                _launch(native, total, group, arguments, offset)
            for value in there:
                value.launched()

    return queue._do("NDRANGE_KERNEL", run, wait_for)


def _launch(native, total, group, given, offset):
    try:
        native(total, group, *given, global_offset=offset)
    except (ValueError, TypeError) as e:
        raise failure("INVALID_VALUE", "clEnqueueNDRangeKernel", str(e)) from None
    except MemoryError as e:
        raise failure("MEM_OBJECT_ALLOCATION_FAILURE", "clEnqueueNDRangeKernel", str(e)) from None
    except builtins.RuntimeError as e:
        raise failure("OUT_OF_RESOURCES", "clEnqueueNDRangeKernel", str(e)) from None
