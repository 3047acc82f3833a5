"""CUDA's vocabulary: memory, streams, events and properties of the GPUs.

Everything can be imported and asked without a GPU: is_available() is False then and why() says what is missing.
Streams and events of a machine without one belong to the CPU, which is always done with what it was told.
"""

import sys as _sys
from _thread import get_ident as _get_ident
from importlib import import_module as _import_module

from .. import _core
from .._device import Device, numbered
from .._device import device as _named

_OWN = [
    "Event",
    "ExternalStream",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_summary",
    "pinned_array",
    "reset_peak_memory_stats",
    "set_device",
    "set_memory_limit",
    "synchronize",
    "why",
]


def __getattr__(name):
    """The names of kernels, cuda.jit and what they say, come with their modules when the first is asked for."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'tutti.cuda' has no attribute {name!r}")
    from .._jit import cuda_devices, cuda_names

    if name == "random":
        value = _import_module("tutti.cuda.random")
    elif name == "__all__":
        value = ["random", *_OWN, *cuda_names.__all__, *cuda_devices.__all__]
    else:
        home = next((m for m in (cuda_names, cuda_devices) if name in m.__all__), None)
        if not home:
            raise AttributeError(f"module 'tutti.cuda' has no attribute {name!r}")
        value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__():
    return __getattr__("__all__")


# ---- which GPU


def _gpus():
    return [number for number, _ in _core._devices("cuda")]


def is_available():
    """Is there a GPU that this process can use?

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> isinstance(tt.cuda.is_available(), bool)
    True
    """
    return bool(_gpus())


def why():
    """What is missing where there is no GPU; "" where there is one.

    Returns
    -------
    str
        The words.

    Examples
    --------
    >>> isinstance(tt.cuda.why(), str)
    True
    """
    return _core._device_missing("cuda")


def device_count():
    """How many GPUs this process can use (CUDA_VISIBLE_DEVICES chooses them).

    Returns
    -------
    int
        How many.

    Examples
    --------
    >>> tt.cuda.device_count() >= 0
    True
    """
    return len(_gpus())


def device(which=None):
    """A GPU by its number or name, as a context: arrays made inside live there. None: the current one.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    Device
        The device.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     d = tt.cuda.device(0)
    """
    if which is None:
        number = _core._get_device()
        if number in _gpus():
            return numbered(number)
        which = 0
    found = _named(f"cuda:{which}" if isinstance(which, int) else which)
    if found.type != "cuda":
        raise ValueError(f"tutti.cuda is about GPUs, not about {found}")
    return found


def set_device(which):
    """Let this thread's new arrays live on a GPU.

    Parameters
    ----------
    which : Device, int or str
        Which GPU; None: the current one.

    Returns
    -------
    None

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     tt.cuda.set_device(tt.cuda.current_device())
    """
    _core._set_device(device(which)._number)


def current_device():
    """The number of the current GPU: where this thread's new arrays live, or else the first.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     number = tt.cuda.current_device()
    """
    return device().index


def get_device_name(which=None):
    """What people call the GPU.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     name = tt.cuda.get_device_name()
    """
    return device(which).label


def get_device_capability(which=None):
    """CUDA's number of the GPU's generation: (9, 0).

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    (int, int)
        The number.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     major, minor = tt.cuda.get_device_capability()
    """
    return device(which).compute_capability


def get_device_properties(which=None):
    """What does not change about the GPU, as attributes.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    object
        The properties.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     total = tt.cuda.get_device_properties().total_memory
    """
    from types import SimpleNamespace

    p = device(which)._read()
    major, minor = divmod(p["arch"], 10)
    return SimpleNamespace(
        name=p["label"],
        major=major,
        minor=minor,
        total_memory=p["memory_total"],
        multi_processor_count=p["units"],
        warp_size=p["warp"],
        max_threads_per_block=p["block_threads"],
        max_threads_per_multi_processor=p["unit_threads"],
        shared_memory_per_block=p["shared_block"],
        shared_memory_per_multiprocessor=p["shared_unit"],
        L2_cache_size=p["cache_bytes"],
        pci_bus_id=p["bus"],
    )


def synchronize(which=None):
    """Wait for all work on the GPU; without a GPU, for the CPU's. A failure among that work is raised.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.cuda.synchronize()
    """
    (device(which) if which is not None or is_available() else numbered(0)).synchronize()
    kernels = _sys.modules.get("tutti._jit.cuda_place")
    if kernels:
        kernels.flush()


# ---- memory


def _memory(which, key):
    return _core._device_memory(device(which)._number)[key]


def memory_allocated(which=None):
    """Bytes of arrays on the GPU.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     used = tt.cuda.memory_allocated()
    """
    return _memory(which, "allocated")


def max_memory_allocated(which=None):
    """The most bytes of arrays there were since the start or reset_peak_memory_stats().

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     peak = tt.cuda.max_memory_allocated()
    """
    return _memory(which, "max_allocated")


def memory_reserved(which=None):
    """Bytes that tutti took of the GPU: arrays, and what is kept for the next ones.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     taken = tt.cuda.memory_reserved()
    """
    return _memory(which, "reserved")


def max_memory_reserved(which=None):
    """At least the bytes that tutti took at once: those it has, or the peak of arrays if that was more.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     peak = tt.cuda.max_memory_reserved()
    """
    figures = _core._device_memory(device(which)._number)
    return max(figures["reserved"], figures["max_allocated"])


def reset_peak_memory_stats(which=None):
    """Forget the peak.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    None

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     tt.cuda.reset_peak_memory_stats()
    """
    _core._device_reset_peak(device(which)._number)


def mem_get_info(which=None):
    """(free, total): bytes of the GPU's memory, of all processes.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    (int, int)
        Bytes.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     free, total = tt.cuda.mem_get_info()
    """
    return device(which).memory[:2]


def empty_cache(which=None):
    """Give what is kept for the next arrays back to the GPU.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.cuda.empty_cache() if tt.cuda.is_available() else None
    """
    _core._device_trim(device(which)._number)


def set_memory_limit(limit, which=None):
    """Take no more of the GPU: bytes, or a fraction of its memory up to 1.0; 0 or None: no limit.

    Parameters
    ----------
    limit : int, float or None
        Bytes, or a share of the memory.
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    None

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     tt.cuda.set_memory_limit(None)
    """
    d = device(which)
    if isinstance(limit, float):
        if not 0 <= limit <= 1:
            raise ValueError(f"a fraction of the memory lies between 0 and 1, not at {limit}")
        limit = int(limit * d.memory.total)
    if limit is not None and limit < 0:
        raise ValueError("a limit of memory is not negative")
    _core._device_set_limit(d._number, limit or 0)


def memory_summary(which=None):
    """The figures of the GPU's memory as a text.

    Parameters
    ----------
    which : Device, int or str, optional
        Which GPU; None: the current one.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     text = tt.cuda.memory_summary()
    """
    d = device(which)
    m, (free, total, used) = _core._device_memory(d._number), d.memory
    rows = [
        ("arrays", m["allocated"]),
        ("arrays, peak", m["max_allocated"]),
        ("kept for reuse", m["reserved"] - m["allocated"]),
        ("limit", m["limit"] or None),
        ("other users of the GPU", max(0, used - m["reserved"])),
        ("free", free),
        ("total", total),
    ]
    lines = [f"{name:<24}{'none' if n is None else f'{n / 2**20:,.1f} MiB':>16}" for name, n in rows]
    return "\n".join([f"{d} {d.label}", *lines])


# ---- streams and events


def _place(which):
    """The GPU, or the CPU where there is none and nobody asked for one."""
    if isinstance(which, Device):
        return which
    if isinstance(which, str):
        return _named(which)
    return device(which) if which is not None or is_available() else numbered(0)


class Stream:
    """A queue of work on a GPU, beside others. As a context: what is evaluated inside goes there.

    priority: 0, or less for sooner.

    Parameters
    ----------
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.
    priority : int, optional
        Lower numbers go first.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     s = tt.cuda.Stream()
    """

    __slots__ = ("device", "priority", "_address", "_before", "__weakref__")

    def __init__(self, device=None, priority=0):
        self._address = None
        self.device, self.priority, self._before = _place(device), priority, []
        self._address = _core._stream_new(self.device._number, priority)

    def __del__(self):
        if getattr(self, "_address", None) and _core is not None:
            _core._stream_free(self.device._number, self._address)

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr:#x} on {self.device}>"

    def __eq__(self, other):
        return isinstance(other, Stream) and (self.device, self._address) == (other.device, other._address)

    def __hash__(self):
        return hash((self.device, self._address))

    def __enter__(self):
        before = _use(self)
        self._before.append(before)
        return self

    def __exit__(self, *exc):
        _use(self._before.pop())

    @property
    def ptr(self):
        """CUDA's own handle (a cudaStream_t) as a number; 0 on the CPU."""
        return _core._stream_handle(self.device._number, self._address)

    cuda_stream = ptr

    def __cuda_stream__(self):
        return 0, self.ptr

    def query(self):
        """Is all done that was asked of it?

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     done = tt.cuda.Stream().query()
        """
        return _core._stream_done(self.device._number, self._address)

    done = property(query, doc="Is all done that was asked of it?")

    def synchronize(self):
        """Wait until all is done. A failure is raised.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     tt.cuda.Stream().synchronize()
        """
        _core._stream_synchronize(self.device._number, self._address)

    def record(self, event=None):
        """Mark this point of the stream by an event (a new one) and return that.

        Parameters
        ----------
        event : Event, optional
            The event.

        Returns
        -------
        Event
            The event.

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     event = tt.cuda.Stream().record()
        """
        event = event or Event(device=self.device)
        event.record(self)
        return event

    record_event = record

    def wait_event(self, event):
        """What is asked of the stream from now on begins after the event.

        Parameters
        ----------
        event : Event
            The event.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     s = tt.cuda.Stream()
        ...     s.wait_event(s.record())
        """
        _core._stream_wait(self.device._number, self._address, event._check(self))

    def wait_stream(self, other):
        """What is asked of the stream from now on begins after what was asked of another.

        Parameters
        ----------
        other : series
            Another series.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     tt.cuda.Stream().wait_stream(tt.cuda.current_stream())
        """
        self.wait_event(other.record(Event(enable_timing=False, device=other.device)))


