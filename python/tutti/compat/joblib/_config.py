"""Which backend a `Parallel` has, and what it is told by who is around it."""

import threading

from ._parallel_backends import (
    DEFAULT,
    LokyBackend,
    MultiprocessingBackend,
    ParallelBackendBase,
    SequentialBackend,
    ThreadingBackend,
    TuttiBackend,
)

BACKENDS = {
    "loky": LokyBackend,
    "multiprocessing": MultiprocessingBackend,
    "sequential": SequentialBackend,
    "threading": ThreadingBackend,
    "tutti": TuttiBackend,
}
EXTERNAL_BACKENDS = {}
DEFAULT_BACKEND = DEFAULT
DEFAULT_PROCESS_BACKEND, DEFAULT_THREAD_BACKEND, MIN_IDEAL_BATCH_DURATION = "loky", "threading", 0.2
VALID_BACKEND_HINTS, VALID_BACKEND_CONSTRAINTS = ("processes", "threads", None), ("sharedmem", None)
VALID_RETURNS = ("list", "generator", "generator_unordered")
_local = threading.local()


class _Unset:
    """An argument that was not given, with what it then is."""

    def __init__(self, default_value):
        self.default_value = default_value

    def __repr__(self):
        return f"default({self.default_value!r})"


_DEFAULTS = {"backend": None, "n_jobs": None, "verbose": 0, "temp_folder": None, "max_nbytes": "1M", "mmap_mode": "r",
             "prefer": None, "require": None}  # fmt: skip
default_parallel_config = {name: _Unset(value) for name, value in _DEFAULTS.items()}
_UNSET = default_parallel_config


def _config_of(name, given, config=None):
    """An argument: as given, as the surrounding `parallel_config` says, or its default."""
    if not isinstance(given, _Unset):
        return given
    set_around = (config or getattr(_local, "config", _UNSET))[name]
    return set_around.default_value if isinstance(set_around, _Unset) else set_around


def _backend_of(backend, **options):
    """An object of the backend that is named or given."""
    if isinstance(backend, ParallelBackendBase) or (
        hasattr(backend, "submit") and not isinstance(backend, (str, type))
    ):
        if options:
            raise ValueError("Constructor parameters backend_params are only supported when backend is a string.")
        return backend
    if hasattr(backend, "Pool") and hasattr(backend, "Lock"):  # a context of multiprocessing
        return MultiprocessingBackend()
    if backend in EXTERNAL_BACKENDS:
        EXTERNAL_BACKENDS[backend]()
    if backend not in BACKENDS:
        raise ValueError(f"Invalid backend: {backend}, expected one of {sorted(BACKENDS)}")
    return BACKENDS[backend](**options)


def register_parallel_backend(name, factory, make_default=False):
    """Let `backend=name` be what `factory(**params)` makes.

    Parameters
    ----------
    name : str
    factory : callable
        Makes a `ParallelBackendBase`.
    make_default : bool
        From now on `Parallel` uses it unless told otherwise.
    """
    BACKENDS[name] = factory
    if make_default:
        global DEFAULT_BACKEND
        DEFAULT_BACKEND = name


def get_active_backend(prefer=_UNSET["prefer"], require=_UNSET["require"], verbose=_UNSET["verbose"]):
    """The backend and n_jobs that a `Parallel` without arguments would take here."""
    backend, config = _active(prefer, require, verbose)
    return backend, _config_of("n_jobs", _UNSET["n_jobs"], config)


