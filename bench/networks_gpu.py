"""Networks that fill a GPU, beside PyTorch, eager and compiled: the rows of networks.py and larger ones."""

import networks
import numpy as np
import tutti as tt
from networks import LETTERS, classes, contest, normal, row


@row(1.0)
def mlp_784_4096_4096_10_batch_8192_tf32():
    def make(nn):
        return nn.Sequential(
            nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10)
        )  # fmt: skip

    def loss(F, m, x, y):
        return F.cross_entropy(m(x), y)

    with_tf32(True)
    return contest(make, loss, [normal(8192, 784), classes(10, 8192)], compiled=True)


def with_tf32(on):
    """Products of float32 by TensorFloat-32, ours and theirs."""
    tt.set_matmul_precision("high" if on else "highest")
    if torch := networks.peer("torch"):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


@row(1.0)
def convolutions_with_batch_norm_256_x_3_x_32_x_32_tf32():
    def make(nn):
        def block(a, b, **how):
            return [nn.Conv2d(a, b, 3, padding=1, bias=False, **how), nn.BatchNorm2d(b), nn.ReLU()]

        return nn.Sequential(
            *block(3, 64), *block(64, 64), nn.MaxPool2d(2), *block(64, 128), *block(128, 128), nn.MaxPool2d(2),
            *block(128, 256), *block(256, 256), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10),
        )  # fmt: skip

    def loss(F, m, x, y):
        return F.cross_entropy(m(x), y)

    with_tf32(True)
    return contest(make, loss, [normal(256, 3, 32, 32), classes(10, 256)], compiled=True)


def gpt(nn, width, layers, heads, places, letters=LETTERS):
    """The usual decoder: causal attention, norms first, no dropout."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
            self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

        def forward(self, F, x):
            b, t, _ = x.shape
            z = self.qkv(self.norm(x)).reshape(b, t, 3, heads, -1)
            q, k, v = (z[:, :, j].swapaxes(1, 2) for j in range(3))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.swapaxes(1, 2).reshape(b, t, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(places, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)

        def forward(self, F, x):
            h = self.letters(x) + self.places.weight
            for block in self.blocks:
                h = block(F, h)
            return self.head(self.norm(h))

    return Gpt()


def gpt_row(name, width, layers, heads, places, batch):
    def make():
        def loss(F, m, x, y):
            return F.cross_entropy(m(F, x).reshape(-1, LETTERS), y.reshape(-1))

        letters = classes(LETTERS, batch, places + 1)
        data = [np.ascontiguousarray(letters[:, :-1]), np.ascontiguousarray(letters[:, 1:])]
        with_tf32(False)
        return contest(lambda nn: gpt(nn, width, layers, heads, places), loss, data, half=True, compiled=True)

    make.__name__ = name
    row(1.0)(make)


gpt_row("small transformer 4 x 128 batch 16 x 64 bfloat16", 128, 4, 4, 64, 16)
gpt_row("nanoGPT 6 x 384 batch 64 x 256 bfloat16", 384, 6, 6, 256, 64)

if __name__ == "__main__":
    networks.main()
