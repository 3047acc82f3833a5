"""pycuda.cumath: functions of each element of a GPUArray."""

import tutti as _tt

from .gpuarray import GPUArray, _plain

_NAMES = {
    "ceil": "ceil", "floor": "floor", "fabs": "fabs", "exp": "exp", "log": "log", "log10": "log10", "sqrt": "sqrt",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip


def _function(name):
    f = getattr(_tt, name)

    def function(array, stream_or_out=None, *, out=None, stream=None):
        out = stream_or_out if out is None and isinstance(stream_or_out, GPUArray) else out
        result = f(_plain(array))
        if out is None:
            return GPUArray._of(result)
        out[...] = GPUArray._of(result)
        return out

    return function


for _ours, _theirs in _NAMES.items():
    globals()[_ours] = _function(_theirs)


def fmod(x, y, stream=None):
    return GPUArray._of(_tt.fmod(_plain(x), _plain(y)))


def ldexp(x, e, stream=None):
    return GPUArray._of(_plain(x) * 2.0 ** _tt.trunc(_plain(e)))
