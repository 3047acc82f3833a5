"""The class that only marks arrays: what is made of its instances is of no class, and other classes are not touched."""

import copy
import pickle

import numpy as np
import pytest
import tutti as tt
from tutti.nn import Parameter


def test_what_is_made_is_plain():
    p = Parameter(tt.array([1.0, 2.0]))
    made = [p * 2, 2 + p, -p, p[0:1], p.sum(), p.reshape(2, 1), p.detach(), p.copy(), tt.stack([p, p]), abs(p), p @ p]
    assert all(type(a) is tt.ndarray for a in made)
    assert isinstance(p, tt.ndarray) and p.shape == (2,) and p.flags.writeable
    np.testing.assert_array_equal(np.asarray(p.detach()), [1, 2])


def test_beside_other_classes():
    class Own(tt.ndarray):
        pass

    p, own = Parameter([1.0, 2.0]), tt.ones(2).view(Own)
    assert type(p * 2) is tt.ndarray and type(own * 2) is Own and type(own * p) is Own and type(p * own) is Own
    with pytest.raises(TypeError, match="there is one plain class of arrays"):
        type("Another", (tt.ndarray,), {}, plain=True)


def test_written_in_place():
    p = Parameter([1.0, 2.0])
    with tt.no_grad():
        p *= 3
        p[0] = 7
    assert type(p) is Parameter and p.is_leaf and p.detach().tolist() == [7, 6]
    (p * p).sum().backward()
    assert type(p.grad) is tt.ndarray and p.grad.tolist() == [14, 12]


def test_copies_and_pickles():
    p = Parameter([1.0, 2.0], requires_grad=False)
    for q in copy.deepcopy(p), pickle.loads(pickle.dumps(p)):
        assert type(q) is Parameter and not q.requires_grad and q.tolist() == [1, 2]
        q[0] = 5
    assert p.tolist() == [1, 2]


def test_values_are_copied():
    a = tt.ones(3)
    p = Parameter(a)
    with tt.no_grad():
        p += 1
    assert a.tolist() == [1, 1, 1] and not a.requires_grad
