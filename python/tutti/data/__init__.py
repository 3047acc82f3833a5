"""Data sets, samplers and the loader of batches, with the names and the words of torch.utils.data.

import tutti as tt
data = tt.data.TensorDataset(tt.arange(6.0), tt.arange(6))
for x, y in tt.data.DataLoader(data, batch_size=4):
    print(x, y)  # four of each, then two
"""

# Names with the module that is loaded when one is asked for.
_LATER = {
    "_collate": "default_collate default_convert",
    "_datasets": "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset random_split",
    "_info": "get_worker_info",
    "_loader": "DataLoader",
    "_samplers": "BatchSampler DistributedSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler "
    "WeightedRandomSampler",
}
_later = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = sorted(_later)


def __getattr__(name):
    if name not in _later:
        raise AttributeError(f"module 'tutti.data' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + _later[name], __name__), name)
    return value


def __dir__():
    return __all__
