"""Worker processes: how they start, what each has to do, and how they ended."""

import collections
import functools
import importlib.machinery
import marshal
import os
import signal
import sys
import time
import weakref

from .. import _core
from . import _message

# What libraries ask for how many threads to use.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TUTTI_NUM_THREADS",
)
WORKERS = "TUTTI_PARALLEL_WORKERS"
_MOST = 512
_GRACE = 1.0  # seconds in which a process whose line is closed is gone


def cpu_count():
    """The number of processes that run at once.

    Returns
    -------
    int
        The cores that this process may use, by its affinity and the quotas of its control groups. In a worker: its
        share of them.
    """
    share = os.environ.get("_TUTTI_PARALLEL_SHARE")
    return max(1, int(share)) if share and share.isdigit() else _core._parallel_cores()


def count(workers):
    """How many workers a call gets that asks for `workers` (None: what TUTTI_PARALLEL_WORKERS says, else all cores)."""
    if workers is None:
        said = os.environ.get(WORKERS)
        if not said:
            return cpu_count()
        try:
            workers = int(said)
        except ValueError:
            raise ValueError(f"{WORKERS} must be a number of workers, not {said!r}") from None
        if "_TUTTI_PARALLEL_SHARE" in os.environ:
            workers = min(workers, cpu_count())
    if isinstance(workers, bool) or not hasattr(workers, "__index__"):
        raise TypeError(f"workers must be a whole number or None, not {type(workers).__name__}")
    workers = workers.__index__()
    if not 0 < workers <= _MOST:
        raise ValueError(f"workers must be between 1 and {_MOST}, not {workers}")
    return workers


