"""Linear algebra: the rows `linalg.*` of the function table, results with NumPy's names."""

from collections import namedtuple as _namedtuple

from . import _core, _table
from .exceptions import LinAlgError

QRResult = _namedtuple("QRResult", ["Q", "R"])
SVDResult = _namedtuple("SVDResult", ["U", "S", "Vh"])
EighResult = _namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
EigResult = _namedtuple("EigResult", ["eigenvalues", "eigenvectors"])
SlogdetResult = _namedtuple("SlogdetResult", ["sign", "logabsdet"])

_core.result_types.update(
    {
        "linalg.qr": QRResult._make,
        "linalg.svd": SVDResult._make,
        "linalg.eigh": EighResult._make,
        "linalg.eig": EigResult._make,
        "linalg.slogdet": SlogdetResult._make,
    }
)


class errstate:
    """When a LinAlgError is raised: by the call, which waits for its result, or (defer=True) when somebody looks.

    As a block or a decorator, of this thread: ``with tutti.linalg.errstate(defer=True): ...`` for loops that must not
    wait for a device.

    Parameters
    ----------
    defer : bool, optional
        Errors come when somebody looks.

    Examples
    --------
    >>> with tt.linalg.errstate(defer=True):
    ...     x = tt.linalg.inv(tt.eye(2))
    """

    def __init__(self, *, defer=False):
        self._defer, self._before = defer, []

    def __enter__(self):
        self._before.append(_core._defer_checks(self._defer))
        return self

    def __exit__(self, *exc):
        _core._defer_checks(self._before.pop())

    def __call__(self, function):
        from functools import wraps

        @wraps(function)
        def inside(*args, **kwargs):
            with errstate(defer=self._defer):
                return function(*args, **kwargs)

        return inside


__all__ = [*_table.fill(globals(), "linalg"), "LinAlgError", "errstate"]
