"""Objects that know what they were made with, and are found by names."""

import functools
import inspect

from . import _state

_custom = {}


class Configured:
    """What remembers the arguments of its constructor: get_config() gives them, from_config() takes them."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        object.__setattr__(self, "_made_with", _bound(cls, args, kwargs))
        return self

    def get_config(self):
        """The constructor's arguments."""
        given = {name: serialize_part(value) for name, value in self._made_with.items()}
        if given.get("name", "") is None:
            del given["name"]  # one is found again
        return given

    @classmethod
    def from_config(cls, config):
        """An object made with them."""
        known = {name for own in cls.__mro__[:-1] if "__init__" in vars(own) for name in _signature(own).parameters}
        # What versions to come have besides is dropped where it was not used.
        config = {name: value for name, value in config.items() if name in known or value not in (None, False)}
        return cls(**{name: deserialize_part(value) for name, value in config.items()})

    def clone(self):
        """Another one, made with the same."""
        return self.from_config(self.get_config())


@functools.cache
def _signature(cls):
    return inspect.signature(cls.__init__)


def _bound(cls, args, kwargs):
    try:
        bound = _signature(cls).bind(None, *args, **kwargs)
    except TypeError:
        return dict(kwargs)  # the constructor says what is wrong
    bound.apply_defaults()
    made = {}
    for name, value in list(bound.arguments.items())[1:]:
        kind = _signature(cls).parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            made.update(value)
        elif kind is not inspect.Parameter.VAR_POSITIONAL:
            made[name] = value
    return made


def register_keras_serializable(package="Custom", name=None):
    """A decorator: the class, or function, is found by its name when configurations are read."""

    def register(made):
        _custom[name or made.__name__] = _custom[f"{package}>{name or made.__name__}"] = made
        return made

    return register


def get_custom_objects():
    """Classes and functions that programs have named."""
    return _custom


class CustomObjectScope:
    """A block in which classes and functions are found by names."""

    def __init__(self, custom_objects):
        self._objects = custom_objects

    def __enter__(self):
        self._before = dict(_custom)
        _custom.update(self._objects)
        return self

    def __exit__(self, *unused):
        _custom.clear()
        _custom.update(self._before)


custom_object_scope = CustomObjectScope


def serialize_keras_object(made):
    """Its class and its configuration."""
    if inspect.isfunction(made):
        name = made.__name__
        return {"module": "builtins", "class_name": "function", "config": name, "registered_name": name}
    module, name, registered = _place_of(made)
    return {"module": module, "class_name": name, "config": made.get_config(), "registered_name": registered}


def _place_of(made):
    """The module in which Keras has a class, its name there, and the one under which a program registered it."""
    cls, ours = type(made), __name__.rpartition(".")[0]
    if not cls.__module__.startswith(ours):
        name = next((n for n, c in _custom.items() if c is cls and ">" in n), cls.__name__)
        return cls.__module__, cls.__name__, name
    if getattr(made, "_is_functional", False) and cls.__name__ == "Model":
        return "keras.src.models.functional", "Functional", "Functional"
    part = cls.__module__[len(ours) + 1 :].split(".")
    if part[0].startswith("_") or part[0] == "dtype_policies":
        part = []
    elif part[0] == "optimizers" and part[-1] == "schedules":
        part = ["optimizers", "schedules"]
    return ".".join(["keras", *[p for p in part if not p.startswith("_")]]), cls.__name__, None


def serialize_part(value):
    """An argument, in a form that is text and numbers."""
    if isinstance(value, dict):
        return {key: serialize_part(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(serialize_part(part) for part in value)
    if inspect.isfunction(value):
        return value.__name__
    return serialize_keras_object(value) if hasattr(value, "get_config") else value


def deserialize_part(value):
    """An argument, of its form."""
    if isinstance(value, dict) and "class_name" in value and "config" in value:
        return deserialize_keras_object(value)
    return value


def deserialize_keras_object(config, custom_objects=None):
    """The object of a class and a configuration."""
    with CustomObjectScope(custom_objects or {}):
        name = config["class_name"]
        if name == "function":
            return _custom[config["config"]]
        cls = _custom.get(name) or _find(name)
        if cls is None:
            raise TypeError(
                f"Could not locate class '{name}'. Make sure custom classes and functions are decorated with "
                "`@keras.saving.register_keras_serializable()`."
            )
        return cls.from_config(config["config"])


def _find(name):
    from tutti.compat import keras

    from . import _model

    places = (keras.layers, keras, keras.initializers, keras.regularizers, keras.constraints, keras.losses)
    places += keras.metrics, keras.optimizers, keras.optimizers.schedules, _model
    for place in places:
        found = getattr(place, name, None) if name in vars(place) else None
        if inspect.isclass(found):
            return found
    return None


def by_name(namespace, kind, identifier):
    """What an identifier stands for: a name in any spelling, a configuration, a class, or the object itself."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return deserialize_keras_object(identifier)
    if isinstance(identifier, str):
        names = {spelled: made for n, made in namespace.items() if _is_public(n, made) for spelled in _spellings(n)}
        found = _custom.get(identifier) or namespace.get(identifier) or names.get(identifier.lower())
        if found is None or not callable(found):
            raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
        return found() if inspect.isclass(found) else found
    if inspect.isclass(identifier):
        return identifier()
    if not callable(identifier):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return identifier


def _spellings(name):
    return _state.snake_case(name), name.lower()


def _is_public(name, made):
    return not name.startswith("_") and (inspect.isclass(made) or inspect.isfunction(made))
