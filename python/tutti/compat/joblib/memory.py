"""Results of functions in files: a call with the same arguments is answered from there."""

import datetime
import functools
import os
import time
import traceback
import warnings
import weakref
from pathlib import Path

from . import hashing
from ._results import Logger, MemorizedResult, NotMemorizedFunc, NotMemorizedResult
from ._store_backends import (  # noqa: F401 (joblib's place)
    _STORE_BACKENDS,
    CacheWarning,
    StoreBackendBase,
    _store_backend_factory,
    register_store_backend,
)
from .func_inspect import filter_args, format_signature, get_func_code, get_func_name

FIRST_LINE_TEXT = "# first line:"
_FUNCTION_HASHES = weakref.WeakKeyDictionary()  # of functions whose text was compared here: code and place
_READ_OF = weakref.WeakKeyDictionary()  # of decorated functions: the code whose text was read


class JobLibCollisionWarning(UserWarning):
    """Two functions may be kept under one name."""


def _build_func_identifier(func):
    modules, name = get_func_name(func)
    return os.path.join(*modules, name)


def extract_first_line(func_code):
    """The text of a function that was kept, and its first line."""
    if not func_code.startswith(FIRST_LINE_TEXT):
        return func_code, -1
    line, _, text = func_code.partition("\n")
    return text, int(line[len(FIRST_LINE_TEXT) :])


def _keep_out_of_git(location):
    os.makedirs(location, exist_ok=True)
    try:
        with open(os.path.join(location, ".gitignore"), "x", encoding="utf-8") as file:
            file.write("# Results of functions, made by Memory.\n*\n")
    except FileExistsError:
        pass


