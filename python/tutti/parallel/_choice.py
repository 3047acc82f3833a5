"""Whether threads do for a function: it gives the interpreter's lock up, and nothing that it could write is shared.

A thread asks for the lock again and again while items are done by the caller. Where it mostly gets it at once, threads
work on several items at a time, and arrays need not be handed over.
"""

import functools
import threading
import time
import types
import weakref

from .. import _core
from . import _code, _lean, _message

HEAVY = 256 << 10  # bytes of arrays in an item from which it may pay not to hand them over
ENOUGH = 0.001  # seconds that must have been watched
_LONG = 0.02  # seconds after which nobody looks any more: the system had no time for who asks
_STEP = 1e-4  # between two times that the lock is asked for
_FEWEST = 3  # times that the lock was had while the function ran
_DEPTH = 4  # functions that call functions
_known = weakref.WeakKeyDictionary()  # of a function that was watched: the part of the time in which it had the lock
_last = threading.local()


def report():
    """How the last map of this thread was done.

    Returns
    -------
    dict
        by: "caller", "threads" or "processes"; reason: in words; held: the part of the time in which the function had
        the interpreter's lock, None where nobody looked. Empty before the first map.
    """
    return dict(getattr(_last, "report", {}))


def is_heavy(columns):
    """Has the first item arrays that cost something to hand over?"""
    size = 0
    for column in columns:
        try:
            size += int(column[0].nbytes)
        except Exception:  # noqa: BLE001 - whatever an object of the program's does for the name
            continue
    return size >= HEAVY


# Functions of libraries that have nothing but their arguments.
_PURE = {("tutti", "ufunc"), ("tutti._jit.dispatch", "Compiled"), ("numpy", "ufunc")}
_PURE.add(("numpy", "_ArrayFunctionDispatcher"))
_LIBRARIES = ("numpy", "scipy", "tutti")


def _is_pure(f):
    """Is it a library's, or a builtin that is no object's method?"""
    if isinstance(f, types.BuiltinFunctionType):
        of = f.__self__
        return of is None or isinstance(of, types.ModuleType) or _is_pure(of)
    return (type(f).__module__, type(f).__qualname__) in _PURE


def shares_nothing(f, depth=_DEPTH):
    """Can a function write nothing but its arguments? In doubt it can: processes have their own copies of all."""
    if isinstance(f, functools.partial):
        return shares_nothing(f.func, depth) and all(map(_is_fixed, (*f.args, *f.keywords.values())))
    if not isinstance(f, types.FunctionType):
        return _is_pure(f)
    if (f.__module__ or "").partition(".")[0] in _LIBRARIES:
        return True
    if depth == 0 or _lean.writes_globals(f.__code__) or f.__dict__:
        return False
    cells = [_code._contents(cell) for cell in f.__closure__ or ()]
    names = [*cells, *_code.used_globals(f).values(), *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    return all(v is f or _is_fixed(v) or callable(v) and shares_nothing(v, depth - 1) for v in names)


def _is_fixed(value):
    return isinstance(value, types.ModuleType) or _message.is_plain((value,))


class Choice:
    """Threads or processes for one map.

    Parameters
    ----------
    f : callable
        What is called.
    size : int
        How many threads there would be.
    """

    def __init__(self, f, size):
        self.f, self.size = f, size
        self.asked = self.heavy = self.possible = False
        self.held = None
        self.seconds = self.waited = 0.0
        self.times = 0
        self.over = False

    def watches(self, columns, spent):
        """Is somebody to look while the next items are done? Short work is not worth it."""
        if spent < ENOUGH / 2 or self.held is not None:
            return False
        if not self.asked:
            self.asked = True
            self.heavy = is_heavy(columns)
            self.possible = self.size > 1 and self.heavy and shares_nothing(self.f)
            self.held = self._known() if self.possible else None
        return self.possible and self.held is None

    def takes_threads(self):
        """Threads it is."""
        return self.held is not None and self.held * self.size <= 0.5

    def tell(self, all_here, by_threads):
        """Write the report."""
        by = "threads" if by_threads else "caller" if all_here else "processes"
        _last.report = {"by": by, "reason": self._reason(all_here), "held": self.held}

    def _reason(self, all_here):
        if all_here:
            return "nothing was left when it began to pay"
        if self.held is not None:
            return f"the function has the interpreter's lock for {self.held:.0%} of its time"
        if not self.heavy:
            return "the items have no large arrays"
        return "the function may write what threads would share"

    def _known(self):
        try:
            return _known.get(self.f)
        except TypeError:
            return None

    def call(self, work, *args):
        """What work(*args) gives, watched."""
        self.over = False
        thread = threading.Thread(target=self._ask, name="tutti.parallel", daemon=True)
        thread.start()
        begun = time.perf_counter()
        try:
            return work(*args)
        finally:
            self.seconds += time.perf_counter() - begun
            self.over = True
            thread.join()
            self._judge()

    def _ask(self):
        while not self.over:
            self.waited += _core._lock_wait(_STEP)
            self.times += not self.over  # else it had the lock because nobody wanted it any more

    def _judge(self):
        part = self.waited / self.seconds
        sure = part > 0.5 or self.times >= _FEWEST
        if self.seconds < ENOUGH or not sure and self.seconds < _LONG:
            return
        self.held = min(1.0, part) if sure else 1.0
        try:
            if sure:
                _known[self.f] = self.held
        except TypeError:
            pass  # it cannot be referred to weakly
