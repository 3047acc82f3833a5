"""Where kernels run: on the GPU that the thread works on, or on the CPU's cores."""

import sys

from .. import _core
from .._device import checked

_there = None  # numbers of GPUs, once somebody asked
_printing = False


def gpus():
    """The numbers of the GPUs that kernels may run on; none while they are checked, which the CPU does."""
    global _there
    if _there is None:
        _there = [] if checked() else [number for number, _ in _core._devices("cuda")]
    return _there


def gpu():
    """The number of the GPU that this thread's kernels run on: the one it works on, or the first; 0: the CPU."""
    there = gpus()
    if not there:
        return 0
    chosen = _core._get_device()
    return there[0] if chosen < 0 else chosen if chosen in there else 0


def will_print():
    """A GPU's kernel is about to print: what was printed before stands before."""
    global _printing
    _printing = True
    sys.stdout.flush()


def flush():
    """What a GPU's kernels have printed lies in C's buffer: let it out."""
    global _printing
    if _printing:
        import ctypes

        ctypes.CDLL(None).fflush(None)
        _printing = False
