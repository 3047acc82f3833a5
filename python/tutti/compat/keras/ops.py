"""keras.ops: tutti's functions under Keras' names. Of a KerasTensor they make KerasTensors, and nodes of a graph."""

import functools as _functools
import sys as _sys
import types as _types

import tutti as _tt

from . import _images
from . import config as _config
from ._graph import KerasTensor as _KerasTensor
from ._graph import any_symbolic as _any_symbolic
from ._graph import symbolic_call as _symbolic_call
from ._tree import map_structure as _map_structure
from ._variable import tensor as _tensor

_F = _tt.nn.functional
_table = {}


def _array_of(x):
    """NumPy's arrays as ours; numbers, lists of numbers and settings stay."""
    return _tensor(x) if hasattr(x, "__array__") and not isinstance(x, (_tt.ndarray, _KerasTensor)) else x


def _op(fn, name=None):
    """A function that takes KerasTensors, too."""
    name = name or fn.__name__

    @_functools.wraps(fn, assigned=("__doc__",))
    def call(*args, **kwargs):
        if _any_symbolic(args, kwargs):
            return _symbolic_call(call, name, args, kwargs)
        args, kwargs = _map_structure(_array_of, (args, kwargs))
        return fn(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    _table[name] = call
    return call


_SAME = """
abs absolute all allclose amax amin angle any append arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
argmin argpartition argsort array_split bartlett bincount bitwise_and bitwise_invert bitwise_left_shift bitwise_not
bitwise_or bitwise_right_shift bitwise_xor blackman broadcast_to cbrt ceil clip conj conjugate copy corrcoef
correlate cos cosh count_nonzero cross cumprod cumsum deg2rad diag diagflat diagonal diff digitize dot dsplit dstack
einsum empty_like exp exp2 expand_dims expm1 fabs flip fliplr flipud floor fmax fmin fmod gcd geomspace hamming
hanning heaviside histogram hsplit hypot i0 imag inner isclose isfinite isin isinf isnan isneginf isposinf isreal
kaiser kron lcm ldexp left_shift log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or
logical_xor logspace matmul max mean median meshgrid min moveaxis nan_to_num nanargmax nanargmin nancumprod
nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative
nextafter nonzero ones_like outer pad percentile prod ptp quantile rad2deg ravel real reciprocal repeat reshape
right_shift roll rot90 searchsorted select sign signbit sin sinc sinh size sort sqrt square squeeze std sum swapaxes
take_along_axis tan tanh tensordot tile trace trapezoid tril triu trunc unique unravel_index vander var vdot vsplit
zeros_like
""".split()
for _name in _SAME:
    globals()[_name] = _op(getattr(_tt, _name), _name)


def _arithmetic(name, fn=None):
    """A function of two arrays: whole numbers take the type of floats that they meet, as numbers of Python do."""
    fn = fn or getattr(_tt, name)

    def call(x1, x2):
        kinds = [a.dtype.kind if isinstance(a, _tt.ndarray) else None for a in (x1, x2)]
        if kinds == ["f", "i"] or kinds == ["f", "u"] or kinds == ["f", "b"]:
            x2 = x2.astype(x1.dtype)
        elif kinds == ["i", "f"] or kinds == ["u", "f"] or kinds == ["b", "f"]:
            x1 = x1.astype(x2.dtype)
        return fn(x1, x2)

    call.__doc__ = fn.__doc__
    return _op(call, name)


for _name in (
    "add subtract multiply divide true_divide floor_divide mod power maximum minimum equal not_equal less less_equal "
    "greater greater_equal"
).split():
    globals()[_name] = _arithmetic(_name)


def _activation(name, fn=None):
    return _op(fn or getattr(_F, name), name)


relu, relu6, silu, softsign, selu = (_activation(n) for n in ("relu", "relu6", "silu", "softsign", "selu"))
sigmoid, mish, tanh_shrink = _activation("sigmoid"), _activation("mish"), _activation("tanh_shrink", _F.tanhshrink)
log_sigmoid = _activation("log_sigmoid", _F.logsigmoid)
hard_sigmoid, hard_silu = _activation("hard_sigmoid", _F.hardsigmoid), _activation("hard_silu", _F.hardswish)
hard_tanh = _activation("hard_tanh", _F.hardtanh)
erf = _op(_tt.special.erf, "erf")
erfinv = _op(_tt.special.erfinv, "erfinv")
swish, hard_swish = silu, hard_silu


@_op
def softplus(x):
    """log(1 + exp(x))"""
    return _tt.logaddexp(x, 0.0)


@_op
def elu(x, alpha=1.0):
    """What is above 0; below it alpha (exp(x) - 1)."""
    return _F.elu(x, alpha)


@_op
def celu(x, alpha=1.0):
    """What is above 0; below it alpha (exp(x / alpha) - 1)."""
    return _F.celu(x, alpha)


@_op
def leaky_relu(x, negative_slope=0.2):
    """What is above 0; below it a part of it."""
    return _F.leaky_relu(x, negative_slope)


@_op
def gelu(x, approximate=True):
    """x times the share of the normal distribution below x."""
    return _F.gelu(x, approximate="tanh" if approximate else "none")


@_op
def glu(x, axis=-1):
    """One half of an axis times sigmoid of the other."""
    return _F.glu(x, axis)


@_op
def softmax(x, axis=-1):
    """Exponentials over their sum, along one axis or several."""
    if isinstance(axis, (list, tuple)):
        x = x - _tt.max(x, tuple(axis), keepdims=True)
        return _tt.exp(x) / _tt.sum(_tt.exp(x), tuple(axis), keepdims=True)
    return _F.softmax(x, axis)


@_op
def log_softmax(x, axis=-1):
    """The logarithm of softmax."""
    return _F.log_softmax(x, axis)


@_op
def soft_shrink(x, threshold=0.5):
    """0 between -threshold and threshold, else x brought nearer to 0 by it."""
    return _F.softshrink(x, threshold)


@_op
def hard_shrink(x, threshold=0.5):
    """0 between -threshold and threshold, else x."""
    return _F.hardshrink(x, threshold)


@_op
def threshold(x, threshold, default_value):
    """What is above a threshold, else a value."""
    return _F.threshold(x, threshold, default_value)


@_op
def squareplus(x, b=4):
    """(x + sqrt(x**2 + b)) / 2"""
    return (x + _tt.sqrt(_tt.square(x) + b)) / 2


@_op
def sparse_plus(x):
    """0 up to -1, x from 1 on, a parabola between."""
    return _tt.where(x <= -1, _tt.zeros_like(x), _tt.where(x >= 1, x, (x + 1) ** 2 / 4))


@_op
def sparse_sigmoid(x):
    """0 up to -1, 1 from 1 on, a straight line between."""
    return _tt.clip((x + 1) / 2, 0, 1)


# ---- making arrays


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """An array; floats of Python and of NumPy have Keras' type."""
    return (
        cast(x, dtype)
        if isinstance(x, _KerasTensor) and dtype
        else x
        if isinstance(x, _KerasTensor)
        else _tensor(x, dtype)
    )


array = convert_to_tensor


def convert_to_numpy(x):
    """NumPy's array."""
    return _tensor(x).numpy()


def is_tensor(x):
    """Whether it is an array or stands for one."""
    return isinstance(x, (_tt.ndarray, _KerasTensor))


def ones(shape, dtype=None):
    """Ones."""
    return _tt.ones(shape, dtype=dtype or _config.floatx())


def zeros(shape, dtype=None):
    """Zeros."""
    return _tt.zeros(shape, dtype=dtype or _config.floatx())


def empty(shape, dtype=None):
    """Zeros."""
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None):
    """A number everywhere."""
    return _tt.full(shape, fill_value, dtype=dtype or _config.floatx())


