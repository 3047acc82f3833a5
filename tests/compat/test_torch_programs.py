"""Short programs with tutti.compat.torch: data, training, files, gradients, modes; and scripts run unchanged."""

import copy
import io
import os
import pathlib
import subprocess
import sys

import pytest
import tutti as tt
import tutti.compat.torch as torch
from tutti.compat.torch import nn
from tutti.compat.torch.utils.data import DataLoader, TensorDataset


def trained(seed):
    torch.manual_seed(seed)
    x = torch.randn(64, 3)
    y = x @ torch.tensor([[1.0], [2.0], [-1.0]]) + 0.5
    model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5)
    for _ in range(20):
        for a, b in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            assert type(a) is torch.Tensor
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(a), b)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    return model, loss.item()


def test_training_is_the_same_for_the_same_seed():
    (model, loss), (_, again) = trained(1), trained(1)
    assert loss == again and loss < 0.5
    assert not model.eval().training and model(torch.zeros(1, 3)).shape == (1, 1)


def test_states_and_modules_come_back_from_files():
    model, _ = trained(2)
    assert {type(value) for value in model.state_dict().values()} == {torch.Tensor}
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "step": 3, "size": torch.Size([2])}, file)
    file.seek(0)
    state = torch.load(file)
    other = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1))
    assert str(other.load_state_dict(state["model"])) == "<All keys matched successfully>" and state["step"] == 3
    whole = io.BytesIO()
    torch.save(model, whole)
    whole.seek(0)
    back = torch.load(whole)
    x = torch.ones(2, 3)
    assert type(back) is nn.Sequential and torch.equal(back.eval()(x), model.eval()(x))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))


def test_classes_of_programs_are_read_if_they_are_named():
    file = io.BytesIO()
    torch.save(Own(), file)
    file.seek(0)
    with pytest.raises(Exception, match="was not an allowed global"):
        torch.load(file)
    file.seek(0)
    with torch.serialization.safe_globals([Own]):
        assert torch.load(file).w.tolist() == [1, 1]


def test_parameters_stay_the_objects_that_optimisers_know():
    model = nn.Linear(2, 1)
    weight = model.weight
    model.double()
    assert model.weight is weight and weight.dtype == torch.float64 and weight.requires_grad
    assert copy.deepcopy(model).weight.tolist() == weight.tolist()


def test_functions_with_a_backward_of_their_own_see_tensors():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert type(g) is torch.Tensor
            return g * 2 + 0 * ctx.saved_tensors[0]

    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(type(g)))
    made = Twice.apply(x)
    made.sum().backward()
    assert type(made) is torch.Tensor and x.grad.tolist() == [2, 2] and seen == [torch.Tensor]


def test_derivatives_of_functions():
    x = torch.tensor([1.0, 2.0])
    matrix = torch.autograd.functional.jacobian(lambda x: x**2, x)
    assert type(matrix) is torch.Tensor and matrix.tolist() == [[2, 0], [0, 4]]
    (g,) = torch.autograd.grad((x.requires_grad_() ** 3).sum(), x)
    assert type(g) is torch.Tensor and g.tolist() == [3, 12]


def test_modes():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
    with torch.inference_mode():
        assert not (x * 2).requires_grad

    @torch.inference_mode()
    def doubled(x):
        return x * 2

    assert not doubled(x).requires_grad and torch.is_grad_enabled()
    assert torch.compile(doubled) is doubled


def test_the_type_of_floats_that_nobody_named():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(2).dtype == torch.tensor(1.0).dtype == (torch.arange(2) * 0.5).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.zeros(2).dtype == torch.float32


def test_printing(host):
    assert repr(torch.tensor([1.0, 2.0])) == "tensor([1., 2.])"
    assert repr(torch.tensor([0.5, 2.0])) == "tensor([0.5000, 2.0000])"
    assert repr(torch.tensor([1, 2], dtype=torch.int32)) == "tensor([1, 2], dtype=torch.int32)"
    assert repr(torch.ones(1, requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert f"{torch.tensor(2.5):.2f}" == "2.50" and repr(torch.device("cuda:0")) == "device(type='cuda', index=0)"


SCRIPT = """
import torch, torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(32, 2, device=torch.device("cuda" if torch.cuda.is_available() else "cpu"))
model = nn.Linear(2, 1).to(x.device)
for step in range(50):
    loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.3 * p.grad
print("small" if loss.item() < 1e-3 else loss)
"""


def test_scripts_run_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    folder = str(pathlib.Path(tt.__file__).parents[1])
    call = [sys.executable, "-m", "tutti", "run", "--as", "torch", str(script)]
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder})
    assert done.returncode == 0 and done.stdout == "small\n", done.stderr
    assert "torch.nn.functional" in done.stderr


@pytest.mark.skipif(tt.cuda.is_available(), reason="asks what is said without a GPU")
def test_without_a_gpu_its_memory_is_empty():
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_reserved() == 0
    assert torch.cuda.empty_cache() is None and torch.cuda.reset_peak_memory_stats() is None
