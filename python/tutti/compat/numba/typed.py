"""numba.typed: containers of one type, for compiled functions."""

from ..._jit.containers import List

__all__ = ["List"]
