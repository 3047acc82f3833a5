"""Smaller names of NumPy's: arrays as they are required, types in words, text into arrays, files as memory."""

from . import _core
from ._hooks import _warn

_f = _core.functions


def iterable(y):
    """Can it be iterated over?

    Parameters
    ----------
    y : object
        What is asked about.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.iterable([1])
    True
    >>> tt.iterable(1)
    False
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True


def row_stack(tup, *, dtype=None, casting="same_kind"):
    """NumPy's old name of vstack.

    Parameters
    ----------
    tup : array_like
        The arrays.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional
        The rule of casts.

    Returns
    -------
    ndarray
        The whole.

    Examples
    --------
    >>> tt.row_stack([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    _warn("DeprecationWarning", "`row_stack` alias is deprecated. Use `np.vstack` directly.")
    return _f["vstack"](tup, dtype=dtype, casting=casting)


def common_type(*arrays):
    """The inexact type that arrays have together; integers count as float64.

    Parameters
    ----------
    *arrays : array_like
        The arrays.

    Returns
    -------
    dtype
        The type.

    Examples
    --------
    >>> tt.common_type(tt.arange(3), tt.ones(2, dtype="float32"))
    <class 'numpy.float64'>
    """
    types = []
    for a in arrays:
        t = (a if isinstance(a, _core.ndarray) else _core.asarray(a)).dtype
        if t.kind == "b":
            raise TypeError("can't get common type for non-numeric array")
        types.append(t if t.kind in "fc" else _core.float64)
    return (_f["result_type"](*types) if types else _core.float16).type


def min_scalar_type(a):
    """The smallest type that holds a number; of arrays their own.

    Parameters
    ----------
    a : array_like
        The array.

    Returns
    -------
    dtype
        The type.

    Examples
    --------
    >>> tt.min_scalar_type(300)
    dtype('uint16')
    """
    a = _core.asarray(a)
    if a.ndim or a.dtype.kind == "b":
        return a.dtype
    value = a.item()
    if a.dtype.kind in "iu":
        names = ("uint8", "uint16", "uint32", "uint64") if value >= 0 else ("int8", "int16", "int32", "int64")
        limits = (8, 16, 32, 64) if value >= 0 else (7, 15, 31, 63)
        size = value if value >= 0 else -value - 1
        return next(_core.dtype(n) for n, bits in zip(names, limits) if size >> bits == 0)
    parts = [abs(value.real), abs(value.imag)] if a.dtype.kind == "c" else [abs(value)]
    steps = [(65000, "float16"), (3.4e38, "float32")] if a.dtype.kind == "f" else [(3.4e38, "complex64")]
    for most, name in steps:
        if all(p < most or p - p != 0 for p in parts):
            return _core.dtype(name)
    return a.dtype


def mask_indices(n, mask_func, k=0):
    """The indices where mask_func(ones((n, n)), k) is not zero.

    Parameters
    ----------
    n : int
        How many rows and columns.
    mask_func : function
        `triu`, `tril` or the like.
    k : int, optional
        The diagonal: 0 the main one, above if positive, below if negative.

    Returns
    -------
    tuple of ndarray
        An array of indices for each axis.

    Examples
    --------
    >>> tt.mask_indices(2, tt.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    m = _f["ones"]((n, n), dtype="int64")
    return _f["nonzero"](mask_func(m, k) != 0)


def asarray_chkfinite(a, dtype=None, order=None):
    """An array without NaN and infinities, or a ValueError.

    Parameters
    ----------
    a : array_like
        The array.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.

    Returns
    -------
    ndarray
        The array.

    Examples
    --------
    >>> tt.asarray_chkfinite([1.0, 2.0])
    array([1., 2.])
    """
    a = _core.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not bool(_core.ops["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


_REQUIREMENTS = {
    "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A",
    "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
}  # fmt: skip


def require(a, dtype=None, requirements=None, *, like=None):
    """An array in the order of memory, and with the rights, that requirements ("C", "F", "W", "O", "E") name.

    Parameters
    ----------
    a : array_like
        The array.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    requirements : str or sequence of str, optional
        'C', 'F', 'A', 'W', 'O' and their long names.
    like : array_like, optional
        Taken for NumPy's sake.

    Returns
    -------
    ndarray
        The array.

    Examples
    --------
    >>> tt.require(tt.ones((2, 3)).T, requirements="C").flags.c_contiguous
    True
    """
    wanted = {_REQUIREMENTS[str(r).upper()] for r in requirements or ()}
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    convert = _core.asarray if "E" in wanted else _core.asanyarray
    a = convert(a, dtype=dtype, order="F" if "F" in wanted else "C" if "C" in wanted else "A")
    lacks = ("W" in wanted and not a.flags.writeable) or ("O" in wanted and not a.flags.owndata)
    return a.copy() if lacks else a


def typename(char):
    """What one of NumPy's letters for types means, in words.

    Parameters
    ----------
    char : str
        The letter.

    Returns
    -------
    str
        The words.

    Examples
    --------
    >>> tt.typename("d")
    'double precision'
    """
    names = {
        "S1": "character", "?": "bool", "B": "unsigned char", "D": "complex double precision",
        "G": "complex long double precision", "F": "complex single precision", "I": "unsigned integer",
        "H": "unsigned short",
        "L": "unsigned long integer", "O": "object", "Q": "unsigned long long integer", "S": "string", "U": "unicode",
        "V": "void", "b": "signed char", "d": "double precision", "g": "long precision", "f": "single precision",
        "i": "integer", "h": "short", "l": "long integer", "q": "long long integer",
    }  # fmt: skip
    return names[char]


def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    """The numbers of a text, between `sep`; whitespace stands for any amount of it.

    Parameters
    ----------
    string : str
        The text.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    count : int, optional
        How many elements; -1: all.
    sep : str
        What stands between the numbers of a text; '': bytes.
    like : array_like, optional
        Taken for NumPy's sake.

    Returns
    -------
    ndarray
        Of one axis.

    Examples
    --------
    >>> tt.fromstring("1 2 3", dtype="int64", sep=" ")
    array([1, 2, 3])
    """
    dtype = _core.dtype(dtype)
    if sep == "":
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    if isinstance(string, bytes):
        string = string.decode("latin1")
    words = string.split() if sep.isspace() else string.split(sep.strip())
    if words and not words[-1].strip():
        words.pop()
    words = words if count < 0 else words[:count]
    number = {"c": complex, "f": float, "b": lambda w: bool(int(w))}.get(dtype.kind, int)
    try:
        values = [number(w) for w in words]
    except ValueError as e:
        raise ValueError("string or file could not be read to its end due to unmatched data") from e
    if len(values) < count:
        raise ValueError(f"string is smaller than requested size: {len(values)} numbers, not {count}")
    return _core.array(values, dtype=dtype)


class memmap(_core.ndarray):
    """A file as an array that is read where it is looked at: modes "r", and "c", whose writes stay in memory.

    Parameters
    ----------
    filename : str, path or file
        The file.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    mode : {'r', 'c'}, optional
        To be read, or written to without a change of the file.
    offset : int, optional
        Bytes before the first element.
    shape : int or tuple of int, optional
        The lengths of the axes.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> tt.arange(3).tofile(path)
    >>> tt.memmap(path, dtype="int64").sum()
    memmap(3)
    """

    def __new__(cls, filename, dtype="uint8", mode="r", offset=0, shape=None, order="C"):
        import mmap
        import os

        names = {"readonly": "r", "copyonwrite": "c", "readwrite": "r+", "write": "w+"}
        mode = names.get(mode, mode)
        if mode not in ("r", "c"):
            if mode in ("r+", "w+"):
                raise NotImplementedError("memmap is for reading: modes 'r' and 'c'; save() and tofile() write files")
            raise ValueError(f"mode must be one of {sorted([*names, *names.values()])!r} (got {mode!r})")
        dtype = _core.dtype(dtype)
        opened = not hasattr(filename, "read")
        file = open(os.fspath(filename), "rb") if opened else filename  # noqa: SIM115
        try:
            file.seek(0, 2)
            room = file.tell() - offset
            if shape is None:
                if room % dtype.itemsize:
                    raise ValueError("Size of the available data is not a multiple of the data-type size.")
                shape = (room // dtype.itemsize,)
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            size = 1
            for n in shape:
                size *= n
            if size * dtype.itemsize > room:
                raise ValueError("mmap length is greater than file size")
            start = offset - offset % mmap.ALLOCATIONGRANULARITY
            length = offset - start + size * dtype.itemsize
            data = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=start) if length else b""
        finally:
            if opened:
                file.close()
        flat = _core.frombuffer(data, dtype, size, offset - start) if size else _f["zeros"](0, dtype)
        a = flat.reshape(shape, order=order)
        self = (_core.array(a) if mode == "c" else a).view(cls)
        self.filename = os.path.abspath(os.fspath(filename)) if opened else getattr(filename, "name", None)
        self.offset, self.mode = offset, mode
        return self

    def __array_finalize__(self, obj):
        self.filename, self.offset, self.mode = (getattr(obj, n, None) for n in ("filename", "offset", "mode"))

    def flush(self):
        """Nothing is written back.

        Returns
        -------
        None

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
        >>> tt.arange(3).tofile(path)
        >>> tt.memmap(path).flush()
        """
