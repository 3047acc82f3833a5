"""pycuda.elementwise: ElementwiseKernel, with arguments and operation written as C."""

import builtins

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered
from tutti._jit import dispatch

from . import _place, driver
from .gpuarray import GPUArray, _plain
from .tools import ScalarArg, VectorArg, context_dependent_memoize  # noqa: F401 (PyCUDA's programs take them from here)


def _arguments(arguments):
    """Parameters as C, and which of them are vectors."""
    text = arguments if isinstance(arguments, str) else ", ".join(a.declarator() for a in arguments)
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
        self._made = parts, operation, name, preamble, tuple(options or ()), loop_prep, after_loop
        self._kernel = self._build(*self._made)
        self._strided = None
        self.__name__, self._compiled = name, False
        if dispatch.everything is not None:
            dispatch.everything.append(self)

    @staticmethod
    def _build(parts, operation, name, preamble, options, loop_prep, after_loop):
        return _core.elementwise(
            None, None, ", ".join(parts), operation, name, preamble, options, None, loop_prep, after_loop
        )

    def _over(self, places):
        """The same kernel with i in the places of a range: as many steps, each of which says where it is."""
        if self._strided is None:
            parts, operation, name, *rest = self._made
            parts = [*parts, "long long tt_first", "long long tt_step"]
            inside = f"const long long tt_at = i; {{ const long long i = tt_first + tt_at * tt_step; {operation}; }}"
            self._strided = self._build(parts, inside, name + "_range", *rest)
        return self._strided, (places.start, places.step), len(places)

    launches = property(lambda self: _core.custom_info(self._kernel)[4], doc="How many calls ran compiled code.")

    def __call__(self, *args, range=None, slice=None, stream=None):  # noqa: A002 (PyCUDA's names)
        n = next((a.size for a, v in zip(args, self._is_vector, strict=False) if v), None)
        if slice is not None:
            if range is not None:
                raise TypeError("may not specify both range and slice keyword arguments")
            range = builtins.slice(slice.start, slice.stop, slice.step).indices(n)  # noqa: A001
        kernel, places = self._kernel, ()
        if range is not None:
            first, stop, step = range if isinstance(range, tuple) else (range.start, range.stop, range.step)
            kernel, places, n = self._over(builtins.range(first, stop, step or 1))
        before, after = [], []
        given = tuple(_argument(a, before, after) for a in args)  # arrays at addresses: in place
        for f in before:
            f()
        _place.ordered(None)
        if self._compiled and not places:
            self._run(kernel, given, n)
        elif n or not places:
            with numbered(_place.here()):  # a program is built where it is going to run
                self._run(kernel, given + places, n)
            self._compiled = self.launches > 0
        for f in after:
            f()

    def _run(self, kernel, given, n):
        try:
            _core.elementwise_run(kernel, given, n, None)
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


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.elementwise.{name}")
