"""Series as text, in NumPy's form."""

from .. import _core, _printing
from .._digits import format_float_positional, format_float_scientific

_ABOVE = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _is_floating(x):
    return isinstance(x, float) or (hasattr(x, "dtype") and _core.dtype(x.dtype).kind == "f")


def format_float(x, parens=False):
    """A number as it stands in a series: floats by the print options, everything else by str().

    Parameters
    ----------
    x : number
        The number.
    parens : bool, optional
        Parentheses around negative and complex numbers.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> tt.polynomial.polyutils.format_float(1.5)
    '1.5'
    """
    if not _is_floating(x):
        return str(x)
    options = _printing.get_printoptions()
    if x != x:
        return options["nanstr"]
    if x - x != 0:
        return options["infstr"]
    precision, fixed = options["precision"], options["floatmode"] == "fixed"
    size = abs(float(x))
    how = {"precision": precision, "unique": not fixed, "trim": "k" if fixed else "0", "sign": options["sign"] == "+"}
    if size != 0 and (size >= 1.0e8 or size < 10 ** min(0, -(precision - 1) // 2)):
        text = format_float_scientific(x, **how)
        return f"({text})" if parens else text
    return format_float_positional(x, fractional=True, **how)


def power_unicode(k, symbol):
    return f"·{symbol}" if k == 1 else f"·{symbol}{str(k).translate(_ABOVE)}"


def power_ascii(k, symbol):
    return f" {symbol}" if k == 1 else f" {symbol}**{k}"


def named_unicode(name):
    return lambda k, symbol: f"·{name}{str(k).translate(_BELOW)}({symbol})"


def named_ascii(name):
    return lambda k, symbol: f" {name}_{k}({symbol})"


def line(format_scalar, off, scl, symbol):
    """off + scl * symbol without what is nothing, and whether it takes parentheses in a term."""
    if off == 0 and scl == 1:
        return symbol, False
    if scl == 1:
        return f"{format_scalar(off)} + {symbol}", True
    if off == 0:
        return f"{format_scalar(scl)}{symbol}", True
    return f"{format_scalar(off)} + {format_scalar(scl)}{symbol}", True


def series(coef, term, variable):
    """The sum of terms, broken into lines where print options say so."""
    width = max(1, _printing.get_printoptions()["linewidth"])
    symbol, parens = variable
    symbol = f"({symbol})" if parens else symbol
    out = format_float(coef[0])
    for k, c in enumerate(coef[1:], 1):
        try:
            text = "+ " + format_float(c, parens=True) if c >= 0 else "- " + format_float(-c, parens=True)
        except TypeError:
            text = f"+ {c}"
        text += term(k, symbol)
        last = k == len(coef) - 1
        if len(out.split("\n")[-1]) + 1 + len(text) + (0 if last else 2) >= width:
            text = text.replace(" ", "\n", 1)
        out += " " + text
    return out
