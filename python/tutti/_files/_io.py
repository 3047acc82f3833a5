"""Arrays in files: NumPy's .npy and .npz formats, and raw bytes.

A file that is written to a path appears whole or not at all: the bytes go to a new file beside it, which is flushed to
the disk and then takes its name.
"""

import os
import stat
import sys
from collections.abc import Mapping

from .. import _core

_MAGIC = b"\x93NUMPY"
_PIECE = 1 << 24  # bytes written at once: what a compressor takes in some tenths of a second, for Ctrl-C
_HEADER_LIMIT = 10000
_PICKLED = "Object arrays cannot be loaded when allow_pickle=False"


# ---- files


def _is_path(file):
    return isinstance(file, (str, bytes, os.PathLike))


def _try(f, *args):
    """What need not succeed."""
    try:
        return f(*args)
    except OSError:
        return None


def _sync_folder(path):
    """The new name reaches the disk too, where the system can say so for a folder."""
    fd = _try(os.open, os.path.dirname(path) or ".", os.O_RDONLY)
    if fd is not None:
        _try(os.fsync, fd)
        os.close(fd)


class _replacing:
    """A file to write that takes the place of `path` when all went well."""

    def __init__(self, path):
        self.path = os.path.realpath(os.fspath(path))
        self.before = _try(os.stat, self.path)
        # A pipe or a terminal is written to: there is nothing to replace.
        self.plain = self.before is not None and not stat.S_ISREG(self.before.st_mode)

    def __enter__(self):
        if self.plain:
            self.file = open(self.path, "wb")  # noqa: SIM115 (closed at the end of the block)
            return self.file
        folder, name = os.path.split(self.path)
        mark = os.urandom(6).hex()
        name = b".%s.%s" % (name, mark.encode()) if isinstance(name, bytes) else f".{name}.{mark}"
        self.new = os.path.join(folder, name)
        fd = os.open(self.new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        self.file = open(fd, "wb")  # noqa: SIM115
        return self.file

    def __exit__(self, kind, *unused):
        if self.plain:
            self.file.close()
            return
        try:
            if kind is None:
                self.file.flush()
                os.fsync(self.file.fileno())
            self.file.close()
            if kind is None:
                if self.before is not None:
                    _try(os.chmod, self.new, stat.S_IMODE(self.before.st_mode))
                os.replace(self.new, self.path)
                _sync_folder(self.path)
                self.new = None
        finally:
            if self.new is not None:
                _try(self.file.close)
                _try(os.unlink, self.new)


def _put(file, data):
    """All bytes of a buffer; raw files may take fewer at a time."""
    view = memoryview(data)
    while view.nbytes:
        done = file.write(view[:_PIECE])
        view = view[len(view[:_PIECE]) if done is None else done :]


def _left(file):
    """Bytes that a regular file can still give; None when nobody knows."""
    try:
        status = os.fstat(file.fileno())
        return status.st_size - file.tell() if stat.S_ISREG(status.st_mode) else None
    except (OSError, AttributeError, ValueError):
        return None


def _get(file, size):
    """`size` bytes, or what there is if less. A size that is a lie takes no memory."""
    left = _left(file) if size > _PIECE else size
    out = bytearray(size if left is None and size <= _PIECE else min(size, left or 0))
    if out and hasattr(file, "readinto"):
        at, view = 0, memoryview(out)
        while at < len(out):
            done = file.readinto(view[at : at + _PIECE])
            if not done:
                break
            at += done
        view.release()
        return out if at == len(out) else out[:at]
    out = bytearray()
    while len(out) < size:
        part = file.read(min(size - len(out), _PIECE))
        if not part:
            break
        out += part
    return out


def _bytes_of(a):
    """The elements in C order; without a copy where they lie so on the host."""
    if a.size == 0 or a.dtype.name == "bfloat16":
        return memoryview(a.tobytes())
    view = memoryview(a.cpu())
    if not view.c_contiguous:
        view = memoryview(a.cpu().copy())
    flat = _core.frombuffer(view, "uint8")  # bytes, whatever the elements are
    return memoryview(flat)


# ---- .npy


def _header(a):
    if a.dtype.name == "bfloat16":
        raise TypeError("the .npy format has no bfloat16: save a.astype('float32')")
    # Columns are stored as such: what is contiguous in NumPy's other order is not turned around.
    turned = a.ndim > 1 and a.flags.f_contiguous and not a.flags.c_contiguous
    text = f"{{'descr': {a.dtype.str!r}, 'fortran_order': {turned}, 'shape': {a.shape!r}, }}".encode("latin1")
    pad = -(len(_MAGIC) + 4 + len(text) + 1) % 64
    text += b" " * pad + b"\n"
    return _MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text, a.T if turned else a


def _write_array(file, a):
    header, a = _header(a)
    _put(file, header)
    _put(file, _bytes_of(a))


def _parse(text, limit):
    if len(text) > limit:
        raise ValueError(
            f"Header info length ({len(text)}) is large and may not be safe to load securely.\n"
            "To allow loading, adjust `max_header_size` or fully trust the `.npy` file using `allow_pickle=True`."
        )
    import ast

    try:
        d = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        raise ValueError(f"Cannot parse header: {text!r}") from e
    if not isinstance(d, dict):
        raise ValueError(f"Header is not a dictionary: {d!r}")
    if d.keys() != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"Header does not contain the correct keys: {sorted(map(str, d))!r}")
    shape = d["shape"]
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"shape is not valid: {shape!r}")
    if not isinstance(d["fortran_order"], bool):
        raise ValueError(f"fortran_order is not a valid bool: {d['fortran_order']!r}")
    return d["descr"], d["fortran_order"], shape


