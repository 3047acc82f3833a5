"""keras.dtype_policies: the type that weights are kept in, and the one that layers compute in."""

from . import config as _config
from ._configured import Configured as _Configured

_FLOATS = "float16", "bfloat16", "float32", "float64"
__all__ = ["DTypePolicy", "FloatDTypePolicy", "deserialize", "get", "serialize"]


class DTypePolicy(_Configured):
    """The types of a layer: one for all, or float32 for weights and 16 bits for what is computed."""

    def __init__(self, name=None):
        name = _config.floatx() if name is None else name
        if not isinstance(name, str):
            raise TypeError(
                f"'name' must be a string, such as 'mixed_float16'. Received: name={name} (of type {type(name)})"
            )
        self._name = name
        if name in ("mixed_float16", "mixed_bfloat16"):
            self._compute, self._variable = name.removeprefix("mixed_"), "float32"
        elif name in _FLOATS or name.startswith(("int", "uint", "bool", "string", "complex")):
            self._compute = self._variable = name
        else:
            raise ValueError(
                f"Cannot convert '{name}' to a mixed precision DTypePolicy. Valid policies include 'mixed_float16', "
                "'mixed_bfloat16', and the name of any float dtype such as 'float32'."
            )

    name = property(lambda self: self._name)
    compute_dtype = property(lambda self: self._compute)
    variable_dtype = property(lambda self: self._variable)
    quantization_mode = None

    def __eq__(self, other):
        return isinstance(other, DTypePolicy) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'

    def get_config(self):
        """Its name."""
        return {"name": self.name}


FloatDTypePolicy = DTypePolicy


def get(identifier):
    """The policy of a name, a type or a configuration; None: that of all layers."""
    if identifier is None:
        return _config.dtype_policy()
    if isinstance(identifier, DTypePolicy):
        return identifier
    if isinstance(identifier, dict):
        return deserialize(identifier)
    return DTypePolicy(str(getattr(identifier, "name", identifier)))


def serialize(dtype_policy):
    """Its class and its configuration."""
    return {"module": "keras", "class_name": "DTypePolicy", "config": dtype_policy.get_config()}


def deserialize(config, custom_objects=None):
    """The policy of a configuration."""
    return DTypePolicy(**config["config"])
