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
