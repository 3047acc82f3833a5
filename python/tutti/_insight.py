"""What ran, and what must not: counters, strictness, profiles."""

from . import _core


class Ledger(dict):
    """Counters since the start or the last reset, as they were when asked.

    Examples
    --------
    >>> isinstance(tt.ledger(), dict)
    True
    """

    def reset(self):
        """Start counting from zero.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.ledger().reset()
        """
        _core._ledger_reset()

    def __str__(self):
        texts = _core._ledger_texts()
        width = max(len(f"{v:,}") for v in self.values())
        return "\n".join(f"{v:>{width},}  {k:<17} {texts[k]}" for k, v in self.items())


def ledger():
    """Counts of kernels, copies, fallbacks, compiles ..., with bytes; print it, or call its reset().

    Returns
    -------
    Ledger
        The counters.

    Examples
    --------
    >>> tt.ledger() is not None
    True
    """
    return Ledger(_core._ledger())


class strict:
    """Context: what is named ("copy", "fallback"; nothing named: both) raises StrictError instead of happening.

    Parameters
    ----------
    *what : str
        What is forbidden: "fallback", "copy", ...

    Examples
    --------
    >>> with tt.strict("fallback"):
    ...     x = tt.arange(3).sum()
    """

    _now = frozenset()

    def __init__(self, *what):
        unknown = set(what) - {"copy", "fallback"}
        if unknown:
            raise ValueError(f"strict() knows 'copy' and 'fallback', not {sorted(unknown)[0]!r}")
        self._what = frozenset(what or ("copy", "fallback"))

    def __enter__(self):
        self._before = strict._now
        self._set(self._before | self._what)
        return self

    def __exit__(self, *exc):
        self._set(self._before)

    @staticmethod
    def _set(what):
        strict._now = what
        _core._strict("copy" in what, "fallback" in what)


class profile:
    """Context: record every step that runs inside; then print it, or save it for Chrome's viewer or Perfetto.

    Examples
    --------
    >>> with tt.profile() as p:
    ...     y = tt.arange(3).sum().item()
    >>> isinstance(p.table(), str)
    True
    """

    def __init__(self):
        self._table = self._trace = ""

    def __enter__(self):
        self._lines = _core.track_lines(True)
        _core._profile_start()
        return self

    def __exit__(self, *exc):
        _core._profile_stop()
        _core.track_lines(self._lines)
        self._table, self._trace = _core._profile_table(), _core._profile_trace()

    def table(self):
        """The steps, one line each, as text.

        Returns
        -------
        str
            The table.

        Examples
        --------
        >>> with tt.profile() as p:
        ...     y = tt.arange(3).sum().item()
        >>> isinstance(p.table(), str)
        True
        """
        return self._table

    def trace(self):
        """The steps as Chrome trace JSON.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> with tt.profile() as p:
        ...     y = tt.arange(3).sum().item()
        >>> isinstance(p.trace(), str)
        True
        """
        return self._trace

    def save(self, path):
        """Write the trace to a file.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        None

        Examples
        --------
        >>> import os, tempfile
        >>> with tt.profile() as p:
        ...     y = tt.arange(3).sum().item()
        >>> p.save(os.path.join(tempfile.mkdtemp(), "trace.json"))
        """
        with open(path, "w", encoding="utf-8") as f:
            f.write(self._trace)

    def __str__(self):
        return self._table
