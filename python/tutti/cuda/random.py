"""Random numbers in kernels: xoroshiro128+, one state a thread.

States are a device array of n rows of two uint64, made by create_xoroshiro128p_states. Inside a kernel
xoroshiro128p_uniform_float32(states, index) and its kin draw from row `index` and move it on. States and uniform
numbers are Numba's own, bit for bit, on the CPU and on every GPU.
"""

import math

from .._jit.cuda_kernels import DeviceFunction
from .._jit.cuda_memory import need_numpy, to_device
from .._jit.dispatch import Compiled

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "init_xoroshiro128p_states_cpu",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

_MASK = (1 << 64) - 1


def _first_state(seed):
    z = (seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    z ^= z >> 31
    return z, z


def _spread(states, skip):
    """Row 0 holds a state; each row gets that 2**64 numbers after the row before, row 0 that `skip` jumps later."""
    s0, s1 = int(states[0, 0]), int(states[0, 1])
    for k in range(-skip, states.shape[0]):
        if k >= 0:
            states[k, 0] = s0
            states[k, 1] = s1
        j0, j1 = s0 & 0, s0 & 0
        for half in range(2):
            word = 0xD86B048B86AA9922 if half else 0xBEAC0467EBA5FACB
            for bit in range(64):
                if word >> bit & 1:
                    j0 ^= s0
                    j1 ^= s1
                t = s0 ^ s1
                s0 = ((s0 << 55 | s0 >> 9) ^ t ^ (t << 14)) & _MASK
                s1 = (t << 36 | t >> 28) & _MASK
        s0, s1 = j0, j1


_spread = Compiled(_spread, 0)


def init_xoroshiro128p_states_cpu(states, seed, subsequence_start=0):
    """Fill NumPy states, uint64 of shape (n, 2): row k begins (subsequence_start + k) * 2**64 numbers after `seed`."""
    if len(states):
        states[0] = _first_state(seed)
        _spread(states, subsequence_start)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """The same for states on a device, in place. `stream` is accepted; the copies wait."""
    np = need_numpy()
    host = np.empty((states.shape[0], 2), np.uint64)
    init_xoroshiro128p_states_cpu(host, seed, subsequence_start)
    states.copy_to_device(host if states.dtype.kind == "u" else host.view(states.dtype).reshape(-1))


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """States for n threads, a device array of uint64 of shape (n, 2); no thread meets another's numbers."""
    np = need_numpy()
    states = np.empty((n, 2), np.uint64)
    init_xoroshiro128p_states_cpu(states, seed, subsequence_start)
    return to_device(states)


def xoroshiro128p_next(states, index):
    """A uint64 from row `index` of the states, which moves on."""
    s0 = states[index, 0]
    s1 = states[index, 1]
    result = s0 + s1
    s1 ^= s0
    states[index, 0] = (s0 << 55 | s0 >> 9) ^ s1 ^ (s1 << 14)
    states[index, 1] = s1 << 36 | s1 >> 28
    return result


xoroshiro128p_next = DeviceFunction(xoroshiro128p_next, 0)


def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1): the upper 53 bits of the next number."""
    return (xoroshiro128p_next(states, index) >> 11) * (1.0 / 9007199254740992.0)


xoroshiro128p_uniform_float64 = DeviceFunction(xoroshiro128p_uniform_float64, 0)


def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1], the float64 rounded."""
    return _f32((xoroshiro128p_next(states, index) >> 11) * (1.0 / 9007199254740992.0))


def xoroshiro128p_normal_float64(states, index):
    """A float64 of mean 0 and variance 1 (Box and Muller's transform of two uniform numbers)."""
    u1 = xoroshiro128p_uniform_float64(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return math.sqrt(-2.0 * math.log(1.0 - u1)) * math.cos(6.283185307179586 * u2)


def xoroshiro128p_normal_float32(states, index):
    """A float32 of mean 0 and variance 1: the float64 rounded."""
    u1 = xoroshiro128p_uniform_float64(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return _f32(math.sqrt(-2.0 * math.log(1.0 - u1)) * math.cos(6.283185307179586 * u2))


class _Float32:
    """float32(x) in kernels; the nearest of Python's floats in step mode."""

    _jit_dtype = "float32"
    __name__ = "float32"

    def __call__(self, x):
        return need_numpy().float32(x)


_f32 = _Float32()
xoroshiro128p_uniform_float32 = DeviceFunction(xoroshiro128p_uniform_float32, 0)
xoroshiro128p_normal_float32 = DeviceFunction(xoroshiro128p_normal_float32, 0)
xoroshiro128p_normal_float64 = DeviceFunction(xoroshiro128p_normal_float64, 0)
