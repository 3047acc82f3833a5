"""Methods of arrays that few programs call: memory as bytes, pickles, a new size in place."""

import operator

from . import _core


def _bytes_of(a):
    """The bytes of each element along a new last axis; a view where elements are neighbours."""
    return a.reshape((*a.shape, 1)).view("uint8")


def resize(self, *new_shape, refcheck=True):
    """Another shape in place: elements go, or zeros come, at the end."""
    if not new_shape or new_shape[0] is None:
        return
    if len(new_shape) == 1 and not hasattr(new_shape[0], "__index__"):
        new_shape = new_shape[0]
    shape = tuple(operator.index(n) for n in new_shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions not allowed")
    if self.base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    if self.requires_grad and self.is_leaf and _core.is_grad_enabled():
        raise RuntimeError("cannot resize variables that require grad")
    size = 1
    for n in shape:
        size *= n
    flat = self.ravel()[:size]
    if size > self.size:
        more = _core.functions["zeros"](size - self.size, self.dtype)
        flat = _core.functions["concatenate"]([flat, more])
    _core._become(self, _core.array(flat.reshape(shape)))


def byteswap(self, inplace=False):
    """The bytes of each element the other way round."""
    parts = 2 if self.dtype.kind == "c" else 1  # each by itself
    bytes_of = _bytes_of(self.copy(order="K")).reshape((*self.shape, parts, self.itemsize // parts))[..., ::-1]
    made = _core.array(bytes_of).reshape((*self.shape, self.itemsize)).view(self.dtype).reshape(self.shape)
    if not inplace:
        return made if type(self) is _core.ndarray else _core.ndarray.__array_wrap__(self, made)
    self[...] = made
    return self


def getfield(self, dtype, offset=0):
    """Part of the bytes of each element as another type."""
    dtype = _core.dtype(dtype)
    offset = operator.index(offset)
    if not -(2**31) <= offset < 2**31:  # NumPy's offset is an int of C
        raise OverflowError("Python integer out of bounds for a 32-bit offset")
    if offset < 0:
        raise ValueError("offset is negative")
    if offset + dtype.itemsize > self.itemsize:
        raise ValueError("new type plus offset is larger than original type")
    part = _bytes_of(self)[..., offset : offset + dtype.itemsize]
    return part.view(dtype)[..., 0]


def setfield(self, val, dtype, offset=0):
    """Write part of the bytes of each element."""
    getfield(self, dtype, offset)[...] = val


def get(self, stream=None, order="C", blocking=True, out=None):
    """A NumPy array of one's own, as CuPy has it; complete when it returns, whatever `stream` says."""
    import numpy

    if order not in ("C", "F", "A"):
        raise ValueError(f"unsupported order: {order}")
    if out is None:
        made = self.numpy()
        return made if order == "A" else numpy.asarray(made, order=order)
    if not isinstance(out, numpy.ndarray):
        raise TypeError("Only numpy.ndarray can be obtained from tutti.ndarray")
    if self.dtype != out.dtype:
        raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
    if self.shape != out.shape:
        raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
    out[...] = numpy.asarray(self)
    return out


def dumps(self):
    """The pickle of the array."""
    import pickle

    return pickle.dumps(self)


def dump(self, file):
    """Write the pickle of the array to a file."""
    import pickle

    from ._files import _io

    if not _io._is_path(file):
        pickle.dump(self, file)
        return
    with open(file, "wb") as f:
        pickle.dump(self, f)


def detach(self):
    """The same values without their history."""
    return _core.detach(self)


def requires_grad_(self, requires_grad=True):
    """Ask for gradients; returns the array."""
    self.requires_grad = requires_grad
    return self


def retain_grad(self):
    """Keep the gradient of a computed array in .grad."""
    _core.retain_grad(self)


def register_hook(self, hook):
    """Call hook(gradient) whenever one is computed; what it returns takes its place."""
    from . import autograd

    return autograd.RemovableHandle(self, _core.register_hook(self, hook))


def zero_(self):
    """Write zeros everywhere; returns the array."""
    from . import autograd

    with autograd.no_grad():
        self[...] = 0
    return self
