"""Arrays as text, in NumPy's form.

Only the elements that are shown are fetched: an array above the threshold is cut to its
corners first. The digits of 16- and 32-bit floats come from `_core._shortest`.
"""

from _thread import _local as _thread_local  # threading.local without the import of threading

from . import _core

_DEFAULTS = {
    "edgeitems": 3,
    "threshold": 1000,
    "floatmode": "maxprec",
    "precision": 8,
    "suppress": False,
    "linewidth": 75,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "legacy": False,
    "override_repr": None,
}
_local = _thread_local()
_shared = dict(_DEFAULTS)


def _options():
    return getattr(_local, "options", None) or _shared


def _checked(precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode):
    if floatmode not in (None, "fixed", "unique", "maxprec", "maxprec_equal"):
        raise ValueError("floatmode option must be one of 'fixed', 'unique', 'maxprec', 'maxprec_equal'")
    if sign not in (None, "-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    if threshold is not None:
        if not isinstance(threshold, (int, float)):
            raise TypeError("threshold must be numeric")
        if threshold != threshold:
            raise ValueError("threshold must be non-NAN, try sys.maxsize for untruncated representation")
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
        "suppress": None if suppress is None else bool(suppress),
        "nanstr": nanstr,
        "infstr": infstr,
        "sign": sign,
        "floatmode": floatmode,
    }
    given = {k: v for k, v in given.items() if v is not None}
    given["formatter"] = formatter
    return given


def set_printoptions(
    precision=None,
    threshold=None,
    edgeitems=None,
    linewidth=None,
    suppress=None,
    nanstr=None,
    infstr=None,
    formatter=None,
    sign=None,
    floatmode=None,
    *,
    legacy=None,
    override_repr=None,
):
    """Set how arrays are printed; the names are NumPy's.

    Parameters
    ----------
    precision : int, optional
        Digits behind the point.
    threshold : int, optional
        From how many elements on the middle is left out.
    edgeitems : int, optional
        How many elements stand at the ends then.
    linewidth : int, optional
        Characters of a line.
    suppress : bool, optional
        Small numbers are printed as zero.
    nanstr : str, optional
        What is printed for NaN.
    infstr : str, optional
        What is printed for infinity.
    formatter : dict of function, optional
        What writes elements of a kind.
    sign : bool or str, optional
        A sign before positive numbers also: True, '+' or ' '.
    floatmode : {'fixed', 'unique', 'maxprec', 'maxprec_equal'}, optional
        How the precision is meant.
    legacy : array_like, optional
        Taken for NumPy's sake, but in get_state: the tuple, not the dictionary.
    override_repr : function, optional
        What writes arrays.

    Returns
    -------
    None

    Examples
    --------
    >>> tt.set_printoptions(precision=8)
    """
    _options().update(
        _checked(precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode),
        override_repr=override_repr,
    )


def get_printoptions():
    """The options of set_printoptions, as they are now.

    Returns
    -------
    dict
        The options.

    Examples
    --------
    >>> tt.get_printoptions()["precision"]
    8
    """
    return dict(_options())


class printoptions:
    """Context manager: set_printoptions for the length of a block.

    Parameters
    ----------
    **options : object
        What set_printoptions takes.

    Returns
    -------
    context manager

    Examples
    --------
    >>> with tt.printoptions(precision=2):
    ...     print(tt.array([1 / 3]))
    [0.33]
    """

    def __init__(self, *args, **options):
        self._call = (args, options)

    def __enter__(self):
        self._before = getattr(_local, "options", None)
        _local.options = dict(_options())
        args, options = self._call
        try:
            set_printoptions(*args, **options)
        except BaseException:
            _local.options = self._before
            raise
        return get_printoptions()

    def __exit__(self, *exc):
        _local.options = self._before


# ---- digits

_SIZE = {"float16": 2, "bfloat16": 3, "float32": 4, "float64": 8, "complex64": 4, "complex128": 8}
_EXP_CUTOFF = {2: 1e3, 3: 1e8, 4: 1e6, 8: 1e8}
_INF = float("inf")


