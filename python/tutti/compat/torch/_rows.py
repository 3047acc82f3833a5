"""Functions of tensors, a row each: PyTorch's name and parameters, and what that is of tutti's. Each is a method,
too."""

# PyTorch's name, and the operation's.
ELEMENTS = """
abs absolute, absolute absolute, acos arccos, acosh arccosh, arccos arccos, arccosh arccosh, arcsin arcsin,
arcsinh arcsinh, arctan arctan, arctanh arctanh, asin arcsin, asinh arcsinh, atan arctan, atanh arctanh,
 bitwise_not invert,
ceil ceil, conj_physical conjugate, cos cos, cosh cosh, deg2rad deg2rad, erf special.erf, erfc special.erfc,
erfinv special.erfinv, exp exp, exp2 exp2, expm1 expm1, floor floor, lgamma special.gammaln, digamma special.digamma,
log log, log10 log10, log1p log1p, log2 log2, logical_not logical_not, neg negative, negative negative,
rad2deg rad2deg, reciprocal _reciprocal, relu nn.functional.relu, rsqrt _rsqrt, sgn sign, sigmoid special.expit,
 sign sign,
sin sin, sinc sinc, sinh sinh, sqrt sqrt, square square, tan tan, tanh tanh, trunc trunc, fix trunc, frac _frac,
i0 i0, nan_to_num nan_to_num
"""

# The same of two tensors.
PAIRS = """
arctan2 arctan2, atan2 arctan2, bitwise_and bitwise_and, bitwise_left_shift left_shift, bitwise_or bitwise_or,
bitwise_right_shift right_shift, bitwise_xor bitwise_xor, copysign copysign, eq equal, floor_divide floor_divide,
fmod fmod, ge greater_equal, greater greater, greater_equal greater_equal, gt greater, hypot hypot, le less_equal,
less less, less_equal less_equal, logical_and logical_and, logical_or logical_or, logical_xor logical_xor, lt less,
mul multiply, multiply multiply, ne not_equal, not_equal not_equal, nextafter nextafter, pow _pow, remainder remainder,
true_divide divide, xlogy special.xlogy, ldexp _ldexp
"""

# Written into the first tensor where the name has a line behind it.
IN_PLACE = """
add addcdiv addcmul addmm addmv baddbmm clamp clamp_max clamp_min clip div divide lerp masked_fill masked_scatter
nan_to_num round sub subtract index_fill tril triu cumsum cumprod renorm
"""

