"""Random numbers of samplers and loaders: those of a generator, or of the process."""

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
