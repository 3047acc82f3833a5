"""A buffer's bytes on an OpenCL device, and as the host sees them: whoever looks has those of now."""

import numpy as np

import tutti as _tt


class Managed:
    """So many bytes of a device. `host` is the host's memory for them, which the device's are copied to and from.

    What is fresh is on neither side: nothing is copied before somebody writes.
    """

    def __init__(self, device, host):
        self._device, self._host, self._there = device, host, None
        self._is_here = self._is_there = False
        self.maps = 0  # how often the host has it mapped: then both sides follow each launch

    def here(self, writes):
        """Its bytes for the host, which may write them."""
        if not self._is_here and self._is_there:
            np.copyto(self._host, self._there.numpy())
        self._is_here, self._is_there = True, self._is_there and not writes

    def put(self, data):
        """The host's bytes: memory that is there already, or a copy of `data`."""
        if data is not None:
            np.copyto(self._host, data)
        self._is_here, self._is_there = True, False

    def there(self, first, size, writes):
        """Bytes as an array on the device, for a kernel, which may write them."""
        if self.maps:
            self._is_there = False
        if not self._is_there:
            self._there = (_tt.array if self._is_here else _tt.empty_like)(self._host, device=self._device)
        self._is_there, self._is_here = True, self._is_here and not writes
        return self._there[first : first + size]

    def launched(self):
        """A kernel has it among its arguments."""
        if self.maps:
            self.here(False)

    def adopt(self, array):
        """All of its bytes are those of an array there."""
        self._there, self._is_there, self._is_here = array, True, False


def first_byte(memory, part):
    """How far into memory a part of it begins."""
    return part.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
