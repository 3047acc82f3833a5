"""pycuda.driver.Memcpy2D and Memcpy3D: copies of rows that lie apart."""

import itertools

import numpy as np

from tutti import _core

from . import _place


class _Address:
    """An end on the device: it keeps the memory that it was given."""

    def __init__(self, of):
        self.of = of


class Memcpy2D:
    """A copy of `height` rows of `width_in_bytes`; set_src_host and the like say from where to where."""

    def __init__(self):
        self.width_in_bytes, self.height, self.depth = 0, 1, 1
        for end in ("src", "dst"):
            for word in ("x_in_bytes", "y", "z", "pitch", "height", "lod"):
                setattr(self, f"{end}_{word}", 0)
            setattr(self, f"_{end}", None)

    def set_src_host(self, array):
        """From host memory."""
        self._src = np.asarray(array)

    def set_dst_host(self, array):
        """To host memory, which is written in place."""
        self._dst = array

    set_src_unified, set_dst_unified = set_src_host, set_dst_host

    def set_src_device(self, address):
        """From an address of the device."""
        self._src = _Address(address)

    def set_dst_device(self, address):
        """To an address of the device."""
        self._dst = _Address(address)

    def set_src_array(self, array):
        raise NotImplementedError("tutti.compat.pycuda does not cover CUDA arrays: give a Memcpy2D an address")

    set_dst_array = set_src_array

    def _start(self, end, row, plane):
        """Where a row begins: bytes from the end's first one."""
        pitch = getattr(self, f"{end}_pitch") or self.width_in_bytes
        rows = getattr(self, f"{end}_height") or self.height
        x, y, z = (getattr(self, f"{end}_{word}") for word in ("x_in_bytes", "y", "z"))
        return ((z + plane) * rows + y + row) * pitch + x

    def _rows(self):
        """(from, to, bytes) of each piece that lies without gaps on both sides."""
        starts = [
            (self._start("src", row, plane), self._start("dst", row, plane))
            for plane, row in itertools.product(range(self.depth), range(self.height))
        ]
        first, last = starts[0], starts[-1]
        whole = self.width_in_bytes * len(starts)
        if all(b - a + self.width_in_bytes == whole for a, b in zip(first, last, strict=True)):
            return [(*first, whole)]
        return [(*start, self.width_in_bytes) for start in starts]

    def __call__(self, aligned_or_stream=None):
        """Copy now; `aligned` changes nothing, after a stream's work the copy is in its order."""
        from . import driver

        if self._src is None or self._dst is None:
            raise driver.LogicError("cuMemcpy2D failed: invalid argument (both ends need to be set)")
        if self.width_in_bytes <= 0 or self.height <= 0 or self.depth <= 0:
            return
        stream = _place.ordered(None if isinstance(aligned_or_stream, (bool, int)) else aligned_or_stream)
        ends = [int(e.of) if isinstance(e, _Address) else driver._host(e) for e in (self._src, self._dst)]
        for source, target, size in self._rows():
            driver._do(_copy, *ends, source, target, size, stream)


def _copy(source, target, at, to, size, stream):
    """One piece: whole numbers are addresses of the device, else bytes of the host."""
    host = [end for end, start in ((source, at), (target, to)) if not isinstance(end, int) and start + size > len(end)]
    if host:
        raise ValueError("a copy reaches beyond host memory")
    if not isinstance(source, int) and not isinstance(target, int):
        target[to : to + size] = source[at : at + size]
    elif isinstance(source, int) and isinstance(target, int):
        _core.raw_within(target + to, source + at, size, stream, False)
    elif isinstance(source, int):
        _core.raw_out(target[to : to + size], source + at, stream, True)
    else:
        _core.raw_in(target + to, source[at : at + size], stream, True)


class Memcpy3D(Memcpy2D):
    """The same of `depth` planes, whose rows are `src_height` and `dst_height`."""


class Memcpy3DPeer(Memcpy3D):
    """The same between devices."""

    def set_src_context(self, context):
        """Addresses say which device they are of."""

    set_dst_context = set_src_context
