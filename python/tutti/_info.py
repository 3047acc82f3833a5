"""Limits of types, and what the array API standard asks a library about itself."""

from . import _core
from ._device import device, devices

__all__ = ["finfo", "iinfo", "isdtype", "__array_namespace_info__"]


def _dtype_of(x):
    return x.dtype if isinstance(x, _core.ndarray) else _core.dtype(x)


class finfo:
    """Limits of a float type (of the parts of a complex one).

    Parameters
    ----------
    dtype : dtype
        The type.

    Examples
    --------
    >>> tt.finfo("float64").bits
    64
    >>> tt.finfo("float32").eps
    1.1920928955078125e-07
    """

    # bits, mantissa bits stored, least exponent of a normal number, greatest power of two, decimal digits
    _TABLE = {
        "float16": (16, 10, -14, 16, 3),
        "bfloat16": (16, 7, -126, 128, 2),
        "float32": (32, 23, -126, 128, 6),
        "float64": (64, 52, -1022, 1024, 15),
    }

    def __init__(self, dtype):
        dtype = _dtype_of(dtype)
        name = {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)
        if name not in self._TABLE:
            raise ValueError(f"data type {dtype!r} not inexact")
        bits, mantissa, least, greatest, digits = self._TABLE[name]
        self.bits = bits
        self.eps = 2.0**-mantissa
        self.max = (2.0 - self.eps) * 2.0 ** (greatest - 1)
        self.min = -self.max
        self.smallest_normal = 2.0**least
        self.smallest_subnormal = 2.0 ** (least - mantissa)
        self.dtype = _core.dtype(name)
        self.precision = digits
        self.nmant, self.machep, self.negep = mantissa, -mantissa, -mantissa - 1
        self.iexp = self.nexp = bits - 1 - mantissa
        self.minexp, self.maxexp = least, greatest

    def __str__(self):
        def shown(name):
            return f"{name} = {_core.array(getattr(self, name), dtype=self.dtype)}"

        line = "-" * 63
        return "\n".join([
            f"Machine parameters for {self.dtype}", line,
            f"precision = {self.precision:3}   {shown('resolution')}",
            f"machep = {self.machep:6}   {shown('eps')}",
            f"negep = {self.negep:7}   {shown('epsneg')}",
            f"minexp = {self.minexp:6}   {shown('tiny')}",
            f"maxexp = {self.maxexp:6}   {shown('max')}",
            f"nexp = {self.nexp:8}   min = -max",
            f"{shown('smallest_normal')}   {shown('smallest_subnormal')}", line,
        ])  # fmt: skip

    def __repr__(self):
        least, most, step = (_core.array(x, dtype=self.dtype) for x in (self.min, self.max, self.resolution))
        if self.dtype == "float16":
            least, most = f"{self.min:.5e}", f"{self.max:.5e}"
        return f"finfo(resolution={step}, min={least}, max={most}, dtype={self.dtype})"

    @property
    def tiny(self):
        return self.smallest_normal

    @property
    def epsneg(self):
        return self.eps / 2

    @property
    def resolution(self):
        return float(f"1e-{self.precision}")


class iinfo:
    """Limits of an integer type.

    Parameters
    ----------
    type : dtype
        The type.

    Examples
    --------
    >>> tt.iinfo("int8").max
    127
    """

    def __init__(self, type):  # noqa: A002 (NumPy's name)
        dtype = _dtype_of(type)
        if dtype.kind not in "iu":
            raise ValueError(f"Invalid integer data type {dtype.kind!r}.")
        self.bits = dtype.itemsize * 8
        self.min = -(1 << (self.bits - 1)) if dtype.kind == "i" else 0
        self.max = (1 << (self.bits - (dtype.kind == "i"))) - 1
        self.dtype, self.kind, self.key = dtype, dtype.kind, f"{dtype.kind}{self.bits}"

    def __str__(self):
        line = "-" * 63
        return f"Machine parameters for {self.dtype}\n{line}\nmin = {self.min}\nmax = {self.max}\n{line}\n"

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "fV",
    "complex floating": "c",
    "numeric": "iufVc",
}


def isdtype(dtype, kind):
    """Is a dtype of that kind ("bool", "integral", "real floating", ...), that dtype, or any of a tuple of these?

    Parameters
    ----------
    dtype : dtype
        The type.
    kind : str, dtype or tuple of these
        What it may be.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.isdtype(tt.float32, "real floating")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return _core.dtype(dtype).kind in _KINDS[kind]
    if isinstance(kind, str):
        raise ValueError(f"kind argument is a string, but {kind!r} is not a known kind name.")
    return _core.dtype(dtype) == _core.dtype(kind)


class __array_namespace_info__:  # noqa: N801 (the standard's name)
    """Capabilities, devices and types, as the array API standard asks for them."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return device()

    def devices(self):
        return tuple(devices())

    def default_dtypes(self, *, device=None):
        return {
            "real floating": _core.float64,
            "complex floating": _core.complex128,
            "integral": _core.int64,
            "indexing": _core.int64,
        }

    def dtypes(self, *, device=None, kind=None):
        """The types that the standard names: the floats of 16 bits are none of them."""
        kinds = "biufc" if kind is None else "".join(_KINDS[k] for k in (kind if isinstance(kind, tuple) else (kind,)))
        return {d.name: d for d in _core.dtypes if d.kind in kinds and not (d.kind in "fV" and d.itemsize < 4)}