def _environment(size, number, device, more):
    """The variables of a worker: a share of the cores for the threads of libraries."""
    share = max(1, cpu_count() // size)
    env = dict(os.environ)
    for name in _THREADS:
        if not (env.get(name, "").isdigit() and int(env[name]) <= share):
            env[name] = str(share)
    env["_TUTTI_PARALLEL_SHARE"] = str(share)
    if device is not None:
        env["TUTTI_DEVICE"] = device if isinstance(device, str) else device[number % len(device)]
    env.update(more)
    return [os.fsencode(f"{k}={v}") for k, v in env.items()]


# What sys.flags say, and the letters that say it to an interpreter, once or several times.
_LETTERS = {
    "debug": "d",
    "optimize": "O",
    "dont_write_bytecode": "B",
    "no_site": "S",
    "verbose": "v",
    "bytes_warning": "b",
    "quiet": "q",
}
_APART = {"ignore_environment": "E", "no_user_site": "s", "safe_path": "P"}  # where it is not isolated: that is all


def _interpreter_flags():
    """The arguments with which this interpreter was started, as a list; variables of the environment say the rest.

    `subprocess` has the same for itself; to import it takes longer than to start a process.
    """
    flags = sys.flags
    said = [f"-{letter * int(getattr(flags, name))}" for name, letter in _LETTERS.items() if getattr(flags, name)]
    said += ["-I"] if flags.isolated else [f"-{letter}" for name, letter in _APART.items() if getattr(flags, name)]
    implied = ["default"] * flags.dev_mode
    implied += [None, "default::BytesWarning", "error::BytesWarning"][min(flags.bytes_warning, 2) :][:1]
    said += [f"-W{option}" for option in sys.warnoptions if option not in implied]
    options = [name if value is True else f"{name}={value}" for name, value in sys._xoptions.items()]
    return said + [f"-X{option}" for option in options]


def _command():
    if not sys.executable:
        raise RuntimeError("workers cannot be started: sys.executable does not say which Python this is")
    folder = os.path.dirname(os.path.abspath(__file__))
    program = [
        sys.executable,
        *_interpreter_flags(),
        os.path.join(folder, "_worker_main.py"),
        "%d",
        folder,
        _core.__file__,
    ]
    return [os.fsencode(p) for p in program]


@functools.cache
def _modules():
    """What a worker loads, compiled, a message each: it need not do that again, nor look for files."""
    folder = sys.modules[__package__].__path__
    found = []
    for name in ("_message", "_worker", "_rebuild", "_code", "_chunks"):
        full = f"{__package__}.{name}"
        code = importlib.machinery.PathFinder.find_spec(full, folder).loader.get_code(full)
        found.append(marshal.dumps({name: code}))
    return tuple(found)


def _begin(initializer):
    """What a worker is told of this program before anything else."""
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    return {
        "path": list(sys.path),
        "argv": list(sys.argv),
        "recursion": sys.getrecursionlimit(),
        "code": "tutti.parallel._code" in sys.modules,
        "main": os.path.abspath(path) if path else None,
        "initializer": initializer,
    }


def oom_kills():
    """How often the kernel has ended a process because memory was out; 0 where it does not say."""
    for path in ("/sys/fs/cgroup/memory.events", "/proc/vmstat"):
        try:
            with open(path) as f:
                found = [int(line.split()[1]) for line in f if line.startswith("oom_kill ")]
        except OSError:
            continue
        if found:
            return found[0]
    return 0


def _nobody():
    """Stands for a job that is gone."""


class Worker:
    """A worker process and what it has to do."""

    def __init__(self, size, number, device, environment):
        self.number = number
        self.line = _core._line_start(_command(), _environment(size, number, device, environment))
        self.pid = _core._line_process(self.line)
        self.sender = _message.Sender(self.line)
        self.receiver = _message.Receiver(self.line, readonly=False)
        self.work = collections.deque()  # packets that it was sent, the first of them under way
        self.functions = set()
        self.ready = False
        self.released = False
        self.begun = time.perf_counter()
        self.rest = (_nobody, 0.0)  # the job of which it had the last message, when that was done
        self.stopped = None  # why we ended it
        self.seen = (None, 0.0)  # the item at which it was when we looked, and since when

    def begin(self, initializer):
        """Tell it what it needs to know before its first message; it has been starting meanwhile."""
        modules = _modules()
        try:
            for k, module in enumerate(modules, 1):  # each says how many come behind it
                _core._line_send(self.line, len(modules) - k, (module,), ())
            self.sender.send(_message.BEGIN, 0, None, _message.pack(_begin(initializer)))
        except OSError:  # it is gone already: whoever waits for it finds out why
            pass

    def rests(self, job):
        """It has done a message; if it has no other one, it waits."""
        self.rest = (_nobody if self.work else weakref.ref(job), time.perf_counter())

    def rested(self, job):
        """Microseconds that it has waited since the last message of the same job."""
        last, since = self.rest
        return int((time.perf_counter() - since) * 1e6) if last() is job else 0

    def closed(self):
        """Is it gone, or about to be?"""
        return _core._line_closed(self.line)

    def kill(self, why):
        """End it and what it has started."""
        self.stopped = why
        if self.released:  # the number may be another process's by now
            return
        for target in (-self.pid, self.pid):
            try:
                os.kill(target, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass

    def end(self):
        """Tell it that there is nothing more to do."""
        try:
            self.sender.send(_message.END, 0, None, None)
        except OSError:
            pass

    def wait(self, seconds=_GRACE):
        """Wait until it is gone: its exit code, below 0 a signal's; None: it is not; False: nobody knows."""
        if self.released:
            return False
        end, step = time.monotonic() + seconds, 0.0002
        while (code := _core._line_ended(self.line)) is None and time.monotonic() < end:
            time.sleep(step)
            step = min(0.01, step * 2)
        return code

    def release(self):
        """Give back what joins us to it."""
        self.released = True
        _core._line_release(self.line)

    def death(self, code, kills):
        """How it ended, in words."""
        if self.stopped:
            return self.stopped
        if code is None or code is False:
            return "is gone"
        if code >= 0:
            return f"exited with code {code}"
        name = signal.strsignal(-code) or "unknown"
        if -code == signal.SIGKILL and oom_kills() > kills:
            return f"was killed by signal {-code} ({name}) of the kernel, because memory was out"
        return f"was killed by signal {-code} ({name})"
