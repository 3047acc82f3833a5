"""torch.special: functions of tensors, and tutti.special's of the same names."""

from ... import special as _special
from ._functions import functions as _functions

_HERE = "digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp round sinc softmax xlogy".split()
_OTHER = {"entr": "entr", "erfcx": "erfcx", "expit": "expit", "gammainc": "gammainc", "gammaincc": "gammaincc"}
_OTHER |= {"gammaln": "gammaln", "i0e": "i0e", "i1": "i1", "i1e": "i1e", "log_ndtr": "log_ndtr", "ndtr": "ndtr"}
_OTHER |= {"ndtri": "ndtri", "psi": "psi", "xlog1py": "xlog1py", "zeta": "zeta", "bessel_j0": "j0", "bessel_j1": "j1"}
_OTHER |= {"bessel_y0": "y0", "bessel_y1": "y1", "airy_ai": "airy_ai"}

for _name in _HERE:
    globals()[_name] = _functions[_name]
for _name, _theirs in _OTHER.items():
    if hasattr(_special, _theirs):
        globals()[_name] = getattr(_special, _theirs)
__all__ = [name for name in [*_HERE, *_OTHER] if name in globals()]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.special.{name}")