def _read_header(file, limit):
    """After the magic: (dtype, are its bytes in the other order, Fortran order, shape)."""
    version = _get(file, 2)
    width = {1: 2, 2: 4, 3: 4}.get(version[0] if len(version) == 2 else 0)
    if width is None:
        raise ValueError(f"we only support format version (1,0), (2,0), and (3,0), not {tuple(version)}")
    size = _get(file, width)
    text = _get(file, min(int.from_bytes(size, "little"), max(limit, _HEADER_LIMIT) + 1)) if len(size) == width else b""
    if len(size) < width or len(text) < min(int.from_bytes(size, "little"), limit + 1):
        raise ValueError("EOF: reading array header, the file ends too early")
    descr, turned, shape = _parse(bytes(text).decode("utf8" if version[0] == 3 else "latin1"), limit)
    if descr == "|O" or (isinstance(descr, str) and "O" in descr):
        raise ValueError(_PICKLED)
    if not isinstance(descr, str) or descr[:1] not in "<>|=":
        raise ValueError(f"descr is not a type that tutti has: {descr!r}")
    try:
        dtype = _core.dtype(descr[1:])
    except TypeError:
        raise ValueError(f"descr is not a type that tutti has: {descr!r}") from None
    native = "<" if sys.byteorder == "little" else ">"
    return dtype, descr[0] in "<>" and descr[0] != native, turned, shape


def _swap(data, dtype):
    """The bytes of every number the other way round."""
    import array

    part = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    code = next(c for c in "BHILQ" if array.array(c).itemsize == part)
    numbers = array.array(code)
    numbers.frombytes(data)
    numbers.byteswap()
    return bytearray(numbers.tobytes())


