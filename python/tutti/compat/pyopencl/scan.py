"""pyopencl.scan: folds of an array from its front of which every step is kept, written as OpenCL C.

Each work item folds a piece and keeps its steps, one work item folds what the pieces got, and each puts what came
before its piece into its steps and does what the program wants of them. So nothing is written before all was read.
"""

import numpy as np

from . import _snippets
from .array import Array, _queue_of, empty_like
from .tools import VectorArg, dtype_to_ctype

_HEAD = """{preamble}
typedef {kind} scan_type;
typedef {index} index_type;
#define TT_FOLD(into, before, after, across) {{ const scan_type a = before, b = after; \\
  const bool across_seg_boundary = across; (void)across_seg_boundary; into = ({expression}); }}
"""
_PIECES = """
__kernel void {name}_pieces({parameters}) {{
  {piece}
  const index_type N = (index_type)tt_n;
  long tt_from = tt_end;
  scan_type tt_so_far;
  for (long tt_k = tt_first; tt_k < tt_end; tt_k++) {{
    const index_type i = (index_type)tt_k;
    {fetches}
    const scan_type tt_in = {input};
    bool tt_starts = false;
    {starts}
    if (tt_k == tt_first) tt_so_far = tt_in;
    else TT_FOLD(tt_so_far, tt_so_far, tt_in, tt_starts)
    tt_step[tt_k] = tt_so_far;
  }}
  tt_start[get_global_id(0)] = tt_from;
}}
"""
_BEFORE = """
__kernel void {name}_before(__global scan_type *tt_step, __global scan_type *tt_total, __global long *tt_start,
                            long tt_n, long tt_piece) {{
  scan_type tt_all = tt_step[(tt_piece < tt_n ? tt_piece : tt_n) - 1];
  tt_total[0] = tt_all;
  for (long tt_k = 1; tt_k * tt_piece < tt_n; tt_k++) {{
    long tt_end = (tt_k + 1) * tt_piece < tt_n ? (tt_k + 1) * tt_piece : tt_n;
    TT_FOLD(tt_all, tt_all, tt_step[tt_end - 1], (tt_start[tt_k] < tt_end))
    tt_total[tt_k] = tt_all;
  }}
}}
"""
_FINISH = """
__kernel void {name}_finish({parameters}) {{
  {piece}
  const index_type N = (index_type)tt_n;
  const long tt_number = get_global_id(0);
  const scan_type last_item = tt_total[(tt_n - 1) / tt_piece];
  (void)last_item; (void)N;
  {before}
  for (long tt_k = tt_first; tt_k < tt_end; tt_k++) {{
    const index_type i = (index_type)tt_k;
    {alone}
    scan_type item = tt_step[tt_k];
    if (tt_number) TT_FOLD(item, tt_total[tt_number - 1], tt_step[tt_k], (tt_k >= tt_start[tt_number]))
    {{ {output} }}
    {next}
  }}
}}
"""
_WORK = "__global scan_type *tt_step", "__global scan_type *tt_total", "__global long *tt_start"
_ENDS = "long tt_n", "long tt_piece"


