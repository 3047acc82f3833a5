"""The functions of networks in plain NumPy, by name: what the samples of samples.py should give, in float64."""

import itertools

import numpy as np
from scipy import special


def over(a, weight, axis=1):
    if weight is None:
        return 1.0
    return np.reshape(weight, [-1 if d == axis else 1 for d in range(a.ndim)])


def softmax(x, dim):
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def log_softmax(x, dim):
    x = x - x.max(axis=dim, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=dim, keepdims=True))


def norm(x, p, axis, keepdims=False):
    return (np.abs(x) ** p).sum(axis=axis, keepdims=keepdims) ** (1 / p)


def normalize(x, p=2.0, dim=1, eps=1e-12):
    return x / np.maximum(norm(x, p, dim, True), eps)


def cosine_similarity(a, b, dim=1, eps=1e-8):
    return (a * b).sum(axis=dim) / (np.maximum(norm(a, 2, dim), eps) * np.maximum(norm(b, 2, dim), eps))


def pairwise_distance(a, b, p=2.0, eps=1e-6, keepdim=False):
    return norm(a - b + eps, p, -1, keepdim)


def linear(x, w, b=0.0):
    return np.einsum("...i,oi->...o", x, w) + b


def bilinear(x, y, w, b=0.0):
    return np.einsum("...i,oij,...j->...o", x, w, y) + b


def scaled(y, weight, bias, axis=1):
    return y * over(y, weight, axis) + (0 if bias is None else over(y, bias, axis))


def standard(x, axes, eps):
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        y = standard(x, tuple(d for d in range(x.ndim) if d != 1), eps)
    else:
        y = (x - over(x, running_mean)) / np.sqrt(over(x, running_var) + eps)
    return scaled(y, weight, bias)


def instance_norm(x, weight=None, bias=None, eps=1e-5):
    return scaled(standard(x, tuple(range(2, x.ndim)), eps), weight, bias)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    y = standard(x, tuple(range(-len(normalized_shape), 0)), eps)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    squares = (x * x).mean(axis=tuple(range(-len(normalized_shape), 0)), keepdims=True)
    return x / np.sqrt(squares + eps) * (1 if weight is None else weight)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    parts = x.reshape(len(x), num_groups, -1)
    return scaled(standard(parts, 2, eps).reshape(x.shape), weight, bias)


def reduced(each, reduction):
    return {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](each)


def loss(each):
    def make(x, y=None, target=None, reduction="mean", weight=None, **how):
        made = each(x, y if target is None else target, **how)
        return reduced(made if weight is None else made * weight, reduction)

    return make


def smooth_l1(x, y, beta=1.0):
    far = np.abs(x - y)
    return far if beta == 0 else np.where(far < beta, far**2 / (2 * beta), far - beta / 2)


def huber(x, y, delta=1.0):
    far = np.abs(x - y)
    return np.where(far <= delta, far**2 / 2, delta * (far - delta / 2))


def logits(x, y, pos_weight=1.0):
    return -(pos_weight * y * special.log_expit(x) + (1 - y) * special.log_expit(-x))


def kl_div(x, y, reduction, log_target):
    each = np.exp(y) * (y - x) if log_target else special.xlogy(y, y) - y * x
    return each.sum() / len(x) if reduction == "batchmean" else reduced(each, reduction)


def cosine_embedding(a, b, target, margin, reduction):
    cosine = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12))
    return reduced(np.where(target == 1, 1 - cosine, np.maximum(cosine - margin, 0)), reduction)


def triplet_margin(a, b, c, margin, p, swap, reduction):
    near, far = pairwise_distance(a, b, p), pairwise_distance(a, c, p)
    if swap:
        far = np.minimum(far, pairwise_distance(b, c, p))
    return reduced(np.maximum(near - far + margin, 0), reduction)


