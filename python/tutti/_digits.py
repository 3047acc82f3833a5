"""Numbers as text, one at a time: floats by their shortest digits, integers in other bases."""

from . import _core

_WIDTH = {"float16": 2, "bfloat16": 3, "float32": 4, "float64": 8}


def _read(x):
    """A float and the bytes of its type."""
    if type(x) is float:
        return x, 8
    a = _core.asarray(x)
    if a.ndim != 0:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    if a.dtype.kind == "c":
        raise TypeError("float() argument must be a string or a real number, not 'complex'")
    return float(a), _WIDTH.get(a.dtype.name, 8)


def _check(precision, min_digits, unique, trim):
    if trim not in ("k", ".", "0", "-"):
        raise TypeError(f"if supplied, trim must be 'k', '.', '0' or '-' found `{trim}`")
    if precision is None and not unique:
        raise TypeError("in non-unique mode `precision` must be supplied")
    if min_digits and precision and min_digits > precision:
        raise ValueError("min_digits must be less than or equal to precision")


def _ended(whole, part, trim):
    """The digits behind the point as `trim` wants them, with the point."""
    if trim != "k":
        part = part.rstrip("0")
    if trim == "0" and not part:
        part = "0"
    return whole + ("" if trim == "-" and not part else "." + part)


def _cut(x, digits, exponent, unique, precision, min_digits, first, fixed=False):
    """The digits from the first to precision behind `first`, or at least min_digits: rounded from the exact value where
    they are not the shortest ones. What is rounded up loses its zeros, what is cut keeps them."""
    have = len(digits) - 1 - exponent  # places behind the point
    places = have if unique else precision + first
    if unique and min_digits is not None:
        places = max(places, min_digits + first)
    if unique and precision is not None:
        places = min(places, precision + first)
    if unique and places == have:
        return digits, exponent
    if fixed and x != 0:  # 0.1 as a float16 is 0.09998: its own digits begin a place later
        exponent = int(f"{abs(x):.20e}".partition("e")[2])
    count = exponent + places  # digits behind the first one
    if count < 0:
        up = count == -1 and abs(x) > 5 * 10.0**exponent
        return ("1", exponent + 1) if up else ("0", exponent)
    mantissa, _, power = f"{abs(x):.{count}e}".partition("e")
    digits, power = mantissa.replace(".", ""), int(power)
    if digits[-1] == "0" and float(f"{mantissa}e{power}") > abs(x):
        digits = digits.rstrip("0")
    return digits, power


def _special(x, sign):
    if x - x == 0:
        return None
    return "nan" if x != x else "-inf" if x < 0 else "+inf" if sign else "inf"


def _head(x, sign):
    return "-" if x < 0 or (x == 0 and str(x)[0] == "-") else "+" if sign else ""


def format_float_positional(
    x,
    precision=None,
    unique=True,
    fractional=True,
    trim="k",
    sign=False,
    pad_left=None,
    pad_right=None,
    min_digits=None,
):
    """A float without an exponent: the shortest digits that tell it from its neighbours, or precision of them.

    Parameters
    ----------
    x : float
        The number.
    precision : int, optional
        The most digits.
    unique : bool, optional
        The shortest digits that tell the number from its neighbours.
    fractional : bool, optional
        The precision counts digits behind the point.
    trim : {'k', '.', '0', '-'}, optional
        What is done with zeros behind the point.
    sign : bool or str, optional
        A sign before positive numbers also: True, '+' or ' '.
    pad_left : int, optional
        The least characters before the point.
    pad_right : int, optional
        The least characters behind the point.
    min_digits : int, optional
        The least digits behind the point.

    Returns
    -------
    str
        The digits.

    Examples
    --------
    >>> tt.format_float_positional(1e-5)
    '0.00001'
    """
    x, size = _read(x)
    _check(precision, min_digits, unique, trim)
    if not fractional and precision == 0:
        raise ValueError("precision must be greater than 0 if fractional=False")
    special = _special(x, sign)
    if special is not None:
        return special
    digits, exponent = _core._shortest(x, size)
    first = 0 if fractional else -exponent - 1  # where counting begins, behind the point
    digits, exponent = _cut(x, digits, exponent, unique, precision, min_digits, first, fractional)
    if exponent < 0:
        whole, part = "0", "0" * (-exponent - 1) + digits
    else:
        digits = digits.ljust(exponent + 1, "0")
        whole, part = digits[: exponent + 1], digits[exponent + 1 :]
    if x == 0:
        part = ""
    if precision is not None and fractional:
        part = part[:precision]
    wanted = precision if not unique else min_digits or 0
    if not fractional:
        wanted = max(0, wanted - 1) if x == 0 else 0
    text = _ended(_head(x, sign) + whole, part.ljust(wanted, "0"), trim)
    before, point, after = text.partition(".")
    if pad_right is not None:
        after = after.ljust(pad_right) if point else " " + after.ljust(pad_right)
    return before.rjust(pad_left or 0) + point + after


