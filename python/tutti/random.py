"""Random numbers: generators over the rows `generator.*` of the function table, functions over its rows `random.*`.

default_rng(seed) draws by Philox: a pure function of the seed and of how many were drawn before, the same on every
machine and for any number of threads, made in parallel, on devices too. A call begins with a block of 16 bytes of its
own, four float32 or two draws of 8 bytes. They are not NumPy's numbers for the same seed. Generator(PCG64(seed)), and
RandomState(seed), draw NumPy's, one after the other on the CPU.
"""

import inspect as _inspect
import operator as _operator
import struct as _struct
import types as _types
import warnings as _warnings

from . import _core, _table
from ._bits import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, Philox4x3210, SeedSequence


def _shuffled(x, order, axis=0):
    """Put the rows of what is no array of the library in an order, where they lie."""
    if isinstance(x, _core.ndarray) or not hasattr(x, "__setitem__"):
        raise TypeError(f"'{type(x).__name__}' object does not support item assignment")
    if hasattr(x, "swapaxes") and hasattr(x, "dtype"):
        if not x.flags.writeable:
            raise ValueError("array is read-only")
        rows = x.swapaxes(0, axis)
        rows[...] = rows[order.tolist()]
        return
    if axis != 0:
        raise NotImplementedError("Axis argument is only supported on ndarray objects")
    for place, item in enumerate([x[k] for k in order.tolist()]):
        x[place] = item


def _as_bytes(words, length):
    """The bytes of words of 32 bits, the lowest first."""
    words = words(int((length - 1) / 4) + 1)
    return words.astype("uint32").tobytes()[:length]


class Generator:
    """Random numbers from a bit generator, as numpy.random.Generator has them.

    Parameters
    ----------
    bit_generator : BitGenerator
        Where the bits come from.

    Examples
    --------
    >>> rng = tt.random.Generator(tt.random.PCG64(1))
    >>> rng.random(2)
    array([0.51182162, 0.9504637 ])
    """

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, BitGenerator):
            if hasattr(bit_generator, "capsule"):
                raise TypeError("a Generator takes a bit generator of tutti.random")
            raise AttributeError(f"'{type(bit_generator).__name__}' object has no attribute 'capsule'")
        self._bit_generator = bit_generator
        self._state = bit_generator._state

    @property
    def bit_generator(self):
        """Where the bits come from."""
        return self._bit_generator

    def bytes(self, length):
        """Random bytes.

        Parameters
        ----------
        length : int
            How many bytes.

        Returns
        -------
        bytes
            The bytes.

        Examples
        --------
        >>> len(tt.random.default_rng(1).bytes(5))
        5
        """
        return _as_bytes(lambda n: self.integers(0, 1 << 32, n, dtype="uint32"), length)

    def spawn(self, n_children):
        """New generators, independent of this one and of each other.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Generator
            The new ones.

        Examples
        --------
        >>> len(tt.random.default_rng(1).spawn(2))
        2
        """
        return [type(self)(b) for b in self._bit_generator.spawn(n_children)]

    def shuffle(self, x, axis=0):
        """Put an array, or a list, in random order along an axis.

        Parameters
        ----------
        x : array_like
            What is put in order, in place.
        axis : int or tuple of int, optional
            The axis, or the axes, to go along; None: all.

        Returns
        -------
        None

        Examples
        --------
        >>> rng = tt.random.default_rng(1)
        >>> x = [1, 2, 3]
        >>> rng.shuffle(x)
        >>> sorted(x)
        [1, 2, 3]
        """
        if isinstance(x, _core.ndarray):
            return _rows["shuffle"](self._state, x, axis)
        n = len(x) if axis == 0 else x.shape[axis]
        return _shuffled(x, self.permutation(n), axis)

    def __str__(self):
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __reduce__(self):
        return type(self), (self._bit_generator,)


