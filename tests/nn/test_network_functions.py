"""Functions of networks: values by plain formulas, gradients by differences, types, and what is wrong."""

import itertools
import os
import random
import sys

import numpy as np
import pytest
import tutti as tt
from formulas import FORMULAS
from samples import SAMPLES
from tutti.nn import functional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "grad"))

from differences import backward, differences  # noqa: E402


def sample(name, seed):
    return SAMPLES[name](random.Random(f"{name} {seed}"))


def given(v, dtype="float64"):
    if not isinstance(v, np.ndarray):
        return v
    return tt.array(v.astype(dtype) if v.dtype.kind == "f" else v)


def call(name, args, how, dtype="float64"):
    named = {k: given(v, dtype) for k, v in how.items()}
    return getattr(functional, name)(*(given(a, dtype) for a in args), **named)


def test_every_sample_has_a_formula():
    assert set(SAMPLES) == set(FORMULAS)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(8))
def test_values(name, seed):
    args, how = sample(name, seed)
    want = np.asarray(FORMULAS[name](*args, **how))
    for dtype, tolerance in ("float64", 1e-11), ("float32", 2e-4), ("float16", 0.15):
        with np.errstate(over="ignore"):
            narrow = want.astype(dtype)
        got = call(name, args, how, dtype)
        assert got.shape == want.shape and str(got.dtype) == dtype
        if dtype != "float16" or np.abs(want).max(initial=0) < 100:
            np.testing.assert_allclose(got.numpy(), narrow, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", range(20, 22))
def test_gradients(name, seed):
    args, how = sample(name, seed)
    own = {k: v for k, v in how.items() if isinstance(v, np.ndarray)}
    own = {k: v for k, v in own.items() if k in ("weight", "bias", "pos_weight") and v.ndim}
    rest = {k: given(v) for k, v in how.items() if k not in own}

    def f(*xs):
        named = dict(zip(own, xs[len(args) :]))
        return getattr(functional, name)(*xs[: len(args)], **named, **rest)

    xs = [*args, *own.values()]
    for got, want in zip(backward(f, *xs), differences(f, *xs), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", ["relu", "elu", "softplus", "silu", "gelu", "logsigmoid", "hardshrink", "softmax"])
def test_ends(name):
    x = tt.array([-np.inf, -1e30, -800.0, 800.0, 1e30, np.nan]).requires_grad_()
    f = getattr(functional, name)
    finite = x[1:5]
    y = f(finite, dim=0) if name == "softmax" else f(finite)
    assert tt.isfinite(y).all()
    y.sum().backward()
    assert tt.isfinite(x.grad).all()
    if name != "softmax":
        assert tt.isnan(f(x)[-1])


def test_in_place():
    for name in "relu relu6 elu hardtanh dropout".split():
        x = tt.array([-1.0, 0.5])
        y = getattr(functional, name)(x, inplace=True)
        assert (y.numpy() == x.numpy()).all()
    assert (functional.relu(tt.array([-1, 2])).numpy() == [0, 2]).all()
    leaf = tt.ones(2).requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        functional.relu(leaf, inplace=True)


def test_borders_around_nothing():
    for shape, widths in ((0, 4), (1, 1)), ((2, 3), (2, -3)):
        x = tt.ones(shape).requires_grad_()
        y = functional.pad(x, widths, value=2.0)
        assert (y.numpy() == 2).all()
        y.sum().backward()
        assert (x.grad.numpy() == np.zeros(shape)).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_places_of_the_largest(n):
    x = np.random.default_rng(n).standard_normal((2, 3, *(5, 6, 4)[:n]))
    flat = x.reshape(2, 3, -1)
    for f in "max_pool", "adaptive_max_pool":
        pool, both = (getattr(functional, f + f"{n}d{more}") for more in ("", "_with_indices"))
        most, at = both(tt.array(x), 2)
        assert (np.take_along_axis(flat, at.numpy().reshape(2, 3, -1), 2) == most.numpy().reshape(2, 3, -1)).all()
        again = pool(tt.array(x), 2, return_indices=True)
        assert (again[0].numpy() == pool(tt.array(x), 2).numpy()).all() and (again[1].numpy() == at.numpy()).all()
    y = (
        getattr(functional, f"max_unpool{n}d")(*functional.max_pool1d(tt.array(flat), 2, return_indices=True), 2)
        if n == 1
        else None
    )
    assert y is None or (y.numpy() != 0).sum() == 2 * 3 * 2


def test_a_class_by_chance():
    tt.random.seed(1)
    logits = tt.log(tt.array([0.5, 0.3, 0.2])) * tt.ones((4000, 1))
    logits.requires_grad_()
    y = functional.gumbel_softmax(logits, tau=0.5, hard=True)
    np.testing.assert_allclose(y.detach().numpy().mean(axis=0), [0.5, 0.3, 0.2], atol=0.03)
    assert set(np.round(y.detach().numpy(), 12).ravel()) == {0.0, 1.0}
    (y * tt.arange(3.0)).sum().backward()
    assert (logits.grad.numpy() != 0).all()
    soft = functional.gumbel_softmax(logits.detach(), dim=0)
    np.testing.assert_allclose(soft.numpy().sum(axis=0), 1)


def test_first_values_by_places():
    w = tt.nn.init.dirac_(tt.ones((4, 2, 3, 3)), groups=2)
    x = np.random.default_rng(0).standard_normal((1, 4, 5, 5))
    y = functional.conv2d(tt.array(x), w, padding=1, groups=2)
    assert (y.numpy() == x).all()
    s = tt.nn.init.sparse_(tt.ones((10, 7)), 0.25, std=2.0).numpy()
    assert ((s == 0).sum(axis=0) == 3).all() and 1 < s[s != 0].std() < 3


def test_batch_norm_remembers():
    x = np.random.default_rng(0).standard_normal((4, 3, 5))
    mean, var = tt.zeros(3), tt.ones(3)
    functional.batch_norm(tt.array(x), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean(axis=(0, 2)), atol=1e-14)
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.var(axis=(0, 2), ddof=1), atol=1e-14)


def test_dropout():
    tt.random.seed(3)
    x = tt.ones((200, 50)).requires_grad_()
    y = functional.dropout(x, 0.3)
    kept = y.numpy() != 0
    assert 0.65 < kept.mean() < 0.75 and np.allclose(y.numpy()[kept], 1 / 0.7)
    y.sum().backward()
    assert (x.grad.numpy() == y.numpy()).all()
    assert (functional.dropout(x, 0.3, training=False).numpy() == 1).all()
    assert (functional.dropout(x, 1.0).numpy() == 0).all()
    z = functional.dropout2d(tt.ones((40, 30, 2, 3)), 0.5).numpy()
    with pytest.warns(UserWarning, match="Received a 2-D input to dropout2d"):
        assert set(functional.dropout2d(tt.ones((40, 30)), 0.5).numpy().ravel()) == {0.0, 2.0}
    assert (z == z[:, :, :1, :1]).all() and 0.4 < (z != 0).mean() < 0.6
    w = functional.alpha_dropout(tt.array(np.random.default_rng(1).standard_normal(20000)), 0.4, training=True).numpy()
    assert abs(w.mean()) < 0.05 and abs(w.var() - 1) < 0.1


def test_rrelu():
    x = tt.full(1000, -1.0)
    y = functional.rrelu(x, 0.25, 0.5, training=True).numpy()
    assert y.min() >= -0.5 and y.max() <= -0.25 and y.std() > 0.05
    assert (functional.rrelu(x, 0.25, 0.5).numpy() == -0.375).all()


def test_embedding_leaves_a_row_alone():
    w = tt.array(np.arange(8.0).reshape(4, 2)).requires_grad_()
    y = functional.embedding(tt.array([[1, 1, 3]]), w, padding_idx=-1)
    assert (y.numpy() == [[[2, 3], [2, 3], [6, 7]]]).all()
    y.sum().backward()
    assert (w.grad.numpy() == [[0, 0], [2, 2], [0, 0], [0, 0]]).all()


def ways(labels, steps):
    """All sequences of classes that are those labels, with blanks (0) between and repeats joined."""
    for way in itertools.product(range(3), repeat=steps):
        if [k for k, _ in itertools.groupby(way) if k] == list(labels):
            yield way


@pytest.mark.parametrize("labels, steps", [((1, 2), 4), ((1, 1), 4), ((2,), 3), ((), 2), ((1, 1), 2)])
def test_labels_spread_over_sequences(labels, steps):
    x = np.random.default_rng(0).standard_normal((steps, 3))
    want = -np.log(max(sum(np.exp(sum(x[t, k] for t, k in enumerate(way))) for way in ways(labels, steps)), 1e-300))
    target = np.array(labels, "int64").reshape(1, -1), np.array([steps]), np.array([len(labels)])

    def f(x):
        return functional.ctc_loss(x.reshape(steps, 1, 3), *map(tt.array, target), reduction="sum", zero_infinity=True)

    got = f(tt.array(x)).numpy()
    np.testing.assert_allclose(got, 0 if want > 600 else want, atol=1e-12)
    np.testing.assert_allclose(*(g(f, x)[0] for g in (backward, differences)), atol=1e-7)
    leaf = tt.array(x).requires_grad_()
    (once,) = tt.grad(f(leaf), leaf, create_graph=True)
    np.testing.assert_array_equal(once.detach().numpy(), tt.grad(f)(tt.array(x)).numpy())
    with pytest.raises(NotImplementedError, match="the derivative of 'ctc_loss_backward' is not implemented"):
        (once**2).sum().backward()


def launches(f):
    before = tt.ledger()["launches"]
    tt.eval(*f())
    return tt.ledger()["launches"] - before


def test_few_launches(recorded, host):
    r = np.random.default_rng(0)
    x = tt.array(r.standard_normal((64, 1000)).astype("float32")).requires_grad_()
    w, b = tt.ones(1000, dtype="float32").requires_grad_(), tt.zeros(1000, dtype="float32").requires_grad_()
    labels = tt.array(r.integers(0, 1000, 64))

    def step(f):
        def run():
            for leaf in (x, w, b):
                leaf.grad = None
            f().backward()
            return [leaf.grad for leaf in (x, w, b) if leaf.grad is not None]

        return run

    parts = 1 if tt.zeros(1).device.type == "cpu" else 2  # so few rows come apart where there are many processors
    assert launches(lambda: [functional.layer_norm(x.detach(), 1000, w.detach(), b.detach())]) <= parts
    assert launches(lambda: [functional.softmax(x.detach(), 1)]) == 1
    assert launches(step(lambda: (functional.layer_norm(x, 1000, w, b) * 3).sum())) <= 3
    assert launches(step(lambda: (functional.gelu(x) * 3).sum())) == 1
    assert launches(step(lambda: functional.cross_entropy(x, labels))) <= 3


@pytest.mark.parametrize("call, kind, words", [
    (lambda F, x: F.cross_entropy(x, tt.array([0, 5])), IndexError, r"Target 5 is out of bounds. \(row 1, 3 classes\)"),
    (lambda F, x: F.nll_loss(x, tt.array([0, -1])), IndexError, "Target -1 is out of bounds."),
    (lambda F, x: F.cross_entropy(x, tt.array([0])), ValueError, "Expected input batch_size .2. to match target batch"),
    (lambda F, x: F.cross_entropy(x, tt.array([0.0, 1.0])), TypeError, "expected scalar type Long but found float64"),
    (lambda F, x: F.cross_entropy(x, tt.array([0, 1]), weight=tt.ones(2)), ValueError, "weight tensor should be"),
    (lambda F, x: F.cross_entropy(x, tt.array([0, 1]), label_smoothing=2), ValueError, "label_smoothing must be"),
    (lambda F, x: F.mse_loss(x, x, reduction="average"), ValueError, "average is not a valid value for reduction"),
    (lambda F, x: F.elu(tt.arange(3)), TypeError, "elu: not implemented for int64"),
    (lambda F, x: F.softmax(x, 2), IndexError, r"expected to be in range of \[-2, 1\], but got 2"),
    (lambda F, x: F.dropout(x, 1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
    (lambda F, x: F.linear(x, tt.ones((4, 2))), ValueError, r"shapes cannot be multiplied \(2x3 and 2x4\)"),
    (lambda F, x: F.linear(x, tt.ones((4, 3), dtype="float32")), TypeError, "to have the same dtype, but got"),
    (lambda F, x: F.layer_norm(x, (2,)), ValueError, r"Given normalized_shape=\[2\], expected input with"),
    (lambda F, x: F.group_norm(x, 2), ValueError, "Expected number of channels in input to be divisible by num_groups"),
    (lambda F, x: F.batch_norm(x[:1], None, None, training=True), ValueError, "Expected more than 1 value per channel"),
    (lambda F, x: F.batch_norm(x, None, None), ValueError, "Expected running_mean and running_var to be defined"),
    (lambda F, x: F.embedding(tt.array([0, 9]), x), IndexError, "index out of range in self: index 9 at position 1"),
    (lambda F, x: F.one_hot(tt.array([0, 9]), 3), ValueError, "Class values must be smaller than num_classes."),
    (lambda F, x: F.glu(x), ValueError, "Halving dimension must be even, but dimension 1 is size 3"),
    (lambda F, x: F.gelu(x, "erf"), ValueError, "approximate argument must be either none or tanh."),
    (lambda F, x: F.prelu(x, tt.ones(2)), ValueError, "Mismatch of parameter numbers and input channel size."),
    (lambda F, x: F.pairwise_distance(x, x, p="two"), (TypeError, ValueError), "float"),
    (lambda F, x: F.triplet_margin_loss(x, x, x, margin="wide"), (TypeError, ValueError), "float"),
    (lambda F, x: F.pad(x, (1, 1, 1)), ValueError, "Padding length must be divisible by 2"),
    (lambda F, x: F.pad(x, (3, 0), "reflect"), ValueError, "Padding size should be less than the corresponding input"),
    (lambda F, x: F.pad(x, (1, 0), "mirror"), NotImplementedError, "Unrecognised padding mode mirror"),
    (lambda F, x: F.interpolate(x[None]), ValueError, "either size or scale_factor should be defined"),
    (lambda F, x: F.interpolate(x[None], 4, mode="bilinear"), NotImplementedError, "bilinear mode needs 4D input"),
    (lambda F, x: F.adaptive_avg_pool2d(x, 1), ValueError, "Expected 3D or 4D tensor, but got a 2D input"),
    (lambda F, x: F.unfold(x[None], 9), ValueError, "its components must be at least one"),
    (lambda F, x: F.fold(x, 4, 2), ValueError, "to be divisible by the product of kernel_size"),
    (lambda F, x: F.multi_margin_loss(x, tt.array([0, 3])), IndexError, "target out of range: class 3 in row 1"),
    (lambda F, x: F.multi_margin_loss(x, tt.array([0, 1]), p=3), ValueError, "only p == 1 and p == 2 supported"),
    (lambda F, x: F.multilabel_margin_loss(x, tt.array([[0, 5, -1]] * 2)), IndexError, "class 5 in row 0"),
    (lambda F, x: F.gaussian_nll_loss(x, x, -x), ValueError, "var has negative entry/entries"),
    (lambda F, x: F.gaussian_nll_loss(x, x, x[:, :2]), ValueError, "var is of incorrect size"),
    (lambda F, x: F.pixel_shuffle(x, 2), ValueError, "at least 3 dimensions, but got input with 2 dimension"),
    (lambda F, x: F.pixel_shuffle(x[None], 2), ValueError, "is not divisible by 4"),
    (lambda F, x: F.channel_shuffle(x[None], 3), ValueError, "Number of channels must be divisible by groups"),
    (lambda F, x: F.pdist(x[0]), ValueError, "pdist only supports 2D tensors, got: 1D"),
    (lambda F, x: F.grid_sample(x[None, None], tt.ones((1, 2, 2, 2)), "cubic"), ValueError, "expected mode to be"),
    (lambda F, x: F.grid_sample(x, x), ValueError, "expected 4D or 5D input"),
    (lambda F, x: F.affine_grid(x[None], (1, 2, 3)), NotImplementedError, "only supports 4D and 5D sizes"),
    (lambda F, x: F.embedding_bag(tt.array([0, 2]), x, tt.array([0])), IndexError, "found idx to be 2 at position 1"),
    (lambda F, x: F.embedding_bag(tt.array([0, 1]), x, tt.array([1])), ValueError, r"offsets\[0\] has to be 0"),
    (lambda F, x: F.embedding_bag(tt.array([0, 1]), x), ValueError, "offsets has to be a 1D Tensor"),
    (lambda F, x: F.embedding_bag(tt.array([[0]]), x, mode="all"), ValueError, "mode has to be one of sum"),
    (lambda F, x: F.max_unpool1d(x, tt.array([[0, 1, 6]] * 2), 2), IndexError, "Found an invalid max index: 6"),
    (lambda F, x: F.max_unpool1d(x, tt.array([[0, 1, 2]] * 2), 2, output_size=(9,)), ValueError, "invalid output_size"),
    (lambda F, x: F.fractional_max_pool2d(x[None], 2), ValueError, "either an output_size or an output_ratio"),
    (lambda F, x: F.local_response_norm(x, 2), ValueError, "Expected 3D or higher dimensionality input"),
    (lambda F, x: F.binary_cross_entropy(x, x[0]), ValueError, "Using a target size .* that is different to the input"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words, host):
    x = tt.ones((2, 3))
    with pytest.raises(kind, match=words):
        call(functional, x)


def bits(name, seed, dtype):
    args, how = sample(name, seed)
    leaves, named = [given(a, dtype).requires_grad_() for a in args], {k: given(v, dtype) for k, v in how.items()}
    y = getattr(functional, name)(*leaves, **named) if args else rows_of(name, named, leaves)
    y.backward(tt.array(np.random.default_rng(seed).standard_normal(y.shape)).astype(y.dtype))
    grads = (leaf.grad for leaf in leaves)
    return [a.detach().numpy().tobytes() for a in (y, *grads) if a is not None]


def rows_of(name, named, leaves):
    """Of a table, which is the leaf; the first argument has its rows' numbers."""
    leaves.append(named["weight"].requires_grad_())
    return getattr(functional, name)(**named)


@pytest.mark.parametrize("name", SAMPLES)
def test_bits_do_not_depend_on_how_it_is_computed(name):
    """At once and recorded it is too, but for sums over operands that lie differently (docs/numpy.md)."""
    threads = tt.get_num_threads()
    for seed, dtype in (30, "float64"), (31, "float32"), (32, "float16"):
        tt.set_tier(0)
        try:
            want = bits(name, seed, dtype)
            tt.set_fuse(False)
            assert bits(name, seed, dtype) == want, "without fusion"
            tt.set_fuse(True)
            tt.set_num_threads(1)
            assert bits(name, seed, dtype) == want, "with one thread"
            tt.set_tier(1)
            assert seed != 31 or bits(name, seed, dtype) == want, "compiled"
        finally:
            tt.set_fuse(True)
            tt.set_tier(2)
            tt.set_num_threads(threads)
