#!/usr/bin/env python3
"""Write the names that tutti.compat.torch has into docs/compat.md.

python tools/torch_page.py"""

import importlib
import inspect
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "compat.md"
BEGIN = "<!-- from here on: python tools/torch_page.py -->\n"
END = "<!-- to here -->\n"
MODULES = """
nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations nn.utils.prune
nn.utils.stateless nn.parallel nn.attention optim optim.lr_scheduler optim.swa_utils autograd autograd.functional
utils.data utils.checkpoint func distributions linalg fft special amp cuda cuda.amp accelerator backends serialization
distributed compiler jit random testing
"""


def table():
    from tutti.compat import torch

    own = [name for name in vars(torch) if not name.startswith("_") and not inspect.ismodule(getattr(torch, name))]
    methods = [name for name in vars(torch.Tensor) if not name.startswith("_")]
    rows = {"torch": own, "torch.Tensor": methods}
    for path in MODULES.split():
        module = importlib.import_module("tutti.compat.torch." + path)
        rows["torch." + path] = [name for name in module.__all__ if hasattr(module, name)]
    lines = ["| module | names |", "|---|---|"]
    for module, names in rows.items():
        lines.append(f"| `{module}` | {' '.join(f'`{name}`' for name in sorted(names))} |")
    return "\n".join(lines) + "\n"


def current():
    head, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + "\n" + table() + "\n" + END + tail


if __name__ == "__main__":
    PAGE.write_text(current())