def _count(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def _shaped(flat, turned, shape):
    return flat.reshape(shape[::-1]).T if turned else flat.reshape(shape)


def _read_array(file, limit=_HEADER_LIMIT):
    """After the magic."""
    dtype, other, turned, shape = _read_header(file, limit)
    size = _count(shape) * dtype.itemsize
    data = _get(file, size)
    if len(data) < size:
        raise ValueError(f"EOF: reading array data, expected {size} bytes got {len(data)}")
    if not data:
        return _core.functions["empty"](shape, dtype)
    return _shaped(_core.frombuffer(_swap(data, dtype) if other else data, dtype), turned, shape)


def _map(path, mode, limit):
    if mode not in ("r", "c"):
        raise ValueError(f"mmap_mode {mode!r} is not possible: arrays write to memory of their own; use 'r' or 'c'")
    import mmap

    with open(path, "rb") as file:
        if _get(file, len(_MAGIC)) != _MAGIC:
            raise ValueError("only .npy files can be mapped")
        dtype, other, turned, shape = _read_header(file, limit)
        at, n = file.tell(), _count(shape)
        if other or n == 0:
            return _read_array_at_start(path, limit)
        access = mmap.ACCESS_READ if mode == "r" else mmap.ACCESS_COPY
        memory = mmap.mmap(file.fileno(), 0, access=access)
    return _shaped(_core.frombuffer(memory, dtype, n, at), turned, shape)


def _read_array_at_start(path, limit):
    with open(path, "rb") as file:
        _get(file, len(_MAGIC))
        return _read_array(file, limit)


# ---- .npz


class NpzFile(Mapping):
    """The arrays of an .npz file by name, each read when it is asked for. Closes with `close` or a `with` block."""

    def __init__(self, file, own=False, limit=_HEADER_LIMIT):
        import zipfile

        self.zip, self._own, self._limit = zipfile.ZipFile(file), file if own else None, limit
        names = self.zip.namelist()
        self._names = {n.removesuffix(".npy"): n for n in names}
        self.files = list(self._names)

    def __getitem__(self, key):
        name = self._names.get(key, key if key in self._names.values() else None)
        if name is None:
            raise KeyError(f"{key} is not a file in the archive")
        with self.zip.open(name) as file:
            magic = file.read(len(_MAGIC))
            return _read_array(file, self._limit) if magic == _MAGIC else magic + file.read()

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def close(self):
        self.zip.close()
        if self._own is not None:
            self._own.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self):  # `load(path)["x"]` names nobody who could close it
        if hasattr(self, "zip"):
            self.close()

    def __repr__(self):
        return f"NpzFile with keys: {', '.join(self.files[:5])}{', ...' if len(self.files) > 5 else ''}"


def _write_zip(file, args, named, compress):
    import zipfile

    arrays = dict(named)
    for k, a in enumerate(args):
        if f"arr_{k}" in arrays:
            raise ValueError(f"Cannot use un-named variables and keyword arr_{k}")
        arrays[f"arr_{k}"] = a
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method, allowZip64=True) as archive:
        for name, a in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as part:
                _write_array(part, _core.asarray(a))


def _save_zip(file, args, named, compress):
    if not _is_path(file):
        _write_zip(file, args, named, compress)
        return
    with _replacing(_with_ending(file, ".npz")) as new:
        _write_zip(new, args, named, compress)


def _with_ending(path, ending):
    path = os.fspath(path)
    ending = ending.encode() if isinstance(path, bytes) else ending
    return path if path.endswith(ending) else path + ending


# ---- what the package shows


def save(file, arr, allow_pickle=True):
    """Save an array to a path or an open file in the .npy format. A file at a path appears whole or not at all.

    Parameters
    ----------
    file : str, path or file
        Where to.
    arr : array_like
        The array.
    allow_pickle : bool, optional
        Taken for NumPy's sake: nothing is ever pickled.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> tt.save(path, tt.arange(3))
    >>> tt.load(path)
    array([0, 1, 2])
    """
    a = _core.asarray(arr)
    if not _is_path(file):
        _write_array(file, a)
        return
    header, ordered = _header(a)  # what cannot be saved leaves nothing behind
    with _replacing(_with_ending(file, ".npy")) as new:
        _put(new, header)
        _put(new, _bytes_of(ordered))


def savez(file, *args, allow_pickle=True, **kwds):
    """Save arrays to an .npz file, under their keywords or as arr_0, arr_1, ...

    Parameters
    ----------
    file : str, path or file
        Where to.
    allow_pickle : bool, optional
        Taken for NumPy's sake: nothing is ever pickled.
    **kwds : array_like
        Arrays by name.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npz")
    >>> tt.savez(path, x=tt.arange(3))
    >>> tt.load(path)["x"]
    array([0, 1, 2])
    """
    _save_zip(file, args, kwds, False)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """Save arrays to a compressed .npz file, under their keywords or as arr_0, arr_1, ...

    Parameters
    ----------
    file : str, path or file
        Where to.
    allow_pickle : bool, optional
        Taken for NumPy's sake: nothing is ever pickled.
    **kwds : array_like
        Arrays by name.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npz")
    >>> tt.savez_compressed(path, x=tt.arange(3))
    >>> tt.load(path)["x"]
    array([0, 1, 2])
    """
    _save_zip(file, args, kwds, True)


