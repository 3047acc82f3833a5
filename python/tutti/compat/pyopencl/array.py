"""pyopencl.array: arrays with NumPy's operators, computed by tutti's and kept in buffers."""

import builtins
import operator
import warnings

import numpy as np

import tutti as _tt

from .. import _layout
from ._constants import CLASSES
from ._copies import _memory_of
from ._devices import Context
from ._memory import Buffer, SVMAllocation, SVMPointer, enqueue_map_buffer
from ._queue import CommandQueue, Event


class DoubleDowncastWarning(UserWarning):
    """Numbers of 64 bits were made numbers of 32."""


class InconsistentOpenCLQueueWarning(UserWarning):
    """Arrays of one operation belong to different queues."""


class ArrayHasOffsetError(ValueError):
    """`data` of an array that begins behind its buffer's first byte."""

    def __init__(self, val="the array begins behind its buffer's first byte: take base_data and offset"):
        super().__init__(val)


class _copy_queue:  # noqa: N801
    """Stands for the queue of the array that is copied."""


class _same_as_transfer:  # noqa: N801
    """Stands for the queue of the copy."""


_PROFILING = CLASSES["command_queue_properties"].PROFILING_ENABLE
_NoValue = type("_NoValue", (), {})


def _shape(shape):
    try:
        return tuple(map(operator.index, (shape,) if np.ndim(shape) == 0 else shape))
    except TypeError:
        raise ValueError(f"invalid shape: {shape}: sizes are whole numbers") from None


