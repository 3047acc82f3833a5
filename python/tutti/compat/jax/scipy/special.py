"""jax.scipy.special is tutti.special."""

from tutti import special as _ours

from .._array import all_giving_arrays as _all_giving_arrays

globals().update(_all_giving_arrays({_name: getattr(_ours, _name) for _name in dir(_ours)}))
