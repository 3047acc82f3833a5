"""jax.test_util: derivatives against differences."""

import numpy as _np

import tutti as _tt

from ._derivatives import jvp as _jvp
from ._derivatives import vjp as _vjp
from .tree_util import tree_leaves as _leaves
from .tree_util import tree_map as _map

__all__ = ["check_grads", "check_jvp", "check_vjp"]


def _drawn(rng, x):
    x = _tt.asarray(x)
    made = rng.standard_normal(x.shape)
    return _tt.asarray(made + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else made, x.dtype)


def _inner(a, b):
    return sum(complex(_tt.sum(x * y)) for x, y in zip(_leaves(a), _leaves(b), strict=True))


def _slope(f, args, tangents, eps):
    up, down = (f(*_map(lambda x, t, s=s: x + s * eps * t, args, tangents)) for s in (1, -1))
    return _map(lambda a, b: (a - b) / (2 * eps), up, down)


def _near(a, b, atol, rtol, err_msg):
    for x, y in zip(_leaves(a), _leaves(b), strict=True):
        _np.testing.assert_allclose(_np.asarray(x), _np.asarray(y), atol=atol, rtol=rtol, err_msg=err_msg)


def check_jvp(f, f_jvp, args, atol=None, rtol=None, eps=1e-5, err_msg=""):
    """Is f_jvp(args, tangents) what differences say?"""
    args, rng = tuple(_map(_tt.asarray, tuple(args))), _np.random.default_rng(0)
    tangents = _map(lambda x: _drawn(rng, x), args)
    value, slope = f_jvp(args, tangents)
    _near(value, f(*args), atol or 1e-6, rtol or 1e-6, err_msg)
    _near(slope, _slope(f, args, tangents, eps), atol or 1e-5, rtol or 1e-5, err_msg)


def check_vjp(f, f_vjp, args, atol=None, rtol=None, eps=1e-5, err_msg=""):
    """Is the inner product with what f_vjp gives the one that differences say?"""
    args, rng = tuple(_map(_tt.asarray, tuple(args))), _np.random.default_rng(0)
    tangents = _map(lambda x: _drawn(rng, x), args)
    value, pulled = f_vjp(*args)
    cotangent = _map(lambda x: _drawn(rng, x), value)
    want = _inner(_slope(f, args, tangents, eps), cotangent)
    _near(_inner(tangents, pulled(cotangent)), want, atol or 1e-5, rtol or 1e-5, err_msg)


def check_grads(f, args, order, modes=("fwd", "rev"), atol=None, rtol=None, eps=1e-5):
    """Are the derivatives of a function, up to an order, what differences say?"""
    args = tuple(_map(_tt.asarray, tuple(args)))
    if "fwd" in modes:
        check_jvp(f, lambda p, t: _jvp(f, p, t), args, atol, rtol, eps)
    if "rev" in modes:
        check_vjp(f, lambda *a: _vjp(f, *a), args, atol, rtol, eps)
    if order > 1:

        def gradient(*values):
            made, pulled = _vjp(f, *values)
            return pulled(_map(lambda x: _tt.ones(x.shape, x.dtype), made))

        check_grads(gradient, args, order - 1, modes, atol, rtol, eps)
