"""Kernels made of pieces of OpenCL C that a program writes: what elementwise, reduction and scan have in common.

Each work item goes over a piece of neighbours, so that a compiler for the processor can compute several at once.
"""

import re

import numpy as np

from ._constants import CLASSES
from ._memory import MemoryObject, MemoryObjectHolder, SVMPointer
from ._program import Program
from .array import Array
from .tools import OtherArg, ScalarArg, VectorArg, dtype_to_ctype, parse_arg_list

_LEAST = 4096  # elements of a piece, where there are so many
_PIECES_A_THREAD = 4
_PIECES_A_UNIT = 2048  # of a GPU: as many work-items as it keeps under way
# The bounds of a work item's piece: `tt_n` elements in pieces of `tt_piece`.
PIECE = """
  long tt_first = (long)get_global_id(0) * tt_piece;
  long tt_end = tt_first + tt_piece < tt_n ? tt_first + tt_piece : tt_n;
"""


def pieces(n, queue):
    """(how many pieces, elements of each) of n elements."""
    device = queue.device
    if device._place and device.type != CLASSES["device_type"].CPU:
        most, least = device.max_compute_units * _PIECES_A_UNIT, 1
    else:
        most, least = max(device.max_compute_units * _PIECES_A_THREAD, 1), _LEAST
    size = max(least, -(-n // most))
    return max(-(-n // size), 1), size


class _Part(MemoryObjectHolder):
    """A buffer from a byte on, as an argument of a kernel."""

    def __init__(self, of, offset):
        self._of, self._offset, self._root = of, offset, getattr(of, "_root", None)

    def _checked(self):
        return (self._of._checked() if isinstance(self._of, MemoryObject) else self._of._bytes)[self._offset :]

    _memory = property(_checked)

    @property
    def _bytes(self):
        return self._of._bytes[self._offset :]

    def _seen(self, writes=False):
        return self._of._seen(writes)[self._offset :]


def argument(value, parameter):
    """What a kernel is given for a parameter of a piece of C."""
    if isinstance(value, Array):
        if value.base_data is None:
            return None
        return _Part(value.base_data, value.offset) if value.offset else value.base_data
    if isinstance(value, (MemoryObjectHolder, SVMPointer)) or value is None or not isinstance(parameter, ScalarArg):
        return value
    return np.asarray(value).astype(parameter.dtype)[()] if parameter.dtype.kind != "V" else value


class Parameters:
    """The parameters of a piece of C."""

    def __init__(self, arguments):
        self.all = parse_arg_list(arguments)
        self.vectors = [k for k, a in enumerate(self.all) if isinstance(a, VectorArg)]

    def declared(self, *more):
        """As a list in C."""
        return ", ".join([*(_declarator(a) for a in self.all), *more])

    def given(self, args):
        """What a kernel is given."""
        return [argument(value, a) for value, a in zip(args, self.all, strict=True)]

    def first_array(self, args):
        """The array that says how many elements there are, or None."""
        if len(args) != len(self.all):
            raise TypeError(f"{len(self.all)} arguments are needed, {len(args)} are given")
        return next((args[k] for k in self.vectors if isinstance(args[k], Array)), None)

    def dtypes(self):
        """The types of all."""
        return {a.dtype for a in self.all if not isinstance(a, OtherArg)}


def _declarator(a):
    return f"__global {dtype_to_ctype(a.dtype)} *{a.name}" if isinstance(a, VectorArg) else a.declarator()


def preamble(dtypes, own=""):
    """What a text needs before a program's own preamble: complex numbers, where there are any."""
    kinds = {np.dtype(d) for d in dtypes}
    if not any(k.kind == "c" for k in kinds):
        return own
    return f"#define PYOPENCL_DEFINE_CDOUBLE\n#include <pyopencl-complex.h>\n{own}"


def statement(text):
    """A piece of C as a statement: its last semicolon may be missing."""
    return f"{text}\n;"


def uses(text, name):
    """Whether a piece of C names something."""
    return re.search(rf"\b{name}\b", text) is not None


def build(context, text, name, options):
    """The kernel of that name."""
    return getattr(Program(context, text).build(options), name)


def launch(kernel, queue, count, args, wait_for=None):
    """Run so many work items."""
    return kernel(queue, (count,), None, *args, wait_for=wait_for)


def ready(wait_for, args):
    """The events that a kernel waits for: given ones, and those of its arrays."""
    return [*(wait_for or ()), *(e for a in args if isinstance(a, Array) for e in a.events)]
