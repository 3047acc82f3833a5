"""`Parallel` and `delayed`: calls spread over tutti's workers."""

import collections
import functools
import itertools
import queue
import sys
import time
import warnings
import weakref

from . import _config
from ._config import (  # noqa: F401 (joblib's place)
    _UNSET,
    BACKENDS,
    DEFAULT_PROCESS_BACKEND,
    DEFAULT_THREAD_BACKEND,
    EXTERNAL_BACKENDS,
    MIN_IDEAL_BATCH_DURATION,
    VALID_BACKEND_CONSTRAINTS,
    VALID_BACKEND_HINTS,
    VALID_RETURNS,
    _active,
    _backend_of,
    _config_of,
    _local,
    _Unset,
    default_parallel_config,
    effective_n_jobs,
    get_active_backend,
    parallel_backend,
    parallel_config,
    register_parallel_backend,
)
from ._parallel_backends import (  # noqa: F401 (joblib's place)
    LokyBackend,
    MultiprocessingBackend,
    ParallelBackendBase,
    SequentialBackend,
    ThreadingBackend,
    TuttiBackend,
)


def __getattr__(name):
    if name == "DEFAULT_BACKEND":  # `register_parallel_backend` changes it
        return _config.DEFAULT_BACKEND
    raise AttributeError(f"module 'joblib.parallel' has no attribute {name!r}")


def delayed(function):
    """A function that, called, gives what `Parallel` will call: the function, its arguments, its keywords."""

    def delayed_function(*args, **kwargs):
        return function, args, kwargs

    try:
        return functools.wraps(function)(delayed_function)
    except AttributeError:
        return delayed_function


class BatchedCalls:
    """Calls that a program's own backend runs together: an object without arguments."""

    def __init__(self, calls, backend_and_jobs):
        self.items, (self._backend, self._n_jobs) = list(calls), backend_and_jobs

    def __call__(self):
        with parallel_config(backend=self._backend, n_jobs=self._n_jobs):
            return [f(*args, **kwargs) for f, args, kwargs in self.items]

    def __len__(self):
        return len(self.items)


def _call(task, level=None):
    """One call; calls of `Parallel` inside it use threads, those inside these nobody."""
    f, args, kwargs = task
    if level is None:
        return f(*args, **kwargs)
    nested = (SequentialBackend if level > 0 else ThreadingBackend)(nesting_level=level + 1)
    with parallel_config(backend=nested, n_jobs=None):
        return f(*args, **kwargs)