ROWS = """
add(input, other, *, alpha=1) = input + _scaled(other, alpha)
addbmm(input, batch1, batch2, *, beta=1, alpha=1) = _scaled(input, beta) + _scaled(_f.sum(batch1 @ batch2, 0), alpha)
addcdiv(input, tensor1, tensor2, *, value=1) = input + _scaled(tensor1, value) / tensor2
addcmul(input, tensor1, tensor2, *, value=1) = input + _scaled(tensor1, value) * tensor2
addmm(input, mat1, mat2, *, beta=1, alpha=1) = _scaled(input, beta) + _scaled(mat1 @ mat2, alpha)
addmv(input, mat, vec, *, beta=1, alpha=1) = _scaled(input, beta) + _scaled(mat @ vec, alpha)
addr(input, vec1, vec2, *, beta=1, alpha=1) = _scaled(input, beta) + _scaled(_f.outer(vec1, vec2), alpha)
all(input, dim=None, keepdim=False) = _truth(_f.all(input, _axes(input, dim), keepdims=keepdim), input)
allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) =
 bool(_f.allclose(input, other, rtol, atol, equal_nan))
amax(input, dim=(), keepdim=False) = _f.max(input, _axes(input, dim), keepdims=keepdim)
amin(input, dim=(), keepdim=False) = _f.min(input, _axes(input, dim), keepdims=keepdim)
aminmax(input, *, dim=None, keepdim=False) = (amin(input, dim, keepdim), amax(input, dim, keepdim))
angle(input) = _f.angle(input)
any(input, dim=None, keepdim=False) = _truth(_f.any(input, _axes(input, dim), keepdims=keepdim), input)
argmax(input, dim=None, keepdim=False) = _f.argmax(input, _axes(input, dim), keepdims=keepdim)
argmin(input, dim=None, keepdim=False) = _f.argmin(input, _axes(input, dim), keepdims=keepdim)
argsort(input, dim=-1, descending=False, stable=False) = _f.argsort(input, dim, stable=True, descending=descending)
argwhere(input) = _f.argwhere(input)
as_strided(input, size, stride, storage_offset=0) = _strided(input, size, stride, storage_offset)
cholesky_solve(input, input2, upper=False) = _cholesky_solved(input, input2, upper)
hardshrink(input, lambd=0.5) = _nn.hardshrink(input, lambd)
prelu(input, weight) = _nn.prelu(input, weight)
baddbmm(input, batch1, batch2, *, beta=1, alpha=1) = _scaled(input, beta) + _scaled(batch1 @ batch2, alpha)
bincount(input, weights=None, minlength=0) = _f.bincount(input, weights, minlength)
bmm(input, mat2) = _product(input, mat2, 3, 3)
broadcast_to(input, size) = _f.broadcast_to(input, tuple(size))
bucketize(input, boundaries, *, out_int32=False, right=False) = _searched(boundaries, input, out_int32, right)
chunk(input, chunks, dim=0) = _chunks(input, chunks, dim)
clamp(input, min=None, max=None) = _clamped(input, min, max)
clamp_max(input, max) = _clamped(input, None, max)
clamp_min(input, min) = _clamped(input, min, None)
clip(input, min=None, max=None) = _clamped(input, min, max)
clone(input, *, memory_format=None) = _clone(input)
corrcoef(input) = _f.corrcoef(_floats(input), dtype=_floats(input).dtype)
count_nonzero(input, dim=None) = _f.count_nonzero(input, _axes(input, dim))
cov(input, *, correction=1, fweights=None, aweights=None) = _covariance(input, correction, fweights, aweights)
cross(input, other, dim=-1) = _f.cross(input, other, axis=dim)
cummax(input, dim) = _running(input, dim, _f.maximum, "cummax")
cummin(input, dim) = _running(input, dim, _f.minimum, "cummin")
cumprod(input, dim, *, dtype=None) = _f.cumprod(input, dim, _sum_type(input, dtype))
cumsum(input, dim, *, dtype=None) = _f.cumsum(input, dim, _sum_type(input, dtype))
cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1) = _trapezoids(y, x, dx, dim)
det(input) = _linalg.det(input)
diag(input, diagonal=0) = _f.diag(input, diagonal)
diag_embed(input, offset=0, dim1=-2, dim2=-1) = _diag_embed(input, offset, dim1, dim2)
diagflat(input, offset=0) = _f.diagflat(input, offset)
diagonal(input, offset=0, dim1=0, dim2=1) = _f.diagonal(input, offset, dim1, dim2)
diff(input, n=1, dim=-1, prepend=None, append=None) = _diff(input, n, dim, prepend=prepend, append=append)
dist(input, other, p=2) = _norm(input - other, p, None, False, None)
div(input, other, *, rounding_mode=None) = _divided(input, other, rounding_mode)
divide(input, other, *, rounding_mode=None) = _divided(input, other, rounding_mode)
dot(input, tensor) = _product(input, tensor, 1, 1)
dsplit(input, indices_or_sections) = _split_at(input, indices_or_sections, 2)
equal(input, other) = bool(_f.array_equal(input, other))
flatten(input, start_dim=0, end_dim=-1) = _flatten(input, start_dim, end_dim)
fliplr(input) = _f.fliplr(input)
flipud(input) = _f.flipud(input)
float_power(input, exponent) = _f.float_power(input, exponent)
fmax(input, other) = _f.fmax(input, other)
fmin(input, other) = _f.fmin(input, other)
frexp(input) = _f.frexp(input)
gather(input, dim, index, *, sparse_grad=False) = _gather(input, dim, index)
gcd(input, other) = _f.gcd(input, other)
ger(input, vec2) = _f.outer(input, vec2)
heaviside(input, values) = _f.heaviside(input, values).astype(input.dtype, copy=False)
histc(input, bins=100, min=0, max=0) = _histc(input, bins, min, max)
hsplit(input, indices_or_sections) = _split_at(input, indices_or_sections, 0 if input.ndim == 1 else 1)
igamma(input, other) = _special.gammainc(input, other)
igammac(input, other) = _special.gammaincc(input, other)
index_add(input, dim, index, source, *, alpha=1) = _index_added(_clone(input), dim, index, source, alpha)
index_copy(input, dim, index, source) = _index_put(_clone(input), dim, index, source)
index_fill(input, dim, index, value) = _index_put(_clone(input), dim, index, value)
index_put(input, indices, values, accumulate=False) = _clone(input).index_put_(indices, values, accumulate)
index_select(input, dim, index) = _f.take(input, index, dim)
inner(input, other) = _f.inner(input, other)
inverse(input) = _linalg.inv(input)
is_complex(input) = input.dtype.kind == "c"
is_floating_point(input) = input.dtype.kind == "f"
is_nonzero(input) = bool(input.item())
isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) = _f.isclose(input, other, rtol, atol, equal_nan)
isfinite(input) = _f.isfinite(input)
isin(elements, test_elements, *, assume_unique=False, invert=False) =
 _f.isin(elements, test_elements, assume_unique, invert)
isinf(input) = _f.isinf(input)
isnan(input) = _f.isnan(input)
isneginf(input) = _f.isneginf(input)
isposinf(input) = _f.isposinf(input)
isreal(input) = _f.isreal(input)
kron(input, other) = _f.kron(input, other)
kthvalue(input, k, dim=-1, keepdim=False) = _kthvalue(input, k, dim, keepdim)
lcm(input, other) = _f.lcm(input, other)
lerp(input, end, weight) = input + weight * (end - input)
log_softmax(input, dim, dtype=None) = _nn.log_softmax(input, dim, dtype=dtype)
logaddexp(input, other) = _f.logaddexp(input, other)
logaddexp2(input, other) = _f.logaddexp2(input, other)
logcumsumexp(input, dim) = _f.logaddexp.accumulate(input, dim)
logdet(input) = _linalg.slogdet(input)[1]
logit(input, eps=None) = _special.logit(input if eps is None else _clamped(input, eps, 1 - eps))
logsumexp(input, dim, keepdim=False) = _special.logsumexp(_floats(input), _axes(input, dim), keepdim)
masked_fill(input, mask, value) = _where(mask, value, input).astype(input.dtype, copy=False)
masked_scatter(input, mask, source) = _masked_scatter(input, mask, source)
masked_select(input, mask) = _select_masked(input, mask)
matmul(input, other) = _matmul(input, other)
matrix_exp(input) = _matrix_exp(input)
matrix_power(input, n) = _linalg.matrix_power(input, n)
max(input, dim=None, keepdim=False) = _extreme(input, dim, keepdim, _f.max, _f.argmax, _f.maximum)
maximum(input, other) = _f.maximum(input, other)
mean(input, dim=None, keepdim=False, *, dtype=None) = _mean(input, dim, keepdim, dtype)
median(input, dim=None, keepdim=False) = _median(input, dim, keepdim)
min(input, dim=None, keepdim=False) = _extreme(input, dim, keepdim, _f.min, _f.argmin, _f.minimum)
minimum(input, other) = _f.minimum(input, other)
mm(input, mat2) = _product(input, mat2, 2, 2)
moveaxis(input, source, destination) = _f.moveaxis(input, source, destination)
movedim(input, source, destination) = _f.moveaxis(input, source, destination)
msort(input) = _f.sort(input, 0)
mv(input, vec) = _product(input, vec, 2, 1)
nanmean(input, dim=None, keepdim=False, *, dtype=None) = _f.nanmean(input, dim, dtype, keepdims=keepdim)
nanmedian(input, dim=None, keepdim=False) = _nanmedian(input, dim, keepdim)
nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear") =
 _f.nanquantile(input, q, dim, method=interpolation, keepdims=keepdim)
nansum(input, dim=None, keepdim=False, *, dtype=None) = _f.nansum(input, _axes(input, dim), dtype, keepdims=keepdim)
narrow(input, dim, start, length) = _narrow(input, dim, start, length)
nonzero(input, *, as_tuple=False) = _f.nonzero(_f.atleast_1d(input)) if as_tuple else _f.argwhere(input)
norm(input, p="fro", dim=None, keepdim=False, dtype=None) = _norm(input, p, dim, keepdim, dtype)
numel(input) = _count(input)
outer(input, vec2) = _f.outer(input, vec2)
pinverse(input) = _linalg.pinv(input)
positive(input) = +input
prod(input, dim=None, keepdim=False, *, dtype=None) =
 _f.prod(input, _axes(input, dim), _sum_type(input, dtype), keepdims=keepdim)
quantile(input, q, dim=None, keepdim=False, *, interpolation="linear") =
 _f.quantile(input, q, dim, method=interpolation, keepdims=keepdim)
ravel(input) = _f.ravel(input)
renorm(input, p, dim, maxnorm) = _renorm(input, p, dim, maxnorm)
repeat_interleave(input, repeats, dim=None, *, output_size=None) = _f.repeat(input, repeats, dim)
roll(input, shifts, dims=None) = _f.roll(input, shifts, dims)
rot90(input, k=1, dims=(0, 1)) = _f.rot90(input, k, tuple(dims))
round(input, *, decimals=0) = _f.round(input, decimals)
rsub(input, other, *, alpha=1) = other - _scaled(input, alpha)
scatter(input, dim, index, src=None, *, value=None, reduce=None) =
 _scattered(_clone(input), dim, index, src, value, reduce)
scatter_add(input, dim, index, src) = _scattered(_clone(input), dim, index, src, None, "add")
scatter_reduce(input, dim, index, src, reduce, *, include_self=True) =
 _reduced(input, dim, index, src, reduce, include_self)
searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None) =
 _searched(sorted_sequence, input, out_int32, right or side == "right", sorter)
select(input, dim, index) = input[(slice(None),) * _place(input, dim) + (index,)]
select_scatter(input, src, dim, index) = _with_part(input, src, dim, index)
signbit(input) = _f.signbit(input)
slice_scatter(input, src, dim=0, start=None, end=None, step=1) = _with_part(input, src, dim, slice(start, end, step))
slogdet(input) = _linalg.slogdet(input)
softmax(input, dim, dtype=None) = _nn.softmax(input, dim, dtype=dtype)
sort(input, dim=-1, descending=False, stable=False) = _sorted(input, dim, descending)
split(tensor, split_size_or_sections, dim=0) = _split(tensor, split_size_or_sections, dim)
split_with_sizes(input, split_sizes, dim=0) = _split(input, list(split_sizes), dim)
squeeze(input, dim=None) = _squeeze(input, dim)
std(input, dim=None, unbiased=None, keepdim=False, *, correction=None) =
 _spread(_f.std, input, dim, unbiased, keepdim, correction)
sub(input, other, *, alpha=1) = input - _scaled(other, alpha)
subtract(input, other, *, alpha=1) = input - _scaled(other, alpha)
sum(input, dim=None, keepdim=False, *, dtype=None) =
 _f.sum(input, _axes(input, dim), _sum_type(input, dtype), keepdims=keepdim)
svd(input, some=True, compute_uv=True) = _svd(input, some)
swapaxes(input, axis0, axis1) = _f.swapaxes(input, axis0, axis1)
swapdims(input, dim0, dim1) = _f.swapaxes(input, dim0, dim1)
t(input) = _f.transpose(input)
take(input, index) = _f.take(_f.ravel(input), index)
take_along_dim(input, indices, dim=None) =
 _f.take_along_axis(input, indices if dim is not None else _f.ravel(indices), dim)
tensor_split(input, indices_or_sections, dim=0) = _split_at(input, indices_or_sections, dim)
topk(input, k, dim=-1, largest=True, sorted=True) = _topk(input, k, dim, largest)
trace(input) = _f.trace(input)
adjoint(input) = _f.conjugate(_f.swapaxes(input, -1, -2))
conj(input) = _f.conjugate(input)
is_signed(input) = input.dtype.is_signed
is_same_size(input, other) = input.shape == other.shape
unique_consecutive(input, return_inverse=False, return_counts=False, dim=None) =
 _unique_neighbours(input, return_inverse, return_counts, dim)
transpose(input, dim0, dim1) = _f.swapaxes(input, dim0, dim1)
tril(input, diagonal=0) = _f.tril(input, diagonal)
triu(input, diagonal=0) = _f.triu(input, diagonal)
unbind(input, dim=0) = tuple(_f.unstack(input, axis=dim))
unflatten(input, dim, sizes) = _unflatten(input, dim, sizes)
unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None) =
 _unique(input, return_inverse, return_counts, dim)
unsqueeze(input, dim) = _f.expand_dims(input, dim)
var(input, dim=None, unbiased=None, keepdim=False, *, correction=None) =
 _spread(_f.var, input, dim, unbiased, keepdim, correction)
vdot(input, other) = _f.vdot(input, other)
view_as_complex(input) = input[..., 0] + 1j * input[..., 1]
view_as_real(input) = _f.stack([input.real, input.imag], -1)
vsplit(input, indices_or_sections) = _split_at(input, indices_or_sections, 0)
"""

