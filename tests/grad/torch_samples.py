"""PyTorch's own samples of its operations over ours: values, gradients and their gradients, for cotangents by chance.

    python tests/grad/torch_samples.py [WORD...]      operations whose names hold one of the words

prints for each operation how many samples agree, and the first that does not. A row of OPERATIONS has the name in
PyTorch's op_db, ours with the same arguments, and where the results are not unique what is compared of theirs."""

import sys
import warnings

import numpy as np
import tutti as tt
from tutti.nn import functional

S = tt.special


def named(**known):
    """Names of arguments as NumPy has them."""
    known = {"dim": "axis", "keepdim": "keepdims", **known}

    def rename(kwargs):
        return {known.get(k, k): v for k, v in kwargs.items()}

    return rename


RENAME = named()


def plain(f):
    """A function of NumPy's with the same order of arguments."""
    return lambda *args, **kwargs: f(*args, **RENAME(kwargs))


def unless(condition, f):
    """A function that is not asked for some arguments: PyTorch has an answer of its own, or none is right."""
    return lambda *args, **kwargs: NotImplemented if condition(*args, **kwargs) else f(*args, **kwargs)


def of_nothing(x, *args, **kwargs):
    """SciPy refuses the largest of no elements."""
    return x.size == 0


def of_a_number(x, *args, **kwargs):
    """NumPy has no axis 0 of a number."""
    return x.ndim == 0


def is_a_list(x, *args, **kwargs):
    return isinstance(x, (list, tuple))


def pooled(f):
    """Values alone."""
    return (lambda x, return_indices=False, **how: f(x, **how)), lambda r: r[0] if isinstance(r, tuple) else r


def first(*sizes):
    return sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes


