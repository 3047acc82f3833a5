"""Bit generators and the sequences that seed them: NumPy's, with NumPy's words for a seed, and the library's own.

The words are made in C (rows `bits.*` and `seed.*`). Here are what only Python can hold, integers of any size and
dictionaries of states.
"""

import operator
import os
import re
import struct
import threading

from . import _core

_rows = _core.functions
_HEADER = 5  # kind, half of a word that waits, a normal number that waits


def _words(x):
    """Any entropy as words of 32 bits, the lowest first."""
    if isinstance(x, str):
        if x.startswith("0x"):
            x = int(x, base=16)
        elif re.match("[0-9]+", x):
            x = int(x)
        else:
            raise ValueError("unrecognized seed string")
    try:
        n = operator.index(x)
    except TypeError:
        if isinstance(x, float) or not hasattr(x, "__len__"):
            raise TypeError("seed must be integer") from None
        return [w for v in x for w in _words(v)]
    if n < 0:
        raise ValueError("expected non-negative integer")
    return [n >> s & 0xFFFFFFFF for s in range(0, max(n.bit_length(), 1), 32)]


class SeedSequence:
    """Entropy mixed into words that seed bit generators; spawn() makes sequences that are independent.

    Parameters
    ----------
    entropy : int or sequence of int, optional
        The entropy; None: the system's.
    spawn_key : sequence of int, optional
        Which child it is.
    pool_size : int, optional
        How many words of entropy.
    n_children_spawned : int, optional
        How many there were already.

    Examples
    --------
    >>> tt.random.SeedSequence(1).generate_state(2)
    array([1835504127, 1731038949], dtype=uint32)
    """

    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        if pool_size < 4:
            raise ValueError("The size of the entropy pool should be at least 4")
        if entropy is None:
            entropy = int.from_bytes(os.urandom(pool_size * 4), "little")
        elif isinstance(entropy, (str, float)) or not (hasattr(entropy, "__index__") or hasattr(entropy, "__len__")):
            raise TypeError(f"SeedSequence expects int or sequence of ints for entropy not {entropy}")
        self.entropy = entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        words, spawned = _words(entropy), _words(self.spawn_key)
        if spawned:
            words += [0] * (pool_size - len(words))
        self.pool = _rows["seed.pool"](_core.array(words + spawned, "uint32"), pool_size)

    def __repr__(self):
        lines = [f"    entropy={self.entropy!r},"]
        if self.spawn_key:
            lines.append(f"    spawn_key={self.spawn_key!r},")
        if self.pool_size != 4:
            lines.append(f"    pool_size={self.pool_size!r},")
        if self.n_children_spawned:
            lines.append(f"    n_children_spawned={self.n_children_spawned!r},")
        return "\n".join([f"{type(self).__name__}(", *lines, ")"])

    @property
    def state(self):
        """What makes the sequence again."""
        names = ["entropy", "spawn_key", "pool_size", "n_children_spawned"]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def generate_state(self, n_words, dtype="uint32"):
        """Words for the state of a bit generator.

        Parameters
        ----------
        n_words : int
            How many.
        dtype : dtype, optional
            The type of the result; None: as NumPy's rules have it.

        Returns
        -------
        ndarray
            The words.

        Examples
        --------
        >>> tt.random.SeedSequence(1).generate_state(2)
        array([1835504127, 1731038949], dtype=uint32)
        """
        return _rows["seed.state"](self.pool, n_words, dtype)

    def spawn(self, n_children):
        """New sequences, each with a key of its own.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of SeedSequence
            The new ones.

        Examples
        --------
        >>> tt.random.SeedSequence(1).spawn(2)[1].spawn_key
        (1,)
        """
        if n_children < 0:
            raise ValueError("n_children must be non-negative")
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        keys = (self.spawn_key + (k,) for k in range(first, first + n_children))
        return [type(self)(self.entropy, spawn_key=key, pool_size=self.pool_size) for key in keys]

    def __reduce__(self):
        return _sequence, (type(self), self.state)


def _sequence(kind, state):
    state = dict(state)
    return kind(state.pop("entropy"), **state)


