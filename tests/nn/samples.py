"""Calls of functions of networks by chance: for each name what its arguments may be. Arrays are NumPy's; those that are
to be differentiated come first, and say so by their type."""

import numpy as np


def floats(r, *shape, low=None):
    """Numbers without kinks of the functions near them: none is within 1e-3 of a multiple of a half."""
    x = np.random.default_rng(r.getrandbits(32)).standard_normal(shape) * 2
    near = np.abs(x * 2 - np.round(x * 2)) < 4e-3
    return np.asarray(np.where(near, x + 0.01, x))


def chances(r, *shape):
    x = np.exp(floats(r, *shape))
    return np.asarray(x / (1 + x))


def shape_of(r, least=0, most=4):
    return tuple(r.choice([1, 2, 3, 5, 8]) for _ in range(r.randint(least, most)))


def alone(**choices):
    """input, and keywords out of some."""

    def make(r):
        return [floats(r, *shape_of(r))], {k: r.choice(v) for k, v in choices.items() if r.random() < 0.7}

    return make


def along(**choices):
    def make(r):
        shape = shape_of(r, 1)
        return [floats(r, *shape)], {
            "dim": r.randrange(-len(shape), len(shape)),
            **{k: r.choice(v) for k, v in choices.items() if r.random() < 0.7},
        }

    return make


def prelu(r):
    shape = shape_of(r, 2)
    return [floats(r, *shape), floats(r, r.choice([1, shape[1]]))], {}


def glu(r):
    shape = list(shape_of(r, 1))
    axis = r.randrange(-len(shape), len(shape))
    shape[axis] = 2 * r.randint(1, 4)
    return [floats(r, *shape)], {"dim": axis}


def two_along(**choices):
    def make(r):
        shape = shape_of(r, 1)
        a, b = floats(r, *shape), floats(r, *shape)
        return [a, b], {k: r.choice(v) for k, v in choices.items() if r.random() < 0.7}

    return make


def cosine(r):
    shape = shape_of(r, 2)
    return [floats(r, *shape), floats(r, *shape)], {"dim": r.randrange(-len(shape), len(shape))}


def linear(r):
    n, m = r.randint(1, 6), r.randint(1, 6)
    bias = [floats(r, m)] if r.random() < 0.6 else []
    return [floats(r, *shape_of(r, 0, 3), n), floats(r, m, n), *bias], {}


def bilinear(r):
    n, m, out, lead = r.randint(1, 5), r.randint(1, 5), r.randint(1, 5), shape_of(r, 0, 2)
    bias = [floats(r, out)] if r.random() < 0.6 else []
    return [floats(r, *lead, n), floats(r, *lead, m), floats(r, out, n, m), *bias], {}


def channels(r, least=2, most=5):
    return (r.choice([2, 3, 5]), r.choice([1, 2, 4, 6]), *(r.randint(2, 4) for _ in range(r.randint(least, most) - 2)))


def batch_norm(r):
    shape = channels(r)
    c = shape[1]
    running = [floats(r, c), np.exp(floats(r, c))]
    own = r.random() < 0.6
    weights = {"weight": floats(r, c), "bias": floats(r, c)} if r.random() < 0.7 else {}
    kept = running if not own or r.random() < 0.5 else [None, None]
    return [floats(r, *shape)], {
        "running_mean": kept[0],
        "running_var": kept[1],
        **weights,
        "training": own,
        "momentum": r.choice([0.1, 0.5]),
        "eps": r.choice([1e-5, 1e-2]),
    }


def instance_norm(r):
    shape = channels(r, 3)
    c = shape[1]
    weights = {"weight": floats(r, c), "bias": floats(r, c)} if r.random() < 0.7 else {}
    return [floats(r, *shape)], {**weights, "eps": r.choice([1e-5, 1e-2])}


def layer_norm(r):
    shape = shape_of(r, 1)
    n = r.randint(1, len(shape))
    weight = {"weight": floats(r, *shape[-n:])} if r.random() < 0.7 else {}
    bias = {"bias": floats(r, *shape[-n:])} if r.random() < 0.5 else {}
    return [floats(r, *shape)], {"normalized_shape": shape[-n:], **weight, **bias}


def rms_norm(r):
    args, how = layer_norm(r)
    how.pop("bias", None)
    return args, {**how, "eps": r.choice([1e-5, 1e-2])}


