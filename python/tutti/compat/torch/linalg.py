"""torch.linalg: tutti's, with PyTorch's words for axes."""

import functools as _functools

from ... import eye as _eye
from ... import linalg as _linalg
from ._functions import functions as _functions

_WORDS = {"dim": "axis", "keepdim": "keepdims"}
_NAMES = (
    "cholesky cond cross det eigh eigvalsh inv matrix_power "
    "multi_dot pinv qr slogdet solve svd svdvals tensorinv vecdot"
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


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices."""
    return _linalg.norm(A if dtype is None else A.astype(dtype), ord, tuple(dim), keepdim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices."""
    return _functions["diagonal"](A, offset, dim1, dim2)


def _complex(x):
    kind = "complex64" if x.dtype.name in ("float32", "complex64") else "complex128"
    return x.astype(kind, copy=False)


def eig(A):
    """Eigenvalues and eigenvectors, complex numbers."""
    made = _linalg.eig(A)
    return type(made)(*map(_complex, made))


def eigvals(A):
    """Eigenvalues, complex numbers."""
    return _complex(_linalg.eigvals(A))


def lstsq(A, B, rcond=None, *, driver=None):
    """The solution with least squares, and what it says of itself."""
    return _linalg.lstsq(A, B, rcond)


def matrix_rank(A, *, atol=None, rtol=None, hermitian=False):
    """How many singular values are not next to nothing."""
    return _linalg.matrix_rank(A, atol, hermitian=hermitian, rtol=rtol)


def tensorsolve(A, B, dims=None):
    """The tensor that a tensor makes another of."""
    return _linalg.tensorsolve(A, B, dims)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """The X of A @ X = B, or with left=False of X @ A = B, for what lies on one side of the diagonal."""
    T = _functions["triu" if upper else "tril"](A)
    if unitriangular:
        ones = _eye(A.shape[-1], dtype=A.dtype)
        T = _functions["where"](ones == 1, ones, T)
    return _linalg.solve(T, B) if left else _linalg.solve(T.mT, B.mT).mT


matmul, matrix_exp = _functions["matmul"], _functions["matrix_exp"]
__all__ = [
    *_NAMES, "diagonal", "eig", "eigvals", "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_rank", "norm",
    "solve_triangular", "tensorsolve", "vector_norm",
]  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.linalg.{name}")
