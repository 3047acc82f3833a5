"""PyTorch's own samples of its operations: values and gradients, where PyTorch is installed (torch_samples.py)."""

import warnings

import pytest
import torch_samples

try:
    import torch

    FOUND = list(torch_samples.operations(torch))
except ImportError as error:
    FOUND = [pytest.param(None, None, marks=pytest.mark.skip(f"PyTorch is not installed: {error}"))]


def name_of(value):
    return getattr(value, "name", None) or str(value).removeprefix("torch.")


@pytest.mark.parametrize("op, dtype", FOUND, ids=name_of)
def test_samples(op, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree, not_asked, differ, first = torch_samples.check(torch, op, dtype)
    assert not differ, f"{differ} of {agree + not_asked + differ}: {first}"