def group_norm(r):
    shape = channels(r)
    c = shape[1]
    weights = {"weight": floats(r, c), "bias": floats(r, c)} if r.random() < 0.7 else {}
    return [floats(r, *shape)], {"num_groups": r.choice([g for g in (1, 2, 3, 6) if c % g == 0]), **weights}


REDUCTIONS = ["mean", "sum", "none"]


def apart(**choices):
    """input and target of one shape."""

    def make(r):
        shape = shape_of(r)
        return [floats(r, *shape), floats(r, *shape)], {
            "reduction": r.choice(REDUCTIONS),
            **{k: r.choice(v) for k, v in choices.items() if r.random() < 0.7},
        }

    return make


def signs(r, *shape):
    return np.asarray(np.where(floats(r, *shape) > 0, 1.0, -1.0))


def signed(r):
    shape = shape_of(r)
    return [floats(r, *shape)], {"target": signs(r, *shape), "reduction": r.choice(REDUCTIONS)}


def binary(logits):
    def make(r):
        shape = shape_of(r)
        how = {"reduction": r.choice(REDUCTIONS)}
        if r.random() < 0.4:
            how["weight"] = chances(r, *shape)
        if logits and r.random() < 0.5:
            how["pos_weight"] = chances(r, *shape[-1:])
        return [floats(r, *shape) if logits else chances(r, *shape), chances(r, *shape)], how

    return make


def kl_div(r):
    shape = shape_of(r, 1)
    logs = r.random() < 0.5
    target = floats(r, *shape) if logs else chances(r, *shape)
    return [floats(r, *shape), target], {
        "reduction": r.choice([*REDUCTIONS, "batchmean"]),
        "log_target": logs,
    }


def cosine_embedding(r):
    shape = shape_of(r, 1, 1) if r.random() < 0.3 else shape_of(r, 2, 2)
    return [floats(r, *shape), floats(r, *shape)], {
        "target": signs(r, *shape[:-1]),
        "margin": r.choice([0.0, 0.3]),
        "reduction": r.choice(REDUCTIONS),
    }


def margin_ranking(r):
    shape = shape_of(r, 1)
    return [floats(r, *shape), floats(r, *shape)], {
        "target": signs(r, *shape),
        "margin": r.choice([0.0, 0.3]),
        "reduction": r.choice(REDUCTIONS),
    }


def triplet_margin(r):
    shape = shape_of(r, 2, 2)
    return [floats(r, *shape) for _ in range(3)], {
        "margin": r.choice([1.0, 3.0]),
        "p": r.choice([2.0, 1.0, 3.0]),
        "swap": r.random() < 0.5,
        "reduction": r.choice(REDUCTIONS),
    }


def classes(chances_too):
    def make(r):
        n, space = r.randint(2, 6), shape_of(r, 0, 2)
        whole = r.random() < 0.2
        shape = (n,) if whole else (r.choice([1, 3, 7]), n, *space)
        how = {"reduction": r.choice(REDUCTIONS)}
        x = floats(r, *shape)
        if r.random() < 0.5:
            how["weight"] = chances(r, n)
        if chances_too and r.random() < 0.5:
            how["label_smoothing"] = r.choice([0.1, 0.5])
        if chances_too and r.random() < 0.3:
            y = np.exp(floats(r, *shape))
            return [x, y / y.sum(axis=0 if whole else 1, keepdims=True)], how
        rng = np.random.default_rng(r.getrandbits(32))
        target = np.asarray(rng.integers(0, n, shape[:0] if whole else (shape[0], *space)))
        if r.random() < 0.5:
            how["ignore_index"] = r.choice([-100, 0])
            if target.size > 1 and how["ignore_index"] < 0:
                target.flat[0] = -100
        return [x], {"target": target, **how}

    return make


def pad(r):
    space = r.randint(1, 3)
    x = floats(r, *(r.randint(1, 3) for _ in range(2)), *(r.randint(3, 6) for _ in range(space)))
    mode = r.choice(["constant", "reflect", "replicate", "circular"])
    n = r.randint(1, space + 2) if mode == "constant" else space
    if mode == "constant":
        cuts = [-1 if d < space else 0 for d in range(n)]  # something is left
        widths = tuple(r.randint(cut, 3) for cut in cuts for _ in range(2))
        return [x], {"pad": widths, "value": r.choice([None, 0.5])}
    return [x], {"pad": tuple(r.randint(0, 2) for _ in range(2 * n)), "mode": mode}


