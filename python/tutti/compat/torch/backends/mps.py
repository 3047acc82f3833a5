"""torch.backends.mps"""

__all__ = ["is_available", "is_built"]


def is_available():
    return False


is_built = is_available