class Array:
    """An array of a context.

    What an operation gives is one of tutti's arrays (`_pending`), computed when somebody looks. When its memory is
    asked for (`data`, views, kernels) the elements go into a buffer, `base_data`, and stay there.
    """

    __array_priority__ = 100
    _pending = None
    __hash__ = None

    def __init__(
        self, cq, shape, dtype, order="C", allocator=None, data=None, offset=0, strides=None, events=None,
        _flags=None, _fast=False, _size=None, _context=None, _queue=None,
    ):  # fmt: skip
        if isinstance(cq, CommandQueue):
            self.queue, self.context = cq, cq.context
        elif isinstance(cq, Context) or cq is None:
            self.queue, self.context = _queue, cq or _context
        else:
            raise TypeError(f"cq may be a queue or a context, not '{type(cq)}'")
        self.shape, self.dtype, self.allocator = _shape(shape), np.dtype(dtype), allocator
        if builtins.any(n < 0 for n in self.shape):
            raise ValueError("negative dimensions are not allowed")
        if self.dtype == object:
            raise TypeError("object arrays on the compute device are not allowed")
        if order not in ("C", "F"):
            raise ValueError("order must be either 'C' or 'F'")
        self.strides = (
            _layout.steps(self.shape, self.dtype.itemsize, order) if strides is None else tuple(map(int, strides))
        )
        self.offset, self.events = int(offset), list(events or ())
        self._base = data
        if data is None:
            if offset:
                raise ValueError("an offset needs data")
            self._base = self._allocated(self._span())

    def _span(self):
        """The bytes from the first element to behind the last one."""
        if not self.size:
            return 0
        return builtins.sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True) if step > 0) + (
            self.dtype.itemsize
        )

    def _allocated(self, size):
        if not size:
            return None
        if self.allocator is not None:
            return self._checked(self.allocator(size), self.queue)
        return Buffer(self.context, 1, size)

    @staticmethod
    def _checked(memory, queue):
        """The memory; a warning where it is given back in the order of another queue."""
        if isinstance(memory, SVMAllocation) and None not in (memory._queue, queue) and memory._queue is not queue:
            warnings.warn(
                "The array's memory belongs to another queue than the array.",
                InconsistentOpenCLQueueWarning,
                stacklevel=4,
            )
        return memory

    @classmethod
    def _of(cls, array, like, order="C", queue=None, dtype=None):
        """What an operation gave: nothing lies in memory yet."""
        self = cls.__new__(cls)
        array = array if isinstance(array, _tt.ndarray) else _tt.asarray(array, device=like._at())
        self.queue = queue if queue is not None else like.queue
        self.context, self.allocator = like.context, like.allocator
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype.name)
        self.strides = _layout.steps(self.shape, self.dtype.itemsize, order)
        self.offset, self.events, self._base, self._pending = 0, _over(self.queue, array), None, array
        return self

    def _like(self, **changed):
        """An array on the same memory."""
        self._settle()
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, events=self.events, **changed)
        return made

    def _settle(self):
        """Put what is pending into a buffer."""
        if self._pending is not None:
            array, self._pending = self._pending, None
            self._base = self._allocated(self._span())
            root = getattr(self._base, "_root", None)
            if root is not None and len(self._base._memory) == len(root._host) and self.flags.c_contiguous:
                root.adopt(array.copy().reshape(-1).view("uint8").to(root._device))
            elif self.size:
                self._host()[...] = array.numpy()

    def _host(self):
        """The elements as an array of the host, which shares their memory."""
        return self._shown(lambda base: base._bytes)

    def _read(self):
        """The same for who only reads them."""
        return self._shown(lambda base: base._bytes if isinstance(base, SVMPointer) else base._seen())

    def _places(self):
        """The same for who only asks where they lie."""
        return self._shown(lambda base: base._bytes if isinstance(base, SVMPointer) else base._checked())

    def _shown(self, memory):
        self._settle()
        if self._base is None:
            return np.empty(self.shape, self.dtype)
        return np.ndarray(self.shape, self.dtype, memory(self._base), self.offset, self.strides)

    def _at(self):
        """Where its elements lie."""
        return self.context._devices[0]._own

    def _value(self):
        """The elements as an array of tutti's, with the values of now."""
        if self.queue is not None and self.queue._later:
            self.queue.finish()  # a kernel that waits for an event may be about to write
        if self._pending is not None:
            return self._pending
        if self.dtype.kind == "V":
            raise TypeError(f"elements of {self.dtype} are structures: they are arguments of kernels, not operands")
        root = getattr(self._base, "_root", None)
        if root is None or not self.flags.c_contiguous or not self.size or root.maps:
            return _tt.array(self._read(), device=self._at())
        part = self._base._there(False)[self.offset : self.offset + self.nbytes]
        return part.view(self.dtype.name).reshape(self.shape).copy()

    def _put(self, value):
        """Write elements: of the host, or of tutti's."""
        is_ours = isinstance(value, _tt.ndarray)
        if self._pending is not None and is_ours:
            self._pending = _tt.broadcast_to(value.astype(self.dtype.name), self.shape)
        elif self.size:
            self._host()[...] = value.numpy() if is_ours else value

    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    ndim = property(lambda self: len(self.shape))
    flags = property(_layout.ArrayFlags, doc="In which orders its elements lie without gaps.")
    T = property(lambda self: self.transpose())

    @property
    def base_data(self):
        """The buffer that its elements lie in."""
        self._settle()
        return self._base

    @property
    def data(self):
        """The buffer, of an array that begins with its first byte."""
        if self.offset:
            raise ArrayHasOffsetError
        return self.base_data

    def _new_with_changes(self, data, offset, shape=None, dtype=None, strides=None, queue=_copy_queue, allocator=None):
        changed = {"shape": shape, "dtype": dtype, "strides": strides, "allocator": allocator}
        made = self._like(offset=offset, **{k: v for k, v in changed.items() if v is not None})
        made._base = data
        if queue is not _copy_queue:
            made.queue = queue
        return made

    def with_queue(self, queue):
        """The same memory as an array of another queue, or of none."""
        made = self._like(queue=queue)
        self._checked(made._base, queue)
        return made

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # ---- to and from the host

    def set(self, ary, queue=None, async_=False):
        """The elements of an array of the host."""
        _queue_of(queue, self)
        ary = np.asarray(ary)
        if ary.size != self.size:
            raise ValueError("ary must be of the same size as self")
        if ary.shape != self.shape:
            warnings.warn("Setting array from one with different shape.", stacklevel=2)
            ary = ary.reshape(self.shape)
        if ary.dtype != self.dtype:
            raise ValueError(f"elements of {ary.dtype} for an array of {self.dtype}")
        self._pending_dropped()
        if self.size:
            self._host()[...] = ary

    def _pending_dropped(self):
        if self._pending is not None:
            self._pending, self._base = None, self._allocated(self._span())

    def get(self, queue=None, ary=None, async_=None, **keywords):
        """The elements as an array of the host: a new one, or `ary`."""
        made, event = self.get_async(queue, ary)
        event.wait()
        return made

    def get_async(self, queue=None, ary=None, **keywords):
        """The elements and the event of their copy."""
        queue = _queue_of(queue, self)
        if queue is None:
            raise ValueError("Cannot copy array to host: no queue is known; give one to get()")
        if ary is None:
            ary = np.empty_like(self._places()) if self.flags.forc else np.empty(self.shape, self.dtype)
        elif ary.size != self.size or ary.dtype != self.dtype:
            raise (TypeError if ary.size == self.size else ValueError)("'ary' does not fit the array")

        def read():
            ary[...] = self._read().reshape(ary.shape)

        return ary, queue._do("READ_BUFFER", read, self.events)

    def copy(self, queue=_copy_queue):
        """A new array with the same elements."""
        queue = self.queue if queue is _copy_queue else queue
        if self._pending is not None:
            return self._of(self._pending, self, "F" if _is_turned(self) else "C", queue)
        made = empty_like(self, queue)
        if self.size:
            made._host()[...] = self._read()
        return made

    def map_to_host(self, queue=None, flags=None, is_blocking=True, wait_for=None):
        """The memory itself as an array of the host."""
        queue = _queue_of(queue, self)
        self._settle()
        if isinstance(self._base, SVMPointer):
            return self._host()
        array, event = enqueue_map_buffer(
            queue, self._base, 3 if flags is None else flags, self.offset, self.shape, self.dtype,
            strides=self.strides, wait_for=wait_for,
        )  # fmt: skip
        return array

    def add_event(self, evt):
        """The array is ready when the event is over."""
        if len(self.events) >= _MANY:
            self.events[:] = [e for e in self.events if not e._done]
        self.events.append(evt)

    def finish(self):
        """Wait until the array is ready."""
        for event in self.events:
            event.wait()
        del self.events[:]

    def __array__(self, dtype=None, copy=None):
        raise TypeError("an array of a device becomes one of the host by get()")

    def __str__(self):
        return str(self.get()) if self.queue is not None else f"<cl.{type(self).__name__} {self.shape} of {self.dtype}>"

    def __repr__(self):
        if self.queue is None:
            return f"<cl.{type(self).__name__} {self.shape} of {self.dtype} at {id(self):x} without queue>"
        text = repr(self.get())
        return f"cl.{type(self).__name__}{text[5:]}" if text.startswith("array") else text

    def safely_stringify_for_pudb(self):
        return f"cl.{type(self).__name__} {self.dtype} {self.shape}"

    def __bool__(self):
        if self.shape:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.get())

    def __int__(self):
        return int(self.get())

    def __float__(self):
        return float(self.get())

    def __complex__(self):
        return complex(self.get())

    def __index__(self):
        return self.get().__index__()

    def __iter__(self):
        return (self[k] for k in builtins.range(len(self)))

    def __getstate__(self):
        allocator = self.__dict__.get("allocator")
        state = {k: getattr(self, k) for k in ("shape", "dtype", "strides", "offset")}
        return {**state, "data": self.get(), "allocator": allocator}

    def __setstate__(self, state):
        from .tools import get_pickling_queue

        queue = get_pickling_queue()
        data, allocator = state["data"], state["allocator"]
        self.__dict__.update(to_device(queue, data, allocator).__dict__)

    # ---- views

    def _viewing(self, part):
        """The array of a part that NumPy takes of the elements."""
        host = self._places()
        seen = part(host)
        if self._base is None or not seen.size:
            made = self._like(shape=seen.shape, dtype=seen.dtype, strides=seen.strides)
            return made
        at = seen.__array_interface__["data"][0] - _memory_of(self._base).__array_interface__["data"][0]
        if not np.may_share_memory(seen, host):
            raise ValueError("the elements of such a part do not lie in the array's memory: take a copy of it")
        return self._like(shape=seen.shape, dtype=seen.dtype, strides=seen.strides, offset=at)

    def reshape(self, *shape, **kwargs):
        """The elements in another shape, in their memory; a ValueError where they lie otherwise."""
        order = kwargs.pop("order", "C")
        if kwargs:
            raise TypeError(f"unexpected keyword arguments: {list(kwargs)}")
        if len(shape) == 1 and np.ndim(shape[0]):
            shape = tuple(shape[0])
        if order == "A":
            order = "F" if _is_turned(self) else "C"
        if not self.size:
            wanted = np.empty(self.shape, self.dtype).reshape(shape).shape
            return self._like(shape=wanted, strides=_layout.steps(wanted, self.dtype.itemsize, order))
        return self._viewing(lambda a: _reshaped(a, shape, order))

    def ravel(self, order="C"):
        """All elements in one row."""
        return self.reshape(self.size, order=order)

    def transpose(self, axes=None):
        return self._viewing(lambda a: a.transpose(axes))

    def squeeze(self):
        return self._viewing(lambda a: a.squeeze())

    def view(self, dtype=None):
        """The same bytes as elements of another type."""
        kind = np.dtype(self.dtype if dtype is None else dtype)
        if kind.itemsize != self.dtype.itemsize and not self.flags.forc:
            raise ValueError("new type not compatible with array")
        if _is_turned(self):
            return self.T.view(dtype).T
        return self._viewing(lambda a: a.view(kind))

    @property
    def real(self):
        """The real parts, in a new array; of real numbers the array itself."""
        return self._of(_tt.real(self._value()), self, _order(self)) if self.dtype.kind == "c" else self

    @property
    def imag(self):
        """The imaginary parts, in a new array."""
        return self._of(_tt.imag(self._value()), self, _order(self)) if self.dtype.kind == "c" else zeros_like(self)

    def conj(self):
        return self._of(_tt.conj(self._value()), self, _order(self)) if self.dtype.kind == "c" else self

    conjugate = conj

    def __getitem__(self, index):
        if isinstance(index, Array):
            if index.dtype.kind not in "iu":
                raise TypeError("fancy indexing is only allowed with integers")
            if len(index.shape) != 1 or self.ndim != 1:
                raise NotImplementedError("multidimensional fancy indexing is not supported")
            return take(self, index)
        index = index if isinstance(index, tuple) else (index,)
        if builtins.any(isinstance(part, (Array, np.ndarray, list)) for part in index):
            raise NotImplementedError("fancy indexing of several axes is not supported")
        if Ellipsis not in index:
            index = (*index, ...)
        return self._viewing(lambda a: a[index])

    def setitem(self, subscript, value, queue=None, wait_for=None):
        """Write elements: `self[subscript] = value` in a queue."""
        if isinstance(subscript, Array):
            if subscript.dtype.kind not in "iu" or subscript.ndim != 1 or self.ndim != 1:
                raise NotImplementedError("fancy indexing takes whole numbers of one axis")
            values = value.with_queue(queue) if isinstance(value, Array) else value
            multi_put([values], subscript, out=[self], queue=queue)
            return
        part = self[subscript]
        if isinstance(value, np.ndarray) and value.shape:
            if value.shape != part.shape:
                raise ValueError("cannot assign between arrays of differing shapes")
            part._host()[...] = value
        elif isinstance(value, Array):
            if value.ndim and value.shape != part.shape:
                raise ValueError("cannot assign between arrays of differing shapes")
            part._host()[...] = value._read()
        else:
            part._host()[...] = value

    def __setitem__(self, subscript, value):
        self.setitem(subscript, value)

    # ---- operators

    def __abs__(self):
        return self._of(abs(self._value()), self, _order(self))

    def __neg__(self):
        return self._of(-self._value(), self, _order(self))

    def __pos__(self):
        return self

    def __invert__(self):
        if self.dtype.kind not in "iub":
            raise TypeError("Integral types only")
        return self._of(~self._value(), self, _order(self))

    def mul_add(self, selffac, other, otherfac, queue=None):
        """selffac * self + otherfac * other."""
        return self._of(self._value() * selffac + _plain(other) * otherfac, self, _order(self, other))

    def fill(self, value, queue=None, wait_for=None):
        """Write a number to all elements."""
        self._pending_dropped()
        if self.size:
            self._host()[...] = value
        self.add_event(*_over(_queue_of(queue, self), None))
        return self

    def reverse(self, queue=None):
        """The elements from the last to the first, in a new array."""
        return self._of(self._value()[::-1], self)

    def astype(self, dtype, queue=None):
        """The elements as another type, in a new array."""
        kind = np.dtype(dtype)
        return self.copy() if kind == self.dtype else self._of(self._value().astype(kind.name), self, _order(self))

    def any(self, queue=None, wait_for=None):
        return self._of(_tt.any(self._value()).astype("int8"), self)

    def all(self, queue=None, wait_for=None):
        return self._of(_tt.all(self._value()).astype("int8"), self)


