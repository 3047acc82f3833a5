"""Gradients beside central differences: the judge of the tests of this folder."""

import numpy as np
import tutti as tt


def differences(f, xs, seed, eps=1e-6):
    """The gradient of sum(seed * f(*xs)) by central differences, element by element; complex ones part by part."""
    xs = [np.array(x) for x in xs]
    out = []
    for x in xs:
        g = np.zeros(x.shape, complex if x.dtype.kind == "c" else float)
        for at in np.ndindex(x.shape):
            old = x[at]
            for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
                ends = []
                for side in (1, -1):
                    x[at] = old + side * eps * unit
                    value = np.asarray(f(*[tt.array(y) for y in xs]))
                    ends.append(np.sum((np.conj(seed) * value).real))
                g[at] += unit * (ends[0] - ends[1]) / (2 * eps)
            x[at] = old
        out.append(g)
    return out


def gradients(f, xs, seed):
    """The same by walking back."""
    leaves = [tt.array(x) for x in xs]
    for leaf in leaves:
        leaf.requires_grad = True
    value = f(*leaves)
    found = tt.grad(value, leaves, tt.array(np.asarray(seed, value.dtype.name)), allow_unused=True)
    return [np.zeros(x.shape) if g is None else g.numpy() for g, x in zip(found, leaves, strict=True)]


def check(f, *xs, rtol=1e-5, atol=1e-7, seed=0):
    """f's gradients agree with differences, with small work done at the call and with all of it recorded."""
    rng = np.random.default_rng(seed)
    value = np.asarray(f(*[tt.array(x) for x in xs]))
    cotangent = rng.standard_normal(value.shape)
    if value.dtype.kind == "c":
        cotangent = cotangent + 1j * rng.standard_normal(value.shape)
    want = differences(f, xs, cotangent)
    for limit in (-1, 0):
        tt.set_eager(limit)
        try:
            for got, expected in zip(gradients(f, xs, cotangent), want, strict=True):
                np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)
        finally:
            tt.set_eager(-1)
