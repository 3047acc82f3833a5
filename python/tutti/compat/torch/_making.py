"""Tensors from nothing, from Python's objects and from other libraries' arrays."""

import tutti as _tt

from ... import _core
from ._tensor import Tensor, listed, tensor_of, written

__all__ = [
    "as_tensor", "asarray", "empty", "eye", "from_dlpack", "from_numpy", "frombuffer", "full", "linspace", "logspace",
    "ones", "tensor", "zeros",
]  # fmt: skip


def _finished(made, requires_grad, out=None):
    made = _core._as_tensor(made)
    if out is not None:
        return written(out, made)
    return made.requires_grad_() if requires_grad else made


def _filled(make):
    def call(*size, out=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, **named):
        size = size or (named.pop("size"),)
        dtype = _core._tensor_float(None) if dtype is None else dtype
        return _finished(make(listed(size), dtype=dtype, device=device), requires_grad, out)

    return call


zeros, ones, empty = _filled(_tt.zeros), _filled(_tt.ones), _filled(_tt.empty)


def full(size, fill_value, *, out=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor with one number everywhere."""
    if dtype is None and isinstance(fill_value, float):
        dtype = _core._tensor_float(None)
    return _finished(_tt.full(listed((size,)), fill_value, dtype=dtype, device=device), requires_grad, out)


def eye(n, m=None, *, out=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """The identity matrix."""
    dtype = _core._tensor_float(None) if dtype is None else dtype
    return _finished(_tt.eye(n, m, dtype=dtype, device=device), requires_grad, out)


def _between(make):
    def call(start, end, steps, base=10.0, *, out=None, dtype=None, device=None, requires_grad=False, layout=None):
        start, end = (x.item() if isinstance(x, _core.ndarray) else x for x in (start, end))
        how = {"base": base} if make is _tt.logspace else {}
        dtype = _core._tensor_float(None) if dtype is None else dtype
        made = make(start, end, steps, dtype=dtype, **how)
        return _finished(made if device is None else made.to(device), requires_grad, out)

    return call


linspace, logspace = _between(_tt.linspace), _between(_tt.logspace)


def _is_typed(data):
    """Has it a type of its own, which stays?"""
    return isinstance(data, _core.ndarray) or hasattr(data, "__array_interface__") or hasattr(data, "__array__")


def _converted(data, dtype, device, copy):
    if dtype is None and not _is_typed(data):
        first = data
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        made = _tt.array(data, device=device)
        if not _is_typed(first) and made.dtype.kind in "fc":
            kind = _core._tensor_float(None)
            made = made.astype(
                {"f": kind, "c": "complex128" if kind == _core.float64 else "complex64"}[made.dtype.kind]
            )
        return made
    if isinstance(data, _core.ndarray):
        data = _core.detach(data)
    return _tt.array(data, dtype, device=device) if copy else _tt.asarray(data, dtype, device=device)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of the numbers of lists, of a number, or of an array, which are copied."""
    return _finished(_converted(data, dtype, device, True), requires_grad)


def as_tensor(data, dtype=None, device=None):
    """The same, without a copy where it is a tensor already."""
    if isinstance(data, Tensor) and dtype is None and device is None:
        return data
    return tensor_of(_converted(data, dtype, device, False))


asarray = as_tensor


def from_numpy(ndarray):
    """The elements of NumPy's array, which are copied."""
    return tensor_of(_tt.array(ndarray))


def from_dlpack(ext_tensor):
    """The elements of another library's array."""
    return tensor_of(_tt.from_dlpack(ext_tensor))


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """Memory as a tensor."""
    return _finished(_tt.frombuffer(buffer, dtype, count, offset), requires_grad)


def _new(cls, *args, dtype=None, device=None):
    """torch.Tensor(2, 3), of elements that nobody has written, and torch.Tensor([1, 2])."""
    if len(args) == 1 and not isinstance(args[0], (int, torch_size)):
        return tensor(args[0], dtype=dtype or _core._tensor_float(None), device=device)
    return zeros(*args, dtype=dtype, device=device) if args else zeros(0, dtype=dtype, device=device)


torch_size = type(zeros(1).shape)
Tensor.__new__ = staticmethod(_new)


def typed(name):
    """torch.LongTensor and the like."""

    def make(*args):
        return _new(Tensor, *args, dtype=_core.dtype(name))

    return make
