"""What the documents say is so: their programs run and print what stands beside them, their names exist."""

import doctest
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import tutti as tt

ROOT = pathlib.Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text()
SITE = {p.name: p.read_text() for p in sorted((ROOT / "docs" / "site").glob("*.md"))}
PAGES = {p.relative_to(ROOT): p.read_text() for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def run(program, **env):
    command = [sys.executable, "-c", program]
    p = subprocess.run(command, capture_output=True, text=True, env=os.environ | env, timeout=300)
    assert p.returncode == 0, p.stderr
    return p.stdout


def test_every_program_is_run_below():
    assert [len(blocks(text, "python")) for text in PAGES.values()] == [6] + [0] * (len(PAGES) - 1)
    assert sum(text.count("```c\n") for text in PAGES.values()) == 1  # tests/install compiles it


def test_every_program_of_the_site_is_run_below():
    assert {name: len(blocks(text, "python")) for name, text in SITE.items()} == {
        "devices.md": 1,
        "gradients.md": 3,
        "guide.md": 2,
        "index.md": 1,
        "networks.md": 6,
        "training.md": 3,
    }


def test_programs_of_the_site():
    for program in [*blocks(SITE["guide.md"], "python")[:1], *blocks(SITE["index.md"], "python")]:
        assert run(program if "import tutti" in program else "import tutti as tt\n" + program, TUTTI_DEVICE="cpu")


def test_programs_of_gradients():
    """They print what stands behind their prints."""
    pages = SITE["gradients.md"] + SITE["networks.md"] + SITE["training.md"]
    for program in [*blocks(pages, "python"), *blocks(README, "python")[3:]]:
        said = re.findall(r"^print\(.*\) +# (.*)$", program, re.M)
        text = program if "import tutti" in program else "import tutti as tt\n" + program
        assert said and run(text, TUTTI_DEVICE="cpu").splitlines() == said


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="no C++ compiler")
def test_kernel_of_the_site():
    out = run("import tutti as tt\n" + blocks(SITE["guide.md"], "python")[1], TUTTI_DEVICE="cpu")
    assert out == "[1. 3. 5.]\n"


def test_sessions_of_the_site():
    """What the pages show as typed, one page after the other, prints what they show."""
    said = []
    for name, text in SITE.items():
        session = "\n".join(blocks(text, "pycon"))
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
        runner.run(doctest.DocTestParser().get_doctest(session, {}, name, None, 0), out=said.append)
        assert runner.failures == 0, "".join(said)
    assert sum(len(blocks(text, "pycon")) for text in SITE.values()) >= 7


def test_arrays_of_the_readme():
    out = run(blocks(README, "python")[0], TUTTI_DEVICE="cpu")
    assert out.startswith("1 step ")  # "one kernel"
    assert len(re.findall(r"\d\.\d+", out.splitlines()[-1])) == 3


@pytest.mark.parametrize(
    "program", [blocks(README, "python")[1], blocks(SITE["devices.md"], "python")[0]], ids=["readme", "site"]
)
def test_devices(program):
    compile(program, "README.md", "exec")
    if len([d for d in tt.devices() if d.type == "cuda"]) < 2:
        program = program.replace("cuda:1", "cuda:0")
    if not tt.cuda.is_available():
        pytest.skip("no GPU")
    program = (
        f"import tutti as tt\nnumbers = [1.0, 2.0]\n{program}\nassert (x.device.type, z.device.type) == ('cuda', 'cpu')"
    )
    run(program)


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="no C++ compiler")
def test_kernels_of_the_readme(tmp_path):
    program = tmp_path / "kernels.py"  # the source of functions is read from their file
    program.write_text("import tutti as tt\n" + blocks(README, "python")[2])
    p = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300)
    said = re.search(r"^print\(.*?\) +# (.*)$", program.read_text(), re.M)[1]
    assert (p.returncode, p.stdout) == (0, said + "\n"), p.stderr


@pytest.mark.parametrize("command", ["info", "top -n 1", "ops", "functions"])
def test_commands(command):
    p = subprocess.run([sys.executable, "-m", "tutti", *command.split()], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0 and p.stdout, p.stderr


def test_commands_named():
    makefile = (ROOT / "Makefile").read_text()
    targets = {t for text in PAGES.values() for t in re.findall(r"\bmake ([a-z]+)\b *(?:#|`|$)", text, re.M)}
    assert targets >= {"demo", "test", "bench"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.M), target
    commands = {c for text in PAGES.values() for c in re.findall(r"-m tutti ([a-z]+)", text)}
    assert commands >= {"info", "top", "run"}
    for command in commands:
        p = subprocess.run([sys.executable, "-m", "tutti", command, "--help"], capture_output=True, timeout=60)
        assert p.returncode == 0, command


def test_variables():
    """Each one that a document names is read, and each one that is read is in a document."""
    named = {v for text in PAGES.values() for v in re.findall(r"\bTUTTI_[A-Z_]*[A-Z]\b", text)}
    read = set()
    for folder in ("src", "python"):
        for p in (ROOT / folder).rglob("*"):
            if p.suffix in (".c", ".h", ".py"):
                source = p.read_text()
                read |= set(re.findall(r'"(TUTTI_[A-Z_]*[A-Z])"', source))
                # Of a vendor's library the variable is made (base/os/find.c).
                read |= {"TUTTI_" + name.upper() for name in re.findall(r'"lib(nvrtc|cu[a-zA-Z]+)\.so"', source)}
    assert len(named) > 15
    assert named == read


def test_files_named():
    """Links lead somewhere, and a source file's name in a document is one of a file that is there."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    paths = listed.stdout.split("\n") if listed.returncode == 0 else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*")]
    count = 0
    for page, text in PAGES.items():
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (ROOT / page.parent / link).exists(), f"{page}: {link}"
            count += 1
        for name in re.findall(r"`([\w/.]+\.(?:c|h|py|def|cuh|inc|sh|md))`", text):
            assert any(p == name or p.endswith("/" + name) for p in paths), f"{page}: {name}"
            count += 1
    assert count > 100
