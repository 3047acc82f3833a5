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
    """A function of scalars becomes one of arrays, with broadcasting.

    Parameters
    ----------
    *args : function, str or sequence of str
        The function; or the signatures, and a decorator is given.
    **options : object
        target="parallel": on all cores; "cuda": a kernel. identity: what reduce begins with. NumPy's otypes, doc,
        excluded, cache and signature, with which the function is called from Python.

    Returns
    -------
    function
        The function of arrays, or a decorator.

    Examples
    --------
    >>> double = tt.vectorize(lambda x: 2 * x)
    >>> callable(double)
    True
    """
    from . import elementwise

    return elementwise.vectorize(*args, **options)


def guvectorize(*args, **options):
    """A function of small arrays over all axes before them: guvectorize("(n),()->(n)").

    Parameters
    ----------
    *args : str or sequence of str
        Signatures, where there are some, and the layout of the axes.
    **options : object
        target="parallel": on all cores; "cuda": a kernel.

    Returns
    -------
    function
        A decorator.

    Examples
    --------
    >>> decorate = tt.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    """
    from . import elementwise

    return elementwise.guvectorize(*args, **options)


def stencil(*args, **options):
    """A function of relative indices, a[0, 1] + a[0, -1], becomes one of whole arrays.

    Parameters
    ----------
    *args : function
        The function; without one a decorator is given.
    **options : object
        cval: what stands at the borders. neighborhood: how far it looks. standard_indexing: names of arrays that are
        indexed as usual.

    Returns
    -------
    function
        The stencil, or a decorator.

    Examples
    --------
    >>> decorate = tt.stencil(cval=1.0)
    """
    from . import elementwise

    return elementwise.stencil(*args, **options)


__all__ = ["guvectorize", "jit", "njit", "prange", "stencil", "vectorize"]
