"""pycuda.gpuarray: arrays with NumPy's operators, over tutti's."""

import ctypes

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from . import _place, driver


def _plain(x):
    return x._array if isinstance(x, GPUArray) else x


def _at():
    return numbered(_place.here())


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
    _own = _memory = _whole = None

    def __init__(self, shape, dtype, allocator=None, base=None, gpudata=None, order="C"):
        shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
        if gpudata is None:
            self._own = _tt.zeros(shape, dtype=np.dtype(dtype).name, device=_at())
            return
        if order != "C":
            raise NotImplementedError("an array in Fortran's order over given device memory is not covered")
        self._memory, self.base = gpudata, base
        self._like = shape, np.dtype(dtype)

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
        inside = _core.raw_inside(self._blank())
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
        return self.ptr if self._lies() else self._own

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
        """The array's memory, on a GPU."""
        if self._home().type != "cuda":
            raise AttributeError("the array is on no CUDA device")
        data = self.ptr, False
        return {"shape": self.shape, "typestr": self.dtype.str, "data": data, "strides": None, "version": 3}

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

    def __len__(self):
        return self.shape[0]

    def get(self, ary=None, stream=None, pagelocked=False):
        host = self._array.numpy()
        if ary is None:
            return np.array(host)
        ary[...] = host
        return ary

    get_async = get

    def set(self, ary, stream=None):
        if tuple(np.shape(ary)) != self.shape:
            raise ValueError("ary and self must be the same size")
        self._put(_tt.asarray(_plain(ary), device=self._home()))

    set_async = set

    def _put(self, value):
        def change(array):
            array[...] = value

        self._change(change)

    def copy(self):
        return GPUArray._of(self._array.copy())

    def fill(self, value, stream=None):
        self._put(value)
        return self

    def astype(self, dtype, stream=None):
        return GPUArray._of(self._array.astype(np.dtype(dtype).name))

    def reshape(self, *shape, order="C"):
        return self._part_of(lambda a: a.reshape(*shape))

    def ravel(self):
        return self._part_of(lambda a: a.ravel())

    def transpose(self, axes=None):
        return self._part_of(lambda a: a.transpose(axes) if axes is not None else a.T)

    def squeeze(self):
        return self._part_of(lambda a: a.squeeze())

    def view(self, dtype=None):
        return self._part_of(lambda a: a.view(np.dtype(dtype or self.dtype).name))

    def conj(self):
        return GPUArray._of(_tt.conj(self._array))

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None):
        return GPUArray._of(self._array * selffac + _plain(other) * otherfac)

    def __getitem__(self, index):
        index = _plain(index)
        return self._part_of(lambda a: a[index])

    def __setitem__(self, index, value):
        index, value = _plain(index), _plain(value)

        def change(array):
            array[index] = value

        self._change(change)

    def __abs__(self):
        return GPUArray._of(abs(self._array))

    def __neg__(self):
        return GPUArray._of(-self._array)

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


# ---- making


def to_gpu(ary, allocator=None):
    return GPUArray._of(_tt.array(np.ascontiguousarray(ary), device=_at()))


def to_gpu_async(ary, allocator=None, stream=None):
    return to_gpu(ary)


def empty(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray(shape, dtype)


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray(shape, dtype)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray._of(_tt.ones(shape, dtype=np.dtype(dtype).name, device=_at()))


def empty_like(other, dtype=None, order="K"):
    return GPUArray(other.shape, dtype or other.dtype)


zeros_like = empty_like


def ones_like(other, dtype=None, order="K"):
    return ones(other.shape, dtype or other.dtype)


def arange(*args, dtype=None, **kw):
    return to_gpu(np.arange(*args, dtype=dtype))


# ---- reducing and choosing


def _reduction(name):
    def function(a, dtype=None, stream=None, allocator=None):
        return GPUArray._of(_tt.asarray(getattr(_tt, name)(_plain(a))))

    function.__name__ = name
    return function


sum, max, min, any, all = (_reduction(n) for n in ("sum", "max", "min", "any", "all"))  # noqa: A001


def dot(a, b, dtype=None, stream=None):
    return GPUArray._of(_tt.asarray(_tt.sum(_plain(a) * _plain(b))))


def subset_sum(subset, a, dtype=None, stream=None):
    return sum(take(a, subset))


def take(a, indices, out=None, stream=None):
    return GPUArray._of(_tt.take(_plain(a), _plain(indices)))


def maximum(a, b, out=None, stream=None):
    return GPUArray._of(_tt.maximum(_plain(a), _plain(b)))


def minimum(a, b, out=None, stream=None):
    return GPUArray._of(_tt.minimum(_plain(a), _plain(b)))


def if_positive(criterion, then_, else_, out=None, stream=None):
    return GPUArray._of(_tt.where(_plain(criterion) > 0, _plain(then_), _plain(else_)))


def concatenate(arrays, axis=0, allocator=None):
    return GPUArray._of(_tt.concatenate([_plain(a) for a in arrays], axis=axis))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.gpuarray.{name}")
