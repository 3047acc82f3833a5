"""torch.distributed: one process."""

__all__ = [
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
]


def is_available():
    return False


def is_initialized():
    return False


def get_rank(group=None):
    return 0


def get_world_size(group=None):
    return 1


def init_process_group(*args, **how):
    """There is one process."""
    raise RuntimeError("tutti.compat.torch does not cover training in several processes")


def destroy_process_group(group=None):
    """There is none."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.distributed.{name}")
