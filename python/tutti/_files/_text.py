"""Arrays in text files: a row a line."""

import os

from .. import _core
from . import _io


def _open(name, mode, encoding):
    """A text file by its name, unpacked on the way when the name ends so."""
    name = os.fspath(name)
    ending = os.path.splitext(name)[1]
    if ending == ".gz":
        import gzip as packer
    elif ending == ".bz2":
        import bz2 as packer
    elif ending == ".xz":
        import lzma as packer
    else:
        return open(name, mode, encoding=encoding)
    return packer.open(name, mode + "t", encoding=encoding)


# ---- writing


def _row_format(fmt, columns, delimiter, is_complex):
    """One format for a whole row."""
    if isinstance(fmt, (list, tuple)):
        if len(fmt) != columns:
            raise AttributeError(f"fmt has wrong shape.  {fmt}")
        return delimiter.join(fmt)
    if not isinstance(fmt, str):
        raise ValueError(f"invalid fmt: {fmt!r}")
    count = fmt.count("%")
    if count == 1:
        return delimiter.join([f" ({fmt}+{fmt}j)" if is_complex else fmt] * columns)
    if count != (2 * columns if is_complex else columns):
        raise ValueError(f"fmt has wrong number of % formats:  {fmt}")
    return fmt


def _lines(a, form, newline, is_complex):
    for row in a.tolist():
        if is_complex:
            row = [part for z in row for part in (z.real, z.imag)]
        try:
            line = form % tuple(row) + newline
        except TypeError as e:
            raise TypeError(f"Mismatch between array dtype ('{a.dtype.name}') and format specifier ('{form}')") from e
        yield line.replace("+-", "-") if is_complex else line