def expires_after(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
    """A `cache_validation_callback`: results are good for so long."""
    age = datetime.timedelta(days, seconds, microseconds, milliseconds, minutes, hours, weeks)
    return lambda metadata: time.time() - metadata["time"] < age.total_seconds()


class MemorizedFunc(Logger):
    """A function whose results are kept."""

    def __init__(self, func, location, backend="local", ignore=None, mmap_mode=None, compress=False, verbose=1,
                 timestamp=None, cache_validation_callback=None):  # fmt: skip
        self.func, self.ignore, self._verbose = func, [] if ignore is None else ignore, verbose
        self.mmap_mode, self.compress, self.timestamp = mmap_mode, compress, timestamp or time.time()
        self.cache_validation_callback = cache_validation_callback
        self.func_id = _build_func_identifier(func)
        options = {"compress": compress, "mmap_mode": mmap_mode}
        self.store_backend = _store_backend_factory(backend, location, verbose, options)
        if self.store_backend is not None:
            self.store_backend.store_cached_func_code([self.func_id])
        try:
            functools.update_wrapper(self, func)
        except (AttributeError, TypeError):  # a callable without the attributes of functions
            pass
        self.__doc__ = f"Memoized version of {func.__name__ if hasattr(func, '__name__') else func}\n\n{func.__doc__}"
        self._code = None

    def __call__(self, *args, **kwargs):
        return self._cached(args, kwargs, shelve=False)

    def call_and_shelve(self, *args, **kwargs):
        """A reference to the result in the cache."""
        return self._cached(args, kwargs, shelve=True)

    def check_call_in_cache(self, *args, **kwargs):
        """Whether the result of this call is kept, and good."""
        call_id = (self.func_id, self._get_args_id(*args, **kwargs))
        if not self.store_backend.contains_item(call_id):
            return False
        return self.cache_validation_callback is None or bool(
            self.cache_validation_callback(self.store_backend.get_metadata(call_id))
        )

    def call(self, *args, **kwargs):
        """Call the function and keep the result; the result and its metadata."""
        call_id = (self.func_id, self._get_args_id(*args, **kwargs))
        self._check_previous_func_code(stacklevel=3)
        return self._call(call_id, args, kwargs)

    def _cached(self, args, kwargs, shelve):
        call_id = (self.func_id, self._get_args_id(*args, **kwargs))
        if self._is_good(call_id):
            try:
                return self._result(call_id) if shelve else self._load(call_id)
            except Exception:
                self.warn(
                    f"Exception while loading results for {format_signature(self.func, *args, **kwargs)[1]}\n "
                    f"{traceback.format_exc()}"
                )
        value, metadata = self._call(call_id, args, kwargs)
        if shelve:
            return self._result(call_id, metadata)
        return (
            self._load(call_id) if self.mmap_mode is not None and self.store_backend.contains_item(call_id) else value
        )

    def _is_good(self, call_id):
        same = self._check_previous_func_code(stacklevel=5)
        if not same or not self.store_backend.contains_item(call_id):
            return False
        metadata = self.store_backend.get_metadata(call_id)
        if self.cache_validation_callback is not None and not self.cache_validation_callback(metadata):
            self.store_backend.clear_item(call_id)
            return False
        return True

    def _load(self, call_id):
        begun = time.perf_counter()
        if self._verbose > 1:
            print(f"[Memory]: Loading {self.func_id.replace(os.sep, '.')}...")
        value = self.store_backend.load_item(call_id)
        if self._verbose > 4:
            self._print_duration(time.perf_counter() - begun, "cache loaded - ")
        return value

    def _result(self, call_id, metadata=None):
        return MemorizedResult(
            self.store_backend, call_id, metadata=metadata, timestamp=self.timestamp, verbose=self._verbose - 1
        )

    def _call(self, call_id, args, kwargs):
        if self._verbose > 0:
            path, text = format_signature(self.func, *args, **kwargs)
            print(f"{'_' * 80}\n[Memory] Calling {path}...\n{text}")
        begun = time.perf_counter()
        value = self.func(*args, **kwargs)
        took = time.perf_counter() - begun
        if self._verbose > 0:
            self._print_duration(took)
        metadata = {"duration": took, "time": time.time(), "input_args": self._shown(args, kwargs)}
        try:
            self.store_backend.dump_item(call_id, value)
            self.store_backend.store_metadata(call_id, metadata)
        except Exception as error:
            warnings.warn(f"Unable to cache to disk: {error}", CacheWarning, stacklevel=5)
        return value, metadata

    def _shown(self, args, kwargs):
        return {k: repr(v)[:1000] for k, v in filter_args(self.func, self.ignore, args, kwargs).items()}

    def _print_duration(self, took, context=""):
        text = f" {context}{getattr(self.func, '__name__', self.func)} {took:.1f}s, {took / 60:.1f}min"
        print(max(0, 80 - len(text)) * "_" + text)

    def _get_args_id(self, *args, **kwargs):
        return hashing.hash(filter_args(self.func, self.ignore, args, kwargs), coerce_mmap=self.mmap_mode is not None)

    @property
    def func_code_info(self):
        now = getattr(self.func, "__code__", None)  # a program may give a function other code
        if self._code is None or (_READ_OF.get(self, now) is not now):
            self._code = get_func_code(self.func)
            if now is not None:
                _READ_OF[self] = now
        return self._code

    def _write_func_code(self, text, first):
        self.store_backend.store_cached_func_code([self.func_id], f"{FIRST_LINE_TEXT} {first}\n{text}")
        self._remember()

    def _identity(self):
        return self.store_backend.location, hash(getattr(self.func, "__code__", None))

    def _remember(self):
        if getattr(self.func, "__name__", "<lambda>") == "<lambda>":
            return  # others have that name
        try:
            _FUNCTION_HASHES[self.func] = self._identity()
        except TypeError:  # no weak references to it
            pass

    def _check_previous_func_code(self, stacklevel=2):
        """Whether results in the store are of this text of the function; if not they are removed."""
        try:
            if _FUNCTION_HASHES.get(self.func) == self._identity() and self.store_backend.contains_path([self.func_id]):
                return True
        except TypeError:
            pass
        text, file, first = self.func_code_info
        try:
            old, old_first = extract_first_line(self.store_backend.get_cached_func_code([self.func_id]))
        except OSError:
            self._write_func_code(text, first)
            return False
        if old == text:
            self._remember()
            return True
        self._warn_of_collisions(text, file, first, old, old_first, stacklevel + 1)
        if self._verbose > 10:
            self.warn(f"Function {get_func_name(self.func)[1]} (identified by {self.func_id}) has changed.")
        self.clear(warn=True)
        return False

    def _warn_of_collisions(self, text, file, first, old, old_first, stacklevel):
        name = get_func_name(self.func)[1]
        if old_first == first == -1 or name == "<lambda>":
            shown = name if first == -1 else f"{name} ({file}:{first})"
            warnings.warn(
                JobLibCollisionWarning(f"Cannot detect name collisions for function '{shown}'"), stacklevel=stacklevel
            )
        if old_first != first and file is not None and os.path.exists(file):
            with open(file, encoding="utf-8") as source:
                there = "".join(source.readlines()[old_first - 1 : old_first - 1 + len(old.rstrip("\n").split("\n"))])
            if there.rstrip() == old.rstrip():
                warnings.warn(
                    JobLibCollisionWarning(
                        f"Possible name collisions between functions '{name}' ({file}:{old_first}) "
                        f"and '{name}' ({file}:{first})"
                    ),
                    stacklevel=stacklevel,
                )

    def clear(self, warn=True):
        """Remove all results of this function."""
        if self._verbose > 0 and warn:
            self.warn(f"Clearing function cache identified by {self.func_id}")
        self.store_backend.clear_path([self.func_id])
        text, _, first = self.func_code_info
        self._write_func_code(text, first)

    def __getstate__(self):
        if self._code is None:  # a worker may not see the text
            self.func_code_info  # noqa: B018
        return {**self.__dict__, "timestamp": None}

    def __repr__(self):
        return f"{type(self).__name__}(func={self.func}, location={self.store_backend.location})"


class _Awaiting:
    """What functions with `await` have beside: the result is awaited, then kept."""

    async def __call__(self, *args, **kwargs):
        return await self._awaited(args, kwargs, shelve=False)

    async def call_and_shelve(self, *args, **kwargs):
        return await self._awaited(args, kwargs, shelve=True)


class AsyncMemorizedFunc(_Awaiting, MemorizedFunc):
    async def _awaited(self, args, kwargs, shelve):
        call_id = (self.func_id, self._get_args_id(*args, **kwargs))
        if not self._is_good(call_id):
            value = await self.func(*args, **kwargs)
            held, self.func = self.func, functools.wraps(self.func)(lambda *a, **k: value)
            try:
                self._call(call_id, args, kwargs)
            finally:
                self.func = held
            if not shelve:
                return value
        return self._result(call_id) if shelve else self._load(call_id)


class AsyncNotMemorizedFunc(_Awaiting, NotMemorizedFunc):
    async def _awaited(self, args, kwargs, shelve):
        value = await self.func(*args, **kwargs)
        return NotMemorizedResult(value) if shelve else value


class Memory(Logger):
    """A folder of results.

    Parameters
    ----------
    location : str, pathlib.Path or None
        The folder; None keeps nothing.
    backend : str
        The kind of store: 'local', or what `register_store_backend` was told.
    mmap_mode : {None, 'r+', 'r', 'w+', 'c'}, optional
        How arrays of results are mapped to memory.
    compress : bool, int or tuple, optional
        As of `dump`.
    verbose : int, optional
        From 1 on calls are printed.
    backend_options : dict, optional
        More for `configure` of the store.
    """

    def __init__(self, location=None, backend="local", mmap_mode=None, compress=False, verbose=1, backend_options=None):
        self._verbose, self.mmap_mode, self.backend, self.compress = verbose, mmap_mode, backend, compress
        self.timestamp, self.location, self.backend_options = time.time(), location, backend_options or {}
        if compress and mmap_mode is not None:
            warnings.warn("Compressed results cannot be memmapped", stacklevel=2)
        if isinstance(location, (str, Path)):
            _keep_out_of_git(location)
            location = os.path.join(location, "joblib")
        options = {"compress": compress, "mmap_mode": mmap_mode, **self.backend_options}
        self.store_backend = _store_backend_factory(backend, location, verbose, options)

    def cache(self, func=None, ignore=None, verbose=None, mmap_mode=False, cache_validation_callback=None):
        """Decorate a function: its results are kept.

        Parameters
        ----------
        func : callable, optional
            Without it, a decorator.
        ignore : list of str, optional
            Arguments that make no difference.
        verbose, mmap_mode : optional
            Otherwise than this object's.
        cache_validation_callback : callable, optional
            Takes the metadata of a result; it is computed anew when the answer is False.
        """
        if cache_validation_callback is not None and not callable(cache_validation_callback):
            raise ValueError(f"cache_validation_callback needs to be callable. Got {cache_validation_callback}.")
        if func is None:
            return functools.partial(
                self.cache,
                ignore=ignore,
                mmap_mode=mmap_mode,
                verbose=verbose,
                cache_validation_callback=cache_validation_callback,
            )
        import inspect

        awaited = inspect.iscoroutinefunction(func)
        if self.store_backend is None:
            return (AsyncNotMemorizedFunc if awaited else NotMemorizedFunc)(func)
        if isinstance(func, MemorizedFunc):
            func = func.func
        return (AsyncMemorizedFunc if awaited else MemorizedFunc)(
            func, self.store_backend, backend=self.backend, ignore=ignore, compress=self.compress,
            mmap_mode=self.mmap_mode if mmap_mode is False else mmap_mode, timestamp=self.timestamp,
            verbose=self._verbose if verbose is None else verbose, cache_validation_callback=cache_validation_callback,
        )  # fmt: skip

    def clear(self, warn=True):
        """Remove everything in the folder."""
        if warn:
            self.warn("Flushing completely the cache")
        if self.store_backend is not None:
            self.store_backend.clear()
            _FUNCTION_HASHES.clear()

    def reduce_size(self, bytes_limit=None, items_limit=None, age_limit=None):
        """Remove what was used longest ago, until the rest keeps to the limits.

        Parameters
        ----------
        bytes_limit : int or str, optional
            Bytes, or '10M' and the like.
        items_limit : int, optional
        age_limit : datetime.timedelta, optional
        """
        if self.store_backend is not None and (bytes_limit, items_limit, age_limit) != (None, None, None):
            self.store_backend.enforce_store_limits(bytes_limit, items_limit, age_limit)

    def eval(self, func, *args, **kwargs):
        """Call a function through the cache, once."""
        return func(*args, **kwargs) if self.store_backend is None else self.cache(func)(*args, **kwargs)

    def __repr__(self):
        return f"{type(self).__name__}(location={None if self.store_backend is None else self.store_backend.location})"

    def __getstate__(self):
        return {**self.__dict__, "timestamp": None}
