"""pyopencl.elementwise: ElementwiseKernel, with arguments and operation written as OpenCL C."""

import builtins

import numpy as np

from . import _snippets
from .tools import ScalarArg, VectorArg, dtype_to_ctype  # noqa: F401 (programs take them from here)

_TEXT = """{preamble}
#define PYOPENCL_ELWISE_CONTINUE continue
__kernel void {name}({parameters}) {{
  {piece}
  long i;
  {loop_prep};
  {loop} {{
    {step}
    {operation}
  }}
  {after_loop};
}}
"""
_ALL = "for (i = tt_first; i < tt_end; i++)", ""
# A range: as many steps, each of which says where it is.
_RANGE = "for (long tt_k = tt_first; tt_k < tt_end; tt_k++)", "i = start + tt_k * step;"


class ElementwiseKernel:
    """`ElementwiseKernel(context, "float a, float *x, float *z", "z[i] = a * x[i]", "scale")`."""

    def __init__(self, context, arguments, operation, name="elwise_kernel", options=None, **kwargs):
        self.context, self.arguments, self.operation = context, arguments, operation
        self.name, self.options, self.kwargs = name, options, kwargs
        unknown = set(kwargs) - {"preamble", "loop_prep", "after_loop", "auto_preamble"}
        if unknown:
            raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
        self._parameters = _snippets.Parameters(arguments)
        if not self._parameters.vectors:
            raise RuntimeError(
                "ElementwiseKernel can only be used with functions that have at least one vector argument"
            )
        self._made = {}

    def _kernel(self, use_range):
        if use_range not in self._made:
            loop, step = _RANGE if use_range else _ALL
            more = ("long start", "long stop", "long step") if use_range else ("long n",)
            text = _TEXT.format(
                preamble=_snippets.preamble(self._parameters.dtypes(), self.kwargs.get("preamble", "")),
                name=self.name, parameters=self._parameters.declared(*more, "long tt_n", "long tt_piece"),
                piece=_snippets.PIECE, loop=loop, step=step, operation=_snippets.statement(self.operation),
                loop_prep=self.kwargs.get("loop_prep", ""), after_loop=self.kwargs.get("after_loop", ""),
            )  # fmt: skip
            self._made[use_range] = _snippets.build(self.context, text, self.name, self.options)
        return self._made[use_range]

    def get_kernel(self, use_range):
        """The kernel itself, and its parameters."""
        return self._kernel(use_range), self._parameters.all

    def __call__(self, *args, range=None, slice=None, queue=None, wait_for=None, capture_as=None):  # noqa: A002
        array = self._parameters.first_array(args)
        if array is None and (range is None or queue is None):
            raise TypeError("without an array among the arguments, range= and queue= are needed")
        if slice is not None:
            if range is not None:
                raise TypeError("may not specify both range and slice keyword arguments")
            range = builtins.slice(*slice.indices(array.size))  # noqa: A001
        given = self._parameters.given(args)
        if range is None:
            n, places = array.size, (array.size,)
        else:
            places = range.start or 0, range.stop, 1 if range.step is None else range.step
            n = len(builtins.range(*places))
        queue = queue or array.queue
        kernel = self._kernel(range is not None)
        if not n:
            return queue._do("NDRANGE_KERNEL", lambda: None, wait_for)
        count, piece = _snippets.pieces(n, queue)
        given += [np.int64(v) for v in (*places, n, piece)]
        return _snippets.launch(kernel, queue, count, given, _snippets.ready(wait_for, args))


def complex_dtype_to_name(dtype):
    """cfloat or cdouble."""
    return dtype_to_ctype(dtype).removesuffix("_t")


def real_dtype(dtype):
    """The type of a complex type's parts."""
    return np.empty(0, dtype).real.dtype


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.elementwise.{name}")
