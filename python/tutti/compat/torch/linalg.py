"""torch.linalg: tutti's, with PyTorch's words for axes."""

import functools as _functools

from ... import linalg as _linalg
from ._functions import functions as _functions

_WORDS = {"dim": "axis", "keepdim": "keepdims"}
_NAMES = (
    "cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power matrix_rank "
    "multi_dot pinv qr slogdet solve svd svdvals tensorinv tensorsolve vecdot"
).split()


def _renamed(function):
    @_functools.wraps(function)
    def call(*args, **how):
        return function(*args, **{_WORDS.get(name, name): value for name, value in how.items()})

    return call


for _name in _NAMES:
    globals()[_name] = _renamed(getattr(_linalg, _name))


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """The norm of vectors or matrices."""
    return _linalg.norm(A if dtype is None else A.astype(dtype), ord, dim, keepdim)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of vectors."""
    return _linalg.vector_norm(x if dtype is None else x.astype(dtype), axis=dim, keepdims=keepdim, ord=ord)


matmul = _functions["matmul"]
__all__ = [*_NAMES, "matmul", "norm", "vector_norm"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.linalg.{name}")
