"""A function of numbers over many: in Python, compiled, or over whole arrays, whichever is measured to be best."""

import math
import time

FIRST = 32  # items that every way computes, and that are compared
SAMPLE = 4096  # items over which a way is timed
NEAR = 1e-9  # how far two ways may differ, relative to the number
WAYS = ("arrays", "jit", "map")


class Report:
    """What was chosen, and why.

    Attributes
    ----------
    chosen : str
        'arrays' (one call over whole arrays), 'jit' (compiled, a loop over the items) or 'map' (`tt.parallel.map`).
    first : dict
        Of each way that was tried: seconds until its first result was there, the compiler's work in it.
    each : dict
        Of each way: seconds for an item after that.
    expected : dict
        Of each way: seconds for all items, by these two.
    refused : dict
        Of each way that is not possible: why.
    difference : float
        How far the way chosen is from the plain function on the first items, relative to the numbers.
    """

    def __init__(self):
        self.chosen, self.difference = None, 0.0
        self.first, self.each, self.expected, self.refused = {}, {}, {}, {}

    def __str__(self):
        lines = []
        for way in WAYS:
            if way in self.refused:
                lines.append(f"{way:8s} not possible: {self.refused[way]}")
            elif way in self.expected:
                sign = "<- chosen" if way == self.chosen else ""
                lines.append(
                    f"{way:8s} {self.expected[way]:10.3g} s expected: {self.first[way]:.3g} s until the first result, "
                    f"{self.each[way]:.3g} s an item {sign}".rstrip()
                )
        lines.append(f"largest difference on the first items {self.difference:.2g}")
        return "\n".join(lines)


class Vectorised:
    """What `vectorised` makes of a function: call it with sequences. `report` says what the last call has chosen."""

    def __init__(self, f, how, tolerance):
        self.f, self.how, self.tolerance, self.report = f, how, tolerance, None
        self.__name__, self.__doc__ = getattr(f, "__name__", type(f).__name__), f.__doc__
        self._compiled = None

    def __repr__(self):
        return f"vectorised({self.__name__}, how={self.how!r})"

    def __call__(self, *sequences):
        columns = [_column(s) for s in sequences]
        n = _length(columns)
        self.report = report = Report()
        rows = [_items(c, min(n, FIRST)) for c in columns]
        begun = time.perf_counter()
        plain = [self.f(*row) for row in zip(*rows)]
        took = (time.perf_counter() - begun) / max(1, len(plain))
        report.first["map"], report.each["map"] = 0.0, took / _workers(took * n)
        for way in ("arrays", "jit") if self.how == "best" else (self.how,):
            if way != "map":
                self._try(way, columns, plain, n)
        for way in report.each:
            report.expected[way] = report.first[way] + n * report.each[way]
        possible = [way for way in report.expected if self.how in ("best", way)]
        if not possible:
            raise ValueError(f"{self.__name__} cannot be computed by how={self.how!r}: {report.refused[self.how]}")
        report.chosen = min(possible, key=report.expected.get)
        return self._all(report.chosen, columns)

    def _way(self, way):
        if way == "arrays":
            return self.f
        if self._compiled is None:
            import tutti

            self._compiled = tutti.vectorize(tutti.jit(self.f))
        return self._compiled

    def _all(self, way, columns):
        import tutti

        if way != "map":
            return self._way(way)(*columns)
        from . import starmap

        results = starmap(self.f, zip(*(_items(c, len(c)) for c in columns)))
        return tutti.array(results) if results and all(map(_is_number, results)) else results

    def _try(self, way, columns, plain, n):
        """Time one way and compare it; into the report go its costs, or why it is not possible."""
        report = self.report
        try:
            begun = time.perf_counter()
            got = _items(self._way(way)(*(c[:FIRST] for c in columns)), None)
            report_first = time.perf_counter() - begun
            far = _difference(got, plain)
            if not far <= self.tolerance:
                raise ValueError(f"its results differ from the function's by {far:.2g}, relative to them")
            begun = time.perf_counter()
            _items(self._way(way)(*(c[:SAMPLE] for c in columns))[:1], None)
            report.each[way] = (time.perf_counter() - begun) / max(1, min(n, SAMPLE))
        except Exception as error:
            report.each.pop(way, None)
            report.refused[way] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(
                ": "
            )
            return
        report.first[way] = max(0.0, report_first - FIRST * report.each[way])
        report.difference = max(report.difference, far)


def vectorised(f, *, how="best", tolerance=NEAR):
    """A function over many numbers, computed in the way that was measured to be best.

    Parameters
    ----------
    f : callable
        Of numbers, giving a number. It is called for the first items in every way, so it must be one that may be.
    how : {'best', 'arrays', 'jit', 'map'}
        One call over whole arrays, compiled by `tt.jit`, or by `tt.parallel.map`; 'best' tries all of them.
    tolerance : float
        How far a way may be from the plain function, relative to its results, on the first 32 items.

    Returns
    -------
    Vectorised
        Call it with a sequence, or an array, for each argument of `f`: it gives an array (a list where `f` gives no
        numbers). Its `report` says what was chosen by what measured cost.

    Examples
    --------
    >>> import tutti as tt
    >>> square = tt.parallel.vectorised(lambda x: x * x, how="arrays")
    >>> print(square([1.0, 2.0, 3.0]))
    [1. 4. 9.]
    """
    if how not in ("best", *WAYS):
        raise ValueError(f"how is 'best', 'arrays', 'jit' or 'map', not {how!r}")
    if not callable(f):
        raise TypeError(f"'{type(f).__name__}' object is not callable")
    return Vectorised(f, how, tolerance)


def _column(sequence):
    import tutti

    if hasattr(sequence, "shape") and hasattr(sequence, "dtype"):
        if len(sequence.shape) != 1:
            raise ValueError(f"sequences have one axis, not {len(sequence.shape)}")
        return sequence
    return tutti.array(list(sequence))


def _length(columns):
    lengths = {len(c) for c in columns}
    if len(lengths) != 1:
        raise ValueError(f"sequences of one length are needed, not of {sorted(lengths) or 'none'}")
    return lengths.pop()


def _items(column, n):
    """The first items as Python's numbers."""
    return (column if n is None else column[:n]).tolist()


def _is_number(value):
    return isinstance(value, (int, float, complex)) or (hasattr(value, "dtype") and getattr(value, "shape", None) == ())


def _difference(got, plain):
    """The largest difference, relative to the numbers; infinite where something else than numbers was given."""
    if not isinstance(got, list) or len(got) != len(plain):
        raise ValueError("it does not give one result for each item")
    far = 0.0
    for a, b in zip(got, plain):
        if not _is_number(a) or not _is_number(b) or isinstance(a, bool) != isinstance(b, bool):
            raise TypeError("its results are of other types than the function's")
        if a != b and not (a != a and b != b):
            size = max(abs(a), abs(b))
            far = max(far, abs(a - b) / size if math.isfinite(size) else math.inf)
    return far


def _workers(seconds):
    """How many processes would share so much work."""
    from . import cpu_count

    return cpu_count() if seconds > 0.05 else 1
