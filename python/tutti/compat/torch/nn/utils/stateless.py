"""torch.nn.utils.stateless"""

from ...func import functional_call

__all__ = ["functional_call"]
