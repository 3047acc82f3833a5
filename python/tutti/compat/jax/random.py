"""Random numbers by keys: an array of two uint32 is a key, and a draw is a function of it. The numbers are those that
JAX's default generator makes (Threefry, by the place of each element)."""

import math as _math

import tutti as _tt

from ._array import all_giving_arrays as _all_giving_arrays

_TURNS = (13, 15, 26, 6), (17, 29, 16, 24)


def _word(x):
    return x if isinstance(x, _tt.ndarray) else _tt.asarray(x, "uint32")


def _threefry(key, high, low):
    """20 rounds of Threefry-2x32 over the two words of counters."""
    k0, k1 = key[..., 0], key[..., 1]
    keys = k0, k1, k0 ^ k1 ^ _tt.asarray(0x1BD11BDA, "uint32")
    x, y = high + k0, low + k1
    for block in range(5):
        for turn in _TURNS[block % 2]:
            x = x + y
            y = ((y << turn) | (y >> (32 - turn))) ^ x
        x = x + keys[(block + 1) % 3]
        y = y + keys[(block + 2) % 3] + _tt.asarray(block + 1, "uint32")
    return x, y


def _counters(shape):
    n = _tt.arange(_math.prod(shape), dtype="uint64").reshape(shape)
    return (n >> 32).astype("uint32"), n.astype("uint32")


def _shape(shape):
    return (shape,) if hasattr(shape, "__index__") else tuple(shape)


def PRNGKey(seed, *, impl=None):
    """The key of a seed."""
    if impl not in (None, "threefry2x32"):
        raise NotImplementedError(f"tutti.compat.jax does not cover keys of {impl}")
    seed = int(seed)
    return _tt.array([(seed >> 32) & 0xFFFFFFFF, seed & 0xFFFFFFFF], "uint32")


def key(seed, *, impl=None):
    """The key of a seed, which is an array of two numbers here, too."""
    return PRNGKey(seed, impl=impl)


def key_data(keys):
    """The numbers of keys."""
    return keys


def wrap_key_data(key_bits_array, *, impl=None):
    """Keys of numbers."""
    return _tt.asarray(key_bits_array, "uint32")


def clone(key):
    """The same key."""
    return key


def split(key, num=2):
    """New keys, the first axis counts them."""
    return _tt.stack(_threefry(key, *_counters(_shape(num))), -1)


def fold_in(key, data):
    """A new key of a key and a number."""
    return _tt.stack(_threefry(key, _word(0), _tt.asarray(data).astype("uint32")), -1)


def bits(key, shape=(), dtype="uint64"):
    """Whole numbers of which each is as likely as the others."""
    dtype = _tt.dtype(dtype)
    high, low = _threefry(key, *_counters(_shape(shape)))
    if dtype.itemsize == 8:
        return (high.astype("uint64") << 32) | low
    return (high ^ low).astype(dtype)


def uniform(key, shape=(), dtype="float64", minval=0.0, maxval=1.0):
    """Numbers from minval up to maxval."""
    dtype = _tt.dtype(dtype)
    if dtype.name not in ("float32", "float64"):
        return uniform(key, shape, "float32", minval, maxval).astype(dtype)
    word, fraction, one = ("uint32", 23, 0x3F800000) if dtype.itemsize == 4 else ("uint64", 52, 0x3FF0000000000000)
    drawn = bits(key, shape, word) >> (8 * dtype.itemsize - fraction)
    low, high = _tt.asarray(minval, dtype), _tt.asarray(maxval, dtype)
    from_zero = (drawn | _tt.asarray(one, word)).view(dtype) - _tt.asarray(1, dtype)
    return _tt.maximum(low, from_zero * (high - low) + low)


def normal(key, shape=(), dtype="float64"):
    """Normal numbers of mean 0 and variance 1."""
    dtype = _tt.dtype(dtype)
    if dtype.kind == "c":
        part = "float32" if dtype.itemsize == 8 else "float64"
        first, second = split(key)
        return (normal(first, shape, part) + 1j * normal(second, shape, part)) / _math.sqrt(2)
    lowest = _tt.nextafter(_tt.asarray(-1, dtype), _tt.asarray(0, dtype))
    return _tt.asarray(_math.sqrt(2), dtype) * _tt.special.erfinv(uniform(key, shape, dtype, lowest, 1.0))


def randint(key, shape, minval, maxval, dtype="int64"):
    """Whole numbers from minval up to maxval."""
    dtype = _tt.dtype(dtype)
    word = f"uint{8 * dtype.itemsize}"
    first, second = split(key)
    low, high = _tt.asarray(minval, dtype), _tt.asarray(maxval, dtype)
    span = (_tt.maximum(high - low, _tt.asarray(1, dtype))).astype(word)
    half = _tt.asarray(1 << (4 * dtype.itemsize), word) % span
    ahead = half * half % span
    offset = (bits(first, shape, word) % span * ahead + bits(second, shape, word) % span) % span
    return low + offset.astype(dtype)


