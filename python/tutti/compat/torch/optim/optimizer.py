"""torch.optim.optimizer"""

from ....optim import Optimizer

__all__ = ["Optimizer"]
