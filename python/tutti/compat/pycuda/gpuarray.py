"""pycuda.gpuarray: arrays with NumPy's operators, over tutti's."""

import numpy as np

import tutti as _tt

_HERE = "cpu"  # PyCUDA's device memory is the processor's, see driver.py


def _plain(x):
    return x._array if isinstance(x, GPUArray) else x


class GPUArray:
    """An array on the device."""

    __array_priority__ = 100

    def __init__(self, shape, dtype, allocator=None, base=None, gpudata=None, order="C"):
        if gpudata is not None:
            raise NotImplementedError("an array over given device memory is not covered")
        self._array = _tt.zeros(shape, dtype=np.dtype(dtype).name, device=_HERE)

    @classmethod
    def _of(cls, array):
        self = cls.__new__(cls)
        self._array = array
        return self

    def _around_launch(self, before, after):
        return self._array

    def _view(self):
        return np.asarray(self._array)

    shape = property(lambda self: tuple(self._array.shape))
    size = property(lambda self: self._array.size)
    ndim = property(lambda self: self._array.ndim)
    nbytes = property(lambda self: self._array.nbytes)
    dtype = property(lambda self: np.dtype(self._array.dtype.name))
    gpudata = property(lambda self: self)
    ptr = property(lambda self: self)
    T = property(lambda self: GPUArray._of(self._array.T))
    real = property(lambda self: GPUArray._of(self._array.real))
    imag = property(lambda self: GPUArray._of(self._array.imag))
    mem_size = size

    def __len__(self):
        return len(self._array)

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
        self._array[...] = _tt.asarray(ary, device=_HERE)

    set_async = set

    def copy(self):
        return GPUArray._of(self._array.copy())

    def fill(self, value, stream=None):
        self._array[...] = value
        return self

    def astype(self, dtype, stream=None):
        return GPUArray._of(self._array.astype(np.dtype(dtype).name))

    def reshape(self, *shape, order="C"):
        return GPUArray._of(self._array.reshape(*shape))

    def ravel(self):
        return GPUArray._of(self._array.ravel())

    def transpose(self, axes=None):
        return GPUArray._of(self._array.transpose(axes) if axes is not None else self._array.T)

    def conj(self):
        return GPUArray._of(_tt.conj(self._array))

    def mul_add(self, selffac, other, otherfac, add_timer=None, stream=None):
        return GPUArray._of(self._array * selffac + _plain(other) * otherfac)

    def __getitem__(self, index):
        return GPUArray._of(self._array[_plain(index)])

    def __setitem__(self, index, value):
        self._array[_plain(index)] = _plain(value)

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
        self._array[...] = getattr(self._array, name)(_plain(other))
        return self

    return operator


for _name in ("add", "sub", "mul", "truediv"):
    setattr(GPUArray, f"__i{_name}__", _in_place(f"__{_name}__"))


# ---- making


def to_gpu(ary, allocator=None):
    return GPUArray._of(_tt.array(np.ascontiguousarray(ary), device=_HERE))


def to_gpu_async(ary, allocator=None, stream=None):
    return to_gpu(ary)


def empty(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray(shape, dtype)


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray(shape, dtype)


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    return GPUArray._of(_tt.ones(shape, dtype=np.dtype(dtype).name, device=_HERE))


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