class BitGenerator:
    """What all bit generators have; one of its kinds is to be made.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> isinstance(tt.random.PCG64(1), tt.random.BitGenerator)
    True
    """

    _seeds = None  # how many words of a SeedSequence it takes, and their type

    def __init__(self, seed=None):
        if self._seeds is None:
            raise NotImplementedError("BitGenerator is a base class and cannot be instantized")
        self.lock = threading.RLock()
        self._seed_seq = seed if hasattr(seed, "generate_state") else SeedSequence(seed)
        self._state = self._made(self._seed_seq.generate_state(*self._seeds))

    def _made(self, words):
        return _rows["bits.new"](type(self).__name__, words)

    @property
    def seed_seq(self):
        """The sequence that it was seeded from."""
        return self._seed_seq

    def spawn(self, n_children):
        """New bit generators, independent of this one and of each other.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of BitGenerator
            The new ones.

        Examples
        --------
        >>> len(tt.random.PCG64(1).spawn(2))
        2
        """
        if n_children < 0:
            raise ValueError("n_children must be non-negative")
        if not hasattr(self._seed_seq, "spawn"):
            raise TypeError("The underlying SeedSequence does not implement spawning.")
        return [type(self)(s) for s in self._seed_seq.spawn(n_children)]

    def random_raw(self, size=None, output=True):
        """What the generator makes, in uint64; output=False only moves on.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result; None: one number, or the shape of the parameters.
        output : bool, optional
            Give the words, or only move on.

        Returns
        -------
        ndarray of uint64, or None
            The words.

        Examples
        --------
        >>> tt.random.PCG64(1).random_raw()
        9441442522235856127
        """
        made = _rows["bits.raw"](self._state, size)
        return made if output else None

    def _read(self):
        """The words behind the header, as integers."""
        return self._state.tolist()

    def _write(self, own, has_half=0, half=0):
        self._state[1:] = _core.array([int(has_half), int(half), 0, 0, *own], "uint64")

    def _checked(self, value, what="RNG"):
        name = type(self).__name__
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator", "") != name:
            raise ValueError(f"state must be for a {name} {what}")
        return value

    def __reduce__(self):
        return _bit_generator, (type(self), self.state, self._seed_seq)


def _bit_generator(kind, state, seed_seq):
    made = kind(0)
    made.state = state
    made._seed_seq = seed_seq
    return made


class _Jumping(BitGenerator):
    def jumped(self, jumps=1):
        """A new bit generator, so far ahead that the streams do not meet.

        Parameters
        ----------
        jumps : int, optional
            How often.

        Returns
        -------
        BitGenerator
            The new one.

        Examples
        --------
        >>> type(tt.random.PCG64(1).jumped()).__name__
        'PCG64'
        """
        made = type(self)(0)
        made._state[...] = self._state
        made._seed_seq = None
        _rows["bits.jump"](made._state, jumps)
        return made


class _Advancing(_Jumping):
    _period = 128

    def advance(self, delta):
        """Move on by delta steps; back by negative ones.

        Parameters
        ----------
        delta : int
            How many steps; back if negative.

        Returns
        -------
        BitGenerator
            The bit generator itself.

        Examples
        --------
        >>> type(tt.random.PCG64(1).advance(5)).__name__
        'PCG64'
        """
        delta = int(delta) & (1 << self._period) - 1
        step = [delta >> s & 0xFFFFFFFFFFFFFFFF for s in (0, 64, 128, 192)]
        _rows["bits.advance"](self._state, _core.array(step, "uint64"))
        return self


class PCG64(_Advancing):
    """A linear congruence of 128 bits, folded and rotated (O'Neill's XSL-RR).

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.Generator(tt.random.PCG64(1)).integers(0, 10, size=3)
    array([4, 5, 7])
    """

    _seeds = (4, "uint64")

    @property
    def state(self):
        """The state, as NumPy's dictionary."""
        _, has, half, _, _, *w = self._read()
        state = {"state": w[0] << 64 | w[1], "inc": w[2] << 64 | w[3]}
        return {"bit_generator": type(self).__name__, "state": state, "has_uint32": has, "uinteger": half}

    @state.setter
    def state(self, value):
        own = self._checked(value)["state"]
        words = [w >> s & 0xFFFFFFFFFFFFFFFF for w in (int(own["state"]), int(own["inc"])) for s in (64, 0)]
        self._write(words, value["has_uint32"], value["uinteger"])