@_op
def full_like(x, fill_value, dtype=None):
    """A number everywhere, in the shape of an array."""
    return _tt.full_like(x, fill_value, dtype=dtype)


def eye(N, M=None, k=0, dtype=None):
    """Ones on a diagonal."""
    return _tt.eye(N, M, k, dtype=dtype or _config.floatx())


def identity(n, dtype=None):
    """The identity matrix."""
    return eye(n, dtype=dtype)


def arange(start, stop=None, step=None, dtype=None):
    """Numbers at equal distances."""
    made = _tt.arange(start) if stop is None else _tt.arange(start, stop, 1 if step is None else step)
    return made.astype(dtype or ("int32" if made.dtype == "int64" else _config.floatx()))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Numbers from one to another."""
    return _tt.linspace(start, stop, num, endpoint, axis=axis).astype(dtype or _config.floatx())


def tri(N, M=None, k=0, dtype=None):
    """Ones below a diagonal."""
    return _tt.tri(N, M, k, dtype=dtype or _config.floatx())


# ---- shapes and parts


def shape(x):
    """The lengths of the axes."""
    return tuple(x.shape)


@_op
def cast(x, dtype):
    """The elements as another type."""
    return _tensor(x).astype(dtype)


@_op
def concatenate(xs, axis=0):
    """Arrays one after the other along an axis."""
    return _tt.concatenate([_tensor(x) for x in xs], axis)


@_op
def stack(x, axis=0):
    """Arrays along a new axis."""
    return _tt.stack([_tensor(part) for part in x], axis)


hstack = _op(_tt.hstack, "hstack")
vstack = _op(_tt.vstack, "vstack")


@_op
def split(x, indices_or_sections, axis=0):
    """Parts of an axis."""
    return list(_tt.split(x, indices_or_sections, axis))


@_op
def unstack(x, num=None, axis=0):
    """The parts along an axis."""
    return list(_tt.unstack(x, axis=axis))


@_op
def transpose(x, axes=None):
    """The axes in another order."""
    return _tt.transpose(x, axes)


@_op
def take(x, indices, axis=None):
    """Elements by their places."""
    indices = _tensor(indices).astype("int64")
    return _tt.take(
        x.reshape(-1) if axis is None and x.ndim < 2 else x, indices, 0 if axis is None and x.ndim < 2 else axis
    )


@_op
def get_item(x, key):
    """x[key]"""
    return x[key]


@_op
def where(condition, x1=None, x2=None):
    """Elements of the one where a condition holds, else of the other."""
    return _tt.nonzero(condition) if x1 is None else _tt.where(condition, x1, x2)


@_op
def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """1 at the place that an element names, else 0; places that are none leave zeros."""
    made = _tt.asarray(x)[..., None].astype("int64") == _tt.arange(num_classes)
    return _tt.moveaxis(made, -1, axis).astype(dtype or _config.floatx())


@_op
def multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False):
    """1 at all places that elements along an axis name."""
    made = (_tt.asarray(inputs)[..., None] == _tt.arange(num_classes)).any(axis=axis - 1 if axis < 0 else axis)
    return made.astype(dtype or _config.floatx())


@_op
def slice(inputs, start_indices, shape):
    """A part that begins somewhere and has a shape."""
    return inputs[tuple(_slice(int(a), int(a) + n) for a, n in zip(start_indices, shape))]


_slice = __builtins__["slice"] if isinstance(__builtins__, dict) else __builtins__.slice


@_op
def slice_update(inputs, start_indices, updates):
    """An array with another part."""
    made = _tt.array(inputs)
    made[tuple(_slice(int(a), int(a) + n) for a, n in zip(start_indices, updates.shape))] = updates
    return made


@_op
def scatter(indices, values, shape):
    """Values added up at places of zeros."""
    made = _tt.zeros(shape, dtype=values.dtype)
    _tt.add.at(made, tuple(_tt.moveaxis(_tensor(indices), -1, 0)), values)
    return made


@_op
def stop_gradient(variable):
    """The values, which no gradient goes through."""
    return variable.detach()


# ---- numbers of arrays


@_op
def average(x, axis=None, weights=None):
    """The mean, with weights."""
    return _tt.average(x, axis, weights)


@_op
def rsqrt(x):
    """1 / sqrt(x)"""
    return 1.0 / _tt.sqrt(x)


@_op
def divide_no_nan(x1, x2):
    """A quotient that is 0 where there is nothing to divide by."""
    return _tt.where(x2 == 0, 0.0 * x1, x1 / _tt.where(x2 == 0, _tt.ones_like(x2), x2))


@_op
def round(x, decimals=0):
    """The nearest numbers of some digits."""
    return _tt.round(x, decimals)


@_op
def logsumexp(x, axis=None, keepdims=False):
    """The logarithm of the sum of exponentials."""
    return _tt.special.logsumexp(x, axis, keepdims=keepdims)


@_op
def norm(x, ord=None, axis=None, keepdims=False):
    """The length of vectors, or a norm of matrices."""
    return _tt.linalg.norm(x, ord, axis, keepdims)


@_op
def normalize(x, axis=-1, order=2, epsilon=None):
    """Vectors over their length."""
    length = _tt.linalg.norm(x, order, axis, keepdims=True)
    return x / _tt.maximum(length, epsilon or _config.epsilon())


@_op
def top_k(x, k, sorted=True):
    """The k largest elements of the last axis, and their places."""
    order = _tt.argsort(-x, axis=-1)[..., :k]
    return _tt.take_along_axis(x, order, axis=-1), order.astype("int32")


@_op
def in_top_k(targets, predictions, k):
    """Whether the target is among the k likeliest classes."""
    own = _tt.take_along_axis(predictions, targets.astype("int64")[..., None], axis=-1)
    return (predictions > own).sum(axis=-1) < k


for _name in "cholesky det eig eigh inv lstsq matrix_rank pinv qr slogdet solve svd".split():
    globals()[_name] = _op(getattr(_tt.linalg, _name), _name)


@_op
def moments(x, axes, keepdims=False, synchronized=False):
    """The mean and the variance."""
    axes = tuple(axes) if isinstance(axes, list) else axes
    return _tt.mean(x, axes, keepdims=keepdims), _tt.var(x, axes, keepdims=keepdims)


@_op
def logdet(x):
    """The logarithm of the determinant."""
    return _tt.linalg.slogdet(x)[1]


@_op
def erfc(x):
    """1 - erf(x)"""
    return _tt.special.erfc(x)


# ---- windows


def _window_layer(kind, inputs, **how):
    from . import layers

    return getattr(layers, f"{kind}{inputs.ndim - 2}D")(**how)


@_op
def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The largest element of windows."""
    how = {"pool_size": pool_size, "strides": strides, "padding": padding, "data_format": data_format}
    return _window_layer("MaxPooling", inputs, **how).call(inputs)


