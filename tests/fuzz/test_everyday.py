"""Programs of everyday NumPy against NumPy. everyday.py makes any number of them."""

import everyday
import pytest


@pytest.mark.parametrize("first", range(0, 6000, 500))
def test_programs(first):
    wrong = [(seed, found) for seed in range(first, first + 500) if (found := everyday.run(seed))]
    assert not wrong, "\n".join(f"{seed}: {what}: {program.lines}" for seed, (what, program) in wrong)


def test_differences_are_seen():
    """Of values, types, orders, texts, errors and warnings."""
    program = everyday.Program(0)
    for text in ["it = m.ones(2) * (m is np)", "it = m.ones(2, dtype='f4' if m is np else 'f8')",
                 "it = m.ones((2, 2), order='CF'[m is np])", "it = repr(m.ones(2 + (m is np)))",
                 "it = m.ones(2)[4 if m is np else 0]", "it = m.mean([1] * (m is not np))"]:  # fmt: skip
        assert program.do(text), text
        assert not program.do(text.replace("m is not np", "False").replace("m is np", "True")), text