def variance(f):
    def over(x, dim=None, unbiased=None, keepdim=False, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        ddof = correction if correction is not None else 1 if unbiased is None else int(unbiased)
        return f(x, axis=axes(dim), ddof=ddof, keepdims=keepdim)

    return over


def axes(dim):
    return None if dim is None or dim == () or dim == [] else tuple(dim) if isinstance(dim, (list, tuple)) else dim


def over_axes(f):
    def reduced(x, dim=None, keepdim=False, dtype=None):
        made = f(x, axis=axes(dim), keepdims=keepdim)
        return made if dtype is None else made.astype(dtype)

    return reduced


def over_axis(f):
    def along(x, dim, keepdim=False):
        return f(x, axis=dim, keepdims=keepdim)

    return along


def divided(x, y, rounding_mode=None):
    made = x / y
    return tt.trunc(made) if rounding_mode == "trunc" else tt.floor(made) if rounding_mode == "floor" else made


def scaled(f):
    return lambda x, y, alpha=1: f(x, y * alpha if alpha != 1 else y)


def transform(f):
    return lambda x, n=None, dim=-1, norm=None: f(x, n, dim, norm)


def transforms(f, default):
    return lambda x, s=None, dim=default, norm=None: f(x, s, dim, norm)


def fftn(f):
    def over(x, s=None, dim=None, norm=None):
        if s is not None and dim is None:
            dim = tuple(range(-len(s), 0))
        return f(x, s, dim, norm)

    return over


def squeezed(x, dim=None):
    if dim is None:
        return tt.squeeze(x)
    wanted = dim if isinstance(dim, (list, tuple)) else (dim,)
    return tt.squeeze(x, tuple(d for d in wanted if x.ndim and x.shape[d] == 1))


def linear(x, b, a, beta=1, alpha=1):
    return beta * x + alpha * tt.matmul(b, a)


def clamped(x, min=None, max=None):
    x = x if min is None else tt.where(x < min, min, x)
    return x if max is None else tt.where(x > max, max, x)


def unfolded(x, dim, size, step):
    return tt.moveaxis(tt.lib.stride_tricks.sliding_window_view(x, size, axis=dim), dim, dim)[
        (slice(None),) * (dim % x.ndim) + (slice(None, None, step),)
    ]


def softmax(f):
    def along(x, dim, dtype=None):
        x = x if dtype is None else x.astype(dtype)
        return f(x, dim)

    return along


def matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    return tt.linalg.matrix_norm(tt.moveaxis(x, dim, (-2, -1)), ord=ord) if not keepdim else NotImplemented


def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    return tt.linalg.vector_norm(x, ord=ord, axis=axes(dim), keepdims=keepdim)


def taken(x, dim, index, sparse_grad=False):
    return tt.take_along_axis(x, index, dim)


def cut(x, sections, dim=0):
    if isinstance(sections, int):
        sections = range(sections, x.shape[dim], sections)
    else:
        sections = np.cumsum(sections)[:-1]
    return tt.split(x, list(map(int, sections)), dim)


def flattened(x, start_dim=0, end_dim=-1):
    if not x.ndim:
        return tt.reshape(x, 1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return tt.reshape(x, (*x.shape[:start], int(np.prod(x.shape[start : end + 1])), *x.shape[end + 1 :]))


def at(x, dim, index):
    return (slice(None),) * (dim % x.ndim) + (index,)


def added(x, dim, index, source, alpha=1):
    made = x.copy()
    tt.add.at(made, at(x, dim, index), alpha * source)
    return made


def written(x, dim, index, source):
    made = x.copy()
    made[at(x, dim, index)] = source
    return made


def places(x, dim, index):
    where = list(np.indices(index.shape))
    where[dim] = index.numpy()
    return tuple(where)


def spread_one(x, dim, index, source):
    made = x.copy()
    made[places(x, dim, index)] = source
    return made


def spread_sum(x, dim, index, source):
    made = x.copy()
    tt.add.at(made, places(x, dim, index), source)
    return made


def means(x, dim=None, unbiased=None, keepdim=False, correction=None):
    return tt.mean(x, None if isinstance(dim, bool) else axes(dim), keepdims=keepdim)


# PyTorch's name: ours, or (ours, what is compared of their results)
OPERATIONS = {
    **{
        name: getattr(tt, name)
        for name in """abs angle ceil conj cos cosh deg2rad exp exp2 expm1 floor imag log log10
       log1p log2 positive rad2deg real reciprocal sign sin sinc sinh sqrt square tan tanh trunc arctan2 copysign fmax
       fmin fmod hypot logaddexp logaddexp2 maximum minimum heaviside kron outer inner matmul ravel fliplr flipud rot90
       column_stack hstack vstack dstack swapaxes float_power""".split()
    },
    **{name: unless(is_a_list, getattr(tt, name)) for name in "atleast_1d atleast_2d atleast_3d".split()},
    "einsum": unless(
        lambda xs, text: "..." in text.split("->")[0] and "..." not in text.split("->")[1],
        lambda xs, text: tt.einsum(text, *xs),
    ),
    **{
        name: getattr(tt, ours)
        for name, ours in {
            "acos": "arccos",
            "acosh": "arccosh",
            "asin": "arcsin",
            "asinh": "arcsinh",
            "atan": "arctan",
            "atanh": "arctanh",
            "atan2": "arctan2",
            "neg": "negative",
            "mul": "multiply",
            "remainder": "mod",
            "pow": "power",
            "sgn": "sign",
            "conj_physical": "conj",
            "bmm": "matmul",
            "mm": "matmul",
            "mv": "matmul",
            "dot": "dot",
            "vdot": "vdot",
            "resolve_conj": "positive",
            "floor_divide": "floor_divide",
            "rsub": "subtract",
        }.items()
        if name != "rsub"
    },
    "__radd__": lambda x, y: y + x,
    "__rsub__": lambda x, y: y - x,
    "__rmul__": lambda x, y: y * x,
    "__rdiv__": lambda x, y: y / x,
    "__rpow__": lambda x, y: y**x,
    "__rmod__": lambda x, y: y % x,
    "__rmatmul__": lambda x, y: tt.matmul(y, x),
    "__getitem__": lambda x, index: x[index],
    "add": scaled(tt.add),
    "sub": scaled(tt.subtract),
    "rsub": lambda x, y, alpha=1: y - alpha * x,
    "div": divided,
    "true_divide": tt.divide,
    "rsqrt": lambda x: 1 / tt.sqrt(x),
    "frac": lambda x: x - tt.trunc(x),
    "sigmoid": S.expit,
    "digamma": S.digamma,
    "lgamma": S.gammaln,
    "erf": S.erf,
    "erfc": S.erfc,
    "erfinv": S.erfinv,
    "i0": S.i0,
    "logit": lambda x, eps=None: S.logit(x if eps is None else tt.clip(x, eps, 1 - eps)),
    "nan_to_num": lambda x, nan=0.0, posinf=None, neginf=None: tt.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf),
    "round": lambda x, decimals=0: tt.round(x, decimals),
    "xlogy": S.xlogy,
    "special.xlog1py": S.xlog1py,
    "special.entr": S.entr,
    "special.erfcx": S.erfcx,
    "special.i0e": S.i0e,
    "special.i1": S.i1,
    "special.i1e": S.i1e,
    "special.log_ndtr": S.log_ndtr,
    "special.ndtr": S.ndtr,
    "special.ndtri": S.ndtri,
    "polygamma": lambda x, n: S.polygamma(n, x),
    "special.polygamma": lambda x, n: S.polygamma(n, x),
    "clamp": clamped,
    "clamp_min": lambda x, y: tt.maximum(x, y),
    "clamp_max": lambda x, y: tt.minimum(x, y),
    "where": lambda x, c, y: tt.where(c, x, y),
    "masked_fill": lambda x, mask, v: tt.where(mask, v, x),
    "masked_select": lambda x, mask: tt.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[
        tt.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))
    ],
    "lerp": lambda x, y, w: x + w * (y - x),
    "addcmul": lambda x, a, b, value=1: x + value * a * b,
    "addcdiv": lambda x, a, b, value=1: x + value * a / b,
    "sum": over_axes(tt.sum),
    "mean": unless(lambda x, dim=None, **how: x.ndim == 0 and dim is not None, over_axes(tt.mean)),
    "nansum": over_axes(tt.nansum),
    "prod": over_axes(tt.prod),
    "nanmean": over_axes(tt.nanmean),
    "amax": over_axes(tt.amax),
    "amin": over_axes(tt.amin),
    "var": variance(tt.var),
    "std": variance(tt.std),
    "logsumexp": unless(lambda x, *args: x.ndim == 0 or x.dtype.kind == "c", over_axes(S.logsumexp)),
    "cumsum": lambda x, dim, dtype=None: tt.cumsum(x, dim) if x.ndim else x * 1,
    "cumprod": lambda x, dim, dtype=None: tt.cumprod(x, dim) if x.ndim else x * 1,
    "cummax": (lambda x, dim: tt.maximum.accumulate(x, dim) if x.ndim else x * 1, lambda r: r[0]),
    "cummin": (lambda x, dim: tt.minimum.accumulate(x, dim) if x.ndim else x * 1, lambda r: r[0]),
    "trapezoid": lambda y, x=None, dx=1.0, dim=-1: tt.trapezoid(y, x, dx, dim),
    "diff": lambda x, n=1, dim=-1, prepend=None, append=None: tt.diff(
        x, n, dim, **{k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    ),
    "quantile": lambda x, q, dim=None, keepdim=False, interpolation="linear": tt.quantile(
        x, q, dim, method=interpolation, keepdims=keepdim
    ),
    "nanquantile": lambda x, q, dim=None, keepdim=False, interpolation="linear": tt.nanquantile(
        x, q, dim, method=interpolation, keepdims=keepdim
    ),
    "msort": lambda x: tt.sort(x, 0),
    "sort": (
        lambda x, dim=-1, descending=False, stable=None: (tt.sort(x, dim, descending=descending) if x.ndim else x * 1),
        lambda r: r[0],
    ),
    "reshape": lambda x, *s: tt.reshape(x, first(*s)),
    "view": lambda x, *s: tt.reshape(x, first(*s)),
    "permute": lambda x, *d: tt.transpose(x, first(*d)),
    "transpose": unless(of_a_number, tt.swapaxes),
    "swapaxes": unless(of_a_number, tt.swapaxes),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "H": lambda x: tt.conj(x.T),
    "mH": lambda x: tt.conj(x.mT),
    "squeeze": squeezed,
    "unsqueeze": lambda x, dim: tt.expand_dims(x, dim),
    "flip": lambda x, dims: tt.flip(x, tuple(dims)),
    "roll": lambda x, shifts, dims=None: tt.roll(x, shifts, dims),
    "tile": lambda x, *d: tt.tile(x, first(*d)),
    "repeat_interleave": lambda x, repeats, dim=None, output_size=None: tt.repeat(x, repeats, dim),
    "movedim": tt.moveaxis,
    "broadcast_to": lambda x, *s: tt.broadcast_to(x, first(*s)),
    "cat": unless(lambda xs, dim=0: any(x.shape == (0,) for x in xs), lambda xs, dim=0: tt.concatenate(xs, dim)),
    "stack": lambda xs, dim=0: tt.stack(xs, dim),
    "split": cut,
    "unbind": lambda x, dim=0: [tt.take(x, k, dim) for k in range(x.shape[dim])],
    "tensor_split": lambda x, n, dim=0: tt.array_split(x, int(n) if np.ndim(n) == 0 else list(map(int, n)), dim),
    "diag": lambda x, k=0: tt.diag(x, k),
    "diagonal": lambda x, offset=0, dim1=0, dim2=1: tt.diagonal(x, offset, dim1, dim2),
    "tril": lambda x, k=0: tt.tril(x, k),
    "triu": lambda x, k=0: tt.triu(x, k),
    "trace": tt.trace,
    "narrow": lambda x, dim, start, length: tt.take(
        x,
        tt.arange(
            int(start) % max(1, x.shape[dim]) if int(start) < 0 else int(start),
            (int(start) % max(1, x.shape[dim]) if int(start) < 0 else int(start)) + length,
        ),
        dim,
    ),
    "select": lambda x, dim, k: tt.take(x, k, dim),
    "index_select": unless(of_a_number, lambda x, dim, index: tt.take(x, index, dim)),
    "gather": unless(lambda x, dim, index, **how: x.ndim != index.ndim or x.ndim == 0, taken),
    "take_along_dim": lambda x, index, dim=None: (
        tt.take_along_axis(x, index, dim) if dim is not None else tt.take(x, index.ravel())
    ),
    "take": lambda x, index: tt.take(x, index),
    "unfold": unless(of_a_number, unfolded),
    "cross": lambda x, y, dim=None: NotImplemented if dim is None else tt.cross(x, y, axis=dim),
    "linalg.cross": lambda x, y, dim=-1: tt.cross(x, y, axis=dim),
    "tensordot": unless(lambda x, y, dims=2: 1 in x.shape, lambda x, y, dims=2: tt.tensordot(x, y, dims)),
    "addmm": linear,
    "addmv": linear,
    "baddbmm": linear,
    "addr": lambda x, a, b, beta=1, alpha=1: beta * x + alpha * tt.outer(a, b),
    "linalg.inv": tt.linalg.inv,
    "linalg.det": tt.linalg.det,
    "inverse": tt.linalg.inv,
    "det": tt.linalg.det,
    "linalg.slogdet": lambda x: tuple(tt.linalg.slogdet(x)),
    "slogdet": lambda x: tuple(tt.linalg.slogdet(x)),
    "logdet": lambda x: NotImplemented if x.dtype.kind == "c" else tt.linalg.slogdet(x)[1],
    "linalg.cholesky": lambda x, upper=False: tt.linalg.cholesky(x, upper=upper),
    "linalg.eigvalsh": lambda x, UPLO="L": tt.linalg.eigvalsh(x, UPLO),
    "linalg.svdvals": tt.linalg.svdvals,
    "linalg.solve": lambda a, b, left=True: (
        tt.linalg.solve(a, b) if left and (b.ndim == a.ndim or b.ndim == 1) else NotImplemented
    ),
    "linalg.matrix_norm": matrix_norm,
    "linalg.vector_norm": vector_norm,
    "linalg.matrix_power": lambda x, n: tt.linalg.matrix_power(x, n),
    "linalg.multi_dot": lambda xs: tt.linalg.multi_dot(xs),
    "linalg.tensorinv": lambda x, ind=2: tt.linalg.tensorinv(x, ind),
    "linalg.tensorsolve": lambda a, b, dims=None: tt.linalg.tensorsolve(a, b, dims),
    "linalg.vecdot": lambda x, y, dim=-1: tt.linalg.vecdot(x, y, axis=dim),
    "linalg.vander": lambda x, N=None: NotImplemented,
    "linalg.eigh": (
        lambda x, UPLO="L": (lambda r: (r[0], tt.abs(r[1])))(tt.linalg.eigh(x, UPLO)),
        lambda r: (r[0], r[1].abs()),
    ),
    "linalg.svd": (
        lambda x, full_matrices=True: NotImplemented
        if full_matrices and x.shape[-1] != x.shape[-2]
        else (lambda r: (tt.abs(r[0]), r[1], tt.abs(r[2])))(tt.linalg.svd(x, full_matrices)),
        lambda r: (r[0].abs(), r[1], r[2].abs()),
    ),
    "linalg.qr": (
        lambda x, mode="reduced": NotImplemented if mode != "reduced" else tuple(map(tt.abs, tt.linalg.qr(x))),
        lambda r: (r[0].abs(), r[1].abs()),
    ),
    **{f"fft.{name}": transform(getattr(tt.fft, name)) for name in "fft ifft rfft irfft hfft ihfft".split()},
    **{f"fft.{name}": transforms(getattr(tt.fft, name), (-2, -1)) for name in "fft2 ifft2 rfft2 irfft2".split()},
    **{f"fft.{name}": fftn(getattr(tt.fft, name)) for name in "fftn ifftn rfftn irfftn".split()},
    "fft.fftshift": lambda x, dim=None: tt.fft.fftshift(x, axes(dim)),
    "fft.ifftshift": lambda x, dim=None: tt.fft.ifftshift(x, axes(dim)),
    "softmax": unless(of_nothing, softmax(S.softmax)),
    "log_softmax": unless(of_nothing, softmax(S.log_softmax)),
    "corrcoef": tt.corrcoef,
    "complex": lambda x, y: x + 1j * y,
    "dist": lambda x, y, p=2: tt.linalg.vector_norm(x - y, ord=p),
    **{
        f"nn.functional.{name}": getattr(functional, name)
        for name in dir(functional)
        if not name.startswith("_") and callable(getattr(functional, name))
    },
}
OPERATIONS.update({
    "clone": tt.copy, "contiguous": tt.copy, "t": lambda x: x.T,
    "trapz": lambda y, x=None, dx=1.0, dim=-1: tt.trapezoid(y, x, dx, dim),
    "expand": lambda x, *s: NotImplemented if -1 in first(*s) else tt.broadcast_to(x, first(*s)),
    "repeat": lambda x, *n: NotImplemented if 0 in first(*n) else tt.tile(x, first(*n)), "flatten": flattened,
    "meshgrid": lambda *xs, indexing="ij": tt.meshgrid(*first(*xs), indexing=indexing),
    "view_as": lambda x, other: tt.reshape(x, other.shape), "reshape_as": lambda x, other: tt.reshape(x, other.shape),
    "index_add": unless(of_a_number, added), "index_copy": unless(of_a_number, written),
    "scatter": unless(lambda x, dim, index, source, **how: how or not hasattr(source, "ndim") or x.ndim == 0
                      or index.ndim != x.ndim or index.shape != source.shape, spread_one),
    "scatter_add": unless(lambda x, dim, index, source: x.ndim == 0 or index.shape != source.shape, spread_sum),
    "select_scatter": lambda x, source, dim, index: written(x, dim, [index], tt.expand_dims(source, dim)),
    "linalg.pinv": lambda x, *more, **how: NotImplemented if more or how else tt.linalg.pinv(x),
    "pinverse": lambda x, **how: NotImplemented if how else tt.linalg.pinv(x),
    "linalg.norm": lambda x, ord=None, dim=None, keepdim=False: (
        NotImplemented if x.ndim == 0 or ord is None and dim is None else tt.linalg.norm(x, ord, dim, keepdim)),
    "linalg.diagonal": lambda x, offset=0, dim1=-2, dim2=-1: tt.diagonal(x, offset, dim1, dim2),
    "special.modified_bessel_i0": S.i0, "special.modified_bessel_i1": S.i1, "special.modified_bessel_k0": S.k0,
    "special.modified_bessel_k1": S.k1, "special.scaled_modified_bessel_k0": S.k0e,
    "special.scaled_modified_bessel_k1": S.k1e, "cov": lambda x, correction=1, fweights=None, aweights=None: (
        NotImplemented if aweights is not None else tt.cov(x, ddof=correction, fweights=fweights)),
    "std_mean": lambda *args, **how: (variance(tt.std)(*args, **how), means(*args, **how)),
    "var_mean": lambda *args, **how: (variance(tt.var)(*args, **how), means(*args, **how)),
    "nn.functional.relu": lambda x, inplace=False: tt.maximum(x, 0.0) if x.all() else NotImplemented,
})  # fmt: skip
OPERATIONS.update({f"nn.functional.max_pool{n}d": pooled(getattr(functional, f"max_pool{n}d")) for n in (1, 2, 3)})
for _name, _not in {
    "sigmoid": lambda x: x.dtype.kind == "c",
    "logaddexp": lambda x, y: x.dtype.kind == "c",
    "nn.functional.scaled_dot_product_attention": lambda *xs, dropout_p=0.0, **how: dropout_p > 0,
    "nn.functional.avg_pool2d": lambda x, size, stride=None, *rest: stride == (),
}.items():
    OPERATIONS[_name] = unless(_not, OPERATIONS[_name])


