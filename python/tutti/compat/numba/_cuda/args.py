"""numba.cuda.args: what a kernel's extensions make of its arguments."""

from ...._jit.cuda_memory import In, InOut, Out

__all__ = ["In", "InOut", "Out", "wrap_arg"]


def wrap_arg(value, default=InOut):
    """An argument as In, Out or InOut say, or as `default` does."""
    return value if isinstance(value, (In, InOut)) else default(value)