class Parallel:
    """Many calls of functions, several at once.

    Parameters
    ----------
    n_jobs : int, optional
        How many at once: 1 unless given; -1 as many as there are processors, -2 one less.
    backend : str or ParallelBackendBase, optional
        'loky', 'multiprocessing' and 'tutti' are tutti's workers, 'threading' threads of this process, 'sequential' the
        caller; and what was registered.
    return_as : {'list', 'generator', 'generator_unordered'}
    verbose : int
        Above 0 progress is printed, above 50 on standard output.
    timeout : float, optional
        Seconds that a result may be waited for.
    pre_dispatch : {'all', int, expression in n_jobs}
        How many calls are taken from the iterable before the first result.
    batch_size : int or 'auto'
        How many calls go to a worker together.
    temp_folder, max_nbytes, mmap_mode : optional
        Have no effect: arrays are shared with workers in memory, without files.
    prefer : {'processes', 'threads'}, optional
    require : {'sharedmem'}, optional
    **backend_kwargs
        For the backend that is named.
    """

    def __init__(self, n_jobs=_UNSET["n_jobs"], backend=_UNSET["backend"], return_as="list", verbose=_UNSET["verbose"],
                 timeout=None, pre_dispatch="2 * n_jobs", batch_size="auto", temp_folder=_UNSET["temp_folder"],
                 max_nbytes=_UNSET["max_nbytes"], mmap_mode=_UNSET["mmap_mode"], prefer=_UNSET["prefer"],
                 require=_UNSET["require"], **backend_kwargs):  # fmt: skip
        active, config = _active(prefer, require, verbose)
        n_jobs = _config_of("n_jobs", n_jobs, config)
        self.verbose, self.timeout, self.pre_dispatch = _config_of("verbose", verbose, config), timeout, pre_dispatch
        if return_as not in VALID_RETURNS:
            raise ValueError(
                f'Expected `return_as` parameter to be a string equal to "list","generator" or '
                f'"generator_unordered", but got {return_as} instead.'
            )
        self.return_as, self.return_generator = return_as, return_as != "list"
        self.return_unordered = return_as == "generator_unordered"
        if batch_size != "auto" and not (isinstance(batch_size, int) and batch_size > 0):
            raise ValueError(f"batch_size must be 'auto' or a positive integer, got: {batch_size!r}")
        self.batch_size = batch_size
        options = {"max_nbytes": max_nbytes, "temp_folder": temp_folder, "mmap_mode": mmap_mode}
        self._backend_kwargs = {**{k: _config_of(k, v, config) for k, v in options.items()}, **backend_kwargs}
        backend = None if isinstance(backend, _Unset) else backend
        nothing_chosen = backend is None
        if nothing_chosen:
            backend = active
        else:
            named = isinstance(backend, str)
            backend = _backend_of(backend, **(backend_kwargs if named else {}))
            if getattr(backend, "nesting_level", None) is None:
                backend.nesting_level = active.nesting_level
        if isinstance(n_jobs, str) or n_jobs != n_jobs:
            raise ValueError("n_jobs could not be converted to int")
        try:
            n_jobs = None if n_jobs is None else int(n_jobs)
        except (TypeError, ValueError):
            raise ValueError("n_jobs could not be converted to int") from None
        require = _config_of("require", require, config)
        if require == "sharedmem" and not getattr(backend, "supports_sharedmem", False):
            raise ValueError(f"Backend {backend} does not support shared memory")
        self.n_jobs = backend.default_n_jobs if n_jobs is None else n_jobs
        if self.n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        self._backend, self._inside, self._running = backend, False, None
        self.n_completed_tasks = self.n_dispatched_tasks = 0

    def __enter__(self):
        self._inside = True
        self._start()
        return self

    def __exit__(self, kind, value, trace):
        self._inside = False
        if not isinstance(self._backend, (TuttiBackend, ThreadingBackend, SequentialBackend)):
            self._backend.terminate()
        if self._running is not None and self._running() is not None:
            self._running().close()

    def _start(self):
        self._n_jobs = n = self._backend.configure(n_jobs=self.n_jobs, parallel=self, **self._configured())
        if self.timeout is not None and not self._backend.supports_timeout:
            warnings.warn(
                f"The backend class {type(self._backend).__name__!r} does not support timeout. You have set "
                f"'timeout={self.timeout}' in Parallel but the 'timeout' parameter will not be used.",
                stacklevel=4,
            )
        return n

    def _configured(self):
        return (
            {}
            if isinstance(self._backend, (TuttiBackend, ThreadingBackend, SequentialBackend))
            else self._backend_kwargs
        )

    def _effective_n_jobs(self):
        return self._backend.effective_n_jobs(self.n_jobs)

    def __call__(self, iterable):
        if self._running is not None and self._running() is not None:
            raise RuntimeError(
                "This Parallel instance is already running !"
                if not self.return_generator
                else "This Parallel instance is already running ! Before submitting new tasks, you must wait for "
                "the completion of all the previous tasks, or clean all references to the output generator."
            )
        n = self._n_jobs if self._inside else self._start()
        self._began, self.n_completed_tasks, self.n_dispatched_tasks = time.time(), 0, 0
        self._total = len(iterable) if hasattr(iterable, "__len__") else None
        if n > 1 or not isinstance(self._backend, (TuttiBackend, ThreadingBackend)):
            self._print_backend(n)
        made = self._shown(self._results(self._counted(iter(iterable)), n))
        self._running = weakref.ref(made)
        return made if self.return_generator else list(made)

    def _counted(self, calls):
        for call in calls:
            self.n_dispatched_tasks += 1
            yield call

    def _read_ahead(self, n):
        """How many calls are taken before the first result is there."""
        ahead = self.pre_dispatch
        if ahead == "all":
            return None
        if hasattr(ahead, "endswith"):
            ahead = _worked_out(ahead.replace("n_jobs", str(n)))
        return int(ahead)

    def _results(self, calls, n):
        backend = self._backend
        if isinstance(backend, SequentialBackend) or (n == 1 and isinstance(backend, (TuttiBackend, ThreadingBackend))):
            return (_call(call) for call in calls)
        ahead = self._read_ahead(n)
        if isinstance(backend, (TuttiBackend, ThreadingBackend)):
            return _spread(self, calls, n, ahead)
        return _driven(self, backend, calls, ahead)

    def _shown(self, results):
        try:
            for result in results:
                self.n_completed_tasks += 1
                self.print_progress()
                yield result
            self._print_done()
        finally:
            self._running = None
            if hasattr(results, "close"):
                results.close()
            if not self._inside and not isinstance(self._backend, (TuttiBackend, ThreadingBackend, SequentialBackend)):
                self._backend.terminate()

    def _print(self, text):
        if self.verbose:
            print(f"[{self}]: {text}", file=sys.stdout if self.verbose >= 50 else sys.stderr)

    def _print_backend(self, n):
        self._print(f"Using backend {type(self._backend).__name__} with {n} concurrent workers.")

    def print_progress(self):
        """Say how many calls are done: the more often the higher `verbose` is."""
        if not self.verbose:
            return
        done, took = self.n_completed_tasks, time.time() - self._began
        if self._total is not None and done < self._total:
            every = max(1, self._total // (self.verbose + 1))
            if self.verbose <= 10 and done % every:
                return
            left = took / done * (self._total - done)
            self._print(f"Done {done:3d} out of {self._total:3d} | elapsed: {_time(took)} remaining: {_time(left)}")
        elif self._total is None and (self.verbose > 10 or (done & (done - 1)) == 0):
            self._print(f"Done {done:3d} tasks      | elapsed: {_time(took)}")

    def _print_done(self):
        done = self.n_completed_tasks
        self._print(f"Done {done:3d} out of {done:3d} | elapsed: {_time(time.time() - self._began)} finished")

    def __repr__(self):
        return f"{type(self).__name__}(n_jobs={self.n_jobs})"


def _time(seconds):
    return f"{seconds / 60:5.1f}min" if seconds > 60 else f"{seconds:6.1f}s"


def _worked_out(text):
    """A sum or product of numbers, as in '2 * n_jobs'; nothing else of Python."""
    import ast
    import operator

    known = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
             ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}  # fmt: skip

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in known:
            return known[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        raise ValueError(f"{text!r} is not a valid or supported arithmetic expression")

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"{text!r} is not a valid or supported arithmetic expression") from error


