"""jax.ad_checkpoint: what is computed again. Policies are taken, and everything is computed again whatever they say."""

from . import checkpoint, remat

__all__ = ["checkpoint", "checkpoint_name", "checkpoint_policies", "remat"]


def checkpoint_name(x, name):
    """The value."""
    return x


class _Policies:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name if name in _PLAIN else lambda *args, **kwargs: name


_PLAIN = (
    "everything_saveable", "nothing_saveable", "dots_saveable", "checkpoint_dots", "dots_with_no_batch_dims_saveable",
    "checkpoint_dots_with_no_batch_dims",
)  # fmt: skip
checkpoint_policies = _Policies()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.ad_checkpoint.{name}")
