"""Numba's functions take our arrays: they work on the memory that NumPy would be shown, which is read-only."""

import numpy as np
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.pythonapi import NativeValue, unbox
from numba.extending import typeof_impl
from numba.np import numpy_support

from .. import _core


class TuttiArray(types.Array):
    """An array type whose objects are asked for their memory."""

    def __init__(self, dtype, ndim, layout):
        super().__init__(dtype, ndim, layout, readonly=True, name=f"tutti({dtype}, {ndim}d, {layout})")

    def plain(self):
        return types.Array(self.dtype, self.ndim, self.layout, readonly=True)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return self.plain().copy(dtype, ndim, layout, readonly)

    def can_convert_to(self, typingctx, other):
        return self.plain().can_convert_to(typingctx, other)


def _typeof(a, context):
    if a.__class__ is not _core.ndarray:  # an element
        return numpy_support.from_dtype(np.dtype(a.dtype.name))
    layout = "C" if a.flags.c_contiguous else "F" if a.flags.f_contiguous else "A"
    return TuttiArray(numpy_support.from_dtype(np.dtype(a.dtype.name)), a.ndim, layout)


def _unbox(typ, obj, c):
    convert = c.pyapi.unserialize(c.pyapi.serialize_object(np.asarray))
    shown = c.pyapi.call_function_objargs(convert, [obj])
    c.pyapi.decref(convert)
    failed = cgutils.is_null(c.builder, shown)
    out = cgutils.alloca_once(c.builder, c.context.get_value_type(typ))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.unbox(typ.plain(), shown).value, out)
    return NativeValue(c.builder.load(out), is_error=failed, cleanup=lambda: c.pyapi.decref(shown))


def register():
    """Tell Numba of the type."""
    register_default(TuttiArray)(models.ArrayModel)
    typeof_impl.register(_core.ndarray)(_typeof)
    for kind in "iufcb":
        from .._names import classes

        typeof_impl.register(classes[kind])(_typeof)
    unbox(TuttiArray)(_unbox)
