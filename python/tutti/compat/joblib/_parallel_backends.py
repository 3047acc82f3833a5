"""How calls are spread: tutti's workers, threads, nobody; and what a program's own way of spreading has."""

import abc
import contextlib
import os
import threading


def cpu_count(only_physical_cores=False):
    """The processors that this process may use."""
    from ...parallel import cpu_count

    return cpu_count()


class ParallelBackendBase(abc.ABC):  # noqa: B024
    """What a backend has that `register_parallel_backend` takes."""

    default_n_jobs = 1
    supports_inner_max_num_threads = False
    supports_retrieve_callback = False
    supports_sharedmem = uses_threads = False
    nesting_level = None

    def __init__(self, nesting_level=None, inner_max_num_threads=None, **backend_kwargs):
        self.nesting_level, self.inner_max_num_threads = nesting_level, inner_max_num_threads
        self.backend_kwargs = backend_kwargs

    @property
    def supports_return_generator(self):
        return self.supports_retrieve_callback

    @property
    def supports_timeout(self):
        return self.supports_retrieve_callback

    @abc.abstractmethod
    def effective_n_jobs(self, n_jobs):
        """How many calls run at once when the program asks for `n_jobs`."""

    def submit(self, func, callback=None):
        """Begin `func()`; `callback` takes what `retrieve_result_callback` makes a result of."""
        return self.apply_async(func, callback)

    def apply_async(self, func, callback=None):
        """`submit`, in backends written for old versions."""
        raise NotImplementedError("Implement `submit` instead.")

    def retrieve_result_callback(self, out):
        """The result of what `submit` gave to its callback."""
        return None

    def retrieve_result(self, out, timeout=None):
        """The result of what `submit` has returned, waited for."""
        return out.get(timeout=timeout) if self.supports_timeout else out.get()

    def configure(self, n_jobs=1, parallel=None, prefer=None, require=None, **backend_kwargs):
        """Make ready; how many calls will run at once."""
        self.parallel = parallel
        return self.effective_n_jobs(n_jobs)

    def start_call(self):
        """A call of `Parallel` begins."""
        return None

    def stop_call(self):
        """A call of `Parallel` has ended."""
        return None

    def terminate(self):
        """Let go of what `configure` took."""
        return None

    def compute_batch_size(self):
        """How many calls go together."""
        return 1

    def batch_completed(self, batch_size, duration):
        """So long took so many calls."""
        return None

    def abort_everything(self, ensure_ready=True):
        """A call failed: nobody wants the others."""
        return None

    def get_nested_backend(self):
        """The backend, and n_jobs, of calls of `Parallel` inside calls: threads once, then none."""
        level = (self.nesting_level or 0) + 1
        return (SequentialBackend if level > 1 else ThreadingBackend)(nesting_level=level), None

    @contextlib.contextmanager
    def retrieval_context(self):
        """Around waiting for results."""
        yield

    @staticmethod
    def in_main_thread():
        return threading.current_thread() is threading.main_thread()


class _Own(ParallelBackendBase):
    """Backends that tutti's own map serves."""

    supports_retrieve_callback = True

    def effective_n_jobs(self, n_jobs):
        from ...parallel._joblib import workers_of

        return workers_of(n_jobs)


class TuttiBackend(_Own):
    """Processes that started once and stay; arrays are shared with them."""

    supports_inner_max_num_threads = True


class LokyBackend(TuttiBackend):
    """The same, by the name that joblib's programs use."""


class MultiprocessingBackend(TuttiBackend):
    """The same, by another name."""

    supports_inner_max_num_threads = False


class ThreadingBackend(_Own):
    """Threads of this process."""

    supports_sharedmem = uses_threads = True


class SequentialBackend(ParallelBackendBase):
    """The caller, one call after the other."""

    supports_sharedmem = uses_threads = True

    def effective_n_jobs(self, n_jobs):
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        return 1

    def get_nested_backend(self):
        from .parallel import get_active_backend

        return get_active_backend()


# Set in workers, for programs that look there.
MAX_NUM_THREADS_VARS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA", "NUMEXPR")]
DEFAULT = os.environ.get("JOBLIB_DEFAULT_PARALLEL_BACKEND", "loky")
