"""The surface that numba-cuda's own tests look at: interfaces of arrays, warnings, states, signatures."""

import warnings

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import config, cuda, errors, float32, from_dtype, guvectorize, types, vectorize
from tutti.compat.numba.cuda.core.errors import NumbaPerformanceWarning
from tutti.compat.numba.cuda.random import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    xoroshiro128p_next,
)

on_cpu = pytest.mark.skipif(tt.cuda.is_available(), reason="memory of the processor")


@on_cpu
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2], np.s_[::-1], np.s_[1:, ::3], np.s_[:0]])
def test_interfaces_lead_back_to_the_same_memory(view):
    part = cuda.to_device(np.arange(24, dtype=np.float32).reshape(4, 6))[view]
    shown = part.__cuda_array_interface__
    assert shown["version"] == 3 and shown["stream"] is None and shown["data"][1] is False
    other = cuda.from_cuda_array_interface(shown, owner=part)
    np.testing.assert_array_equal(other.copy_to_host(), part.copy_to_host())
    other[...] = 7
    assert (part.copy_to_host() == 7).all()
    assert cuda.is_cuda_array(part) and part.strides == other.strides or not part.size


def test_arrays_like_others_keep_their_order():
    a = np.zeros((3, 4), order="F")
    for like in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
        assert like(a).strides == (
            a.strides if not tt.cuda.is_available() or like != cuda.device_array_like else (32, 8)
        )
        assert like(a.T).strides == a.T.strides


def test_few_blocks_and_copies_are_told_once(monkeypatch):
    kernel = cuda.jit(lambda a: None)
    monkeypatch.setattr(config, "DISABLE_PERFORMANCE_WARNINGS", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cuda.jit(lambda a: None)[1, 1](np.zeros(1))
    monkeypatch.setattr(config, "DISABLE_PERFORMANCE_WARNINGS", False)
    monkeypatch.setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", True)
    monkeypatch.setattr(config, "CUDA_WARN_ON_IMPLICIT_COPY", True)
    with pytest.warns(NumbaPerformanceWarning, match="Grid size 1 .+ low occupancy"):
        launch = kernel[1, 1]
    with pytest.warns(errors.NumbaPerformanceWarning, match="Host array used in CUDA kernel will incur copy overhead"):
        launch(np.zeros(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(np.zeros(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[1, 1](np.zeros(1))
        kernel[2, 1](np.zeros(1))
        cuda.jit(lambda a: None)[256, 1](cuda.to_device(np.zeros(1)))


def test_states_are_records_on_the_host():
    states = create_xoroshiro128p_states(3, seed=5)
    host = states.copy_to_host()
    assert host.dtype.names == ("s0", "s1") and host.shape == states.shape == (3,) and states.dtype == host.dtype

    @cuda.jit
    def draw(states, out):
        out[cuda.grid(1)] = xoroshiro128p_next(states, cuda.grid(1))

    out = np.zeros(3, np.uint64)
    draw[1, 3](states, out)
    assert (out == host["s0"] + host["s1"]).all()
    states.copy_to_device(host)
    again = np.zeros(3, np.uint64)
    draw[1, 3](states, again)
    assert (again == out).all()
    init_xoroshiro128p_states(states, seed=5)
    assert (states.copy_to_host() == host).all()


@pytest.mark.parametrize("signature", ["void(float32[:])", "void(float32[:], float32, int32, int32)"])
def test_signatures_of_another_number_of_arguments(signature):
    with pytest.raises(TypeError, match="takes 2 arguments, its signature says"):

        @cuda.jit(signature)
        def kernel(a, b):
            a[0] = b


def test_ufuncs_take_a_stream():
    add = vectorize(["float32(float32, float32)"], target="cuda")(lambda a, b: a + b)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(add(x, x, stream=cuda.stream()), x + x)
    assert add.types == ["ff->f"]

    @guvectorize([(float32[:], float32[:])], "(n)->(n)", target="cuda")
    def double(a, out):
        for i in range(a.shape[0]):
            out[i] = 2 * a[i]

    np.testing.assert_array_equal(double(x, stream=cuda.stream()), 2 * x)


def test_types_of_arrays():
    assert isinstance(float32[:, :], types.Array) and not isinstance(float32, types.Array)
    kind = types.Array(types.float32, 2, "C")
    assert kind == float32[:, ::1] != float32[:, :] and (kind.dtype, kind.ndim, kind.layout) == (types.float32, 2, "C")

    @cuda.jit((kind,))
    def kernel(a):
        a[1, 1] = 3

    x = np.zeros((2, 2), np.float32)
    kernel[1, 1](x)
    assert x[1, 1] == 3
    with pytest.raises(TypeError, match="array\\(float32, 1d"):
        kernel[1, 1](x[0])
    assert types.int8 in types.signed_domain and types.uint8 not in types.signed_domain
    assert types.number_domain > types.integer_domain | types.complex_domain
    assert from_dtype([("a", "i4")]) == from_dtype(np.dtype([("a", "i4")])) != from_dtype([("b", "i4")])
    with pytest.raises(NotImplementedError, match="have no type"):
        from_dtype("M8[s]")