def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean", smoothing=0.0):
    rows = np.moveaxis(x, 1, -1) if x.ndim > 1 else x
    weight = np.ones(rows.shape[-1]) if weight is None else weight
    loss, share = np.zeros(target.shape), np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        k = target[place]
        if k != ignore_index:
            share[place] = weight[k]
            loss[place] = -rows[place][k] * weight[k] * (1 - smoothing) - smoothing * (rows[place] * weight).mean()
    return loss.sum() / share.sum() if reduction == "mean" else reduced(loss, reduction)


def cross_entropy(x, y=None, target=None, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    axis = 0 if x.ndim == 1 else 1
    log = log_softmax(x, axis)
    if target is not None:
        return nll_loss(log, target, weight, ignore_index, reduction, label_smoothing)
    y = y * (1 - label_smoothing) + label_smoothing / x.shape[axis]
    return reduced(-(log * y * over(x, weight, axis)).sum(axis=axis), reduction)


def pad(x, pad, mode="constant", value=None):
    width = [(0, 0)] * (x.ndim - len(pad) // 2) + [pad[k : k + 2] for k in range(0, len(pad), 2)][::-1]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(width, x.shape))
    width = [(max(a, 0), max(b, 0)) for a, b in width]
    word = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    return np.pad(x[cut], width, word, **({"constant_values": value or 0} if mode == "constant" else {}))


def matrices(x, rows):
    """x with the axes of space multiplied by matrices, a list of them."""
    for d, matrix in enumerate(rows):
        x = np.moveaxis(np.tensordot(x, matrix, (2 + d, 1)), -1, 2 + d)
    return x


def cubic(x):
    x, a = abs(x), -0.75
    return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x <= 1 else a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def resized(n, out, step, mode, corners):
    """The matrix that interpolates n elements."""
    m = np.zeros((out, n))
    for i in range(out):
        if mode in ("nearest", "nearest-exact"):
            m[i, min(int(np.float32(i + (mode != "nearest") * 0.5) * np.float32(step)), n - 1)] = 1
            continue
        at = step * i if corners else step * (i + 0.5) - 0.5
        if mode == "bicubic":
            for k in range(int(np.floor(at)) - 1, int(np.floor(at)) + 3):
                m[i, min(max(k, 0), n - 1)] += cubic(at - k)
            continue
        at = max(at, 0)
        low = min(int(at), n - 1)
        m[i, low] += 1 - (at - low)
        m[i, min(low + 1, n - 1)] += at - low
    return m


def means(n, out):
    m = np.zeros((out, n))
    for i in range(out):
        window = slice(i * n // out, -(-(i + 1) * n // out))
        m[i, window] = 1 / (window.stop - window.start)
    return m


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
    rows = []
    for d, n in enumerate(x.shape[2:]):
        out = size[d] if size else int(n * scale_factor)
        step = 1 / scale_factor if scale_factor and not recompute_scale_factor else n / out
        if align_corners:
            step = (n - 1) / (out - 1) if out > 1 else 0
        rows.append(means(n, out) if mode == "area" else resized(n, out, step, mode, align_corners))
    return matrices(x, rows)


def adaptive(mean):
    def make(x, output_size):
        sizes = (output_size,) if isinstance(output_size, int) else output_size
        for d, size in enumerate(sizes, x.ndim - len(sizes)):
            n = x.shape[d]
            size = n if size is None else size
            windows = [np.take(x, range(i * n // size, -(-(i + 1) * n // size)), d) for i in range(size)]
            x = np.stack([w.mean(axis=d) if mean else w.max(axis=d) for w in windows], d)
        return x

    return make


def columns(size, kernel_size, dilation, padding, stride):
    """The flat place in the padded image of each element of each window."""
    wide = [n + 2 * padding for n in size]
    out = [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(wide, kernel_size)]
    one = [np.arange(k)[:, None] * dilation + np.arange(n) * stride for k, n in zip(kernel_size, out)]
    flat = one[0][:, None, :, None] * wide[1] + one[1][None, :, None, :]
    return wide, flat.reshape(kernel_size[0] * kernel_size[1], -1)


def unfold(x, kernel_size, dilation, padding, stride):
    _, at = columns(x.shape[2:], kernel_size, dilation, padding, stride)
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    return x.reshape(*x.shape[:2], -1)[:, :, at].reshape(len(x), -1, at.shape[1])


def fold(x, output_size, kernel_size, dilation, padding, stride):
    wide, at = columns(output_size, kernel_size, dilation, padding, stride)
    parts = x.reshape(len(x), -1, *at.shape)
    image = np.zeros((*parts.shape[:2], wide[0] * wide[1]))
    np.add.at(image, (slice(None), slice(None), at), parts)
    image = image.reshape(*parts.shape[:2], *wide)
    return image[:, :, padding : padding + output_size[0], padding : padding + output_size[1]]


def gaussian(x, y, var, full, eps, reduction):
    var = var[..., None] if var.ndim < x.ndim else var
    var = np.maximum(var, eps)
    return reduced((np.log(var) + (x - y) ** 2 / var + full * np.log(2 * np.pi)) / 2, reduction)


def poisson(x, target, log_input, full, reduction):
    each = np.exp(x) - target * x if log_input else x - target * np.log(x + 1e-8)
    more = special.xlogy(target, target) - target + np.log(2 * np.pi * target) / 2
    return reduced(each + (np.where(target > 1, more, 0) if full else 0), reduction)


def multi_margin(x, target, p, margin, reduction, weight=None):
    each = np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        row, k = x[place], target[place]
        miss = np.maximum(margin - row[k] + np.delete(row, k), 0) ** p
        each[place] = miss.sum() / len(row) * (1 if weight is None else weight[k])
    return reduced(each, reduction)


def multilabel_margin(x, target, reduction):
    each = np.zeros(x.shape[:-1])
    for place in np.ndindex(each.shape):
        row, own = x[place], [k for k in target[place] if k >= 0]
        other = np.delete(row, own)
        each[place] = sum(np.maximum(1 - row[k] + other, 0).sum() for k in own) / len(row)
    return reduced(each, reduction)


def multilabel_soft_margin(x, target, reduction, weight=1.0):
    each = -(target * special.log_expit(x) + (1 - target) * special.log_expit(-x)) * weight
    return reduced(each.mean(axis=-1), reduction)


def pixel_shuffle(x, upscale_factor):
    *lead, c, h, w = x.shape
    r, n = upscale_factor, len(lead)
    x = x.reshape(*lead, c // r**2, r, r, h, w).transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return x.reshape(*lead, c // r**2, h * r, w * r)


def pixel_unshuffle(x, downscale_factor):
    *lead, c, h, w = x.shape
    r, n = downscale_factor, len(lead)
    x = x.reshape(*lead, c, h // r, r, w // r, r).transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return x.reshape(*lead, c * r**2, h // r, w // r)


def pdist(x, p):
    return np.array([np.linalg.norm(a - b, p) for k, a in enumerate(x) for b in x[k + 1 :]])


def local_response(x, size, alpha, beta, k):
    squares = np.pad(x**2, [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (x.ndim - 2))
    mean = sum(squares[:, i : i + x.shape[1]] for i in range(size)) / size
    return x / (k + alpha * mean) ** beta


def lp_pool(x, norm_type, kernel_size, stride, ceil_mode):
    kernels = (kernel_size,) if isinstance(kernel_size, int) else kernel_size
    y = x**norm_type
    for d, k in enumerate(kernels, x.ndim - len(kernels)):
        step, n = stride or k, y.shape[d]
        out = -(-(n - k) // step) + 1 if ceil_mode else (n - k) // step + 1
        out -= ceil_mode and (out - 1) * step >= n
        windows = [np.take(y, range(i * step, min(i * step + k, n)), d) for i in range(out)]
        y = np.stack([w.mean(axis=d) for w in windows], d)
    return (y * np.prod(kernels)) ** (1 / norm_type)


def affine(theta, size, align_corners):
    lines = [np.linspace(-1, 1, n) if n > 1 else np.zeros(1) for n in size[2:]]
    if not align_corners:
        lines = [line * (len(line) - 1) / len(line) for line in lines]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("...k,bnk->b...n", places, theta)


def brought_in(at, n, padding_mode, corners):
    if padding_mode == "reflection":
        low, span = (0, n - 1) if corners else (-0.5, n)
        turn = np.abs(at - low) % (2 * span) if span else 0
        at = low + (turn if turn <= span else 2 * span - turn)
    return at if padding_mode == "zeros" else min(max(at, 0), n - 1)


def taps(at, n, mode, padding_mode, corners):
    """Which elements of an axis a place reads, with weights."""
    at = (at + 1) / 2 * (n - 1) if corners else ((at + 1) * n - 1) / 2
    if mode == "bicubic":
        low = int(np.floor(at))
        made = [(int(brought_in(k, n, padding_mode, corners)), cubic(at - k)) for k in range(low - 1, low + 3)]
    else:
        at = brought_in(at, n, padding_mode, corners)
        low = int(np.floor(at))
        made = [(int(np.rint(at)), 1.0)] if mode == "nearest" else [(low, low + 1 - at), (low + 1, at - low)]
    return [(k, w) for k, w in made if 0 <= k < n]


def grid_sample(x, grid, mode, padding_mode, align_corners):
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for b, *place in np.ndindex(grid.shape[:-1]):
        at = grid[(b, *place)][::-1]
        axes = [taps(v, n, mode, padding_mode, align_corners) for v, n in zip(at, x.shape[2:])]
        for tap in itertools.product(*axes):
            weight = np.prod([w for _, w in tap])
            y[(b, slice(None), *place)] += weight * x[(b, slice(None), *(k for k, _ in tap))]
    return y


def embedding_bag(
    input, weight, mode, offsets=None, include_last_offset=False, padding_idx=None, per_sample_weights=None
):
    x, table = input, weight
    idle = None if padding_idx is None else padding_idx % len(table)
    ends = np.arange(0, x.size + 1, x.shape[-1]) if offsets is None else offsets
    if offsets is not None and not include_last_offset:
        ends = [*offsets, x.size]
    x, by = x.reshape(-1), np.ones(x.size) if per_sample_weights is None else per_sample_weights.reshape(-1)
    y = np.zeros((len(ends) - 1, table.shape[1]))
    for k in range(len(y)):
        own = [i for i in range(ends[k], ends[k + 1]) if x[i] != idle]
        if own:
            fold = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
            y[k] = fold([table[x[i]] * by[i] for i in own], axis=0)
    return y


def unpool(x, indices, kernel_size):
    lead, out = x.shape[:2], tuple(n * kernel_size for n in x.shape[2:])
    y = np.zeros((*lead, np.prod(out)))
    np.put_along_axis(y, indices.reshape(*lead, -1), x.reshape(*lead, -1), -1)
    return y.reshape(*lead, *out)


def fractional(x, kernel_size, output_size, _random_samples):
    y = np.empty((*x.shape[:2], *output_size))
    for b, c in np.ndindex(x.shape[:2]):
        u = _random_samples[b, c][:: -1 if x.ndim == 4 else 1]
        starts = []
        for n, out, by in zip(x.shape[2:], output_size, u):
            step = (n - kernel_size) / (out - 1)
            starts.append([int((i + by) * step) - int(by * step) for i in range(out - 1)] + [n - kernel_size])
        for place in np.ndindex(output_size):
            window = tuple(slice(s[k], s[k] + kernel_size) for s, k in zip(starts, place))
            y[(b, c, *place)] = x[(b, c, *window)].max()
    return y


def conv_tbc(x, w, b, pad):
    x = np.pad(x, ((pad, pad), (0, 0), (0, 0)))
    n = len(x) - len(w) + 1
    return sum(x[k : k + n] @ w[k] for k in range(len(w))) + b


def linear_cross_entropy(x, w, target, reduction, linear_bias=0.0):
    return cross_entropy(np.tensordot(x, w, (1, w.ndim - 1)) + linear_bias, target=target, reduction=reduction)


FORMULAS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0: np.clip(x, min_val, max_val),
    "threshold": lambda x, threshold, value: np.where(x > threshold, x, value),
    "leaky_relu": lambda x, negative_slope=0.01: np.where(x > 0, x, x * negative_slope),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
    "celu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "gelu": lambda x, approximate="none": (
        x * special.ndtr(x)
        if approximate == "none"
        else x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    ),
    "softplus": lambda x, beta=1.0, threshold=20.0: np.where(
        beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta
    ),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "logsigmoid": special.log_expit,
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "tanhshrink": lambda x: x - np.tanh(x),
    "hardshrink": lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0),
    "softshrink": lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0),
    "prelu": lambda x, w: np.where(x > 0, x, x * (w.reshape(()) if w.size == 1 else over(x, w))),
    "glu": lambda x, dim: np.multiply(*(f(a) for f, a in zip((np.asarray, special.expit), np.split(x, 2, dim)))),
    "softmax": softmax,
    "softmin": lambda x, dim: softmax(-x, dim),
    "log_softmax": log_softmax,
    "normalize": normalize,
    "cosine_similarity": cosine_similarity,
    "pairwise_distance": pairwise_distance,
    "linear": linear,
    "bilinear": bilinear,
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "pad": pad,
    "interpolate": interpolate,
    **{f"adaptive_{kind}_pool{n}d": adaptive(kind == "avg") for n in (1, 2, 3) for kind in ("avg", "max")},
    "unfold": unfold,
    "fold": fold,
    "mse_loss": loss(lambda x, y: (x - y) ** 2),
    "l1_loss": loss(lambda x, y: np.abs(x - y)),
    "smooth_l1_loss": loss(smooth_l1),
    "huber_loss": loss(huber),
    "soft_margin_loss": loss(lambda x, y: np.log1p(np.exp(-x * y))),
    "hinge_embedding_loss": loss(lambda x, y: np.where(y == 1, x, np.maximum(1 - x, 0))),
    "binary_cross_entropy": loss(lambda x, y: -(y * np.log(x) + (1 - y) * np.log1p(-x))),
    "binary_cross_entropy_with_logits": loss(logits),
    "kl_div": kl_div,
    "cosine_embedding_loss": cosine_embedding,
    "margin_ranking_loss": lambda a, b, target, margin, reduction: reduced(
        np.maximum(-target * (a - b) + margin, 0), reduction
    ),
    "triplet_margin_loss": triplet_margin,
    "nll_loss": nll_loss,
    "cross_entropy": cross_entropy,
    "gaussian_nll_loss": gaussian,
    "poisson_nll_loss": poisson,
    "multi_margin_loss": multi_margin,
    "multilabel_margin_loss": multilabel_margin,
    "multilabel_soft_margin_loss": multilabel_soft_margin,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
    "channel_shuffle": lambda x, groups: (x.reshape(len(x), groups, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)),
    "pdist": pdist,
    "local_response_norm": local_response,
    **{f"lp_pool{n}d": lp_pool for n in (1, 2, 3)},
    "affine_grid": affine,
    "grid_sample": grid_sample,
    "embedding_bag": embedding_bag,
    **{f"max_unpool{n}d": unpool for n in (1, 2, 3)},
    "fractional_max_pool2d": fractional,
    "fractional_max_pool3d": fractional,
    "conv_tbc": conv_tbc,
    "linear_cross_entropy": linear_cross_entropy,
}