class GenericScanKernelBase:
    """A fold of `input_expr` by `scan_expr`, and `output_statement` with each of its steps."""

    _in_one_piece = False

    def __init__(
        self, ctx, dtype, arguments, input_expr, scan_expr, neutral, output_statement, is_segment_start_expr=None,
        input_fetch_exprs=None, index_dtype=None, name_prefix="scan", options=None, preamble="", devices=None,
    ):  # fmt: skip
        self.context, self.dtype = ctx, np.dtype(dtype)
        self.index_dtype = np.dtype(np.int32 if index_dtype is None else index_dtype)
        if neutral is None:
            raise ValueError("must provide a 'neutral' element in scan")
        if self.dtype.itemsize % 4:
            raise TypeError("scan value type must have size divisible by 4 bytes")
        if self.index_dtype.kind != "i":
            raise TypeError("index_dtype must be signed")
        self._parameters = _snippets.Parameters(arguments)
        if not self._parameters.vectors:
            raise RuntimeError("a scan needs at least one array among its arguments")
        self._is_segmented = is_segment_start_expr is not None
        self._made = self._texts(
            input_expr, scan_expr, neutral, output_statement, is_segment_start_expr, input_fetch_exprs or (),
            name_prefix, preamble,
        )  # fmt: skip
        self._name, self._options, self._kernels = name_prefix, options, None

    def _texts(self, input_expr, scan_expr, neutral, output, starts, fetches, name, preamble):
        dtypes = {self.dtype, *self._parameters.dtypes()}
        flag = ("__global uchar *tt_flag",) if self._is_segmented else ()
        parameters = self._parameters.declared(*_WORK, *flag, *_ENDS)
        words = {
            "preamble": _snippets.preamble(dtypes, preamble), "kind": dtype_to_ctype(self.dtype), "name": name,
            "index": dtype_to_ctype(self.index_dtype), "expression": " ".join(scan_expr.split("\n")),
            "parameters": parameters, "piece": _snippets.PIECE, "neutral": neutral, "input": input_expr,
            "fetches": " ".join(self._fetch(*f) for f in fetches), "output": _snippets.statement(output),
            "starts": "", "alone": "", "before": "", "next": "",
        }  # fmt: skip
        looks_back = _snippets.uses(output, "prev_item")
        if looks_back:
            words["before"] = f"scan_type prev_item = {neutral};\n  if (tt_number) prev_item = tt_total[tt_number - 1];"
            words["next"] = "prev_item = item;"
        if self._is_segmented:
            words["starts"] = (
                f"{{ const scan_type a = tt_in; (void)a; tt_starts = ({starts}); }}\n"
                "    tt_flag[tt_k] = tt_starts; if (tt_starts && tt_k < tt_from) tt_from = tt_k;"
            )
            words["alone"] = "" if not looks_back else f"if (tt_flag[tt_k]) prev_item = {neutral};"
        return "".join(part.format(**words) for part in (_HEAD, _PIECES, _BEFORE, _FINISH))

    def _fetch(self, name, of, offset):
        """C that reads an element beside the one that is looked at."""
        if offset not in (0, -1):
            raise RuntimeError("input_fetch_expr offsets must either be 0 or -1")
        kind = next(a.dtype for a in self._parameters.all if a.name == of)
        return f"{dtype_to_ctype(kind)} {name}; if (tt_k + {offset} >= 0) {name} = {of}[tt_k + ({offset})];"

    def _built(self):
        if self._kernels is None:
            first = _snippets.build(self.context, self._made, f"{self._name}_pieces", self._options)
            rest = (getattr(first.program, f"{self._name}_{n}") for n in ("before", "finish"))
            self._kernels = (first, *rest)
        return self._kernels

    def __call__(self, *args, allocator=None, queue=None, size=None, n=None, wait_for=None, **others):
        array = self._parameters.first_array(args)
        queue = _queue_of(queue, array)
        size = n if size is None else size
        if size is None:
            if array is None:
                raise TypeError("without an array among the arguments, size= is needed")
            size = array.shape[0] if array.shape else 1
        given = self._parameters.given(args)
        waits = _snippets.ready(wait_for, args)
        if not size:
            return queue._do("NDRANGE_KERNEL", lambda: None, waits)
        count, piece = (1, size) if self._in_one_piece else _snippets.pieces(size, queue)
        step, total = (Array(queue, k, self.dtype) for k in (size, count))
        start = Array(queue, count, np.int64)
        work = [step.data, total.data, start.data]
        flag = [Array(queue, size, np.uint8).data] if self._is_segmented else []
        ends = [np.int64(size), np.int64(piece)]
        pieces, before, finish = self._built()
        _snippets.launch(pieces, queue, count, [*given, *work, *flag, *ends], waits)
        _snippets.launch(before, queue, 1, [*work, *ends])
        return _snippets.launch(finish, queue, count, [*given, *work, *flag, *ends])


class GenericScanKernel(GenericScanKernelBase):
    """`GenericScanKernel(ctx, dtype, "int *x", "x[i]", "a+b", "0", "x[i] = item")`."""


class GenericDebugScanKernel(GenericScanKernelBase):
    """The same by one work item."""

    _in_one_piece = True


class _OfArrays(GenericScanKernel):
    """A scan from an array to an array."""

    _output = ""

    def __init__(
        self, ctx, dtype, scan_expr, neutral=None, name_prefix="scan", options=None, preamble="", devices=None
    ):
        kind = np.dtype(dtype)
        super().__init__(
            ctx, dtype, [VectorArg(kind, "input_ary"), VectorArg(kind, "output_ary")], "input_ary[i]", scan_expr,
            neutral, self._output, None, None, None, name_prefix, options, preamble, devices,
        )  # fmt: skip

    def __call__(self, input_ary, output_ary=None, allocator=None, queue=None, n=None, wait_for=None):
        """Fold the array: into `output_ary`, a "new" array, or in place. The array."""
        out = input_ary if output_ary is None else output_ary
        if isinstance(out, str) and out == "new":
            out = empty_like(input_ary, allocator=allocator)
        if out.shape != input_ary.shape:
            raise ValueError("input and output must have the same shape")
        if not (input_ary.flags.forc and out.flags.forc):
            raise RuntimeError("Scan cannot deal with non-contiguous arrays")
        size = input_ary.size if n is None else n
        super().__call__(input_ary, out, allocator=allocator, queue=queue, size=size, wait_for=wait_for)
        return out


class InclusiveScanKernel(_OfArrays):
    """`InclusiveScanKernel(ctx, np.int32, "a+b")`: out[i] is the fold of the elements up to i."""

    _output = "output_ary[i] = item;"

    def __init__(self, ctx, dtype, scan_expr, neutral=None, *args, **keywords):
        super().__init__(ctx, dtype, scan_expr, "0" if neutral is None else neutral, *args, **keywords)


class ExclusiveScanKernel(_OfArrays):
    """`ExclusiveScanKernel(ctx, np.int32, "a+b", "0")`: out[i] is the fold of the elements before i."""

    _output = "output_ary[i] = prev_item;"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.scan.{name}")
