"""Training: models that are compiled, fitted and evaluated as Keras' are, and the parts that this is made of."""

__all__ = ["Model"]


def __getattr__(name):
    if name != "Model":
        raise AttributeError(f"module 'tutti.training' has no attribute {name!r}")
    from ._model import Model  # here: metrics, which it is made of, are made of losses of this package

    globals()[name] = Model
    return Model
