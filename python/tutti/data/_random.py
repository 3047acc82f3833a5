"""Random numbers of samplers and loaders: those of a generator, or of the process; and those of each batch."""

import sys

from .. import _core

_seed = _core.functions["random.seed"]
_shared = _core.functions["generator.shared"]


def ours():
    """The module tutti.random, which takes longer to load than tutti.data."""
    from .. import random

    return random


def permutation(generator, n):
    """The numbers below n in random order."""
    return (generator or ours()).permutation(n)


def integers(generator, n, size):
    """Numbers below n."""
    return generator.integers(0, n, size) if generator else ours().randint(0, n, size)


def choice(generator, n, size, replace, p):
    """Numbers below n, each as often as p says."""
    return (generator or ours()).choice(n, size, replace, p)


def seed(generator):
    """A seed for what is to be drawn apart from the generator itself."""
    return int(integers(generator, 1 << 62, None))


def of_batch(seed, number):
    """The seed of a batch, whoever makes it."""
    return (seed + (number + 1) * 0x9E3779B97F4A7C15) % (1 << 64)


def seed_all(seed):
    """Seed what samples may draw from without a generator of their own: ours, Python's and NumPy's old functions."""
    import random

    _seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


class Stream:
    """Our random numbers of one batch, in a process that has others to go on with.

    Python's and NumPy's streams stay the process's, as PyTorch has it: to put them aside costs as much as a batch.
    """

    def __init__(self, seed):
        self._seed = seed

    def __enter__(self):
        self._before = _shared()
        _seed(self._seed)

    def __exit__(self, *what):
        _shared(self._before)
