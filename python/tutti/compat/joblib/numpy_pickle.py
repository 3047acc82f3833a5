"""`dump` and `load`: files of pickles with the bytes of arrays between them, as joblib writes and reads them."""

import io
import os
import pickle
from pathlib import Path

_MAGIC = {  # how files begin, by what they were compressed with
    "zlib": (b"\x78", "z"),
    "gzip": (b"\x1f\x8b", "gz"),
    "bz2": (b"BZ", "bz2"),
    "xz": (b"\xfd7zXZ", "xz"),
    "lzma": (b"\x5d\x00", "lzma"),
}
_LATER = {"lz4": (b"\x04\x22\x4d\x18", "lz4")}
_REGISTERED = {}
_CHUNK = 16 << 20
_ALIGNMENT = 16


class NumpyArrayWrapper:
    """What stands in the pickle for an array, whose bytes follow."""

    def __init__(self, array):
        self.subclass, self.shape = type(array), array.shape
        self.order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        self.dtype = array.dtype
        self.allow_mmap = not array.dtype.hasobject
        self.numpy_array_alignment_bytes = _ALIGNMENT

    def write(self, array, file, protocol):
        if array.dtype.hasobject:
            pickle.dump(array, file, protocol=2)
            return
        try:
            at = file.tell()
        except (OSError, io.UnsupportedOperation):
            at = None
        if at is not None:
            padding = _ALIGNMENT - (at + 1) % _ALIGNMENT
            file.write(bytes([padding]) + b"\xff" * padding)
        import numpy as np

        flat = np.ascontiguousarray(array.T if self.order == "F" else array).reshape(-1).view(np.uint8)
        for start in range(0, flat.size, _CHUNK):
            file.write(memoryview(flat[start : start + _CHUNK]))

    def read(self, source):
        import numpy as np

        if source.mmap_mode is not None and self.allow_mmap:
            array = self.map(source, np)
        elif self.dtype.hasobject:
            array = pickle.load(source.file)
        else:
            self.pad(source.file)
            array = np.empty(self.shape[::-1] if self.order == "F" else self.shape, self.dtype)
            view = memoryview(array.reshape(-1).view(np.uint8))
            for start in range(0, len(view), _CHUNK):
                part = source.file.read(min(_CHUNK, len(view) - start))
                if len(part) != min(_CHUNK, len(view) - start):
                    raise ValueError("EOF: reading array data, the file ends before the array does")
                view[start : start + len(part)] = part
            array = array.T if self.order == "F" else array
        if source.native and not array.dtype.isnative and source.mmap_mode is None:
            array = array.astype(array.dtype.newbyteorder("="))
        if self.subclass is not np.ndarray and self.subclass is not np.memmap:
            return array.view(self.subclass)
        return array

    def pad(self, file):
        """Past the bytes that let the array begin at a multiple of 16; files of old versions have none."""
        if getattr(self, "numpy_array_alignment_bytes", None) is not None:
            file.read(file.read(1)[0])

    def map(self, source, np):
        mode = "r+" if source.mmap_mode == "w+" else source.mmap_mode
        self.pad(source.file)
        at = source.file.tell()
        array = np.memmap(source.name, dtype=self.dtype, shape=self.shape, order=self.order, mode=mode, offset=at)
        source.file.seek(at + array.nbytes)
        return array


NumpyArrayWrapper.__module__ = "joblib.numpy_pickle"


class _Pickler(pickle._Pickler):
    """Python's pickler of Python: bytes of arrays go into the file between its words."""

    def __init__(self, file, protocol):
        super().__init__(file, protocol=pickle.DEFAULT_PROTOCOL if protocol is None else protocol)
        self.file = file

    def save(self, obj, save_persistent_id=True):
        import numpy as np

        if type(obj) in (np.ndarray, np.matrix, np.memmap):
            if type(obj) is np.memmap:
                obj = np.asarray(obj)
            wrapper = NumpyArrayWrapper(obj)
            super().save(wrapper)
            if self.proto >= 4:
                self.framer.commit_frame(force=True)
            wrapper.write(obj, self.file, self.proto)
            return
        super().save(obj, save_persistent_id)

    def save_type(self, obj):
        if obj is NumpyArrayWrapper:  # joblib's, for whoever reads the file
            if self.proto >= 4:
                self.save("joblib.numpy_pickle")
                self.save("NumpyArrayWrapper")
                self.write(pickle.STACK_GLOBAL)
            else:
                self.write(pickle.GLOBAL + b"joblib.numpy_pickle\nNumpyArrayWrapper\n")
            self.memoize(obj)
            return
        pickle._Pickler.save_type(self, obj)

    dispatch = {**pickle._Pickler.dispatch, type: save_type}


