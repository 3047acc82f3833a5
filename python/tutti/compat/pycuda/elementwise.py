"""pycuda.elementwise: ElementwiseKernel, with arguments and operation written as C."""

import tutti as _tt

from .driver import Function
from .gpuarray import _plain

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

    def __call__(self, *args, range=None, slice=None, stream=None):  # noqa: A002 (PyCUDA's names)
        if range is not None or slice is not None:
            raise NotImplementedError("range= and slice= are not covered")
        if self._function is None:
            from .compiler import SourceModule

            module = SourceModule(self._source, options=list(self._options))
            self._function = Function(module._program, self._name)
        given = [_plain(a) for a in args]
        n = next(a.size for a, v in zip(given, self._is_vector, strict=False) if v)
        self._function(*given, n, block=(_BLOCK, 1, 1), grid=(max(-(-n // _BLOCK), 1), 1))
