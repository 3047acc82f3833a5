"""Walks over arrays as objects: broadcast, nditer, and functions called along axes."""

from itertools import product

from . import _core

_f = _core.functions


def _arrays(args):
    return [a if isinstance(a, _core.ndarray) else _core.asanyarray(a) for a in args]


class broadcast:
    """The tuples of elements that arrays give once they are broadcast against each other.

    Examples
    --------
    >>> list(tt.broadcast(tt.array([[1], [2]]), tt.array([3, 4])))[:2]
    [(array(1), array(3)), (array(1), array(4))]
    >>> tt.broadcast(tt.ones((2, 1)), tt.ones(3)).shape
    (2, 3)
    """

    def __init__(self, *args):
        parts = []
        for a in args:
            parts += a._arrays if isinstance(a, broadcast) else _arrays([a])
        self._arrays = parts
        self.shape = _f["broadcast_shapes"](*[a.shape for a in parts]) if parts else ()
        self.nd = self.ndim = len(self.shape)
        self.numiter = len(parts)
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.reset()

    def reset(self):
        """Begin anew.

        Returns
        -------
        None

        Examples
        --------
        >>> b = tt.broadcast(tt.arange(2), 1)
        >>> x = list(b)
        >>> b.reset()
        >>> b.index
        0
        """
        self.index = 0
        self._flat = None

    @property
    def iters(self):
        """A flat iterator for each array."""
        return tuple(_f["broadcast_to"](a, self.shape).flat for a in self._arrays)

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.size:
            raise StopIteration
        if self._flat is None:
            self._flat = [_f["broadcast_to"](a, self.shape).ravel() for a in self._arrays]
        self.index += 1
        return tuple(a[self.index - 1] for a in self._flat)


_FLAGS = {
    "buffered", "c_index", "common_dtype", "copy_if_overlap", "delay_bufalloc", "external_loop", "f_index",
    "grow_inner",
    "growinner", "multi_index", "ranged", "reduce_ok", "refs_ok", "zerosize_ok",
}  # fmt: skip


