"""bfloat16 as NumPy would have it: arrays of float32 whose elements are rounded after each operation.

Sums, differences, products and quotients of two numbers are those of bfloat16: float32 has more than twice its digits,
so that rounding twice is rounding once.
"""

import numpy as np


def rounded(x):
    """The nearest numbers of bfloat16, those with an even last digit of two that are as near."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    near = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), near.view(np.float32))


class BFloat16(np.ndarray):
    """Elements are float32; other types that come out of it (truth values, positions) are NumPy's own arrays."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **kwargs):
        kwargs = {k: plain(v) for k, v in kwargs.items()}
        if out:
            kwargs["out"] = tuple(map(plain, out))
        got = getattr(ufunc, method)(*map(plain, inputs), **kwargs)
        for x in (*out, *inputs[: method == "at"]):
            if isinstance(x, BFloat16):
                x.round()
        if out or got is None:
            return out[0] if out else None
        return rounded(got).view(BFloat16) if got.dtype == np.float32 else got

    def __array_function__(self, func, types, args, kwargs):
        """Some of NumPy's functions forget the class of what they pick from."""
        got = super().__array_function__(func, types, args, kwargs)
        return got.view(BFloat16) if type(got) is np.ndarray and got.dtype == np.float32 else got

    def __setitem__(self, where, value):
        super().__setitem__(where, plain(value))
        self.round()

    def round(self):
        x = plain(self)
        if x.dtype == np.float32:
            x[...] = rounded(x)


def plain(x):
    return x.view(np.ndarray) if isinstance(x, BFloat16) else x
