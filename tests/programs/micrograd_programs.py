"""micrograd's tests with tutti as the oracle, in the place of PyTorch.

python tests/programs/micrograd_programs.py PATH      a checkout of karpathy/micrograd
"""

import pathlib
import sys
import types

import tutti as tt


class Tensor(tt.ndarray):
    """What these tests ask of a tensor: theirs are made of lists, and elements have a relu."""

    def double(self):
        return self.astype("float64")

    def relu(self):
        return tt.maximum(self, 0)

    @property
    def data(self):
        return self.detach()


def main(path, *arguments):
    import pytest

    torch = sys.modules["torch"] = types.ModuleType("torch")
    torch.Tensor = lambda values: tt.array(values, "float32").view(Tensor)
    root = pathlib.Path(path).resolve()
    sys.path.insert(0, str(root))
    return pytest.main([str(root / "test"), "-p", "no:cacheprovider", *arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
