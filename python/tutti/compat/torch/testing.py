"""torch.testing"""

import numpy as _np

from ._tensor import Tensor as _Tensor

__all__ = ["assert_close"]
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
_TOLERANCES |= {"complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


def _values(x):
    x = x.detach() if isinstance(x, _Tensor) else x
    return _np.asarray(x.float() if getattr(getattr(x, "dtype", None), "name", "") == "bfloat16" else x)


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
    check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """An AssertionError where tensors, or sequences and dicts of them, are not as close as their type allows."""
    how = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype, "msg": msg}
    if isinstance(expected, dict):
        if actual.keys() != expected.keys():
            raise AssertionError("The keys of the mappings do not match:")
        return [assert_close(actual[k], expected[k], **how) for k in expected] and None
    if isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        return [assert_close(a, b, **how) for a, b in zip(actual, expected, strict=True)] and None
    types = [x.dtype for x in (actual, expected) if isinstance(x, _Tensor)]
    if check_dtype and len(set(types)) > 1:
        raise AssertionError(f"The values for attribute 'dtype' do not match: {types[0]} != {types[1]}.")
    a, b = _values(actual), _values(expected)
    if a.shape != b.shape:
        raise AssertionError(f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}.")
    known = [_TOLERANCES.get(t.name, (0, 0)) for t in types] or [_TOLERANCES["float64"]]
    r, t = (max(k[i] for k in known) for i in (0, 1))
    r, t = r if rtol is None else rtol, t if atol is None else atol
    if not _np.allclose(a, b, r, t, equal_nan):
        far = _np.abs(a - b)
        told = f"Tensor-likes are not close!\n\nGreatest absolute difference: {far.max()} (up to {t} allowed)\n"
        raise AssertionError(msg if isinstance(msg, str) else told)
