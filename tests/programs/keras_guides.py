"""The guides and examples of Keras over tutti, with the digits in the place of the data that they fetch.

    python tests/programs/keras_guides.py PATH [GUIDE...]      a checkout of keras-team/keras; all below, or these

`import keras` is served by tutti.compat.keras. A guide's cells are what stands between its texts; each is "ran",
"refused" (a name that says it is not covered, TensorFlow, PyTorch, or a name that such a cell would have made), or
WRONG.
"""

import ast
import contextlib
import gzip
import io
import os
import pathlib
import re
import sys
import tempfile
import time
import traceback
import types

GUIDES = """guides/sequential_model guides/functional_api guides/making_new_layers_and_models_via_subclassing
guides/training_with_built_in_methods guides/writing_your_own_callbacks guides/understanding_masking_and_padding
examples/demo_mnist_convnet examples/demo_functional""".split()
REFUSED = re.compile(r"does not cover|No module named '(torch|tensorflow)'|needs TensorFlow or PyTorch")
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv.gz"


class Absent(types.ModuleType):
    """A library that only some cells need."""

    def __getattr__(self, name):
        raise ImportError("needs TensorFlow or PyTorch")


def digits(n, size, channels, shift):
    """As many images of digits as are asked for: 3 x 3 pixels for each of theirs, in the middle."""
    import numpy as np

    with gzip.open(DIGITS, "rt") as f:
        table = np.loadtxt(f, delimiter=",", dtype="float32")
    table = np.roll(table[np.random.default_rng(0).permutation(len(table))], shift, 0)
    small = np.minimum(table[:, :-1].reshape(-1, 8, 8) * 16, 255).astype("uint8").repeat(3, 1).repeat(3, 2)
    border = (size - 24) // 2
    images = np.pad(small, ((0, 0), (border, border), (border, border)))
    images = images if channels == 1 else images[..., None].repeat(channels, -1)
    which = np.arange(n) % len(table)
    return images[which], table[which, -1].astype("uint8")


def reader(train, test, size, channels, column):
    def load_data():
        pairs = digits(train, size, channels, 0), digits(test, size, channels, 500)
        return tuple((x, y[:, None] if column else y) for x, y in pairs)

    return load_data


def serve():
    """Imports of keras end in tutti.compat, and its data sets in the digits."""
    from tutti.compat import _run

    sys.meta_path.insert(0, _run.Finder())
    import keras

    keras.datasets.mnist.load_data = reader(60000, 10000, 28, 1, False)
    keras.datasets.cifar10.load_data = reader(50000, 10000, 32, 3, True)
    for name in ("torch", "tensorflow"):
        sys.modules[name] = Absent(name)


def cells(text):
    """What stands between a guide's texts."""
    found = []
    for statement in ast.parse(text).body:
        is_text = isinstance(statement, ast.Expr) and isinstance(getattr(statement.value, "value", None), str)
        if is_text or not found:
            found.append([])
        if not is_text:
            found[-1].append(statement)
    return [cell for cell in found if cell]


def run(path, show=False):
    """How many cells ran, were refused and are wrong."""
    counts, missing, names = {"ran": 0, "refused": 0, "WRONG": 0}, set(), {"__name__": "__main__"}
    for cell in cells(path.read_text()):
        code, output = compile(ast.Module(cell, []), str(path), "exec"), io.StringIO()
        try:
            with contextlib.redirect_stdout(sys.stdout if show else output):
                exec(code, names)
            counts["ran"] += 1
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            unknown = re.search(r"name '(\w+)' is not defined", words)
            if REFUSED.search(words) or (unknown and unknown[1] in missing):
                counts["refused"] += 1
                missing |= {n.id for s in cell for n in ast.walk(s) if isinstance(n, ast.Name)}
                missing |= {s.name for s in cell if hasattr(s, "name")}
                continue
            counts["WRONG"] += 1
            line = traceback.extract_tb(error.__traceback__)[1].lineno
            print(f"  {path.name}:{line}: {words.splitlines()[0][:300]}")
            if show:
                traceback.print_exc()
    return counts


def main(path, *pages):
    root, wrong = pathlib.Path(path).resolve(), 0
    serve()
    import keras

    for page in pages or GUIDES:
        keras.utils.clear_session()
        keras.utils.set_random_seed(0)
        begun, place = time.perf_counter(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                counts = run(root / f"{page}.py", show=len(pages) == 1)
            finally:
                os.chdir(place)
        wrong += counts["WRONG"]
        told = ", ".join(f"{n} {what}" for what, n in counts.items())
        print(f"{page:58s} {told}, {time.perf_counter() - begun:.1f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