def format_float_scientific(
    x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None
):
    """A float with an exponent: the shortest digits that tell it from its neighbours, or precision of them.

    Parameters
    ----------
    x : float
        The number.
    precision : int, optional
        The most digits.
    unique : bool, optional
        The shortest digits that tell the number from its neighbours.
    trim : {'k', '.', '0', '-'}, optional
        What is done with zeros behind the point.
    sign : bool or str, optional
        A sign before positive numbers also: True, '+' or ' '.
    pad_left : int, optional
        The least characters before the point.
    exp_digits : int, optional
        The least digits of the exponent.
    min_digits : int, optional
        The least digits behind the point.

    Returns
    -------
    str
        The digits.

    Examples
    --------
    >>> tt.format_float_scientific(1234.5)
    '1.2345e+03'
    """
    x, size = _read(x)
    _check(precision, min_digits, unique, trim)
    special = _special(x, sign)
    if special is not None:
        return special
    digits, exponent = _core._shortest(x, size)
    digits, exponent = _cut(x, digits, exponent, unique, precision, min_digits, -exponent)
    wanted = precision if not unique else min_digits or 0
    part = digits[1:].ljust(wanted, "0")
    text = _ended(_head(x, sign) + digits[0], part, trim)
    before, point, after = text.partition(".")
    power = f"e{'-' if exponent < 0 else '+'}{abs(exponent):0{2 if exp_digits is None else exp_digits}d}"
    return before.rjust(pad_left or 0) + point + after + power


def base_repr(number, base=2, padding=0):
    """An integer in a base up to 36, with `padding` zeros before it.

    Parameters
    ----------
    number : int
        The number.
    base : int, optional
        The base, 2 to 36.
    padding : int, optional
        How many zeros before it.

    Returns
    -------
    str
        The digits.

    Examples
    --------
    >>> tt.base_repr(255, 16)
    'FF'
    """
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if base > len(digits):
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    left, out = abs(int(number)), []
    while left:
        left, digit = divmod(left, base)
        out.append(digits[digit])
    if padding:
        out.append("0" * padding)
    if number < 0:
        out.append("-")
    return "".join(reversed(out or "0"))


def binary_repr(num, width=None):
    """The bits of an integer; with a width negative numbers are two's complements.

    Parameters
    ----------
    num : int
        The number.
    width : int, optional
        The least digits; negative numbers are two's complements then.

    Returns
    -------
    str
        The digits.

    Examples
    --------
    >>> tt.binary_repr(-3, width=5)
    '11101'
    """
    import operator

    num = operator.index(num)
    if num == 0:
        return "0" * (width or 1)
    if num > 0:
        text = f"{num:b}"
    elif width is None:
        return f"-{-num:b}"
    else:
        least = len(f"{-num:b}")
        least -= 2 ** (least - 1) == -num
        text = f"{2 ** (least + 1) + num:b}".rjust(least + 1, "1")
        text = "1" * (width - len(text)) + text
    if width is not None and len(text) > width:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(text)}")
    return text.rjust(width or 0, "0")