class RandomState:
    """NumPy's numbers of old: numpy.random.RandomState of the same seed draws the same.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.RandomState(1).rand(2)
    array([0.417022  , 0.72032449])
    """

    def __init__(self, seed=None):
        if isinstance(seed, BitGenerator):
            self._bit_generator = seed
        else:
            self._bit_generator = MT19937()
            if seed is not None:
                self._bit_generator._legacy_seeding(seed)
        self._state = self._bit_generator._state

    def seed(self, seed=None):
        """Seed it again.

        Parameters
        ----------
        seed : int, sequence of int, SeedSequence or BitGenerator, optional
            The seed; None: the system's entropy.

        Returns
        -------
        None

        Examples
        --------
        >>> rng = tt.random.RandomState()
        >>> rng.seed(1)
        >>> rng.rand(2)
        array([0.417022  , 0.72032449])
        """
        if not isinstance(self._bit_generator, MT19937):
            raise TypeError("can only re-seed a MT19937 BitGenerator")
        self._bit_generator._legacy_seeding(seed)

    def get_state(self, legacy=True):
        """The state as NumPy's tuple, or as its dictionary.

        Parameters
        ----------
        legacy : array_like, optional
            Taken for NumPy's sake, but in get_state: the tuple, not the dictionary.

        Returns
        -------
        tuple or dict
            The state.

        Examples
        --------
        >>> tt.random.RandomState(1).get_state()[0]
        'MT19937'
        """
        state = self._bit_generator.state
        has, bits = self._state[3:5].tolist()
        state["has_gauss"], state["gauss"] = has, _struct.unpack("d", _struct.pack("Q", bits))[0]
        if legacy and state["bit_generator"] != "MT19937":
            words = "get_state and legacy can only be used with the MT19937 BitGenerator. To silence this warning, "
            _warnings.warn(words + "set `legacy` to False.", RuntimeWarning, stacklevel=2)
            legacy = False
        if not legacy:
            return state
        own = state["state"]
        return (state["bit_generator"], own["key"], own["pos"], state["has_gauss"], state["gauss"])

    def set_state(self, state):
        """Take a state that get_state gave, NumPy's or this one's.

        Parameters
        ----------
        state : dict or tuple
            A state.

        Returns
        -------
        None

        Examples
        --------
        >>> rng = tt.random.RandomState(1)
        >>> state = rng.get_state()
        >>> x = rng.rand()
        >>> rng.set_state(state)
        >>> rng.rand() == x
        True
        """
        if not isinstance(state, dict):
            if not isinstance(state, (tuple, list)):
                raise TypeError("state must be a dict or a tuple.")
            if state[0] != "MT19937":
                raise ValueError("set_state can only be used with legacy MT19937 state instances.")
            names = ["bit_generator", "key", "pos", "has_gauss", "gauss"]
            state = dict(zip(names, state))
            state["state"] = {"key": state.pop("key"), "pos": state.pop("pos")}
        if "bit_generator" not in state or "state" not in state:
            raise ValueError("state dictionary is not valid.")
        self._bit_generator.state = state
        gauss = _struct.unpack("Q", _struct.pack("d", state.get("gauss", 0.0)))[0]
        self._state[3:5] = _core.array([int(state.get("has_gauss", 0)), gauss], "uint64")

    def random(self, size=None):
        """Uniform in [0, 1).

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result; None: one number, or the shape of the parameters.

        Returns
        -------
        ndarray of float64
            The numbers.

        Examples
        --------
        >>> tt.random.RandomState(1).random(2)
        array([0.417022  , 0.72032449])
        """
        return self.random_sample(size)

    def random_integers(self, low, high=None, size=None):
        """Integers in [low, high], or [1, low].

        Parameters
        ----------
        low : array_like
            The beginning of the range.
        high : array_like, optional
            The end of the range; None: `low` is, and it begins at 0.
        size : int or tuple of int, optional
            The shape of the result; None: one number, or the shape of the parameters.

        Returns
        -------
        ndarray of int64
            The numbers.

        Examples
        --------
        >>> import warnings
        >>> warnings.simplefilter("ignore")
        >>> tt.random.RandomState(1).random_integers(6, size=2)
        array([6, 4])
        """
        low, high = (1, low) if high is None else (low, high)
        words = f"This function is deprecated. Please call randint({low}, {high} + 1) instead"
        _warnings.warn(words, DeprecationWarning, stacklevel=2)
        return self.randint(low, int(high) + 1, size)

    def bytes(self, length):
        r"""Random bytes.

        Parameters
        ----------
        length : int
            How many bytes.

        Returns
        -------
        bytes
            The bytes.

        Examples
        --------
        >>> tt.random.RandomState(1).bytes(3)
        b'%\xf4\xc1'
        """
        return _as_bytes(lambda n: self.randint(0, 1 << 32, n, dtype="uint32"), length)

    def shuffle(self, x):
        """Put the rows of an array, or a list, in random order.

        Parameters
        ----------
        x : array_like
            What is put in order, in place.

        Returns
        -------
        None

        Examples
        --------
        >>> rng = tt.random.RandomState(1)
        >>> x = [1, 2, 3]
        >>> rng.shuffle(x)
        >>> sorted(x)
        [1, 2, 3]
        """
        if isinstance(x, _core.ndarray):
            return _legacy["shuffle"](self._state, x)
        return _shuffled(x, self.permutation(len(x)))

    def __str__(self):
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __reduce__(self):
        return _random_state, (type(self), self._bit_generator, self.get_state(legacy=False))


def _random_state(kind, bit_generator, state):
    made = kind(bit_generator)
    made.set_state(state)
    return made


