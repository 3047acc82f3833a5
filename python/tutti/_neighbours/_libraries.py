"""What other libraries are told of our arrays: the registries that some keep of the types they take.

A library is told when it and tutti are both imported, in whichever order.
"""

import sys

from .. import _core

# ---- pyarrow asks by a method


def arrow_array(a, type=None):  # noqa: A002 (pyarrow's name)
    """What pyarrow.array(a) is."""
    import pyarrow

    made = pyarrow.Array._import_from_c_capsule(*a.__arrow_c_array__())
    return made if type is None or made.type == type else made.cast(type)


def jax_array(a):
    """What a is for the functions of jax.numpy."""
    import jax.numpy

    return jax.numpy.from_dlpack(a) if a.device.type == "cuda" else jax.numpy.asarray(_shared(a))


def _shared(a):
    import numpy as np

    return a.numpy() if a.dtype == "bfloat16" else np.asarray(a)


# ---- registries


def _tell_jax(jax):
    import numpy as np
    from jax._src import core, dtypes
    from jax._src.interpreters import pxla

    def shards(arrays, *rest):
        return pxla.shard_arg_handlers[np.ndarray]([_shared(a) for a in arrays], *rest)

    core.pytype_aval_mappings[_core.ndarray] = lambda a: core.pytype_aval_mappings[np.ndarray](_shared(a))
    dtypes.canonicalize_value_handlers[_core.ndarray] = lambda a: dtypes.canonicalize_value(_shared(a))
    pxla.shard_arg_handlers[_core.ndarray] = shards


def _tell_einops(backends):
    class TuttiBackend(backends.NumpyBackend):  # found among the subclasses
        framework_name = "tutti"

        def __init__(self):
            import tutti

            self.np = tutti

        def from_numpy(self, x):
            return self.np.asarray(x)

        def to_numpy(self, x):
            return x.numpy()

    backends.TuttiBackend = TuttiBackend  # or nobody would hold it


def _tell_dask(array):
    array.register_chunk_type(_core.ndarray)


def _tell_cloudpickle(cloudpickle):
    """Functions that only this process can name travel by value, as plain ones do there."""
    from .._jit import cuda_kernels, device_ufunc, dispatch, elementwise

    for kind in (
        dispatch.Compiled,
        cuda_kernels.Kernel,
        cuda_kernels.DeviceFunction,
        elementwise.Vectorized,
        elementwise.Generalised,
        elementwise.Stencil,
        device_ufunc.DeviceVectorized,
        device_ufunc.DeviceGeneralised,
    ):
        cloudpickle.Pickler.dispatch_table[kind] = kind._by_value


def _tell_numba(numba):
    from . import _numba

    _numba.register()


REGISTRIES = {
    "jax": _tell_jax,
    "einops._backends": _tell_einops,
    "dask.array": _tell_dask,
    "numba": _tell_numba,
    "cloudpickle.cloudpickle": _tell_cloudpickle,
    "joblib.externals.cloudpickle.cloudpickle": _tell_cloudpickle,
}


class _Told:
    """A module's loader, which tells the module when it is loaded."""

    def __init__(self, loader, tell):
        self._loader, self._tell = loader, tell

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _told(module, self._tell)


def _told(module, tell):
    # A registry that has moved is no reason for an import to fail: the library then takes what NumPy takes.
    try:
        tell(module)
    except (ImportError, AttributeError) as error:
        import warnings

        warnings.warn(f"tutti cannot register its arrays with {module.__name__}: {error}", ImportWarning, stacklevel=2)


class _Finder:
    """Waits for the modules of the registries; finds none itself."""

    def __init__(self, waiting):
        self._waiting = waiting

    def find_spec(self, name, path=None, target=None):
        tell = self._waiting.pop(name, None)
        if tell is None:
            return None
        from importlib.util import find_spec

        spec = find_spec(name) if "." not in name or name.rpartition(".")[0] in sys.modules else None
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Told(spec.loader, tell)
        return spec


def watch():
    """Tell the libraries that are here, and those that come when they come."""
    waiting = {}
    for name, tell in REGISTRIES.items():
        if name in sys.modules:
            _told(sys.modules[name], tell)
        else:
            waiting[name] = tell
    sys.meta_path.insert(0, _Finder(waiting))