class ExternalStream(Stream):
    """A stream of another library: theirs, or CUDA's handle of it, which must exist while this object is used.

    Parameters
    ----------
    stream : Stream
        Taken for CuPy's sake.
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     theirs = tt.cuda.ExternalStream(tt.cuda.Stream())
    """

    __slots__ = ("_theirs",)

    def __init__(self, stream, device=None):
        self._address = None
        self.device, self.priority, self._before, self._theirs = _place(device), 0, [], stream
        if hasattr(stream, "__cuda_stream__"):
            stream = stream.__cuda_stream__()[1]
        elif not isinstance(stream, int):
            stream = getattr(stream, "cuda_stream", None) or stream.ptr
        self._address = _core._stream_adopt(self.device._number, stream)


class _DefaultStream(Stream):
    """The stream of a device's own, where evaluation goes unless a user's stream is current."""

    __slots__ = ()

    def __init__(self, device):
        self.device, self.priority, self._before, self._address = device, 0, [], None


_current = {}  # {(thread, device number): Stream}: keeps what is in use alive


def _use(stream):
    key = _get_ident(), stream.device._number
    _core._stream_use(stream.device._number, stream._address)
    before = _current.get(key)
    if stream._address is None:
        _current.pop(key, None)
    else:
        _current[key] = stream
    return before or _DefaultStream(stream.device)


