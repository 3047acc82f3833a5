"""Odd arguments for all public functions, against NumPy. odd_arguments.py makes any number of calls."""

import odd_arguments
import pytest

REFUSED = ["m.zeros('x')", "m.sum(A('int8', (3,)), axis=5)", "m.reshape(A('int8', (3,)), (2, 2))"]


@pytest.mark.parametrize("first", range(0, 6000, 500))
def test_calls(first):
    wrong = [found for seed in range(first, first + 500) if (found := odd_arguments.run(seed))]
    assert not wrong, "\n".join(f"{name}: {what}: {text}" for name, what, text, theirs, ours in wrong)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_seen(text):
    """A call that one side refuses and the other takes is a difference."""
    call = odd_arguments.Call("", "f", [], [])
    want, got = odd_arguments.NUMPY.call(text), odd_arguments.OURS.call("m.zeros(3)")
    assert want[0][0] == "raises" and got[0][0] == "is"
    assert odd_arguments.compare(want, got, call) and odd_arguments.compare(got, want, call)
