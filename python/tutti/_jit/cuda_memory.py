"""Memory of the device, and which way host arrays go. On the CPU it is the host's, as NumPy's arrays."""

from .. import _core
from . import settings
from .cuda_place import gpu
from .dispatch import _numpy

__all__ = [
    "In", "InOut", "Out", "as_cuda_array", "device_array", "device_array_like", "from_cuda_array_interface",
    "is_cuda_array", "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned", "pinned_array_like",
    "to_device",
]  # fmt: skip

# ---- arguments of a launch: which way host arrays go


class In:
    """cuda.In(array): the kernel has the elements, the host does not see what it writes.

    Parameters
    ----------
    value : array_like
        The array.

    Examples
    --------
    >>> tt.cuda.In(tt.arange(3)) is not None
    True
    """

    def __init__(self, value):
        self.value = value
        self._jit_argument = value if is_cuda_array(value) else _new_device_array_of(value)

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)


class InOut:
    """cuda.InOut(array): the kernel has the elements and the host has what it writes, as without a word.

    Parameters
    ----------
    value : array_like
        The array.

    Examples
    --------
    >>> tt.cuda.InOut(tt.arange(3)) is not None
    True
    """

    def __init__(self, value):
        self.value = self._jit_argument = value

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)


class Out(InOut):
    """cuda.Out(array): the host has what the kernel writes.

    Parameters
    ----------
    value : array_like
        The array.

    Examples
    --------
    >>> tt.cuda.Out(tt.zeros(3)) is not None
    True
    """


# ---- memory of the device


def need_numpy():
    np = _numpy()
    if np is None:
        import numpy as np
    return np


class DeviceArray:
    """An array in the device's memory."""

    def __init__(self, array):
        self._jit_argument = array

    shape = property(lambda self: self._jit_argument.shape)
    dtype = property(lambda self: self._jit_argument.dtype)
    size = property(lambda self: self._jit_argument.size)
    ndim = property(lambda self: self._jit_argument.ndim)
    strides = property(lambda self: self._jit_argument.strides)
    nbytes = alloc_size = property(lambda self: self._jit_argument.nbytes)
    flags = property(lambda self: self._jit_argument.flags)
    T = property(lambda self: DeviceArray(self._jit_argument.T))

    @property
    def __cuda_array_interface__(self):
        """The array's memory as CUDA's interface says it: here the processor's."""
        shown = dict(self._jit_argument.__array_interface__)
        kept = {key: shown[key] for key in ("shape", "typestr", "strides", "data")}
        return {**kept, "data": (kept["data"][0], False), "stream": None, "version": 3}

    stream = 0  # that its copies are in order with

    @property
    def _numba_type_(self):
        """What Numba's names call its type."""
        from ..compat.numba import typeof

        return typeof(self)

    def bind(self, stream=0):
        """The same array, whose copies go by a stream: they are in order with every other work anyway."""
        bound = type(self)(self._jit_argument)
        bound.stream = stream
        return bound

    @property
    def device_ctypes_pointer(self):
        """The address as ctypes hands it on."""
        import ctypes

        return ctypes.c_void_p(self.__cuda_array_interface__["data"][0])

    def transpose(self, axes=None):
        """The same memory with its axes in another order."""
        return type(self)(self._jit_argument.transpose() if axes is None else self._jit_argument.transpose(axes))

    def split(self, section, stream=0):
        """Parts of so many elements of an array of one axis, one after another."""
        if len(self.shape) != 1:
            raise ValueError("only arrays of one axis are split")
        return (self[at : at + section] for at in range(0, self.size, section))

    def getitem(self, index, stream=0):
        """self[index] in order with a stream."""
        return self[index]

    def setitem(self, index, value, stream=0):
        """self[index] = value in order with a stream."""
        self[index] = value

    def __len__(self):
        return len(self._jit_argument)

    def __array__(self, dtype=None, copy=None):
        return self._jit_argument.astype(dtype) if dtype is not None else self._jit_argument.copy()

    def __getitem__(self, index):
        part = self._jit_argument[index]
        return DeviceArray(part) if getattr(part, "ndim", 0) else part

    def __setitem__(self, index, value):
        self._jit_argument[index] = getattr(value, "_jit_argument", value)

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        if ary is None:
            return self._jit_argument.copy()
        ary[...] = self._jit_argument.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        other = getattr(ary, "_jit_argument", ary)
        if getattr(other, "shape", self.shape) != self.shape:
            raise ValueError(f"an array of shape {other.shape} does not fit one of shape {self.shape}")
        self._jit_argument[...] = other

    def reshape(self, *shape, **options):
        return DeviceArray(self._jit_argument.reshape(*shape, **options))

    def ravel(self, order="C", stream=0):
        return DeviceArray(self._jit_argument.ravel(order))

    def view(self, dtype):
        return DeviceArray(self._jit_argument.view(dtype))

    def is_c_contiguous(self):
        return self._jit_argument.flags.c_contiguous

    def is_f_contiguous(self):
        return self._jit_argument.flags.f_contiguous

    def __repr__(self):
        return f"<device array of shape {self.shape}, {self.dtype}>"


