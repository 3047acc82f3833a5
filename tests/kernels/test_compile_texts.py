"""The compilation of all kernels' texts finds what is wrong with one, and texts that are missing."""

import compile_texts
import nvrtc
import pytest

pytestmark = pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC here")


def put(folder, number, line, head="static __device__ int one = 1;"):
    name = f"tt_k_{number:032x}"
    kernel = f'typedef struct {{\n  int *p;\n}} {name}_args;\nextern "C" __global__ void {name}({name}_args a) {{\n'
    (folder / f"{number:016x}.cu").write_text(f"//option --fmad=false\n{head}\n{kernel}{line}\n}}\n")


def test_a_wrong_kernel_is_named_with_its_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 3})
    for number in range(3):
        put(tmp_path, number, f"*a.p = one + {number};")
    assert compile_texts.main(tmp_path, 1) == 0
    assert "3 texts (3 kernel), 3 of them in 1 compilations" in capsys.readouterr().out
    put(tmp_path, 1, "*a.p = nothing;")
    assert compile_texts.main(tmp_path, 1) == 1
    assert f"tt_k_{1:032x} in {1:016x}.cu: *a.p = nothing;" in capsys.readouterr().out


def test_missing_texts_are_noticed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 2})
    put(tmp_path, 0, "*a.p = one;")
    assert compile_texts.main(tmp_path, 1) == 1
    assert "1 kernel texts, and 2 at least were expected" in capsys.readouterr().out


TYPE = "typedef int tt_i32;"
HALF = "TT_FN tt_i32 half(tt_i32 a) { return a / 2; }"
QUARTER = "TT_FN tt_i32 quarter(tt_i32 a) {\n  return half(half(a));\n}"
TABLE = "TT_CONST tt_i32 rows[2] = {1, 2};"


def head(*items):
    return "\n".join(["#define TT_FN static __device__", "#define TT_CONST static __device__ const", *items])


def test_kernels_share_what_is_above_them(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 3})
    put(tmp_path, 0, "*a.p = half(*a.p);", head(TYPE, HALF))
    put(tmp_path, 1, "*a.p = rows[1];", head(TYPE, TABLE))
    put(tmp_path, 2, "*a.p = quarter(rows[0]);", head(TYPE, HALF, QUARTER, TABLE))
    assert compile_texts.main(tmp_path, 1) == 0
    assert "3 texts (3 kernel), 3 of them in 1 compilations" in capsys.readouterr().out


def test_a_kernel_that_lives_off_its_neighbours_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 2})
    put(tmp_path, 0, "*a.p = half(*a.p);", head(TYPE, HALF))
    put(tmp_path, 1, "*a.p = half(*a.p);", head(TYPE))
    assert compile_texts.main(tmp_path, 1) == 1
    assert f"tt_k_{1:032x} in {1:016x}.cu has no half" in capsys.readouterr().out


def test_kinds_of_lines_are_sampled(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(compile_texts, "LEAST", {"kernel": 3})
    for number in range(30):
        put(tmp_path, number, f"*a.p = one + {number};")
    put(tmp_path, 30, "*a.p = one - 5;")
    texts = [compile_texts.read(path) for path in sorted(tmp_path.glob("*.cu"))]
    turns = [[text.file for text in compile_texts.sampled(texts, 4, turn)] for turn in range(4)]
    first, last = [text.file for text in texts[: compile_texts.TIMES]], texts[-1].file
    assert all(turn[: len(first)] == first and turn[-1] == last and len(turn) < 13 for turn in turns)
    assert {file for turn in turns for file in turn} == {text.file for text in texts}
    put(tmp_path, 30, "*a.p = one - nothing;")
    assert compile_texts.main(tmp_path, 1, 10**9) == 1
    assert f"{30:016x}.cu: *a.p = one - nothing;" in capsys.readouterr().out
