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

__all__ = [*_table.fill(globals(), "linalg"), "LinAlgError"]
