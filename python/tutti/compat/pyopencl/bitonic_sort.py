"""pyopencl.bitonic_sort: arrays that are sorted in place along an axis, by tutti's sort."""

import tutti as _tt

from .array import _queue_of


class BitonicSort:
    """`sorter(array, idx=None, axis=0)`: (the array, event)."""

    def __init__(self, context):
        self.context = context

    def __call__(self, arr, idx=None, queue=None, wait_for=None, axis=0):
        queue = _queue_of(queue, arr)
        if not arr.size:
            return arr, queue._do("MARKER", lambda: None, wait_for)
        n = arr.shape[axis]
        if n & (n - 1):
            raise ValueError("sorted array axis length must be a power of two")
        values = arr._value()
        if idx is None:
            arr._put(_tt.sort(values, axis=axis))
        else:
            order, places = _tt.argsort(values, axis=axis, kind="stable"), idx._value()
            arr._put(_tt.take_along_axis(values, order, axis))
            idx._put(_tt.take_along_axis(places, order, axis))
        return arr, queue._do("MARKER", lambda: None, wait_for)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pyopencl does not cover pyopencl.bitonic_sort.{name}")
