"""keras.saving: models as a configuration and weights, in one file."""

import io as _io
import json as _json
import os as _os
import zipfile as _zipfile

from tutti import safetensors as _safetensors

from . import _configured, _h5
from ._configured import (  # noqa: F401
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    register_keras_serializable,
    serialize_keras_object,
)


def _in_order(model):
    """The weights by their place and name: what a model of the same layers finds again, whatever it is called."""
    return {f"{k:04d}/{v.name}": v for k, v in enumerate(model.weights)}


def _is_h5(filepath):
    return str(filepath).endswith((".h5", ".hdf5"))


def _refuse_h5(filepath):
    if _is_h5(filepath):
        raise NotImplementedError(
            f"tutti.compat.keras does not cover whole models in HDF5 ({filepath}): give the file a name that ends with "
            ".keras, or save the weights alone as .weights.h5"
        )


def save_weights(model, filepath, overwrite=True, **unused):
    """Write a model's weights: as Keras does to a .weights.h5, where h5py is installed, else as safetensors."""
    if not overwrite and _os.path.exists(filepath):
        raise FileExistsError(f"The file is there already: {_os.fspath(filepath)}. Pass overwrite=True.")
    if _is_h5(filepath):
        _h5.check_name(filepath)
        return _h5.save(model, filepath)
    _safetensors.save_file({name: v.detach() for name, v in _in_order(model).items()}, _os.fspath(filepath))


def load_weights(model, filepath, skip_mismatch=False, **unused):
    """Read a model's weights by their places."""
    if _is_h5(filepath):
        _h5.check_name(filepath)
        return _h5.load(model, _os.fspath(filepath), skip_mismatch)
    _assign(model, _safetensors.load_file(_os.fspath(filepath)), skip_mismatch)


def _assign(model, found, skip_mismatch=False):
    own = _in_order(model)
    if set(own) != set(found) and not skip_mismatch:
        raise ValueError(
            f"The file has the weights {sorted(set(found) - set(own))} that the model has not, and lacks "
            f"{sorted(set(own) - set(found))}"
        )
    for name, v in own.items():
        if name in found and (not skip_mismatch or found[name].shape == v.shape):
            v.assign(found[name])


def save_model(model, filepath, overwrite=True, **unused):
    """Write a model: its configuration, its weights and what it was compiled with. Keras reads it if h5py is there."""
    _refuse_h5(filepath)
    if not str(filepath).endswith(".keras"):
        raise ValueError(
            "Invalid filepath extension for saving. Please add either a `.keras` extension for the native Keras format "
            f"(recommended) or a `.h5` extension. Received: filepath={filepath}."
        )
    config = _configured.serialize_keras_object(model)
    compiled = getattr(model, "_compile_config", None)
    try:
        compiled = _configured.serialize_part(compiled) if compiled else None
        _json.dumps(compiled)
    except TypeError:
        compiled = None  # functions and objects without a configuration are not kept
    if compiled:
        config["compile_config"] = compiled
    from . import __version__

    with _zipfile.ZipFile(filepath, "w") as made:
        made.writestr("metadata.json", _json.dumps({"keras_version": __version__, "date_saved": _now()}))
        made.writestr("config.json", _json.dumps(config))
        if _h5.is_there():
            weights = _io.BytesIO()
            _h5.write(model, weights)
            made.writestr("model.weights.h5", weights.getvalue())
        else:
            weights = {name: v.detach() for name, v in _in_order(model).items()}
            made.writestr("model.weights.safetensors", _safetensors.save(weights))


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """The model of a file."""
    _refuse_h5(filepath)
    if not _os.path.exists(filepath):
        raise ValueError(
            f"File not found: filepath={filepath}. Please ensure the file is an accessible `.keras` zip file."
        )
    with _zipfile.ZipFile(filepath) as made, CustomObjectScope(custom_objects or {}):
        names, config = made.namelist(), _json.loads(made.read("config.json"))
        model = deserialize_keras_object(config)
        if "model.weights.h5" in names:
            _demand_weights(model, filepath)
            _h5.load(model, _io.BytesIO(made.read("model.weights.h5")))
        else:
            weights = _safetensors.load(made.read("model.weights.safetensors"))
            if weights:
                _demand_weights(model, filepath)
            _assign(model, weights)
        compiled = config.get("compile_config")
        if "compile.json" in names:  # where earlier versions of this library wrote it
            compiled = _json.loads(made.read("compile.json"))
        if compile and compiled:
            model.compile(**{k: _configured.deserialize_part(compiled[k]) for k in _COMPILED if k in compiled})
    return model


# What compile() is told, of what Keras keeps: how much a call does is nothing to tell here.
_COMPILED = "optimizer", "loss", "loss_weights", "metrics", "weighted_metrics"


def _demand_weights(model, filepath):
    if not model.weights:
        raise ValueError(f"The model of {filepath} has no weights before it is called: call it, then load_weights()")


def _now():
    import time

    return time.strftime("%Y-%m-%d@%H:%M:%S")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.saving.{name}")
