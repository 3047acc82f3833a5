"""pycuda.gpuarray.vec: CUDA's vector types as structures of NumPy's: vec.float3, vec.make_float3(x, y, z)."""

import numpy as np

from . import tools

_ELEMENTS = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip
_LARGE = "long", "ulong", "longlong", "ulonglong", "double"  # of these pycuda has vectors up to two


class vec:  # noqa: N801 (PyCUDA's name)
    """The types by name, and make_... of each."""

    types = {}  # (element, how many): the type
    type_to_scalar_and_count = {}


def _maker(kind, count):
    def make(*values):
        if len(values) not in (0, count):
            raise ValueError(f"{count} values make a vector of {count}, {len(values)} are given")
        return np.array(tuple(values) or (0,) * count, kind)[()]

    return make


def _add(name, element, count):
    kind = np.dtype([("xyzw"[k], element) for k in range(count)])
    tools.get_or_register_dtype(f"{name}{count}", kind)
    setattr(vec, f"{name}{count}", kind)
    setattr(vec, f"make_{name}{count}", staticmethod(_maker(kind, count)))
    vec.types.setdefault((np.dtype(element), count), kind)
    vec.type_to_scalar_and_count[kind] = np.dtype(element), count


for _name, _element in _ELEMENTS.items():
    for _count in range(1, 3 if _name in _LARGE else 5):
        _add(_name, _element, _count)
