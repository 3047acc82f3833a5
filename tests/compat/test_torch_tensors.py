"""tutti.compat.torch's tensors: what PyTorch's documentation says of promotion, methods, views and writing in place."""

import pickle

import numpy as np
import pytest
import tutti as tt

torch = pytest.importorskip("tutti.compat.torch")


@pytest.mark.parametrize(
    "made, dtype",
    [
        (lambda: torch.arange(4) * 2.5, torch.float32),
        (lambda: torch.arange(4) / 2, torch.float32),
        (lambda: torch.arange(4) + 1, torch.int64),
        (lambda: torch.exp(torch.arange(4)), torch.float32),
        (lambda: torch.ones(2) + torch.tensor(1.0, dtype=torch.float64), torch.float32),
        (lambda: torch.ones(2) + torch.ones(2, dtype=torch.float64), torch.float64),
        (lambda: torch.arange(2) + torch.tensor(1.0, dtype=torch.float64), torch.float64),
        (lambda: torch.arange(2, dtype=torch.int8) + torch.tensor(300), torch.int8),
        (lambda: torch.arange(2, dtype=torch.int32) + torch.ones(2, dtype=torch.float16), torch.float16),
        (lambda: torch.ones(2, dtype=torch.bool) + 1, torch.int64),
        (lambda: torch.ones(2) > 0, torch.bool),
    ],
)
def test_operands_meet_as_pytorch_says(made, dtype):
    x = made()
    assert type(x) is torch.Tensor and x.dtype == dtype


def test_numbers_do_not_come_back_as_floats_from_writing_into_integers():
    x = torch.arange(3)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        x += 2.5


def test_an_element_is_a_view():
    x = torch.zeros(2, 2)
    x[0, 1].add_(3)
    x[1].fill_(2)
    assert x.tolist() == [[0, 3], [2, 2]]


def test_largest_with_their_places():
    values, indices = torch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    assert values.tolist() == [3, 4] and indices.tolist() == [1, 0]
    assert torch.tensor([1.0, 2.0, 4.0]).std().item() == pytest.approx(1.5275252)


def test_shapes():
    x = torch.zeros(2, 3)
    assert x.size() == (2, 3) and x.size(1) == 3 and x.numel() == 6 and repr(x.shape) == "torch.Size([2, 3])"
    assert x.unsqueeze(0).expand(4, -1, -1).shape == (4, 2, 3)
    assert [tuple(p.shape) for p in x.split(2, 1)] == [(2, 2), (2, 1)]


def test_data_is_written_without_a_history():
    w = torch.nn.Linear(2, 1).weight
    w.data.fill_(1)
    w.data[0, 1] = 3
    w.data -= 0.5
    assert w.tolist() == [[0.5, 2.5]] and w.requires_grad


def test_results_of_parameters_are_tensors():
    layer = torch.nn.Linear(3, 2)
    assert isinstance(layer.weight, torch.Tensor) and isinstance(layer.weight, torch.nn.Parameter)
    out = layer(torch.ones(4, 3))
    assert type(out) is torch.Tensor
    out.sum().backward()
    assert type(layer.weight.grad) is torch.Tensor and layer.weight.grad.tolist() == [[4, 4, 4]] * 2


def test_modules_inside_of_modules_are_pytorchs():
    layer = torch.nn.TransformerEncoderLayer(8, 2)
    assert isinstance(layer.linear1, torch.nn.Linear) and isinstance(layer.self_attn.out_proj.weight, torch.Tensor)


def test_plain_arrays_stay_what_they_are():
    assert type(tt.ones(3) + 1) is tt.ndarray and type(tt.ones(3)[0]) is tt.ndarray
    assert isinstance(tt.ones(3, dtype="float32") + torch.ones(3), torch.Tensor)


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="tutti.compat.torch does not cover torch.sparse"):
        torch.sparse  # noqa: B018


def test_lazy_layers_become_pytorchs():
    layer = torch.nn.LazyLinear(2)
    out = layer(torch.ones(4, 3))
    assert type(layer) is torch.nn.Linear and isinstance(layer.weight, torch.nn.Parameter)
    assert type(out) is torch.Tensor and out.shape == (4, 2)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "values, printed",
    [
        ([1.0, 2000.0], "tensor([1.0000e+00, 2.0000e+03])"),
        ([0.0, -0.0], "tensor([0., -0.])"),
        ([NAN, 1.0, INF], "tensor([nan, 1., inf])"),
        ([0.5, -1e-5], "tensor([ 5.0000e-01, -1.0000e-05])"),
        ([[1.5, 100.25], [3, 4]], "tensor([[  1.5000, 100.2500],\n        [  3.0000,   4.0000]])"),
        (1e-9, "tensor(1.0000e-09)"),
        ([123456789.0], "tensor([1.2346e+08])"),
        ([True], "tensor([True])"),
        ([True, False], "tensor([ True, False])"),
        ([1 + 2j, 3.5 - 1j], "tensor([1.0000+2.j, 3.5000-1.j])"),
        ([], "tensor([])"),
    ],
)
def test_printing(values, printed, host):
    """As PyTorch 2.15 prints them."""
    assert repr(torch.tensor(values)) == printed


