"""pyopencl.reduction: ReductionKernel, with arguments and expressions written as OpenCL C."""

import builtins

import numpy as np

from . import _snippets
from .array import Array, _queue_of
from .tools import VectorArg, dtype_to_ctype

# Each work item folds a piece into several results, which do not wait for one another; one more folds what all got.
_TEXT = """{preamble}
typedef {kind} tt_reduce_type;
#define TT_LANES {lanes}
#define TT_FOLD(into, value) {{ tt_reduce_type tt_value = (value); \\
  {{ const tt_reduce_type a = into, b = tt_value; into = ({reduce}); }} }}
#define TT_MAP(i) ({mapped})
__kernel void {name}_pieces({parameters}) {{
  {piece}
  tt_reduce_type tt_lane[TT_LANES];
  for (int tt_l = 0; tt_l < TT_LANES; tt_l++) tt_lane[tt_l] = {neutral};
  long tt_k = tt_first;
  for (; tt_k + TT_LANES <= tt_end; tt_k += TT_LANES)
    for (int tt_l = 0; tt_l < TT_LANES; tt_l++) {{
      const long i = tt_start + (tt_k + tt_l) * tt_step;
      TT_FOLD(tt_lane[tt_l], TT_MAP(i))
    }}
  for (; tt_k < tt_end; tt_k++) {{
    const long i = tt_start + tt_k * tt_step;
    TT_FOLD(tt_lane[0], TT_MAP(i))
  }}
  tt_reduce_type tt_all = tt_lane[0];
  for (int tt_l = 1; tt_l < TT_LANES; tt_l++) TT_FOLD(tt_all, tt_lane[tt_l])
  tt_total[get_global_id(0)] = tt_all;
}}
__kernel void {name}_last({last}) {{
  tt_reduce_type tt_all = {neutral};
  for (long tt_k = 0; tt_k < tt_n; tt_k++) TT_FOLD(tt_all, tt_total[tt_k])
  *tt_out = tt_all;
}}
"""
_LANES = 8  # of numbers; structures are folded one after another
_MORE = "__global tt_reduce_type *tt_total", "long tt_start", "long tt_step", "long tt_n", "long tt_piece"


def _line(text):
    """An expression on one line, for a macro."""
    return " ".join(text.split("\n"))


class ReductionKernel:
    """`ReductionKernel(context, np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")`."""

    def __init__(
        self, ctx, dtype_out, neutral, reduce_expr, map_expr=None, arguments=None, name="reduce_kernel",
        options=None, preamble="",
    ):  # fmt: skip
        self.context, self.dtype_out = ctx, np.dtype(dtype_out)
        if arguments is None:
            arguments = [VectorArg(self.dtype_out, "in")]
        self._parameters = _snippets.Parameters(arguments)
        if map_expr is None:
            map_expr = "in[i]"
        text = _TEXT.format(
            preamble=_snippets.preamble({self.dtype_out, *self._parameters.dtypes()}, preamble),
            kind=dtype_to_ctype(self.dtype_out), lanes=1 if self.dtype_out.kind in "Vc" else _LANES, name=name,
            reduce=_line(reduce_expr), mapped=_line(map_expr), neutral=neutral, piece=_snippets.PIECE,
            parameters=self._parameters.declared(*_MORE),
            last=self._parameters.declared(_MORE[0], "__global tt_reduce_type *tt_out", "long tt_n"),
        )  # fmt: skip
        self._pieces = _snippets.build(ctx, text, f"{name}_pieces", options)
        self._last = getattr(self._pieces.program, f"{name}_last")

    def __call__(
        self, *args, queue=None, wait_for=None, return_event=False, range=None, slice=None, out=None, allocator=None,  # noqa: A002
        **others,
    ):  # fmt: skip
        array = self._parameters.first_array(args)
        if array is None and range is None:
            raise ValueError("without an array among the arguments, range= is needed")
        if slice is not None:
            if range is not None:
                raise TypeError("may not specify both range and slice keyword arguments")
            range = builtins.slice(*slice.indices(array.size))  # noqa: A001
        queue = _queue_of(queue, array)
        if queue is None:
            raise ValueError("no queue is known: give one by queue=")
        places = builtins.range(array.size) if range is None else builtins.range(
            range.start or 0, range.stop, 1 if range.step is None else range.step
        )  # fmt: skip
        n = len(places)
        count, piece = _snippets.pieces(n, queue)
        total = Array(queue, count, self.dtype_out)
        if out is None:
            out = Array(queue, (), self.dtype_out, allocator=allocator)
        given = self._parameters.given(args)
        if n:
            numbers = [np.int64(v) for v in (places.start, places.step, n, piece)]
            waits = _snippets.ready(wait_for, args)
            _snippets.launch(self._pieces, queue, count, [*given, total.data, *numbers], waits)
        whole = [*given, total.data, _snippets.argument(out, None), np.int64(count if n else 0)]
        event = _snippets.launch(self._last, queue, 1, whole)
        return (out, event) if return_event else out


def get_minmax_neutral(what, dtype):
    """What min or max of nothing is, as C."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return "INFINITY" if what == "min" else "-INFINITY"
    ends = np.iinfo(kind)
    return f"({ends.max if what == 'min' else ends.min})" if ends.min else str(ends.max if what == "min" else 0)


def get_sum_kernel(ctx, dtype_out, dtype_in):
    """A ReductionKernel for sums."""
    kind = np.dtype(dtype_out or dtype_in)
    text = dtype_to_ctype(kind)
    if kind.kind == "c":
        name = text.removesuffix("_t")
        return ReductionKernel(
            ctx, kind, f"{name}_new(0, 0)", f"{name}_add(a, b)",
            f"{name}_cast(in[i])" if np.dtype(dtype_in).kind == "c" else f"{name}_fromreal(in[i])",
            [VectorArg(dtype_in, "in")],
        )  # fmt: skip
    return ReductionKernel(ctx, kind, "0", "a+b", f"({text}) in[i]", [VectorArg(dtype_in, "in")])


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.reduction.{name}")