empty = Array


def _at():
    """Where numbers lie that are operands beside arrays of any context."""
    return _tt.device("auto")


def _reshaped(array, shape, order):
    made = array.reshape(shape, order=order)
    if not np.shares_memory(made, array):
        raise ValueError("these elements do not lie so that they have such a shape without a copy")
    return made


def _is_turned(array):
    """Do its elements lie in Fortran's order and not in C's?"""
    return _layout.runs(array, "F") and not _layout.runs(array, "C")


def _order(*operands):
    """The order of a result: Fortran's where all arrays of its size are so."""
    arrays = [a for a in operands if isinstance(a, Array) and a.ndim]
    return "F" if arrays and builtins.all(map(_is_turned, arrays)) else "C"


def _plain(x):
    if isinstance(x, Array):
        return x._value()
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError("an array of the host is no operand: to_device() takes it to the device")
    return _tt.asarray(x, device=_at()) if isinstance(x, (np.generic, np.ndarray)) else x


def _queue_of(queue, *arrays):
    return queue or next((a.queue for a in arrays if isinstance(a, Array) and a.queue is not None), None)


def _done(queue):
    return queue._do("MARKER", lambda: None)


_MANY = 50  # events of an array, before those that are over are dropped


def _over(queue, array):
    """The events of an operation. Where times are asked for, it is computed now: else when somebody looks."""
    if queue is not None and queue._properties & _PROFILING and array is not None:
        return [queue._do("NDRANGE_KERNEL", lambda: _tt.eval(array))]
    event = Event(queue)
    event._end(0)
    return [event]


