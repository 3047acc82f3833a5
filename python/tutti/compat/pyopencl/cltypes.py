"""pyopencl.cltypes: OpenCL C's types as NumPy's; vectors are structures: cltypes.float4, make_float4(x, y, z, w)."""

import warnings

import numpy as np

from .tools import get_or_register_dtype

_ELEMENTS = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip
_COUNTS = 2, 3, 4, 8, 16
half = np.float16
vec_types = {}  # (element's type, how many): the type
vec_type_to_scalar_and_count = {}


def _vector(element, count):
    """A vector's type: fields s0 ... with titles x y z w; three lie as four."""
    width = 4 if count == 3 else count
    fields = [(("xyzw"[k], f"s{k}") if k < 4 else f"s{k}", element) for k in range(count)]
    fields += [("padding0", element)] * (width - count)
    return np.dtype(fields)


def _maker(kind, count):
    def make(*values):
        if len(values) < count:
            warnings.warn("default values of vectors are deprecated: use zeros_...", DeprecationWarning, stacklevel=2)
        if len(values) > count:
            raise ValueError(f"a vector of {count} takes no {len(values)} values")
        whole = (*values, *(0,) * (len(kind.names) - len(values)))
        return np.array(whole, kind)[()]

    return make


def _filler(make, count):
    return lambda value: make(*[value] * count)


def _constant(fill, value):
    return lambda: fill(value)


def _add(name, element, count):
    kind = get_or_register_dtype(f"{name}{count}", _vector(np.dtype(element), count))
    make = _maker(kind, count)
    fill = _filler(make, count)
    globals().update({
        f"{name}{count}": kind, f"make_{name}{count}": make, f"filled_{name}{count}": fill,
        f"zeros_{name}{count}": _constant(fill, 0), f"ones_{name}{count}": _constant(fill, 1),
    })  # fmt: skip
    vec_types[np.dtype(element), count] = kind
    vec_type_to_scalar_and_count[kind] = np.dtype(element), count


for _name, _element in _ELEMENTS.items():
    globals()[_name] = _element
    for _count in _COUNTS:
        _add(_name, _element, _count)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.cltypes.{name}")
