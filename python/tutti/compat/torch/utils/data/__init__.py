"""torch.utils.data: tutti's data sets and loaders, whose batches are tensors."""

from ..... import data as _data
from ..._random import Generator as _Generator
from ..._tensor import Tensor as _Tensor
from ..._tensor import tensors_of as _tensors_of

__all__ = list(_data.__all__)


def _draws(generator):
    """tutti's generator in one of PyTorch's."""
    return generator._draws if isinstance(generator, _Generator) and generator._seed is not None else None


def _as_tensors(x):
    """The arrays in a batch, also in dictionaries, as tensors."""
    if isinstance(x, dict):
        return {key: _as_tensors(value) for key, value in x.items()}
    if type(x) in (list, tuple):
        return type(x)(map(_as_tensors, x))
    return x if isinstance(x, _Tensor) else _tensors_of(x)


def default_collate(batch):
    """Samples put together to a batch."""
    return _as_tensors(_data.default_collate(batch))


def default_convert(data):
    """NumPy's arrays in a sample as tensors."""
    return _as_tensors(_data.default_convert(data))


class DataLoader(_data.DataLoader):
    """Batches of a data set, of tensors."""

    def __init__(self, dataset, *args, generator=None, **how):
        super().__init__(dataset, *args, generator=_draws(generator), **how)

    def __iter__(self):
        return map(_as_tensors, super().__iter__())


class RandomSampler(_data.RandomSampler):
    """Places in random order."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source, replacement, num_samples, _draws(generator))


def random_split(dataset, lengths, generator=None):
    """Parts of a data set, by chance."""
    return _data.random_split(dataset, lengths, _draws(generator))


def __getattr__(name):
    if name in ("dataloader", "dataset", "sampler"):
        from importlib import import_module

        return import_module("." + name, __name__)
    if name.startswith("_") or name not in _data.__all__:
        raise AttributeError(f"tutti.compat.torch does not cover torch.utils.data.{name}")
    return getattr(_data, name)
