"""Series as objects: coefficients, the interval they were made for (domain) and that of their family (window)."""

import os as _os

from .. import _core
from . import _text
from ._functions import FAMILIES, _rows


def _coefficients(values, trim=False):
    from .polyutils import as_series

    (c,) = as_series([values], trim=trim)
    return c


def _interval(values):
    d = _coefficients(values)
    if len(d) != 2:
        raise ValueError("Domain has wrong number of elements.")
    return d


def _window(values):
    w = _coefficients(values)
    if len(w) != 2:
        raise ValueError("Window has wrong number of elements.")
    return w


def _same(a, b):
    return a.shape == b.shape and bool((a == b).all())


class _Series:
    """What the six classes share; each has its family's name and functions."""

    __hash__ = None
    __array_ufunc__ = None  # NumPy's arrays leave operators with a series to it
    maxpower = 100
    _use_unicode = _os.name != "nt"

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        own = FAMILIES[self._family][2]
        self.coef = _coefficients(coef)
        self.domain = _interval(own if domain is None else domain)
        self.window = _window(own if window is None else window)
        try:
            if not symbol.isidentifier():
                raise ValueError("Symbol string must be a valid Python identifier")
        except AttributeError:
            raise TypeError("Symbol must be a non-empty string") from None
        self._symbol = symbol

    @property
    def symbol(self):
        return self._symbol

    def _like(self, coef):
        return type(self)(coef, self.domain, self.window, self.symbol)

    # ---- text

    def __repr__(self):
        from .. import array_repr

        coef, domain, window = (array_repr(a)[6:-1] for a in (self.coef, self.domain, self.window))
        return f"{type(self).__name__}({coef}, domain={domain}, window={window}, symbol='{self.symbol}')"

    def __str__(self):
        return self._as_text(self._use_unicode)

    def __format__(self, fmt_str):
        if fmt_str not in ("", "ascii", "unicode"):
            raise ValueError(
                f"Unsupported format string '{fmt_str}' passed to {type(self)}.__format__. Valid options are "
                "'ascii' and 'unicode'"
            )
        return self._as_text(self._use_unicode if fmt_str == "" else fmt_str == "unicode")

    def _as_text(self, unicode):
        if self.basis_name is None:
            term = _text.power_unicode if unicode else _text.power_ascii
        else:
            term = (_text.named_unicode if unicode else _text.named_ascii)(self.basis_name)
        return _text.series(self.coef, term, _text.line(_text.format_float, *self.mapparms(), self.symbol))

    def _repr_latex_(self):
        def scalar(x, parens=False):
            text = _text.format_float(x, parens=parens)
            return rf"\text{{{text}}}"

        symbol, parens = _text.line(scalar, *self.mapparms(), self.symbol)
        symbol = rf"\left({symbol}\right)" if parens and self.basis_name is None else symbol
        parts = []
        for k, c in enumerate(self.coef):
            if k == 0:
                text = scalar(c)
            elif not isinstance(c.item(), complex):
                text = (" + " if c >= 0 else " - ") + scalar(c if c >= 0 else -c, parens=True)
            else:
                text = f" + ({scalar(c)})"
            if k and self.basis_name is None:
                text += rf"\,{symbol}" + (f"^{{{k}}}" if k > 1 else "")
            elif self.basis_name is not None:
                text += rf"\,{{{self.basis_name}}}_{{{k}}}({symbol})"
            parts.append(rf"\color{{LightGray}}{{{text}}}" if c == 0 else text)
        return rf"${self.symbol} \mapsto {''.join(parts) or '0'}$"

    # ---- as a sequence and a function

    def __iter__(self):
        return iter(self.coef)

    def __len__(self):
        return len(self.coef)

    def __call__(self, arg):
        off, scl = _rows["mapparms"](self.domain, self.window)
        if isinstance(arg, _Series):
            x = scl.item() * arg + off.item()
            return x._like(_rows["compose"](self._family, self.coef, x._family, x.coef))
        x = arg if isinstance(arg, (int, float, complex, _core.ndarray)) else _core.asarray(arg)
        return _rows["val"](self._family, off + scl * x, self.coef)

    def __getstate__(self):
        return {"coef": self.coef, "domain": self.domain, "window": self.window, "_symbol": self._symbol}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __eq__(self, other):
        return (
            type(self) is type(other)
            and _same(self.domain, other.domain)
            and _same(self.window, other.window)
            and _same(self.coef, other.coef)
            and self.symbol == other.symbol
        )

    def __ne__(self, other):
        return not self == other

    def has_samecoef(self, other):
        """Have two series the same coefficients?

        Parameters
        ----------
        other : series
            Another series.

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> p = tt.polynomial.Polynomial([1, 2])
        >>> p.has_samecoef(p.copy())
        True
        """
        return _same(self.coef, other.coef)

    def has_samedomain(self, other):
        """Have two series the same domain?

        Parameters
        ----------
        other : series
            Another series.

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> p = tt.polynomial.Polynomial([1, 2])
        >>> p.has_samedomain(p.copy())
        True
        """
        return _same(self.domain, other.domain)

    def has_samewindow(self, other):
        """Have two series the same window?

        Parameters
        ----------
        other : series
            Another series.

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> p = tt.polynomial.Polynomial([1, 2])
        >>> p.has_samewindow(p.copy())
        True
        """
        return _same(self.window, other.window)

    def has_sametype(self, other):
        """Is the other a series of this very class?

        Parameters
        ----------
        other : series
            Another series.

        Returns
        -------
        bool
            Whether it is so.

        Examples
        --------
        >>> p = tt.polynomial.Polynomial([1, 2])
        >>> p.has_sametype(p.copy())
        True
        """
        return isinstance(other, type(self))

    # ---- arithmetic

    def _operand(self, other):
        """The coefficients of another series that fits; NotImplemented for what is no series of numbers."""
        if isinstance(other, _Series):
            if not isinstance(other, type(self)):
                raise TypeError("Polynomial types differ")
            if not _same(self.domain, other.domain):
                raise TypeError("Domains differ")
            if not _same(self.window, other.window):
                raise TypeError("Windows differ")
            if self.symbol != other.symbol:
                raise ValueError("Polynomial symbols differ")
            return other.coef
        return other

    def _combined(self, row, other, swapped=False):
        other = self._operand(other)
        try:
            c1, c2 = (other, self.coef) if swapped else (self.coef, other)
            made = _rows[row](c1, c2) if row in ("add", "sub") else _rows[row](self._family, c1, c2)
        except ZeroDivisionError:
            raise
        except Exception:
            return NotImplemented
        return tuple(map(self._like, made)) if row == "div" else self._like(made)

    def _part(self, k, other, swapped=False):
        both = self._combined("div", other, swapped)
        return both if both is NotImplemented else both[k]

    def __neg__(self):
        return self._like(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._combined("add", other)

    def __sub__(self, other):
        return self._combined("sub", other)

    def __mul__(self, other):
        return self._combined("mul", other)

    def __radd__(self, other):
        return self._combined("add", other, True)

    def __rsub__(self, other):
        return self._combined("sub", other, True)

    def __rmul__(self, other):
        return self._combined("mul", other, True)

    def __truediv__(self, other):
        import numbers

        if not isinstance(other, (numbers.Number, _core.ndarray)) or isinstance(other, bool):
            raise TypeError(f"unsupported types for true division: '{type(self)}', '{type(other)}'")
        return self.__floordiv__(other)

    def __rtruediv__(self, other):
        return NotImplemented

    def __floordiv__(self, other):
        return self._part(0, other)

    def __mod__(self, other):
        return self._part(1, other)

    def __divmod__(self, other):
        return self._combined("div", other)

    def __rfloordiv__(self, other):
        return self._part(0, other, True)

    def __rmod__(self, other):
        return self._part(1, other, True)

    def __rdivmod__(self, other):
        return self._combined("div", other, True)

    def __pow__(self, other):
        return self._like(_rows["pow"](self._family, self.coef, other, self.maxpower))

    # ---- shapes of the series

    def copy(self):
        """Another series like this one.

        Returns
        -------
        series
            The copy.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2]).copy().coef
        array([1., 2.])
        """
        return self._like(self.coef.copy())

    def degree(self):
        """The highest degree; zeros at the end count.

        Returns
        -------
        int
            The degree.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2, 3]).degree()
        2
        """
        return len(self) - 1

    def cutdeg(self, deg):
        """The series up to a degree.

        Parameters
        ----------
        deg : int
            The degree.

        Returns
        -------
        series
            The lower part.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2, 3]).cutdeg(1).coef
        array([1., 2.])
        """
        return self.truncate(deg + 1)

    def trim(self, tol=0):
        """Without the small coefficients at the end.

        Parameters
        ----------
        tol : float, optional
            The tolerance.

        Returns
        -------
        series
            The shorter one.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2, 0]).trim().coef
        array([1., 2.])
        """
        return self._like(_rows["trim"](self.coef, tol))

    def truncate(self, size):
        """The first coefficients.

        Parameters
        ----------
        size : int
            How many coefficients.

        Returns
        -------
        series
            The shorter one.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2, 3]).truncate(2).coef
        array([1., 2.])
        """
        n = int(size)
        if n != size or n < 1:
            raise ValueError("size must be a positive integer")
        return self._like(self.coef if n >= len(self.coef) else self.coef[:n])

    def convert(self, domain=None, kind=None, window=None):
        """The same function as a series of another class, or for another interval.

        Parameters
        ----------
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        kind : type, optional
            The class.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.

        Returns
        -------
        series
            The same function.

        Examples
        --------
        >>> tt.polynomial.Polynomial([0, 0, 1]).convert(kind=tt.polynomial.Chebyshev).coef
        array([0.5, 0. , 0.5])
        """
        kind = type(self) if kind is None else kind
        own = FAMILIES[kind._family][2]
        domain, window = own if domain is None else domain, own if window is None else window
        return self(kind.identity(domain, window=window, symbol=self.symbol))

    def mapparms(self):
        """Offset and scale of the line from the domain to the window.

        Returns
        -------
        (number, number)
            Offset and scale.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2], domain=[0, 2]).mapparms()
        (-1.0, 1.0)
        """
        off, scl = _rows["mapparms"](self.domain, self.window)
        return off.item(), scl.item()

    # ---- calculus

    def integ(self, m=1, k=[], lbnd=None):  # noqa: B006 (NumPy's default)
        """The m-th integral; k are the constants, lbnd where it is zero without them.

        Parameters
        ----------
        m : int, optional
            How often.
        k : number or sequence of number, optional
            The constants.
        lbnd : number, optional
            Where the integral is zero.

        Returns
        -------
        series
            The integral.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2]).integ().coef
        array([0., 1., 1.])
        """
        off, scl = self.mapparms()
        lower = 0 if lbnd is None else off + scl * lbnd
        k = k if hasattr(k, "__len__") else [k]
        return self._like(_rows["int"](self._family, self.coef, m, k, lower, 1.0 / scl))

    def deriv(self, m=1):
        """The m-th derivative.

        Parameters
        ----------
        m : int, optional
            How often.

        Returns
        -------
        series
            The derivative.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2, 3]).deriv().coef
        array([2., 6.])
        """
        return self._like(_rows["der"](self._family, self.coef, m, self.mapparms()[1]))

    def roots(self):
        """The roots, in the domain's terms.

        Returns
        -------
        ndarray
            The roots, sorted.

        Examples
        --------
        >>> tt.polynomial.Polynomial([-1, 2]).roots()
        array([0.5])
        """
        off, scl = _rows["mapparms"](self.window, self.domain)
        return off + scl * _rows["roots"](self._family, self.coef)

    def linspace(self, n=100, domain=None):
        """Evenly spaced points of an interval, and the values there.

        Parameters
        ----------
        n : int, optional
            How many.
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.

        Returns
        -------
        (ndarray, ndarray)
            Points and values.

        Examples
        --------
        >>> tt.polynomial.Polynomial([1, 2]).linspace(3)
        (array([-1.,  0.,  1.]), array([-1.,  1.,  3.]))
        """
        first, last = (self.domain if domain is None else domain)[:2]
        x = _core.functions["linspace"](first, last, n)
        return x, self(x)

    # ---- ways to be made

    @classmethod
    def fit(cls, x, y, deg, domain=None, rcond=None, full=False, w=None, window=None, symbol="x"):
        """The series of least squares through points; the domain is what the points span.

        Parameters
        ----------
        x : array_like
            The points.
        y : array_like
            The values there.
        deg : int or sequence of int
            The degree, or the degrees that it has.
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        rcond : float, optional
            Singular values below rcond times the largest count as zero.
        full : bool, optional
            Give what the fit knows also: residuals, rank, singular values, rcond.
        w : array_like, optional
            The weights of the points.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.
        symbol : str, optional
            What stands for the variable in texts.

        Returns
        -------
        series, or (series, list)
            The series; with `full` what the fit knows also.

        Examples
        --------
        >>> tt.polynomial.Polynomial.fit([0, 1, 2], [1, 3, 5], 1).convert().coef.round(6)
        array([1., 2.])
        """
        from .polyutils import getdomain, mapdomain

        x = _core.asarray(x)
        own = FAMILIES[cls._family][2]
        if domain is None:
            domain = getdomain(x)
            if domain[0] == domain[1]:
                domain[0] -= 1
                domain[1] += 1
        elif isinstance(domain, list) and len(domain) == 0:
            domain = own
        window = own if window is None else window
        made = _rows["fit"](cls._family, mapdomain(x, domain, window), y, deg, rcond, full, w)
        series = cls(made[0] if full else made, domain=domain, window=window, symbol=symbol)
        return (series, list(made[1:])) if full else series

    @classmethod
    def fromroots(cls, roots, domain=[], window=None, symbol="x"):  # noqa: B006 (NumPy's default)
        """The series with given roots.

        Parameters
        ----------
        roots : array_like
            The roots.
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.
        symbol : str, optional
            What stands for the variable in texts.

        Returns
        -------
        series
            Of the class it is called of.

        Examples
        --------
        >>> tt.polynomial.Polynomial.fromroots([1, 2]).roots().round(6)
        array([1., 2.])
        """
        from .polyutils import as_series, getdomain

        (roots,) = as_series([roots], trim=False)
        own = FAMILIES[cls._family][2]
        if domain is None:
            domain = getdomain(roots)
        elif isinstance(domain, list) and len(domain) == 0:
            domain = own
        window = own if window is None else window
        off, scl = _rows["mapparms"](domain, window)
        coef = _rows["fromroots"](cls._family, off + scl * roots) / scl ** len(roots)
        return cls(coef, domain=domain, window=window, symbol=symbol)

    @classmethod
    def identity(cls, domain=None, window=None, symbol="x"):
        """The series of x itself.

        Parameters
        ----------
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.
        symbol : str, optional
            What stands for the variable in texts.

        Returns
        -------
        series
            Of the class it is called of.

        Examples
        --------
        >>> tt.polynomial.Polynomial.identity().coef
        array([0., 1.])
        """
        own = FAMILIES[cls._family][2]
        domain, window = own if domain is None else domain, own if window is None else window
        off, scl = _rows["mapparms"](window, domain)
        return cls(_rows["of_powers"](cls._family, [off.item(), scl.item()]), domain, window, symbol)

    @classmethod
    def basis(cls, deg, domain=None, window=None, symbol="x"):
        """The function of a degree alone.

        Parameters
        ----------
        deg : int
            The degree.
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.
        symbol : str, optional
            What stands for the variable in texts.

        Returns
        -------
        series
            Of the class it is called of.

        Examples
        --------
        >>> tt.polynomial.Polynomial.basis(2).coef
        array([0., 0., 1.])
        """
        if int(deg) != deg or deg < 0:
            raise ValueError("deg must be non-negative integer")
        return cls([0] * int(deg) + [1], domain, window, symbol)

    @classmethod
    def cast(cls, series, domain=None, window=None):
        """Another series as one of this class.

        Parameters
        ----------
        series : series
            Another series.
        domain : sequence of two numbers, optional
            The interval that is mapped to the window; None: the class's own.
        window : sequence of two numbers, optional
            The interval that the domain is mapped to; None: the class's own.

        Returns
        -------
        series
            Of the class it is called of.

        Examples
        --------
        >>> tt.polynomial.Chebyshev.cast(tt.polynomial.Polynomial([0, 0, 1])).coef
        array([0.5, 0. , 0.5])
        """
        return series.convert(domain, cls, window)


_WORDS = """{doc}

Parameters
----------
coef : array_like
    The coefficients, the lowest degree first.
domain : sequence of two numbers, optional
    The interval that is mapped to the window; None: the class's own.
window : sequence of two numbers, optional
    The interval that the domain is mapped to; None: the class's own.
symbol : str, optional
    What stands for the variable in texts.

Examples
--------
>>> p = tt.polynomial.{name}([3, 2])
>>> (p - p)(0.5)
array(0.)
"""


def _made(name, family, basis, doc):
    prefix, _, domain = FAMILIES[family]
    members = {
        "__doc__": _WORDS.format(doc=doc, name=name),
        "__module__": f"tutti.polynomial.{family}",
        "_family": family,
        "basis_name": basis,
        "domain": _core.array(list(domain)),
        "window": _core.array(list(domain)),
    }
    return type(name, (_Series,), members)


_NAMES = [
    ("Polynomial", "polynomial", None, "A polynomial in powers of x, the lowest first."),
    ("Chebyshev", "chebyshev", "T", "A series of Chebyshev polynomials."),
    ("Legendre", "legendre", "P", "A series of Legendre polynomials."),
    ("Hermite", "hermite", "H", "A series of the physicists' Hermite polynomials."),
    ("HermiteE", "hermite_e", "He", "A series of the probabilists' Hermite polynomials."),
    ("Laguerre", "laguerre", "L", "A series of Laguerre polynomials."),
]
CLASSES = {family: _made(name, family, basis, doc) for name, family, basis, doc in _NAMES}


def _interpolate(cls, func, deg, domain=None, args=()):
    """The series of a degree through a function at the points of the first kind.

    Parameters
    ----------
    func : function
        The function.
    deg : int
        The degree.
    domain : sequence of two numbers, optional
        The interval on which it is met; None: the class's own.
    args : tuple, optional
        What the function is given beside the points.

    Returns
    -------
    Chebyshev
        The series.

    Examples
    --------
    >>> tt.polynomial.Chebyshev.interpolate(lambda x: 2 * x, 1, domain=[0, 4])(3.0).round(6)
    array(6.)
    """
    from . import chebyshev, polyutils

    domain = cls.domain if domain is None else domain
    return cls(
        chebyshev.chebinterpolate(lambda x: func(polyutils.mapdomain(x, cls.window, domain), *args), deg), domain=domain
    )


_interpolate.__name__ = "interpolate"
CLASSES["chebyshev"].interpolate = classmethod(_interpolate)
