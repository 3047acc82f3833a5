"""pycuda.scan: InclusiveScanKernel and ExclusiveScanKernel, with the operator written as C.

Each of a number of threads folds a piece of the array, one thread folds what they got, and each goes over its piece
again with all before it. The operator is only ever given neighbours in their order.
"""

import numpy as np

from tutti import _core

from . import gpuarray
from .compiler import SourceModule

_BLOCK, _PIECES, _LEAST = 128, 4096, 64  # threads of a block; at most so many pieces, of at least so many elements

_TEXT = """{preamble}
typedef {kind} scan_type;
static __device__ scan_type {name}_fold(scan_type a, scan_type b) {{ return {expression}; }}

extern "C" __global__ void {name}_totals(const scan_type *x, scan_type *total, long long n, long long piece) {{
  long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = k * piece, end = min(i + piece, n);
  if (i >= end) return;
  scan_type t = x[i];
  while (++i < end) t = {name}_fold(t, x[i]);
  total[k] = t;
}}
extern "C" __global__ void {name}_before(scan_type *total, long long pieces) {{
  for (long long k = 1; k < pieces; k++) total[k] = {name}_fold(total[k - 1], total[k]);
}}
extern "C" __global__ void {name}_pieces(const scan_type *x, const scan_type *total, scan_type *y, long long n,
                                         long long piece) {{
  long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = k * piece, end = min(i + piece, n);
  if (i >= end) return;
  {start}
  for (; i < end; i++) {{
    scan_type next = x[i];
    {step}
  }}
}}
"""
_INCLUSIVE = (
    "scan_type t = k ? {name}_fold(total[k - 1], x[i]) : x[i];\n  y[i++] = t;",
    "y[i] = t = {name}_fold(t, next);",
)
_EXCLUSIVE = (
    "scan_type t = k ? {name}_fold({neutral}, total[k - 1]) : (scan_type)({neutral});",
    "y[i] = t; t = {name}_fold(t, next);",
)


class _Scan:
    _way, _needs_neutral = _INCLUSIVE, False

    def __init__(
        self, dtype, scan_expr, neutral=None, name_prefix="scan", options=None, preamble="", devices=None
    ):  # fmt: skip
        if self._needs_neutral and neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        self.dtype = np.dtype(dtype)
        words = {"name": name_prefix, "neutral": neutral}
        start, step = (part.format(**words) for part in self._way)
        text = _TEXT.format(
            preamble=preamble, kind=_core.dtype_in_c(self.dtype), expression=scan_expr, start=start, step=step, **words
        )
        module = SourceModule(text, options=list(options or ()))
        names = ("totals", "before", "pieces")
        self._totals, self._before, self._pieces = (module.get_function(f"{name_prefix}_{n}") for n in names)

    def __call__(self, input_ary, output_ary=None, allocator=None, stream=None):
        """Fold the array from its front and keep every step: in `output_ary`, in a "new" array, or in place."""
        out = input_ary if output_ary is None else output_ary
        if isinstance(out, str) and out == "new":
            out = gpuarray.empty_like(input_ary)
        if out.shape != input_ary.shape:
            raise ValueError("input and output must have the same shape")
        (n,) = input_ary.shape
        if not n:
            return out
        piece = max(_LEAST, -(-n // _PIECES))
        pieces = -(-n // piece)
        total = gpuarray.empty(pieces, self.dtype)
        launch = {"block": (_BLOCK, 1, 1), "grid": (-(-pieces // _BLOCK), 1), "stream": stream}
        self._totals(input_ary, total, np.int64(n), np.int64(piece), **launch)
        self._before(total, np.int64(pieces), block=(1, 1, 1), stream=stream)
        self._pieces(input_ary, total, out, np.int64(n), np.int64(piece), **launch)
        return out


class InclusiveScanKernel(_Scan):
    """`InclusiveScanKernel(np.int32, "a + b")`: out[i] is the fold of the elements up to i."""


class ExclusiveScanKernel(_Scan):
    """`ExclusiveScanKernel(np.int32, "a + b", 0)`: out[i] is the fold of the elements before i."""

    _way, _needs_neutral = _EXCLUSIVE, True


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.scan.{name}")
