"""JAX's names over tutti: derivatives of functions of trees, random numbers by keys, jax.numpy.

Replace `import jax` by `import tutti.compat.jax as jax`, or run the script by `python -m tutti run`.
"""

import contextlib as _contextlib
import functools as _functools

import tutti as _tt

from . import lax, nn, numpy, random, scipy, test_util, tree, tree_util
from ._array import Array, arrays_of
from ._derivatives import (
    closure_convert,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from ._mapping import vmap

__version__ = "0.10.0"
__all__ = [
    "Array", "block_until_ready", "checkpoint", "closure_convert", "custom_jvp", "custom_vjp", "debug",
    "default_device", "device_get", "device_put", "devices", "ensure_compile_time_eval", "eval_shape", "grad",
    "hessian", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "lax", "linear_transpose", "linearize", "named_call",
    "named_scope", "nn", "numpy", "random", "remat", "scipy", "test_util", "tree", "tree_util", "value_and_grad",
    "vjp", "vmap",
]  # fmt: skip


def jit(fun=None, **how):
    """The function: what it does is recorded, fused and compiled by itself."""
    return _functools.partial(jit, **how) if fun is None else fun


def checkpoint(fun=None, **how):
    """A function of which nothing is kept for the way back: it is computed again there."""
    if fun is None:
        return _functools.partial(checkpoint, **how)

    @_functools.wraps(fun)
    def again(*args, **kwargs):
        leaves, structure = tree_util.tree_flatten((args, kwargs))
        made = []

        def flat(*values):
            given, named = structure.unflatten(arrays_of(values))
            out, shape = tree_util.tree_flatten(fun(*given, **named))
            made.append(shape)
            return tuple(_tt.asarray(x) for x in out)

        out = _tt.checkpoint(flat, *leaves)
        return made[0].unflatten(arrays_of(out))

    return again


remat = checkpoint


def named_call(fun, *, name=None):
    """The function."""
    return fun


@_contextlib.contextmanager
def named_scope(name):
    """Names are not kept."""
    yield


@_contextlib.contextmanager
def ensure_compile_time_eval():
    """All is computed as it stands."""
    yield


def eval_shape(fun, *args, **kwargs):
    """What the function gives, of which shapes and types are asked: nothing is computed before somebody looks."""
    return fun(*args, **kwargs)


def block_until_ready(x):
    """The tree; who looks at its values waits for them."""
    return x


def device_put(x, device=None, *, src=None):
    """The tree with arrays at its leaves."""
    return arrays_of(tree_util.tree_map(_tt.asarray, x))


def device_get(x):
    """The tree with NumPy's arrays at its leaves."""
    return tree_util.tree_map(lambda a: _tt.asarray(a).numpy(), x)


def devices(backend=None):
    """What computes."""
    return _tt.devices() if hasattr(_tt, "devices") else [_tt.device("cpu")]


def default_device(device):
    """A block whose arrays are made on a device."""
    return _tt.device(device)


class _Config:
    """Arrays have NumPy's types, as under jax_enable_x64; other settings say nothing here."""

    jax_enable_x64 = True

    def update(self, name, value):
        if name == "jax_enable_x64" and not value:
            raise NotImplementedError("tutti.compat.jax does not cover jax_enable_x64=False: give arrays their types")


config = _Config()


class debug:
    """jax.debug: what is printed is printed at once."""

    @staticmethod
    def print(fmt, *args, ordered=False, **kwargs):
        print(fmt.format(*args, **kwargs))

    @staticmethod
    def callback(callback, *args, ordered=False, **kwargs):
        callback(*args, **kwargs)


from . import ad_checkpoint  # noqa: E402 - it has the names above

checkpoint_policies = ad_checkpoint.checkpoint_policies


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.{name}")