@_op
def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """The mean of windows."""
    how = {"pool_size": pool_size, "strides": strides, "padding": padding, "data_format": data_format}
    return _window_layer("AveragePooling", inputs, **how).call(inputs)


@_op
def conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """The convolution with a kernel whose last axes are channels in and out."""
    own = {"strides": strides, "padding": padding, "data_format": data_format, "dilation_rate": dilation_rate}
    channels = inputs.shape[1 if _config.standardize_data_format(data_format) == "channels_first" else -1]
    own |= {"filters": kernel.shape[-1], "kernel_size": tuple(kernel.shape[:-2]), "use_bias": False}
    layer = _window_layer("Conv", inputs, groups=channels // kernel.shape[-2], **own)
    layer.kernel, layer.bias = _tensor(kernel), None
    return layer.call(inputs)


# ---- losses


def _loss(name):
    def call(target, output, from_logits=False, axis=-1):
        from . import losses

        return getattr(losses, name)(target, output, from_logits=from_logits, axis=axis)

    call.__doc__ = f"keras.losses.{name} of each sample."
    return _op(call, name)


categorical_crossentropy = _loss("categorical_crossentropy")
sparse_categorical_crossentropy = _loss("sparse_categorical_crossentropy")


@_op
def binary_crossentropy(target, output, from_logits=False):
    """Cross entropy of each element."""
    from . import losses

    shape = output.shape
    return losses.binary_crossentropy(target.reshape(*shape, 1), output.reshape(*shape, 1), from_logits)


# ---- control


def cond(pred, true_fn, false_fn):
    """One function or the other."""
    return true_fn() if bool(pred) else false_fn()


def while_loop(cond, body, loop_vars, maximum_iterations=None):
    """A function again and again while a condition holds."""
    single = not isinstance(loop_vars, (list, tuple))
    state, step = (loop_vars,) if single else tuple(loop_vars), 0
    while bool(cond(*state)) and (maximum_iterations is None or step < maximum_iterations):
        made = body(*state)
        state, step = (made,) if not isinstance(made, (list, tuple)) else tuple(made), step + 1
    return state[0] if single else state


def fori_loop(lower, upper, body_fun, init_val):
    """A function for each number."""
    for k in range(int(lower), int(upper)):
        init_val = body_fun(k, init_val)
    return init_val


def scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    """A function along the first axis, with what it carries on."""
    steps = range(length if xs is None else len(xs))
    made = [None] * len(steps)
    for k in reversed(steps) if reverse else steps:
        init, made[k] = f(init, None if xs is None else xs[k])
    return init, _map_structure(lambda *parts: _tt.stack(parts), *made)


def vectorized_map(function, elements):
    """A function of each part along the first axis."""
    made = [function(part) for part in elements]
    return _map_structure(lambda *parts: _tt.stack(parts), *made)


def map(f, xs):
    """A function of each part along the first axis."""
    return vectorized_map(f, xs)


def _places(ids, n):
    """Which elements are of which segment, [segments, elements]."""
    n = int(_tt.max(ids).item()) + 1 if n is None else n
    return ids == _tt.arange(n, dtype=ids.dtype)[:, None]


def _by_segments(name, fold, empty):
    def call(data, segment_ids, num_segments=None, sorted=False):
        own = _places(segment_ids, num_segments)
        own = own.reshape(*own.shape, *(1,) * (data.ndim - 1))
        return fold(_tt.where(own, data, _tt.asarray(empty(data.dtype), dtype=data.dtype)), 1).astype(data.dtype)

    call.__doc__ = f"The {name} of the elements of each segment."
    return _op(call, f"segment_{name}")


def _end(dtype, first):
    """The least number of a type, or the greatest."""
    if dtype.kind in "iu":
        return _tt.iinfo(dtype).min if first else _tt.iinfo(dtype).max
    return -_tt.inf if first else _tt.inf


segment_sum = _by_segments("sum", _tt.sum, lambda dtype: 0)
segment_prod = _by_segments("prod", _tt.prod, lambda dtype: 1)
segment_max = _by_segments("max", _tt.max, lambda dtype: _end(dtype, True))
segment_min = _by_segments("min", _tt.min, lambda dtype: _end(dtype, False))


@_op
def scatter_update(inputs, indices, updates):
    """A copy, with other elements at places."""
    made = inputs.copy()
    made[tuple(_tt.moveaxis(indices, -1, 0))] = updates
    return made


@_op
def saturate_cast(x, dtype):
    """A cast, whose results are the type's first and last number for what it has no room for."""
    kind = _tt.dtype(dtype)
    return _images.saturated(x, kind) if kind.kind in "iu" and x.dtype.kind != "b" else x.astype(kind)


def _each_axis(x, axis):
    return tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)


