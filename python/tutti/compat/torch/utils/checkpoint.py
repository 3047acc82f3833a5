"""torch.utils.checkpoint: what is computed again on the way back."""

from ....autograd import checkpoint as _checkpoint

__all__ = ["checkpoint"]


def checkpoint(function, *args, use_reentrant=None, **kwargs):
    """A function of which nothing is kept."""
    return _checkpoint(function, *args, **kwargs)
