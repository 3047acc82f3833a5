"""The names of Numba's CUDA dialect: @cuda.jit, what kernels say, and memory of a device.

tutti/cuda takes them in. Without a GPU the device is the CPU: device arrays lie in its memory, kernels run on its
cores, and a launch has ended when it returns.
"""

from . import cuda_kernels, cuda_memory, cuda_words
from .cuda_kernels import *  # noqa: F403
from .cuda_memory import *  # noqa: F403
from .cuda_words import *  # noqa: F403

__all__ = sorted([*cuda_kernels.__all__, *cuda_memory.__all__, *cuda_words.__all__])
