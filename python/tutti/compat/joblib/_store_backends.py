"""Where `Memory` keeps results: a folder for each function, in it a folder for each call."""

import abc
import collections
import datetime
import json
import os
import shutil
import uuid
import warnings
from pathlib import Path

from . import numpy_pickle

CacheItemInfo = collections.namedtuple("CacheItemInfo", "path size last_access")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class CacheWarning(Warning):
    """A result could not be kept."""


class StoreBackendBase(abc.ABC):
    """What a store of results has."""

    location = None

    @abc.abstractmethod
    def configure(self, location, verbose=0, backend_options=None):
        """Open the store at `location`."""

    @abc.abstractmethod
    def get_items(self):
        """All results, as `CacheItemInfo`."""

    @abc.abstractmethod
    def clear_location(self, location):
        """Remove what lies there."""


def memstr_to_bytes(text):
    """The bytes that '10M', '1G' and the like are."""
    try:
        return int(_UNITS[text[-1]] * float(text[:-1]))
    except (KeyError, ValueError):
        raise ValueError(
            f"Invalid literal for size give: {text} (type {type(text)}) should be alike '10G', '500M', '50K'."
        ) from None


class FileSystemStoreBackend(StoreBackendBase):
    """Results in files, each written whole before it gets its name."""

    verbose, compress, mmap_mode = 0, False, None

    def configure(self, location, verbose=1, backend_options=None):
        options = backend_options or {}
        self.location, self.verbose = str(location), verbose
        self.compress, self.mmap_mode = options.get("compress", False), options.get("mmap_mode")
        os.makedirs(self.location, exist_ok=True)

    def _at(self, call_id, *name):
        return os.path.join(self.location, *call_id, *name)

    def _write(self, name, write):
        """Others see a file that is whole, or none."""
        os.makedirs(os.path.dirname(name), exist_ok=True)
        early = f"{name}.{uuid.uuid4().hex}"
        try:
            write(early)
            os.replace(early, name)
        finally:
            if os.path.exists(early):
                os.unlink(early)

    def load_item(self, call_id):
        name = self._at(call_id, "output.pkl")
        value = numpy_pickle.load(name, mmap_mode=None if self.compress else self.mmap_mode)
        os.utime(name, (datetime.datetime.now().timestamp(), os.stat(name).st_mtime))  # also where reads leave no trace
        return value

    def dump_item(self, call_id, item):
        self._write(self._at(call_id, "output.pkl"), lambda name: numpy_pickle.dump(item, name, compress=self.compress))

    def contains_item(self, call_id):
        return os.path.exists(self._at(call_id, "output.pkl"))

    def contains_path(self, call_id):
        return os.path.exists(self._at(call_id))

    def get_metadata(self, call_id):
        try:
            with open(self._at(call_id, "metadata.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def store_metadata(self, call_id, metadata):
        self._write(self._at(call_id, "metadata.json"), lambda name: _put(name, json.dumps(metadata)))

    def clear_item(self, call_id):
        self.clear_location(self._at(call_id))

    clear_path = clear_item

    def clear_location(self, location):
        shutil.rmtree(location, ignore_errors=True)

    def clear(self):
        if os.path.exists(self.location):
            for name in os.listdir(self.location):
                self.clear_location(os.path.join(self.location, name))

    def store_cached_func_code(self, call_id, func_code=None):
        os.makedirs(self._at(call_id), exist_ok=True)
        if func_code is not None:
            self._write(self._at(call_id, "func_code.py"), lambda name: _put(name, func_code))

    def get_cached_func_code(self, call_id):
        with open(self._at(call_id, "func_code.py"), encoding="utf-8") as file:
            return file.read()

    def get_items(self):
        items = []
        for folder, _, files in os.walk(self.location):
            if "output.pkl" not in files:
                continue
            try:
                seen = os.stat(os.path.join(folder, "output.pkl")).st_atime
                size = sum(os.path.getsize(os.path.join(folder, name)) for name in files)
            except OSError:  # another process has just removed it
                continue
            items.append(CacheItemInfo(folder, size, datetime.datetime.fromtimestamp(seen)))
        return items

    def enforce_store_limits(self, bytes_limit, items_limit=None, age_limit=None):
        """Remove what was used longest ago until the rest keeps to the limits."""
        for item in self._get_items_to_delete(bytes_limit, items_limit, age_limit):
            if self.verbose > 10:
                print(f"Deleting item {item}")
            self.clear_location(item.path)

    def _get_items_to_delete(self, bytes_limit, items_limit=None, age_limit=None):
        if isinstance(bytes_limit, str):
            bytes_limit = memstr_to_bytes(bytes_limit)
        if age_limit is not None and age_limit.total_seconds() < 0:
            raise ValueError("age_limit has to be a positive timedelta")
        items = sorted(self.get_items(), key=lambda item: item.last_access)
        size, count, oldest, gone = sum(item.size for item in items), len(items), None, []
        if age_limit is not None:
            oldest = datetime.datetime.now() - age_limit
        for item in items:
            too_much = (bytes_limit is not None and size > bytes_limit) or (
                items_limit is not None and count > items_limit
            )
            if not too_much and (oldest is None or item.last_access >= oldest):
                break
            size, count = size - item.size, count - 1
            gone.append(item)
        return gone

    def __repr__(self):
        return f'{type(self).__name__}(location="{self.location}")'


def _put(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


_STORE_BACKENDS = {"local": FileSystemStoreBackend}


def register_store_backend(backend_name, backend):
    """Let `Memory(backend=backend_name)` use this class of stores."""
    if not isinstance(backend_name, str):
        raise ValueError(f"Store backend name should be a string, '{backend_name}' given.")
    if backend is None or not issubclass(backend, StoreBackendBase):
        raise ValueError(f"Store backend should inherit StoreBackendBase, '{backend}' given.")
    _STORE_BACKENDS[backend_name] = backend


def _store_backend_factory(backend, location, verbose=0, backend_options=None):
    if isinstance(location, Path):
        location = str(location)
    if isinstance(location, StoreBackendBase):
        return location
    if isinstance(location, str):
        if backend not in _STORE_BACKENDS:
            raise TypeError(f"Unknown location {location} or backend {backend}")
        store = _STORE_BACKENDS[backend]()
        store.configure(location, verbose=verbose, backend_options=backend_options or {})
        return store
    if location is not None:
        warnings.warn(
            f"Instantiating a backend using a {type(location).__name__} as a location is not supported by joblib. "
            "Returning None instead.",
            UserWarning,
            stacklevel=3,
        )
    return None
