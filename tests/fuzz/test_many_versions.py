"""The runner of a million programs tells of a program that differs, ends its process, or does not end."""

import textwrap
import time
import types

import many_versions

# versions.py, but for two seeds.
PLANTED = """
    import os, sys
    sys.path.insert(0, {here!r})
    import versions

    real, made = versions.difference, versions.Program.__init__

    def init(program, seed, *types):
        made(program, seed, *types)
        program.seed = seed

    def difference(program):
        if program.seed == 5:
            os.kill(os.getpid(), 9)
        return "planted" if program.seed == 9 else real(program)

    versions.Program.__init__, versions.difference = init, difference
    versions.main()
"""


def test_what_is_wrong_is_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "versions.py").write_text(textwrap.dedent(PLANTED.format(here=many_versions.HERE)))
    monkeypatch.setattr(many_versions, "HERE", str(tmp_path))
    counts = many_versions.run(0, 12, ["interpreted", "null"], 2, 60)
    assert sorted(counts.seeds) == [f"{way} {seed}" for way in ("interpreted", "null") for seed in (5, 9)]
    assert counts.wrong == 4 and counts.done == {"interpreted": 12, "null": 12}
    assert capsys.readouterr().out.splitlines()[-1].endswith("go on at 12")


def test_a_program_without_end_is_ended(monkeypatch):
    ended = []
    piece = object.__new__(many_versions.Piece)
    piece.process = types.SimpleNamespace(kill=lambda: ended.append(True))
    piece.at, piece.seen, piece.since = lambda: 3, 2, time.monotonic() - 2 * many_versions.STUCK
    piece.watch()
    assert not ended and piece.seen == 3
    piece.since -= 2 * many_versions.STUCK
    piece.watch()
    assert ended


def test_every_block_goes_to_every_way():
    pieces = list(many_versions.pieces_of(100, 2 * many_versions.BLOCK + 1, many_versions.WAYS))
    for way, (_, _, one_in) in many_versions.WAYS.items():
        got = [(first, n) for _, w, first, n in pieces if w == way]
        assert [first for first, _ in got] == [100 + k * many_versions.BLOCK for k in range(3)]
        assert [n for _, n in got] == [many_versions.BLOCK // one_in] * 2 + [1]
