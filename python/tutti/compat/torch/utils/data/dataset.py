"""torch.utils.data.dataset: names of torch.utils.data."""


def __getattr__(name):
    from tutti.compat.torch.utils import data

    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(data, name)
