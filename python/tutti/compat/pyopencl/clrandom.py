"""pyopencl.clrandom: arrays of random numbers. The numbers are tutti's, not those of PyOpenCL's generators."""

import numpy as np

import tutti as _tt

from . import cltypes
from .array import Array, _at, _queue_of, _shape


def _drawn(draw, shape, kind):
    """(numbers of tutti's, the type of the array): those of vectors lie along a last axis."""
    element, count = cltypes.vec_type_to_scalar_and_count.get(kind, (kind, None))
    if element.kind not in "iuf" or element.itemsize < 4:
        raise TypeError(f"unsupported random numbers: {kind}")
    whole = shape if count is None else (*shape, kind.itemsize // element.itemsize)
    with _at():
        made = draw(whole, element)
        _tt.eval(made)
    return made


class Random123GeneratorBase:
    """A source of random numbers of its own."""

    def __init__(self, context, key=None, counter=None, seed=None):
        self.context = context
        if key is not None and not isinstance(key, int):
            key = int.from_bytes(np.asarray(key, np.uint32).tobytes(), "little")
        words = [v if isinstance(v, int) else int.from_bytes(np.asarray(v, np.uint32).tobytes(), "little")
                 for v in (key, counter, seed) if v is not None]  # fmt: skip
        self._generator = _tt.random.default_rng(words or None)

    def _uniform(self, shape, kind, a, b):
        def draw(whole, element):
            if element.kind in "iu":
                return self._generator.integers(int(a), int(b), whole, dtype=element.name)
            numbers = self._generator.random(whole, dtype=element.name)
            return numbers if (a, b) == (0, 1) else a + numbers * element.type(b - a)

        return _drawn(draw, shape, kind)

    def _normal(self, shape, kind, mu, sigma):
        def draw(whole, element):
            if element.kind != "f":
                raise TypeError(f"unsupported random numbers: {kind}")
            return mu + self._generator.standard_normal(whole, dtype=element.name) * element.type(sigma)

        return _drawn(draw, shape, kind)

    def fill_uniform(self, ary, a=0, b=1, queue=None):
        """Numbers from a up to b into an array, and the event."""
        return _fill(ary, self._uniform(ary.shape, ary.dtype, a, b), queue)

    def fill_normal(self, ary, mu=0, sigma=1, queue=None):
        """Numbers around mu into an array, and the event."""
        return _fill(ary, self._normal(ary.shape, ary.dtype, mu, sigma), queue)

    def uniform(self, queue, shape, dtype, order="C", allocator=None, a=0, b=1, **_others):
        """An array of numbers from a up to b."""
        return _made(queue, shape, dtype, order, allocator, lambda n, kind: self._uniform(n, kind, a, b))

    def normal(self, queue, shape, dtype, order="C", allocator=None, mu=0, sigma=1, **_others):
        """An array of numbers around mu."""
        return _made(queue, shape, dtype, order, allocator, lambda n, kind: self._normal(n, kind, mu, sigma))


class PhiloxGenerator(Random123GeneratorBase):
    """One of the generators by name."""


class ThreefryGenerator(Random123GeneratorBase):
    """Another one by name."""


def _fill(ary, numbers, queue):
    if ary.dtype.kind == "V":
        ary._host()[...] = numbers.numpy().view(ary.dtype).reshape(ary.shape)
    else:
        ary._put(numbers)
    event = _queue_of(queue, ary)._do("NDRANGE_KERNEL", lambda: None)
    ary.add_event(event)
    return event


def _made(queue, shape, dtype, order, allocator, draw):
    made = Array(queue, shape, dtype, order, allocator)
    _fill(made, draw(made.shape, made.dtype), queue)
    return made


_kept = {}


def _get_generator(context):
    if context not in _kept:
        _kept[context] = PhiloxGenerator(context)
    return _kept[context]


def fill_rand(result, queue=None, a=0, b=1):
    """Numbers from a up to b into an array."""
    return _get_generator(result.context).fill_uniform(result, a, b, queue)


def rand(queue, shape, dtype, luxury=None, a=0, b=1):
    """An array of numbers from a up to b."""
    return _get_generator(queue.context).uniform(queue, _shape(shape), dtype, a=a, b=b)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.clrandom.{name}")
