"""The source of the documentation site, from what is written once elsewhere: python tools/site.py OUT

The pages of docs/ are copied; the reference of Python comes from the package's docstrings, that of C from the
comments above the declarations in include/tutti, the gallery from the programs in examples/gallery with their pictures.
"""

import importlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FRAME = """import runpy, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.rcParams["figure.figsize"] = (5, 3.75)
runpy.run_path(sys.argv[1], run_name="__main__")
plt.savefig(sys.argv[2], dpi=90)
"""


def plain(text):
    """A text without markup of its own."""
    return re.sub(r"([*`|_\\])", r"\\\1", text)


def heading(text, mark="="):
    return [plain(text), mark * (2 * len(text)), ""]


def indented(text, by="   "):
    return [by + line if line else "" for line in text.splitlines()]


# ---- Python


def signature(value):
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(*args, **kwargs)"


def listed(text):
    """The entries of a section: a line each, what is said of it indented below."""
    for item in re.split(r"\n(?! )", text):
        head, _, words = item.partition("\n")
        yield f"* {plain(head)}" + (f": {plain(' '.join(words.split()))}" if words else "")


def section(title, text):
    if title == "Examples":
        return [".. code-block:: pycon", "", *indented(text)]
    if title == "Notes":
        return [plain(" ".join(text.split()))]
    return list(listed(text))


def documentation(doc):
    """A text in numpydoc's form, as reStructuredText."""
    head, *parts = re.split(r"^(\w+)\n-{4,}\n", doc, flags=re.M)
    lines = []
    for part in head.strip().split("\n\n"):
        lines += [plain(" ".join(part.split())), ""]
    for title, text in zip(parts[::2], parts[1::2]):
        lines += [f".. rubric:: {title}", "", *section(title, text.strip("\n")), ""]
    return lines


def entry(name, value, kind="function"):
    head = [f".. py:{kind}:: {name}{signature(value)}", "   :no-index-entry:", ""]
    return [*head, *indented("\n".join(documentation(inspect.getdoc(value) or ""))), ""]


def members(module, names):
    lines = []
    for name in sorted(names):
        value = getattr(module, name)
        if type(value).__module__.startswith("tutti._jit"):
            continue  # a word of kernels: it answers to nobody outside of one
        if inspect.ismodule(value) or not callable(value):
            continue
        kind = "class" if inspect.isclass(value) else "function"
        lines += entry(f"{module.__name__}.{name}", value, kind)
    return lines


def write_reference(out):
    import tutti

    out.mkdir()
    pages = {"tutti": (tutti, tutti.__all__)}
    networks = ("data", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "optim", "optim.lr_scheduler")
    networks += ("callbacks", "metrics")
    for name in ("linalg", "fft", "random", "safetensors", "special", "cuda", *networks):
        module = importlib.import_module("tutti." + name)
        names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
        pages[f"tutti.{name}"] = (module, names)
    for page, (module, names) in pages.items():
        about = plain((inspect.getdoc(module) or "").split("\n\n")[0])
        (out / f"{page}.rst").write_text("\n".join([*heading(page), about, "", *members(module, names)]))
    lines = heading("tutti.ndarray") + documentation(inspect.getdoc(tutti.ndarray))
    for name, value in sorted(vars(tutti.ndarray).items()):
        if not name.startswith("_") and callable(value):
            lines += entry(f"tutti.ndarray.{name}", value, "method")
        elif not name.startswith("_") and inspect.isgetsetdescriptor(value):
            lines += [
                f".. py:attribute:: tutti.ndarray.{name}",
                "   :no-index-entry:",
                "",
                *indented(plain(value.__doc__)),
                "",
            ]
    (out / "tutti.ndarray.rst").write_text("\n".join(lines))
    listed = ["tutti", "tutti.ndarray", *list(pages)[1:]]
    index = [*heading("Python reference"), ".. toctree::", "", *(f"   {p}" for p in listed), ""]
    (out / "index.rst").write_text("\n".join(index))


# ---- C


def comment_lines(comment):
    """The words of a C comment, its lines kept."""
    lines = [re.sub(r"^\s*/?\*+/?", "", line).rstrip("*/ \t") for line in comment.strip().splitlines()]
    lines = [f"| {plain(line.strip())}".rstrip() for line in lines]
    while lines and lines[0] == "|":
        lines.pop(0)
    return [*lines, ""]


def header_page(path):
    text = path.read_text()
    head = re.match(r"/\*(.*?)\*/", text, re.S)
    lines = heading(path.name) + (comment_lines(head[0]) if head else [])
    for found in re.finditer(r"(?:(/\*(?:(?!\*/).)*\*/)\s*)?((?:^TT_API[^;{]*;[^\n]*\n)+)", text, re.S | re.M):
        comment, declarations = found.groups()
        lines += [".. code-block:: c", "", *indented(re.sub(r"\bTT_API ", "", declarations.strip())), ""]
        if comment:
            lines += comment_lines(comment)
    return "\n".join(lines)


def write_c(out):
    out.mkdir()
    names = []
    for path in sorted((ROOT / "include" / "tutti").glob("*.h")):
        if "TT_API" in path.read_text():
            (out / f"{path.stem}.rst").write_text(header_page(path))
            names.append(path.stem)
    about = "Each header with its functions and what is said above their declarations."
    (out / "index.rst").write_text(
        "\n".join([*heading("C reference"), about, "", ".. toctree::", "", *(f"   {n}" for n in names), ""])
    )


# ---- the gallery


def write_gallery(out):
    out.mkdir()
    names = []
    for path in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        picture = out / f"{path.stem}.png"
        subprocess.run([sys.executable, "-c", FRAME, str(path), str(picture)], check=True, timeout=120)
        title, _, program = path.read_text().partition('"""\n\n')
        lines = [*heading(path.stem), plain(title.strip('"')), "", f".. image:: {picture.name}", ""]
        lines += [".. code-block:: python", "", *indented(program), ""]
        (out / f"{path.stem}.rst").write_text("\n".join(lines))
        names.append(path.stem)
    lines = [*heading("Gallery"), "Programs that fit on a page, each with the picture it makes.", ""]
    for name in names:
        lines += [f".. image:: {name}.png", "   :width: 30%", f"   :target: {name}.html", f"   :alt: {name}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {n}" for n in names), ""]
    (out / "index.rst").write_text("\n".join(lines))


def main(out):
    out = pathlib.Path(out)
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "site", out)
    for page in (ROOT / "docs").glob("*.md"):
        shutil.copy(page, out)
    shutil.copy(ROOT / "docs" / "speeds.svg", out)
    write_reference(out / "python")
    write_c(out / "c")
    write_gallery(out / "gallery")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main(sys.argv[1])
