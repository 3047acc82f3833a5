"""torch.nn.modules.utils: numbers as tuples."""

import collections.abc
import itertools

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, collections.abc.Iterable) else tuple(itertools.repeat(x, n))

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = _ntuple(1, "_single"), _ntuple(2, "_pair"), _ntuple(3, "_triple"), _ntuple(4)


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Take a prefix off the names of a state, where they have it."""
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[name[len(prefix) :]] = state_dict.pop(name)
