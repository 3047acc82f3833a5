"""`Manager`: dictionaries and lists that processes share. No server: their pickled state lies in shared memory."""

import struct

from ...parallel import _code
from . import _memory, barriers, queues, sharedctypes

ROOM = 256 << 20  # bytes a dictionary or list may take, pickled


class _Shared:
    """The state of an object, whole; each operation is done under the lock, on a copy that is as new as the memory."""

    def __init__(self, made):
        self._lock, self._segment = _memory.RLock(), _memory.Segment(16 + ROOM)
        self._version, self._held = -1, None
        self._store(made)

    def _store(self, held):
        data = _code.dumps(held)
        if len(data) > ROOM:
            raise MemoryError(
                f"a shared {type(held).__name__} of {len(data):,} bytes is larger than there is room ({ROOM:,})"
            )
        memory = self._segment.memory
        memory[16 : 16 + len(data)] = bytes(data)
        (version,) = struct.unpack_from("q", memory, 0)
        struct.pack_into("qq", memory, 0, version + 1, len(data))
        self._version, self._held = version + 1, held

    def _load(self):
        version, n = struct.unpack_from("qq", self._segment.memory, 0)
        if version != self._version:
            self._held, self._version = _code.loads(self._segment.memory[16 : 16 + n]), version
        return self._held

    def _do(self, name, args, kwargs, changes):
        with self._lock:
            held = self._load()
            try:
                return getattr(held, name)(*args, **kwargs)
            finally:
                if changes:
                    self._store(held)

    def _getvalue(self):
        """A copy of all of it."""
        with self._lock:
            return _code.loads(bytes(_code.dumps(self._load())))

    def __getstate__(self):
        return self._lock, self._segment

    def __setstate__(self, state):
        (self._lock, self._segment), self._version, self._held = state, -1, None

    def __repr__(self):
        return repr(self._getvalue())

    def __eq__(self, other):
        return self._getvalue() == (other._getvalue() if isinstance(other, _Shared) else other)

    __hash__ = None


def _proxy(name, kind, reads, writes, views=()):
    """A class with these methods of `kind`; what `views` give is taken as a list."""

    def method(word, changes):
        def call(self, *args, **kwargs):
            result = self._do(word, args, kwargs, changes)
            if word in views:
                return list(result) if word != "__iter__" else iter(list(self._getvalue()))
            return self if word in ("__iadd__", "__imul__", "__ior__") else result

        call.__name__ = word
        return call

    words = {**{w: False for w in reads.split()}, **{w: True for w in writes.split()}}
    return type(name, (_Shared,), {"__module__": __name__, **{w: method(w, c) for w, c in words.items()}, "kind": kind})


DictProxy = _proxy(
    "DictProxy", dict,
    "__contains__ __getitem__ __iter__ __len__ copy get items keys values __or__",
    "__delitem__ __setitem__ __ior__ clear pop popitem setdefault update",
    ("items", "keys", "values", "__iter__"),
)  # fmt: skip
ListProxy = _proxy(
    "ListProxy", list,
    "__add__ __contains__ __getitem__ __iter__ __len__ __mul__ __rmul__ __reversed__ copy count index",
    "__delitem__ __iadd__ __imul__ __setitem__ append clear extend insert pop remove reverse sort",
    ("__iter__", "__reversed__"),
)  # fmt: skip


class Namespace(DictProxy):
    """Attributes that processes share."""

    def __init__(self, /, **names):
        super().__init__(dict(names))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"'Namespace' object has no attribute {name!r}") from None

    def __setattr__(self, name, value):
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __delattr__(self, name):
        del self[name]

    def __getattribute__(self, name):
        # Methods of dictionaries are no attributes of a namespace.
        return super().__getattribute__(name) if name.startswith("_") else self.__getattr__(name)


class SyncManager:
    """Makes objects that processes share. Nothing has to be started or ended."""

    def dict(self, *args, **kwargs):
        return DictProxy(dict(*args, **kwargs))

    def list(self, sequence=()):
        return ListProxy(list(sequence))

    def Namespace(self, **names):
        return Namespace(**names)

    Queue, JoinableQueue = queues.Queue, queues.JoinableQueue
    Lock, RLock, Event, Condition = _memory.Lock, _memory.RLock, _memory.Event, _memory.Condition
    Semaphore, BoundedSemaphore = _memory.Semaphore, _memory.BoundedSemaphore
    Barrier = barriers.Barrier
    Value, Array = staticmethod(sharedctypes.Value), staticmethod(sharedctypes.Array)

    def start(self, initializer=None, initargs=()):
        if initializer is not None:
            initializer(*initargs)

    def connect(self):
        raise NotImplementedError("managers of tutti have no server to connect to")

    def shutdown(self):
        """Nothing has to be ended."""

    def join(self, timeout=None):
        """Nobody has to be waited for."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()


def Manager(ctx=None):
    """A manager: its dictionaries and lists may be given to workers and processes."""
    return SyncManager()
