"""Python functions and kernels that are compiled: tt.jit, tt.prange, tt.vectorize, tt.cuda.jit.

dispatch.py is what the decorators give, front.py turns source into the tree that the library types, cuda_names.py the
names of kernels, step.py runs them one thread at a time in Python.
"""

from .dispatch import jit, njit


class _Prange:
    """range() whose turns may run in parallel inside a compiled function."""

    _jit_name = "prange"

    def __call__(self, *bounds):
        return range(*bounds)

    def __reduce__(self):
        return "prange"


prange = _Prange()


def vectorize(*args, **options):
    from . import elementwise

    return elementwise.vectorize(*args, **options)


def guvectorize(*args, **options):
    from . import elementwise

    return elementwise.guvectorize(*args, **options)


def stencil(*args, **options):
    from . import elementwise

    return elementwise.stencil(*args, **options)


vectorize.__doc__ = (
    """A function of scalars becomes one of arrays, with broadcasting; target="parallel": on all cores."""
)
guvectorize.__doc__ = """A function of small arrays over all axes before them: guvectorize("(n),()->(n)")."""
stencil.__doc__ = """A function of relative indices, a[0, 1] + a[0, -1], becomes one of whole arrays."""

__all__ = ["guvectorize", "jit", "njit", "prange", "stencil", "vectorize"]
