"""A digest of a value that another process computes of an equal value, too."""

import hashlib
import sys
import types

_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis), range, slice)


def hash(obj, hash_name="md5", coerce_mmap=False):  # noqa: A001 (joblib's name)
    """A hexadecimal digest of `obj`.

    Equal trees of builtins and arrays have equal digests, whatever objects they share and in which order
    dictionaries and sets were filled. Digests are not joblib's.

    Parameters
    ----------
    obj : object
    hash_name : {'md5', 'sha1'}
    coerce_mmap : bool
        Arrays in files count as arrays in memory.

    Raises
    ------
    ValueError
        Another `hash_name`.
    pickle.PicklingError
        A part of `obj` is nothing but its identity.
    """
    if hash_name not in ("md5", "sha1"):
        raise ValueError(f"Valid options for 'hash_name' are ('md5', 'sha1'). Got hash_name={hash_name!r} instead.")
    digest = hashlib.new(hash_name, usedforsecurity=False)
    _Hasher(digest.update, coerce_mmap).add(obj)
    return digest.hexdigest()


class _Hasher:
    def __init__(self, update, coerce_mmap):
        self.update, self.coerce_mmap, self.inside, self.kept = update, coerce_mmap, {}, []

    def word(self, *words):
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self.update(b"%d:" % len(data) + data)

    def add(self, obj):
        kind = type(obj)
        if kind is str:
            self.word("str", obj)
        elif kind in (bytes, bytearray):
            self.word(kind.__name__, bytes(obj))
        elif kind in _PLAIN:
            self.word(kind.__name__, repr(obj))
        elif id(obj) in self.inside:  # a cycle: how far up it closes
            self.word("up", len(self.inside) - self.inside[id(obj)])
        else:
            self.inside[id(obj)] = len(self.inside)
            self.kept.append(obj)
            self.add_compound(obj, kind)
            del self.inside[id(obj)]

    def add_compound(self, obj, kind):
        if kind in (tuple, list):
            self.word(kind.__name__, len(obj))
            for part in obj:
                self.add(part)
        elif kind in (set, frozenset):
            self.word(kind.__name__, *sorted(self.apart(part) for part in obj))
        elif kind is dict:
            self.word("dict", *sorted(self.apart(pair) for pair in obj.items()))
        elif "numpy" in sys.modules and isinstance(obj, sys.modules["numpy"].ndarray):
            self.add_array(obj, kind)
        elif isinstance(obj, types.MethodType):
            self.word("method", obj.__func__.__name__)
            self.add(obj.__self__)
        elif isinstance(obj, (type, types.FunctionType, types.BuiltinFunctionType)):
            self.add_named(obj)
        else:
            self.add_object(obj)

    def apart(self, part):
        """The digest of a part whose place among others does not count."""
        digest = hashlib.md5(usedforsecurity=False)
        inner = _Hasher(digest.update, self.coerce_mmap)
        inner.inside = self.inside
        inner.add(part)
        return digest.digest()

    def add_array(self, a, kind):
        if self.coerce_mmap and kind is sys.modules["numpy"].memmap:
            kind = sys.modules["numpy"].ndarray
        layout = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
        self.word("array", f"{kind.__module__}.{kind.__qualname__}", repr(a.dtype.descr), a.shape, layout)
        if a.dtype.hasobject:
            for part in a.ravel(order=layout).tolist():
                self.add(part)
            return
        flat = a.T if layout == "F" else a
        flat = flat if flat.flags.c_contiguous else sys.modules["numpy"].ascontiguousarray(flat)
        self.update(memoryview(flat.reshape(-1).view("u1")))

    def add_named(self, obj):
        from ...parallel import _code

        self.word("named", obj.__module__, obj.__qualname__)
        if not _code.is_importable(obj) and isinstance(obj, types.FunctionType):
            self.word(obj.__code__.co_code)
            self.add(tuple(c for c in obj.__code__.co_consts if not isinstance(c, types.CodeType)))
            self.add(obj.__defaults__)
            self.add([_code._contents(cell) for cell in obj.__closure__ or ()])

    def add_object(self, obj):
        from ...parallel import _rebuild

        if obj is _rebuild.empty:
            self.word("empty")
            return
        try:
            reduced = obj.__reduce_ex__(4)
        except Exception as error:
            import pickle

            raise pickle.PicklingError(f"PicklingError while hashing {obj!r}: {error!r}") from error
        self.word("object")
        self.add(
            reduced
            if isinstance(reduced, str)
            else [part if i < 3 else list(part or ()) for i, part in enumerate(reduced[:5])]
        )
