"""Weights over their length or their largest singular value, and orthogonal ones, as parametrizations."""

from ... import _core, autograd
from .._module import Module
from ._norms import as_matrix, direction, lengths, unit, usual_axis
from ._orthogonal import MAPS, Orthogonal
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / lengths(weight_v, self.dim))

    def right_inverse(self, weight):
        return lengths(weight, self.dim), weight


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            with autograd.no_grad():
                matrix = as_matrix(weight.detach(), self.dim)
                u, v = (direction(n, weight, eps) for n in matrix.shape)
                self.register_buffer("_u", u)
                self.register_buffer("_v", v)
                self._iterate(matrix, 15)

    def _iterate(self, matrix, n):
        with autograd.no_grad():
            for _ in range(n):
                self._u[...] = unit(matrix @ self._v, self.eps)
                self._v[...] = unit(matrix.T @ self._u, self.eps)

    def forward(self, weight):
        if weight.ndim == 1:
            return unit(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.copy(), self._v.copy()
        return weight / _core.functions["vdot"](u, matrix @ v)

    def right_inverse(self, value):
        return value


def weight_norm(module, name="weight", dim=0):
    """Train a weight's lengths and directions apart.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.
    dim : int
        The axis for each of whose places there is a length; None: one length.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.weight_norm(tt.nn.Linear(2, 3))
    >>> m.parametrizations.weight.original0.shape, m.parametrizations.weight.original1.shape
    ((3, 1), (3, 2))
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value, which is followed by the power method.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.
    n_power_iterations : int
        How many iterations each computation in training makes.
    eps : float
        The least length of a vector.
    dim : int
        The axis of outputs; None: 1 of transposed convolutions, else 0.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.spectral_norm(tt.nn.Linear(20, 40))
    >>> bool(abs(tt.linalg.norm(m.weight.detach(), 2) - 1) < 0.1)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _core.ndarray):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    axis = usual_axis(module) if dim is None else dim
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, axis, eps))
    return module


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a weight orthogonal: its columns, or where it is wide its rows, are orthonormal.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.
    orthogonal_map : {'matrix_exp', 'cayley', 'householder'}
        How the matrix is made of what is trained; None: the exponential of square or complex ones, reflections of
        others.
    use_trivialization : bool
        Whether what is trained turns an orthogonal matrix that is kept, and so can have any value at first.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.parametrizations.orthogonal(tt.nn.Linear(20, 40))
    >>> bool(abs(m.weight.detach().T @ m.weight.detach() - tt.eye(20)).max() < 1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _core.ndarray):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.dtype.kind == "c" else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    register_parametrization(module, name, Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
    return module