class GpuArray(DeviceArray):
    """An array in a GPU's memory: one of ours, put there. Others see it through __cuda_array_interface__."""

    def __init__(self, array):
        from .._hooks import _numpy_dtype

        self._jit_argument, self.dtype = array, _numpy_dtype(array.dtype)

    dtype = None
    __cuda_array_interface__ = property(lambda self: self._jit_argument.__cuda_array_interface__)
    T = property(lambda self: GpuArray(self._jit_argument.T))

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        np = need_numpy()
        fits = ary is not None and ary.dtype == self.dtype and ary.size == self.size and ary.flags.c_contiguous
        made = ary if fits and ary.flags.writeable else np.empty(self.shape, self.dtype)
        if self.size:
            _core._read(self._jit_argument, made.reshape(-1).view("u1"))
        if ary is None:
            return made
        if made is not ary:
            ary[...] = made.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        self[...] = ary

    def __getitem__(self, index):
        part = self._jit_argument[index]
        return GpuArray(part) if part.ndim else GpuArray(part).copy_to_host()[()]

    def __setitem__(self, index, value):
        if isinstance(value, GpuArray):
            value = value._jit_argument
        else:
            value = package().array(need_numpy().asarray(value).astype(self.dtype), device=self._jit_argument.device)
        self._jit_argument[index] = value

    def reshape(self, *shape, **options):
        """The same memory with other axes."""
        if not self.is_c_contiguous():
            raise ValueError("only dense arrays of a GPU are reshaped")
        return GpuArray(self._jit_argument.reshape(*shape))

    def ravel(self, order="C", stream=0):
        return self.reshape(self.size)

    def __array__(self, dtype=None, copy=None):
        made = self.copy_to_host()
        return made if dtype is None else made.astype(dtype)

    def __repr__(self):
        return f"<array of shape {self.shape}, {self.dtype} on a GPU>"


def package():
    import tutti

    return tutti


def _on_gpu(make, *args, **names):
    from .._device import numbered

    return GpuArray(getattr(package(), make)(*args, device=numbered(gpu()), **names))