def current_stream(device=None):
    """The stream that this thread's evaluations on the GPU go to.

    Parameters
    ----------
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Returns
    -------
    Stream
        The stream.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     s = tt.cuda.current_stream()
    """
    place = _place(device)
    return _current.get((_get_ident(), place._number)) or _DefaultStream(place)


def default_stream(device=None):
    """The stream of the GPU's own.

    Parameters
    ----------
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Returns
    -------
    Stream
        The stream.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     s = tt.cuda.default_stream()
    """
    return _DefaultStream(_place(device))


class Event:
    """A point in a stream: of what was evaluated (not only recorded) before it.

    Parameters
    ----------
    enable_timing : bool, optional
        Times can be measured.
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     start = tt.cuda.Event()
    """

    __slots__ = ("device", "_address", "_timed", "__weakref__")

    def __init__(self, enable_timing=True, device=None):
        self._address = None
        self.device, self._timed = _place(device), enable_timing
        self._address = _core._event_new(self.device._number, enable_timing)

    def __del__(self):
        if getattr(self, "_address", None) and _core is not None:
            _core._event_free(self.device._number, self._address)

    def _check(self, stream):
        if stream.device != self.device:
            raise ValueError(f"the event is on {self.device}, the stream on {stream.device}")
        return self._address

    def record(self, stream=None):
        """Mark the end of what was asked of the stream (None: the current one) up to now.

        Parameters
        ----------
        stream : Stream, optional
            Taken for CuPy's sake.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     tt.cuda.Event().record()
        """
        stream = stream or current_stream(self.device)
        _core._event_record(self.device._number, self._check(stream), stream._address)

    def query(self):
        """Is everything before it done?

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     done = tt.cuda.Event().query()
        """
        return _core._event_done(self.device._number, self._address)

    done = property(query, doc="Is everything before it done?")

    def synchronize(self):
        """Wait until everything before it is done.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     tt.cuda.Event().synchronize()
        """
        _core._event_wait(self.device._number, self._address)

    def wait(self, stream=None):
        """Let a stream (None: the current one) go on after the event only.

        Parameters
        ----------
        stream : Stream, optional
            Taken for CuPy's sake.

        Returns
        -------
        None

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     tt.cuda.Event().wait()
        """
        (stream or current_stream(self.device)).wait_event(self)

    def elapsed_time(self, end):
        """Milliseconds from this event to another one that came later; both must be done.

        Parameters
        ----------
        end : Event
            The later one.

        Returns
        -------
        float
            Milliseconds.

        Examples
        --------
        >>> if tt.cuda.is_available():
        ...     start, end = tt.cuda.Event(), tt.cuda.Event()
        ...     start.record()
        ...     end.record()
        ...     end.synchronize()
        ...     ms = start.elapsed_time(end)
        """
        if end.device != self.device:
            raise ValueError(f"the events are on {self.device} and {end.device}")
        if not (self._timed and end._timed):
            raise ValueError("one of the events was made with enable_timing=False")
        return _core._event_ms(self.device._number, self._address, end._address)


# ---- pinned memory


def pinned_array(shape, dtype="float64", device=None):
    """A NumPy array (a memoryview where NumPy is not installed) in host memory that a GPU reads and writes at full
    speed. Its contents are unset.

    Parameters
    ----------
    shape : int or tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    device : Device or str, optional
        Where the result lives; None: where tutti chooses.

    Returns
    -------
    numpy.ndarray or memoryview
        The memory.

    Examples
    --------
    >>> if tt.cuda.is_available():
    ...     a = tt.cuda.pinned_array((2, 3))
    """
    import math

    dtype, shape = _core.dtype(dtype), (shape,) if isinstance(shape, int) else tuple(shape)
    memory = _core._pinned(_place(device)._number, math.prod(shape) * dtype.itemsize)
    try:
        import numpy
    except ImportError:
        return memoryview(memory).cast("B").cast(memoryview(_core.functions["empty"]((), dtype)).format, shape)
    return numpy.frombuffer(memory, dtype.name).reshape(shape)
