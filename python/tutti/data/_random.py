"""Random numbers of samplers and loaders: those of a generator, or of the process; and those of each batch."""

import random as _python
import sys

from .. import random


def permutation(generator, n):
    """The numbers below n in random order."""
    return (generator or random).permutation(n)


def integers(generator, n, size):
    """Numbers below n."""
    return generator.integers(0, n, size) if generator else random.randint(0, n, size)


def choice(generator, n, size, replace, p):
    """Numbers below n, each as often as p says."""
    return (generator or random).choice(n, size, replace, p)


def seed(generator):
    """A seed for what is to be drawn apart from the generator itself."""
    return int(integers(generator, 1 << 62, None))


def of_batch(seed, number):
    """The seed of a batch, whoever makes it."""
    return (seed + (number + 1) * 0x9E3779B97F4A7C15) % (1 << 64)


def seed_all(seed):
    """Seed what samples may draw from without a generator of their own: ours, Python's and NumPy's old functions."""
    random.seed(seed)
    _python.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


class Streams:
    """Random numbers of one batch, in a process that has others to go on with: `with streams.of(seed)`."""

    def __init__(self):
        self._bits = None

    def of(self, seed):
        """Draws are the batch's until `with` is left."""
        self._seed = seed
        return self

    def __enter__(self):
        self._ours, self._pythons = random.get_state(), _python.getstate()
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            self._bits = self._bits or numpy.random.MT19937(0)
            self._numpys = numpy.random.get_bit_generator()
            numpy.random.set_bit_generator(self._bits)
        seed_all(self._seed)

    def __exit__(self, *what):
        random.set_state(self._ours)
        _python.setstate(self._pythons)
        if self._bits is not None:
            sys.modules["numpy"].random.set_bit_generator(self._numpys)
