"""keras.mixed_precision: the policy of layers that say nothing of their type."""

from .config import dtype_policy, set_dtype_policy
from .dtype_policies import DTypePolicy
from .optimizers import LossScaleOptimizer

global_policy, set_global_policy, Policy = dtype_policy, set_dtype_policy, DTypePolicy
__all__ = [
    "DTypePolicy", "LossScaleOptimizer", "Policy", "dtype_policy", "global_policy", "set_dtype_policy",
    "set_global_policy",
]  # fmt: skip