def _fitted(part, x, axis):
    """Numbers for each place of some axes, with an axis of 1 for each other one."""
    kept = {a % x.ndim for a in _each_axis(x, axis)}
    return part.reshape([n if k in kept else 1 for k, n in enumerate(x.shape)])


@_op
def layer_normalization(x, gamma=None, beta=None, axis=-1, epsilon=None):
    """Elements less their mean, over their spread."""
    axes = _each_axis(x, axis)
    mean = _tt.mean(x, axes, keepdims=True)
    spread = _tt.mean(_tt.square(x - mean), axes, keepdims=True)
    made = (x - mean) / _tt.sqrt(spread + (_config.epsilon() if epsilon is None else epsilon))
    made = made if gamma is None else made * _fitted(gamma, x, axis)
    return made if beta is None else made + _fitted(beta, x, axis)


@_op
def rms_normalization(x, scale=1, axis=-1, epsilon=None):
    """Elements over the root of the mean of their squares."""
    size = _tt.mean(_tt.square(x), _each_axis(x, axis), keepdims=True)
    made = x / _tt.sqrt(size + (_config.epsilon() if epsilon is None else epsilon))
    return made * (_fitted(scale, x, axis) if isinstance(scale, _tt.ndarray) and scale.ndim else scale)


@_op
def batch_normalization(x, mean, variance, axis, offset=None, scale=None, epsilon=1e-3):
    """Channels less a mean, over a spread."""
    made = (x - _fitted(mean, x, axis)) / _tt.sqrt(_fitted(variance, x, axis) + epsilon)
    made = made if scale is None else made * _fitted(scale, x, axis)
    return made if offset is None else made + _fitted(offset, x, axis)