def _same_queue(self, other):
    if isinstance(other, Array) and None not in (self.queue, other.queue) and self.queue is not other.queue:
        warnings.warn(
            "The arrays of an operation belong to different queues.", InconsistentOpenCLQueueWarning, stacklevel=3
        )


def _can(other):
    return isinstance(other, (Array, int, float, complex, np.generic)) or (
        isinstance(other, np.ndarray) and not other.ndim
    )


def _binary(name, reflected=False):
    own = f"__{'r' if reflected else ''}{name}__"

    def operator(self, other):
        if not _can(other):
            return NotImplemented
        _same_queue(self, other)
        if self.dtype.kind == "V":
            return _of_vectors(own, self, other)
        result = getattr(self._value(), own)(_plain(other))
        return result if result is NotImplemented else self._of(result, self, _order(self, other))

    operator.__name__ = own
    return operator


def _parts(x, element):
    """Numbers of vectors along one axis more."""
    if isinstance(x, Array) and x.dtype.kind != "V":
        return x._value()[..., None]
    if isinstance(x, Array) or getattr(x, "dtype", np.dtype("f8")).kind == "V":
        host = np.ascontiguousarray(x._read() if isinstance(x, Array) else x)
        return _tt.array(host.view(element).reshape(*x.shape, -1), device=x._at() if isinstance(x, Array) else _at())
    return _plain(x)


