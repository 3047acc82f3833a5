"""The programs of JAX's documentation over tutti, with JAX beside them where it is installed.

    python tests/programs/jax_pages.py PATH/docs [PAGE...]      all pages listed below, or these

Each code cell runs in the order of its page, once with `import jax` served by tutti.compat.jax and once by JAX with 64
bits, and what its names are bound to afterwards is compared. A cell is "same", "refused" (a name that says it is not
covered, or a name that such a cell would have made), "otherwise" (places beyond an array are an error here), "not here"
(JAX fails there too, by intent or for want of a package), or WRONG."""

import contextlib
import io
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import warnings

PAGES = """automatic-differentiation jacobian-vector-products complex-differentiation higher-order
gradient-checkpointing automatic-vectorization key-concepts control-flow custom_pytrees notebooks/autodiff_cookbook
notebooks/Custom_derivative_rules_for_Python_code notebooks/autodiff_remat notebooks/vmapped_log_probs
notebooks/thinking_in_jax notebooks/Common_Gotchas_in_JAX new_docs/101/transformations new_docs/101/arrays
new_docs/101/pytrees new_docs/101/random new_docs/301/cookbook new_docs/301/custom-derivatives""".split()
REFUSED = re.compile(r"does not cover|^ImportError: cannot import name|no attribute '(trace|sharding|devices|val)'")
OTHERWISE = re.compile(r"^IndexError: index -?\d+ is out of bounds")
SKIPPED = re.compile(r"^\s*([%!]|from google|import google)|timeit|while True", re.M)


def cells(text):
    for found in re.finditer(r"^```\{code-cell\}[^\n]*\n(.*?)^```", text, re.M | re.S):
        body = re.sub(r"\A(---\n.*?---\n|(:[^\n]*\n)+)", "", found[1], flags=re.S)
        yield "" if SKIPPED.search(body) else body


def numbers(value, depth=0):
    """What can be compared of a value: arrays as NumPy's, containers of them; None of all else."""
    import numpy as np

    if isinstance(value, (bool, int, float, complex, str)):
        return value
    if type(value) in (list, tuple) and depth < 4:
        return [numbers(v, depth + 1) for v in value]
    if type(value) is dict and depth < 4:
        return {str(k): numbers(v, depth + 1) for k, v in value.items()}
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type):
        with contextlib.suppress(Exception):
            made = np.asarray(value.detach() if hasattr(value, "detach") else value)
            return made if made.dtype.kind in "biufc" else None
    return None


def run(path):
    """For each cell its error, or None, and what its names are bound to."""
    import numpy as np

    np.random.seed(0)
    random.seed(0)
    space, out = {"__name__": "page"}, []
    for number, body in enumerate(cells(pathlib.Path(path).read_text())):
        error = None
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                exec(compile(body, f"cell {number}", "exec"), space)
            except BaseException as e:
                error = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
        known = {k: numbers(v) for k, v in list(space.items()) if not k.startswith("_")}
        out.append((error, known))
    return out


def child(who, path, to):
    warnings.simplefilter("ignore")
    if who == "tutti":
        from tutti.compat import _run

        sys.meta_path.insert(0, _run.Finder())
    else:
        import jax

        jax.config.update("jax_enable_x64", True)
    pathlib.Path(to).write_bytes(pickle.dumps(run(path)))


def equal(a, b):
    import numpy as np

    if a is None or b is None:
        return True
    if isinstance(a, dict) or isinstance(b, dict):
        return type(a) is type(b) and a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list) or isinstance(b, list):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, str) or isinstance(b, str):
        return True  # texts name types and classes
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))


def verdicts(ours, theirs):
    missing, wrong_names = False, set()
    for (error, got), (their_error, want) in zip(ours, theirs):
        if their_error:
            yield "not here", their_error
        elif error and (REFUSED.search(error) or missing and error.startswith(("NameError", "AttributeError"))):
            missing = True
            yield "refused", error
        elif error:
            yield "otherwise" if OTHERWISE.search(error) else "WRONG", error
        else:
            differ = [k for k in want if k in got and k not in wrong_names and not equal(got[k], want[k])]
            wrong_names.update(differ)
            yield "WRONG" if differ else "same", ", ".join(f"{k} {got[k]} {want[k]}" for k in differ)


def both(path):
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for who in ("tutti", "jax"):
            to = f"{folder}/{who}"
            subprocess.run([sys.executable, __file__, "--under", who, str(path), to], check=True)
            made.append(pickle.loads(pathlib.Path(to).read_bytes()))
    return list(verdicts(*made))


def main(docs, *pages):
    total = {}
    for page in pages or PAGES:
        found = both(pathlib.Path(docs) / f"{page}.md")
        counts = {}
        for number, (verdict, why) in enumerate(found):
            counts[verdict] = counts.get(verdict, 0) + 1
            total[verdict] = total.get(verdict, 0) + 1
            if verdict in ("WRONG", "refused"):
                print(f"  {page} cell {number}: {verdict}: {why[:300]}")
        print(f"{page}: {counts}", flush=True)
    print("in all:", total)
    return 1 if total.get("WRONG") else 0


if __name__ == "__main__":
    if sys.argv[1] == "--under":
        child(*sys.argv[2:])
    else:
        sys.exit(main(*sys.argv[1:]))
