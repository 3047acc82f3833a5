"""Checkpoints: nested containers with arrays in one safetensors file, whose metadata say how they were nested."""

import base64
import json
import math

from .. import _core
from ..safetensors import SafetensorError, safe_open, save_file

_FORMAT = "tutti.checkpoint"
_VERSION = "1"


class _Writer:
    """The tree as what JSON has, and the arrays that it names."""

    def __init__(self):
        self.arrays, self.names = {}, {}
        self.kept = []  # so that no other array gets the id of one that was written

    def put(self, value, path):
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, _core.dtype):
            return {"dtype": value.name}
        if isinstance(value, dict):
            return self.put_dict(value, path)
        if isinstance(value, list | tuple):
            items = [self.put(v, [*path, str(k)]) for k, v in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
            return self.put_array(value, path)
        raise TypeError(
            f"a checkpoint has no {type(value).__name__} (at {'.'.join(path) or 'its top'}): it has dicts, lists, "
            "tuples, arrays, numbers, texts and None; of objects their state_dict()"
        )

    def put_dict(self, value, path):
        if all(isinstance(key, str) for key in value):
            return {"dict": {key: self.put(v, [*path, key]) for key, v in value.items()}}
        return {"items": [[self.put(k, path), self.put(v, [*path, str(k)])] for k, v in value.items()]}

    def put_array(self, value, path):
        if id(value) in self.names:
            return self.names[id(value)]
        array = _core.asarray(value)
        name, n = ".".join(path) or "array", 1
        while name in self.arrays or name == "__metadata__":
            name, n = f"{'.'.join(path)}#{n}", n + 1
        told = {"array": name}
        if array.dtype == _core.complex128:  # which the format has not
            told["parts"] = "float64"
            array = _core.functions["stack"]([array.real, array.imag], -1)
        self.arrays[name], self.names[id(value)] = array, told
        self.kept.append(value)
        return told


def save_checkpoint(path, tree):
    """Save nested containers with arrays, to go on from them in another process.

    The file is of the safetensors format, with a checksum for each array, and is replaced as a whole: who is killed
    while it is written has the old one.

    Parameters
    ----------
    path : path_like
        The file.
    tree : nested dict, list or tuple
        Dicts, lists and tuples of arrays, numbers, texts, bytes, types and None, as state_dict of modules, optimisers,
        schedulers and scalers gives them, and get_state of tutti.random.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "checkpoint")
    >>> model = tt.nn.Linear(2, 1)
    >>> optimizer = tt.optim.Adam(model.parameters())
    >>> tt.save_checkpoint(path, {
    ...     "step": 5,
    ...     "model": model.state_dict(),
    ...     "optimizer": optimizer.state_dict(),
    ...     "random": tt.random.get_state(),
    ... })
    >>> kept = tt.load_checkpoint(path)
    >>> kept["step"]
    5
    >>> model.load_state_dict(kept["model"])
    <All keys matched successfully>
    >>> optimizer.load_state_dict(kept["optimizer"])
    >>> tt.random.set_state(kept["random"])
    """
    writer = _Writer()
    try:
        text = json.dumps(writer.put(tree, []), allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("the tree is nested too deeply, or contains itself") from None
    save_file(writer.arrays, path, {"format": _FORMAT, "version": _VERSION, "tree": text})


def load_checkpoint(path, device=None):
    """What save_checkpoint saved.

    Parameters
    ----------
    path : path_like
        The file.
    device : Device or str, optional
        Where the arrays are to live.

    Returns
    -------
    object
        The tree. Dicts of any class are plain ones, parameters are arrays; what was one array is one.

    Raises
    ------
    SafetensorError
        The file is no checkpoint, or it is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "checkpoint")
    >>> tt.save_checkpoint(path, {"weights": [tt.ones(2), (1, 2.5, None)]})
    >>> tt.load_checkpoint(path)
    {'weights': [array([1., 1.]), (1, 2.5, None)]}
    """
    with safe_open(path, device=device) as file:
        told = file.metadata() or {}
        if told.get("format") != _FORMAT or "tree" not in told:
            raise SafetensorError(f"{path}: a safetensors file, but no checkpoint")
        if told.get("version") != _VERSION:
            raise SafetensorError(f"{path}: a checkpoint of version {told.get('version')}, this is version {_VERSION}")
        arrays = file._all()
    try:
        return _take(json.loads(told["tree"], parse_constant=float), arrays)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise SafetensorError(f"{path}: the tree is damaged: {error}") from None


def _take(value, arrays):
    """The tree of what JSON has."""
    if isinstance(value, list):
        return [_take(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), None)
    if kind not in _KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    return _KINDS[kind](value[kind], value, arrays)


def _take_array(name, value, arrays):
    if "parts" in value and arrays[name].dtype != _core.complex128:
        parts = arrays[name]
        if value["parts"] != "float64" or parts.ndim == 0 or parts.shape[-1] != 2:
            raise ValueError(f"'{name}' has no two parts")
        whole = _core.functions["empty"](parts.shape[:-1], dtype=_core.complex128)
        whole.real, whole.imag = parts[..., 0], parts[..., 1]
        arrays[name] = whole
    return arrays[name]


_KINDS = {
    "dict": lambda own, value, arrays: {key: _take(v, arrays) for key, v in own.items()},
    "items": lambda own, value, arrays: {_take(k, arrays): _take(v, arrays) for k, v in own},
    "tuple": lambda own, value, arrays: tuple(_take(v, arrays) for v in own),
    "float": lambda own, value, arrays: float(own),
    "complex": lambda own, value, arrays: complex(float(own[0]), float(own[1])),
    "bytes": lambda own, value, arrays: base64.b64decode(own, validate=True),
    "dtype": lambda own, value, arrays: _core.dtype(own),
    "array": _take_array,
}
