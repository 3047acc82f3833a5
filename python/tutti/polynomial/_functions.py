"""The module functions of one family of polynomials, over the rows `series.*` of the function table."""

from .. import _core

_rows = {name.removeprefix("series."): f for name, f in _core.functions.items() if name.startswith("series.")}

# (family: the prefix of its functions, what its functions of powers are called, the interval it lives on)
FAMILIES = {
    "polynomial": ("poly", None, (-1.0, 1.0)),
    "chebyshev": ("cheb", "cheb", (-1.0, 1.0)),
    "legendre": ("leg", "leg", (-1.0, 1.0)),
    "hermite": ("herm", "herm", (-1.0, 1.0)),
    "hermite_e": ("herme", "herme", (-1.0, 1.0)),
    "laguerre": ("lag", "lag", (0.0, 1.0)),
}


def _one(value):
    return _core.array(value)


def _same_shape(points, names):
    if len({p.shape for p in points}) != 1:
        raise ValueError(names + " are incompatible")


def _points(points):
    return [p if isinstance(p, _core.ndarray) else _core.asarray(p) for p in points]


def _arithmetic(family):
    row, most = _rows, {"polynomial": None}.get(family, 16)

    def add(c1, c2):
        """Sum of two series.

        Parameters
        ----------
        c1 : array_like
            The first series' coefficients.
        c2 : array_like
            The second series' coefficients.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1, 2], [3])
        array([4., 2.])
        """
        return row["add"](c1, c2)

    def sub(c1, c2):
        """Difference of two series.

        Parameters
        ----------
        c1 : array_like
            The first series' coefficients.
        c2 : array_like
            The second series' coefficients.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1, 2], [3])
        array([-2.,  2.])
        """
        return row["sub"](c1, c2)

    def mulx(c):
        """A series times x.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0])
        array([0.])
        """
        return row["mulx"](family, c)

    def mul(c1, c2):
        """Product of two series.

        Parameters
        ----------
        c1 : array_like
            The first series' coefficients.
        c2 : array_like
            The second series' coefficients.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([3], [1, 2])
        array([3., 6.])
        """
        return row["mul"](family, c1, c2)

    def div(c1, c2):
        """Quotient and remainder of two series.

        Parameters
        ----------
        c1 : array_like
            The first series' coefficients.
        c2 : array_like
            The second series' coefficients.

        Returns
        -------
        (ndarray, ndarray)
            Quotient and remainder.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([4, 2], [2])
        (array([2., 1.]), array([0.]))
        """
        return row["div"](family, c1, c2)

    def pow(c, pow, maxpower=most):  # noqa: A001, A002 (NumPy's names)
        """A whole power of a series.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.
        pow : int
            The power.
        maxpower : int, optional
            The largest power.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([3], 2)
        array([9.])
        """
        return row["pow"](family, c, pow, maxpower)

    def trim(c, tol=0):
        """A series without the small coefficients at its end.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.
        tol : float, optional
            The tolerance.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1, 2, 0])
        array([1., 2.])
        """
        return row["trim"](c, tol)

    def line(off, scl):
        """The series of off + scl * x.

        Parameters
        ----------
        off : number
            The value at 0.
        scl : number
            The slope.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(3, 0)
        array([3])
        """
        if scl == 0:
            return _one([off])
        c = row["of_powers"](family, [off, scl])
        return c if family.startswith("hermite") and c[1] != scl else c.astype(_core.asarray([off, scl]).dtype)

    return [add, sub, mulx, mul, div, pow, trim, line]


