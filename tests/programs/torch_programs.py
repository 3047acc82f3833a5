"""PyTorch programs of others over tutti, unchanged: the losses that they end with, and how long they take.

    python tests/programs/torch_programs.py PATH [NAME...] [--torch PYTHON] [--seeds N]

PATH is a folder with checkouts of pytorch/examples (examples), karpathy's minGPT, nanoGPT and micrograd. Each program
runs by `python -m tutti run --as torch` with several seeds, and with --torch by a Python that has PyTorch. They get
short settings, a corpus of the documentation's words, and in place of torchvision a reader of its form over the digits
of examples/data. Ours passes where its mean loss lies within three spreads of the seeds of PyTorch's, or is lower."""

import argparse
import os
import pathlib
import pickle
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = "SEED"  # in arguments: the seed of the run

# Name: folder, script, arguments, what of the output is the loss, and what is made first.
LANGUAGE = "--data data/small --emsize 64 --nhid 64 --epochs 2 --lr 5 --batch_size 10 --seed SEED --dropout 0 --model"
PROGRAMS = {
    "regression": ("examples/regression", "main.py", "", r"after (\d+) batches", ""),
    "time_sequence_prediction": (
        "examples/time_sequence_prediction", "train.py", "--steps 1", r"test loss: (\S+)", "sines",
    ),
    "dcgan": (
        "examples/dcgan", "main.py",
        "--dataset fake --workers 0 --niter 1 --imageSize 64 --ngf 8 --ndf 8 --manualSeed SEED --dry-run",
        r"Loss_D: (\S+)", "digits",
    ),
    "word_language_model LSTM": (
        "examples/word_language_model", "main.py", LANGUAGE + " LSTM", r"test loss +(\S+)", "corpus",
    ),
    "word_language_model GRU": (
        "examples/word_language_model", "main.py", LANGUAGE + " GRU", r"test loss +(\S+)", "corpus",
    ),
    "word_language_model RNN_TANH": (
        "examples/word_language_model", "main.py", LANGUAGE + " RNN_TANH", r"test loss +(\S+)", "corpus",
    ),
    "word_language_model Transformer": (
        "examples/word_language_model", "main.py", LANGUAGE + " Transformer", r"test loss +(\S+)", "corpus",
    ),
    "mnist": ("examples/mnist", "main.py", "--epochs 2 --seed SEED", r"Average loss: ([\d.]+)", "digits"),
    "mnist_rnn": ("examples/mnist_rnn", "main.py", "--epochs 2 --seed SEED", r"Average loss: ([\d.]+)", "digits"),
    "vae": ("examples/vae", "main.py", "--epochs 2 --seed SEED", r"Test set loss: ([\d.]+)", "digits"),
    "minGPT adder": (
        "minGPT", "projects/adder/adder.py",
        "--system.seed=SEED --trainer.num_workers=0 --trainer.max_iters=201", r"train loss (\S+)", "",
    ),
    "nanoGPT train": (
        "nanoGPT", "train.py",
        "config/train_shakespeare_char.py --device=cpu --compile=False --dtype=float32 --eval_iters=5 "
        "--log_interval=20 --block_size=64 --batch_size=12 --n_layer=4 --n_head=4 --n_embd=128 --max_iters=60 "
        "--lr_decay_iters=60 --eval_interval=60 --dropout=0.0",
        r"val loss (\S+)", "characters",
    ),
    "nanoGPT sample": (
        "nanoGPT", "sample.py",
        "--out_dir=out-shakespeare-char --device=cpu --dtype=float32 --num_samples=1 --max_new_tokens=60 "
        "--seed=SEED", "",
        "characters",
    ),
    "micrograd": ("micrograd", "test/test_engine.py", "", "", "asserts"),
}  # fmt: skip

DRIVER = """
import runpy, sys
import torch
seed, script, sys.argv = int(sys.argv[1]), sys.argv[2], sys.argv[2:]
seeded = torch.manual_seed
torch.manual_seed = lambda given: seeded(given + seed)  # where a program has a seed of its own, too
torch.manual_seed(0)
sys.path.insert(0, {folder!r})
names = runpy.run_path(script, run_name="__main__")
for name, value in list(names.items()):
    if name.startswith("test_") and callable(value):
        value()
"""

TORCHVISION = """
import csv, gzip
import torch

class FakeData(torch.utils.data.Dataset):
    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, **how):
        self.size, self.shape, self.transform = 128, image_size, transform

    def __len__(self):
        return self.size

    def __getitem__(self, k):
        return torch.rand(*self.shape, generator=torch.Generator().manual_seed(k)), k % 10

class MNIST(torch.utils.data.Dataset):
    def __init__(self, root, train=True, download=False, transform=None, **how):
        rows = [list(map(int, row)) for row in csv.reader(gzip.open(DIGITS, "rt"))]
        rows = rows[:1500] if train else rows[1500:]
        images = torch.tensor([row[:64] for row in rows], dtype=torch.float32).view(-1, 1, 8, 8) / 16
        self.images = torch.nn.functional.pad(images.repeat_interleave(3, 2).repeat_interleave(3, 3), (2, 2, 2, 2))
        self.labels, self.transform = [row[64] for row in rows], transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, k):
        image = self.images[k]
        return image if self.transform is None else self.transform(image), self.labels[k]

class Compose:
    def __init__(self, parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

def ToTensor():
    return lambda x: x

def Normalize(mean, std):
    mean, std = (torch.tensor(x).view(-1, 1, 1) for x in (mean, std))
    return lambda x: (x - mean) / std

def save_image(tensor, fp, **how):
    assert torch.isfinite(tensor).all()
"""


