"""keras.datasets: named, not fetched. A program that has the data puts its own load_data() here."""


class _Dataset:
    """A data set by its name; nothing is fetched."""

    def __init__(self, name):
        self.__name__ = name

    def load_data(self, *args, **kwargs):
        """Refused."""
        raise NotImplementedError(
            f"tutti.compat.keras fetches no data: set keras.datasets.{self.__name__}.load_data to a reader of yours"
        )


_NAMES = "boston_housing california_housing cifar10 cifar100 fashion_mnist imdb mnist reuters"
globals().update({name: _Dataset(name) for name in _NAMES.split()})


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.keras does not cover keras.datasets.{name}")