def images(r, space):
    return floats(r, r.randint(1, 3), r.randint(1, 3), *(r.randint(1, 7) for _ in range(space)))


def interpolate(r):
    mode = r.choice(["nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"])
    space = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}.get(mode) or r.randint(1, 3)
    how = {"mode": mode}
    if r.random() < 0.5:
        how["size"] = tuple(r.randint(1, 9) for _ in range(space))
    else:
        how["scale_factor"] = r.choice([1.0, 2.0, 3.0, 1.5])
        how["recompute_scale_factor"] = r.choice([None, True])
    if mode in ("linear", "bilinear", "trilinear", "bicubic"):
        how["align_corners"] = r.choice([None, True, False])
    return [images(r, space)], how


def adaptive(space):
    def make(r):
        size = tuple(r.choice([None, 1, 2, 3, 5]) for _ in range(space))
        if space == 1:
            size = size[0] or 2
        return [images(r, space)], {"output_size": size}

    return make


def windows(r):
    return {
        "kernel_size": (r.randint(1, 3), r.randint(1, 3)),
        "dilation": r.randint(1, 2),
        "padding": r.randint(0, 2),
        "stride": r.randint(1, 2),
    }


def unfold(r):
    return [floats(r, r.randint(1, 3), r.randint(1, 3), r.randint(5, 8), r.randint(5, 8))], windows(r)


def fold(r):
    how, size = windows(r), (r.randint(5, 8), r.randint(5, 8))
    out = [
        (n + 2 * how["padding"] - how["dilation"] * (k - 1) - 1) // how["stride"] + 1
        for n, k in zip(size, how["kernel_size"])
    ]
    rows = r.randint(1, 3) * how["kernel_size"][0] * how["kernel_size"][1]
    return [floats(r, r.randint(1, 3), rows, out[0] * out[1])], {"output_size": size, **how}


def gaussian(r):
    shape = shape_of(r, 1)
    var = r.choice([shape, shape[:-1], (*shape[:-1], 1)])
    return [floats(r, *shape), floats(r, *shape), np.exp(floats(r, *var))], {
        "full": r.random() < 0.5,
        "eps": r.choice([1e-6, 0.3]),
        "reduction": r.choice(REDUCTIONS),
    }


def poisson(r):
    shape, logs = shape_of(r), r.random() < 0.5
    return [floats(r, *shape) if logs else np.asarray(np.exp(floats(r, *shape)))], {
        "target": np.asarray(np.exp(floats(r, *shape))),
        "log_input": logs,
        "full": r.random() < 0.5,
        "reduction": r.choice(REDUCTIONS),
    }


def multi_margin(r):
    n, images = r.randint(1, 6), r.choice([None, 1, 4])
    shape = (n,) if images is None else (images, n)
    how = {"weight": chances(r, n)} if r.random() < 0.5 else {}
    target = np.random.default_rng(r.getrandbits(32)).integers(0, n, shape[:-1])
    p, margin = r.choice([1, 2]), r.choice([1.0, 0.3])
    return [floats(r, *shape)], {"target": np.asarray(target), "p": p, "margin": margin, **how,
                                 "reduction": r.choice(REDUCTIONS)}  # fmt: skip


def multilabel_margin(r):
    n, images = r.randint(1, 6), r.choice([None, 1, 4])
    shape = (n,) if images is None else (images, n)
    rows = [r.sample(range(n), r.randint(0, n)) for _ in range(images or 1)]
    target = np.array([[*row, *[-1] * (n - len(row))] for row in rows]).reshape(shape)
    return [floats(r, *shape)], {"target": target, "reduction": r.choice(REDUCTIONS)}


def multilabel_soft_margin(r):
    shape = shape_of(r, 1, 3)
    how = {"weight": chances(r, shape[-1])} if r.random() < 0.5 else {}
    target = (floats(r, *shape) > 0) * 1.0
    return [floats(r, *shape)], {"target": target, "reduction": r.choice(REDUCTIONS), **how}


