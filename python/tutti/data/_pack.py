"""Objects between processes: a short message, and a segment of shared memory with the arrays that they have in them.

A message is (number, name, new, gone, items, text): which batch, the segment's name (None: the text is all), whether
its descriptor follows, names of segments that are given up, what the arrays in it are like, and the pickled object.
Long text is one more array, so that who sends never waits for who receives.
"""

import copyreg
import io
import os
import pickle
from multiprocessing import reduction

from .. import _core

_LONG = 4096
_HERE = pickle.PickleBuffer(bytearray(1))  # stands for an array in the text


def _same(x):
    return x


def _pickled(thing):
    """The text of an object, and the arrays that it leaves out. Elements on their own stay in it."""
    arrays = []

    def leave_out(array):
        if array.ndim == 0 or array.size == 0:
            return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        arrays.append(array)
        return _same, (_HERE,)

    text = io.BytesIO()
    pickler = pickle.Pickler(text, pickle.HIGHEST_PROTOCOL, buffer_callback=lambda buffer: buffer is not _HERE)
    pickler.dispatch_table = {**copyreg.dispatch_table, _core.ndarray: leave_out}
    pickler.dump(thing)
    return text.getvalue(), arrays


class Sender:
    """The segments of a process that sends, and the end of a pipe."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.segments = {}
        self.made = 0

    def send(self, number, thing):
        """Send an object; arrays lie in a segment until the other side has no use for them any more."""
        text, arrays = _pickled(thing)
        if len(text) > _LONG:
            text, arrays = None, [*arrays, _core.frombuffer(text, "uint8")]
        if not arrays:
            self.pipe.send_bytes(pickle.dumps((number, None, False, (), (), text)))
            return
        name, fd, gone = self._free(_core._segment_need(arrays))
        _core._segment_fill(self.segments[name], arrays)
        items = [(a.dtype.name, a.shape) for a in arrays]
        self.pipe.send_bytes(pickle.dumps((number, name, fd is not None, gone, items, text)))
        if fd is not None:
            reduction.send_handle(self.pipe, fd, None)
            os.close(fd)

    def _free(self, need):
        """A segment that is free and has room. A new one is made with room to spare, and free ones too small go."""
        small = []
        for name, segment in self.segments.items():
            if _core._segment_claim(segment):
                if _core._segment_size(segment) >= need:
                    return name, None, small
                small.append(name)
        for name in small:
            del self.segments[name]
        segment, fd = _core._segment_new(need + need // 8)
        _core._segment_claim(segment)
        self.made += 1
        self.segments[self.made] = segment
        return self.made, fd, small


class Receiver:
    """The segments of a process that receives, and the end of a pipe.

    own: arrays are for this process alone, whatever it writes into them; so they are never free for others.
    """

    def __init__(self, pipe, own=False):
        self.pipe = pipe
        self.own = own
        self.segments = {}

    def receive(self):
        """The number of the next object, and the object."""
        number, name, new, gone, items, text = pickle.loads(self.pipe.recv_bytes())
        for old in gone:
            del self.segments[old]
        if new:
            fd = reduction.recv_handle(self.pipe)
            try:
                self.segments[name] = _core._segment_open(fd, self.own)
            finally:
                os.close(fd)
        arrays = [] if name is None else _core._segment_take(self.segments[name], items)
        if text is None:
            text = arrays.pop()
        return number, pickle.loads(text, buffers=arrays)
