"""Networks: modules, layers and losses with PyTorch's names; functions in :mod:`tutti.nn.functional`.

import tutti as tt
model = tt.nn.Sequential(tt.nn.Linear(2, 8), tt.nn.Tanh(), tt.nn.Linear(8, 1))
print(model(tt.ones((4, 2), dtype="float32")).shape)  # (4, 1)
"""

from . import _layers, functional
from ._module import Module, ModuleDict, ModuleList, Parameter, ParameterDict, ParameterList, Sequential

_HERE = [functional, Module, ModuleDict, ModuleList, Parameter, ParameterDict, ParameterList, Sequential]

# Names with the module that is loaded when one is asked for.
_LATER = {
    "_bag": "EmbeddingBag",
    "_borders": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
    "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d Upsample "
    "UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d",
    "_lazy": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d "
    "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear",
    "_more_layers": "AdaptiveLogSoftmaxWithLoss CrossMapLRN2d GaussianNLLLoss LinearCrossEntropyLoss MaxUnpool1d "
    "MaxUnpool2d MaxUnpool3d Softmax2d TripletMarginWithDistanceLoss",
    "_recurrent": "GRU GRUCell LSTM LSTMCell RNN RNNCell",
    "_transformer": "MultiheadAttention Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
    "TransformerEncoderLayer",
    "_weighted": "BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d "
    "ConvTranspose3d Embedding Flatten GroupNorm Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d LayerNorm "
    "Linear PReLU RMSNorm RReLU SyncBatchNorm Unflatten",
    "init": "init",
    "utils": "utils",
}
_later = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = sorted(
    [
        *(value.__name__.rpartition(".")[2] for value in _HERE),
        *_later,
        *_layers.names,
    ]
)


def __getattr__(name):
    if name in _layers.names:
        value = _layers.layer(name)
    elif name in _later:
        from importlib import import_module

        module = import_module("." + _later[name], __name__)
        value = module if name == _later[name] else getattr(module, name)
    else:
        raise AttributeError(f"module 'tutti.nn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return __all__