def test_printing_of_types_and_parts(host):
    assert repr(torch.tensor([], dtype=torch.int64)) == "tensor([], dtype=torch.int64)"
    assert repr(torch.ones(2, dtype=torch.bfloat16) * 1.1) == "tensor([1.1016, 1.1016], dtype=torch.bfloat16)"
    first = "tensor([0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 1.9970e+03, 1.9980e+03,"
    assert repr(torch.arange(2000.0)).split("\n") == [first, "        1.9990e+03])"]


def test_lengths_of_packed_sequences_are_tensors():
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(3, 2), torch.ones(1, 2)])
    padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    assert type(padded) is type(lengths) is torch.Tensor and padded.shape == (2, 3, 2) and lengths.tolist() == [3, 1]


def test_types_are_printed_and_asked_as_pytorchs():
    x, y = torch.zeros(2), torch.zeros(2, dtype=torch.int32)
    assert f"{x.dtype} {y.dtype}" == "torch.float32 torch.int32" and repr(torch.bool) == "torch.bool"
    assert x.dtype is torch.float32 is torch.get_default_dtype() and isinstance(x.dtype, torch.dtype)
    assert torch.float32 == tt.float32 == np.float32 and {torch.float32: 1}[tt.float32] == 1
    assert x.dtype.is_floating_point and not y.dtype.is_floating_point and torch.bfloat16.is_floating_point
    assert y.dtype.is_signed and not torch.uint8.is_signed and torch.complex64.is_complex
    assert torch.float64.to_complex() is torch.complex128 and torch.complex64.to_real() is torch.float32
    assert pickle.loads(pickle.dumps(torch.float16)) is torch.float16
    assert str(tt.zeros(2, dtype=torch.float32).dtype) == "float32" and type(x.numpy().dtype) is type(np.dtype("f4"))


def test_sizes_stay_sizes():
    s = torch.Size([2, 3])
    for made, values in (s * 2, (2, 3, 2, 3)), (2 * s, (2, 3, 2, 3)), ((1,) + s, (1, 2, 3)), (s + (4,), (2, 3, 4)):
        assert type(made) is torch.Size and made == values
    with pytest.raises(TypeError, match="not list"):
        s + [1]


def test_neighbours_that_are_the_same():
    x = torch.tensor([1, 1, 2, 2, 3, 1, 1, 2])
    made, places, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert (made.tolist(), counts.tolist()) == ([1, 2, 3, 1, 2], [2, 2, 1, 2, 1])
    assert places.tolist() == [0, 0, 1, 1, 2, 3, 3, 4] and x[:0].unique_consecutive().tolist() == []
    rows = torch.tensor([[1, 1], [1, 1], [2, 1]])
    assert rows.unique_consecutive(dim=0).tolist() == [[1, 1], [2, 1]]


def test_windows():
    assert torch.hann_window(4).tolist() == pytest.approx([0, 0.5, 1, 0.5])
    assert torch.hann_window(3, periodic=False).tolist() == pytest.approx([0, 1, 0])
    assert torch.hamming_window(2).tolist() == pytest.approx([0.08, 1]) and torch.bartlett_window(1).tolist() == [1]
    assert torch.kaiser_window(5, dtype=torch.float64).dtype is torch.float64


def test_more_of_tensors():
    x = torch.tensor([[-1.0, 2.0]])
    assert (
        torch.relu_(x) is x
        and x.tolist() == [[0, 2]]
        and x.is_cpu == (x.device.type == "cpu")
        and x.is_signed()
        and not x.is_conj()
    )
    y = torch.tensor([-1.0, 2.0])
    assert torch.nn.functional.leaky_relu_(y, 0.5) is y and y.tolist() == [-0.5, 2]
    assert x.transpose_(0, 1) is x and x.shape == (2, 1) and x.tile(2).shape == (2, 2)
    assert torch.tensor([[1 + 2j]]).adjoint().tolist() == [[1 - 2j]]
    assert torch.promote_types(torch.uint8, torch.int8) is torch.int16 and torch.can_cast(torch.int32, torch.float16)
    assert not torch.can_cast(torch.float32, torch.int64) and torch.vander(torch.tensor([2, 3])).tolist() == [
        [2, 1],
        [3, 1],
    ]
    assert torch.layer_norm(torch.ones(2, 3), (3,)).shape == (2, 3) and torch.scalar_tensor(3).dtype is torch.float32
