"""Tables of text in which some numbers are missing."""

from .. import _core
from . import _io, _text

_NAMED = "tables with names or several types of columns are records, which there are none of: read columns by usecols"


def _number(dtype):
    return _text._number(dtype)


def _guessed(rows):
    """The narrowest of int, float and complex that reads all words."""
    for name in ("int64", "float64", "complex128"):
        number = _number(_core.dtype(name))
        try:
            for row in rows:
                for word in row:
                    if word:
                        number(word)
        except ValueError:
            continue
        return _core.dtype(name)
    raise ValueError("the words of this table are no numbers")


def _per_column(values, k, fallback):
    """What a column gets of one value, a list by place, or a dictionary."""
    if isinstance(values, dict):
        return values.get(k, fallback)
    if isinstance(values, (list, tuple)):
        return values[k] if k < len(values) else fallback
    return fallback if values is None else values


def _read(fname, encoding, skip_header, skip_footer):
    opened = _io._is_path(fname)
    file = _text._open(fname, "r", encoding or "latin1") if opened else fname
    try:
        lines = [x.decode("latin1") if isinstance(x, bytes) else x for x in file]
    finally:
        if opened:
            file.close()
    return lines[skip_header : len(lines) - skip_footer if skip_footer else None]


def _split(lines, comments, delimiter, autostrip):
    rows = []
    for at, line in enumerate(lines, 1):
        line = (line.split(comments)[0] if comments else line).strip("\r\n")
        if not line.strip():
            continue
        if isinstance(delimiter, int):
            words = [line[k : k + delimiter] for k in range(0, len(line), delimiter)]
        else:
            words = line.split(delimiter)
        rows.append((at, [w.strip() for w in words] if autostrip or delimiter != " " else words))
    return rows


def _checked(rows, invalid_raise):
    """The rows as long as the first one."""
    width = len(rows[0][1])
    wrong = [f"    Line #{at} (got {len(row)} columns instead of {width})" for at, row in rows if len(row) != width]
    if wrong:
        text = "Some errors were detected !\n" + "\n".join(wrong)
        if invalid_raise:
            raise ValueError(text)
        import warnings

        warnings.warn(text, UserWarning, stacklevel=4)
    return [row for _, row in rows if len(row) == width]


def _converter(k, dtype, converters, missing, filling, loose):
    """How a word of column k becomes a number."""
    own = converters.get(k)
    number = own or _number(dtype)
    lacks = {"b": False, "i": -1, "u": -1, "c": complex("nan")}.get(dtype.kind, float("nan"))
    instead = _per_column(filling, k, lacks)
    words = _per_column(missing, k, ())
    words = {words} if isinstance(words, str) else set(words)

    def convert(word):
        if own is None and (not word or word in words):
            return instead
        try:
            return number(word)
        except ValueError:
            if loose and own is None:
                return instead
            raise ValueError(f"Cannot convert string {word!r}") from None

    return convert


def genfromtxt(
    fname, dtype=float, comments="#", delimiter=None, skip_header=0, skip_footer=0, converters=None,
    missing_values=None, filling_values=None, usecols=None, names=None, excludelist=None, deletechars="",
    replace_space="_", autostrip=False,
    case_sensitive=True, defaultfmt="f%i", unpack=None, usemask=False, loose=True, invalid_raise=True, max_rows=None,
    encoding=None, *, ndmin=0, like=None
):  # fmt: skip
    """A table of numbers out of a text file or lines; what is missing becomes NaN (integers: -1) or filling_values.

    Parameters
    ----------
    fname : str, path, file or iterable of str
        Where the text is.
    dtype : dtype, optional
        The type of the result; None: as NumPy's rules have it.
    comments : str, optional
        What begins a comment.
    delimiter : str, optional
        What stands between the numbers; None: whitespace.
    skip_header : int, optional
        Lines left out at the beginning.
    skip_footer : int, optional
        Lines left out at the end.
    converters : function or dict of function, optional
        What makes a number of a text.
    missing_values : str or sequence of str, optional
        Texts that stand for nothing.
    filling_values : number or sequence of number, optional
        What stands for what is missing.
    usecols : int or sequence of int, optional
        Which columns; None: all.
    names : sequence of str, optional
        Refused: there are no names of columns.
    excludelist : sequence, optional
        Taken for NumPy's sake: there are no names of columns.
    deletechars : str, optional
        Taken for NumPy's sake: there are no names of columns.
    replace_space : str, optional
        Taken for NumPy's sake: there are no names of columns.
    autostrip : bool, optional
        Whitespace around texts is taken off.
    case_sensitive : bool, optional
        Taken for NumPy's sake: there are no names of columns.
    defaultfmt : str, optional
        Taken for NumPy's sake: there are no names of columns.
    unpack : bool, optional
        The columns apart: the result is transposed.
    usemask : bool, optional
        Refused: there are no masked arrays.
    loose : bool, optional
        What is no number becomes a missing one, not an error.
    invalid_raise : bool, optional
        Lines of another length are an error, not left out with a warning.
    max_rows : int, optional
        The most lines; None: all.
    encoding : str, optional
        The encoding of the text.
    ndmin : int, optional
        The least number of axes.
    like : array_like, optional
        Taken for NumPy's sake.

    Returns
    -------
    ndarray
        The numbers, of one or two axes.

    Examples
    --------
    >>> tt.genfromtxt(["1,2", "3,"], delimiter=",")
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    if names is not None or usemask:
        raise NotImplementedError(_NAMED)
    if max_rows is not None and skip_footer:
        raise ValueError("The keywords 'skip_footer' and 'max_rows' can not be specified at the same time.")
    rows = _split(_read(fname, encoding, skip_header, skip_footer), comments, delimiter, autostrip)
    rows = rows if max_rows is None else rows[:max_rows]
    if not rows:
        import warnings

        warnings.warn(f'genfromtxt: Empty input file: "{fname}"', UserWarning, stacklevel=2)
        return _core.array([], dtype=float if dtype is None else dtype)
    table = _checked(rows, invalid_raise)
    width = len(table[0])
    if usecols is not None:
        at = [usecols] if isinstance(usecols, int) else [int(k) for k in usecols]
        at = [k + width if k < 0 else k for k in at]
        table = [[row[k] for k in at] for row in table]
    else:
        at = list(range(width))
    dtype = _guessed(table) if dtype is None else _core.dtype(dtype)
    converters = {k + width if k < 0 else k: f for k, f in (converters or {}).items()}
    columns = [_converter(k, dtype, converters, missing_values, filling_values, loose) for k in at]
    a = _core.array([[f(w) for f, w in zip(columns, row)] for row in table], dtype=dtype)
    keep = [n for n in a.shape if n != 1]
    if ndmin == 2:
        pass
    else:
        a = a.reshape(keep if len(keep) >= ndmin else (-1,))
    return a.T if unpack else a