@_op
def dot_product_attention(
    query, key, value, bias=None, mask=None, scale=None, is_causal=False, flash_attention=None,
    attn_logits_soft_cap=None,
):  # fmt: skip
    """Attention of [images, steps, heads, features]."""
    if attn_logits_soft_cap is not None:
        raise NotImplementedError("tutti.compat.keras does not cover attn_logits_soft_cap")
    parts = [_tt.swapaxes(x, 1, 2) for x in (query, key, value)]
    if is_causal:
        causal = _tt.tril(_tt.ones((query.shape[1], key.shape[1]), dtype="bool"))
        mask = causal if mask is None else mask & causal
    if bias is not None and mask is not None:
        bias = _tt.where(mask, bias, -_tt.inf)
    given = mask if bias is None else bias
    return _tt.swapaxes(_F.scaled_dot_product_attention(*parts, given, scale=scale), 1, 2)


@_op
def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """The loss of each sequence of labels."""
    chances = _F.log_softmax(_tt.swapaxes(output, 0, 1), -1)
    lengths = (x.astype("int64") for x in (output_length, target_length))
    return _F.ctc_loss(chances, target.astype("int64"), *lengths, blank=mask_index, reduction="none")


@_op
def solve_triangular(a, b, lower=False):
    """The solution of triangular equations."""
    vector = b.ndim == a.ndim - 1
    made = _tt.linalg.solve((_tt.tril if lower else _tt.triu)(a), b[..., None] if vector else b)
    return made[..., 0] if vector else made