def load(
    file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=_HEADER_LIMIT
):
    """An array out of an .npy file, or an NpzFile. Nothing is ever unpickled.

    Parameters
    ----------
    file : str, path or file
        The file.
    mmap_mode : {None, 'r', 'c'}, optional
        Read the file where it is looked at.
    allow_pickle : bool, optional
        Taken for NumPy's sake: nothing is ever pickled.
    fix_imports : bool, optional
        Taken for NumPy's sake: nothing is ever pickled.
    encoding : str, optional
        The encoding of the text.
    max_header_size : int, optional
        The longest header that is read.

    Returns
    -------
    ndarray or NpzFile
        The array, or the arrays by name.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.npy")
    >>> tt.save(path, tt.arange(3))
    >>> tt.load(path)
    array([0, 1, 2])
    """
    limit = (1 << 62) if allow_pickle else max_header_size
    path = _is_path(file)
    if path and mmap_mode is not None:
        return _map(file, mmap_mode, limit)
    stream = open(os.fspath(file), "rb") if path else file  # noqa: SIM115 (an NpzFile keeps it)
    keep = False
    try:
        magic = bytes(_get(stream, len(_MAGIC)))
        if magic == _MAGIC:
            return _read_array(stream, limit)
        if not magic:
            raise EOFError("No data left in file")
        if magic[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            stream.seek(-len(magic), os.SEEK_CUR)
            archive, keep = NpzFile(stream, path, limit), True
            return archive
    finally:
        if path and not keep:
            stream.close()
    if not allow_pickle:
        raise ValueError("Cannot load file containing pickled data when allow_pickle=False")
    raise ValueError("this file holds pickled data, which tutti does not read")


def _numbers(text, sep, dtype):
    words = text.split(sep.strip() or None)
    kind = {"c": complex, "f": float}.get(dtype.kind, int)
    return [kind(w) for w in words if w.strip()]


def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """An array of one axis out of a file of raw elements, or of text with separators.

    Parameters
    ----------
    file : str, path or file
        The file.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    count : int, optional
        How many elements; -1: all.
    sep : str, optional
        What stands between the numbers of a text; '': bytes.
    offset : int, optional
        Bytes before the first element.
    like : array_like, optional
        Taken for NumPy's sake.

    Returns
    -------
    ndarray
        Of one axis.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> tt.arange(3).tofile(path)
    >>> tt.fromfile(path, dtype="int64")
    array([0, 1, 2])
    """
    dtype = _core.dtype(dtype)
    if sep and offset:
        raise TypeError("'offset' argument only permitted for binary files")
    stream = open(os.fspath(file), "rb") if _is_path(file) else file  # noqa: SIM115 (closed below if it is ours)
    try:
        if sep:
            text = stream.read()
            items = _numbers(text.decode() if isinstance(text, bytes) else text, sep, dtype)
            return _core.array(items if count < 0 else items[:count], dtype=dtype)
        if offset:
            stream.seek(offset, os.SEEK_CUR)
        data = stream.read() if count < 0 else _get(stream, count * dtype.itemsize)
    finally:
        if stream is not file:
            stream.close()
    n = len(data) // dtype.itemsize
    if n == 0:
        return _core.functions["empty"]((0,), dtype)
    return _core.frombuffer(bytearray(data), dtype, n)


def tofile(a, fid, sep="", format="%s"):  # noqa: A002 (NumPy's name)
    """Write the elements in C order to a path or an open file: as raw bytes, or as text with separators."""
    if sep:
        data = sep.join(format % x for x in a.ravel().tolist()).encode()
    else:
        data = _bytes_of(a)
    if not _is_path(fid):
        _put(fid, data)
        return
    with _replacing(fid) as new:
        _put(new, data)