def _calculus(family):
    row = _rows

    def der(c, m=1, scl=1, axis=0):
        """The m-th derivative of a series along an axis.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.
        m : int, optional
            How often.
        scl : number, optional
            What each step is multiplied by.
        axis : int, optional
            The axis.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([3])
        array([0.])
        """
        return row["der"](family, c, m, scl, axis)

    def int(c, m=1, k=[], lbnd=0, scl=1, axis=0):  # noqa: A001, B006 (NumPy's name and default)
        """The m-th integral of a series along an axis; k are the constants, lbnd where it is zero without them.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.
        m : int, optional
            How often.
        k : number or sequence of number, optional
            The constants.
        lbnd : number, optional
            Where the integral is zero.
        scl : number, optional
            What each step is multiplied by.
        axis : int, optional
            The axis.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0])
        array([0.])
        """
        return row["int"](family, c, m, k if len(_shape(k)) else [k], lbnd, scl, axis)

    def fromroots(roots):
        """The series with given roots.

        Parameters
        ----------
        roots : array_like
            The roots.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1, 2]).shape
        (3,)
        """
        return row["fromroots"](family, roots)

    def roots(c):
        """The roots of a series, sorted.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The roots.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(tt.polynomial.MODULE.PREFIXline(-1, 2)).round(6)
        array([0.5])
        """
        return row["roots"](family, c)

    def companion(c):
        """The matrix whose eigenvalues are the roots of a series.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The matrix.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1, 2, 3]).shape
        (2, 2)
        """
        return row["companion"](family, c)

    def fit(x, y, deg, rcond=None, full=False, w=None):
        """The series of least squares through points; with full also [residuals, rank, singular values, rcond].

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        deg : int or sequence of int
            The degree, or the degrees that it has.
        rcond : float, optional
            Singular values below rcond times the largest count as zero.
        full : bool, optional
            Give what the fit knows also: residuals, rank, singular values, rcond.
        w : array_like, optional
            The weights of the points.

        Returns
        -------
        ndarray, or (ndarray, list)
            The coefficients; with `full` what the fit knows also.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0, 1, 2], [2, 2, 2], 1).shape
        (2,)
        """
        made = row["fit"](family, x, y, deg, rcond, full, w)
        return (made[0], list(made[1:])) if full else made

    return [der, int, fromroots, roots, companion, fit]


def _shape(x):
    return x.shape if hasattr(x, "shape") else _core.asarray(x).shape


def _values(family):
    row = _rows

    def at(points, c, grid):
        for k, p in enumerate(points):
            c = row["val"](family, p, c, grid or k == 0)
        return c

    def columns(points, deg):
        if len(points) != len(deg):
            raise ValueError(f"Expected {len(points)} dimensions of sample points, got {len(deg)}")
        points = _core.functions["broadcast_arrays"](*[_core.asarray(p) + 0.0 for p in points])
        made = None
        for k, (p, d) in enumerate(zip(points, deg)):
            v = row["vander"](family, p, d)
            v = v.reshape(p.shape + (1,) * k + v.shape[-1:] + (1,) * (len(points) - 1 - k))
            made = v if made is None else made * v
        return made.reshape(*points[0].shape, -1)

    def val(x, c, tensor=True):
        """Values of a series at points; of several, a column each, at all points (tensor) or one point each.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        c : array_like
            The coefficients, the lowest degree first.
        tensor : bool, optional
            Every point with every column, not one with one.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(0.5, [3])
        array(3.)
        """
        return row["val"](family, x, c, tensor)

    def val2d(x, y, c):
        """Values of a series in two variables at points.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(0.5, 0.5, [[3]])
        array(3.)
        """
        x, y = _points((x, y))
        _same_shape((x, y), "x, y")
        return at((x, y), c, False)

    def val3d(x, y, z, c):
        """Values of a series in three variables at points.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        z : array_like
            The points' third coordinates.
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(0.5, 0.5, 0.5, [[[3]]])
        array(3.)
        """
        x, y, z = _points((x, y, z))
        _same_shape((x, y, z), "x, y, z")
        return at((x, y, z), c, False)

    def valnd(pts, c):
        """Values of a series in several variables at points.

        Parameters
        ----------
        pts : sequence of array_like
            The points' coordinates, of one shape.
        c : array_like
            The coefficients, an axis for each variable, the lowest degree first.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0.5, 0.5], [[3]])
        array(3.)
        """
        points = _points(pts)
        _same_shape(points, {2: "x, y", 3: "x, y, z"}.get(len(points), "ordinates"))
        return at(points, c, False)

    def grid2d(x, y, c):
        """Values of a series in two variables on the grid of x and y.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0, 1], [0, 1], [[3]])
        array([[3., 3.],
               [3., 3.]])
        """
        return at((x, y), c, True)

    def grid3d(x, y, z, c):
        """Values of a series in three variables on the grid of x, y and z.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        z : array_like
            The points' third coordinates.
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The values.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([0, 1], [0], [0], [[[3]]])
        array([[[3.]],
        <BLANKLINE>
               [[3.]]])
        """
        return at((x, y, z), c, True)

    def vander(x, deg):
        """The values of every function of the family up to a degree, side by side.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        deg : int
            The degree.

        Returns
        -------
        ndarray
            Of shape (..., deg + 1).

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1.0, 2.0], 0)
        array([[1.],
               [1.]])
        """
        return row["vander"](family, x, deg)

    def vander2d(x, y, deg):
        """The values of every product of two functions of the family.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        deg : sequence of int
            The degrees.

        Returns
        -------
        ndarray
            Of shape (..., the product of both degrees plus one).

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1.0], [2.0], [1, 2]).shape
        (1, 6)
        """
        return columns((x, y), deg)

    def vander3d(x, y, z, deg):
        """The values of every product of three functions of the family.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.
        y : array_like
            The points' second coordinates, or the values.
        z : array_like
            The points' third coordinates.
        deg : sequence of int
            The degrees.

        Returns
        -------
        ndarray
            Of shape (..., the product of the degrees plus one).

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([1.0], [2.0], [3.0], [1, 1, 1]).shape
        (1, 8)
        """
        return columns((x, y, z), deg)

    return [val, val2d, val3d, valnd, grid2d, grid3d, vander, vander2d, vander3d]


