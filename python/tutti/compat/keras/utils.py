"""keras.utils: classes as rows, seeds, sequences of one length, batches of one's own."""

import random as _python_random

import numpy as _np

import tutti as _tt

from . import random as _random
from ._configured import (  # noqa: F401
    CustomObjectScope,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    register_keras_serializable,
    serialize_keras_object,
)
from ._state import clear_session  # noqa: F401
from ._variable import tensor as _tensor


def to_categorical(x, num_classes=None):
    """1 at the place that a class names, else 0."""
    given = x if isinstance(x, _tt.ndarray) else None
    x = _tensor(x).astype("int64")
    if x.ndim > 1 and x.shape[-1] == 1:
        x = x[..., 0]
    n = int(x.max()) + 1 if num_classes is None else num_classes
    made = (x[..., None] == _tt.arange(n)).astype("float64" if given is None else "float32")
    return made.numpy() if given is None else made


def set_random_seed(seed):
    """Start all generators: Python's, NumPy's and tutti's."""
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    _python_random.seed(seed)
    _np.random.seed(seed)
    _random.set_seed(seed)


def normalize(x, axis=-1, order=2):
    """Vectors over their length, as NumPy's array."""
    x = _np.asarray(x)
    length = _np.atleast_1d(_np.linalg.norm(x, order, axis))
    return x / _np.expand_dims(_np.where(length == 0, 1, length), axis)


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences cut, or filled up, to one length, as NumPy's array."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for own in sequences:
        if not hasattr(own, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {own}")
    for what, given in (("Truncating", truncating), ("Padding", padding)):
        if given not in ("pre", "post"):
            raise ValueError(f'{what} type "{given}" not understood')
    length = max(map(len, sequences), default=0) if maxlen is None else maxlen
    tail = next((_np.asarray(own).shape[1:] for own in sequences if len(own)), ())
    made = _np.full((len(sequences), length, *tail), value, dtype=dtype)
    for k, own in enumerate(sequences):
        if not len(own) or not length:
            continue
        own = _np.asarray(own[-length:] if truncating == "pre" else own[:length], dtype=dtype)
        if padding == "post":
            made[k, : len(own)] = own
        else:
            made[k, -len(own) :] = own
    return made


class PyDataset:
    """Batches by their number: a subclass has __getitem__ and __len__."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10):
        self.workers, self.use_multiprocessing, self.max_queue_size = workers, use_multiprocessing, max_queue_size

    def __getitem__(self, index):
        raise NotImplementedError

    @property
    def num_batches(self):
        """How many batches an epoch has."""
        return len(self)

    def on_epoch_begin(self):
        """Before an epoch."""

    def on_epoch_end(self):
        """After an epoch."""

    def __iter__(self):
        self.on_epoch_begin()
        for k in range(self.num_batches):
            yield self[k]
        self.on_epoch_end()


Sequence = PyDataset


def unpack_x_y_sample_weight(data):
    """A batch as x, y and weights of samples."""
    data = tuple(data) if isinstance(data, (list, tuple)) else (data,)
    return (*data, None, None)[:3]


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """x, y and weights of samples as a batch."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def plot_model(model, to_file="model.png", **unused):
    """Says what is missing: pictures of graphs are drawn by programs that are not here."""
    print("You must install pydot (`pip install pydot`) for `plot_model` to work.")


def model_to_dot(model, **unused):
    """Refused."""
    raise ImportError("tutti.compat.keras draws no graphs: `summary()` prints a model")


def is_keras_tensor(x):
    """Whether it stands for an array."""
    from ._graph import KerasTensor

    return isinstance(x, KerasTensor)


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None):
    """Refused."""
    raise NotImplementedError("tutti.compat.keras does not cover keras.utils.split_dataset: slice the arrays")


class _Windows(PyDataset):
    """Batches of parts of one length."""

    def __init__(self, data, targets, starts, length, rate, batch_size):
        super().__init__()
        self._data, self._targets, self._starts = _np.asarray(data), targets, starts
        self._steps, self._size = _np.arange(0, length * rate, rate), batch_size

    def __len__(self):
        return -(-len(self._starts) // self._size)

    def __getitem__(self, index):
        first = self._starts[index * self._size : (index + 1) * self._size]
        x = self._data[first[:, None] + self._steps]
        return x if self._targets is None else (x, _np.asarray(self._targets)[first])


def timeseries_dataset_from_array(
    data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128, shuffle=False, seed=None,
    start_index=None, end_index=None,
):  # fmt: skip
    """Batches of parts of a series, sampling_rate steps apart, each with the target of its first one."""
    first, end = start_index or 0, len(data) if end_index is None else end_index
    last = end - (sequence_length - 1) * sampling_rate
    if targets is not None:
        last = min(last, first + len(targets))
    starts = _np.arange(first, max(first, last), sequence_stride)
    if shuffle:
        _np.random.RandomState(_np.random.randint(2**31) if seed is None else seed).shuffle(starts)
    whole = len(starts) if batch_size is None else batch_size
    return _Windows(data, targets, starts, sequence_length, sampling_rate, max(1, whole))


_IMAGES = (
    "array_to_img", "image_dataset_from_directory", "img_to_array", "load_img", "save_img"
)  # fmt: skip


def __getattr__(name):
    if name in _IMAGES:
        from . import _pictures

        return getattr(_pictures, name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.utils.{name}")