def corpus(folder):
    words = [word for name in ("tour.md", "numpy.md") for word in (ROOT / "docs" / name).read_text().split()]
    made = folder / "data" / "small"
    made.mkdir(parents=True)
    for name, begin, end in ("train", 0, 6000), ("valid", 6000, 6600), ("test", 6600, 7200):
        part = words[begin:end]
        lines = [" ".join(part[k : k + 12]) for k in range(0, len(part), 12)]
        (made / f"{name}.txt").write_text("\n".join(lines) + "\n")


def characters(folder):
    import numpy as np

    text = (ROOT / "docs" / "tour.md").read_text()
    chars = sorted(set(text))
    numbers = np.array([chars.index(c) for c in text], dtype=np.uint16)
    made = folder / "data" / "shakespeare_char"
    made.mkdir(parents=True, exist_ok=True)
    cut = len(numbers) * 9 // 10
    numbers[:cut].tofile(made / "train.bin")
    numbers[cut:].tofile(made / "val.bin")
    known = {"vocab_size": len(chars), "itos": dict(enumerate(chars)), "stoi": {c: k for k, c in enumerate(chars)}}
    (made / "meta.pkl").write_bytes(pickle.dumps(known))
    (folder / "tiktoken.py").write_text("")


def digits(folder):
    for parts in "", ".datasets", ".transforms", ".utils":
        place = folder / "torchvision" / (parts[1:] or ".")
        place.mkdir(parents=True, exist_ok=True)
        text = f"DIGITS = {str(ROOT / 'examples' / 'data' / 'digits.csv.gz')!r}\n" + TORCHVISION if not parts else ""
        (place / "__init__.py").write_text(text or "from torchvision import *\n")
    (folder / "results").mkdir(exist_ok=True)


PYPLOT = """
def __getattr__(name):
    return lambda *args, **how: None
"""


def sines(folder):
    """The program's own data, fewer and shorter, and nothing that draws."""
    script = folder / "generate_sine_wave.py"
    script.write_text(script.read_text().replace("L = 1000", "L = 60").replace("N = 100", "N = 20"))
    (folder / "matplotlib").mkdir()
    (folder / "matplotlib" / "__init__.py").write_text("def use(name):\n    pass\n")
    (folder / "matplotlib" / "pyplot.py").write_text(PYPLOT)


def command(python, script):
    return [sys.executable, "-m", "tutti", "run", "--as", "torch", script] if python is None else [python, script]


def run(name, path, python, seed):
    """(loss, seconds) of one run; the loss is None where none is looked for."""
    where, script, arguments, loss, prepare = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made) / "program"
        shutil.copytree(path / where, folder)
        if prepare in globals():
            globals()[prepare](folder)
        (folder / "driver.py").write_text(DRIVER.format(folder=str((folder / script).parent)))
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
        env["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # one program keeps an array of NumPy's

        def call(script, *arguments):
            full = [*command(python, "driver.py"), str(seed), script, *arguments]
            done = subprocess.run(full, cwd=folder, env=env, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{name} (seed {seed}) failed:\n{done.stdout[-500:]}\n{done.stderr[-3000:]}")
            return done.stdout

        if prepare == "sines":
            call("generate_sine_wave.py")
        if name == "nanoGPT sample":
            call("train.py", *PROGRAMS["nanoGPT train"][2].split())
        begun = time.perf_counter()
        text = call(script, *arguments.replace(SEED, str(seed)).split())
        took = time.perf_counter() - begun
    found = re.findall(loss, text) if loss else []
    if loss and not found:
        raise RuntimeError(f"{name}: no loss in\n{text[-1000:]}")
    return (float(found[-1]) if found else None), took


def told(losses):
    if losses[0] is None:
        return "-"
    return " ".join(f"{x:.4g}" for x in losses)


def agree(ours, theirs):
    if ours[0] is None:
        return True
    spread = max(statistics.stdev(ours), statistics.stdev(theirs), 0.02 * abs(statistics.mean(theirs)))
    return statistics.mean(ours) <= statistics.mean(theirs) + 3 * spread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    names = [n for n in PROGRAMS if not args.names or any(n == w or n.startswith(w + " ") for w in args.names)]
    print(f"{'program':32s} {'losses, ours':30s} {'s':>7s}  {'losses, PyTorch':30s} {'s':>7s}")
    bad = 0
    for name in names:
        try:
            ours = [run(name, args.path, None, seed) for seed in range(1, args.seeds + 1)]
            theirs = [run(name, args.path, args.torch, seed) for seed in range(1, args.seeds + 1)] if args.torch else []
        except RuntimeError as error:
            print(error, flush=True)
            bad += 1
            continue
        losses, seconds = zip(*ours, strict=True)
        line = f"{name:32s} {told(losses):30s} {min(seconds):7.2f}"
        if theirs:
            others, took = zip(*theirs, strict=True)
            fine = agree(losses, others) if args.seeds > 1 else True
            bad += not fine
            line += f"  {told(others):30s} {min(took):7.2f}{'' if fine else '  LOSSES DIFFER'}"
        print(line, flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
