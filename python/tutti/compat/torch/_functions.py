"""The functions of the rows, and what the rows are made of."""

import math
import operator
import re

import tutti as _tt

from ... import _core
from . import _rows
from ._tensor import Size, Tensor, clone, count, values_and_indices, written

_f, _linalg, _special, _nn = _tt, _tt.linalg, _tt.special, _tt.nn.functional


def _size(shape):
    return Size(shape)


_where = _core.ops["where"]


def _clone(input):
    return clone(input)


def _count(input):
    return count(input)


def _listed(tensors):
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors


def _scaled(x, factor):
    if isinstance(factor, int) and factor == 1:
        return x
    truths = isinstance(x, _core.ndarray) and x.dtype.kind == "b"
    return (x * factor).astype(x.dtype) if truths else x * factor


def _axes(input, dim):
    """No axis, or an empty list of them, are all; so is the axis that a tensor without axes would have."""
    if dim is None or dim == () or dim == [] or (input.ndim == 0 and dim in (0, -1, (0,), (-1,), [0], [-1])):
        return None
    return tuple(dim) if isinstance(dim, list) else dim


def _floats(x):
    """Whole numbers as floats of the default type."""
    return x if x.dtype.kind in "fc" else x.astype(_core._tensor_float(None))


def _diff(input, n, dim, **ends):
    return _f.diff(input, n, dim, **{name: x for name, x in ends.items() if x is not None})


def _covariance(input, correction, fweights, aweights):
    x = _floats(input)
    return _f.cov(x, ddof=correction, fweights=fweights, aweights=aweights, dtype=x.dtype)


def _indices(pair, dtype):
    return _core._as_tensor(_f.stack(pair).astype(dtype))


def _strided(input, size, stride, storage_offset):
    """A view by steps over the elements of a tensor that lies in their order."""
    if not input.is_contiguous():
        raise NotImplementedError("tutti.compat.torch does not cover as_strided of tensors that are not contiguous")
    each = input.element_size()
    flat = _f.reshape(input, -1)[storage_offset:]
    return _f.lib.stride_tricks.as_strided(flat, tuple(size), tuple(s * each for s in stride))


def _cholesky_solved(input, factor, upper):
    whole = _f.swapaxes(factor, -1, -2) @ factor if upper else factor @ _f.swapaxes(factor, -1, -2)
    return _linalg.solve(whole, input)


def _place(input, dim):
    axes = max(input.ndim, 1)
    if not -axes <= dim < axes:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-axes}, {axes - 1}], but got {dim})")
    return dim % max(input.ndim, 1)


def _reciprocal(x):
    return 1.0 / x


def _rsqrt(x):
    return 1.0 / _f.sqrt(x)


def _frac(x):
    return x - _f.trunc(x)


def _pow(input, exponent):
    return input**exponent


def _ldexp(input, other):
    return input * 2.0**other


def _divided(input, other, rounding_mode):
    if rounding_mode == "floor":
        return _f.floor_divide(input, other)
    if rounding_mode is None:
        return input / other
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' " f"but found '{rounding_mode}'"
        )
    made = _f.trunc(input / other)
    kind = _core._result_type(input, other)
    return made.astype(kind, copy=False)


def _clamped(input, min, max):
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    made = input if min is None else _f.maximum(input, min)
    return made if max is None else _f.minimum(made, max)


# ---- folds


def _sum_type(input, dtype):
    """Sums of whole numbers without a sign are int64, too."""
    return "int64" if dtype is None and input.dtype.kind == "u" else dtype


def _truth(made, input):
    """Of bytes, truth values are bytes."""
    return made.astype("uint8") if input.dtype == _core.uint8 else made


def _mean(input, dim, keepdim, dtype):
    if dtype is None and input.dtype.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {input.type().rpartition('.')[2].removesuffix('Tensor')}"
        )
    return _f.mean(input, _axes(input, dim), dtype, keepdims=keepdim)


