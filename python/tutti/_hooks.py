"""What the extension asks of the package: texts, views of elements, NumPy when it is needed."""

from . import _core, _device, _printing, exceptions


class flags:
    """Memory layout of an array, by attribute and by NumPy's keys; `writeable` can be set."""

    _KEYS = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")
    _OTHER = ("FNC", "FORC", "BEHAVED", "CARRAY", "FARRAY")
    _SHORT = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "O": "OWNDATA", "W": "WRITEABLE", "A": "ALIGNED",
              "X": "WRITEBACKIFCOPY", "B": "BEHAVED", "CA": "CARRAY", "FA": "FARRAY"}  # fmt: skip
    _LONG = {"CONTIGUOUS": "C_CONTIGUOUS", "FORTRAN": "F_CONTIGUOUS"}

    def __init__(self, a):
        object.__setattr__(self, "_array", a)

    def __getitem__(self, key):
        key = self._SHORT.get(key) or self._LONG.get(key, key)
        if key not in self._KEYS + self._OTHER:
            raise KeyError("Unknown flag")
        c, f, writeable, _ = _core._layout(self._array)
        return {
            "C_CONTIGUOUS": c,
            "F_CONTIGUOUS": f,
            "OWNDATA": self._array.base is None,
            "WRITEABLE": writeable,
            "ALIGNED": True,
            "WRITEBACKIFCOPY": False,
            "FNC": f and not c,
            "FORC": f or c,
            "BEHAVED": writeable,
            "CARRAY": writeable and c,
            "FARRAY": not c,  # NumPy asks no more: it is aligned
        }[key]

    def __setitem__(self, key, value):
        if self._SHORT.get(key, key) != "WRITEABLE":
            raise KeyError("Unknown flag")
        self._array.setflags(write=value)

    @property
    def num(self):
        """The flags as NumPy's bits."""
        bits = {"C": 1, "F": 2, "O": 4, "A": 256, "W": 1024}
        return sum(bit for key, bit in bits.items() if self[key])

    def __eq__(self, other):
        return self.num == other.num if isinstance(other, flags) else NotImplemented

    __hash__ = None

    def __getattr__(self, name):
        key = name.upper()
        if name.islower() and key in (*self._KEYS, *self._OTHER, *self._LONG):
            return self[key]
        raise AttributeError(f"'flags' object has no attribute {name!r}")

    def __dir__(self):
        return [name.lower() for name in (*self._KEYS, *self._OTHER, *self._LONG)] + ["num"]

    def __setattr__(self, name, value):
        if name != "writeable":
            raise AttributeError(f"flag {name!r} cannot be set")
        self["WRITEABLE"] = value

    def __repr__(self):
        return "".join(f"  {key} : {self[key]}\n" for key in self._KEYS)


def _flat_key(key):
    """The index of a flat iterator: one integer, slice, ellipsis or array of integers."""
    if isinstance(key, tuple) and len(key) > 1:
        raise IndexError(
            f"too many indices for flat iterator: flat iterator is 1-dimensional, but {len(key)} were indexed"
        )
    if isinstance(key, tuple):
        key = key[0] if key else ...
    if key is None:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
        )
    if key is not ... and not isinstance(key, (int, slice)) or isinstance(key, bool):
        key = _core.asarray(key)
        if key.dtype == "bool":
            raise IndexError("boolean indices for iterators are not supported")
        return key if key.size else key.astype("int64")
    return key


class flatiter:
    """The elements of an array in C order: an iterator that can be indexed and assigned to.

    Parameters
    ----------
    a : array_like
        The array.

    Examples
    --------
    >>> tt.eye(2).flat[3]
    array(1.)
    """

    base, index = None, 0

    def __init__(self, a):
        self.base, self.index, self._items = a, 0, None

    @property
    def coords(self):
        """The index of the element that comes."""
        return tuple(int(k) for k in _core.functions["unravel_index"](self.index, self.base.shape))

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self._items is None:
            self._items = self.base.ravel()
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return self._items[self.index - 1]

    def __getitem__(self, key):
        found = self.base.flatten()[_flat_key(key)]
        return found.copy() if isinstance(key, slice) else found

    def __setitem__(self, key, value):
        key, flat = _flat_key(key), self.base.ravel()
        places = _core.functions["arange"](flat.size)[key]
        if not isinstance(value, (bool, int, float, complex)):
            value = _core.asarray(value)
        if isinstance(key, int):
            try:
                value = _core.array(value, dtype=self.base.dtype)
            except (TypeError, ValueError, OverflowError):
                raise ValueError("Error setting single item of array.") from None
            if value.size != 1:
                raise ValueError("Error setting single item of array.")
        _core.functions["put"](flat, places, value)  # as often as there are places for it
        if not _core._shares(flat, self.base):
            self.base[...] = flat.reshape(self.base.shape)

    def __array__(self, dtype=None, copy=None):
        return self.copy().__array__(dtype)

    def copy(self):
        """The elements on one axis.

        Returns
        -------
        ndarray
            A copy.

        Examples
        --------
        >>> tt.eye(2).flat.copy()
        array([1., 0., 0., 1.])
        """
        return self.base.flatten()


