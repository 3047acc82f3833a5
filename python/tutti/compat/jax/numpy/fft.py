"""jax.numpy.fft is tutti.fft."""

from tutti import fft as _ours

from .._array import all_giving_arrays as _all_giving_arrays

globals().update(_all_giving_arrays({_name: getattr(_ours, _name) for _name in dir(_ours)}))
