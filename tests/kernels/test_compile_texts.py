"""The compilation of all kernels' texts finds what is wrong with one, and texts that are missing."""

import compile_texts
import nvrtc
import pytest

pytestmark = pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")


def put(folder, number, line):
    name = f"tt_k_{number:032x}"
    kernel = f'typedef struct {{\n  int *p;\n}} {name}_args;\nextern "C" __global__ void {name}({name}_args a) {{\n'
    (folder / f"{number:016x}.cu").write_text(
        f"//option --fmad=false\nstatic __device__ int one = 1;\n{kernel}{line}\n}}\n"
    )


def test_a_wrong_kernel_is_named_with_its_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 3})
    for number in range(3):
        put(tmp_path, number, f"*a.p = one + {number};")
    assert compile_texts.main(tmp_path, 1) == 0
    assert "3 texts (3 kernel) in 1 compilations" in capsys.readouterr().out
    put(tmp_path, 1, "*a.p = nothing;")
    assert compile_texts.main(tmp_path, 1) == 1
    assert f"tt_k_{1:032x} in {1:016x}.cu: *a.p = nothing;" in capsys.readouterr().out


def test_missing_texts_are_noticed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 2})
    put(tmp_path, 0, "*a.p = one;")
    assert compile_texts.main(tmp_path, 1) == 1
    assert "1 kernel texts, and 2 at least were expected" in capsys.readouterr().out
