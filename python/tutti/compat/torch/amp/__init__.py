"""torch.amp: tutti's narrow types for products, and scaled losses."""

from .... import amp as _amp
from ....amp import GradScaler, autocast, custom_bwd, custom_fwd

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
is_autocast_available = _amp.is_autocast_available
