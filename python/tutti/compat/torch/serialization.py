"""torch.serialization: what files may name."""

from ._saving import add_safe_globals, clear_safe_globals, get_safe_globals, load, safe_globals, save

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