def shuffled(kind):
    def make(r):
        by = r.choice([1, 2, 3])
        if kind == "channels":
            space = [r.randint(1, 3) for _ in range(r.randint(1, 2))]
            return [floats(r, r.randint(1, 2), by * r.randint(1, 3), *space)], {"groups": by}
        lead, (c, h, w) = [r.randint(1, 2) for _ in range(r.randint(0, 2))], (r.randint(1, 3) for _ in range(3))
        if kind == "space":
            return [floats(r, *lead, c, h * by, w * by)], {"downscale_factor": by}
        return [floats(r, *lead, c * by * by, h, w)], {"upscale_factor": by}

    return make


def pdist(r):
    return [floats(r, r.randint(2, 5), r.randint(1, 4))], {"p": r.choice([2.0, 1.0, 3.0, float("inf")])}


def local_response(r):
    x = floats(r, *(r.randint(1, 6) for _ in range(r.randint(3, 5))))
    return [x], {"size": r.randint(1, 5), "alpha": r.choice([1e-4, 0.5]), "beta": r.choice([0.75, 0.5]), "k": 2.0}


def lp_pool(space):
    def make(r):
        x = np.abs(floats(r, r.randint(1, 2), r.randint(1, 3), *(r.randint(3, 7) for _ in range(space))))
        kernel = tuple(r.randint(1, 3) for _ in range(space))
        return [x], {"norm_type": r.choice([2.0, 1.0, 3.0]), "kernel_size": kernel[0] if space == 1 else kernel,
                     "stride": r.choice([None, 1, 2]), "ceil_mode": r.random() < 0.5}  # fmt: skip

    return make


def affine(r):
    n = r.choice([2, 3])
    size = (r.randint(1, 2), 1, *(r.randint(1, 4) for _ in range(n)))
    return [floats(r, size[0], n, n + 1)], {"size": size, "align_corners": r.choice([None, True, False])}


def grid_sample(r):
    n = r.choice([2, 2, 3])
    x = floats(r, r.randint(1, 2), r.randint(1, 3), *(r.randint(1, 5) for _ in range(n)))
    grid = floats(r, len(x), *(r.randint(1, 4) for _ in range(n)), n) * 0.7 + 0.0137
    return [x, grid], {
        "mode": r.choice(["bilinear", "nearest", "bicubic"] if n == 2 else ["bilinear", "nearest"]),
        "padding_mode": r.choice(["zeros", "border", "reflection"]),
        "align_corners": r.random() < 0.5,
    }


def embedding_bag(r):
    rng, rows, width = np.random.default_rng(r.getrandbits(32)), r.randint(1, 6), r.randint(1, 4)
    how = {"mode": r.choice(["sum", "mean", "max"])}
    if r.random() < 0.4:
        how["padding_idx"] = r.randrange(-rows, rows)
    x = rng.integers(0, rows, (r.randint(1, 4), r.randint(1, 5)))
    if r.random() < 0.6:
        x = rng.integers(0, rows, r.randint(1, 8))
        offsets = [0, *sorted(r.randint(0, len(x)) for _ in range(r.randint(0, 3)))]
        how["include_last_offset"] = r.random() < 0.5
        how["offsets"] = np.array([*offsets, len(x)] if how["include_last_offset"] else offsets)
    if how["mode"] == "sum" and r.random() < 0.5:
        how["per_sample_weights"] = floats(r, *x.shape)
    return [], {"input": x, "weight": floats(r, rows, width), **how}


def unpool(space):
    def make(r):
        lead, size = (r.randint(1, 2), r.randint(1, 3)), tuple(r.randint(1, 3) for _ in range(space))
        out = tuple(n * 2 for n in size)
        rng = np.random.default_rng(r.getrandbits(32))
        places = [rng.permutation(np.prod(out))[: np.prod(size)] for _ in range(lead[0] * lead[1])]
        return [floats(r, *lead, *size)], {"indices": np.array(places).reshape(*lead, *size), "kernel_size": 2}

    return make


def fractional(space):
    def make(r):
        x = floats(r, r.randint(1, 2), r.randint(1, 3), *(r.randint(5, 7) for _ in range(space)))
        u = np.random.default_rng(r.getrandbits(32)).random((*x.shape[:2], space))
        return [x], {"kernel_size": r.choice([2, 1]), "output_size": tuple(r.randint(2, 3) for _ in range(space)),
                     "_random_samples": u}  # fmt: skip

    return make


