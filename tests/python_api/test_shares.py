"""The cases that `--share` chooses (tests/conftest.py)."""

import importlib.util
import pathlib

import pytest

spec = importlib.util.spec_from_file_location("all_tests", pathlib.Path(__file__).parent.parent / "conftest.py")
all_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(all_tests)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 24])
@pytest.mark.parametrize("share", [2, 3, 5])
def test_every_case_has_its_turn(count, share):
    cases = [f"test[{k}]" for k in range(count)]
    turns = [all_tests.in_turn(cases, share, turn) for turn in range(share)]
    assert all(turns) and {case for turn in turns for case in turn} == set(cases)
    assert max(map(len, turns)) <= -(-count // share)


def test_a_product_of_parameters_is_mixed():
    cases = [f"test[{dtype}-{way}]" for dtype in range(8) for way in "abc"]
    assert {case[-2] for case in all_tests.in_turn(cases, 3, 0)} == set("abc")