class _Method:
    """A row as a method. Bound to a generator's state it lies in the generator, once asked for: a call goes to the row.

    A function between them, which hands all arguments on, would take as long as a small draw.
    """

    def __init__(self, kind, name, row):
        def method(self, *args, **kwargs):
            return row(self._state, *args, **kwargs)

        method.__name__ = name
        method.__qualname__ = f"{kind.__name__}.{name}"
        method.__doc__ = row.__doc__
        own = list(_inspect.signature(row).parameters.values())[1:]
        own.insert(0, _inspect.Parameter("self", _inspect.Parameter.POSITIONAL_ONLY))
        method.__signature__ = _inspect.Signature(own)
        self.name, self.row, self.method = name, row, method

    def __get__(self, generator, kind=None):
        if generator is None:
            return self.method
        bound = generator.__dict__[self.name] = _types.MethodType(self.row, generator._state)
        return bound


def _fill_methods(kind, prefix):
    rows = {name[len(prefix) :]: f for name, f in _core.functions.items() if name.startswith(prefix)}
    for name, row in rows.items():
        if name not in kind.__dict__ and name not in ("new", "shared"):
            setattr(kind, name, _Method(kind, name, row))
    return rows


_rows = _fill_methods(Generator, "generator.")
_legacy = _fill_methods(RandomState, "legacy.")


def default_rng(seed=None):
    """A generator from a seed (an integer or several), from a bit generator, or from the system's entropy.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Returns
    -------
    Generator
        The generator.

    Examples
    --------
    >>> tt.random.default_rng(1).random(2)
    array([0.88507762, 0.91346944])
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, RandomState):
        return Generator(seed._bit_generator)
    return Generator(seed if isinstance(seed, BitGenerator) else Philox4x3210(seed))


_tables = _table.fill(globals(), "random")

random_sample = ranf = sample = globals()["random"]


def bytes(length):  # noqa: A001 (NumPy's name)
    """Random bytes.

    Parameters
    ----------
    length : int
        How many bytes.

    Returns
    -------
    bytes
        The bytes.

    Examples
    --------
    >>> len(tt.random.bytes(5))
    5
    """
    return _as_bytes(lambda n: globals()["randint"](0, 1 << 32, n, dtype="uint32"), length)


def manual_seed(seed):
    """Seed the generator of the process: that of draws by functions, masks of dropout, new layers and loaders.

    Parameters
    ----------
    seed : int
        The seed; negative ones are taken modulo 2**64.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.manual_seed(1)
    >>> x = tt.random.random(3)
    >>> tt.manual_seed(1)
    >>> bool((tt.random.random(3) == x).all())
    True
    """
    seed = _operator.index(seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise ValueError("Overflow when unpacking long long")
    globals()["seed"](seed % (1 << 64))


def get_state():
    """The state of the generator of the process, a dictionary.

    Returns
    -------
    dict
        The state.

    Examples
    --------
    >>> tt.random.get_state()["bit_generator"]
    'Philox4x3210'
    """
    key, counter = _rows["shared"]().tolist()
    return {"bit_generator": "Philox4x3210", "state": {"key": key, "counter": counter}}


def set_state(state):
    """Take a state that get_state gave.

    Parameters
    ----------
    state : dict or tuple
        A state.

    Returns
    -------
    None

    Examples
    --------
    >>> state = tt.random.get_state()
    >>> x = tt.random.random()
    >>> tt.random.set_state(state)
    >>> tt.random.random() == x
    True
    """
    if not isinstance(state, dict) or state.get("bit_generator") != "Philox4x3210":
        raise ValueError("set_state takes what get_state of tutti.random gave; RandomState has NumPy's states")
    _rows["shared"](_core.array([state["state"]["key"], state["state"]["counter"]], "uint64"))


def random_integers(low, high=None, size=None):
    """Integers in [low, high], or [1, low].

    Parameters
    ----------
    low : array_like
        The beginning of the range.
    high : array_like, optional
        The end of the range; None: `low` is, and it begins at 0.
    size : int or tuple of int, optional
        The shape of the result; None: one number, or the shape of the parameters.

    Returns
    -------
    ndarray of int64
        The numbers.

    Examples
    --------
    >>> tt.random.seed(1)
    >>> x = tt.random.random_integers(6, size=100)
    >>> (int(x.min()), int(x.max()))
    (1, 6)
    """
    low, high = (1, low) if high is None else (low, high)
    return globals()["randint"](low, _operator.index(high) + 1, size)


def shuffle(x):
    """Put the rows of an array, or a list, in random order.

    Parameters
    ----------
    x : array_like
        What is put in order, in place.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.random.seed(1)
    >>> x = tt.arange(4)
    >>> tt.random.shuffle(x)
    >>> sorted(x.tolist())
    [0, 1, 2, 3]
    """
    if isinstance(x, _core.ndarray):
        return _core.functions["random.shuffle"](x)
    return _shuffled(x, globals()["permutation"](len(x)))


__all__ = [
    *_tables, "MT19937", "PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "Generator", "Philox", "Philox4x3210",
    "RandomState", "SeedSequence", "bytes", "default_rng", "get_state", "random_integers", "random_sample",
    "ranf", "sample", "set_state",
]  # fmt: skip