def _scientific(x, size, precision, unique, trim, plus, min_digits=None, exp_digits=2):
    digits, exponent = _core._shortest(x, size)
    if (
        not unique
        or (precision is not None and len(digits) - 1 > precision)
        or (min_digits and len(digits) - 1 < min_digits)
    ):
        text = f"{abs(x):.{precision if precision is not None else min_digits}e}"
        head, _, tail = text.partition("e")
        digits, exponent = head.replace(".", ""), int(tail)
    whole, part = digits[0], digits[1:]
    if trim:
        part = part.rstrip("0")
    elif min_digits is not None:
        part = part.ljust(min_digits, "0")
    sign = "-" if _negative(x) else "+" if plus else ""
    return f"{sign}{whole}.{part}", f"{'-' if exponent < 0 else '+'}{abs(exponent):0{exp_digits}d}"


def _positional(x, size, precision, unique, trim, plus, min_digits=0):
    digits, exponent = _core._shortest(x, size)
    parts = max(0, len(digits) - 1 - exponent)
    if not unique or (precision is not None and parts > precision) or parts < min_digits:
        wanted = precision if precision is not None and (not unique or parts > precision) else min_digits
        whole, _, part = f"{abs(x):.{wanted}f}".partition(".")
    elif exponent < 0:
        whole, part = "0", "0" * (-exponent - 1) + digits
    else:
        digits = digits.ljust(exponent + 1, "0")
        whole, part = digits[: exponent + 1], digits[exponent + 1 :]
    if trim:
        part = part.rstrip("0")
    sign = "-" if _negative(x) else "+" if plus else ""
    return sign + whole, part


def _negative(x):
    return x < 0 or (x == 0 and str(x)[0] == "-")


class _Float:
    """One width and one notation for all the floats of a table, as NumPy chooses them."""

    def __init__(self, values, size, options, sign=None):
        self.options, self.size = options, size
        self.sign = options["sign"] if sign is None else sign
        self.fixed = options["floatmode"] == "fixed"
        self.precision = None if options["floatmode"] == "unique" else options["precision"]
        finite = [x for x in values if x - x == 0]
        self.exponential = self._wants_exponents([abs(x) for x in finite if x != 0])
        self.left = self.right = 0
        self.exp_digits = -1
        self.trim, self.min_digits = True, 0
        if finite and self.exponential:
            self._measure_scientific(finite)
        elif finite:
            self._measure_positional(finite)
        if self.sign == " " and not any(_negative(x) for x in finite):
            self.left += 1
        if len(finite) < len(values):
            offset = self.right + 1
            signed = self.sign != "-" or -_INF in values
            self.left = max(self.left, len(options["nanstr"]) - offset, len(options["infstr"]) + signed - offset)

    def _wants_exponents(self, sizes):
        if not sizes:
            return False
        most, least = max(sizes), min(sizes)
        if most >= _EXP_CUTOFF[self.size]:
            return True
        return not self.options["suppress"] and (least < 0.0001 or most / least > 1000.0)

    def _measure_scientific(self, finite):
        plus = self.sign == "+"
        texts = [_scientific(x, self.size, self.precision, not self.fixed, not self.fixed, plus) for x in finite]
        self.exp_digits = max(len(e) - 1 for _, e in texts)
        pairs = [head.split(".") for head, _ in texts]
        self.precision = self.min_digits = max(len(part) for _, part in pairs)
        self.trim = False
        self.left = max(len(whole) for whole, _ in pairs)
        self.right = self.exp_digits + 2 + self.precision

    def _measure_positional(self, finite):
        plus = self.sign == "+"
        pairs = [_positional(x, self.size, self.precision, not self.fixed, not self.fixed, plus) for x in finite]
        self.left = max(len(whole) for whole, _ in pairs)
        self.right = max(len(part) for _, part in pairs)
        if self.options["floatmode"] in ("fixed", "maxprec_equal"):
            self.precision = self.min_digits = self.right
            self.trim = False

    def __call__(self, x):
        plus = self.sign == "+"
        if x != x or x in (_INF, -_INF):
            text = self.options["nanstr"] if x != x else self.options["infstr"]
            sign = "-" if x == -_INF else "+" if plus else ""
            return (sign + text).rjust(self.left + self.right + 1)
        if self.exponential:
            head, exponent = _scientific(
                x, self.size, self.precision, not self.fixed, False, plus, self.min_digits, self.exp_digits
            )
            return head.rjust(self.left + 1 + self.precision) + "e" + exponent
        whole, part = _positional(x, self.size, self.precision, not self.fixed, self.trim, plus, self.min_digits)
        return whole.rjust(self.left) + "." + part.ljust(self.right)