def _of_vectors(own, self, other):
    """An operator of vectors (cltypes), whose numbers are operands one by one."""
    from .cltypes import vec_type_to_scalar_and_count

    if self.dtype not in vec_type_to_scalar_and_count:
        raise TypeError(f"elements of {self.dtype} are structures: they are arguments of kernels, not operands")
    element, _ = vec_type_to_scalar_and_count[self.dtype]
    result = getattr(_parts(self, element), own)(_parts(other, element))
    made = empty_like(self)
    made._host()[...] = result.numpy().astype(element).view(self.dtype).reshape(self.shape)
    return made


def _in_place(name):
    def operator(self, other):
        if not _can(other):
            return NotImplemented
        _same_queue(self, other)
        if self.dtype.kind == "V":
            self._put(_of_vectors(f"__{name}__", self, other)._host())
            return self
        result = getattr(self._value(), f"__{name}__")(_plain(other))
        if tuple(result.shape) != self.shape:
            raise ValueError(f"an operand of shape {other.shape} does not fit an array of shape {self.shape} in place")
        if name == "truediv" and not np.can_cast(np.dtype(result.dtype.name), self.dtype, "same_kind"):
            raise TypeError(f"a quotient of {result.dtype.name} is not put into an array of {self.dtype}")
        self._put(result)
        return self

    operator.__name__ = f"__i{name}__"
    return operator


