"""The class of tensors: tutti's arrays with PyTorch's methods. Their arithmetic is in _core/array/tensor.c."""

import collections
import math

import tutti as _tt

from ... import _core
from ... import autograd as _autograd

Tensor = _core._tensor_class()


class dtype(_core.dtype):
    """The type of a tensor's elements: equal to tutti's of the same name, printed as PyTorch does."""

    __slots__ = ()

    def __repr__(self):
        return f"torch.{self.name}"

    __str__ = __repr__

    is_floating_point = property(lambda self: self.kind == "f" or self.name == "bfloat16")
    is_complex = property(lambda self: self.kind == "c")
    is_signed = property(lambda self: self.kind not in "ub")

    def to_complex(self):
        """The complex type whose parts are of this one."""
        return dtype("complex128" if self.name in ("float64", "complex128") else "complex64")

    def to_real(self):
        """The type of the parts."""
        return dtype({"complex64": "float32", "complex128": "float64"}.get(self.name, self.name))


_core._tensor_dtypes(dtype)


class Size(tuple):
    """The lengths of a tensor's axes."""

    __slots__ = ()

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self):
        return math.prod(self)

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        return Size(other) + self

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__


class device(str):
    """A device by its name, which is the text that the library takes."""

    __slots__ = ()

    def __new__(cls, type="cpu", index=None):
        if isinstance(type, int):
            type = f"cuda:{type}"
        kind, _, number = str(type).partition(":")
        if kind not in ("cpu", "cuda", "mps", "xpu", "meta"):
            raise RuntimeError(
                f"Expected one of cpu, cuda, mps, xpu, meta device type at start of device string: {type}"
            )
        index = int(number) if number else index
        return str.__new__(cls, kind if index is None else f"{kind}:{index}")

    @property
    def type(self):
        return str(self.partition(":")[0])

    @property
    def index(self):
        number = self.partition(":")[2]
        return int(number) if number else None

    def __repr__(self):
        return f"device(type='{self.type}'{'' if self.index is None else f', index={self.index}'})"

    def __reduce__(self):
        return device, (str(self),)

    def __enter__(self):
        _blocks.append(_tt.device(str(self)))
        return _blocks[-1].__enter__()

    def __exit__(self, *exc):
        return _blocks.pop().__exit__(*exc)


_blocks = []  # of `with device`, the innermost last


def tensor_of(x):
    """An array as a tensor; other things as they are."""
    return _core._as_tensor(x)


def plain(x):
    """A tensor as tutti's array, the same memory, for functions that know its attributes as NumPy's."""
    return _core._rebuild_as(_core.ndarray, x)


def tensors_of(x):
    """The arrays in what a function gives."""
    if isinstance(x, _core.ndarray):
        return _core._as_tensor(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(tensors_of, x))
    return type(x)(map(tensors_of, x)) if type(x) in (tuple, list) else x


class Data(Tensor):
    """The values of a tensor that has a history, without it: what is written here is written there."""


def data_of(tensor):
    """tensor.data"""
    if not tensor.requires_grad:
        return tensor[...]
    made = _core._rebuild_as(Data, _core.detach(tensor))
    made._owner = getattr(tensor, "_owner", tensor)
    return made


def written(tensor, value, index=...):
    """The tensor, whose elements have become others."""
    if type(tensor) is not Data:
        tensor[index] = value
        return tensor
    with _autograd.no_grad():
        tensor._owner[index] = value
        _core._become(tensor, _core.detach(tensor._owner))
    return tensor


def _set_data(tensor, value):
    wants, gradient = tensor.requires_grad, tensor.grad
    _core._become(tensor, _core.detach(value))
    tensor.requires_grad, tensor.grad = wants, gradient


def _in_data(name):
    operator = getattr(Tensor, f"__{name}__")

    def changed(self, other):
        return written(self, operator(self, other))

    return changed


for _name in "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul":
    setattr(Data, f"__i{_name}__", _in_data(_name))
Data.__setitem__ = lambda self, index, value: written(self, value, index) is None

# ---- what it is

_base_shape = _core.ndarray.shape
_base_device = _core.ndarray.device


def _shape(self):
    return Size(_base_shape.__get__(self))