def _active(prefer, require, verbose):
    config = getattr(_local, "config", _UNSET)
    backend = _config_of("backend", _UNSET["backend"])
    prefer, require = _config_of("prefer", prefer), _config_of("require", require)
    if prefer not in VALID_BACKEND_HINTS:
        raise ValueError(f"prefer={prefer} is not a valid backend hint, expected one of {VALID_BACKEND_HINTS}")
    if require not in VALID_BACKEND_CONSTRAINTS:
        raise ValueError(
            f"require={require} is not a valid backend constraint, expected one of {VALID_BACKEND_CONSTRAINTS}"
        )
    if prefer == "processes" and require == "sharedmem":
        raise ValueError("prefer == 'processes' and require == 'sharedmem' are inconsistent settings")
    chosen = backend is not None
    if not chosen:
        backend = BACKENDS[DEFAULT_BACKEND](nesting_level=0)
    threads, level = getattr(backend, "uses_threads", False), backend.nesting_level
    shared = getattr(backend, "supports_sharedmem", False)
    if (require == "sharedmem" and not shared) or (not chosen and prefer == "threads" and not threads):
        if chosen and _config_of("verbose", verbose) >= 10:
            print(
                f"Using ThreadingBackend as joblib backend instead of {type(backend).__name__} as the latter does not "
                "provide shared memory semantics."
            )
        return BACKENDS[DEFAULT_THREAD_BACKEND](nesting_level=level), {**config, "n_jobs": 1}
    if not chosen and prefer == "processes" and threads:
        return BACKENDS[DEFAULT_PROCESS_BACKEND](nesting_level=level), dict(config)
    return backend, config


class parallel_config:
    """Arguments of `Parallel` for the code inside `with`.

    Parameters
    ----------
    backend : str or ParallelBackendBase, optional
    n_jobs, verbose, temp_folder, max_nbytes, mmap_mode, prefer, require : optional
        As of `Parallel`.
    inner_max_num_threads : int, optional
        How many threads libraries take in a worker.
    **backend_params
        For the backend that is named.
    """

    def __init__(self, backend=_UNSET["backend"], *, n_jobs=_UNSET["n_jobs"], verbose=_UNSET["verbose"],
                 temp_folder=_UNSET["temp_folder"], max_nbytes=_UNSET["max_nbytes"], mmap_mode=_UNSET["mmap_mode"],
                 prefer=_UNSET["prefer"], require=_UNSET["require"], inner_max_num_threads=None,
                 **backend_params):  # fmt: skip
        self.old_parallel_config = getattr(_local, "config", _UNSET)
        given = {"backend": self._backend(backend, inner_max_num_threads, backend_params), "n_jobs": n_jobs,
                 "verbose": verbose, "temp_folder": temp_folder, "max_nbytes": max_nbytes, "mmap_mode": mmap_mode,
                 "prefer": prefer, "require": require}  # fmt: skip
        changed = {name: value for name, value in given.items() if not isinstance(value, _Unset)}
        self.parallel_config = _local.config = {**self.old_parallel_config, **changed}

    def _backend(self, backend, inner, params):
        if isinstance(backend, _Unset):
            if inner is not None or params:
                raise ValueError(
                    "inner_max_num_threads and other constructor parameters backend_params are only supported "
                    "when backend is not None."
                )
            return backend
        backend = _backend_of(backend, **params)
        if inner is not None:
            if not backend.supports_inner_max_num_threads:
                raise AssertionError(
                    f"{type(backend).__name__} does not accept setting the inner_max_num_threads argument."
                )
            backend.inner_max_num_threads = inner
        if backend.nesting_level is None:
            above = self.old_parallel_config["backend"]
            backend.nesting_level = 0 if isinstance(above, _Unset) or above is None else above.nesting_level
        return backend

    def __enter__(self):
        return self.parallel_config

    def __exit__(self, kind, value, trace):
        self.unregister()

    def unregister(self):
        """Back to what was before."""
        _local.config = self.old_parallel_config


class parallel_backend(parallel_config):
    """`parallel_config` in its old form: a backend and n_jobs, which is -1 unless given."""

    def __init__(self, backend, n_jobs=-1, inner_max_num_threads=None, **backend_params):
        super().__init__(backend=backend, n_jobs=n_jobs, inner_max_num_threads=inner_max_num_threads, **backend_params)
        self.old_backend_and_jobs = self.old_parallel_config["backend"], self.old_parallel_config["n_jobs"]
        self.new_backend_and_jobs = self.parallel_config["backend"], n_jobs

    def __enter__(self):
        return self.new_backend_and_jobs


def effective_n_jobs(n_jobs=-1):
    """How many calls run at once when a program asks for `n_jobs`."""
    if n_jobs == 1:
        return 1
    backend, around = get_active_backend()
    return backend.effective_n_jobs(around if n_jobs is None else n_jobs)