class _Unpickler(pickle._Unpickler):
    def __init__(self, file, name, mmap_mode, native):
        super().__init__(file)
        self.file, self.name, self.mmap_mode, self.native = file, name, mmap_mode, native

    def find_class(self, module, name):
        if module.startswith("joblib.numpy_pickle"):
            if name == "NumpyArrayWrapper":
                return NumpyArrayWrapper
            raise ValueError(f"the file was written by a joblib before 0.10 ({name}); joblib itself converts it")
        return super().find_class(module, name)

    def load_build(self):
        super().load_build()
        if isinstance(self.stack[-1], NumpyArrayWrapper):
            self.stack.append(self.stack.pop().read(self))

    dispatch = {**pickle._Unpickler.dispatch, pickle.BUILD[0]: load_build}


class _Zlib(io.RawIOBase):
    """A stream of zlib's, without gzip's header."""

    def __init__(self, file, level=None):
        import zlib

        self.file, self.reading, self.at = file, level is None, 0
        self.code = zlib.decompressobj() if self.reading else zlib.compressobj(level)

    def readable(self):
        return self.reading

    def writable(self):
        return not self.reading

    def readinto(self, into):
        data = b""
        while not data and not self.code.eof:
            raw = self.code.unconsumed_tail or self.file.read(1 << 16)
            if not raw:
                raise EOFError("the compressed file ends before its end-of-stream marker")
            data = self.code.decompress(raw, len(into))
        into[: len(data)] = data
        return len(data)

    def write(self, data):
        data = memoryview(data).cast("B")
        self.file.write(self.code.compress(data))
        self.at += len(data)
        return len(data)

    def tell(self):
        return self.at

    def close(self):
        if not self.closed and not self.reading:
            self.file.write(self.code.flush())
        super().close()


def _opened(method, file, level=None):
    """The file of what is compressed in `file`; `level` when it is written."""
    import importlib

    mode = "rb" if level is None else "wb"
    if method in _REGISTERED:
        return _REGISTERED[method].fileobj_factory(file, mode)
    if method == "zlib":
        return io.BufferedReader(_Zlib(file), 1 << 16) if level is None else _Zlib(file, level)
    if method == "lz4":
        try:
            import lz4.frame
        except ImportError:
            raise ValueError("LZ4 is not installed. Install it with pip: https://python-lz4.readthedocs.io/") from None
        return (
            lz4.frame.LZ4FrameFile(file, mode)
            if level is None
            else lz4.frame.LZ4FrameFile(file, mode, compression_level=level)
        )
    module = importlib.import_module({"xz": "lzma"}.get(method, method))
    if method == "gzip":
        return module.GzipFile(fileobj=file, mode=mode, **({} if level is None else {"compresslevel": level}))
    if method == "bz2":
        return module.BZ2File(file, mode, **({} if level is None else {"compresslevel": level}))
    form = module.FORMAT_XZ if method == "xz" else module.FORMAT_ALONE
    return module.LZMAFile(file, mode) if level is None else module.LZMAFile(file, mode, format=form, preset=level)


def register_compressor(compressor_name, compressor, force=False):
    """Let `dump(compress=compressor_name)` use a class of files.

    Parameters
    ----------
    compressor_name : str
    compressor : object
        With `fileobj_factory(file, mode, ...)`, `prefix` (how files begin, bytes) and `extension`.
    force : bool
        Also in place of another of that name.
    """
    if not isinstance(compressor_name, str):
        raise ValueError(f"Compressor name should be a string, '{compressor_name}' given.")
    if compressor_name in {**_MAGIC, **_LATER, **_REGISTERED} and not force:
        raise ValueError(f"Compressor '{compressor_name}' already registered.")
    _REGISTERED[compressor_name] = compressor


