"""keras.config: the types and layouts that nobody names."""

_values = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def floatx():
    """The type of floats."""
    return _values["floatx"]


def set_floatx(value):
    """Another type of floats."""
    if value not in ("bfloat16", "float16", "float32", "float64"):
        raise ValueError(
            f"Unknown `floatx` value: {value}. Expected one of {{'bfloat16', 'float16', 'float32', 'float64'}}"
        )
    _values["floatx"] = str(value)


def dtype_policy():
    """The policy of layers that say nothing of their type."""
    from .dtype_policies import DTypePolicy

    return DTypePolicy(_values.get("policy") or floatx())


def set_dtype_policy(policy):
    """Another policy for layers that are made from now on."""
    from . import dtype_policies

    _values["policy"] = dtype_policies.get(policy).name


def epsilon():
    """What is added so that nothing is divided by 0."""
    return _values["epsilon"]


def set_epsilon(value):
    """Another such number."""
    _values["epsilon"] = value


def image_data_format():
    """channels_last or channels_first."""
    return _values["image_data_format"]


def set_image_data_format(data_format):
    """The other layout."""
    _values["image_data_format"] = standardize_data_format(data_format)


def standardize_data_format(data_format):
    """The layout by its name."""
    if data_format is None:
        return image_data_format()
    data_format = str(data_format).lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
            f"Received: data_format={data_format}"
        )
    return data_format


def backend():
    """What computes."""
    return "tutti"


def disable_traceback_filtering():
    """Tracebacks are whole."""


def enable_traceback_filtering():
    """Tracebacks are whole all the same."""


def is_traceback_filtering_enabled():
    """False."""
    return False


def disable_interactive_logging():
    """Bars are shown where `verbose` asks for them."""


def enable_interactive_logging():
    """Bars are shown where `verbose` asks for them."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.config.{name}")
