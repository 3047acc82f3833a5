"""Results in files and without, and functions without a place for theirs."""

import functools
import logging
import os

from ._store_backends import _store_backend_factory

_LOG = logging.getLogger("tutti.joblib")


class Logger:
    def warn(self, message):
        _LOG.warning("[%s]: %s", self, message)

    def info(self, message):
        _LOG.info("[%s]: %s", self, message)


class MemorizedResult(Logger):
    """A result in a file, read when it is asked for."""

    def __init__(self, location, call_id, backend="local", mmap_mode=None, verbose=0, timestamp=None, metadata=None):
        self._call_id, self.verbose, self.timestamp = tuple(call_id), verbose, timestamp
        self.store_backend = _store_backend_factory(backend, location, verbose, {"mmap_mode": mmap_mode})
        self.mmap_mode, self.metadata = mmap_mode, metadata or self.store_backend.get_metadata(self._call_id)
        self.duration = self.metadata.get("duration")

    @property
    def func_id(self):
        return self._call_id[0]

    func = func_id

    @property
    def args_id(self):
        return self._call_id[1]

    def get(self):
        """The result; KeyError when it was removed."""
        try:
            return self.store_backend.load_item(self._call_id)
        except (OSError, ValueError) as error:
            raise KeyError(
                "Error while trying to load a MemorizedResult's value. It seems that this folder is corrupted "
                f": {os.path.join(self.store_backend.location, *self._call_id)}"
            ) from error

    def clear(self):
        self.store_backend.clear_item(self._call_id)

    def __repr__(self):
        place = self.store_backend.location
        return f'{type(self).__name__}(location="{place}", func="{self.func}", args_id="{self.args_id}")'

    def __getstate__(self):
        return {**self.__dict__, "timestamp": None}


class NotMemorizedResult:
    """A result that no file has."""

    __slots__ = ("value", "valid")

    def __init__(self, value):
        self.value, self.valid = value, True

    def get(self):
        if not self.valid:
            raise KeyError("No value stored.")
        return self.value

    def clear(self):
        self.valid, self.value = False, None

    def __repr__(self):
        return f"{type(self).__name__}({self.value})" if self.valid else f"{type(self).__name__} with no value"

    def __getstate__(self):
        return {"valid": self.valid, "value": self.value}

    def __setstate__(self, state):
        self.valid, self.value = state["valid"], state["value"]


class NotMemorizedFunc:
    """A function under a `Memory` without a place."""

    def __init__(self, func):
        self.func = func
        functools.update_wrapper(self, func)

    def __call__(self, *args, **kwargs):
        return self.func(*args, **kwargs)

    def call_and_shelve(self, *args, **kwargs):
        return NotMemorizedResult(self.func(*args, **kwargs))

    def call(self, *args, **kwargs):
        return self.func(*args, **kwargs), {}

    def clear(self, warn=True):
        """There is nothing to clear."""

    def check_call_in_cache(self, *args, **kwargs):
        return False

    def __repr__(self):
        return f"{type(self).__name__}(func={self.func})"