class nditer:
    """A walk over the elements of arrays that are broadcast against each other, in the order of memory or another.

    Each step gives arrays without axes (with external_loop: of one axis). Those of operands that may be written are
    views of them.

    Parameters
    ----------
    op : array_like or sequence of array_like
        The arrays; None: one is made.
    flags : sequence of str, optional
        "multi_index", "external_loop", ...
    op_flags : sequence, optional
        What is done with each array.
    op_dtypes : dtype or sequence of dtype, optional
        The types in which elements are given.
    order : {'C', 'F', 'A', 'K'}, optional
        The order in memory.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}, optional
        The rule of casts.
    op_axes : sequence, optional
        Which axis of the walk each axis of an array is.
    itershape : tuple of int, optional
        The shape of the walk.
    buffersize : int, optional
        Taken for NumPy's sake.

    Examples
    --------
    >>> [int(x) for x in tt.nditer(tt.arange(3))]
    [0, 1, 2]
    """

    def __init__(
        self, op, flags=None, op_flags=None, op_dtypes=None, order="K", casting="safe", op_axes=None, itershape=None,
        buffersize=0
    ):  # fmt: skip
        flags = set(flags or ())
        for name in flags - _FLAGS:
            raise ValueError(f'Unexpected iterator global flag "{name}"')
        if op_axes is not None or itershape is not None:
            raise NotImplementedError("nditer takes no op_axes and itershape: transpose and broadcast the operands")
        if "external_loop" in flags and flags & {"multi_index", "c_index", "f_index"}:
            raise ValueError("Iterator flag EXTERNAL_LOOP cannot be used if an index or multi-index is being tracked")
        many = isinstance(op, (tuple, list))
        given = list(op) if many else [op]
        modes = self._modes(op_flags, len(given))
        types = list(op_dtypes) if isinstance(op_dtypes, (list, tuple)) else [op_dtypes] * len(given)
        known = _arrays([a for a in given if a is not None])
        self.shape = _f["broadcast_shapes"](*[a.shape for a in known])
        parts = iter(known)
        found = [next(parts) if a is not None else None for a in given]
        common = _f["result_type"](*known)
        self.operands = tuple(
            self._operand(a, mode, common if "common_dtype" in flags else t, common, casting, flags)
            for a, mode, t in zip(found, modes, types)
        )
        self._many, self._flags, self._writes = len(given) > 1, flags, [bool(m & _WRITES) for m in modes]
        self.ndim, self.nop = len(self.shape), len(given)
        self.itersize = 1
        for n in self.shape:
            self.itersize *= n
        if self.itersize == 0 and "zerosize_ok" not in flags:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        self._axes = self._order(order)
        self.reset()

    @staticmethod
    def _modes(op_flags, n):
        if op_flags is None:
            return [{"readonly"}] * n
        flat = all(isinstance(f, str) for f in op_flags)
        modes = [set(op_flags)] * n if flat else [set(f) for f in op_flags]
        if len(modes) != n:
            raise ValueError("op_flags must be a tuple or array of per-op flag-tuples")
        return modes

    def _operand(self, a, mode, dtype, common, casting, flags):
        if a is None:
            return _f["empty"](self.shape, dtype or common)
        if mode & _WRITES and not a.flags.writeable:
            raise ValueError("output array is read-only")
        if mode & _WRITES and a.shape != self.shape:
            raise ValueError(
                f"non-broadcastable operand with shape {_text(a.shape)} doesn't match the broadcast shape "
                f"{_text(self.shape)}"
            )
        if dtype is None or a.dtype == _core.dtype(dtype):
            return a
        if not flags & {"buffered"} and "copy" not in mode:
            raise TypeError(
                "Iterator operand required copying or buffering, but neither copying nor buffering was enabled"
            )
        if not _core.can_cast(a.dtype, dtype, casting):
            raise TypeError(
                f"Iterator operand 0 dtype could not be cast from dtype('{a.dtype.name}') to "
                f"dtype('{_core.dtype(dtype).name}') according to the rule '{casting}'"
            )
        return a.astype(dtype)

    def _order(self, order):
        """The axes, outermost first, as they are walked."""
        axes = list(range(len(self.shape)))
        if order == "F" or (order == "A" and all(a.flags.f_contiguous for a in self.operands)):
            return axes[::-1]
        if order != "K":
            return axes
        full = [a for a in self.operands if a.shape == self.shape]
        key = [tuple(-abs(a.strides[d]) for a in full) for d in axes]
        return sorted(axes, key=lambda d: key[d])

    def reset(self):
        """Begin anew.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nditer(tt.arange(3)).reset()
        """
        self._walk = product(*(range(self.shape[d]) for d in self._axes))
        self.iterindex, self.finished = 0, self.itersize == 0
        self._views = None
        self._at = next(self._walk, None)
        if "external_loop" in self._flags:
            self._views = [
                _f["broadcast_to"](a, self.shape) if not w else a for a, w in zip(self.operands, self._writes)
            ]
            self._views = [a.transpose(self._axes) for a in self._views]

    @property
    def multi_index(self):
        """The index of the element that comes."""
        if "multi_index" not in self._flags:
            raise ValueError("Iterator is not tracking a multi-index")
        return tuple(self._index())

    @property
    def index(self):
        """The flat place of the element that comes, in the order that was asked for."""
        if not self._flags & {"c_index", "f_index"}:
            raise ValueError("Iterator does not have an index")
        pairs = list(zip(self._index(), self.shape))
        flat = 0
        for k, n in pairs if "c_index" in self._flags else reversed(pairs):
            flat = flat * n + k
        return flat

    has_multi_index = property(lambda self: "multi_index" in self._flags)
    has_index = property(lambda self: bool(self._flags & {"c_index", "f_index"}))
    dtypes = property(lambda self: tuple(a.dtype for a in self.operands))
    itviews = property(
        lambda self: tuple(_f["broadcast_to"](a, self.shape).transpose(self._axes) for a in self.operands)
    )

    def _index(self):
        where = [0] * self.ndim
        for d, k in zip(self._axes, self._at or ()):
            where[d] = k
        return where

    def _piece(self, a, writes):
        where = self._index()
        where = [0 if a.shape[d - self.ndim] == 1 else where[d] for d in range(self.ndim - a.ndim, self.ndim)]
        view = a[(*where, ...)]
        if not writes:
            view.setflags(write=False)
        return view

    @property
    def value(self):
        """The elements that come."""
        if self.finished:
            raise ValueError("Iterator is past the end")
        if "external_loop" in self._flags:
            parts = tuple(a.reshape(-1) for a in self._views)
        else:
            parts = tuple(map(self._piece, self.operands, self._writes))
        return parts if self._many else parts[0]

    def iternext(self):
        """Go on; is there an element?

        Returns
        -------
        bool
            Whether there is one.

        Examples
        --------
        >>> tt.nditer(tt.arange(3)).iternext()
        True
        """
        whole = "external_loop" in self._flags
        self.iterindex = self.itersize if whole else self.iterindex + 1
        self._at = None if whole else next(self._walk, None)
        self.finished = self._at is None
        return not self.finished

    def __iter__(self):
        return self

    def __next__(self):
        if self.finished:
            raise StopIteration
        value = self.value
        self.iternext()
        return value

    def __len__(self):
        return self.itersize

    def __getitem__(self, k):
        value = self.value
        return (value if self._many else (value,))[k]

    def __setitem__(self, k, value):
        self[k][...] = value

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Nothing is kept back that had to be written.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nditer(tt.arange(3)).close()
        """


_WRITES = {"writeonly", "readwrite"}


def _text(shape):
    return "(" + ",".join(map(str, shape)) + (",)" if len(shape) == 1 else ")")


def apply_over_axes(func, a, axes):
    """func(a, axis) for one axis after another; an axis that it takes away comes back with length one.

    Parameters
    ----------
    func : function
        The function.
    a : array_like
        The array.
    axes : sequence of int
        The axes, counted from 0, or from the end if negative.

    Returns
    -------
    ndarray
        Of as many axes as `a` has.

    Examples
    --------
    >>> tt.apply_over_axes(tt.sum, tt.ones((2, 3)), [0, 1])
    array([[6.]])
    """
    val = _core.asarray(a)
    n = val.ndim
    axes = [axes] if _core.asarray(axes).ndim == 0 else axes
    for axis in axes:
        axis = n + axis if axis < 0 else axis
        made = func(val, axis)
        if made.ndim != val.ndim:
            made = _f["expand_dims"](made, axis)
            if made.ndim != val.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        val = made
    return val