class PCG64DXSM(PCG64):
    """A linear congruence of 128 bits with a cheaper factor and a better last step.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.Generator(tt.random.PCG64DXSM(1)).integers(0, 10, size=3)
    array([7, 2, 6])
    """


class Philox(_Advancing):
    """A counter through ten rounds of products (4 x 64 bits).

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.
    counter : int or sequence of int, optional
        The counter to begin with.
    key : int or sequence of int, optional
        The key, in place of a seed.

    Examples
    --------
    >>> tt.random.Generator(tt.random.Philox(1)).integers(0, 10, size=3)
    array([4, 0, 1])
    """

    _seeds = (2, "uint64")
    _period = 256

    def __init__(self, seed=None, counter=None, key=None):
        if seed is not None and key is not None:
            raise ValueError("seed and key cannot be both used")
        super().__init__(seed)
        if key is not None:
            self._state[_HEADER + 4 : _HEADER + 6] = _integer_words(key, "key", 2)
            self._seed_seq = None
        if counter is not None:
            self._state[_HEADER : _HEADER + 4] = _integer_words(counter, "counter", 4)

    @property
    def state(self):
        """The state, as NumPy's dictionary."""
        _, has, half, _, _, *w = self._read()
        state = {"counter": _core.array(w[:4], "uint64"), "key": _core.array(w[4:6], "uint64")}
        more = {"buffer": _core.array(w[6:10], "uint64"), "buffer_pos": w[10], "has_uint32": has, "uinteger": half}
        return {"bit_generator": type(self).__name__, "state": state, **more}

    @state.setter
    def state(self, value):
        own = self._checked(value, "PRNG")["state"]
        words = [int(x) for part in (own["counter"], own["key"], value["buffer"]) for x in part]
        self._write([*words, int(value["buffer_pos"])], value["has_uint32"], value["uinteger"])


def _integer_words(value, name, n):
    """An integer, or an array of its words, as n words of 64 bits."""
    if hasattr(value, "__len__") and len(getattr(value, "shape", (1,))):
        out = _core.array(value, "uint64")
        if out.shape != (n,):
            raise ValueError(f"{name} must have {n} elements when using array form")
        return out
    value = int(value)
    if not 0 <= value < 1 << 64 * n:
        raise ValueError(f"{name} must be positive and less than 2**{64 * n}.")
    return _core.array([value >> 64 * k & 0xFFFFFFFFFFFFFFFF for k in range(n)], "uint64")


class SFC64(BitGenerator):
    """Three words that are added and shifted, and a counter (Doty-Humphrey).

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.Generator(tt.random.SFC64(1)).integers(0, 10, size=3)
    array([4, 9, 5])
    """

    _seeds = (3, "uint64")

    @property
    def state(self):
        """The state, as NumPy's dictionary."""
        _, has, half, _, _, *w = self._read()
        state = {"state": _core.array(w, "uint64")}
        return {"bit_generator": type(self).__name__, "state": state, "has_uint32": has, "uinteger": half}

    @state.setter
    def state(self, value):
        own = self._checked(value)["state"]["state"]
        self._write([int(x) for x in own], value["has_uint32"], value["uinteger"])