def _spread(of, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return of(input, _axes(input, dim), ddof=correction, keepdims=keepdim)


def _picked(input, places, dim, keepdim):
    """The elements at these places of an axis, which stays or goes."""
    values = _f.take_along_axis(input, places, dim)
    return (values, places) if keepdim else (_f.squeeze(values, dim), _f.squeeze(places, dim))


def _extreme(input, dim, keepdim, of, place_of, pairwise):
    if dim is None:
        return of(input)
    if isinstance(dim, _core.ndarray):
        return pairwise(input, dim)
    if input.ndim == 0:
        return values_and_indices[of.__name__](input, _f.zeros_like(input, dtype="int64"))
    if not input.requires_grad:
        made = of(input, dim, keepdims=keepdim), place_of(input, dim, keepdims=keepdim)
        return values_and_indices[of.__name__](*made)
    places = place_of(input, dim, keepdims=True)  # of equal elements one alone has the gradient
    return values_and_indices[of.__name__](*_picked(input, places, dim, keepdim))


def _kth(input, k, dim, keepdim, name):
    places = _f.argsort(input, dim, stable=True)[(slice(None),) * _place(input, dim) + (slice(k, k + 1),)]
    return values_and_indices[name](*_picked(input, places, dim, keepdim))


def _kthvalue(input, k, dim, keepdim):
    return _kth(input, k - 1, dim, keepdim, "kthvalue")


def _median(input, dim, keepdim):
    """The lower one of the two in the middle."""
    if dim is None:
        return _f.sort(_f.ravel(input))[(count(input) - 1) // 2]
    return _kth(input, (input.shape[dim] - 1) // 2, dim, keepdim, "median")


def _nanmedian(input, dim, keepdim):
    if dim is None:
        flat = _f.ravel(input)
        return _median(flat[~_f.isnan(flat)], None, False) if count(flat) else flat.sum() / 0.0
    places = _f.argsort(input, dim, stable=True)
    middle = (_f.count_nonzero(~_f.isnan(input), dim, keepdims=True) - 1) // 2
    places = _f.take_along_axis(places, _f.maximum(middle, 0), dim)
    return values_and_indices["median"](*_picked(input, places, dim, keepdim))


def _running(input, dim, of, name):
    values = of.accumulate(input, dim)
    own = _f.arange(input.shape[dim]).reshape(tuple(-1 if k == _place(input, dim) else 1 for k in range(input.ndim)))
    places = _f.maximum.accumulate(_f.where(input == values, own, 0), dim)
    return values_and_indices[name](_core._as_tensor(values), _core._as_tensor(places))


def _trapezoids(y, x, dx, dim):
    y = _f.moveaxis(_floats(y), dim, -1)
    steps = dx if x is None else (x[1:] - x[:-1] if x.ndim == 1 else _f.diff(_f.moveaxis(x, dim, -1), axis=-1))
    return _f.moveaxis(_f.cumsum((y[..., 1:] + y[..., :-1]) / 2 * steps, -1), -1, dim)


def _svd(input, some):
    u, s, vh = _linalg.svd(input, full_matrices=not some)
    return u, s, _f.conjugate(_f.swapaxes(vh, -1, -2))


def _unique_neighbours(input, inverse, counts, dim):
    """Elements, or parts along an axis, without those that are as the one before."""
    x = _f.ravel(input) if dim is None else _f.moveaxis(input, dim, 0)
    n = x.shape[0]
    other = _f.any(x[1:] != x[:-1], tuple(range(1, x.ndim)))
    first = _f.concatenate([_f.ones(min(n, 1), dtype="bool"), other])
    made, place = x[first], _f.cumsum(first.astype("int64")) - 1
    made = made if dim is None else _f.moveaxis(made, 0, dim)
    parts = [made]
    if inverse:
        parts.append(_f.reshape(place, input.shape) if dim is None else place)
    if counts:
        parts.append(_f.bincount(place, minlength=0))
    parts = [_core._as_tensor(part) for part in parts]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _window(make, n, periodic, *, dtype=None, device=None, layout=None, pin_memory=False, requires_grad=False):
    """A window; a periodic one is a longer one without its last number."""
    made = make(n + 1)[:n] if periodic and n > 1 else make(n)
    made = _core._as_tensor(_f.asarray(made, dtype or _core._tensor_float(None), device=device))
    return made.requires_grad_() if requires_grad else made


def _kind(dtype):
    """Truths, whole numbers, floats, complex numbers: nothing is cast to one before its own."""
    kind = _core.dtype(dtype).kind
    return {"b": 0, "u": 1, "i": 1, "c": 3}.get(kind, 2)


def _matrix_exp(input):
    from ...nn.utils._orthogonal import matrix_exp

    return matrix_exp(input)


def _norm(input, p, dim, keepdim, dtype):
    x = input if dtype is None else input.astype(dtype)
    if p == "nuc":
        return _linalg.matrix_norm(x, ord=p, keepdims=keepdim)
    p = 2 if p in ("fro", None) else p
    return _linalg.vector_norm(x, axis=_axes(input, dim), keepdims=keepdim, ord=p)


def _renorm(input, p, dim, maxnorm):
    others = tuple(k for k in range(input.ndim) if k != _place(input, dim))
    norms = _linalg.vector_norm(input, axis=others, keepdims=True, ord=p)
    return input * _f.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)


def _histc(input, bins, min, max):
    low, high = (min, max) if min != max else (input.min().item(), input.max().item())
    return _core._as_tensor(_f.histogram(input, bins, (low, high))[0].astype(input.dtype))


# ---- order


def _sorted(input, dim, descending):
    places = _f.argsort(input, dim, stable=True, descending=descending)
    return values_and_indices["sort"](_f.take_along_axis(input, places, dim), places)


def _topk(input, k, dim, largest):
    if k > input.shape[dim]:
        raise RuntimeError("selected index k out of range")
    places = _f.argsort(input, dim, stable=True, descending=largest)
    places = places[(slice(None),) * _place(input, dim) + (slice(0, k),)]
    return values_and_indices["topk"](_f.take_along_axis(input, places, dim), places)


def _searched(sorted_sequence, input, out_int32, right, sorter=None):
    how = {} if sorter is None else {"sorter": sorter}
    side = "right" if right else "left"
    if sorted_sequence.ndim > 1:
        rows = _f.take_along_axis(sorted_sequence, sorter, -1) if how else sorted_sequence
        under = _f.less_equal if right else _f.less
        made = _f.count_nonzero(under(rows[..., None, :], input[..., None]), -1)
    else:
        made = _f.searchsorted(sorted_sequence, input, side, **how)
    made = _core._as_tensor(_f.asarray(made))
    return _core._as_tensor(made.astype("int32" if out_int32 else "int64", copy=False))


def _unique(input, return_inverse, return_counts, dim):
    made = _f.unique(input, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    return tuple(map(_core._as_tensor, made)) if isinstance(made, tuple) else _core._as_tensor(made)


# ---- products


def _product(input, other, ndim, other_ndim):
    words = {1: "1D", 2: "matrices", 3: "3D"}
    if input.ndim != ndim or other.ndim != other_ndim:
        raise RuntimeError(
            f"{words[ndim]} expected, got {input.ndim}D and {other.ndim}D tensors: self must have {ndim} and the other "
            f"{other_ndim} dimensions"
        )
    return _matmul(input, other)


def _matmul(input, other):
    if input.dtype != other.dtype:
        a, b = (x.type().rpartition(".")[2].removesuffix("Tensor").lower() for x in (input, other))
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")
    return input @ other


# ---- shapes


def _flatten(input, start_dim, end_dim):
    if input.ndim == 0:
        return input.reshape(1)
    first, last = _place(input, start_dim), _place(input, end_dim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    shape = tuple(input.shape)
    return input.reshape(*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def _unflatten(input, dim, sizes):
    dim, shape = _place(input, dim), tuple(input.shape)
    return input.reshape(*shape[:dim], *sizes, *shape[dim + 1 :])


def _squeeze(input, dim):
    if dim is None:
        return _f.squeeze(input)
    dims = [_place(input, d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))] if input.ndim else []
    return _f.squeeze(input, tuple(d for d in dims if input.shape[d] == 1))


def _narrow(input, dim, start, length):
    return input[(slice(None),) * _place(input, dim) + (slice(start, start + length),)]


def _split(tensor, sizes, dim):
    whole = tensor.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, whole - at) for at in range(0, whole, sizes)] or [0]
    elif sum(sizes) != whole:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {whole} (input tensor's size at dimension {dim}), "
            f"but got split_sizes={list(sizes)}"
        )
    ends = [sum(sizes[:k]) for k in range(len(sizes))]
    return tuple(_narrow(tensor, dim, at, n) for at, n in zip(ends, sizes, strict=True))


def _chunks(input, chunks, dim):
    return _split(input, max(-(-input.shape[dim] // chunks), 1), dim)


def _split_at(input, where, dim):
    return tuple(_f.array_split(input, where if isinstance(where, int) else list(where), dim))


def _of_one_type(tensors):
    if len({x.dtype for x in tensors}) < 2:
        return tensors
    kind = tensors[0].dtype
    for x in tensors[1:]:
        kind = _core._result_type(_f.zeros(1, dtype=kind), _f.zeros(1, dtype=x.dtype))
    return [x.astype(kind, copy=False) for x in tensors]


def _joined(tensors, dim):
    kept = [x for x in tensors if x.ndim != 1 or len(x) > 0] or list(tensors)
    return _f.concatenate(_of_one_type(kept), dim)


def _diag_embed(input, offset, dim1, dim2):
    n = input.shape[-1] + abs(offset)
    at = _f.arange(input.shape[-1])
    made = _core._as_tensor(_f.zeros((*input.shape[:-1], n, n), dtype=input.dtype))
    made[..., at + max(-offset, 0), at + max(offset, 0)] = input
    return _f.moveaxis(made, (-2, -1), (dim1, dim2))


# ---- places


def _part(x, shape, dim):
    """The beginning of every axis but one, as long as the shape's."""
    return x[tuple(slice(None) if k == dim else slice(0, n) for k, n in enumerate(shape))]


def _gather(input, dim, index):
    if input.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if input.ndim == 0:
        return _clone(input)
    dim = _place(input, dim)
    return _f.take_along_axis(_part(input, index.shape, dim), index, dim)


def _places(index, dim):
    """Of each axis the places that an index along one of them means."""
    grid = [
        _f.arange(n).reshape(tuple(-1 if k == j else 1 for k in range(index.ndim))) for j, n in enumerate(index.shape)
    ]
    grid[dim] = index
    return tuple(grid)


_REDUCTIONS = {"add": _f.add, "sum": _f.add, "multiply": _f.multiply, "prod": _f.multiply}
_REDUCTIONS |= {"amax": _f.maximum, "amin": _f.minimum}


def _scattered(made, dim, index, src, value, reduce):
    """`made`, with elements of src at places of an axis."""
    if value is None and not isinstance(src, _core.ndarray):
        value = src
    dim = _place(made, dim)
    given = value if value is not None else src[tuple(slice(0, n) for n in index.shape)]
    if reduce is None:
        made[_places(index, dim)] = given
    else:
        _REDUCTIONS[reduce].at(made, _places(index, dim), given)
    return made


_FIRST = {"sum": 0, "add": 0, "prod": 1, "amax": -math.inf, "amin": math.inf}


def _reduced(input, dim, index, src, reduce, include_self):
    """Elements of src at places of an axis, with those that are there, or without."""
    dim = _place(input, dim)
    made, at = _clone(input), _places(index, dim)
    given = src[tuple(slice(0, n) for n in index.shape)]
    kind = "sum" if reduce == "mean" else reduce
    if not include_self:
        first = _FIRST[kind]
        if made.dtype.kind in "iu" and first in (math.inf, -math.inf):
            first = _f.iinfo(made.dtype).max if first > 0 else _f.iinfo(made.dtype).min
        made[at] = first
    _REDUCTIONS[kind].at(made, at, given)
    if reduce != "mean":
        return made
    number = _f.ones(tuple(made.shape), dtype="int64") if include_self else _f.zeros(tuple(made.shape), dtype="int64")
    _f.add.at(number, at, 1)
    number = _f.maximum(number, 1)
    return made / number if made.dtype.kind in "fc" else made // number


def _with_part(input, src, dim, index):
    made = _clone(input)
    made[_along(made, dim, index)] = src
    return made


def _block_diag(tensors):
    blocks = [_f.atleast_2d(x) for x in _listed(tensors)]
    made = _core._as_tensor(_f.zeros(tuple(sum(b.shape[k] for b in blocks) for k in (0, 1)), dtype=blocks[0].dtype))
    row = column = 0
    for b in blocks:
        made[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return made


def _along(made, dim, index):
    return (slice(None),) * _place(made, dim) + (index,)


def _index_added(made, dim, index, source, alpha):
    _f.add.at(made, _along(made, dim, index), _scaled(source, alpha))
    return made


def _index_put(made, dim, index, source):
    made[_along(made, dim, index)] = source
    return made


def _select_masked(input, mask):
    a, b = _f.broadcast_arrays(input, mask)
    return a[b]


def _masked_scatter(input, mask, source):
    made = _clone(input)
    mask = _f.broadcast_to(mask, tuple(input.shape))
    made[mask] = _f.ravel(source)[: int(_f.count_nonzero(mask))]
    return made


# ---- making


def like(
    make, input, *, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None, pin_memory=False
):
    """What has a tensor's shape, type and place."""
    made = _core._as_tensor(make(input, dtype=dtype, device=str(device or input.device)))
    return made.requires_grad_() if requires_grad else made


_like = like


def arange(start, end, step, *, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False):
    """Numbers from start to end."""
    if end is None:
        start, end = 0, start
    ends = [x.item() if isinstance(x, _core.ndarray) else x for x in (start, end, step)]
    if dtype is None:
        dtype = "int64" if all(isinstance(x, int) for x in ends) else _core._tensor_float(None)
    made = _core._as_tensor(_f.arange(*ends, dtype=dtype, device=device))
    return made.requires_grad_() if requires_grad else made


_arange = arange

# ---- the rows


def _looked_up(path):
    found = _f
    if path.startswith("_"):
        return globals()[path]
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _one(name, function):
    def call(input, *, out=None):
        made = function(input)
        return made if out is None else written(out, made)

    call.__name__ = call.__qualname__ = name
    return call


def _two(name, function):
    def call(input, other, *, out=None):
        made = function(input, other)
        return made if out is None else written(out, made)

    call.__name__ = call.__qualname__ = name
    return call


def _with_out(function):
    def call(*args, out=None, **how):
        made = function(*args, **how)
        return made if out is None else written(out, made)

    call.__name__ = call.__qualname__ = function.__name__
    return call


def _in_place(function):
    def call(self, *args, **how):
        return written(self, function(self, *args, **how))

    call.__name__ = call.__qualname__ = function.__name__ + "_"
    return call


_LONGER = {"gather", "scatter", "scatter_add", "index_add", "index_copy"}


def _pairs(text):
    return [row.split() for row in text.replace("\n", " ").split(",")]


_NUMPYS = {"dim": "axis", "keepdim": "keepdims"}  # PyTorch takes these for its own words


def _numpys_words(head):
    """A row's head with NumPy's words for its own, and lines that read them."""
    words = {own: other for own, other in _NUMPYS.items() if re.search(rf"\b{own}=", head)}
    if not words or "**" in head:
        return head, ""
    star = "" if "*" in head else "*, "
    more = ", ".join(f"{other}=None" for other in words.values())
    lines = "".join(f"    if {other} is not None:\n        {own} = {other}\n" for own, other in words.items())
    return f"{head[:-1]}, {star}{more})", lines


def _compiled(rows):
    """The functions of rows `name(parameters) = expression`; a line that begins with a blank goes on."""
    lines = rows.strip().replace("\n ", " ").split("\n")
    made = {}
    scope = {**globals(), **functions}
    for line in lines:
        head, _, body = line.partition(" = ")
        name = head.partition("(")[0]
        head, words = _numpys_words(head)
        exec(compile(f"def {head}:\n{words}    return {body}", "<rows of tutti.compat.torch>", "exec"), scope)
        made[name] = scope[name]
        made[name].__module__ = "tutti.compat.torch"
    return made


def _lifted(function):
    """The function of tensors with axes, of those without, too."""

    def call(input, *args, **how):
        if input.ndim:
            return function(input, *args, **how)
        one = [x[None] if isinstance(x, _core.ndarray) and x.ndim == 0 else x for x in args]
        how = {name: x[None] if isinstance(x, _core.ndarray) and x.ndim == 0 else x for name, x in how.items()}
        made = function(input[None], *one, **how)
        if isinstance(made, tuple):
            return type(made)(*(x.reshape(()) for x in made))
        return made.reshape(())

    call.__name__ = call.__qualname__ = function.__name__
    return call


_OF_FLOATS = {"deg2rad", "rad2deg", "sinc", "i0"}  # functions that make doubles of whole numbers
functions = {}
for _name, _path in _pairs(_rows.ELEMENTS):
    _function = _looked_up(_path)
    if _name in _OF_FLOATS:
        _function = (lambda of: lambda x: of(_floats(x)))(_function)
    functions[_name] = _one(_name, _function)
for _name, _path in _pairs(_rows.PAIRS):
    functions[_name] = _two(_name, _looked_up(_path))
_written = {*functions, *_rows.IN_PLACE.split()}
functions.update(_compiled(_rows.ROWS))
functions |= {_name: _lifted(functions[_name]) for _name in _rows.LIFTED.split() if _name in functions}
for _name, _function in functions.items():
    setattr(Tensor, _name, _function)
for _name in _written:
    setattr(Tensor, _name + "_", _in_place(functions[_name]))


def _by_operator(slow, quick):
    """In place by the operator, where nothing more is asked for."""

    def call(self, other, **how):
        return slow(self, other, **how) if how else quick(self, other)

    call.__name__ = call.__qualname__ = slow.__name__
    return call


for _name in "add", "sub", "mul", "div":
    _quick = getattr(operator, "i" + ("truediv" if _name == "div" else _name))
    setattr(Tensor, _name + "_", _by_operator(getattr(Tensor, _name + "_"), _quick))


def _changing(of):
    def call(self, dim, index, src=None, *, value=None, reduce=None, include_self=True, alpha=1):
        made = self.copy()
        return written(self, of(made, dim, index, src if value is None else value, reduce, alpha))

    return call


Tensor.scatter_ = _changing(
    lambda made, dim, index, src, reduce, alpha: _scattered(made, dim, index, src, None, reduce)
)
Tensor.scatter_add_ = _changing(
    lambda made, dim, index, src, reduce, alpha: _scattered(made, dim, index, src, None, "add")
)
Tensor.scatter_reduce_ = _changing(
    lambda made, dim, index, src, reduce, alpha: _scattered(made, dim, index, src, None, reduce)
)
Tensor.index_add_ = _changing(lambda made, dim, index, src, reduce, alpha: _index_added(made, dim, index, src, alpha))
Tensor.index_copy_ = _changing(lambda made, dim, index, src, reduce, alpha: _index_put(made, dim, index, src))
Tensor.unsqueeze_ = lambda self, dim: _core._become(self, functions["unsqueeze"](self, dim)) or self
Tensor.squeeze_ = lambda self, dim=None: _core._become(self, functions["squeeze"](self, dim)) or self
Tensor.transpose_ = lambda self, dim0, dim1: _core._become(self, functions["transpose"](self, dim0, dim1)) or self
Tensor.swapaxes_ = Tensor.swapdims_ = Tensor.transpose_
Tensor.tile = lambda self, *dims: _f.tile(self, _listed(dims))
Tensor.t_ = lambda self: _core._become(self, functions["t"](self)) or self
Tensor.sum_to_size = lambda self, *size: _sum_to(self, size)
Tensor.where = lambda self, condition, other: _where(condition, self, other)


def _sum_to(self, size):
    size = tuple(_listed(size))
    lead = tuple(range(self.ndim - len(size)))
    made = _f.sum(self, lead) if lead else self
    kept = tuple(k for k, n in enumerate(size) if n == 1 and made.shape[k] != 1)
    return _f.sum(made, kept, keepdims=True) if kept else made


functions |= {_name: _with_out(_function) for _name, _function in functions.items() if _name not in _written}
functions.update(_compiled(_rows.FUNCTIONS))
functions["flip"] = lambda input, dims: input.flip(dims)
functions["permute"] = lambda input, dims: input.permute(dims)
functions["reshape"] = lambda input, shape: input.reshape(tuple(shape))
functions["tile"] = lambda input, dims: _f.tile(input, dims)
functions["detach"] = lambda input: input.detach()
functions["result_type"] = lambda a, b: _core._result_type(a, b)