class _Complex:
    def __init__(self, values, size, options):
        self.real = _Float([z.real for z in values], size, options)
        self.imag = _Float([z.imag for z in values], size, options, sign="+")

    def __call__(self, z):
        imag = self.imag(z.imag)
        digits = imag.rstrip()
        return self.real(z.real) + digits + "j" + imag[len(digits) :]


class _Int:
    def __init__(self, values, options):
        sign, width = options["sign"], 0
        if values:
            most, least = max(values), min(values)
            if sign == " " and least < 0:
                sign = "-"
            width = max(len(str(most)) + (most >= 0 and sign in "+ "), len(str(least)))
        self.format = f"{{:{sign}{width}d}}".format

    def __call__(self, x):
        return self.format(x)


_FORMATTER_KEYS = {
    "b": ("bool",),
    "i": ("int", "int_kind"),
    "u": ("int", "int_kind"),
    "f": ("float", "float_kind"),
    "V": ("float", "float_kind"),
    "c": ("complexfloat", "complex_kind"),
}


def _formatter(values, dtype, rank, options):
    kind = dtype.kind
    custom = options["formatter"] or {}
    for key in ("all", *reversed(_FORMATTER_KEYS[kind])):
        if custom.get(key) is not None:
            return custom[key]
    if kind == "b":
        true = " True" if rank else "True"
        return lambda x: true if x else "False"
    if kind in "iu":
        return _Int(values, options)
    return (_Complex if kind == "c" else _Float)(values, _SIZE[dtype.name], options)


# ---- layout


def _joined(parts, depth):
    if depth == 0:
        return [x for part in parts for x in part]
    return [_joined(rows, depth - 1) for rows in zip(*parts)]


def _corners(a, edge, index=()):
    """The elements that a summary shows, both ends of every long axis, as nested lists."""
    axis = len(index)
    if axis == a.ndim:
        return a[index].tolist()
    n = a.shape[axis]
    if n <= 2 * edge:
        return _corners(a, edge, (*index, slice(None)))
    ends = (slice(None, edge), slice(n - edge, None))
    return _joined([_corners(a, edge, (*index, end)) for end in ends], axis)


def _flat(nested, rank):
    for _ in range(rank - 1):
        nested = [x for row in nested for x in row]
    return nested if rank else [nested]


class _Layout:
    """Rows, brackets and line breaks of one array."""

    def __init__(self, shape, text, width, separator, edge, summary):
        self.shape, self.text, self.width, self.separator = shape, text, width, separator
        self.edge, self.summary = edge, summary

    def cut(self, axis):
        return self.summary and self.shape[axis] > 2 * self.edge

    def row(self, items, indent, width):
        width -= max(len(self.separator.rstrip()), 1)
        words = [self.text(x) for x in items]
        if self.cut(len(self.shape) - 1):
            words.insert(self.edge, "...")
        done, line, last = "", indent, len(words) - 1
        for k, word in enumerate(words):
            if len(line) + len(word) > width and len(line) > len(indent):
                done += line.rstrip() + "\n"
                line = indent
            line += word if k == last else word + self.separator
        return done + line

    def block(self, nested, axis, indent, width):
        left = len(self.shape) - axis
        if left == 0:
            return self.text(nested)
        inner, inner_width = indent + " ", width - 1
        if left == 1:
            body = self.row(nested, indent, width)
        else:
            between = self.separator.rstrip() + "\n" * (left - 1)
            rows = [indent + self.block(x, axis + 1, inner, inner_width) for x in nested]
            if self.cut(axis):
                rows.insert(self.edge, indent + "...")
            body = between.join(rows)
        return "[" + body[len(indent) :] + "]"


