"""`Process`: a function in a process of its own, begun anew."""

import atexit
import itertools
import os
import subprocess
import sys
import time
import weakref

from ...parallel import _code
from . import _memory, pipes

_numbers = itertools.count(1)
_children = weakref.WeakSet()
_FOLDER = os.path.dirname(os.path.abspath(_code.__file__))

# What the new process runs: it takes its function from memory that it inherits.
_BEGIN = """
import importlib.util, mmap, os, sys
fd, size, sys.path[:] = int(sys.argv[1]), int(sys.argv[2]), {path!r}
os.set_inheritable(int(sys.argv[3]), False)
for name in "_rebuild", "_code":
    full = "tutti.parallel." + name
    spec = importlib.util.spec_from_file_location(full, os.path.join({folder!r}, name + ".py"))
    code = sys.modules[full] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(code)
data = os.pread(fd, size, 0)
os.close(fd)
own, target, args, kwargs = code.loads(data)
sys.argv[:] = {argv!r}
from tutti.compat.multiprocessing import process
process._run(own, {parent!r}, target, args, kwargs)
"""


def _run(own, parent, target, args, kwargs):
    """The new process's work."""
    global _current, _parent
    name, key = own
    _current, _parent = Current(name, authkey=key), Current(*parent, authkey=key)
    _die_with_parent(parent[1])
    if target is not None:
        target(*args, **kwargs)


def _die_with_parent(parent):
    """End when the process that began this one ends."""
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


class Current:
    """A process that exists: this one, or the one that began it."""

    daemon, exitcode = False, None

    def __init__(self, name="MainProcess", pid=None, authkey=None):
        self.name, self.pid = name, pid or os.getpid()
        self.authkey = authkey or os.urandom(32)

    ident = property(lambda self: self.pid)

    def is_alive(self):
        return os.path.exists(f"/proc/{self.pid}")

    def join(self, timeout=None):
        """Wait until it has ended."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.is_alive() and (end is None or time.monotonic() < end):
            time.sleep(0.01)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name!r}>"


_current, _parent = Current(), None


class Process:
    """A function that is called in a process of its own.

    Parameters
    ----------
    group : None
    target : callable, optional
        It is handed over by value where it cannot be imported; so are its arguments.
    name : str, optional
    args : tuple
    kwargs : dict
    daemon : bool, optional
        It is ended with this process, not waited for.
    """

    _closed, _sentinel = False, None

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        if group is not None:
            raise AssertionError("group argument must be None for now")
        self._target, self._args, self._kwargs = target, tuple(args), dict(kwargs or {})
        self.name, self.daemon, self._popen = name or f"{type(self).__name__}-{next(_numbers)}", bool(daemon), None
        self.authkey = _current.authkey

    def run(self):
        """What the process does; classes may have their own."""
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        """Begin the process."""
        if self._popen is not None:
            raise AssertionError("cannot start a process twice")
        own = type(self).run is not Process.run
        work = (self.run, (), {}) if own else (self._target, self._args, self._kwargs)
        with pipes.inherited() as fds:
            self._start(bytes(_code.dumps(((self.name, bytes(self.authkey)), *work))), fds)
        self._target, self._args, self._kwargs = None, (), {}  # they may be what keeps this object

    def _start(self, data, fds):
        segment = _memory.Segment(len(data))
        segment.memory[:] = data
        path = [p or os.getcwd() for p in sys.path]
        begin = _BEGIN.format(path=path, folder=_FOLDER, argv=sys.argv, parent=(_current.name, os.getpid()))
        command = [sys.executable, "-c", begin, str(segment.fd), str(len(data))]
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        sentinel, theirs = os.pipe()  # it ends with the last who has the other end: the process
        closing = weakref.finalize(self, os.close, sentinel)
        try:
            self._popen = subprocess.Popen([*command, str(theirs)], pass_fds=(segment.fd, theirs, *fds))
            self._sentinel = sentinel
        finally:
            os.close(theirs)
            if self._sentinel is None:
                closing()
        _children.add(self)
        _keep.append(self)

    def _begun(self):
        self._open()
        if self._popen is None:
            raise AssertionError("can only join a started process")
        return self._popen

    def join(self, timeout=None):
        """Wait until it has ended."""
        try:
            self._begun().wait(timeout)
        except subprocess.TimeoutExpired:
            return
        self._forget()

    def _forget(self):
        _children.discard(self)
        if self in _keep:
            _keep.remove(self)

    def is_alive(self):
        self._open()
        return self._popen is not None and self._popen.poll() is None

    def _open(self):
        if self._closed:
            raise ValueError("process object is closed")

    @property
    def exitcode(self):
        return None if self._popen is None else self._popen.poll()

    @property
    def pid(self):
        return None if self._popen is None else self._popen.pid

    ident = pid

    @property
    def sentinel(self):
        """A descriptor that can be read from when the process has ended."""
        self._open()
        if self._sentinel is None:
            raise ValueError("process not started")
        return self._sentinel

    def terminate(self):
        self._begun().terminate()

    def kill(self):
        self._begun().kill()

    def close(self):
        """Nothing more is asked of it."""
        if not self._closed and self.is_alive():
            raise ValueError(
                "Cannot close a process while it is still running. You should first call join() or terminate()."
            )
        self._forget()
        self._closed, self._target, self._args, self._kwargs = True, None, (), {}

    def __getstate__(self):
        return {**self.__dict__, "_popen": None, "_sentinel": None}

    def __repr__(self):
        if self._closed:
            return f"<{type(self).__name__} name={self.name!r} closed>"
        state = (
            "initial" if self._popen is None else "started" if self.is_alive() else f"stopped exitcode={self.exitcode}"
        )
        return f"<{type(self).__name__} name={self.name!r} {state}>"


_keep = []  # those that run, so that they are waited for although nobody has them


def active_children():
    """Processes that were begun here and run."""
    return [p for p in list(_children) if p.is_alive()]


def current_process():
    """This process."""
    return _current


def parent_process():
    """The process that began this one, or None."""
    return _parent


@atexit.register
def _at_exit():
    for p in list(_keep):
        if p.daemon and p.is_alive():
            p.terminate()
    for p in list(_keep):
        p.join()