def _comparison(name):
    def operator(self, other):
        if not _can(other):
            return NotImplemented
        result = getattr(self._value(), name)(_plain(other))
        return self._of(result.astype("int8"), self, _order(self, other))

    operator.__name__ = name
    return operator


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Array, f"__{_name}__", _binary(_name))
    setattr(Array, f"__r{_name}__", _binary(_name, True))
    setattr(Array, f"__i{_name}__", _in_place(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Array, f"__{_name}__", _comparison(f"__{_name}__"))


# ---- making


def as_strided(ary, shape=None, strides=None):
    """The same memory with another shape and other strides."""
    made = ary._like(shape=_shape(ary.shape if shape is None else shape))
    made.strides = tuple(ary.strides if strides is None else strides)
    return made


def to_device(queue, ary, allocator=None, async_=False, array_queue=_same_as_transfer, **keywords):
    """An array's elements on the device, in the order in which they lie."""
    if ary.dtype == object:
        raise RuntimeError("to_device does not work on object arrays.")
    made = Array(
        queue, ary.shape, ary.dtype, "F" if _numpy_order(ary) == "F" else "C", allocator,
        strides=ary.strides if ary.flags.c_contiguous or ary.flags.f_contiguous else None,
    )  # fmt: skip
    if made.size:
        made._host()[...] = ary
    if array_queue is not _same_as_transfer:
        made.queue = array_queue
    return made


def _numpy_order(ary):
    return "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"


def zeros(queue, shape, dtype, order="C", allocator=None):
    """An array of zeros."""
    made = Array(queue, shape, dtype, order, allocator)
    root = getattr(made._base, "_root", None)
    if root is not None and len(made._base._memory) == len(root._host):
        root.adopt(_tt.zeros(len(root._host), dtype="uint8", device=root._device))
    elif made.size:
        made._base._bytes[...] = 0
    return made


def empty_like(ary, queue=_copy_queue, allocator=None):
    """An array like another one, whose elements are not set."""
    queue = ary.queue if queue is _copy_queue else queue
    strides = ary.strides if _layout.runs(ary, "C") or _layout.runs(ary, "F") else None
    return Array(
        queue if queue is not None else ary.context, ary.shape, ary.dtype, "C", allocator or ary.allocator,
        strides=strides,
    )  # fmt: skip


def zeros_like(ary):
    """The same, of zeros."""
    return empty_like(ary).fill(np.zeros((), ary.dtype))


def arange(queue, *args, dtype=None, allocator=None, **kwargs):
    """arange(queue, [start,] stop[, step], dtype=...): numbers at equal distances."""
    if dtype is None:
        raise TypeError("arange requires a dtype argument")
    return to_device(queue, np.arange(*args, dtype=dtype, **kwargs), allocator)


# ---- choosing and joining


def _into(out, result, like, order="C", queue=None):
    """The result: an array of its own, or in `out`."""
    if out is None:
        return Array._of(result, like, order, queue)
    out._put(result)
    return out


def take(a, indices, out=None, queue=None, wait_for=None):
    """The elements at some places."""
    if a.dtype.kind == "V":
        made = Array(_queue_of(queue, a), indices.shape, a.dtype, allocator=a.allocator) if out is None else out
        made._host()[...] = a._read()[indices._read()]
        return made
    return _into(out, _tt.take(a._value(), indices._value()), indices if a.queue is None else a, queue=queue)


def multi_take(arrays, indices, out=None, queue=None):
    """The same places of several arrays."""
    return [take(a, indices, o, queue) for a, o in zip(arrays, out or [None] * len(arrays), strict=True)]


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, queue=None, src_offsets=None):
    """Elements of several arrays at some places to other places of arrays of `dest_shape`."""
    if not arrays:
        return []
    if out is None:
        out = [Array(_queue_of(queue, a), dest_shape, a.dtype, allocator=a.allocator) for a in arrays]
    start = src_indices._read()
    for k, (a, o) in enumerate(zip(arrays, out, strict=True)):
        moved = start if src_offsets is None else start + src_offsets[k]
        o._host()[dest_indices._read()] = a._read()[moved]
    return out


