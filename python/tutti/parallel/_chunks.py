"""How many items a message has, and the seeds of items. It imports none of the package: workers load it by path."""

import sys

MOST = 10_000
_AIM = 0.016  # seconds of work in a message, where there is enough of it
_SOON = 0.004  # where somebody waits for the next result
_LONG = 0.02  # a worker with this much to do gets nothing more to wait behind it


def size(seconds, left, workers, soon=False):
    """Items for the next message.

    Parameters
    ----------
    seconds : float
        What an item takes; 0 where nobody knows.
    left : int or None
        Items that are left, if it is known.
    workers : int
        How many share them.
    soon : bool
        Results are wanted one by one.
    """
    n = MOST if seconds <= 0 else (_SOON if soon else _AIM) / seconds
    if left is not None:  # smaller towards the end, so that all end together
        n = min(n, left / (2 * workers))
    return max(1, min(MOST, int(n)))


def queues(seconds):
    """May a message with that much work wait behind another one?"""
    return seconds < _LONG


def item_seed(seed, number):
    """The seed of an item, 64 bits: of the call's and the item's number alone, whoever works on it."""
    x = (seed * 0x9E3779B97F4A7C15 + (number + 1) * 0xD1B54A32D192ED03) & 0xFFFFFFFFFFFFFFFF
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = ((x ^ (x >> shift)) * factor) & 0xFFFFFFFFFFFFFFFF
    return x ^ (x >> 31)


def seed_all(seed):
    """Seed what functions draw from without a generator of their own: Python's, NumPy's and ours."""
    import random

    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed & 0xFFFFFFFF)
    if "tutti" in sys.modules:
        sys.modules["tutti"]._core.functions["random.seed"](seed)


class Streams:
    """The random numbers of a call's items, in a process that has others to go on with."""

    def __init__(self, seed):
        self.seed = seed

    def __enter__(self):
        import random

        self._python = random.getstate()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy and numpy.random.get_state()
        self._shared = sys.modules["tutti._core"].functions["generator.shared"]
        self._ours = self._shared()
        return self

    def begin(self, number):
        """Before an item."""
        seed_all(item_seed(self.seed, number))

    def __exit__(self, *what):
        import random

        random.setstate(self._python)
        if self._numpy:
            sys.modules["numpy"].random.set_state(self._numpy)
        self._shared(self._ours)
