"""pycuda.gpuarray: arrays with NumPy's operators, over tutti's."""

import builtins
import ctypes

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from .. import _layout
from .._layout import ArrayFlags
from . import _place, driver
from ._vec import vec  # noqa: F401


def _plain(x):
    return x._array if isinstance(x, GPUArray) else x


def _at():
    return numbered(_place.here())


def _is_turned(array):
    """Do its elements lie in Fortran's order and not in C's?"""
    return array.ndim > 1 and array.T.flags.c_contiguous and not array.flags.c_contiguous


def _keeping(function, array):
    """function(array) in the order in which the array lies."""
    return function(array.T).T if _is_turned(array) else function(array)


class _Data:
    """An array's memory: as an argument of a kernel the array, as a number its address."""

    def __init__(self, array):
        self._of = array

    def __int__(self):
        return self._of.ptr

    __index__ = __int__

    def __add__(self, offset):
        return self._of.ptr + int(offset)

    __radd__ = __add__

    size = property(lambda self: self._of.nbytes)

    def free(self):
        """Nothing to do: the memory is given back when the array is."""

    def _around_launch(self, before, after):
        return self._of._around_launch(before, after)


class GPUArray:
    """An array on the device.

    As long as nobody asks for its address it is one of ours, computed when somebody looks. From then on its elements
    lie at that address (`_memory`: the allocation or a number), and operations on it work on copies of them. A part of
    an array is `_part` of its `_whole`.
    """

    __array_priority__ = 100
    _own = _memory = _whole = base = allocator = None

    def __init__(self, shape, dtype, allocator=None, base=None, gpudata=None, order="C"):
        shape = tuple(int(n) for n in np.atleast_1d(shape)) if np.size(shape) else ()
        dtype, self.allocator, self.base = np.dtype(dtype), allocator, base
        if order == "F" and len(shape) > 1:
            turned = GPUArray(shape[::-1], dtype, allocator, base, gpudata)
            self.__dict__.update(turned.T.__dict__, base=base)
            return
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if gpudata is None and size and (allocator is not None or dtype.kind == "V"):
            gpudata = (allocator or driver.mem_alloc)(size)
            driver.memset_d8(gpudata, 0, size)
        if gpudata is None:
            self._own = _tt.zeros(shape, dtype=dtype.name, device=_at())
            return
        self._memory, self._like = gpudata, (shape, dtype)

    @classmethod
    def _of(cls, array):
        self = cls.__new__(cls)
        self._own = array
        return self

    def _part_of(self, part):
        """What `part` takes of the array: a view shares its elements, also once they lie at an address."""
        array = self._array
        made = GPUArray._of(part(array))
        if made._own is array or made._own.base is not None:
            made._whole, made._part = self, part
        return made

    def _lies(self):
        """Does the array, or what it is a part of, lie at an address?"""
        return self._memory is not None or (self._whole is not None and self._whole._lies())

    @property
    def _array(self):
        if self._memory is not None:
            shape, kind = self._like
            if kind.kind == "V":
                raise TypeError(f"elements of {kind} are structures: they are arguments of kernels, not operands")
            return driver._do(_core.raw_load, int(self._memory), kind.name, shape)
        return self._part(self._whole._array) if self._lies() else self._own

    def _change(self, change):
        """Let change(array) write into the elements."""
        if self._memory is not None:
            array = self._array
            change(array)
            driver._do(_core.raw_store, int(self._memory), array)
        elif self._lies():
            self._whole._change(lambda whole: change(self._part(whole)))
        else:
            change(self._own)

    def _settle(self):
        """Give the array an address; its elements are copied there. Arrays without elements have none."""
        if self._lies() or not self._own.size:
            return
        if self._whole is not None:
            self._whole._settle()
            return
        if _is_turned(self._own):
            self._whole, self._part = GPUArray._of(self._own.T), lambda a: a.T
            self._whole._settle()
            return
        self._like = self.shape, self.dtype
        array = _tt.ascontiguousarray(self._own)
        memory = driver.mem_alloc(array.nbytes)
        driver._do(_core.raw_store, int(memory), array)
        self._memory, self._own = memory, None

    @property
    def ptr(self):
        """The address of the first element."""
        self._settle()
        if self._memory is not None:
            return int(self._memory)
        if self._whole is None:
            return 0
        blank = self._blank()
        inside = _core.raw_inside(blank.T if _is_turned(blank) else blank)
        if inside is None:
            raise ValueError("the array is not contiguous; pass a copy of it")
        root = self._whole
        while root._whole is not None:
            root = root._whole
        return root.ptr + inside

    def _blank(self):
        """An array of this layout, never computed."""
        if self._memory is not None:
            return _tt.empty(self.shape, dtype=self.dtype.name)
        return self._part(self._whole._blank())

    def _around_launch(self, before, after):
        return self.ptr if self._lies() else self._own.T if _is_turned(self._own) else self._own

    @property
    def _jit_argument(self):
        """What Numba's kernels take: the array itself, or on the CPU the memory at its address."""
        if not self._lies():
            return self._own
        if self._home().type == "cuda":
            raise AttributeError("_jit_argument")  # they look at __cuda_array_interface__
        memory = (ctypes.c_char * self.nbytes).from_address(self.ptr)
        memory._owner = self
        return np.frombuffer(memory, self.dtype).reshape(self.shape)

    @property
    def __cuda_array_interface__(self):
        """The array's memory: a GPU's, or the processor's where programs run on it."""
        interface = {"shape": self.shape, "strides": self.strides, "data": (self.ptr, False), "stream": None}
        return {**interface, "typestr": self.dtype.str, "version": 3}

    def _home(self):
        if self._memory is not None:
            return numbered(_core.raw_find(int(self._memory))[0])
        return self._whole._home() if self._lies() else self._own.device

    shape = property(lambda self: self._like[0] if self._memory is not None else tuple(self._own.shape))
    dtype = property(lambda self: self._like[1] if self._memory is not None else np.dtype(self._own.dtype.name))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    ndim = property(lambda self: len(self.shape))
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    gpudata = property(_Data, doc="Its memory: an argument of kernels, or int(a.gpudata), its address.")
    T = property(lambda self: self._part_of(lambda a: a.T))
    real = property(lambda self: self._part_of(lambda a: a.real))
    imag = property(lambda self: self._part_of(lambda a: a.imag))
    mem_size = size
    flags = property(ArrayFlags, doc="In which orders its elements lie without gaps.")

    @property
    def strides(self):
        """Bytes from one element to the next along each axis."""
        return _layout.steps(*self._like_bytes()) if self._memory is not None else tuple(self._own.strides)

    def _like_bytes(self):
        return self._like[0], self._like[1].itemsize

    def __len__(self):
        return self.shape[0]

    def get(self, ary=None, stream=None, pagelocked=False):
        if self.dtype.kind == "V":
            host = driver.from_device(int(self._memory), self.shape, self.dtype)
        else:
            host = self._array.numpy()
        if ary is None:
            return np.array(host)
        if tuple(ary.shape) != self.shape:
            raise ValueError("self and ary must be the same size/shape")
        ary[...] = host
        return ary

    def get_async(self, stream=None, ary=None):
        return self.get(ary)

    def set(self, ary, stream=None):
        if tuple(np.shape(ary)) != self.shape:
            raise ValueError("ary and self must be the same size")
        if self.dtype.kind == "V":
            driver.memcpy_htod(int(self._memory), np.ascontiguousarray(ary, self.dtype))
            return
        self._put(_tt.asarray(_plain(ary), device=self._home()))

    set_async = set

    def _put(self, value):
        def change(array):
            array[...] = value

        self._change(change)

    def copy(self):
        if self.dtype.kind == "V":
            made = GPUArray(self.shape, self.dtype)
            driver.memcpy_dtod(int(made._memory), int(self._memory), self.nbytes)
            return made
        return GPUArray._of(_keeping(lambda a: a.copy(), self._array))

    def fill(self, value, stream=None):
        if self.dtype.kind == "V":
            self.set(np.full(self.shape, value, self.dtype))
        else:
            self._put(value)
        return self

    def astype(self, dtype, stream=None):
        return GPUArray._of(self._array.astype(np.dtype(dtype).name))

    def reshape(self, *shape, order="C"):
        if order == "F":
            shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
            if not self.flags.f_contiguous:
                return GPUArray._of(_tt.ascontiguousarray(self._array.reshape(tuple(shape), order="F").T).T)
            return self._part_of(lambda a: a.T.reshape(tuple(shape)[::-1]).T)
        made = self._part_of(lambda a: a.reshape(*shape))
        return made if made.flags.c_contiguous else GPUArray._of(_tt.ascontiguousarray(made._array))

    def ravel(self, order="C"):
        return self._part_of(lambda a: a.ravel())

    def transpose(self, axes=None):
        return self._part_of(lambda a: a.transpose(axes) if axes is not None else a.T)

    def squeeze(self):
        return self._part_of(lambda a: a.squeeze())

    def view(self, dtype=None):
        name = np.dtype(dtype or self.dtype).name
        return self._part_of(lambda a: a.view(name))

    def reverse(self, stream=None):
        """The elements from the last to the first."""
        return GPUArray._of(self._array[::-1].copy())

    def conj(self, out=None):
        return _into(out, _keeping(_tt.conj, self._array))

    conjugate = conj

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None, out=None):
        return _into(out, self._array * selffac + _plain(other) * otherfac)

    def any(self, stream=None, allocator=None):
        return GPUArray._of(_tt.asarray(_tt.any(self._array)))

    def all(self, stream=None, allocator=None):
        return GPUArray._of(_tt.asarray(_tt.all(self._array)))

    def rand(self, stream=None):
        """Fill the array with numbers from 0 up to 1."""
        from . import curandom

        self._put(_plain(curandom.rand(self.shape, self.dtype)))
        return self

    def _structures_at(self, index):
        """A part of an array of structures, which lies in one piece."""
        shape, kind = self._like
        blank = np.empty(shape, kind)
        part = blank[index]
        at = part.__array_interface__["data"][0] - blank.__array_interface__["data"][0] if part.shape else 0
        if not part.shape:
            at = int(np.arange(blank.size).reshape(shape)[index]) * kind.itemsize
        elif not part.flags.c_contiguous or not np.may_share_memory(part, blank):
            raise NotImplementedError(f"a part of an array of {kind} that does not lie in one piece is not covered")
        return GPUArray(part.shape, kind, base=self, gpudata=int(self._memory) + at)

    def __getitem__(self, index):
        index = _plain(index)
        if self.dtype.kind == "V":
            return self._structures_at(index)
        if (
            isinstance(index, (int, np.integer, tuple))
            and Ellipsis not in np.atleast_1d(np.array(index, object)).tolist()
        ):
            index = (*index, ...) if isinstance(index, tuple) else (index, ...)  # an element is an array of no axes
        return self._part_of(lambda a: a[index])

    def __setitem__(self, index, value):
        if self.dtype.kind == "V":
            host = self.get()
            host[_plain(index)] = value.get() if isinstance(value, GPUArray) else value
            self.set(host)
            return
        index, value = _plain(index), _plain(value)

        def change(array):
            array[index] = value

        self._change(change)

    def __abs__(self):
        return GPUArray._of(abs(self._array))

    def __neg__(self):
        return GPUArray._of(-self._array)

    def __pos__(self):
        return self.copy()

    def __invert__(self):
        return GPUArray._of(~self._array)

    def __iter__(self):
        return (self[k] for k in builtins.range(len(self)))

    def __array__(self, dtype=None, copy=None):
        return self.get() if dtype is None else self.get().astype(dtype)

    def __repr__(self):
        return repr(self.get())

    def __str__(self):
        return str(self.get())

    def __bool__(self):
        return bool(self._array)

    def __float__(self):
        return float(self._array)

    def __int__(self):
        return int(self._array)

    __hash__ = None


