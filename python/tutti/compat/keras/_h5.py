"""Files of Keras' .weights.h5: each variable at the place of its layer. They need h5py."""

import os as _os

from . import _state
from ._layer import Layer


def _h5py():
    try:
        import h5py
    except ImportError:
        raise ImportError(
            "Files of HDF5 need h5py (pip install h5py); files whose names end with .safetensors need nothing"
        ) from None
    return h5py


def check_name(filepath):
    """Keras' own rule of names."""
    if not str(filepath).endswith(".weights.h5"):
        raise ValueError(f"The filename must end in `.weights.h5`. Received: filepath={filepath}")


def _container(layers, path, made, seen):
    """Layers of a list are named by their classes, with numbers behind the first."""
    counts = {}
    for layer in layers:
        if not isinstance(layer, Layer):
            continue
        name = _state.snake_case(type(layer).__name__)
        n = counts[name] = counts.get(name, -1) + 1
        _walk(layer, f"{path}/{name}_{n}" if n else f"{path}/{name}", made, seen)


def _walk(layer, path, made, seen):
    if id(layer) in seen:
        return
    seen.add(id(layer))
    for k, v in enumerate(sorted(layer._own, key=lambda v: not v._can_train)):  # those that are trained first
        made[f"{path}/vars/{k}".lstrip("/")] = v
    if hasattr(layer, "_listed_operations") and (layer._is_functional or hasattr(layer, "_chain")):
        _container(layer.layers, f"{path}/layers".lstrip("/"), made, seen)
        return
    for name, value in sorted(vars(layer).items()):
        below = f"{path}/{name}".lstrip("/")
        if name.startswith("_"):
            continue
        if isinstance(value, Layer):
            _walk(value, below, made, seen)
        elif isinstance(value, (list, tuple, dict)):
            _container(value.values() if isinstance(value, dict) else value, below, made, seen)


def places(model):
    """The variables by their places."""
    made = {}
    _walk(model, "", made, set())
    return made


def is_there():
    """Is h5py?"""
    try:
        return _h5py() is not None
    except ImportError:
        return False


def write(model, file):
    """Write the variables into a file, or what is written as one."""
    with _h5py().File(file, "w") as f:
        for place, v in places(model).items():
            f.create_dataset(place, data=v.detach().numpy())


def save(model, filepath):
    """Write the variables; the file appears whole or not at all."""
    _h5py()
    beside = f"{_os.fspath(filepath)}.{_os.getpid()}.part"
    try:
        write(model, beside)
        _os.replace(beside, filepath)
    finally:
        if _os.path.exists(beside):
            _os.remove(beside)


def load(model, filepath, skip_mismatch=False):
    """Read the variables of a file, or of what reads as one; all of them, or none."""
    with _h5py().File(filepath, "r") as f:
        found = {}
        for place, v in places(model).items():
            given = f.get(place)
            if given is None or given.shape != v.shape:
                if skip_mismatch:
                    continue
                what = "is not in the file" if given is None else f"has the shape {given.shape} there, not {v.shape}"
                raise ValueError(f"A total of 1 objects could not be loaded: {place} ({v.path}) {what}")
            found[place] = v, given[()]
    for v, value in found.values():
        v.assign(value.astype(str(v.dtype)))
