"""torch.cuda.amp: the same on GPUs."""

import functools as _functools

from ....amp import GradScaler as _GradScaler
from ....amp import autocast as _autocast

__all__ = ["GradScaler", "autocast"]
GradScaler = _GradScaler
autocast = _functools.partial(_autocast, "cuda")