class ForeignArray:
    """Another library's array in a GPU's memory: kernels use it in place, by its address."""

    def __init__(self, shape, dtype, base, at, strides=None):
        np = need_numpy()
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.ndim, self.size = len(shape), int(np.prod(shape, dtype=np.int64))
        self.nbytes = self.alloc_size = self.size * self.dtype.itemsize
        dense, step = [], self.dtype.itemsize
        for n in reversed(shape):
            dense.insert(0, step)
            step *= n
        self.strides = tuple(dense) if strides is None else strides
        self.base, self.device, self.at = base, gpu(), at
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": self.dtype.str,
            "data": (self.at, False),
            "strides": None if self.strides == tuple(dense) else self.strides,
            "version": 3,
        }

    def __len__(self):
        return self.shape[0]

    def is_c_contiguous(self):
        return self.__cuda_array_interface__["strides"] is None

    def copy_to_host(self, ary=None, stream=0):
        """The elements in host memory: a new array, or `ary`."""
        np = need_numpy()
        made = np.empty(self.shape, self.dtype)
        if not self.is_c_contiguous():
            whole = self.base
            host = whole.copy_to_host()
            made[...] = np.ndarray(
                self.shape, self.dtype, host.reshape(-1).view("u1"), self.at - whole.at, self.strides
            )
        elif self.nbytes:
            _core._memory_copy(self.device, self.at, made.reshape(-1).view("u1"), True)
        if ary is None:
            return made
        ary[...] = made.reshape(ary.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`."""
        np = need_numpy()
        if hasattr(ary, "copy_to_host"):
            ary = ary.copy_to_host()
        host = np.ascontiguousarray(np.broadcast_to(ary, self.shape), self.dtype)
        if self.is_c_contiguous():
            if self.nbytes:
                _core._memory_copy(self.device, self.at, host.reshape(-1).view("u1"), False)
            return
        whole = self.base.copy_to_host()
        np.ndarray(self.shape, self.dtype, whole.reshape(-1).view("u1"), self.at - self.base.at, self.strides)[...] = (
            host
        )
        self.base.copy_to_device(whole)

    def _part(self, index):
        """Where a[index] lies, and whether it is one element: nothing is read."""
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            k = index.index(Ellipsis)
            index = index[:k] + (slice(None),) * (self.ndim - len(index) + 1) + index[k + 1 :]
        if len(index) > self.ndim:
            raise IndexError(f"{len(index)} indices for an array of {self.ndim} axes")
        index += (slice(None),) * (self.ndim - len(index))
        shape, strides, at = [], [], self.at
        for i, n, step in zip(index, self.shape, self.strides):
            if isinstance(i, slice):
                start, stop, by = i.indices(n)
                shape.append(len(range(start, stop, by)))
                strides.append(step * by)
                at += step * start if shape[-1] else 0
            else:
                i = int(i)
                if not -n <= i < n:
                    raise IndexError(f"index {i} is out of bounds for an axis with size {n}")
                at += step * (i % n)
        return ForeignArray(tuple(shape), self.dtype, self.base or self, at, tuple(strides)), not shape

    def __getitem__(self, index):
        part, one = self._part(index)
        return part.copy_to_host()[()] if one else part

    def __setitem__(self, index, value):
        self._part(index)[0].copy_to_device(value)

    def reshape(self, *shape, **options):
        """The same memory with other axes."""
        shape = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if -1 in shape:
            rest = 1
            for n in shape:
                rest *= n if n != -1 else 1
            shape = tuple(self.size // max(rest, 1) if n == -1 else n for n in shape)
        total = 1
        for n in shape:
            total *= n
        if total != self.size:
            raise ValueError(f"cannot reshape an array of size {self.size} into {shape}")
        if not self.is_c_contiguous():
            raise ValueError("only dense arrays of a GPU are reshaped")
        return ForeignArray(shape, self.dtype, self.base or self, self.at)

    def ravel(self, order="C", stream=0):
        return self.reshape(self.size)

    @property
    def T(self):  # noqa: N802 (NumPy's name)
        return ForeignArray(self.shape[::-1], self.dtype, self.base or self, self.at, self.strides[::-1])

    def __array__(self, dtype=None, copy=None):
        made = self.copy_to_host()
        return made if dtype is None else made.astype(dtype)

    def __repr__(self):
        return f"<array of shape {self.shape}, {self.dtype} on a GPU>"


def _new_device_array(shape, dtype, order="C"):
    if gpu():
        return _on_gpu("empty", _shape_of(shape), dtype=need_numpy().dtype(dtype).name)
    return DeviceArray(need_numpy().empty(_shape_of(shape), dtype, order))


def _new_device_array_of(array):
    """Device memory with the elements of a host array, once it is needed."""
    made = to_device(array)
    return made if gpu() else made._jit_argument


def _shape_of(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


def to_device(obj, stream=0, copy=True, to=None):
    """The elements of a host array in device memory; `to`: an array there that takes them.

    Parameters
    ----------
    obj : object
        The array.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.
    copy : bool, optional
        True: always a copy; False: never; None: where it is needed.
    to : DeviceArray, optional
        Where to; None: new memory.

    Returns
    -------
    DeviceArray
        The memory.

    Examples
    --------
    >>> tt.cuda.to_device(tt.arange(3)).copy_to_host().tolist()
    [0, 1, 2]
    """
    np = need_numpy()
    if to is not None:
        to.copy_to_device(obj)
        return to
    if isinstance(obj, (DeviceArray, ForeignArray)):
        return obj
    if gpu():
        return _on_gpu("array", obj if isinstance(obj, _core.ndarray) else np.asarray(obj))
    return DeviceArray(np.array(obj.numpy() if isinstance(obj, _core.ndarray) else obj))


def device_array(shape, dtype="float64", strides=None, order="C", stream=0):
    """Device memory, not initialised.

    Parameters
    ----------
    shape : int or tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    strides : tuple of int, optional
        Bytes between neighbours along each axis; None: as they are.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.

    Returns
    -------
    DeviceArray
        The memory.

    Examples
    --------
    >>> tt.cuda.device_array((2, 3)).shape
    (2, 3)
    """
    return _new_device_array(shape, dtype, order)


def device_array_like(ary, stream=0):
    """Device memory for an array like this one.

    Parameters
    ----------
    ary : array_like
        The array.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.

    Returns
    -------
    DeviceArray
        The memory.

    Examples
    --------
    >>> tt.cuda.device_array_like(tt.zeros(3)).shape
    (3,)
    """
    return _new_device_array(ary.shape, ary.dtype, _order_like(ary))


def _order_like(ary):
    """The order of an array without gaps: 'F' where it lies so and not in C's."""
    c, f = (getattr(ary, f"is_{order}_contiguous", None) for order in "cf")
    if c is None or f is None:
        flags = getattr(ary, "flags", None)
        return "F" if flags is not None and flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"] else "C"
    return "F" if f() and not c() else "C"


def _host_array(shape, dtype, order="C"):
    """Host memory that the device copies at full speed, unset."""
    np, place, shape = need_numpy(), gpu(), _shape_of(shape)
    if not place:
        return np.empty(shape, dtype, order)
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    return np.ndarray(shape, dtype, _core._pinned(place, size), order=order)


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=0, portable=False, wc=False):
    """Host memory that kernels take: on a GPU it is pinned, and copied around each launch.

    Parameters
    ----------
    shape : int or tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    strides : tuple of int, optional
        Bytes between neighbours along each axis; None: as they are.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.
    portable : bool, optional
        Taken for Numba's sake.
    wc : bool, optional
        Taken for Numba's sake.

    Returns
    -------
    array
        The memory.

    Examples
    --------
    >>> tt.cuda.mapped_array(3).shape
    (3,)
    """
    return _host_array(shape, dtype, order)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """The same for an array like this one.

    Parameters
    ----------
    ary : array_like
        The array.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.
    portable : bool, optional
        Taken for Numba's sake.
    wc : bool, optional
        Taken for Numba's sake.

    Returns
    -------
    array
        The memory.

    Examples
    --------
    >>> tt.cuda.mapped_array_like(tt.zeros(3)).shape
    (3,)
    """
    return _host_array(ary.shape, ary.dtype, _order_like(ary))


def managed_array(shape, dtype="float64", strides=None, order="C", stream=0, attach_global=True):
    """Memory at one address for the host and a GPU: kernels take it as it is, and what they wrote is there after a
    synchronisation. On the processor it is plain memory.

    Parameters
    ----------
    shape : int or tuple of int
        The lengths of the axes.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    strides : tuple of int, optional
        Bytes between neighbours along each axis; None: as they are.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.
    attach_global : bool, optional
        Taken for Numba's sake.

    Returns
    -------
    array
        The memory.

    Examples
    --------
    >>> tt.cuda.managed_array(3).shape
    (3,)
    """
    np, shape = need_numpy(), _shape_of(shape)
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = _core._managed(gpu() or 0, size, 1 if attach_global else 2)
    return np.ndarray(shape, dtype, memory, order=order)


def pinned_array_like(ary):
    """Host memory that the device copies directly, for an array like this one.

    Parameters
    ----------
    ary : array_like
        The array.

    Returns
    -------
    array
        The memory.

    Examples
    --------
    >>> tt.cuda.pinned_array_like(tt.zeros(3)).shape
    (3,)
    """
    return _host_array(ary.shape, ary.dtype, _order_like(ary))


class Held:
    """A context that asks nothing of us: memory is pinned, kept and given back by the library's own rules."""

    def __init__(self, *what):
        self.what = what

    def __enter__(self):
        return self.what[0] if len(self.what) == 1 else self.what

    def __exit__(self, *error):
        return False


def pinned(*arrays):
    """A context in which these host arrays are copied fast.

    Parameters
    ----------
    *arrays : array_like
        The arrays.

    Returns
    -------
    context manager

    Examples
    --------
    >>> context = tt.cuda.pinned(tt.zeros(3).numpy())
    """
    return Held(*arrays)


def mapped(*arrays, stream=0):
    """A context in which kernels reach these host arrays; gives the array, or a list of them.

    Parameters
    ----------
    *arrays : array_like
        The arrays.
    stream : Stream, optional
        Taken for Numba's sake: work stays in order.

    Returns
    -------
    context manager

    Examples
    --------
    >>> context = tt.cuda.mapped(tt.zeros(3).numpy())
    """
    return Held(arrays[0] if len(arrays) == 1 else list(arrays))


def is_cuda_array(obj):
    """Does it lie in device memory?

    Parameters
    ----------
    obj : object
        The array.

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.cuda.is_cuda_array([1, 2])
    False
    """
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """Another library's array in device memory, without a copy.

    Parameters
    ----------
    obj : object
        The array.
    sync : bool, optional
        Wait for the stream that the interface names.

    Returns
    -------
    DeviceArray
        The same memory.

    Examples
    --------
    >>> d = tt.cuda.as_cuda_array(tt.cuda.device_array(3))
    """
    if isinstance(obj, (DeviceArray, ForeignArray)):
        return obj
    if not is_cuda_array(obj):
        raise TypeError("the object has no __cuda_array_interface__: it does not lie on a GPU")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(desc, owner=None, sync=True):
    """Device memory as CUDA's array interface describes it; `owner` keeps it alive.

    Parameters
    ----------
    desc : dict
        The interface.
    owner : object, optional
        What has the memory.
    sync : bool, optional
        Wait for the stream that the interface names.

    Returns
    -------
    DeviceArray
        The same memory.

    Examples
    --------
    >>> wrap = tt.cuda.from_cuda_array_interface
    """
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    if desc.get("strides") is not None and gpu():
        raise NotImplementedError("an array of another library with strides: make it contiguous there")
    if sync and settings.config.CUDA_ARRAY_INTERFACE_SYNC and gpu() and desc.get("stream") not in (None, 0):
        from .. import cuda

        cuda.ExternalStream(desc["stream"]).synchronize()
    if not gpu():
        return _array_at(desc, owner)
    made = ForeignArray(tuple(desc["shape"]), desc["typestr"], None, desc["data"][0])
    made.owner = owner
    return made


def _array_at(desc, owner):
    """An array of the processor's memory that an interface describes; it keeps the memory's owner."""
    import ctypes

    np = need_numpy()
    kind, shape, strides = np.dtype(desc["typestr"]), tuple(desc["shape"]), desc.get("strides")
    low = high = 0
    for n, step in zip(shape, strides or ()):
        low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
    size = high - low + kind.itemsize if strides else int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    if not size or 0 in shape:
        return DeviceArray(np.empty(shape, kind))
    memory = (ctypes.c_char * size).from_address(desc["data"][0] + low)
    memory._owner = owner
    return DeviceArray(np.ndarray(shape, kind, memory, -low, strides))
