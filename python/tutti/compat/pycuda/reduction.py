"""pycuda.reduction: ReductionKernel, with arguments and expressions written as C."""

import numpy as np

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from . import _place, gpuarray
from .compiler import SourceModule
from .elementwise import ElementwiseKernel, _arguments
from .gpuarray import GPUArray
from .tools import VectorArg, dtype_to_ctype

_BLOCK, _PIECES, _LEAST = 128, 4096, 64  # threads of a block; at most so many pieces, of at least so many elements
# Of structures, which no array of the graph holds: each thread folds a piece, one thread folds what they got.
_TEXT = """{preamble}
typedef {kind} reduce_type;
static __device__ reduce_type {name}_fold(reduce_type a, reduce_type b) {{ return {expression}; }}

extern "C" __global__ void {name}_pieces({arguments}, reduce_type *tt_total, long long tt_n, long long tt_piece) {{
  long long tt_k = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = tt_k * tt_piece;
  long long tt_end = i + tt_piece < tt_n ? i + tt_piece : tt_n;
  if (i >= tt_end) return;
  reduce_type tt_t = {neutral};
  for (; i < tt_end; i++) tt_t = {name}_fold(tt_t, {mapped});
  tt_total[tt_k] = tt_t;
}}
extern "C" __global__ void {name}_last(const reduce_type *total, reduce_type *out, long long pieces) {{
  reduce_type t = {neutral};
  for (long long k = 0; k < pieces; k++) t = {name}_fold(t, total[k]);
  *out = t;
}}
"""


class _OfStructures:
    """A reduction whose results are structures."""

    def __init__(self, kind, parts, neutral, fold, mapped, name, options, preamble):
        words = {"kind": dtype_to_ctype(kind), "name": name, "neutral": neutral, "expression": fold, "mapped": mapped}
        text = _TEXT.format(preamble=preamble, arguments=", ".join(parts), **words)
        module = SourceModule(text, options=list(options), no_extern_c=True)
        self.kind = kind
        self._pieces, self._last = (module.get_function(f"{name}_{n}") for n in ("pieces", "last"))

    def __call__(self, args, n, out):
        piece = max(_LEAST, -(-n // _PIECES))
        pieces = -(-n // piece)
        total = gpuarray.empty(max(pieces, 1), self.kind)
        out = gpuarray.empty((), self.kind) if out is None else out
        if n:
            grid = (-(-pieces // _BLOCK), 1)
            self._pieces(*args, total, np.int64(n), np.int64(piece), block=(_BLOCK, 1, 1), grid=grid)
        self._last(total, out, np.int64(pieces), block=(1, 1, 1))
        return out


class ReductionKernel:
    """`ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")`."""

    def __init__(
        self, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel", keep=False,
        options=None, preamble="", allocator=None,
    ):  # fmt: skip
        self.dtype_out = np.dtype(dtype_out)
        parts, self._is_vector = _arguments(arguments or [VectorArg(self.dtype_out, "in")])
        if map_expr is None:
            map_expr = f"{parts[0].replace('*', ' ').split()[-1]}[i]"
        if self.dtype_out.kind == "V":
            self._map = self._reduce = None
            self._structures = _OfStructures(
                self.dtype_out, parts, neutral, reduce_expr, map_expr, name, options or (), preamble
            )
            return
        c = _core.dtype_in_c(self.dtype_out)
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
            raise NotImplementedError("ReductionKernel: range= and slice= are not covered: give it a part of the array")
        n = next(a.size for a, v in zip(args, self._is_vector, strict=False) if v)
        if self._map is None:
            return self._structures(args, n, out)
        here = numbered(_place.here())
        mapped = _tt.zeros(n, dtype=self.dtype_out.name, device=here)
        self._map(*args, mapped)
        with here:
            result = self._reduce(mapped)
        if out is not None:
            out[...] = GPUArray._of(result)
            return out
        return GPUArray._of(result)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.reduction.{name}")
