"""PyTorch's names over tutti: tensors with its methods and rules, networks, optimisers, gradients.

Replace `import torch` by `import tutti.compat.torch as torch`, or run the script by `python -m tutti run`.
"""

import tutti as _tt

from ... import _core
from ... import autograd as _autograd
from . import _functions, _making
from ._making import *  # noqa: F403
from ._random import *  # noqa: F403
from ._tensor import Size, Tensor, device, dtype

__version__ = "2.15.0"

__all__ = ["Size", "Tensor", "device", "dtype"]

bool, uint8, uint16, uint32, uint64 = map(dtype, ("bool", "uint8", "uint16", "uint32", "uint64"))
int8, int16, int32, int64 = map(dtype, ("int8", "int16", "int32", "int64"))
float16, bfloat16, float32, float64 = map(dtype, ("float16", "bfloat16", "float32", "float64"))
complex64, complex128 = map(dtype, ("complex64", "complex128"))
short, int, long, half, float, double = int16, int32, int64, float16, float32, float64
cfloat, cdouble = complex64, complex128
finfo, iinfo = _tt.finfo, _tt.iinfo
strided, contiguous_format, channels_last, preserve_format = "torch.strided", "contiguous", "channels_last", "preserve"
pi, e, inf, nan, newaxis = _tt.pi, _tt.e, _tt.inf, _tt.nan, None

for _name, _value in _functions.functions.items():
    if _name not in ("int", "float", "bool"):
        globals()[_name] = _value
range = _functions.arange

for _name, _type in {
    "Float": float32, "Double": float64, "Half": float16, "BFloat16": bfloat16, "Long": int64, "Int": int32,
    "Short": int16, "Char": int8, "Byte": uint8, "Bool": bool,
}.items():  # fmt: skip
    globals()[_name + "Tensor"] = _making.typed(_type)

no_grad, enable_grad, set_grad_enabled = _autograd.no_grad, _autograd.enable_grad, _autograd.set_grad_enabled
is_grad_enabled = _autograd.is_grad_enabled


def inference_mode(mode=True):
    """A block, or a function, in which nothing is followed."""
    if callable(mode):
        return no_grad()(mode)
    return no_grad() if mode else enable_grad()


def get_default_dtype():
    """The type of floats that nobody named."""
    return _core._tensor_float(None)


def set_default_dtype(d):
    """From now on floats that nobody named are of this type."""
    _core._tensor_float(d)


def set_default_tensor_type(t):
    """The same, by the name of a class of tensors."""
    _core._tensor_float({"DoubleTensor": float64, "HalfTensor": float16}.get(str(t).rpartition(".")[2], float32))


def set_default_device(device):
    """From now on tensors are made there."""
    _core._set_device(_tt.device(str(device))._number)


def get_default_device():
    return device("cpu")


def compile(model=None, **how):
    """The function or module: what it does is recorded, fused and compiled by itself."""
    return (lambda model: model) if model is None else model


def set_float32_matmul_precision(precision):
    """How factors are rounded."""
    _tt.set_matmul_precision(precision)


def get_num_threads():
    return _tt.get_num_threads()


def set_num_threads(n):
    _tt.set_num_threads(n)


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Results are always the same for the same seed."""


def are_deterministic_algorithms_enabled():
    return True


def is_storage(obj):
    return False


def numel(input):
    return input.numel()


def get_device_module(device=None):
    return cuda


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed: tutti's settings."""
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _tt.set_printoptions(**{name: value for name, value in given.items() if value is not None})


from . import autograd, cuda, func, linalg, nn, optim  # noqa: E402, F401 (they use the names above)
from ._saving import load, save  # noqa: E402, F401
from .func import vmap  # noqa: E402, F401

_AMP = "get_autocast_dtype is_autocast_available is_autocast_enabled".split()
# Functions of networks that are here, too.
_OF_NETWORKS = """
adaptive_avg_pool1d alpha_dropout avg_pool1d bilinear binary_cross_entropy_with_logits celu channel_shuffle conv1d
conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity
ctc_loss dropout feature_alpha_dropout group_norm hardshrink hinge_embedding_loss kl_div layer_norm margin_ranking_loss
max_pool1d max_pool2d max_pool3d pairwise_distance pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu rms_norm
rrelu selu threshold triplet_margin_loss
""".split()
_LATER = """
accelerator amp backends compiler distributed distributions fft jit onnx random serialization special testing utils
""".split()


def __getattr__(name):
    if name in _LATER:
        from importlib import import_module

        return import_module("." + name, __name__)
    if name in _OF_NETWORKS:
        return getattr(nn.functional, name)
    if name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name):
        return getattr(Tensor, name)
    if name == "autocast" or name in _AMP:
        return getattr(_tt.amp, name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.{name}")