def multi_put(arrays, dest_indices, dest_shape=None, out=None, queue=None, wait_for=None):
    """Elements of several arrays to the same places of arrays of `dest_shape`."""
    if not arrays:
        return []
    if out is None:
        out = [Array(_queue_of(queue, a), dest_shape, a.dtype, allocator=a.allocator) for a in arrays]
    places = dest_indices._read()
    for a, o in zip(arrays, out, strict=True):
        values = a._read() if isinstance(a, Array) else a
        if np.ndim(values) and np.shape(values) not in ((1,), places.shape):
            raise ValueError(f"{np.shape(values)} values for {places.shape} places")
        o._host()[places] = values
    return out


def _joined(function, arrays, axis, queue):
    first = arrays[0]
    return Array._of(
        function([a._value() for a in arrays], axis=axis), first, _order(*arrays), _queue_of(queue, *arrays)
    )


def concatenate(arrays, axis=0, queue=None, allocator=None):
    """Arrays one behind another along an axis."""
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    return _joined(_tt.concatenate, list(arrays), axis, queue)


def hstack(arrays, queue=None):
    """Arrays beside one another."""
    if not len(arrays):
        raise ValueError("need at least one array to hstack")
    return _joined(_tt.concatenate, list(arrays), 1 if arrays[0].ndim > 1 else 0, queue)


def stack(arrays, axis=0, queue=None):
    """Arrays along a new axis."""
    if not arrays:
        raise ValueError("need at least one array to stack")
    if builtins.any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError("arrays must have the same shape")
    if axis > arrays[0].ndim:
        raise ValueError("invalid axis")
    return _joined(_tt.stack, list(arrays), axis, queue)


def diff(array, queue=None, allocator=None):
    """The differences of neighbours."""
    if array.ndim != 1:
        raise ValueError("multi-D arrays are not supported")
    return Array._of(_tt.diff(array._value()), array, queue=queue)


def transpose(a, axes=None):
    """The array with its axes in another order."""
    if isinstance(a, Array):
        return a.transpose(axes)
    raise TypeError(f"'{type(a).__name__}' is no array")


def reshape(a, shape):
    """The array in another shape."""
    return a.reshape(shape)


def if_positive(criterion, then_, else_, out=None, queue=None):
    """Elements of `then_` where the criterion is above zero, else of `else_`."""
    if not isinstance(criterion, Array):
        return then_ if criterion > 0 else else_
    for other in (then_, else_):
        if isinstance(other, Array) and other.shape and other.shape != criterion.shape:
            raise ValueError("shapes do not match")
    if isinstance(then_, Array) and isinstance(else_, Array) and then_.dtype != else_.dtype:
        raise ValueError(f"dtypes do not match: then_ is '{then_.dtype}' and else_ is '{else_.dtype}'")
    result = _tt.where(criterion._value() > 0, _plain(then_), _plain(else_))
    return _into(out, result, criterion, _order(criterion), queue)


