"""A worker's loop: it waits on its line for functions and for items to call them with.

`_worker_main` loads this file by path; no package is imported, tutti's neither, until a function needs one.
"""

import sys
from time import perf_counter

_KEPT = 256 << 20  # bytes that functions have freed and the next item finds again, until nobody asks for a second


class Work:
    """The functions of this worker and what it does with them."""

    def __init__(self, line, core, message, load):
        self.line, self.core, self.message, self.load = line, core, message, load
        self.receiver = message.Receiver(line, readonly=True)
        self.sender = message.Sender(line)
        self.functions = {}

    def run(self):
        """Do what comes until the line ends or says so."""
        self.core._memory_keep(_KEPT)
        m, core, lines = self.message, self.core, [self.line]
        while True:
            got = self.receiver.receive()
            if got is None:
                if core._line_closed(self.line):
                    return
                if not core._line_wait(lines, 1.0, True):
                    self.sender.trim()
                    core._memory_give_back()
                    core._line_wait(lines, -1.0, False)
                continue
            kind, number, details, text, buffers = got
            del got
            if kind == m.CHUNK:
                self._chunk(number, details, text, buffers)
            elif kind == m.FUNCTION:
                self.functions[number] = (text, buffers)
            elif kind == m.FORGET:
                self.functions.pop(number, None)
            elif kind == m.BEGIN:
                if not self._begin(m.unpack(text, buffers)):
                    return
            elif kind == m.END:
                return
            del text, buffers
            if self.receiver.broken:
                return  # another worker takes this one's place

    def _begin(self, begin):
        """What the program is like for imports."""
        sys.path[:] = begin["path"]
        sys.argv[:] = begin["argv"]
        sys.setrecursionlimit(begin["recursion"])
        if begin["code"]:
            self.load("_rebuild")
            self.load("_code")
        try:
            if begin["initializer"]:
                f, args = self.message.unpack(begin["initializer"], ())
                f(*args)
        except Exception as e:  # noqa: BLE001 - what an initializer raises is the program's to know
            self.sender.send(self.message.BROKEN, 0, None, self.message.pack(self.message.Failure(e)))
            return False
        self.sender.send(self.message.READY, 0, None, None)
        return True

    def _read(self, text, buffers):
        """An object; what has arrays of ours in it may call their methods, which need the package."""
        if text is None:
            raise buffers
        if "tutti" not in sys.modules and b"tutti._core" in bytes(text):
            import tutti  # noqa: F401
        return self.message.unpack(text, buffers)

    def _function(self, number):
        f = self.functions[number]
        if isinstance(f, tuple):
            f = self.functions[number] = _Called(self._read(*f))
        return f.f

    def _chunk(self, number, details, text, buffers):
        function, lo, hi, first, seed, goes_on = details
        core, base = self.core, number * self.message.ROWS
        core._line_mark(self.line, base + self.message.READING)
        results, begun, failed = [], perf_counter(), 0
        try:
            f = self._function(function)
            columns, names = self._read(text, buffers)
        except Exception as e:  # noqa: BLE001 - whatever a module or a class of the program's raises
            failure = self.message.Failure(e)
            unread = [failure] * (hi - lo) if goes_on else [failure]
            self._answer(number, begun, unread, self.message.UNREAD)
            return
        finally:
            del text, buffers
        if names:
            f = _with_names(f, names)
        if seed is not None:
            f = self._seeded(f, seed, first + lo)
        if columns and hi - lo != len(columns[0]):
            columns = tuple(c[lo:hi] for c in columns)
        while len(results) < hi - lo:
            try:
                core._line_each(self.line, f, columns, results, hi - lo, base + lo)
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # noqa: BLE001 - what a function raises is the program's
                results.append(self.message.Failure(_without_us(e)))
                failed = self.message.FAILED
                if not goes_on:
                    break
        del columns, f
        for stream in (sys.stdout, sys.stderr):  # what was printed is seen, also when this process is killed
            if stream is not None:
                stream.flush()
        self._answer(number, begun, results, failed)

    def _seeded(self, f, seed, first):
        import itertools

        seed, with_numpy = seed
        if with_numpy:  # its stream is there before the first item, as in the program
            import numpy.random  # noqa: F401
        chunks = sys.modules.get("tutti.parallel._chunks") or self.load("_chunks")
        numbers = itertools.count(first)

        def seeded(*args):
            chunks.seed_all(chunks.item_seed(seed, next(numbers)))
            return f(*args)

        return seeded

    def _answer(self, number, begun, results, failed):
        seconds = perf_counter() - begun
        try:
            if self.message.is_plain(results):
                packed = self.message.Packed(self.message.dumps_plain(results, 5), ())
            else:
                packed = self.message.pack(results)
        except BaseException:  # noqa: BLE001 - as above
            failed = failed or self.message.FAILED
            packed = self.message.pack([self._takeable(r) for r in results])
        self.sender.send(self.message.RESULT, number, (seconds, len(results), failed, begun), packed)

    def _takeable(self, result):
        try:
            self.message.pack(result)
        except BaseException as e:  # noqa: BLE001 - as above
            return self.message.Failure(e)
        return result


class _Called:
    """A function that was read."""

    __slots__ = ("f",)

    def __init__(self, f):
        self.f = f


def _with_names(f, names):
    def named(*args):
        return f(*args, **names)

    return named


def _without_us(error):
    """Our own frames are none of the program's."""
    trace, ours = error.__traceback__, _without_us.__code__.co_filename
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename == ours:
        trace = trace.tb_next
    return error.with_traceback(trace)
