"""Random scalar programs with micrograd's engine, ours as the oracle: values and gradients of all that goes in."""

import operator
import random

import pytest
import tutti as tt

engine = pytest.importorskip("micrograd.engine", reason="micrograd is not installed")

PAIRS = [operator.add, operator.sub, operator.mul, lambda a, b: a / (b * b + 1)]
ONES = [
    lambda m, a: m.relu(a),
    lambda m, a: -a,
    lambda m, a: a**3,
    lambda m, a: a * 0.5 + 1,
    lambda m, a: 2 - a,
    lambda m, a: 1 / (a * a + 2),
]


class Theirs:
    relu = staticmethod(engine.Value.relu)
    leaf = staticmethod(engine.Value)


class Ours:
    @staticmethod
    def relu(a):
        return tt.maximum(a, 0)

    @staticmethod
    def leaf(x):
        return tt.array(x).requires_grad_()


def program(m, seed):
    """Some values made from each other, several of them used again and added up in place."""
    rng = random.Random(seed)
    leaves = [m.leaf(rng.uniform(-2, 2)) for _ in range(3)]
    values = list(leaves)
    for _ in range(rng.randint(1, 12)):
        if rng.random() < 0.6:
            values.append(rng.choice(PAIRS)(rng.choice(values), rng.choice(values)))
        else:
            values.append(rng.choice(ONES)(m, rng.choice(values)))
    total = values[-1]
    for v in rng.sample(values, 2):
        total = total + v
    total.backward()
    return total, leaves


@pytest.mark.parametrize("eager", [-1, 0], ids=["at_once", "recorded"])
def test_random_programs(eager):
    tt.set_eager(eager)
    try:
        for seed in range(300):
            want, inputs = program(Theirs, seed)
            got, leaves = program(Ours, seed)
            assert float(got) == pytest.approx(want.data, rel=1e-10), seed
            for k, (leaf, value) in enumerate(zip(leaves, inputs, strict=True)):
                found = 0.0 if leaf.grad is None else float(leaf.grad)
                assert found == pytest.approx(value.grad, rel=1e-9, abs=1e-9), (seed, k)
    finally:
        tt.set_eager(-1)