def size(self, dim=None):
    shape = _base_shape.__get__(self)
    return Size(shape) if dim is None else shape[dim]


def stride(self, dim=None):
    steps = tuple(step // self.itemsize for step in self.strides)
    return steps if dim is None else steps[dim]


def count(self):
    return math.prod(_base_shape.__get__(self))


def _device(self):
    name = str(_base_device.__get__(self))
    return str.__new__(device, "cpu" if name.startswith("cpu") else name)


def type_(self, dtype=None, non_blocking=False):
    names = {
        "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
        "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
        "complex128": "ComplexDouble",
    }  # fmt: skip
    words = "torch.cuda." if self.device.type == "cuda" else "torch."
    if dtype is None:
        return f"{words}{names[self.dtype.name]}Tensor"
    if isinstance(dtype, str):
        kind = dtype.rpartition(".")[2].removesuffix("Tensor")
        dtype = next(name for name, word in names.items() if word == kind)
    return self.astype(dtype, copy=False)


# ---- other types and places


def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    for given in args:
        if isinstance(given, _core.ndarray):
            dtype, device = given.dtype, given.device
        elif isinstance(given, _core.dtype) or given in (float, int, bool, complex):
            dtype = given
        elif isinstance(given, (str, int, _tt.Device)) and not isinstance(given, bool):
            device = given
    made = self
    if dtype is not None and _core.dtype(dtype) != self.dtype:
        made = made.astype(dtype)
    if device is not None:
        made = _core.ndarray.to(made, f"cuda:{device}" if isinstance(device, int) else str(device))
    return clone(made) if copy and made is self else _core._as_tensor(made)


def cuda(self, device=None, non_blocking=False, memory_format=None):
    return to(self, "cuda" if device is None else device)


def clone(self):
    return self.copy() if not self.requires_grad else _core._as_tensor(+self)


def _as(name):
    return lambda self, memory_format=None: self.astype(name, copy=False)


# ---- as other things


def item(self):
    if count(self) != 1:
        raise RuntimeError(f"a Tensor with {count(self)} elements cannot be converted to Scalar")
    return _core.ndarray.item(self)


def _bool(self):
    if count(self) != 1:
        what = "more than one value" if count(self) else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(_core.ndarray.item(self))


def numpy(self, *, force=False):
    if self.requires_grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return plain(_core.detach(self)).numpy()


def detach(self):
    return self[...] if not self.requires_grad else data_of(self) if self.is_leaf else _core.detach(self)


def _format(self, spec):
    return format(_core.ndarray.item(self), spec) if self.ndim == 0 else object.__format__(self, spec)


def _corners(x):
    """What is printed of an array of which not all is."""
    for axis, n in enumerate(x.shape):
        if n > 6:
            x = _tt.take(x, [0, 1, 2, n - 3, n - 2, n - 1], axis)
    return x


def _writer(x):
    """How PyTorch writes floats: all whole ones with a point, others with four places, with exponents if far apart."""
    written = (_corners(x) if x.size > 1000 else x).ravel().tolist()
    sizes = [abs(v) for v in written if v and math.isfinite(v)]
    whole, least, most = all(v == math.ceil(v) for v in sizes), min(sizes, default=1), max(sizes, default=1)
    wide = most / least > 1000 or most > 1e8 or (least < 1e-4 and not whole)
    form = ".4e" if wide else ".0f" if whole else ".4f"

    def write(v):
        return format(v, form) + ("." if whole and not wide and math.isfinite(v) else "")

    width = max((len(write(v)) for v in written if v and math.isfinite(v)), default=1)
    return lambda v: write(float(v)).rjust(width)


def _complex_writer(x):
    real, imag = _writer(x.real), _writer(x.imag)

    def write(v):
        behind = imag(v.imag).lstrip()
        return real(v.real) + ("" if behind.startswith("-") else "+") + behind + "j"

    return write


def text(self):
    """As PyTorch prints it."""
    shown = plain(_core.detach(self))
    if self.dtype.name == "bfloat16":
        shown = shown.astype("float32")
    how = {"separator": ", ", "threshold": 1000, "prefix": "tensor(", "max_line_width": 80}
    if shown.dtype.kind == "f":
        how["formatter"] = {"float_kind": _writer(shown)}
    elif shown.dtype.kind == "c":
        how["formatter"] = {"complex_kind": _complex_writer(shown)}
    elif shown.dtype.kind == "b" and count(self):
        width = 4 if bool(_core.ndarray.all(shown)) else 5
        how["formatter"] = {"bool": lambda v: str(bool(v)).rjust(width)}
    words = [_tt.array2string(shown, **how).replace(", ..., ", ",  ..., ")]
    if count(self) == 0 and self.ndim > 1:
        words = ["[]", f"size={tuple(self.shape)}"]
    if self.device.type != "cpu":
        words.append(f"device='{self.device}'")
    default = _core._tensor_float(None).name
    usual = {default, "complex128" if default == "float64" else "complex64"}
    if self.dtype.name not in (usual | {"int64", "bool"} if count(self) else usual):
        words.append(f"dtype={self.dtype}")
    if self.requires_grad:
        words.append("requires_grad=True" if self.is_leaf else "grad_fn=<Backward>")
    return f"tensor({', '.join(words)})"


class Node:
    """What stands for the operation that a tensor comes from."""

    def __init__(self, tensor):
        self._tensor = tensor

    def name(self):
        return "Backward"

    def __repr__(self):
        return "<Backward>"


# ---- shapes by several numbers, or one list


def listed(numbers):
    """(2, 3), ((2, 3),) and ([2, 3],) alike."""
    one = len(numbers) == 1 and isinstance(numbers[0], (tuple, list))
    return tuple(int(n) for n in (numbers[0] if one else numbers))


def view(self, *shape, dtype=None):
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list, Tensor)):
        dtype = shape[0]
    return _core._as_tensor(_core.ndarray.view(self, dtype)) if dtype is not None else self.reshape(*shape)