def array2string(
    a,
    max_line_width=None,
    precision=None,
    suppress_small=None,
    separator=" ",
    prefix="",
    *,
    formatter=None,
    threshold=None,
    edgeitems=None,
    sign=None,
    floatmode=None,
    suffix="",
    legacy=None,
):
    """The elements of an array as text, without the array(...) around them.

    Parameters
    ----------
    a : array_like
        The array.
    max_line_width : int, optional
        Characters of a line.
    precision : int, optional
        Digits behind the point.
    suppress_small : bool, optional
        Small numbers are printed as zero.
    separator : str, optional
        What stands between elements.
    prefix : str, optional
        What will stand before the text.
    formatter : dict of function, optional
        What writes elements of a kind.
    threshold : int, optional
        From how many elements on the middle is left out.
    edgeitems : int, optional
        How many elements stand at the ends then.
    sign : bool or str, optional
        A sign before positive numbers also: True, '+' or ' '.
    floatmode : {'fixed', 'unique', 'maxprec', 'maxprec_equal'}, optional
        How the precision is meant.
    suffix : str, optional
        What will stand behind the text.
    legacy : array_like, optional
        Taken for NumPy's sake, but in get_state: the tuple, not the dictionary.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> tt.array2string(tt.arange(3), separator=", ")
    '[0, 1, 2]'
    """
    options = dict(_options())
    given = _checked(
        precision, threshold, edgeitems, max_line_width, suppress_small, None, None, formatter, sign, floatmode
    )
    options.update({k: v for k, v in given.items() if v is not None})
    if a.size == 0:
        return "[]"
    summary = a.size > options["threshold"]
    nested = _corners(a.eval(), options["edgeitems"]) if summary else a.tolist()
    text = _formatter(_flat(nested, a.ndim), a.dtype, a.ndim, options)
    width = options["linewidth"] - len(suffix)
    layout = _Layout(a.shape, text, width, separator, options["edgeitems"], summary)
    return layout.block(nested, 0, " " + " " * len(prefix), width)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """As repr(arr).

    Parameters
    ----------
    arr : array_like
        The array.
    max_line_width : int, optional
        Characters of a line.
    precision : int, optional
        Digits behind the point.
    suppress_small : bool, optional
        Small numbers are printed as zero.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> tt.array_repr(tt.arange(3))
    'array([0, 1, 2])'
    """
    options = _options()
    if options["override_repr"] is not None:
        return options["override_repr"](arr)
    width = options["linewidth"] if max_line_width is None else max_line_width
    head = ("array" if type(arr) is _core.ndarray else type(arr).__name__) + "("
    text = head + array2string(arr, width, precision, suppress_small, ", ", head, suffix=")")
    extras = []
    if (arr.size == 0 and arr.shape != (0,)) or arr.size > options["threshold"]:
        extras.append(f"shape={arr.shape}")
    if arr.size == 0 or arr.dtype.name not in ("bool", "int64", "float64", "complex128"):
        extras.append(f"dtype={arr.dtype.name}")
    if not extras:
        return text + ")"
    text += ","
    extra = ", ".join(extras) + ")"
    last_line = len(text) - (text.rfind("\n") + 1)
    spacer = "\n" + " " * len(head) if last_line + len(extra) + 1 > width else " "
    return text + spacer + extra


_SCALAR_CUTOFF = {2: 1e3, 3: 1e16, 4: 1e6, 8: 1e16}


def _float_str(x, size):
    if size == 8 or x - x != 0 or x == 0:
        return repr(x)
    if 1e-4 <= abs(x) < _SCALAR_CUTOFF[size]:
        whole, part = _positional(x, size, None, True, True, False)
        return f"{whole}.{part or '0'}"
    head, exponent = _scientific(x, size, None, True, True, False)
    return f"{head.rstrip('.')}e{exponent}"


def _scalar_str(a):
    x, name = a.item(), a.dtype.name
    if name == "complex64":
        parts = [_float_str(x.real, 4), _float_str(x.imag, 4)]
        parts = [p[:-2] if p.endswith(".0") else p for p in parts]
        if x.real == 0 and not _negative(x.real):
            return parts[1] + "j"
        return f"({parts[0]}{'' if parts[1][0] == '-' else '+'}{parts[1]}j)"
    return _float_str(x, _SIZE[name]) if isinstance(x, float) else str(x)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """As str(a).

    Parameters
    ----------
    a : array_like
        The array.
    max_line_width : int, optional
        Characters of a line.
    precision : int, optional
        Digits behind the point.
    suppress_small : bool, optional
        Small numbers are printed as zero.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> tt.array_str(tt.arange(3))
    '[0 1 2]'
    """
    if a.ndim == 0:
        return _scalar_str(a)
    return array2string(a, max_line_width, precision, suppress_small, " ", "")


def format_array(a, spec):
    """format(a, spec): a scalar's format for one without axes."""
    if a.ndim == 0:
        return format(a.item(), spec) if spec else array_str(a)
    if spec:
        raise TypeError("unsupported format string passed to tutti.ndarray.__format__")
    return array_str(a)
