"""vectorize as NumPy has it: a Python function called for every element, or for every array of a signature's axes.

For what cannot be compiled (functions whose source cannot be read, classes, other callables), and where NumPy's own
options are given: otypes, doc, excluded, cache, signature.
"""

import re

from .. import _core

_f = _core.functions


def _types(otypes):
    if otypes is None or isinstance(otypes, str):
        letters = otypes or ""
        for letter in letters:
            if letter not in "?bhilqpBHILQPefdFD":
                raise ValueError(f"Invalid otype specified: {letter}")
        return [_core.dtype(c) for c in letters] if otypes is not None else None
    try:
        return [_core.dtype(t) for t in otypes]
    except TypeError:
        raise ValueError("Invalid otype specification") from None


def _groups(text):
    return [tuple(g.split(",")) if g else () for g in re.findall(r"\(([^)]*)\)", text)]


def _layout(signature):
    """The axes of arguments and results, a tuple of names each."""
    name = r"\w+"
    group = rf"\((?:{name}(?:,{name})*)?\)"
    if not re.fullmatch(rf"{group}(?:,{group})*->{group}(?:,{group})*", re.sub(r"\s+", "", signature)):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    before, after = re.sub(r"\s+", "", signature).split("->")
    return _groups(before), _groups(after)


class Called:
    """The function over arrays, with broadcasting: one call in Python for each element."""

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if not callable(pyfunc):
            raise TypeError("Part of the vectorize signature is missing: a function")
        self.pyfunc, self.otypes, self.cache, self.signature = pyfunc, _types(otypes), cache, signature
        self.__name__, self.__doc__ = getattr(pyfunc, "__name__", "function"), doc or pyfunc.__doc__
        self.__wrapped__ = pyfunc
        self.excluded = set() if excluded is None else set(excluded)
        if any(not isinstance(k, (str, int)) for k in self.excluded):
            raise TypeError("excluded arguments are positions and names")
        self._layout = _layout(signature) if signature is not None else None

    def __repr__(self):
        return f"<vectorized function {self.__name__}>"

    def __call__(self, *args, **named):
        over = [k for k in range(len(args)) if k not in self.excluded]
        names = [n for n in named if n not in self.excluded]
        plain, fixed = list(args), {n: v for n, v in named.items() if n in self.excluded}

        def call(*values):
            for place, value in zip(over, values):
                plain[place] = value
            return self.pyfunc(*plain, **fixed, **dict(zip(names, values[len(over) :])))

        given = [*(args[k] for k in over), *(named[n] for n in names)]
        ours = any(isinstance(a, _core.ndarray) for a in given)
        made = self._over_axes(call, given) if self._layout else self._over_elements(call, given)
        made = made if ours else [a.numpy() if a.ndim else a.numpy()[()] for a in made]
        return made[0] if len(made) == 1 else tuple(made)

    def _first(self, call, arrays):
        """The types of the results, told by the first call; and what that gave."""
        if any(a.size == 0 for a in arrays):
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        result = call(*(a.ravel()[0].item() for a in arrays))
        results = result if isinstance(result, tuple) else (result,)
        return [_core.asarray(r).dtype for r in results], result

    def _over_elements(self, call, given):
        if not given:
            raise ValueError("cannot vectorize a function without arguments")
        arrays = list(_f["broadcast_arrays"](*(_core.asarray(a) for a in given)))
        types, known = (self.otypes, None) if self.otypes else self._first(call, arrays)
        columns = [a.ravel().tolist() for a in arrays]
        rows = list(zip(*columns))
        kept = [known] if known is not None and self.cache else []
        results = kept + [call(*row) for row in rows[len(kept) :]]
        if len(types) == 1:
            parts = [results]
        else:
            parts = list(zip(*results)) if results else [()] * len(types)
        return [_core.array(list(p), dtype=t).reshape(arrays[0].shape) for p, t in zip(parts, types)]

    def _over_axes(self, call, given):
        before, after = self._layout
        if len(given) != len(before):
            raise TypeError(f"wrong number of positional arguments: expected {len(before)}, got {len(given)}")
        arrays, sizes, loops = [_core.asarray(a) for a in given], {}, []
        for a, names in zip(arrays, before):
            self._measure(a.shape, names, sizes)
            loops.append(a.shape[: a.ndim - len(names)])
        shape = tuple(_f["broadcast_shapes"](*loops))
        count = 1
        for n in shape:
            count *= n
        rows = [self._rows(a, shape, names, sizes, count) for a, names in zip(arrays, before)]
        found = []
        for k in range(count):
            result = call(*(r[k] for r in rows))
            results = result if isinstance(result, tuple) else (result,)
            if len(results) != len(after):
                raise ValueError(f"wrong number of outputs from pyfunc: expected {len(after)}, got {len(results)}")
            results = [_core.asarray(r) for r in results]
            for r, names in zip(results, after):
                self._measure(r.shape, names, sizes)
            found.append(results)
        return self._joined(found, shape, sizes)

    def _joined(self, found, shape, sizes):
        after = self._layout[1]
        if not found and self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        made = []
        for k, names in enumerate(after):
            if not found and any(n not in sizes for n in names):
                raise ValueError(
                    "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
                )
            whole = (*shape, *(sizes[n] for n in names))
            a = _f["stack"]([r[k] for r in found]).reshape(whole) if found else _f["zeros"](whole)
            made.append(a.astype(self.otypes[k]) if self.otypes else a)
        return made

    @staticmethod
    def _measure(shape, names, sizes):
        if len(shape) < len(names):
            raise ValueError(
                f"{len(shape)}-dimensional argument does not have enough dimensions for all core dimensions {names!r}"
            )
        for n, size in zip(names, shape[len(shape) - len(names) :]):
            if sizes.setdefault(n, size) != size:
                raise ValueError(f"inconsistent size for core dimension {n!r}: {size!r} vs {sizes[n]!r}")

    @staticmethod
    def _rows(a, shape, names, sizes, count):
        core = tuple(sizes[n] for n in names)
        return _f["broadcast_to"](a, (*shape, *core)).reshape((count, *core))
