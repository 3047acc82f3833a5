"""pycuda.elementwise: ElementwiseKernel, with arguments and operation written as C."""

import builtins

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered
from tutti._jit import dispatch

from . import _place, driver
from .gpuarray import GPUArray, _plain


class VectorArg:
    def __init__(self, dtype, name):
        self.dtype, self.name = dtype, name


class ScalarArg(VectorArg):
    pass


def _spell(arg):
    star = " *" if type(arg) is VectorArg else " "
    return f"{_core.dtype_in_c(arg.dtype)}{star}{arg.name}"


def _arguments(arguments):
    """Parameters as C, and which of them are vectors."""
    text = arguments if isinstance(arguments, str) else ", ".join(_spell(a) for a in arguments)
    parts = [p.strip() for p in text.replace("pycuda::complex", "complex").split(",") if p.strip()]
    return parts, ["*" in p for p in parts]


class ElementwiseKernel:
    """`ElementwiseKernel("float a, float *x, float *z", "z[i] = a * x[i]", "scale")`."""

    def __init__(
        self, arguments, operation, name="kernel", keep=False, options=None, *, preamble="", loop_prep="", after_loop=""
    ):
        parts, self._is_vector = _arguments(arguments)
        if not any(self._is_vector):
            raise RuntimeError(
                "ElementwiseKernel can only be used with functions that have at least one vector argument"
            )
        self._kernel = _core.elementwise(
            None, None, ", ".join(parts), operation, name, preamble, tuple(options or ()), None, loop_prep, after_loop
        )
        self.__name__, self._compiled = name, False
        if dispatch.everything is not None:
            dispatch.everything.append(self)

    launches = property(lambda self: _core.custom_info(self._kernel)[4], doc="How many calls ran compiled code.")

    def __call__(self, *args, range=None, slice=None, stream=None):  # noqa: A002 (PyCUDA's names)
        if range is not None or slice is not None:
            raise NotImplementedError("range= and slice= are not covered")
        n = next((a.size for a, v in zip(args, self._is_vector, strict=False) if v), None)
        before, after = [], []
        given = tuple(_argument(a, before, after) for a in args)  # arrays at addresses: in place
        for f in before:
            f()
        _place.ordered(None)
        if self._compiled:
            self._run(given, n)
        else:
            with numbered(_place.here()):  # a program is built where it is going to run
                self._run(given, n)
            self._compiled = self.launches > 0
        for f in after:
            f()

    def _run(self, given, n):
        try:
            _core.elementwise_run(self._kernel, given, n, None)
        except _tt.CompileError as e:
            raise driver.CompileError(str(e)) from None
        except ValueError as e:
            raise driver.LogicError(f"cuLaunchKernel failed: {e}") from None
        except builtins.NotImplementedError:
            raise
        except builtins.RuntimeError as e:
            raise driver.LaunchError(str(e)) from None

    def explain(self):
        """The operations of the graph that it became, or why it is compiled as CUDA C; None before the first call."""
        return _core.custom_explain(self._kernel) or None


def _argument(a, before, after):
    """What the library is given: an array, or the address that one lies at; structs as their bytes."""
    if isinstance(a, GPUArray):
        return a.ptr if a._lies() else _plain(a)
    around = getattr(a, "_around_launch", None)
    if around:
        return around(before, after)
    return a.tobytes() if isinstance(a, np.void) else a