def expand(self, *sizes):
    sizes = listed(sizes)
    own = (1,) * (len(sizes) - self.ndim) + tuple(self.shape)
    return _tt.broadcast_to(self, tuple(a if n == -1 else n for n, a in zip(sizes, own, strict=True)))


def permute(self, *dims):
    return _core.ndarray.transpose(self, *listed(dims))


def repeat(self, *sizes):
    return _tt.tile(self, listed(sizes))


def flip(self, *dims):
    return _tt.flip(self, listed(dims))


def unfold(self, dimension, size, step):
    windows = _tt.lib.stride_tricks.sliding_window_view(self, size, axis=dimension)
    dimension %= self.ndim
    return windows[(slice(None),) * dimension + (slice(None, None, step),)]


def new(make):
    """The method of a tensor that makes others of its type and place."""

    def method(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        made = make(*size, dtype=dtype or self.dtype, device=str(device or self.device))
        made = _core._as_tensor(made)
        return made.requires_grad_() if requires_grad else made

    return method


def new_tensor(self, data, **how):
    return new(lambda data, **k: _tt.array(data, **k))(self, data, **how)


# ---- in place


def copy_(self, src, non_blocking=False):
    return written(self, src)


def fill_(self, value):
    return written(self, value)


def zero_(self):
    if not (self.requires_grad and self.is_leaf):
        return written(self, 0)
    with _autograd.no_grad():
        return written(self, 0)


def fill_diagonal_(self, fill_value, wrap=False):
    made = self.copy()
    _tt.fill_diagonal(made, fill_value, wrap)
    return written(self, made)


def index_put_(self, indices, values, accumulate=False):
    if not accumulate:
        return written(self, values, tuple(indices))
    made = self.copy()
    _tt.add.at(made, tuple(indices), values)
    return written(self, made)


def share(self, *args, **how):
    """The tensor: nothing has to be done."""
    return self


def _iterate(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(_tt.unstack(self)) if len(self) else iter(())


def _number(kind):
    return lambda self: kind(item(self))


def _reversed(self):
    return _tt.flip(self)


def _deepcopy(self, memo):
    made = memo.get(id(self))
    if made is None:
        made = _core._as_tensor(_core.detach(self).copy())
        made.requires_grad = self.requires_grad
        memo[id(self)] = made
    return made


_reduced = _core.ndarray.__reduce__


def _rebuilt(array, wants):
    return _core._as_tensor(array).requires_grad_(wants)


def _reduce(self, protocol=None):
    return _rebuilt, (_core.array(plain(_core.detach(self))), self.requires_grad)


def _transposed(self):
    return _core.ndarray.transpose(self)


MEMBERS = {
    "shape": property(_shape),
    "device": property(_device),
    "data": property(data_of, _set_data),
    "T": property(_transposed),
    "H": property(lambda self: _tt.conjugate(_tt.swapaxes(self, -1, -2))),
    "mH": property(lambda self: _tt.conjugate(_tt.swapaxes(self, -1, -2))),
    "is_cuda": property(lambda self: self.device.type == "cuda"),
    "is_cpu": property(lambda self: self.device.type == "cpu"),
    "is_meta": False,
    "is_mps": False,
    "is_nested": False,
    "is_sparse": False,
    "is_xpu": False,
    "is_quantized": False,
    "layout": "torch.strided",
    "grad_fn": property(lambda self: None if self.is_leaf else Node(self)),
    "__repr__": text,
    "__str__": text,
    "__format__": _format,
    "__hash__": object.__hash__,
    "__bool__": _bool,
    "__float__": _number(float),
    "__int__": _number(int),
    "__iter__": _iterate,
    "__reversed__": _reversed,
    "__deepcopy__": _deepcopy,
    "__reduce__": _reduce,
    "__reduce_ex__": _reduce,
    "__module__": "tutti.compat.torch",
    "bfloat16": _as("bfloat16"),
    "bool": _as("bool"),
    "byte": _as("uint8"),
    "char": _as("int8"),
    "contiguous": lambda self, memory_format=None: self if self.is_contiguous() else self.copy(),
    "copy_": copy_,
    "cpu": lambda self, memory_format=None: _core._as_tensor(_core.ndarray.cpu(self)),
    "cuda": cuda,
    "data_ptr": lambda self: plain(self).ctypes.data,
    "detach": detach,
    "detach_": lambda self: _core._become(self, _core.detach(self)) or self,
    "dim": lambda self: self.ndim,
    "double": _as("float64"),
    "element_size": lambda self: self.itemsize,
    "expand": expand,
    "expand_as": lambda self, other: expand(self, *other.shape),
    "fill_": fill_,
    "fill_diagonal_": fill_diagonal_,
    "flip": flip,
    "float": _as("float32"),
    "get_device": lambda self: self.device.index if self.device.type == "cuda" else -1,
    "half": _as("float16"),
    "index_put_": index_put_,
    "int": _as("int32"),
    "is_contiguous": lambda self, memory_format=None: self.flags.c_contiguous,
    "is_conj": lambda self: False,
    "is_inference": lambda self: False,
    "is_neg": lambda self: False,
    "is_pinned": lambda self: False,
    "is_shared": lambda self: False,
    "item": item,
    "long": _as("int64"),
    "ndimension": lambda self: self.ndim,
    "nelement": count,
    "new_empty": new(lambda *size, **k: _tt.empty(listed(size), **k)),
    "new_full": new(lambda size, value, **k: _tt.full(listed((size,)), value, **k)),
    "new_ones": new(lambda *size, **k: _tt.ones(listed(size), **k)),
    "new_tensor": new_tensor,
    "new_zeros": new(lambda *size, **k: _tt.zeros(listed(size), **k)),
    "numpy": numpy,
    "permute": permute,
    "pin_memory": share,
    "record_stream": lambda self, stream: None,
    "repeat": repeat,
    "resolve_conj": share,
    "resolve_neg": share,
    "reshape_as": lambda self, other: self.reshape(*other.shape),
    "share_memory_": share,
    "short": _as("int16"),
    "size": size,
    "stride": stride,
    "to": to,
    "to_dense": lambda self, dtype=None: self if dtype is None else to(self, dtype),
    "type": type_,
    "type_as": lambda self, other: to(self, other),
    "unfold": unfold,
    "view": view,
    "view_as": lambda self, other: self.reshape(*other.shape),
    "zero_": zero_,
}
for _name, _value in MEMBERS.items():
    setattr(Tensor, _name, _value)

values_and_indices = {
    name: collections.namedtuple(name, "values indices")
    for name in ("max", "min", "sort", "topk", "median", "kthvalue", "cummax", "cummin")
}
