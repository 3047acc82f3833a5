"""Gradients against central differences: of real arrays and, part by part, of complex ones."""

import numpy as np
import tutti as tt
from tutti import autograd


def results(f, leaves):
    """What a function gives, as a list of those arrays that can have a slope."""
    made = f(*leaves)
    made = list(made) if isinstance(made, (tuple, list)) else [made]
    return [a for a in made if a.dtype.kind in "fc"]


def weights(outputs):
    """A cotangent for each result, with signs and no symmetry."""
    rng = np.random.default_rng(5)
    made = []
    for a in outputs:
        w = rng.standard_normal(a.shape)
        made.append(w + 1j * rng.standard_normal(a.shape) if a.dtype.kind == "c" else w)
    return made


def backward(f, *xs):
    """The gradients of a weighted sum of f's results by each argument; zeros where nothing came."""
    leaves = [tt.array(x) for x in xs]
    for leaf in leaves:
        leaf.requires_grad = True
    outputs = results(f, leaves)
    pairs = [(a, w) for a, w in zip(outputs, weights(outputs)) if a.requires_grad]
    assert pairs, "nothing was followed"
    autograd.backward([a for a, _ in pairs], [tt.array(w).astype(a.dtype) for a, w in pairs])
    return [np.zeros_like(x) if a.grad is None else a.grad.numpy() for a, x in zip(leaves, xs)]


def differences(f, *xs, eps=1e-6):
    """The same by central differences; of complex arguments (d by the real part) + i (d by the imaginary part)."""

    def value(*values):
        with tt.no_grad():
            outputs = results(f, [tt.array(v) for v in values])
            return sum(np.sum((np.conj(w) * a.numpy()).real) for a, w in zip(outputs, weights(outputs)))

    made = []
    for k, x in enumerate(xs):
        gradient = np.zeros_like(x)
        for place in np.ndindex(x.shape):
            for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
                up, down = x.copy(), x.copy()
                up[place] += eps * unit
                down[place] -= eps * unit
                slope = value(*xs[:k], up, *xs[k + 1 :]) - value(*xs[:k], down, *xs[k + 1 :])
                gradient[place] += unit * slope / (2 * eps)
        made.append(gradient)
    return made


def near(got, want, tolerance):
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        size = max(1, np.abs(w).max(initial=0))
        np.testing.assert_allclose(g, w, rtol=0, atol=tolerance * size)


def check(f, *xs, tolerance=2e-6):
    """The gradients of f by every argument, arrays of float64 or complex128."""
    xs = [np.asarray(x) for x in xs]
    with np.errstate(all="ignore"):
        near(backward(f, *xs), differences(f, *xs), tolerance)


def check_second(f, *xs, tolerance=2e-5):
    """The derivatives of f's gradients, which are followed in turn."""

    def gradient(*leaves):
        outputs = results(f, leaves)
        given = [tt.array(w).astype(a.dtype) for a, w in zip(outputs, weights(outputs))]
        return tt.grad(outputs, list(leaves), given, create_graph=True, allow_unused=True)

    def of_leaves(*arrays):
        with tt.enable_grad():
            leaves = [a if a.requires_grad else tt.array(a) for a in arrays]
            for leaf in leaves:
                leaf.requires_grad = True
            return [g for g in gradient(*leaves) if g is not None]

    check(of_leaves, *xs, tolerance=tolerance)
