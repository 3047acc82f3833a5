"""Polynomials as objects, the highest power first."""

from . import _core

_f = _core.functions


class poly1d:
    """A polynomial from its coefficients, the highest power first, or (r=True) from its roots.

    Parameters
    ----------
    c_or_r : array_like
        The coefficients, the highest power first, or the roots.
    r : bool, optional
        The first argument has the roots.
    variable : str, optional
        What stands for the variable in texts.

    Examples
    --------
    >>> p = tt.poly1d([1, 0, 2])
    >>> p(3)
    array(11)
    >>> p * p
    poly1d([1, 0, 4, 0, 4])
    """

    __hash__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, poly1d):
            self._variable, self._coeffs = c_or_r._variable, c_or_r._coeffs
            if variable is not None:
                self._variable = variable
            return
        if variable is None:
            variable = getattr(c_or_r, "variable", None)  # of NumPy's class
        c = _f["poly"](c_or_r) if r else _core.array(c_or_r)
        c = c.reshape(1) if c.ndim == 0 else c
        if c.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        c = _f["trim_zeros"](c, "f")
        self._coeffs = c if c.size else _core.array([0], dtype=c.dtype)
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self):
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value):
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def variable(self):
        """The name of the variable in text."""
        return self._variable

    @property
    def order(self):
        """The highest power."""
        return len(self._coeffs) - 1

    o = order

    @property
    def roots(self):
        """Where it is zero."""
        return _f["roots"](self._coeffs)

    r = roots

    def __array__(self, dtype=None, copy=None):
        return self._coeffs.__array__(dtype)

    def __repr__(self):
        return f"poly1d({repr(self._coeffs)[6:-1]})"

    def __len__(self):
        return self.order

    def __str__(self):
        return _two_lines(self._coeffs, self._variable)

    def __call__(self, val):
        if isinstance(val, poly1d):
            out = 0  # which has no type of its own
            for c in self._coeffs:
                out = out * val + c
            return out
        return _f["polyval"](self._coeffs, val)

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def __mul__(self, other):
        return poly1d(self._coeffs * other if _is_scalar(other) else _f["polymul"](self._coeffs, _c(other)))

    __rmul__ = __mul__

    def __add__(self, other):
        return poly1d(_f["polyadd"](self._coeffs, _c(other)))

    __radd__ = __add__

    def __sub__(self, other):
        return poly1d(_f["polysub"](self._coeffs, _c(other)))

    def __rsub__(self, other):
        return poly1d(_f["polysub"](_c(other), self._coeffs))

    def __pow__(self, val):
        if not _is_scalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        out = _core.array([1])
        for _ in range(int(val)):
            out = _f["polymul"](self._coeffs, out)
        return poly1d(out)

    def __truediv__(self, other):
        if _is_scalar(other):
            return poly1d(self._coeffs / other)
        return tuple(map(poly1d, _f["polydiv"](self._coeffs, _c(other))))

    def __rtruediv__(self, other):
        if _is_scalar(other):
            return poly1d(other / self._coeffs)
        return tuple(map(poly1d, _f["polydiv"](_c(other), self._coeffs)))

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool((self._coeffs == other._coeffs).all())

    def __ne__(self, other):
        return NotImplemented if not isinstance(other, poly1d) else not self == other

    def __getitem__(self, val):
        k = self.order - val
        return self._coeffs.dtype.type(0) if val > self.order or val < 0 else self._coeffs[k]

    def __setitem__(self, key, val):
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            self._coeffs = _f["concatenate"]([_f["zeros"](key - self.order, self._coeffs.dtype), self._coeffs])
        self._coeffs[self.order - key] = val

    def __iter__(self):
        return iter(self._coeffs)

    def integ(self, m=1, k=0):
        """The m-th integral; k are the constants.

        Parameters
        ----------
        m : int, optional
            How often.
        k : number or sequence of number, optional
            The constants.

        Returns
        -------
        poly1d
            The integral.

        Examples
        --------
        >>> tt.poly1d([2, 0]).integ()
        poly1d([1., 0., 0.])
        """
        return poly1d(_f["polyint"](self._coeffs, m, k))

    def deriv(self, m=1):
        """The m-th derivative.

        Parameters
        ----------
        m : int, optional
            How often.

        Returns
        -------
        poly1d
            The derivative.

        Examples
        --------
        >>> tt.poly1d([1, 0, 2]).deriv()
        poly1d([2, 0])
        """
        return poly1d(_f["polyder"](self._coeffs, m))


def _is_scalar(x):
    return not isinstance(x, (poly1d, list, tuple)) and getattr(x, "ndim", 0) == 0


def _c(other):
    return other._coeffs if isinstance(other, poly1d) else other


def _number(x):
    text = f"{x:.4g}"
    return text[:-5] if text.endswith(".0000") else text


def _coefficient(x):
    if not isinstance(x, complex) or x.imag == 0:
        return _number(x.real if isinstance(x, complex) else x)
    return f"({_number(x.real)} + {_number(x.imag)}j)" if x.real else f"({_number(x.imag)}j)"


def _two_lines(coeffs, variable):
    """The terms, their powers in a line of their own above them."""
    out = ""
    for k, x in enumerate(coeffs.tolist()):
        power, text = len(coeffs) - 1 - k, _coefficient(x)
        if text == "0" and len(coeffs) > 1:
            continue
        minus = text.startswith("-")
        text = text[1:] if minus and out else text
        out += (" - " if minus else " + ") if out else ""
        out += text + (f" {variable}" if power else "") + (f"**{power}" if power > 1 else "")
    return _lifted(out, 70)


def _lifted(text, width):
    """`x**2` becomes x with 2 in the line above it; broken into several such pairs of lines."""
    import re

    lines, above, below, at = "", " ", "", 0
    for found in re.finditer(r"\*\*([0-9]*)", text):
        part, power = text[at : found.start()], found[1]
        up, down = " " * (len(part) - 1) + power, part + " " * (len(power) - 1)
        if len(below) + len(down) > width or len(above) + len(up) > width:
            lines += f"{above}\n{below}\n "
            above = below = ""
        above += up
        below += down
        at = found.end()
    return f"{lines}{above}\n{below}{text[at:]}"
