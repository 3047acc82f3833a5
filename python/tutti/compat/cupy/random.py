"""cupy.random: the functions of tutti.random, with the `dtype=` that CuPy's have."""

import tutti.random as _random

_FLOATS = [
    "beta", "chisquare", "exponential", "f", "gamma", "gumbel", "laplace", "logistic", "lognormal", "normal", "pareto",
    "power", "rand", "randn", "random", "random_sample", "ranf", "rayleigh", "sample", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "weibull",
]  # fmt: skip


def _typed(draw):
    """The function with `dtype=`: numbers are drawn as they always are, and rounded."""

    def function(*args, dtype=None, **names):
        drawn = draw(*args, **names)
        return drawn if dtype is None or not hasattr(drawn, "astype") else drawn.astype(dtype)

    function.__name__, function.__doc__ = getattr(draw, "__name__", "function"), draw.__doc__
    return function


for _name in _FLOATS:
    if hasattr(_random, _name):
        globals()[_name] = _typed(getattr(_random, _name))


def __getattr__(name):
    if not name.startswith("_") and hasattr(_random, name):
        return getattr(_random, name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupy does not cover cupy.random.{name}")