# Of a tensor without axes they mean the only axis that it would have.
LIFTED = """
argsort cummax cummin cumprod cumsum flip gather index_add index_copy index_fill index_select kthvalue log_softmax
logcumsumexp median scatter scatter_add scatter_reduce softmax sort squeeze take_along_dim topk transpose
"""

# Of several tensors, or of none: functions alone.
FUNCTIONS = """
arange(start, end=None, step=1, **how) = _arange(start, end, step, **how)
atleast_1d(*tensors) = _f.atleast_1d(*_listed(tensors))
atleast_2d(*tensors) = _f.atleast_2d(*_listed(tensors))
atleast_3d(*tensors) = _f.atleast_3d(*_listed(tensors))
block_diag(*tensors) = _block_diag(tensors)
broadcast_shapes(*shapes) = _size(_f.broadcast_shapes(*shapes))
broadcast_tensors(*tensors) = tuple(_f.broadcast_arrays(*_listed(tensors)))
cartesian_prod(*tensors) = _f.stack([_f.ravel(x) for x in _f.meshgrid(*tensors, indexing="ij")], -1)
cat(tensors, dim=0) = _joined(tensors, dim)
cdist(x1, x2, p=2.0, compute_mode=None) = _norm(x1[..., :, None, :] - x2[..., None, :, :], p, -1, False, None)
column_stack(tensors) = _f.column_stack(tensors)
complex(real, imag) = real + 1j * imag
concat(tensors, dim=0) = _joined(tensors, dim)
concatenate(tensors, dim=0) = _joined(tensors, dim)
dstack(tensors) = _f.dstack(tensors)
einsum(equation, *operands) = _f.einsum(equation, *_of_one_type(_listed(operands)))
empty_like(input, **how) = _like(_f.empty_like, input, **how)
fill(input, value) = _f.full_like(input, value)
full_like(input, fill_value, **how) = _like(lambda a, **k: _f.full_like(a, fill_value, **k), input, **how)
hstack(tensors) = _f.hstack(tensors)
imag(input) = input.imag
is_tensor(obj) = isinstance(obj, Tensor)
meshgrid(*tensors, indexing="ij") = tuple(_f.meshgrid(*_listed(tensors), indexing=indexing))
ones_like(input, **how) = _like(_f.ones_like, input, **how)
polar(abs, angle) = abs * (_f.cos(angle) + 1j * _f.sin(angle))
real(input) = input.real
row_stack(tensors) = _f.vstack(tensors)
stack(tensors, dim=0) = _f.stack(_of_one_type(tensors), dim)
std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None) =
 (std(input, dim, unbiased, keepdim, correction=correction), mean(input, None if isinstance(dim, bool) else dim,
 keepdim))
tensordot(a, b, dims=2) = _f.tensordot(a, b, dims)
trapezoid(y, x=None, *, dx=1.0, dim=-1) = _f.trapezoid(_floats(y), x, dx, dim)
trapz(y, x=None, *, dx=1.0, dim=-1) = _f.trapezoid(_floats(y), x, dx, dim)
tril_indices(row, col, offset=0, *, dtype="int64", device=None, layout=None) =
 _indices(_f.tril_indices(row, offset, col), dtype)
triu_indices(row, col, offset=0, *, dtype="int64", device=None, layout=None) =
 _indices(_f.triu_indices(row, offset, col), dtype)
var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None) =
 (var(input, dim, unbiased, keepdim, correction=correction), mean(input, None if isinstance(dim, bool) else dim,
 keepdim))
vander(x, N=None, increasing=False) = _f.vander(x, N, increasing).astype(x.dtype)
vstack(tensors) = _f.vstack(tensors)
bartlett_window(window_length, periodic=True, **how) = _window(_f.bartlett, window_length, periodic, **how)
blackman_window(window_length, periodic=True, **how) = _window(_f.blackman, window_length, periodic, **how)
hamming_window(window_length, periodic=True, **how) = _window(_f.hamming, window_length, periodic, **how)
hann_window(window_length, periodic=True, **how) = _window(_f.hanning, window_length, periodic, **how)
kaiser_window(window_length, periodic=True, beta=12.0, **how) =
 _window(lambda n: _f.kaiser(n, beta), window_length, periodic, **how)
can_cast(from_, to) = _kind(from_) <= _kind(to)
promote_types(type1, type2) = _core._result_type(_f.zeros(1, dtype=type1), _f.zeros(1, dtype=type2))
scalar_tensor(s, *, dtype=None, device=None) =
 _core._as_tensor(_f.asarray(s, dtype or _core._tensor_float(None), device=device))
where(condition, input=None, other=None) =
 _f.nonzero(condition) if input is None else _where(condition, input, other)
zeros_like(input, **how) = _like(_f.zeros_like, input, **how)
"""
