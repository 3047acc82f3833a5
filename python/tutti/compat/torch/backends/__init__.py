"""torch.backends: switches that change nothing here, but for the precision of products."""

from . import cpu, cuda, cudnn, mkl, mps

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mps"]
