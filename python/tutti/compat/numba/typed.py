"""numba.typed: containers of one type, for compiled functions."""

from ..._jit.containers import Dict, List

__all__ = ["Dict", "List"]