def _binary(name):
    def operator(self, other):
        result = getattr(self._array, name)(_plain(other))
        return result if result is NotImplemented else GPUArray._of(result)

    operator.__name__ = name
    return operator


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(GPUArray, f"__{_name}__", _binary(f"__{_name}__"))
    setattr(GPUArray, f"__r{_name}__", _binary(f"__r{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(GPUArray, f"__{_name}__", _binary(f"__{_name}__"))


def _in_place(name):
    def operator(self, other):
        self._put(getattr(self._array, name)(_plain(other)))
        return self

    return operator


for _name in ("add", "sub", "mul", "truediv"):
    setattr(GPUArray, f"__i{_name}__", _in_place(f"__{_name}__"))


def _into(out, result):
    """The result: an array of its own, or in `out`."""
    if out is None:
        return GPUArray._of(result)
    out._put(result)
    return out


# ---- making


def to_gpu(ary, allocator=None):
    """An array's elements on the device, in the order in which they lie."""
    ary = np.asarray(ary)
    if ary.dtype.kind == "V":
        made = GPUArray(ary.shape, ary.dtype, allocator)
        made.set(ary)
        return made
    if ary.ndim > 1 and ary.flags.f_contiguous and not ary.flags.c_contiguous:
        return GPUArray._of(_tt.array(ary.T, device=_at())).T
    made = GPUArray._of(_tt.array(np.asarray(ary, order="C"), device=_at()))
    if allocator is None:
        return made
    placed = GPUArray(ary.shape, ary.dtype, allocator)
    placed._put(made._own)
    return placed


def to_gpu_async(ary, allocator=None, stream=None):
    return to_gpu(ary, allocator)


def empty(shape, dtype=np.float64, *, allocator=None, order="C"):
    return GPUArray(shape, dtype, allocator, order=order)


zeros = empty


def ones(shape, dtype=np.float64, *, allocator=None, order="C"):
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def _order_like(other, order):
    flags = other.flags
    return "F" if order == "F" or (order in "AK" and flags.f_contiguous and not flags.c_contiguous) else "C"


def empty_like(other, dtype=None, order="K"):
    return GPUArray(other.shape, dtype or other.dtype, order=_order_like(other, order))


zeros_like = empty_like


def ones_like(other, dtype=None, order="K"):
    return empty_like(other, dtype, order).fill(1)


def arange(*args, dtype=None, **kw):
    return to_gpu(np.arange(*args, dtype=dtype))


# ---- reducing and choosing


def _put_where(allocator, result):
    """A reduction's result, in memory of the allocator where there is one."""
    made = GPUArray._of(_tt.asarray(result))
    if allocator is None:
        return made
    placed = GPUArray(made.shape, made.dtype, allocator)
    placed._put(made._own)
    return placed


def _reduction(name):
    def function(a, dtype=None, stream=None, allocator=None):
        return _put_where(allocator, getattr(_tt, name)(_plain(a)))

    function.__name__ = name
    return function


sum, max, min, any, all = (_reduction(n) for n in ("sum", "max", "min", "any", "all"))  # noqa: A001


def dot(a, b, dtype=None, stream=None, allocator=None):
    return _put_where(allocator, _tt.sum(_plain(a) * _plain(b)))


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    return dot(take(a, subset), take(b, subset), dtype, stream, allocator)


def _of_subset(reduction):
    def function(subset, a, dtype=None, stream=None, allocator=None):
        return reduction(take(a, subset), dtype, stream, allocator)

    function.__name__ = "subset_" + reduction.__name__
    return function


subset_sum, subset_max, subset_min = map(_of_subset, (sum, max, min))


def take(a, indices, out=None, stream=None):
    return _into(out, _tt.take(_plain(a), _plain(indices)))


def put(a, indices, out=None, stream=None):
    """Elements of `a` to the places of `out` that `indices` name."""
    places, values = _plain(indices), _plain(a)
    if out is None:
        out = GPUArray(int(_tt.max(places)) + 1, a.dtype)

    def change(array):
        array[places] = values

    out._change(change)
    return out


def multi_take(arrays, indices, out=None, stream=None):
    """The same places of several arrays."""
    outs = out or [None] * len(arrays)
    return [take(a, indices, o, stream) for a, o in zip(arrays, outs, strict=True)]


def multi_take_put(arrays, dest_indices, src_indices, dest_shape=None, out=None, stream=None, src_offsets=None):
    """Elements of several arrays at some places to other places of arrays of `dest_shape`."""
    if src_offsets is not None:
        raise NotImplementedError("multi_take_put: src_offsets= is not covered")
    outs = out or [GPUArray(dest_shape, a.dtype) for a in arrays]
    return [put(take(a, src_indices), dest_indices, o) for a, o in zip(arrays, outs, strict=True)]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Elements of several arrays to the same places of arrays of `dest_shape`."""
    outs = out or [GPUArray(dest_shape, a.dtype) for a in arrays]
    return [put(a, dest_indices, o) for a, o in zip(arrays, outs, strict=True)]


def _elementwise(name):
    def function(a, b, out=None, stream=None):
        return _into(out, getattr(_tt, name)(_plain(a), _plain(b)))

    function.__name__ = name
    return function


maximum, minimum, logical_and, logical_or = map(_elementwise, ("maximum", "minimum", "logical_and", "logical_or"))


def logical_not(a, out=None, stream=None):
    return _into(out, _tt.logical_not(_plain(a)))


def if_positive(criterion, then_, else_, out=None, stream=None):
    return _into(out, _tt.where(_plain(criterion) > 0, _plain(then_), _plain(else_)))


def where(criterion, then_, else_, out=None, stream=None):
    return _into(out, _tt.where(_plain(criterion) != 0, _plain(then_), _plain(else_)))


def concatenate(arrays, axis=0, allocator=None):
    return GPUArray._of(_tt.concatenate([_plain(a) for a in arrays], axis=axis))


def stack(arrays, axis=0, allocator=None):
    return GPUArray._of(_tt.stack([_plain(a) for a in arrays], axis=axis))


def transpose(a, axes=None):
    return a.transpose(axes)


def reshape(a, *shape, order="C"):
    return a.reshape(*shape, order=order)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.gpuarray.{name}")
