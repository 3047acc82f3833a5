"""keras.layers over tutti.nn.functional."""

from .._layer import InputSpec, Layer
from . import _conv, _conv_lstm, _images, _lookup
from ._attention import AdditiveAttention, Attention, MultiHeadAttention
from ._core import (
    ELU,
    Activation,
    ActivityRegularization,
    AlphaDropout,
    Dense,
    Dropout,
    EinsumDense,
    Embedding,
    GaussianDropout,
    GaussianNoise,
    Identity,
    Input,
    InputLayer,
    Lambda,
    LeakyReLU,
    Masking,
    Normalization,
    PReLU,
    ReLU,
    Rescaling,
    Softmax,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
    Wrapper,
)
from ._norm import (
    BatchNormalization,
    GroupNormalization,
    LayerNormalization,
    RMSNormalization,
    SpectralNormalization,
    UnitNormalization,
)
from ._recurrent import (
    GRU,
    LSTM,
    RNN,
    Bidirectional,
    GRUCell,
    LSTMCell,
    SimpleRNN,
    SimpleRNNCell,
    StackedRNNCells,
    TimeDistributed,
)
from ._shapes import (
    Add,
    Average,
    Concatenate,
    Cropping1D,
    Cropping2D,
    Cropping3D,
    Dot,
    Flatten,
    Maximum,
    Minimum,
    Multiply,
    Permute,
    RepeatVector,
    Reshape,
    Subtract,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)

globals().update({name: getattr(_conv, name) for name in (*_conv.NAMES, *_conv.ALIASES)})
globals().update({name: getattr(part, name) for part in (_conv_lstm, _images, _lookup) for name in part.NAMES})
__all__ = [
    "Activation", "ActivityRegularization", "Add", "AdditiveAttention", "AlphaDropout", "Attention", "Average",
    "BatchNormalization", "Bidirectional", "Concatenate", "Cropping1D", "Cropping2D", "Cropping3D", "Dense", "Dot",
    "Dropout", "ELU", "EinsumDense", "Embedding", "Flatten", "GRU", "GRUCell", "GaussianDropout", "GaussianNoise",
    "GroupNormalization", "Identity", "Input", "InputLayer", "InputSpec", "LSTM", "LSTMCell", "Lambda", "Layer",
    "LayerNormalization", "LeakyReLU", "Masking", "Maximum", "Minimum", "MultiHeadAttention", "Multiply",
    "Normalization", "PReLU", "Permute", "RMSNormalization", "RNN", "ReLU", "RepeatVector", "Rescaling", "Reshape",
    "SimpleRNN", "SimpleRNNCell", "Softmax", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
    "SpectralNormalization", "StackedRNNCells", "Subtract", "TimeDistributed", "UnitNormalization", "UpSampling1D",
    "UpSampling2D", "UpSampling3D", "Wrapper", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D", "add", "average",
    "concatenate", "dot", "maximum", "minimum", "multiply", "subtract", *_conv.NAMES, *_conv.ALIASES,
    *_conv_lstm.NAMES, *_images.NAMES, *_lookup.NAMES,
]  # fmt: skip


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.layers.{name}")
