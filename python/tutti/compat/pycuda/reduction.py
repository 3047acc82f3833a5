"""pycuda.reduction: ReductionKernel, with arguments and expressions written as C."""

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from . import _place
from .elementwise import ElementwiseKernel, _arguments
from .gpuarray import GPUArray


class ReductionKernel:
    """`ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")`."""

    def __init__(
        self, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
        options=None, preamble="", allocator=None,
    ):  # fmt: skip
        self.dtype_out = np.dtype(dtype_out)
        c = _core.dtype_in_c(self.dtype_out)
        parts, self._is_vector = _arguments(arguments)
        if map_expr is None:
            map_expr = "in[i]"
        self._map = ElementwiseKernel(
            ", ".join([*parts, f"{c} *tt_mapped"]),
            f"tt_mapped[i] = ({map_expr})",
            f"{name}_map",
            options=options,
            preamble=preamble,
        )
        self._reduce = _tt.ReductionKernel(
            f"{self.dtype_out.name} x", f"{self.dtype_out.name} y", "x", reduce_expr, "y = a", neutral, name,
            preamble=preamble, options=tuple(options or ()),
        )  # fmt: skip

    def __call__(self, *args, stream=None, out=None, allocator=None, return_array=False, range=None, slice=None):  # noqa: A002
        if range is not None or slice is not None:
            raise NotImplementedError("range= and slice= are not covered")
        n = next(a.size for a, v in zip(args, self._is_vector, strict=False) if v)
        here = numbered(_place.here())
        mapped = _tt.zeros(n, dtype=self.dtype_out.name, device=here)
        self._map(*args, mapped)
        with here:
            result = self._reduce(mapped)
        if out is not None:
            out[...] = GPUArray._of(result)
            return out
        return GPUArray._of(result)