def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# ", encoding=None):
    """Write an array of one or two axes as text. A file at a path appears whole or not at all.

    Parameters
    ----------
    fname : str, path or file
        Where to.
    X : array_like
        The array.
    fmt : str or sequence of str, optional
        How numbers are written.
    delimiter : str, optional
        What stands between the numbers.
    newline : str, optional
        The end of a line.
    header : str, optional
        What stands before the numbers.
    footer : str, optional
        What stands behind the numbers.
    comments : str, optional
        What stands before the lines of header and footer.
    encoding : str, optional
        The encoding of the text.

    Returns
    -------
    None

    Examples
    --------
    >>> import sys
    >>> tt.savetxt(sys.stdout, tt.eye(2), fmt="%d")
    1 0
    0 1
    """
    a = _core.asarray(X)
    if a.ndim not in (1, 2):
        raise ValueError(f"Expected 1D or 2D array, got {a.ndim}D array instead")
    if a.ndim == 1:
        a = a.reshape(-1, 1)
    is_complex = a.dtype.kind == "c"
    form = _row_format(fmt, a.shape[1], delimiter, is_complex)

    def remark(text):
        return [comments + text.replace("\n", "\n" + comments) + newline] if text else []

    parts = [*remark(header), *_lines(a, form, newline, is_complex), *remark(footer)]
    if not _io._is_path(fname):
        try:
            for part in parts:
                fname.write(part)
        except TypeError:  # a file of bytes
            for part in parts:
                fname.write(part.encode(encoding or "latin1"))
        return
    data = "".join(parts).encode(encoding or "latin1")
    ending = os.path.splitext(os.fspath(fname))[1]
    if ending in (".gz", ".bz2", ".xz"):
        import importlib

        data = importlib.import_module({".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}[ending]).compress(data)
    with _io._replacing(fname) as file:
        _io._put(file, data)


# ---- reading


def _cut(line, marks):
    for mark in marks:
        at = line.find(mark)
        if at >= 0:
            line = line[:at]
    return line


def _words(line, delimiter, quote):
    if quote and quote in line:
        import csv

        return next(csv.reader([line], delimiter=delimiter or " ", quotechar=quote, skipinitialspace=True))
    return line.split(delimiter)


def _number(dtype):
    """How a word becomes a number of that type."""
    if dtype.kind == "b":
        return lambda word: bool(int(word))
    if dtype.kind == "c":
        return lambda word: complex(word.strip().strip("()").replace(" ", "").replace("i", "j"))
    return float if dtype.kind == "f" else int


def _picked(usecols, count, row):
    for k in usecols:
        if not -count <= k < count:
            raise ValueError(f"invalid column index {k} at row {row} with {count} columns")
    return [k + count if k < 0 else k for k in usecols]


def _rows(lines, dtype, marks, delimiter, converters, usecols, limit, quote):
    number = _number(dtype)
    columns, rows = None, []
    for line in lines:
        if limit is not None and len(rows) >= limit:
            break
        line = _cut(line.decode("latin1") if isinstance(line, bytes) else line, marks).strip("\r\n")
        if not line.strip() if delimiter is None else not line:
            continue
        words = _words(line, delimiter, quote)
        if columns is None:
            columns = len(words)
        at = range(len(words)) if usecols is None else _picked(usecols, len(words), len(rows) + 1)
        if usecols is None and len(words) != columns:
            raise ValueError(
                f"the number of columns changed from {columns} to {len(words)} at row {len(rows) + 1}; use `usecols` "
                "to select a subset and avoid this error"
            )
        row = []
        for k in at:
            f = converters if callable(converters) else converters.get(k, converters.get(k - len(words), number))
            try:
                row.append(f(words[k]))
            except ValueError as e:
                if f is not number:
                    raise
                raise ValueError(
                    f"could not convert string {words[k].strip()!r} to {dtype.name} at row {len(rows)}, column {k + 1}."
                ) from e
        rows.append(row)
    return rows


def loadtxt(
    fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0,
    encoding=None, max_rows=None, *, quotechar=None, like=None
):  # fmt: skip
    """An array out of a text file, a list of lines or a generator of them.

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
    converters : function or dict of function, optional
        What makes a number of a text.
    skiprows : int, optional
        Lines left out at the beginning.
    usecols : int or sequence of int, optional
        Which columns; None: all.
    unpack : bool, optional
        The columns apart: the result is transposed.
    ndmin : int, optional
        The least number of axes.
    encoding : str, optional
        The encoding of the text.
    max_rows : int, optional
        The most lines; None: all.
    quotechar : str, optional
        What stands around texts.
    like : array_like, optional
        Taken for NumPy's sake.

    Returns
    -------
    ndarray
        Of one or two axes.

    Examples
    --------
    >>> tt.loadtxt(["1 2", "3 4"])
    array([[1., 2.],
           [3., 4.]])
    """
    dtype = _core.dtype(dtype)
    if ndmin not in (0, 1, 2):
        raise ValueError(f"Illegal value of ndmin keyword: {ndmin}")
    marks = [] if comments is None else [comments] if isinstance(comments, (str, bytes)) else list(comments)
    marks = [m.decode("latin1") if isinstance(m, bytes) else m for m in marks]
    if isinstance(delimiter, bytes):
        delimiter = delimiter.decode("latin1")
    if usecols is not None:
        usecols = [usecols] if isinstance(usecols, int) else list(usecols)
    file = _open(fname, "r", encoding or "latin1") if _io._is_path(fname) else fname
    try:
        lines = iter(file)
        for _ in range(skiprows):
            next(lines, None)
        rows = _rows(lines, dtype, marks, delimiter, converters or {}, usecols, max_rows, quotechar)
    finally:
        if file is not fname:
            file.close()
    if not rows:
        import warnings

        warnings.warn(f'loadtxt: input contained no data: "{fname}"', UserWarning, stacklevel=2)
        a = _core.functions["empty"]((0, 1) if ndmin == 2 else (0,), dtype)
    else:
        a = _core.array(rows, dtype=dtype)
        if ndmin < 2:
            keep = [n for n in a.shape if n != 1]
            a = a.reshape(keep if len(keep) >= ndmin else (-1,))
        elif a.ndim < 2:
            a = a.reshape(-1, 1)
    return a.T if unpack else a
