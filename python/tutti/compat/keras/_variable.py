"""Variables: arrays that layers, optimisers and metrics keep, with names and paths."""

import tutti as _tt
from tutti.nn import Parameter

from . import _state, config


class Variable(Parameter):
    """An array that is assigned to. What is computed of it is a plain array."""

    def __new__(cls, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation="none", name=None):
        if callable(initializer):
            if shape is None:
                raise ValueError(
                    "When creating a Variable from an initializer, the `shape` argument should be specified. "
                    f"Received: initializer={initializer} and shape={shape}"
                )
            with _state.settings(symbolic=False):  # weights stay, even where a call asks for shapes alone
                value = initializer(tuple(shape), dtype=dtype or config.floatx())
        else:
            value = tensor(initializer, dtype)
        if dtype is not None and value.dtype != dtype:
            value = value.astype(dtype)
        floats = _tt.issubdtype(value.dtype, _tt.inexact)
        self = super().__new__(cls, value, bool(trainable) and floats)
        self._trainable = self._can_train = bool(trainable)
        self.autocast = autocast
        self.name = name or _state.auto_name("variable")
        self.path, self.regularizer, self.constraint = _state.below(self.name), None, None
        return self

    @property
    def trainable(self):
        """Whether optimisers change it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        if _tt.issubdtype(self.dtype, _tt.inexact):
            self.requires_grad = self._trainable

    @property
    def value(self):
        """The variable."""
        return self

    def assign(self, value):
        """Take other values."""
        value = tensor(value)
        if value.shape != self.shape:
            raise ValueError(
                "The shape of the target variable and the shape of the target value in `variable.assign(value)` "
                f"must match. variable.shape={self.shape}, Received: value.shape={value.shape}. "
                f"Target variable: {self!r}"
            )
        if not _state.is_symbolic():
            with _tt.no_grad():
                self[...] = value.to(self.device)
        return self

    def assign_add(self, value):
        """Add values."""
        return self.assign(self.detach() + value)

    def assign_sub(self, value):
        """Subtract values."""
        return self.assign(self.detach() - value)

    def __repr__(self):
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype}, value={self.detach().numpy()}>"

    def __deepcopy__(self, memo):
        made = type(self)(self.detach(), dtype=self.dtype, trainable=self._trainable, name=self.name)
        made.path, made.regularizer, made.constraint = self.path, self.regularizer, self.constraint
        return memo.setdefault(id(self), made)

    def __reduce__(self):
        return type(self), (self.detach().copy(), None, str(self.dtype), self._trainable, True, "none", self.name)


def tensor(value, dtype=None):
    """An array: floats that are no array of ours have Keras' type of floats, as have whole numbers int32."""
    if isinstance(value, _tt.ndarray):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    own = getattr(value, "dtype", None)
    made = _tt.asarray(value)
    if dtype is None and made.dtype == "float64":
        dtype = config.floatx()
    elif dtype is None and own is None and made.dtype == "int64":
        dtype = "int32"
    return made if dtype is None else made.astype(dtype)
