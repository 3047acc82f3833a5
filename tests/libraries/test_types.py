"""Type checkers read the stubs: good programs pass, and each line that is wrong is found."""

import pathlib
import re
import subprocess
import sys

import pytest
import tutti as tt

HERE = pathlib.Path(__file__).parent / "types"


def checked(path, tmp_path):
    pytest.importorskip("mypy", reason="make test-libraries")
    package = pathlib.Path(tt.__file__).parent.parent
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--no-error-summary", str(path)]
    p = subprocess.run(command, capture_output=True, text=True, env={"MYPYPATH": str(package), "PATH": ""}, timeout=300)
    return p.returncode, p.stdout + p.stderr


def test_good_programs(tmp_path):
    assert checked(HERE / "good.py", tmp_path) == (0, "")


def test_wrong_lines_are_found(tmp_path):
    lines = (HERE / "bad.py").read_text().splitlines()
    wrong = {k for k, line in enumerate(lines, 1) if "# wrong:" in line}
    code, said = checked(HERE / "bad.py", tmp_path)
    assert code == 1
    assert {int(k) for k in re.findall(r"bad\.py:(\d+): error", said)} == wrong, said