class MT19937(_Jumping):
    """The Mersenne Twister.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.Generator(tt.random.MT19937(1)).integers(0, 10, size=3)
    array([2, 9, 7])
    """

    _seeds = (624, "uint32")

    def _legacy_seeding(self, seed):
        """As RandomState seeds: by a number, an array of numbers, or the system's entropy."""
        self._seed_seq = None
        if seed is None:
            self._state[...] = self._made(SeedSequence().generate_state(*self._seeds))
            return
        try:
            seed = operator.index(seed.squeeze() if hasattr(seed, "squeeze") else seed)
        except TypeError:
            _rows["bits.seed_legacy"](self._state, _core.asarray(seed))
            return
        if not 0 <= seed < 1 << 32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        _rows["bits.seed_legacy"](self._state, seed)

    @property
    def state(self):
        """The state, as NumPy's dictionary."""
        w = self._read()[_HEADER:]
        return {"bit_generator": type(self).__name__, "state": {"key": _core.array(w[:624], "uint32"), "pos": w[624]}}

    @state.setter
    def state(self, value):
        if isinstance(value, tuple):
            if value[0] != "MT19937" or len(value) not in (3, 5):
                raise ValueError("state is not a legacy MT19937 state")
            value = {"bit_generator": "MT19937", "state": {"key": value[1], "pos": value[2]}}
        own = self._checked(value, "PRNG")["state"]
        self._write([*(int(x) for x in own["key"]), int(own["pos"])])

    def _gauss(self):
        """The normal number that waits: is there one, and which."""
        has, bits = self._state[3:5].tolist()
        return has, struct.unpack("d", struct.pack("Q", bits))[0]


def _is_wide(seed):
    """Is an integer in it beyond 64 bits (or negative, which is refused there)?"""
    if isinstance(seed, (list, tuple)):
        return any(map(_is_wide, seed))
    return isinstance(seed, int) and seed >> 64 != 0


class Philox4x3210(BitGenerator):
    """The library's own: a counter through ten rounds of products (4 x 32 bits).

    A draw is a function of the key and of its place, so that draws are made in parallel, on devices too, and fuse with
    what uses them. Their numbers are not those of NumPy's generators.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence or BitGenerator, optional
        The seed; None: the system's entropy.

    Examples
    --------
    >>> tt.random.Generator(tt.random.Philox4x3210(1)).integers(0, 10, size=3)
    array([8, 9, 6])
    """

    _seeds = (1, "uint64")

    def __init__(self, seed=None):
        self.lock = threading.RLock()
        self._seed = seed
        self._seed_seq = seed if hasattr(seed, "generate_state") else SeedSequence(seed) if _is_wide(seed) else None
        if self._seed_seq is not None:
            seed = _core.asarray(self._seed_seq.generate_state(*self._seeds))
        self._state = _rows["generator.new"](seed)

    @property
    def seed_seq(self):
        """The sequence from which it spawns."""
        if self._seed_seq is None:
            self._seed_seq = SeedSequence(self._seed)
        return self._seed_seq

    def spawn(self, n_children):
        """New bit generators, independent of this one and of each other.

        Parameters
        ----------
        n_children : int
            How many.

        Returns
        -------
        list of Philox4x3210
            The new ones.

        Examples
        --------
        >>> len(tt.random.Philox4x3210(1).spawn(2))
        2
        """
        return [type(self)(s) for s in self.seed_seq.spawn(n_children)]

    def random_raw(self, size=None, output=True):
        """Random words of uint64; output=False only moves on.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result; None: one number, or the shape of the parameters.
        output : bool, optional
            Give the words, or only move on.

        Returns
        -------
        ndarray of uint64, or None
            The words.

        Examples
        --------
        >>> tt.random.Philox4x3210(1).random_raw(2).dtype
        dtype('uint64')
        """
        made = _rows["generator.integers"](self._state, 0, 2**64 - 1, size, "uint64", True)
        return made if output else None

    def advance(self, delta):
        """Move on by delta blocks of 16 bytes.

        Parameters
        ----------
        delta : int
            How many steps; back if negative.

        Returns
        -------
        Philox4x3210
            The bit generator itself.

        Examples
        --------
        >>> type(tt.random.Philox4x3210(1).advance(5)).__name__
        'Philox4x3210'
        """
        key, counter = self._state.tolist()
        self._state[...] = _core.array([key, counter + int(delta) & 0xFFFFFFFFFFFFFFFF], "uint64")
        return self

    @property
    def state(self):
        """The key and the counter of the next block."""
        key, counter = self._state.tolist()
        return {"bit_generator": type(self).__name__, "state": {"key": key, "counter": counter}}

    @state.setter
    def state(self, value):
        own = self._checked(value)["state"]
        self._state[...] = _core.array([int(own["key"]), int(own["counter"])], "uint64")
