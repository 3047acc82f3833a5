"""CuPy's second package over tutti: kernels in Python (jit), timing (profiler), special functions (scipy)."""

import contextlib

import tutti as _tt

from . import jit, profiler, scipy

__all__ = [
    "empty_like_pinned", "empty_pinned", "errstate", "geterr", "jit", "profiler", "rsqrt", "scatter_add", "scatter_max",
    "scatter_min", "scipy", "seterr", "zeros_like_pinned", "zeros_pinned",
]  # fmt: skip


def rsqrt(x):
    """One over the square root."""
    return 1 / _tt.sqrt(x)


def scatter_add(a, slices, value):
    """Add values to a[slices], as often as a place is named."""
    _tt.add.at(a, slices, value)


def scatter_max(a, slices, value):
    """Let a[slices] be the largest of itself and the values for its place."""
    _tt.maximum.at(a, slices, value)


def scatter_min(a, slices, value):
    """Let a[slices] be the smallest of itself and the values for its place."""
    _tt.minimum.at(a, slices, value)


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array in memory that a GPU copies at full speed."""
    from ..pycuda.driver import pagelocked_empty  # here: most programs ask for none

    return pagelocked_empty(shape, dtype, order)


def zeros_pinned(shape, dtype=float, order="C"):
    """As `empty_pinned`, of zeros."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """`empty_pinned` in the shape, the type and the order of an array."""
    fortran = order == "F" or (order in ("A", "K") and a.flags.f_contiguous and not a.flags.c_contiguous)
    return empty_pinned(a.shape if shape is None else shape, dtype or a.dtype, "F" if fortran else "C")


def zeros_like_pinned(a, dtype=None, order="K", subok=None, shape=None):
    """As `empty_like_pinned`, of zeros."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


def geterr():
    """What `seterr` set; of floating-point errors nothing is known."""
    deferred = _tt._core._defer_checks(False)
    _tt._core._defer_checks(deferred)
    return {**dict.fromkeys(("divide", "over", "under", "invalid")), "linalg": "ignore" if deferred else "raise"}


def seterr(*, divide=None, over=None, under=None, invalid=None, linalg=None):
    """When a LinAlgError comes, in this thread: of the call ("raise"), or when somebody looks ("ignore")."""
    before = geterr()
    if (divide, over, under, invalid) != (None,) * 4 or linalg not in (None, "ignore", "raise"):
        raise NotImplementedError("only linalg='ignore' and linalg='raise' can be set")
    if linalg:
        _tt._core._defer_checks(linalg == "ignore")
    return before


@contextlib.contextmanager
def errstate(**state):
    """`seterr` for a block or a function."""
    before = seterr(**state)
    try:
        yield
    finally:
        seterr(**before)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.{name}")