def _namespace(a, *, api_version=None):
    import tutti

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
    return tutti


# Who decides about an operator between our array and an object of another library (core_rules in _core/core.h).
OURS, THEIRS, DEFER = range(3)


def rules(t):
    """Who decides where an object of type t stands beside an array of ours."""
    import sys

    ufunc = getattr(t, "__array_ufunc__", False)
    if ufunc is None:
        return DEFER
    numpy = sys.modules.get("numpy")
    if issubclass(t, _core.ndarray) or numpy and t is numpy.ndarray:
        return OURS
    if numpy and issubclass(t, numpy.ndarray):  # a matrix, masks, units
        return THEIRS if ufunc is not numpy.ndarray.__array_ufunc__ or t.__array_priority__ > 0 else OURS
    if numpy and issubclass(t, numpy.generic):
        return OURS
    if ufunc:
        return THEIRS
    shows = ("__array_interface__", "__cuda_array_interface__", "__dlpack__")
    asks = getattr(t, "__array_priority__", 0) or 0
    return THEIRS if asks > 0 and not any(hasattr(t, name) for name in shows) else OURS


def _their_operator(*args):
    from ._neighbours import _numpy as bridge

    return bridge.their_operator(*args)


def _arrow(*args, **kwargs):
    from ._neighbours import _libraries

    return _libraries.arrow_array(*args, **kwargs)


def _jax_array(a):
    from ._neighbours import _libraries

    return _libraries.jax_array(a)


def _number_class(kind):
    from . import _names

    return _names.classes[kind]


def _numpy(a, dtype=None, copy=True):
    from ._neighbours import _numpy as bridge

    return bridge.array(a, dtype, copy)


def _numpy_dtype(d):
    from ._neighbours import _numpy as bridge

    return bridge.dtype(d)


def _array_ufunc(*args, **kwargs):
    from ._neighbours import _numpy as bridge

    return bridge.array_ufunc(*args, **kwargs)


def _array_function(*args, **kwargs):
    from ._neighbours import _numpy as bridge

    return bridge.array_function(*args, **kwargs)


def _tofile(*args, **kwargs):
    from ._files import _io

    return _io.tofile(*args, **kwargs)


_methods = None  # the module, at the first use


def _method(name, *args, **kwargs):
    global _methods
    if _methods is None:
        from . import _methods
    return getattr(_methods, name)(*args, **kwargs)


def _ufunc_signature(f):
    """The parameters of a ufunc, for inspect."""
    from inspect import signature

    names = ["x"] if f.nin == 1 else [f"x{k + 1}" for k in range(f.nin)]
    outs = "out=None" if f.nout == 1 else ", ".join(f"out{k + 1}=None" for k in range(f.nout)) + ", /"
    marks = ", /, " if f.nout == 1 else ", "
    rest = ", *, where=True, casting='same_kind', order='K', dtype=None, subok=True"
    if f.signature:  # the array API standard wants `axis` named where there is one to name
        core = "axis=-1, keepdims=False, " if f.signature.endswith("->()") else ""
        rest = f", *, casting='same_kind', order='K', dtype=None, subok=True, {core}axes=None"
    return signature(eval(f"lambda {', '.join(names)}{marks}{outs}{rest}: None"))


def _warn(name, message):
    """A warning at the line of the program that called, whichever of our functions, or NumPy's, lie between."""
    from sys import _getframe
    from warnings import warn

    frame, level = _getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("tutti", "numpy"):
        frame, level = frame.f_back, level + 1
    warn(message, exceptions._warning(name), stacklevel=level)


_core.set_hooks(
    repr=_printing.array_repr,
    str=_printing.array_str,
    format=_printing.format_array,
    flags=flags,
    flat=flatiter,
    tofile=_tofile,
    method=_method,
    device=_device.device,
    device_numbered=_device.numbered,
    error_class=exceptions._class,
    warn=_warn,
    array_ufunc=_array_ufunc,
    array_function=_array_function,
    rules=rules,
    their_operator=_their_operator,
    arrow=_arrow,
    jax_array=_jax_array,
    number_class=_number_class,
    namespace=_namespace,
    numpy=_numpy,
    numpy_dtype=_numpy_dtype,
    ufunc_signature=_ufunc_signature,
)
