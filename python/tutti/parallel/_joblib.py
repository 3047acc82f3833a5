"""A backend of the real joblib: whatever calls joblib, as scikit-learn does for `n_jobs`, gets tutti's workers."""

import os

_made = None


def register_joblib(make_default=True):
    """Let joblib know the backend "tutti".

    Parameters
    ----------
    make_default : bool, default True
        `joblib.Parallel` uses it unless told otherwise; else where `backend="tutti"` is said.

    Raises
    ------
    ImportError
        There is no joblib.
    """
    import joblib

    joblib.register_parallel_backend("tutti", backend_class(), make_default=make_default)


def workers_of(n_jobs):
    """How many workers joblib's `n_jobs` means."""
    from . import cpu_count

    if n_jobs == 0:
        raise ValueError("n_jobs == 0 in Parallel has no meaning")
    if n_jobs is None:
        return 1
    return max(cpu_count() + 1 + n_jobs, 1) if n_jobs < 0 else n_jobs


def backend_class():
    """The class of the backend, which is one of joblib's."""
    global _made
    if _made is None:
        _made = _make()
    return _made


def _make():
    from joblib._parallel_backends import AutoBatchingMixin, ParallelBackendBase

    class TuttiBackend(AutoBatchingMixin, ParallelBackendBase):
        """joblib's batches as calls of an executor. Arrays are shared with workers, without files."""

        supports_retrieve_callback = True
        supports_inner_max_num_threads = True
        default_n_jobs = 1

        def effective_n_jobs(self, n_jobs):
            """How many workers a call with `n_jobs` has."""
            return workers_of(n_jobs)

        def configure(self, n_jobs=1, parallel=None, prefer=None, require=None, **options):
            """Get the workers, which are there already after the first call."""
            from joblib.parallel import FallbackToBackend, SequentialBackend

            from . import Executor

            n_jobs = self.effective_n_jobs(n_jobs)
            if n_jobs == 1:
                raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
            options = {**getattr(self, "backend_kwargs", {}), **options}
            self._begin = begin = {k: options[k] for k in ("initializer", "initargs") if options.get(k)}
            self.parallel, self._under_way = parallel, set()
            self._executor = Executor(n_jobs, environment=self._environment(), **begin)
            return n_jobs

        def _environment(self):
            """What joblib says of the threads of libraries: what was asked for, else what the program has set."""
            most, said = self.inner_max_num_threads, os.environ
            names = self.MAX_NUM_THREADS_VARS
            return {k: str(most) for k in names} if most else {k: said[k] for k in names if k in said}

        def submit(self, func, callback=None):
            """Begin a batch."""
            future = self._executor.submit(func)
            self._under_way.add(future)
            future.add_done_callback(self._under_way.discard)
            if callback is not None:
                future.add_done_callback(callback)
            return future

        apply_async = submit

        def retrieve_result_callback(self, future):
            """What the batch gave."""
            return future.result()

        def abort_everything(self, ensure_ready=True):
            """Cancel what has not begun."""
            for future in list(self._under_way):
                future.cancel()
            if ensure_ready:
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel, **self._begin)

        def terminate(self):
            """Give the workers back; they stay for the next call."""
            executor, self._executor = getattr(self, "_executor", None), None
            if executor is not None:
                executor.shutdown(wait=False, cancel_futures=True)
            self.reset_batch_stats()

    return TuttiBackend
