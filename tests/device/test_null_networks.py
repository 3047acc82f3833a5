"""Functions of networks, and their gradients, on the simulated device: what the host computes, but for rounding."""

from null_program import run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti.nn import functional

def value(f, shapes, device):
    rng = np.random.default_rng(3)
    leaves = [tt.asarray(rng.standard_normal(s), device=device).requires_grad_() for s in shapes]
    y = f(*leaves)
    assert str(y.device) == str(leaves[0].device), y.device
    (y * y).sum().backward()
    return [a.numpy() for a in (y.detach(), *(leaf.grad for leaf in leaves))]

def check(f, *shapes):
    for got, want in zip(value(f, shapes, "null:0"), value(f, shapes, "cpu"), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11 * max(1, abs(want).max(initial=0)))
"""


def test_convolutions():
    run_program(
        PROGRAM,
        """
        check(lambda x, w, b: functional.conv2d(x, w, b, padding=1), (3, 4, 9, 8), (6, 4, 3, 3), (6,))
        check(lambda x, w: functional.conv2d(x, w, stride=2, dilation=2, groups=2), (3, 4, 9, 8), (6, 2, 3, 2))
        check(lambda x, w: functional.conv1d(x, w, stride=5), (1, 2, 17), (3, 2, 3))
        check(lambda x, w: functional.conv3d(x, w, padding="same"), (1, 2, 4, 5, 3), (2, 2, 2, 3, 3))
        check(lambda x, w: functional.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
              (2, 3, 4, 5), (3, 2, 3, 3))
        check(lambda x, w: functional.conv2d(x, w), (0, 4, 9, 8), (6, 4, 3, 3))
        check(lambda x, w: functional.conv2d(x, w, groups=4, padding=1), (2, 4, 6, 6), (4, 1, 3, 3))
        """,
    )


def test_attention():
    run_program(
        PROGRAM,
        """
        attend = functional.scaled_dot_product_attention
        shapes = (2, 3, 9, 4), (2, 3, 12, 4), (2, 3, 12, 5)
        check(attend, *shapes)
        check(lambda q, k, v: attend(q, k, v, is_causal=True), *shapes)
        check(lambda q, k, v, m: attend(q, k, v, m), *shapes, (9, 12))
        check(attend, (5, 2), (3, 5, 2), (1, 5, 2))
        """,
    )


def test_recurrent_layers():
    run_program(
        PROGRAM,
        """
        from tutti import nn
        from tutti.nn.utils import rnn

        def states(m, x, device):
            m = m.to(device)
            x = tt.asarray(x, device=device).requires_grad_()
            y = m(x)[0] if x.ndim == 3 else m(rnn.PackedSequence(x, tt.array([3, 3, 1])))[0].data
            assert str(y.device) == str(x.device), y.device
            (y * y).sum().backward()
            found = [a.numpy() for a in (y.detach(), x.grad, *(p.grad for p in m.parameters()))]
            m.zero_grad()
            return found

        for kind in (nn.RNN, nn.LSTM, nn.GRU):
            m = kind(3, 4, 2, bidirectional=True, dtype="float64")
            for shape in ((5, 2, 3), (7, 3)):
                x = np.random.default_rng(1).standard_normal(shape)
                for want, got in zip(states(m, x, "cpu"), states(m, x, "null:0"), strict=True):
                    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11)
        """,
    )


def test_places_and_bags():
    run_program(
        PROGRAM,
        """
        F, square, places = functional, (2, 3, 6, 6), tt.array(np.random.default_rng(1).standard_normal((2, 4, 5, 2)))
        for mode in "bilinear", "nearest", "bicubic":
            check(lambda x: F.grid_sample(x, places, mode, "reflection"), square)
        check(lambda x, g: F.grid_sample(x, g), square, (2, 4, 5, 2))
        check(lambda t: F.affine_grid(t, (2, 1, 4, 5)), (2, 2, 3))
        check(lambda x: F.pixel_unshuffle(F.channel_shuffle(x, 3), 2), square)
        check(lambda x: F.lp_pool2d(x * x, 2, 2), square)
        check(lambda x: F.local_response_norm(x, 3, alpha=0.5), square)
        check(lambda x: F.pdist(x), (5, 3))
        check(lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2), (2, 3, 6))
        check(lambda x: F.adaptive_max_pool2d(x, (2, 4), return_indices=True)[0], square)
        u = tt.array(np.random.default_rng(1).random((2, 3, 2)))
        check(lambda x: F.fractional_max_pool2d(x, 2, 3, _random_samples=u), square)
        for mode in "sum", "mean", "max":
            check(lambda w: F.embedding_bag(tt.array([0, 2, 1, 2]), w, tt.array([0, 1, 1]), mode=mode), (4, 3))
        """,
    )


def test_losses_of_classes():
    run_program(
        PROGRAM,
        """
        F, classes, some = functional, tt.array([0, 2, 1, 2]), tt.array([[0, 2, -1]] * 4)
        check(lambda x: F.multi_margin_loss(x, classes, p=2), (4, 3))
        check(lambda x: F.multilabel_margin_loss(x, some), (4, 3))
        check(lambda x, y: F.multilabel_soft_margin_loss(x, y), (4, 3), (4, 3))
        check(lambda x, y, v: F.gaussian_nll_loss(x, y, v * v, full=True), (4, 3), (4, 3), (4, 1))
        check(lambda x, y: F.poisson_nll_loss(x, y * y), (4, 3), (4, 3))
        check(lambda x, w: F.linear_cross_entropy(x, w, classes), (4, 2), (3, 2))
        """,
    )
