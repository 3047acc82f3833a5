"""Matrices with orthonormal columns, or rows, of others: by the exponential or Cayley's map of a skew matrix, or by
Householder's reflections. Matrices are the last two axes."""

import math

from ... import _core, autograd, linalg
from ..._info import finfo
from .. import init
from .._module import Module

MAPS = "matrix_exp", "cayley", "householder"
_eye, _concatenate, _tril, _triu = (_core.functions[name] for name in ("eye", "concatenate", "tril", "triu"))
_where, _zeros_like, _stack, _sum = (_core.functions[name] for name in ("where", "zeros_like", "stack", "sum"))

# Pade's approximation of order 13: its coefficients, and up to which norm it is exact to double precision.
_PADE = [
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
    670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
]  # fmt: skip
_REACH = 5.371920351148152


def _unit(like):
    """The unit matrix of a matrix' size, type and place."""
    return _eye(like.shape[-1], dtype=like.dtype, device=like.device)


def _turned(x):
    """The conjugate of the transposed matrix."""
    turned = x.swapaxes(-2, -1)
    return turned.conj() if x.dtype.kind == "c" else turned


def _diagonal(x):
    return _core.functions["diagonal"](x, 0, -2, -1)


def _pade(x):
    """The exponential of a matrix within reach."""
    b = [c / _PADE[0] for c in _PADE]
    one, x2 = _unit(x), x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    return linalg.solve(even - odd, even + odd)


def matrix_exp(x):
    """The exponential of matrices: that of a small part of them, squared as often as they were halved."""
    with autograd.no_grad():
        norm = float(_sum(abs(x), axis=-2).max().item()) if math.prod(x.shape) else 0.0
    halved = max(0, math.ceil(math.log2(norm / _REACH))) if 0 < norm < math.inf else 0
    made = _pade(x * 2.0**-halved)
    for _ in range(halved):
        made = made @ made
    return made


def _cayley(x):
    one = _unit(x)
    return linalg.solve(one - x * 0.5, one + x * 0.5)


def _of_skew(x, function):
    """Columns of an orthogonal matrix: a function of a skew matrix, whose lower triangle is that of x."""
    n, k = x.shape[-2:]
    lower = _tril(x)
    if n != k:
        lower = _concatenate([lower, _zeros_like(x, shape=(*x.shape[:-2], n, n - k))], axis=-1)
    return function(lower - _turned(lower))[..., :k]


def reflected(x):
    """The product of the reflections by the columns under the diagonal, which end in 1 there, times the signs on it.

    A product of reflections 1 - t v v' is 1 - V T V' for the triangular T whose inverse has V'V above its diagonal and
    1 / t, which is half of that of V'V, on it."""
    n, k = x.shape[-2:]
    first = _eye(n, k, dtype=x.dtype, device=x.device)
    v = _tril(x, -1) + first
    products = v.swapaxes(-2, -1) @ v
    inverse = _triu(products, 1) + _unit(products) * products * 0.5
    made = first - v @ linalg.solve(inverse, v[..., :k, :].swapaxes(-2, -1))
    return made * _diagonal(x).astype("int32").astype(x.dtype)[..., None, :]


def reflections(q):
    """What reflected() makes a matrix with orthonormal columns of."""
    n, k = q.shape[-2:]
    rest, columns = q * 1, []
    place = _core.functions["arange"](n, device=q.device)
    for i in range(k):
        column = _where(place < i, 0, rest[..., i])
        pivot = column[..., i : i + 1]
        sign = _where(pivot < 0, -1.0, 1.0).astype(q.dtype)
        done = (
            _sum(_where(place > i, column, 0) != 0, axis=-1, keepdims=True) == 0
        )  # a reflection changes the sign alone
        length = _sum(column * column, axis=-1, keepdims=True) ** 0.5
        v = _where(place == i, 1, column / _where(done, 1, pivot + sign * length))
        v = _where(done & (place != i), 0, v)
        share = _where(done, 0, 2 / _sum(v * v, axis=-1, keepdims=True))[..., None]
        rest = rest - share * v[..., None] * (v[..., None, :] @ rest)
        columns.append(_where(place > i, v, _where(place == i, -sign, 0)))
    return _stack(columns, axis=-1).astype(q.dtype)


def orthonormal(x):
    """The orthogonal factor, that with a positive diagonal of the other one."""
    q, r = linalg.qr(x)
    return q * _where(_diagonal(r) < 0, -1, 1).astype(q.dtype)[..., None, :]


def _is_orthogonal(q):
    error = abs(_turned(q) @ q - _unit(q)).max()
    return error.item() < 10 * q.shape[-2] * float(finfo(q.dtype).eps)


class Orthogonal(Module):
    """The parametrization: with `base` what is trained turns that matrix."""

    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        if weight.dtype.kind == "c" and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _get_name(self):
        return "_Orthogonal"

    def forward(self, x):
        wide = x.shape[-2] < x.shape[-1]
        x = x.swapaxes(-2, -1) if wide else x
        if self.orthogonal_map == "householder":
            made = reflected(x)
        else:
            made = _of_skew(x, matrix_exp if self.orthogonal_map == "matrix_exp" else _cayley)
        if hasattr(self, "base"):
            made = self.base @ made
        return made.swapaxes(-2, -1) if wide else made

    def right_inverse(self, value):
        if value.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {value.shape}."
            )
        with autograd.no_grad():
            wide = value.shape[-2] < value.shape[-1]
            q = value.swapaxes(-2, -1) if wide else value
            if hasattr(self, "base"):
                self.base = self._whole(q)
                return -_eye(*value.shape[-2:], dtype=value.dtype, device=value.device) + _zeros_like(value)
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            made = reflections(q)
            return made.swapaxes(-2, -1) if wide else made

    @staticmethod
    def _whole(q):
        """A square orthogonal matrix whose first columns are those of q, if these are orthonormal."""
        n, k = q.shape[-2:]
        if n == k:
            return q * 1 if _is_orthogonal(q) else orthonormal(q)
        more = init.normal_(_zeros_like(q, shape=(*q.shape[:-2], n, n - k)))
        return orthonormal(_concatenate([q, more], axis=-1))
