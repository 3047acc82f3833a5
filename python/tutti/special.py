"""Special functions: the rows `special.*` of the tables, elementwise and fused like all others, with SciPy's names."""

import math as _math

from . import _core, _table

__all__ = _table.fill(globals(), "special")
psi = digamma  # noqa: F821 (a row)
jn = jv  # noqa: F821
# SciPy's names of what NumPy has, too.
_NUMPYS = {name: _core.ops[name] for name in ("cbrt", "exp2", "expm1", "log1p")}
_NUMPYS |= {"round": _core.ops["rint"], "sinc": _core.functions["sinc"]}
globals().update(_NUMPYS)
_floats = {name: _core.functions["special." + name] for name in ("factorial", "comb", "perm")}


def _exactly(count, *args):
    """Python's integers have no bound, arrays' have 64 bits."""
    if all(isinstance(a, int) or getattr(a, "ndim", 1) == 0 for a in args):
        return count(*map(int, args))
    lists = (a.tolist() if hasattr(a, "tolist") else list(a) for a in args)
    return _core.asarray([count(*map(int, each)) for each in zip(*lists, strict=True)], dtype="int64")


def factorial(n, exact=False):
    """n!, of any n from 0 on by the gamma function, 0 to the left.

    exact=True gives Python's integers for numbers, and int64 for flat arrays and lists of integers.

    Parameters
    ----------
    n : array_like
        Numbers.
    exact : bool, optional
        Compute in integers.

    Returns
    -------
    ndarray, or int
        Floating, but for `exact`.

    Examples
    --------
    >>> tt.special.factorial([0, 3, 5])
    array([  1.,   6., 120.])
    >>> tt.special.factorial(25, exact=True)
    15511210043330985984000000
    """
    if not exact:
        return _floats["factorial"](n)
    return _exactly(lambda n: _math.factorial(n) if n >= 0 else 0, n)


def comb(N, k, *, exact=False, repetition=False):  # noqa: N803 (SciPy's name)
    """How many ways there are to take k of N things, 0 unless 0 <= k <= N; with repetition, k of N + k - 1.

    exact=True is computed in integers, as factorial's.

    Parameters
    ----------
    N : array_like
        How many things there are.
    k : array_like
        How many of them are taken.
    exact : bool, optional
        Compute in integers.
    repetition : bool, optional
        A thing may be taken several times.

    Returns
    -------
    ndarray, or int
        Floating, but for `exact`.

    Examples
    --------
    >>> tt.special.comb(5, [1, 2])
    array([ 5., 10.])
    >>> tt.special.comb(100, 50, exact=True)
    100891344545564193334812497256
    """
    if not exact:
        return _floats["comb"](N, k, repetition)

    def count(n, k):
        n = max(n + k - 1, 0) if repetition else n
        return _math.comb(n, k) if 0 <= k <= n else 0

    return _exactly(count, N, k)


def perm(N, k, exact=False):  # noqa: N803
    """How many ways there are to take k of N things in an order: N! / (N - k)!, 0 unless 0 <= k <= N.

    exact=True is computed in integers, as factorial's.

    Parameters
    ----------
    N : array_like
        How many things there are.
    k : array_like
        How many of them are taken.
    exact : bool, optional
        Compute in integers.

    Returns
    -------
    ndarray, or int
        Floating, but for `exact`.

    Examples
    --------
    >>> tt.special.perm(5, [1, 2])
    array([ 5., 20.])
    """
    if not exact:
        return _floats["perm"](N, k)
    return _exactly(lambda n, k: _math.perm(n, k) if 0 <= k <= n else 0, N, k)


__all__ += ["jn", "psi", *_NUMPYS]
