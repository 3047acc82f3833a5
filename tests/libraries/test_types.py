"""Type checkers read the stubs: good programs pass, and each line that is wrong is found."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import tutti as tt

HERE = pathlib.Path(__file__).parent / "types"
PACKAGE = pathlib.Path(tt.__file__).parent.parent


def run_mypy(paths, tmp_path):
    """What is imported is looked at as an installed package: its own lines are not told."""
    pytest.importorskip("mypy", reason="make test-libraries")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path), "--no-error-summary"]
    command += ["--follow-imports=silent", *map(str, paths)]
    return subprocess.run(
        command, capture_output=True, text=True, env={"MYPYPATH": str(PACKAGE), "PATH": ""}, timeout=300
    )


def mypy(path, tmp_path):
    """The lines that mypy complains about, and what it says."""
    p = run_mypy([path], tmp_path)
    said = p.stdout + p.stderr
    lines = {int(k) for k in re.findall(rf"{path.name}:(\d+): error", said)}
    assert bool(lines) == bool(p.returncode) and (lines or not said), said
    return lines, said


def pyright(path, tmp_path):
    """The same of pyright, as PyPI has it with what it runs on."""
    pytest.importorskip("basedpyright", reason="make test-libraries")
    how = {"include": [str(path)], "extraPaths": [str(PACKAGE)], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(how))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(tmp_path / "pyrightconfig.json")]
    p = subprocess.run(command, capture_output=True, text=True, timeout=300)
    errors = [d for d in json.loads(p.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert all(d["file"].endswith(path.name) for d in errors), p.stdout
    return {d["range"]["start"]["line"] + 1 for d in errors}, p.stdout


@pytest.mark.parametrize("checked", [mypy, pyright])
def test_good_programs(checked, tmp_path):
    lines, said = checked(HERE / "good.py", tmp_path)
    assert lines == set(), said


@pytest.mark.parametrize("checked", [mypy, pyright])
def test_wrong_lines_are_found(checked, tmp_path):
    lines = (HERE / "bad.py").read_text().splitlines()
    wrong = {k for k, line in enumerate(lines, 1) if "# wrong:" in line}
    found, said = checked(HERE / "bad.py", tmp_path)
    assert found == wrong, said


def test_stubs(tmp_path):
    """Names that a stub uses and does not have are Any for whoever imports it, without a word."""
    p = run_mypy(sorted((PACKAGE / "tutti").rglob("*.pyi")), tmp_path)
    assert (p.returncode, p.stdout) == (0, ""), p.stdout + p.stderr
