"""pycuda.elementwise: ElementwiseKernel, with arguments and operation written as C."""

import tutti as _tt
from tutti import _core
from tutti._expression_kernel import expression

from .driver import Function
from .gpuarray import GPUArray, _plain

_BLOCK = 256


class VectorArg:
    def __init__(self, dtype, name):
        self.dtype, self.name = dtype, name


class ScalarArg(VectorArg):
    pass


def _spell(arg):
    from tutti._expression_kernel import _C_TYPES

    star = " *" if type(arg) is VectorArg else " "
    return f"{_C_TYPES[_tt.dtype(arg.dtype).name]}{star}{arg.name}"


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
        source = f"""{preamble}
extern "C" __global__ void {name}({", ".join([*parts, "int n"])}) {{
  {loop_prep};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{
    {operation};
  }}
  {after_loop};
}}
"""
        self._source, self._name, self._options, self._function = source, name, tuple(options or ()), None
        self._parts, self._preamble, self._after = parts, preamble, after_loop
        self._operation = f"{loop_prep};{operation}" if loop_prep else operation
        self._graph = None

    def __call__(self, *args, range=None, slice=None, stream=None):  # noqa: A002 (PyCUDA's names)
        if range is not None or slice is not None:
            raise NotImplementedError("range= and slice= are not covered")
        given = [a if isinstance(a, GPUArray) and a._lies() else _plain(a) for a in args]  # at addresses: in place
        if self._record(given):
            return
        if self._function is None:
            from .compiler import SourceModule

            module = SourceModule(self._source, options=list(self._options))
            self._function = Function(module._program, self._name)
        n = next(a.size for a, v in zip(given, self._is_vector, strict=False) if v)
        self._function(*given, n, block=(_BLOCK, 1, 1), grid=(max(-(-n // _BLOCK), 1), 1))

    def _record(self, given):
        """As operations of the graph, where the text is straight-line and all vectors are arrays."""
        vectors = [a for a, v in zip(given, self._is_vector, strict=False) if v]
        if len(given) != len(self._is_vector) or not all(isinstance(a, _core.ndarray) for a in vectors):
            return False
        if self._graph is None:
            text = ", ".join(self._parts)
            self._graph = (
                "there is something after the loop" if self._after
                else expression(self._name, self._operation, text, (), self._preamble, self._options)
            )  # fmt: skip
        if isinstance(self._graph, str):
            return False
        numbers = (a.item() if not v and hasattr(a, "item") else a for a, v in zip(given, self._is_vector, strict=True))
        _core.expression_call(self._graph, tuple(numbers), -1)
        return True

    def explain(self):
        """The operations of the graph that it became, or why it is compiled as CUDA C; None before the first call."""
        return (
            self._graph if self._graph is None or isinstance(self._graph, str) else _core.expression_text(self._graph)
        )