@_op
def psnr(x1, x2, max_val):
    """How much larger the largest value is than the difference, in decibels."""
    return 10 * _tt.log10(max_val**2 / _tt.mean(_tt.square(x1 - x2)))


def _transform(name, function):
    def call(x):
        made = function(x[0] + 1j * x[1])
        return made.real, made.imag

    call.__doc__ = "The transform of real and imaginary parts, as such."
    return _op(call, name)


fft, fft2, ifft2 = (_transform(name, getattr(_tt.fft, name)) for name in ("fft", "fft2", "ifft2"))


@_op
def rfft(x, fft_length=None):
    """The transform of real numbers, as real and imaginary parts."""
    made = _tt.fft.rfft(x, fft_length)
    return made.real, made.imag


@_op
def irfft(x, fft_length=None):
    """The real numbers that a transform is of."""
    return _tt.fft.irfft(x[0] + 1j * x[1], fft_length)


column_stack, matrix_power = _op(_tt.column_stack, "column_stack"), _op(_tt.linalg.matrix_power, "matrix_power")


def dtype(x):
    """The name of the type."""
    return str(x.dtype)


def switch(index, branches, *operands):
    """What one of several functions gives."""
    k, last = int(index), len(branches) - 1
    return branches[0 if k < 0 else last if k > last else k](*operands)


# The modules in this one: images have functions of their own, the others are all of these.
image = _types.SimpleNamespace(
    **{
        name: _op(getattr(_images, name))
        for name in ("affine_transform", "crop_images", "pad_images", "resize", "rgb_to_grayscale")
    }
)
core = linalg = math = nn = numpy = _sys.modules[__name__]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.ops.{name}")