def converted(torch, value, leaves):
    """A sample's value as ours; tensors that want gradients are noted, with ours."""
    if isinstance(value, torch.Tensor):
        ours = tt.array(value.detach().resolve_conj().resolve_neg().numpy().copy())
        if value.requires_grad:
            leaves.append((value, ours.requires_grad_()))
        return ours
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (tuple, list)):
        return type(value)(converted(torch, v, leaves) for v in value)
    if isinstance(value, dict):
        return {k: converted(torch, v, leaves) for k, v in value.items()}
    return value


def several(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def close(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if np.allclose(
        got, want, rtol=1e-7, atol=1e-9 * max(1, np.abs(np.nan_to_num(want)).max(initial=0)), equal_nan=True
    ):
        return None
    bad = ~np.isclose(got, want, rtol=1e-7, atol=1e-9, equal_nan=True)
    return f"{got[bad].ravel()[:3]}, not {want[bad].ravel()[:3]}"


def compare(torch, op, sample, ours, pick):
    """None where value and gradients agree, "no" where the sample is not for ours, else what differs."""
    leaves = []
    args = converted(torch, (sample.input, *sample.args), leaves)
    kwargs = converted(torch, dict(sample.kwargs), leaves)
    want = several(pick(op(sample.input, *sample.args, **sample.kwargs)))
    got = ours(*args, **kwargs)
    if got is NotImplemented:
        return "no"
    got = several(got)
    if len(got) != len(want):
        return f"{len(got)} results, not {len(want)}"
    for g, w in zip(got, want):
        if wrong := close(g.detach().numpy(), w.detach().resolve_conj().resolve_neg().numpy()):
            return f"value {wrong}"
    pairs = [(g, w) for g, w in zip(got, want) if w.requires_grad]
    if not pairs or not leaves:
        return None
    twice = op.supports_gradgrad and op.name not in FIRST_ONLY
    mine, theirs = gradients(torch, pairs, leaves, twice)
    if wrong := differ(op, mine, theirs, leaves):
        return f"gradient {wrong}"
    again = [(m, t) for m, t in zip(mine, theirs) if t is not None and t.requires_grad]
    if not twice or not again or any(m is None for m, _ in again):
        return None
    wrong = differ(op, *gradients(torch, again, leaves, False), leaves)
    at_zero = "at_zero" in op.variant_test_name
    return f"second derivative {wrong}" if wrong and not at_zero else None


# Of a Hermitian matrix they do not project, and of attention they have no second derivative; at zero they have NaN.
FIRST_ONLY = {"linalg.cholesky", "nn.functional.scaled_dot_product_attention"}


def gradients(torch, pairs, leaves, twice):
    """Ours and theirs by all leaves, for the same cotangents by chance."""
    generator = torch.Generator().manual_seed(0)
    seeds = [torch.randn(w.shape, dtype=w.dtype, generator=generator) for _, w in pairs]
    theirs = torch.autograd.grad(
        [w for _, w in pairs], [t for t, _ in leaves], seeds, allow_unused=True, create_graph=twice
    )
    followed = [(g, tt.array(s.numpy())) for (g, _), s in zip(pairs, seeds) if g.requires_grad]
    found = [None] * len(leaves)
    if followed:
        arrays, given = zip(*followed)
        found = tt.grad(arrays, [a for _, a in leaves], given, allow_unused=True, create_graph=twice)
    return found, theirs


def differ(op, mine, theirs, leaves):
    """The first that differs, or None."""
    for k, (m, t) in enumerate(zip(mine, theirs)):
        m = np.zeros(leaves[k][1].shape) if m is None else m.detach().numpy()
        # A copy: what is known to be zeros has no memory in PyTorch.
        t = np.zeros(leaves[k][1].shape) if t is None else t.detach().clone().resolve_conj().resolve_neg().numpy()
        if op.name == "linalg.cholesky":  # of a Hermitian matrix only the Hermitian part has a meaning
            m, t = (x + np.conj(np.swapaxes(x, -1, -2)) for x in (m, t))
        if wrong := close(m, t):
            return f"{k}: {wrong}"
    return None


def check(torch, op, dtype):
    """(samples that agree, that are not for ours, that differ, the first of these)."""
    row = OPERATIONS[op.name]
    ours, pick = row if isinstance(row, tuple) else (row, lambda r: r)
    counts, first_wrong = [0, 0, 0], ""
    for sample in op.sample_inputs("cpu", dtype, requires_grad=dtype in op.supported_backward_dtypes("cpu")):
        try:
            wrong = compare(torch, op, sample, ours, pick)
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error)[:150]}"
        counts[0 if wrong is None else 1 if wrong == "no" else 2] += 1
        if wrong not in (None, "no") and not first_wrong:
            shapes = [tuple(x.shape) if hasattr(x, "shape") else x for x in (sample.input, *sample.args)]
            first_wrong = f"{wrong}; of {str(shapes)[:120]} {str(sample.kwargs)[:100]}"
    return (*counts, first_wrong)


def all_operations():
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


def operations(torch):
    seen = set()
    for op in all_operations():
        for dtype in (torch.float64, torch.complex128):
            key = (op.name, op.variant_test_name, dtype)
            if OPERATIONS.get(op.name) and dtype in op.supported_dtypes("cpu") and key not in seen:
                seen.add(key)
                yield op, dtype


def main(words):
    import torch

    warnings.simplefilter("ignore")
    total = [0, 0, 0]
    for op, dtype in operations(torch):
        if words and not any(w in op.name for w in words):
            continue
        *counts, wrong = check(torch, op, dtype)
        total = [a + b for a, b in zip(total, counts)]
        name = f"{op.name} {op.variant_test_name} {str(dtype).removeprefix('torch.')}"
        print(f"{name:50s} {counts[0]:4d} agree, {counts[1]} not asked, {counts[2]} differ  {wrong}", flush=True)
    print("in all: {} agree, {} not asked, {} differ".format(*total))
    print("no row:", *sorted({op.name for op in all_operations() if not OPERATIONS.get(op.name)}))
    return 1 if total[2] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