def conv_tbc(r):
    steps, images, channels, outputs, window = (r.randint(1, 4) for _ in range(5))
    args = [floats(r, steps + window, images, channels), floats(r, window, channels, outputs), floats(r, outputs)]
    return args, {"pad": r.randint(0, 2)}


def linear_cross_entropy(r):
    n, m, images, more = r.randint(1, 4), r.randint(2, 5), r.randint(1, 4), r.choice([(), (2,)])
    target = np.random.default_rng(r.getrandbits(32)).integers(0, m, (images, *more))
    how = {"linear_bias": floats(r, m, *more)} if r.random() < 0.5 else {}
    return [floats(r, images, n), floats(r, m, *more, n)], {"target": target, "reduction": r.choice(REDUCTIONS), **how}


SAMPLES = {
    "relu": alone(),
    "relu6": alone(),
    "hardtanh": alone(min_val=[-1.0, 0.25], max_val=[1.0, 2.25]),
    "threshold": lambda r: ([floats(r, *shape_of(r))], {"threshold": 0.25, "value": 3.0}),
    "leaky_relu": alone(negative_slope=[0.01, 0.3]),
    "elu": alone(alpha=[1.0, 0.3]),
    "celu": alone(alpha=[1.0, 0.3]),
    "selu": alone(),
    "silu": alone(),
    "mish": alone(),
    "gelu": alone(approximate=["none", "tanh"]),
    "softplus": alone(beta=[1.0, 3.0], threshold=[20.0, 1.25]),
    "softsign": alone(),
    "logsigmoid": alone(),
    "sigmoid": alone(),
    "tanh": alone(),
    "hardsigmoid": alone(),
    "hardswish": alone(),
    "tanhshrink": alone(),
    "hardshrink": alone(lambd=[0.5, 1.0]),
    "softshrink": alone(lambd=[0.5, 1.0]),
    "prelu": prelu,
    "glu": glu,
    "softmax": along(),
    "softmin": along(),
    "log_softmax": along(),
    "normalize": along(p=[2.0, 1.0, 3.0], eps=[1e-12, 1.0]),
    "cosine_similarity": cosine,
    "pairwise_distance": two_along(p=[2.0, 1.0, 3.0], keepdim=[True]),
    "linear": linear,
    "bilinear": bilinear,
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "pad": pad,
    "interpolate": interpolate,
    **{f"adaptive_{kind}_pool{n}d": adaptive(n) for n in (1, 2, 3) for kind in ("avg", "max")},
    "unfold": unfold,
    "fold": fold,
    "mse_loss": apart(),
    "l1_loss": apart(),
    "smooth_l1_loss": apart(beta=[1.0, 0.3, 0.0]),
    "huber_loss": apart(delta=[1.0, 0.3]),
    "soft_margin_loss": signed,
    "hinge_embedding_loss": signed,
    "binary_cross_entropy": binary(False),
    "binary_cross_entropy_with_logits": binary(True),
    "kl_div": kl_div,
    "cosine_embedding_loss": cosine_embedding,
    "margin_ranking_loss": margin_ranking,
    "triplet_margin_loss": triplet_margin,
    "nll_loss": classes(False),
    "cross_entropy": classes(True),
    "gaussian_nll_loss": gaussian,
    "poisson_nll_loss": poisson,
    "multi_margin_loss": multi_margin,
    "multilabel_margin_loss": multilabel_margin,
    "multilabel_soft_margin_loss": multilabel_soft_margin,
    "pixel_shuffle": shuffled("pixels"),
    "pixel_unshuffle": shuffled("space"),
    "channel_shuffle": shuffled("channels"),
    "pdist": pdist,
    "local_response_norm": local_response,
    **{f"lp_pool{n}d": lp_pool(n) for n in (1, 2, 3)},
    "affine_grid": affine,
    "grid_sample": grid_sample,
    "embedding_bag": embedding_bag,
    **{f"max_unpool{n}d": unpool(n) for n in (1, 2, 3)},
    "fractional_max_pool2d": fractional(2),
    "fractional_max_pool3d": fractional(3),
    "conv_tbc": conv_tbc,
    "linear_cross_entropy": linear_cross_entropy,
}
