"""Weights over their length or their largest singular value: what both forms of weight_norm and spectral_norm compute,
and the form that works by a hook before forward."""

from ... import _core, autograd
from .. import functional
from .._module import Parameter

_length = _core.functions["linalg.norm"]


def lengths(v, dim):
    """The lengths of v for each place of an axis, which stays; dim -1: of all together."""
    if dim == -1:
        return _length(v.reshape(-1))
    flat = v if dim == 0 else v.swapaxes(0, dim)
    shape = [1] * v.ndim
    shape[dim] = v.shape[dim]
    return _length(flat.reshape(flat.shape[0], -1), axis=1).reshape(shape)


def as_matrix(weight, dim):
    """A row for each place of an axis."""
    if dim != 0:
        weight = weight.transpose(dim, *(d for d in range(weight.ndim) if d != dim))
    return weight.reshape(weight.shape[0], -1)


def unit(x, eps):
    """A vector of length 1."""
    return functional.normalize(x, dim=0, eps=eps)


def direction(n, weight, eps):
    """A vector by chance."""
    from .. import init

    return unit(init.normal_(_core.functions["empty"](n, weight.dtype, device=weight.device)), eps)


def usual_axis(module):
    """The axis of outputs."""
    from .._weighted import _ConvolutionTransposed

    return 1 if isinstance(module, _ConvolutionTransposed) else 0


class _Hook:
    """Computes a parameter before forward, of those that are trained in its place."""

    _what = ""

    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def attach(self, module):
        for hook in module._forward_pre_hooks.values():
            if type(hook) is type(self) and hook.name == self.name:
                raise RuntimeError(f"Cannot register two {self._what} hooks on the same parameter {self.name}")
        self.divide(module)
        module.register_forward_pre_hook(self)
        return module

    def __call__(self, module, args):
        object.__setattr__(module, self.name, self.value(module))

    @classmethod
    def remove(cls, module, name):
        for key, hook in list(module._forward_pre_hooks.items()):
            if type(hook) is cls and hook.name == name:
                hook.join(module)
                del module._forward_pre_hooks[key]
                return module
        raise ValueError(f"{cls._what} of '{name}' not found in {module}")


class _WeightNorm(_Hook):
    _what = "weight_norm"

    def divide(self, module):
        weight = module._parameters.pop(self.name)
        with autograd.no_grad():
            length = lengths(weight, self.dim)
        module.register_parameter(self.name + "_g", Parameter(length))
        module.register_parameter(self.name + "_v", Parameter(weight.detach()))
        self(module, ())

    def value(self, module):
        g, v = module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        return v * (g / lengths(v, self.dim))

    def join(self, module):
        weight = self.value(module).detach()
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        module.register_parameter(self.name, Parameter(weight))


class _SpectralNorm(_Hook):
    _what = "spectral_norm"

    def __init__(self, name, dim, n_power_iterations, eps):
        super().__init__(name, dim)
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def divide(self, module):
        weight = module._parameters.pop(self.name)
        with autograd.no_grad():
            matrix = as_matrix(weight, self.dim)
            u, v = (direction(n, weight, self.eps) for n in matrix.shape)
        module.register_parameter(self.name + "_orig", weight)
        object.__setattr__(module, self.name, weight.detach())
        module.register_buffer(self.name + "_u", u)
        module.register_buffer(self.name + "_v", v)

    def value(self, module, iterate=None):
        weight = module._parameters[self.name + "_orig"]
        u, v = module._buffers[self.name + "_u"], module._buffers[self.name + "_v"]
        matrix = as_matrix(weight, self.dim)
        if module.training if iterate is None else iterate:
            with autograd.no_grad():
                for _ in range(self.n_power_iterations):
                    v[...] = unit(matrix.T @ u, self.eps)
                    u[...] = unit(matrix @ v, self.eps)
            u, v = u.copy(), v.copy()
        return weight / (u @ (matrix @ v))

    def join(self, module):
        with autograd.no_grad():
            weight = self.value(module, False).detach()
        delattr(module, self.name)
        del module._buffers[self.name + "_u"], module._buffers[self.name + "_v"]
        del module._parameters[self.name + "_orig"]
        module.register_parameter(self.name, Parameter(weight))


def weight_norm(module, name="weight", dim=0):
    """Train a weight's lengths and directions apart: `name_g` and `name_v`.

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
    >>> m = tt.nn.utils.weight_norm(tt.nn.Linear(2, 3))
    >>> m.weight_g.shape, m.weight_v.shape
    ((3, 1), (3, 2))
    """
    return _WeightNorm(name, -1 if dim is None else dim).attach(module)


def remove_weight_norm(module, name="weight"):
    """Let a weight be one parameter again.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.remove_weight_norm(tt.nn.utils.weight_norm(tt.nn.Linear(2, 3)))
    >>> sorted(m.state_dict())
    ['bias', 'weight']
    """
    return _WeightNorm.remove(module, name)


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value, which is followed by the power method.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.
    n_power_iterations : int
        How many iterations each forward in training makes.
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
    >>> m = tt.nn.utils.spectral_norm(tt.nn.Linear(2, 3))
    >>> list(m.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    return _SpectralNorm(name, usual_axis(module) if dim is None else dim, n_power_iterations, eps).attach(module)


def remove_spectral_norm(module, name="weight"):
    """Let a weight be one parameter again.

    Parameters
    ----------
    module : Module
        Whose weight it is.
    name : str
        The weight's name.

    Returns
    -------
    Module
        The module.

    Examples
    --------
    >>> m = tt.nn.utils.remove_spectral_norm(tt.nn.utils.spectral_norm(tt.nn.Linear(2, 3)))
    >>> sorted(m.state_dict())
    ['bias', 'weight']
    """
    return _SpectralNorm.remove(module, name)