def _spread(parallel, calls, n, ahead):
    """Results of tutti's own map."""
    from ...parallel import _code  # noqa: F401 (by which calls go to workers)
    from ...parallel._engine import Engine

    threads = isinstance(parallel._backend, ThreadingBackend)
    one = functools.partial(_call, level=parallel._backend.nesting_level or 0)
    chunk = None if parallel.batch_size == "auto" else parallel.batch_size
    if threads:
        return _threaded(one, calls, n, n if ahead is None else ahead, parallel.timeout, parallel.return_unordered)
    return Engine.get(n).run(
        calls, left=parallel._total, ordered=not parallel.return_unordered,
        here=chunk is None and parallel.timeout is None, read_ahead=ahead, chunk=chunk, timeout=parallel.timeout,
    )  # fmt: skip


def _threaded(one, calls, n, ahead, timeout, unordered):
    """Results of threads of this process; `ahead` calls are begun before the first of them is taken."""
    from concurrent import futures

    threads, under_way = futures.ThreadPoolExecutor(n, "joblib"), collections.deque()
    try:
        while True:
            for call in itertools.islice(calls, max(0, max(ahead, n) - len(under_way))):
                under_way.append(threads.submit(one, call))
            if not under_way:
                return
            if unordered:
                done, _ = futures.wait(under_way, timeout, futures.FIRST_COMPLETED)
                under_way = collections.deque(f for f in under_way if f not in done)
                if not done:
                    raise TimeoutError(f"no result within {timeout} s")
            else:
                done = [under_way.popleft()]
            for future in done:
                yield future.result(timeout)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _driven(parallel, backend, calls, ahead):
    """Results of a backend of the program's: batches go to it, at most `ahead` calls at once."""
    done, waiting, early, at = queue.SimpleQueue(), {}, {}, 0
    numbers = itertools.count()
    nested = backend.get_nested_backend()
    backend.start_call()
    try:
        exhausted = False
        while True:
            while not exhausted and (ahead is None or sum(map(len, waiting.values())) < ahead):
                size = backend.compute_batch_size() if parallel.batch_size == "auto" else parallel.batch_size
                batch = BatchedCalls(itertools.islice(calls, size), nested)
                exhausted = len(batch) < size
                if len(batch):
                    number = next(numbers)
                    waiting[number] = batch
                    _begin(backend, batch, number, done)
            if not waiting and not early:
                return
            while at not in early:
                number, results = _next_of(backend, done, parallel.timeout, waiting)
                if parallel.return_unordered:
                    at, number = number, number
                early[number] = results
                del waiting[number]
            yield from early.pop(at)
            at += not parallel.return_unordered
            if parallel.return_unordered:
                at = -1
    except BaseException:
        backend.abort_everything(ensure_ready=parallel._inside)
        raise
    finally:
        backend.stop_call()


def _begin(backend, batch, number, done):
    begun = time.time()

    def finished(out):
        backend.batch_completed(len(batch), time.time() - begun)
        done.put((number, out))

    future = backend.submit(batch, callback=finished)
    if not backend.supports_retrieve_callback:
        done.put((number, future))


def _next_of(backend, done, timeout, waiting):
    with backend.retrieval_context():
        try:
            number, out = done.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no result within {timeout} s") from None
        if backend.supports_retrieve_callback:
            return number, backend.retrieve_result_callback(out)
        return number, backend.retrieve_result(out, timeout)
