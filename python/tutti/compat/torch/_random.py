"""Random numbers: tutti's generator of the process, or one that is given, under PyTorch's names."""

import tutti as _tt

from ... import _core
from ._tensor import Tensor, listed, written

__all__ = [
    "Generator", "bernoulli", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "multinomial",
    "normal", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "seed",
    "set_rng_state",
]  # fmt: skip


class Generator:
    """A generator of its own."""

    def __init__(self, device="cpu"):
        self.device, self._seed = device, None
        self.manual_seed(67280421310721)

    def manual_seed(self, seed):
        self._seed, self._draws = seed, _tt.random.default_rng(seed & (2**64 - 1))
        return self

    def seed(self):
        self.manual_seed(int(_tt.random.default_rng().integers(0, 2**63 - 1)))
        return self._seed

    def initial_seed(self):
        return self._seed

    def get_state(self):
        import pickle

        return _core._as_tensor(_tt.frombuffer(pickle.dumps((self._seed, self._draws)), dtype="uint8"))

    def set_state(self, state):
        import pickle

        self._seed, self._draws = pickle.loads(state.tobytes())  # of this process: get_state made it


_seed = [0]


def manual_seed(seed):
    """Begin again, from a seed."""
    _seed[0] = int(seed)
    _tt.random.seed(int(seed) % 2**32)
    return default_generator


class _Default(Generator):
    """That of the process."""

    def __init__(self):
        self.device, self._draws = "cpu", _tt.random

    def manual_seed(self, seed):
        return manual_seed(seed)

    def initial_seed(self):
        return _seed[0]


default_generator = _Default()


def initial_seed():
    return _seed[0]


def seed():
    """Begin again, from somewhere."""
    manual_seed(int(_tt.random.default_rng().integers(0, 2**32)))
    return _seed[0]


def _draws(generator):
    return (generator or default_generator)._draws


def _float(dtype):
    return _core.dtype(dtype) if dtype is not None else _core._tensor_float(None)


def _finished(made, dtype, device, requires_grad):
    made = _core._as_tensor(_core.asarray(made))
    if dtype is not None and made.dtype != dtype:
        made = made.astype(dtype)
    if device is not None:
        made = made.to(device)
    return made.requires_grad_() if requires_grad else made


def _drawn(name):
    def draw(
        *size, generator=None, out=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
    ):
        kind = _float(dtype)
        exact = kind if kind.name in ("float32", "float64") else _core.float32
        made = getattr(_draws(generator), name)(listed(size), dtype=exact)
        made = _finished(made, kind, device, requires_grad)
        return made if out is None else written(out, made)

    return draw


rand, randn = _drawn("random"), _drawn("standard_normal")


def rand_like(input, *, dtype=None, device=None, **how):
    return rand(tuple(input.shape), dtype=dtype or input.dtype, device=device or input.device, **how)


def randn_like(input, *, dtype=None, device=None, memory_format=None, **how):
    return randn(tuple(input.shape), dtype=dtype or input.dtype, device=device or input.device, **how)


def _integers(generator, low, high, size):
    draws = _draws(generator)
    return (draws.randint if draws is _tt.random else draws.integers)(low, high, size)


def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None):
    if size is None:
        low, high, size = 0, low, high
    return _finished(_integers(generator, low, high, listed((size,))), dtype or _core.int64, device, requires_grad)


def randint_like(input, low, high=None, *, dtype=None, device=None):
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, tuple(input.shape), dtype=dtype or input.dtype, device=device or input.device)


def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False, pin_memory=False, out=None):
    return _finished(_draws(generator).permutation(n), dtype or _core.int64, device, requires_grad)


def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, out=None):
    if size is None:
        size = tuple(_tt.broadcast_shapes(*(tuple(x.shape) for x in (mean, std) if isinstance(x, _core.ndarray))))
    made = randn(size, generator=generator, dtype=dtype, device=device) * std + mean
    return made if out is None else written(out, made)


def bernoulli(input, *, generator=None, out=None):
    made = (rand(tuple(input.shape), generator=generator, device=input.device) < input).astype(input.dtype)
    return made if out is None else written(out, made)


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Places of elements, by chances: each is the largest of its chance over an exponential number's."""
    rows, n = tuple(input.shape[:-1]), input.shape[-1]
    if not replacement and num_samples > n:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    draws = rand(
        (*rows, num_samples if replacement else 1, n), generator=generator, dtype="float64", device=input.device
    )
    keys = _tt.expand_dims(input, -2) / -_tt.log1p(-draws)
    if replacement:
        made = _tt.argmax(keys, -1)
    else:
        made = _tt.argsort(_tt.squeeze(keys, -2), -1, descending=True, stable=True)[..., :num_samples]
    return made if out is None else written(out, made)


# ---- in place


def _filled(draw):
    def method(self, *args, generator=None, **how):
        return written(self, draw(self, *args, generator=generator, **how))

    return method


def _float_like(self):
    return self.dtype if self.dtype.kind == "f" else None


def _uniform(self, a=0.0, b=1.0, *, generator=None, **ends):
    a, b = ends.get("from", a), ends.get("to", b)
    return rand(tuple(self.shape), generator=generator, dtype=_float_like(self), device=self.device) * (b - a) + a


def _normal(self, mean=0.0, std=1.0, *, generator=None):
    return randn(tuple(self.shape), generator=generator, dtype=_float_like(self), device=self.device) * std + mean


def _random(self, low=None, high=None, *, generator=None):
    if low is None:
        low, high = 0, 2**24 if self.dtype.kind == "f" else min(_tt.iinfo(self.dtype).max, 2**62)
    elif high is None:
        low, high = 0, low
    return _integers(generator, low, high, tuple(self.shape))


def _bernoulli(self, p=0.5, *, generator=None):
    return rand(tuple(self.shape), generator=generator, device=self.device) < p


def _exponential(self, lambd=1.0, *, generator=None):
    return -_tt.log1p(-_uniform(self, generator=generator)) / lambd


Tensor.uniform_, Tensor.normal_, Tensor.random_ = _filled(_uniform), _filled(_normal), _filled(_random)
Tensor.bernoulli_, Tensor.exponential_ = _filled(_bernoulli), _filled(_exponential)
Tensor.multinomial, Tensor.bernoulli = multinomial, bernoulli


def get_rng_state():
    import pickle

    return _core._as_tensor(_tt.frombuffer(pickle.dumps(_tt.random.get_state()), dtype="uint8"))


def set_rng_state(new_state):
    import pickle

    _tt.random.set_state(pickle.loads(new_state.tobytes()))  # of this process: get_rng_state made it
