"""`Value` and `Array`: ctypes in shared memory, with a lock."""

import ctypes

from ._memory import RLock, Segment

typecode_to_type = {
    "c": ctypes.c_char, "u": ctypes.c_wchar, "b": ctypes.c_byte, "B": ctypes.c_ubyte, "h": ctypes.c_short,
    "H": ctypes.c_ushort, "i": ctypes.c_int, "I": ctypes.c_uint, "l": ctypes.c_long, "L": ctypes.c_ulong,
    "q": ctypes.c_longlong, "Q": ctypes.c_ulonglong, "f": ctypes.c_float, "d": ctypes.c_double,
}  # fmt: skip


def _type(typecode_or_type):
    return typecode_to_type[typecode_or_type] if isinstance(typecode_or_type, str) else typecode_or_type


class _Held:
    """A ctypes object in a segment; what others get is the segment."""

    def __init__(self, kind, segment=None):
        self._kind = kind
        self._segment = segment or Segment(max(1, ctypes.sizeof(kind)))
        self._object = kind.from_buffer(self._segment.memory)

    def __getstate__(self):
        simple = self._kind
        length = None
        if hasattr(simple, "_length_"):
            simple, length = simple._type_, simple._length_
        return simple, length, self._segment, getattr(self, "_lock", None)

    def __setstate__(self, state):
        kind, length, segment, lock = state
        _Held.__init__(self, kind if length is None else kind * length, segment)
        if lock is not None:
            self._take_lock(lock)


class _Locked:
    """What has a lock beside."""

    def _take_lock(self, lock):
        self._lock = lock
        self.acquire, self.release = lock.acquire, lock.release

    def get_obj(self):
        """The ctypes object."""
        return self._object

    def get_lock(self):
        """The lock that goes with it."""
        return self._lock

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *what):
        self._lock.__exit__(*what)


class _Value(_Held):
    @property
    def value(self):
        return self._object.value

    @value.setter
    def value(self, value):
        self._object.value = value

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._object, name)  # fields of a structure

    def __setattr__(self, name, value):
        if name.startswith("_") or name in ("value", "acquire", "release"):
            super().__setattr__(name, value)
        else:
            setattr(self._object, name, value)

    def __repr__(self):
        return f"<{type(self).__name__} wrapper for {self._object!r}>"


class _Array(_Held):
    def __len__(self):
        return len(self._object)

    def __getitem__(self, at):
        return self._object[at]

    def __setitem__(self, at, value):
        self._object[at] = value

    def __iter__(self):
        return iter(self._object)

    @property
    def value(self):
        return self._object.value  # of characters

    @value.setter
    def value(self, value):
        self._object.value = value

    @property
    def raw(self):
        return self._object.raw

    def __buffer__(self, flags):
        return memoryview(self._object)

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        seen = np.frombuffer(self._object, np.dtype(self._kind._type_))
        return seen if dtype is None or seen.dtype == dtype else seen.astype(dtype)


class _LockedValue(_Locked, _Value):
    pass


class _LockedArray(_Locked, _Array):
    pass


def _locked(held, lock):
    if lock is False:
        return held
    if lock is True or lock is None:
        lock = RLock()
    if not hasattr(lock, "acquire"):
        raise AttributeError(f"{lock!r} has no method 'acquire'")
    made = (_LockedValue if isinstance(held, _Value) else _LockedArray)(held._kind, held._segment)
    made._take_lock(lock)
    return made


def RawValue(typecode_or_type, *args):
    """A number, or structure, in shared memory."""
    held = _Value(_type(typecode_or_type))
    if args:
        held._object.__init__(*args)
    return held


def RawArray(typecode_or_type, size_or_initializer):
    """Numbers in shared memory: so many zeros, or those given."""
    kind = _type(typecode_or_type)
    if isinstance(size_or_initializer, int):
        return _Array(kind * size_or_initializer)
    values = list(size_or_initializer) if not isinstance(size_or_initializer, (bytes, str)) else size_or_initializer
    held = _Array(kind * len(values))
    held._object[:] = values
    return held


def Value(typecode_or_type, *args, lock=True, ctx=None):
    """A number in shared memory, with a lock: `with v.get_lock(): v.value += 1`."""
    return _locked(RawValue(typecode_or_type, *args), lock)


def Array(typecode_or_type, size_or_initializer, *, lock=True, ctx=None):
    """Numbers in shared memory, with a lock."""
    return _locked(RawArray(typecode_or_type, size_or_initializer), lock)


def synchronized(obj, lock=None, ctx=None):
    """The same object, with a lock."""
    return _locked(obj, lock)