def _shuffled(key, x, axis=0):
    rounds = _math.ceil(3 * _math.log(max(1, x.size)) / _math.log(2**32 - 1))
    for _ in range(rounds):
        key, mine = split(key)
        x = _tt.take_along_axis(x, _tt.argsort(bits(mine, x.shape, "uint32"), axis, kind="stable"), axis)
    return x


def permutation(key, x, axis=0, independent=False):
    """The elements, or the numbers below x, in another order."""
    if not _tt.ndim(x):
        return _shuffled(key, _tt.arange(int(x)))
    x = _tt.asarray(x)
    if independent or x.ndim == 1:
        return _shuffled(key, x, axis)
    return _tt.take(x, _shuffled(key, _tt.arange(x.shape[axis])), axis)


def choice(key, a, shape=(), replace=True, p=None, axis=0):
    """Elements of a, or numbers below it."""
    shape = _shape(shape)
    count, of_number = (int(a), True) if not _tt.ndim(a) else (_tt.shape(a)[axis], False)
    number = _math.prod(shape)
    if not replace and number > count:
        raise ValueError(
            f"Cannot take a larger sample (size {number}) than population (size {count}) when 'replace=False'"
        )
    if p is None:
        places = randint(key, shape, 0, count) if replace else permutation(key, count)[:number].reshape(shape)
    elif replace:
        sums = _tt.cumsum(_tt.asarray(p))
        places = _tt.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, sums.dtype)))
    else:
        places = _tt.argsort(-gumbel(key, (count,)) - _tt.log(p))[:number].reshape(shape)
    return places if of_number else _tt.take(a, places, axis)


def bernoulli(key, p=0.5, shape=None):
    """True with probability p."""
    p = _tt.asarray(p, None if isinstance(p, _tt.ndarray) else "float64")
    return uniform(key, p.shape if shape is None else shape, p.dtype) < p


def gumbel(key, shape=(), dtype="float64"):
    """Gumbel numbers."""
    return -_tt.log(-_tt.log(uniform(key, shape, dtype, _tt.finfo(dtype).tiny, 1.0)))


def categorical(key, logits, axis=-1, shape=None):
    """The numbers of categories, by the logarithms of their probabilities."""
    logits = _tt.asarray(logits)
    batch = list(logits.shape)
    del batch[axis]
    shape = tuple(batch) if shape is None else _shape(shape)
    ahead, own = shape[: len(shape) - len(batch)], list(shape[len(shape) - len(batch) :])
    place = axis % logits.ndim
    own.insert(place, logits.shape[axis])
    return _tt.argmax(gumbel(key, (*ahead, *own), logits.dtype) + logits, len(ahead) + place)


def exponential(key, shape=(), dtype="float64"):
    """Exponential numbers."""
    return -_tt.log1p(-uniform(key, shape, dtype))


def laplace(key, shape=(), dtype="float64"):
    """Laplace's numbers."""
    u = uniform(key, shape, dtype, -1 + _tt.finfo(dtype).eps, 1.0)
    return _tt.sign(u) * _tt.log1p(-abs(u))


def logistic(key, shape=(), dtype="float64"):
    """Logistic numbers."""
    return _tt.special.logit(uniform(key, shape, dtype, _tt.finfo(dtype).tiny, 1.0))


def rademacher(key, shape=(), dtype="int64"):
    """-1 or 1."""
    return (2 * bernoulli(key, 0.5, shape).astype(dtype) - 1).astype(dtype)


def truncated_normal(key, lower, upper, shape=None, dtype="float64"):
    """Normal numbers between two ends."""
    ends = [_tt.special.erf(_tt.asarray(x, dtype) / _math.sqrt(2)) for x in (lower, upper)]
    shape = _tt.broadcast_shapes(*(e.shape for e in ends)) if shape is None else shape
    drawn = _math.sqrt(2) * _tt.special.erfinv(uniform(key, shape, dtype, *ends))
    inside = [
        _tt.nextafter(_tt.asarray(x, dtype), _tt.asarray(to, dtype)) for x, to in ((lower, _tt.inf), (upper, -_tt.inf))
    ]
    return _tt.clip(drawn, *inside)


def multivariate_normal(key, mean, cov, shape=None, dtype="float64"):
    """Normal vectors of a mean and a covariance."""
    mean, factor = _tt.asarray(mean, dtype), _tt.linalg.cholesky(_tt.asarray(cov, dtype))
    shape = mean.shape[:-1] if shape is None else _shape(shape)
    return mean + _tt.einsum("...ij,...j->...i", factor, normal(key, (*shape, mean.shape[-1]), dtype))


globals().update(_all_giving_arrays(globals()))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.jax does not cover jax.random.{name}")
