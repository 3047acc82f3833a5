"""Random numbers: the rows `random.*` of the function table, and generators of one's own over its rows `generator.*`.

The numbers are Philox's: a pure function of the seed and of how many were drawn before, the same on every machine and
for any number of threads. A call begins with a block of 16 bytes of its own, four float32 or two draws of 8 bytes. They
are not NumPy's numbers for the same seed.
"""

from . import _core, _table

_rows = {name.removeprefix("generator."): f for name, f in _core.functions.items() if name.startswith("generator.")}


class Generator:
    """A source of random numbers with a state of its own; made by default_rng()."""

    __slots__ = ("_state",)

    def __init__(self, seed=None):
        self._state = _rows["new"](seed)

    def bytes(self, length):
        """Random bytes."""
        return self.integers(0, 256, length, dtype="uint8").tobytes()

    def spawn(self, n_children):
        """New generators, independent of this one and of each other."""
        return [Generator(self.integers(0, 2**64 - 1, 2, dtype="uint64", endpoint=True)) for _ in range(n_children)]

    def __getstate__(self):
        return self._state.tolist()

    def __setstate__(self, state):
        self._state = _core.array(state, dtype="uint64")

    def __repr__(self):
        return "Generator(Philox)"


def _method(name, row):
    def method(self, *args, **kwargs):
        return row(self._state, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Generator.{name}"
    method.__doc__ = row.__doc__
    return method


for _name, _row in _rows.items():
    if _name != "new":
        setattr(Generator, _name, _method(_name, _row))


def default_rng(seed=None):
    """A generator from a seed (an integer or several), or from the system's entropy."""
    return seed if isinstance(seed, Generator) else Generator(seed)


_tables = _table.fill(globals(), "random")

random_sample = ranf = sample = globals()["random"]


def bytes(length):  # noqa: A001 (NumPy's name)
    """Random bytes."""
    return globals()["randint"](0, 256, length, dtype="uint8").tobytes()


__all__ = [*_tables, "Generator", "bytes", "default_rng", "random_sample", "ranf", "sample"]