def _orthogonal(family):
    """What families have that are orthogonal under a weight: conversions and quadratures."""
    row = _rows

    def to_powers(c):
        """A series of this family in powers of x.

        Parameters
        ----------
        c : array_like
            The coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([3])
        array([3.])
        """
        return row["to_powers"](family, c)

    def of_powers(pol):
        """The series of this family that a polynomial is.

        Parameters
        ----------
        pol : array_like
            The polynomial's coefficients, the lowest degree first.

        Returns
        -------
        ndarray
            The coefficients.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME([3])
        array([3.])
        """
        return row["of_powers"](family, pol)

    def gauss(deg):
        """Points and weights of Gauss' quadrature.

        Parameters
        ----------
        deg : int
            The degree.

        Returns
        -------
        (ndarray, ndarray)
            Points and weights.

        Examples
        --------
        >>> points, weights = tt.polynomial.MODULE.NAME(2)
        >>> points.shape, weights.shape
        ((2,), (2,))
        """
        return row["gauss"](family, deg)

    def weight(x):
        """The weight under which the functions of the family are orthogonal.

        Parameters
        ----------
        x : array_like
            The points' first coordinates.

        Returns
        -------
        ndarray
            The weights.

        Examples
        --------
        >>> tt.polynomial.MODULE.NAME(0.0) > 0
        array(True)
        """
        return row["weight"](family, x)

    return to_powers, of_powers, gauss, weight


def fill(namespace, family):
    """Put the functions, constants and the class of a family into its module; their names."""
    from ._classes import CLASSES

    prefix, powers, domain = FAMILIES[family]
    names = {prefix + f.__name__: f for part in (_arithmetic, _calculus, _values) for f in part(family)}
    if powers:
        to_powers, of_powers, gauss, weight = _orthogonal(family)
        names |= {f"{powers}2poly": to_powers, f"poly2{powers}": of_powers}
        names |= {f"{powers}gauss": gauss, f"{powers}weight": weight}
    for name, f in names.items():
        f.__name__ = f.__qualname__ = name
        f.__module__ = namespace["__name__"]
        f.__doc__ = f.__doc__.replace("MODULE", family).replace("PREFIX", prefix).replace("NAME", name)
    constants = {"zero": [0], "one": [1], "domain": list(domain)}
    names |= {prefix + name: _one(value) for name, value in constants.items()}
    names[prefix + "x"] = names[prefix + "line"](0, 1)
    namespace.update(names)
    cls = CLASSES[family]
    namespace[cls.__name__] = cls
    return [*names, cls.__name__]
