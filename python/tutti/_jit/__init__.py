"""Python functions and kernels that are compiled: tt.jit, tt.prange, tt.vectorize, tt.cuda.jit.

dispatch.py is what the decorators give, front.py turns source into the tree that the library types, cuda_names.py has
the names of kernels, step.py runs them one thread at a time in Python.
"""

from .dispatch import jit, njit


class _Prange:
    """range() whose turns may run in parallel inside a compiled function."""

    _jit_name = "prange"

    def __call__(self, *bounds):
        return range(*bounds)


prange = _Prange()

__all__ = ["jit", "njit", "prange"]