def _elementwise(name, result_type=None):
    def function(a, b, out=None, queue=None):
        like = a if isinstance(a, Array) else b
        if not isinstance(like, Array):
            made = getattr(np, name)(a, b)
            return made if result_type is None else result_type(made)
        result = getattr(_tt, name)(_plain(a), _plain(b))
        return _into(out, result if result_type is None else result.astype(np.dtype(result_type).name), like,
                     _order(a, b), queue)  # fmt: skip

    function.__name__ = name
    return function


maximum, minimum = map(_elementwise, ("maximum", "minimum"))
logical_and, logical_or = (_elementwise(n, np.int8) for n in ("logical_and", "logical_or"))


def logical_not(x, out=None, queue=None):
    """One where an element is zero, else zero."""
    if not isinstance(x, Array):
        return np.logical_not(x).astype(np.int8)
    return _into(out, _tt.logical_not(x._value()).astype("int8"), x, _order(x), queue)


# ---- reducing


def _part(a, slice):  # noqa: A002 (PyOpenCL's name)
    return a if slice is None else a[slice]


def sum(a, dtype=None, queue=None, slice=None, initial=_NoValue):  # noqa: A001, A002 (PyOpenCL's names)
    """The sum of the elements, as an array without axes."""
    total = _tt.sum(_part(a, slice)._value(), dtype=np.dtype(a.dtype if dtype is None else dtype).name)
    if initial is not _NoValue:
        total = total + _plain(np.asarray(initial, total.dtype.name))
    return Array._of(total, a, queue=queue)


def any(a, queue=None, wait_for=None):  # noqa: A001 (PyOpenCL's name)
    return a.any(queue)


def all(a, queue=None, wait_for=None):  # noqa: A001 (PyOpenCL's name)
    return a.all(queue)


def _product(a, b, dtype, queue, slice):  # noqa: A002
    kind = np.result_type(a.dtype, b.dtype) if dtype is None else np.dtype(dtype)
    products = a._value().astype(kind.name) * b._value().astype(kind.name)
    if slice is not None:
        products = products[slice]
    return Array._of(_tt.sum(products, dtype=kind.name), a, queue=queue)


def dot(a, b, dtype=None, queue=None, slice=None):  # noqa: A002
    """The sum of the products of the elements."""
    return _product(a, b, dtype, queue, slice)


def vdot(a, b, dtype=None, queue=None, slice=None):  # noqa: A002
    """The same, with the conjugates of `a`."""
    return _product(a.conj(), b, dtype, queue, slice)


def subset_dot(subset, a, b, dtype=None, queue=None, slice=None):  # noqa: A002
    """The dot product of the elements at some places."""
    return _product(take(a, subset), take(b, subset), dtype, queue, slice)


def _extreme(name):
    def function(a, queue=None, initial=_NoValue):
        if not a.size:
            if initial is _NoValue:
                raise ValueError(f"zero-size array to reduction '{name}' without initial value")
            return Array._of(np.array(initial, a.dtype), a, queue=queue)
        result = getattr(_tt, name)(a._value())
        if initial is not _NoValue:
            result = getattr(_tt, name + "imum")(result, _plain(np.asarray(initial, a.dtype)))
        return Array._of(result, a, queue=queue)

    function.__name__ = name
    return function


def _extreme_of_subset(name):
    def function(subset, a, queue=None, slice=None):  # noqa: A002
        return Array._of(getattr(_tt, name)(_part(take(a, subset), slice)._value()), a, queue=queue)

    function.__name__ = "subset_" + name
    return function


max, min = map(_extreme, ("max", "min"))  # noqa: A001
subset_max, subset_min = map(_extreme_of_subset, ("max", "min"))


def cumsum(a, output_dtype=None, queue=None, wait_for=None, return_event=False):
    """The sums of the elements up to each one."""
    kind = np.dtype(a.dtype if output_dtype is None else output_dtype)
    made = Array._of(_tt.cumsum(a._value(), dtype=kind.name), a, queue=queue)
    return (_done(made.queue), made) if return_event else made


def _get_common_dtype(obj1, obj2, queue):
    return np.result_type(*(o.dtype if isinstance(o, Array) else o for o in (obj1, obj2)))


def __getattr__(name):
    if name == "vec":
        from . import cltypes

        return cltypes
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.array.{name}")
