"""torch.nn.attention: who computes attention. Here one kernel does, whatever is asked for."""

import contextlib as _contextlib
import enum as _enum

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(_enum.IntEnum):
    """PyTorch's kernels."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@_contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """A block that changes nothing."""
    yield