def _known():
    """Of each way of compressing: how files begin and how their names end."""
    return {**_MAGIC, **_LATER, **{k: (c.prefix, c.extension.lstrip(".")) for k, c in _REGISTERED.items()}}


def _compression(compress, filename):
    """The method and level that `compress` and the end of the file's name ask for; level 0 is none."""
    methods = list(_known())
    method, level = "zlib", compress
    if isinstance(compress, tuple):
        if len(compress) != 2:
            raise ValueError(
                "Compress argument tuple should contain exactly 2 elements: (compress method, compress level), "
                f"you passed {compress}"
            )
        method, level = compress
    elif isinstance(compress, str):
        method, level = compress, None
    if compress is True or level is None:
        level = 3
    if level is not False and (not isinstance(level, int) or not 0 <= level <= 9):
        raise ValueError(f'Non valid compress level given: "{level}". Possible values are {list(range(10))}.')
    if method not in methods:
        raise ValueError(f'Non valid compression method given: "{method}". Possible values are {methods}.')
    if filename is not None and not isinstance(compress, (tuple, str)):
        for name, (_, end) in _known().items():
            if filename.endswith("." + end):
                return name, (level or 3) if compress is not True else 3
    return method, int(level)


def dump(value, filename, compress=0, protocol=None):
    """Keep a value in a file.

    Parameters
    ----------
    value : object
    filename : str, pathlib.Path or file object
        The end of a name (`.z`, `.gz`, `.bz2`, `.xz`, `.lzma`) chooses a compression.
    compress : int, bool, str or tuple, optional
        A level of zlib's from 0 to 9, the name of a method, or both.
    protocol : int, optional
        pickle's.

    Returns
    -------
    list of str
        The names of the files written: one; nothing for a file object.
    """
    if isinstance(filename, Path):
        filename = str(filename)
    is_name = isinstance(filename, str)
    if not is_name and not hasattr(filename, "write"):
        raise ValueError(
            f"Second argument should be a filename or a file-like object, {filename} (type {type(filename)}) was given."
        )
    method, level = _compression(compress, filename if is_name else None)
    file = open(filename, "wb") if is_name else filename
    try:
        out = _opened(method, file, level) if level else file
        _Pickler(out, protocol).dump(value)
        if out is not file:
            out.close()
    finally:
        if is_name:
            file.close()
    return [filename] if is_name else None


def load(filename, mmap_mode=None, ensure_native_byte_order="auto"):
    """The value that `dump`, or joblib's, has kept in a file. A pickle runs what its author wrote: read your own files.

    Parameters
    ----------
    filename : str, pathlib.Path or file object
    mmap_mode : {None, 'r+', 'r', 'w+', 'c'}, optional
        Leave arrays in the file and map them to memory; files that are compressed cannot be.
    ensure_native_byte_order : bool or 'auto'
        Arrays come in this machine's byte order; 'auto': unless they are mapped.
    """
    if ensure_native_byte_order == "auto":
        ensure_native_byte_order = mmap_mode is None
    if ensure_native_byte_order and mmap_mode is not None:
        raise ValueError(
            "Native byte ordering can only be enforced when mmap_mode is None, got "
            f"ensure_native_byte_order={ensure_native_byte_order} and mmap_mode={mmap_mode!r}"
        )
    if hasattr(filename, "read"):
        return _read(filename, getattr(filename, "name", ""), mmap_mode, ensure_native_byte_order)
    with open(filename, "rb") as file:
        return _read(file, os.fspath(filename), mmap_mode, ensure_native_byte_order)


def _read(file, name, mmap_mode, native):
    import warnings

    if not hasattr(file, "peek"):
        at = file.tell()
        head = file.read(8)
        file.seek(at)
    else:
        head = file.peek(8)[:8]
    method = next((m for m, (magic, _) in _known().items() if head.startswith(magic)), None)
    source = file if method is None else _opened(method, file)
    if mmap_mode is not None and (method is not None or not isinstance(name, str) or not name):
        warnings.warn(
            f'mmap_mode "{mmap_mode}" is not compatible with compressed file {name}. '
            f'"{mmap_mode}" flag will be ignored.',
            stacklevel=3,
        )
        mmap_mode = None
    return _Unpickler(source, name, mmap_mode, native).load()
