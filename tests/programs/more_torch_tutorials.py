"""Nine more trainings in the form of PyTorch's tutorials, over tutti and over PyTorch; torch_tutorials.py says how they
are run and compared.

    python tests/programs/more_torch_tutorials.py [NAME...] [--torch PYTHON]
"""

import copy
import math
import random
import sys
from collections import deque, namedtuple

import numpy as np
from side_by_side import main
from torch_tutorials import digits, fill

if "--run" in sys.argv:  # by whom torch is served
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch.nn.utils import clip_grad_norm_, clip_grad_value_
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
    from torch.optim import AdamW
    from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR
    from torch.utils.data import DataLoader, Dataset, TensorDataset


def dqn():
    Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))

    class Memory:
        def __init__(self, capacity):
            self.memory = deque([], maxlen=capacity)

        def push(self, *args):
            self.memory.append(Transition(*args))

        def sample(self, n):
            return chance.sample(list(self.memory), n)

        def __len__(self):
            return len(self.memory)

    class DQN(nn.Module):
        def __init__(self, n_observations, n_actions):
            super().__init__()
            self.layer1 = nn.Linear(n_observations, 64)
            self.layer2 = nn.Linear(64, 64)
            self.layer3 = nn.Linear(64, n_actions)

        def forward(self, x):
            x = F.relu(self.layer1(x))
            x = F.relu(self.layer2(x))
            return self.layer3(x)

    class Cart:
        """A point that is to stay near the middle."""

        def reset(self):
            self.at = dice.standard_normal(4) * 0.05
            return self.at

        def step(self, action):
            x, v, angle, turn = self.at
            push = 1.0 if action == 1 else -1.0
            v, turn = v + 0.05 * (push - angle), turn + 0.05 * (9.8 * math.sin(angle) - push)
            self.at = np.array([x + 0.05 * v, v, angle + 0.05 * turn, turn])
            return self.at, 1.0 - abs(angle), bool(abs(angle) > 0.4 or abs(x) > 2)

    chance, dice = random.Random(5), np.random.default_rng(6)
    env, memory = Cart(), Memory(1000)
    policy_net, target_net = DQN(4, 2), DQN(4, 2)
    fill(policy_net)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = AdamW(policy_net.parameters(), lr=1e-3, amsgrad=True)
    losses, batch_size, gamma, tau, steps = [], 32, 0.99, 0.005, 0

    def select_action(state):
        nonlocal steps
        eps = 0.05 + 0.85 * math.exp(-steps / 200)
        steps += 1
        if chance.random() > eps:
            with torch.no_grad():
                return policy_net(state).max(1).indices.view(1, 1)
        return torch.tensor([[chance.randrange(2)]], dtype=torch.long)

    def optimize():
        if len(memory) < batch_size:
            return
        batch = Transition(*zip(*memory.sample(batch_size)))
        mask = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
        following = torch.cat([s for s in batch.next_state if s is not None])
        state, action, reward = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
        values = policy_net(state).gather(1, action)
        next_values = torch.zeros(batch_size)
        with torch.no_grad():
            next_values[mask] = target_net(following).max(1).values
        expected = (next_values * gamma) + reward
        loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_value_(policy_net.parameters(), 100)
        optimizer.step()
        losses.append(loss.item())

    for _episode in range(12):
        state = torch.tensor(env.reset(), dtype=torch.float32).unsqueeze(0)
        for _t in range(20):
            action = select_action(state)
            observation, reward, done = env.step(action.item())
            reward = torch.tensor([reward], dtype=torch.float32)
            next_state = None if done else torch.tensor(observation, dtype=torch.float32).unsqueeze(0)
            memory.push(state, action, next_state, reward)
            state = next_state
            optimize()
            target, policy = target_net.state_dict(), policy_net.state_dict()
            for key in policy:
                target[key] = policy[key] * tau + target[key] * (1 - tau)
            target_net.load_state_dict(target)
            if done:
                break
    return losses[::8]


def simclr():
    class Encoder(nn.Module):
        def __init__(self, dim=32):
            super().__init__()
            self.f = nn.Sequential(
                nn.Conv2d(1, 16, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(16),
                nn.ReLU(inplace=True),
                nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(32),
                nn.ReLU(inplace=True),
            )
            self.g = nn.Sequential(nn.Linear(32, 64), nn.ReLU(inplace=True), nn.Linear(64, dim))

        def forward(self, x):
            h = torch.flatten(F.adaptive_avg_pool2d(self.f(x), 1), start_dim=1)
            return F.normalize(h, dim=-1), F.normalize(self.g(h), dim=-1)

    def nt_xent(a, b, temperature):
        n = a.size(0)
        out = torch.cat([a, b], dim=0)
        similarity = torch.exp(torch.mm(out, out.t().contiguous()) / temperature)
        mask = (torch.ones_like(similarity) - torch.eye(2 * n)).bool()
        similarity = similarity.masked_select(mask).view(2 * n, -1)
        positive = torch.exp(torch.sum(a * b, dim=-1) / temperature)
        positive = torch.cat([positive, positive], dim=0)
        return (-torch.log(positive / similarity.sum(dim=-1))).mean()

    noise = np.random.default_rng(4)
    x, y = digits(192)

    def augment(images):
        shift = int(noise.integers(-2, 3))
        grain = torch.from_numpy(noise.standard_normal(tuple(images.shape)).astype("float32"))
        return torch.roll(images, shifts=(shift, shift), dims=(2, 3)) + 0.1 * grain

    model = Encoder()
    fill(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-6)
    out = []
    for _epoch in range(4):
        model.train()
        total, count = 0.0, 0
        for i in range(0, len(x), 64):
            images = x[i : i + 64]
            _, a = model(augment(images))
            _, b = model(augment(images))
            loss = nt_xent(a, b, 0.5)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, count = total + loss.item() * len(images), count + len(images)
        out.append(total / count)
    model.eval()
    with torch.no_grad():
        feature, _ = model(x)
        near = torch.mm(feature, feature.t()).fill_diagonal_(-1).topk(k=5, dim=-1)
        agree = (y[near.indices] == y[:, None]).float().mean()
    return [*out, agree.item(), near.values.mean().item()]


def diffusion():
    class Times(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.dim = dim

        def forward(self, time):
            half = self.dim // 2
            step = math.log(10000) / (half - 1)
            freq = torch.exp(torch.arange(half, device=time.device) * -step)
            angle = time[:, None] * freq[None, :]
            return torch.cat((angle.sin(), angle.cos()), dim=-1)

    class Block(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.norm = nn.GroupNorm(4, dim)
            self.lin = nn.Linear(dim, dim)
            self.time = nn.Linear(dim, 2 * dim)
            self.act = nn.SiLU()

        def forward(self, x, t):
            scale, shift = self.time(self.act(t)).chunk(2, dim=1)
            return x + self.lin(self.act(self.norm(x) * (scale + 1) + shift))

    class Denoiser(nn.Module):
        def __init__(self, dim=64, depth=3):
            super().__init__()
            self.time_mlp = nn.Sequential(Times(dim), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
            self.first = nn.Linear(2, dim)
            self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
            self.last = nn.Linear(dim, 2)

        def forward(self, x, t):
            t, x = self.time_mlp(t), self.first(x)
            for block in self.blocks:
                x = block(x, t)
            return self.last(x)

    def extract(a, t, shape):
        return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    steps, noise = 50, np.random.default_rng(8)
    betas = torch.linspace(0.0001, 0.02, steps) * 20 / 5
    alphas = 1.0 - betas
    bars = torch.cumprod(alphas, dim=0)
    before = F.pad(bars[:-1], (1, 0), value=1.0)
    variance = betas * (1.0 - before) / (1.0 - bars)
    angle = np.linspace(0, 4 * np.pi, 256)
    spiral = torch.tensor(np.stack([angle * np.cos(angle), angle * np.sin(angle)], 1) / 8, dtype=torch.float32)

    def normals(*shape):
        return torch.from_numpy(noise.standard_normal(shape).astype("float32"))

    model = Denoiser()
    fill(model)
    ema = copy.deepcopy(model).eval()
    for p in ema.parameters():
        p.requires_grad_(False)
    optimizer = AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.99))
    schedule = CosineAnnealingLR(optimizer, T_max=60)
    losses = []
    for step in range(60):
        x0 = spiral[torch.from_numpy(noise.integers(0, 256, 128))]
        t = torch.from_numpy(noise.integers(0, steps, 128)).long()
        eps = normals(128, 2)
        xt = extract(bars.sqrt(), t, x0.shape) * x0 + extract((1 - bars).sqrt(), t, x0.shape) * eps
        loss = F.huber_loss(model(xt, t), eps)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for p, q in zip(ema.parameters(), model.parameters()):
                p.lerp_(q, 0.1)
        if step % 10 == 9:
            losses.append(loss.item())
    x = normals(32, 2)
    with torch.inference_mode():
        for i in reversed(range(steps)):
            t = torch.full((32,), i, dtype=torch.long)
            mean = alphas[i].rsqrt() * (x - betas[i] / (1 - bars[i]).sqrt() * ema(x, t))
            x = mean if i == 0 else mean + variance[i].sqrt() * normals(32, 2)
    return [*losses, x.abs().mean().item(), x.std(dim=0).sum().item()]


def wgan_gp():
    class Generator(nn.Module):
        def __init__(self):
            super().__init__()

            def block(a, b, normalize=True):
                layers = [nn.Linear(a, b)]
                if normalize:
                    layers.append(nn.BatchNorm1d(b, 0.8))
                layers.append(nn.LeakyReLU(0.2, inplace=True))
                return layers

            self.model = nn.Sequential(*block(16, 64, normalize=False), *block(64, 128), nn.Linear(128, 256), nn.Tanh())

        def forward(self, z):
            return self.model(z).view(z.shape[0], 1, 16, 16)

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = nn.Sequential(
                nn.Linear(256, 128), nn.LeakyReLU(0.2, inplace=True), nn.Linear(128, 64), nn.LeakyReLU(0.2),
                nn.Linear(64, 1),
            )  # fmt: skip

        def forward(self, img):
            return self.model(img.view(img.shape[0], -1))

    def penalty(critic, real, fake):
        alpha = torch.from_numpy(noise.random((real.size(0), 1, 1, 1)).astype("float32"))
        between = (alpha * real + ((1 - alpha) * fake)).requires_grad_(True)
        said = critic(between)
        slopes = torch.autograd.grad(
            outputs=said,
            inputs=between,
            grad_outputs=torch.ones_like(said),
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        slopes = slopes.view(slopes.size(0), -1)
        return ((slopes.norm(2, dim=1) - 1) ** 2).mean()

    noise = np.random.default_rng(9)
    generator, critic = Generator(), Critic()
    fill(generator, critic)
    g_opt = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    d_opt = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
    x, _ = digits(256)
    x = x.clamp(0, 1) * 2 - 1
    out = []
    for epoch in range(4):
        for i in range(0, 256, 64):
            real = x[i : i + 64]
            d_opt.zero_grad()
            z = torch.from_numpy(noise.standard_normal((64, 16)).astype("float32"))
            fake = generator(z)
            d_loss = -critic(real).mean() + critic(fake).mean() + 10 * penalty(critic, real.data, fake.data)
            d_loss.backward()
            d_opt.step()
            if (epoch * 4 + i // 64) % 2 == 0:
                g_opt.zero_grad()
                g_loss = -torch.mean(critic(generator(z)))
                g_loss.backward()
                g_opt.step()
        out += [d_loss.item(), g_loss.item()]
    return out


def vit():
    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.scale = heads, (dim // heads) ** -0.5
            self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
            self.to_out = nn.Linear(dim, dim)

        def forward(self, x):
            b, n, d = x.shape
            q, k, v = (a.view(b, n, self.heads, -1).transpose(1, 2) for a in self.to_qkv(x).chunk(3, dim=-1))
            share = (torch.matmul(q, k.transpose(-1, -2)) * self.scale).softmax(dim=-1)
            return self.to_out(torch.matmul(share, v).transpose(1, 2).reshape(b, n, d))

    class Layer(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
            self.attn = Attention(dim, heads)
            self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

        def forward(self, x):
            x = x + self.attn(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class ViT(nn.Module):
        def __init__(self, dim=48, depth=3, heads=4, patch=4):
            super().__init__()
            self.patches = nn.Conv2d(1, dim, kernel_size=patch, stride=patch)
            self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
            self.pos_embedding = nn.Parameter(torch.zeros(1, 17, dim))
            self.layers = nn.Sequential(*[Layer(dim, heads) for _ in range(depth)])
            self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 10))

        def forward(self, img):
            x = self.patches(img).flatten(2).transpose(1, 2)
            x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
            return self.head(self.layers(x + self.pos_embedding)[:, 0])

    x, y = digits(256)
    model = ViT()
    fill(model)
    loader = DataLoader(TensorDataset(x, y), batch_size=64)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    scheduler = OneCycleLR(optimizer, max_lr=2e-3, total_steps=4 * len(loader))
    out = []
    for _epoch in range(4):
        running = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(images), labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
        out.append(running / len(loader))
    return out


def gcn():
    class Convolution(nn.Module):
        def __init__(self, a, b):
            super().__init__()
            self.weight = nn.Parameter(torch.empty(a, b))
            self.bias = nn.Parameter(torch.zeros(b))

        def forward(self, x, edge, norm):
            source, target = edge
            support = x @ self.weight
            out = torch.zeros_like(support)
            return out.index_add(0, target, support[source] * norm[:, None]) + self.bias

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.gc2 = Convolution(32, 16), Convolution(16, 4)

        def forward(self, x, edge, norm):
            return F.log_softmax(self.gc2(F.relu(self.gc1(x, edge, norm)), edge, norm), dim=1)

    rng = np.random.default_rng(10)
    n = 200
    label = rng.integers(0, 4, n)
    same = label[:, None] == label[None, :]
    linked = rng.random((n, n)) < np.where(same, 0.05, 0.005)
    linked = np.triu(linked, 1)
    linked = linked | linked.T | np.eye(n, dtype=bool)
    edge = torch.tensor(np.stack(np.nonzero(linked)))
    degree = torch.zeros(n).scatter_add_(0, edge[0], torch.ones(edge.shape[1]))
    norm = degree.pow(-0.5)[edge[0]] * degree.pow(-0.5)[edge[1]]
    x = torch.tensor(rng.standard_normal((n, 32)) + np.eye(4, 32)[label], dtype=torch.float32)
    y = torch.tensor(label)
    train, test = torch.arange(0, 80), torch.arange(80, 200)
    model = GCN()
    fill(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    out = []
    for epoch in range(30):
        model.train()
        optimizer.zero_grad()
        said = model(x, edge, norm)
        loss = F.nll_loss(said[train], y[train])
        loss.backward()
        optimizer.step()
        if epoch % 6 == 5:
            model.eval()
            with torch.no_grad():
                held = model(x, edge, norm)[test]
            right = held.max(1)[1].type_as(y).eq(y[test]).double().sum() / len(test)
            out += [loss.item(), F.nll_loss(held, y[test]).item(), right.item()]
    return out


def speech():
    class Set(Dataset):
        def __init__(self, n=32):
            rng = np.random.default_rng(11)
            self.items = []
            for _ in range(n):
                word = rng.integers(1, 8, rng.integers(2, 5))
                sound = np.repeat(np.eye(8, 12)[word], 4, axis=0)
                self.items.append(((sound + 0.1 * rng.standard_normal(sound.shape)).astype("float32"), word))

        def __len__(self):
            return len(self.items)

        def __getitem__(self, i):
            sound, word = self.items[i]
            return torch.from_numpy(sound), torch.tensor(word, dtype=torch.long)

    def collate(batch):
        batch = sorted(batch, key=lambda pair: -len(pair[0]))
        sounds, words = zip(*batch)
        lengths, sizes = torch.tensor([len(s) for s in sounds]), torch.tensor([len(w) for w in words])
        return nn.utils.rnn.pad_sequence(sounds, batch_first=True), lengths, torch.cat(words), sizes

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(12, 24, 3, padding=1)
            self.rnn = nn.GRU(24, 20, batch_first=True, bidirectional=True)
            self.out = nn.Linear(40, 8)

        def forward(self, x, lengths):
            x = F.hardtanh(self.conv(x.transpose(1, 2)), 0, 20).transpose(1, 2)
            packed = pack_padded_sequence(x, lengths, batch_first=True)
            h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
            return self.out(h).log_softmax(2).transpose(0, 1)

    model = Reader()
    fill(model)
    loader = DataLoader(Set(), batch_size=8, collate_fn=collate)
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-3)
    out = []
    for _epoch in range(6):
        total = 0.0
        for x, lengths, words, sizes in loader:
            loss = criterion(model(x, lengths), words, lengths, sizes)
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), 5)
            optimizer.step()
            total += loss.item()
        out.append(total / len(loader))
    with torch.no_grad():
        best = model(x, lengths).argmax(2).t()
    said = [torch.unique_consecutive(row[:k]) for row, k in zip(best, lengths)]
    return [*out, float(sum(len(s[s > 0]) for s in said))]


def pinn():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.ModuleList([nn.Linear(2, 24), nn.Linear(24, 24), nn.Linear(24, 24)])
            self.out = nn.Linear(24, 1)

        def forward(self, x, t):
            h = torch.cat([x, t], axis=1)
            for layer in self.hidden:
                h = torch.tanh(layer(h))
            return self.out(h)

    def slope(u, x):
        return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]

    rng = np.random.default_rng(12)
    net = Net()
    fill(net)
    mse, optimizer = nn.MSELoss(), torch.optim.Adam(net.parameters(), lr=2e-3)
    start = torch.tensor(rng.uniform(-1, 1, (64, 1)), dtype=torch.float32)
    wanted = -torch.sin(math.pi * start)
    out = []
    for it in range(60):
        x = torch.tensor(rng.uniform(-1, 1, (128, 1)), dtype=torch.float32, requires_grad=True)
        t = torch.tensor(rng.uniform(0, 1, (128, 1)), dtype=torch.float32, requires_grad=True)
        u = net(x, t)
        u_x = slope(u, x)
        residual = slope(u, t) + u * u_x - (0.01 / math.pi) * slope(u_x, x)
        ends = net(torch.full_like(t, 1.0), t.detach()) ** 2 + net(torch.full_like(t, -1.0), t.detach()) ** 2
        loss = (
            mse(residual, torch.zeros_like(residual)) + mse(net(start, torch.zeros_like(start)), wanted) + ends.mean()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 10 == 9:
            out.append(loss.item())
    closer = torch.optim.LBFGS(net.parameters(), max_iter=8, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        closer.zero_grad()
        loss = mse(net(start, torch.zeros_like(start)), wanted)
        loss.backward()
        return loss

    closer.step(closure)
    return [*out, closure().item()]


def mixture():
    class Density(nn.Module):
        def __init__(self, n_hidden=20, k=5):
            super().__init__()
            self.z_h = nn.Sequential(nn.Linear(1, n_hidden), nn.Tanh())
            self.z_pi, self.z_mu, self.z_sigma = (nn.Linear(n_hidden, k) for _ in range(3))

        def forward(self, x):
            h = self.z_h(x)
            return F.softmax(self.z_pi(h), -1), self.z_mu(h), torch.exp(self.z_sigma(h))

    def loss_of(pi, mu, sigma, y):
        m = torch.distributions.Normal(loc=mu, scale=sigma)
        return -torch.logsumexp(m.log_prob(y.expand_as(mu)) + torch.log(pi), dim=1).mean()

    rng = np.random.default_rng(13)
    y = rng.uniform(-10, 10, (300, 1))
    x = 7 * np.sin(0.75 * y) + 0.5 * y + rng.standard_normal((300, 1))
    x, y = torch.Tensor(x / 10), torch.Tensor(y)
    model = Density()
    fill(model)
    optimizer = torch.optim.Adam(
        [{"params": model.z_h.parameters()}, {"params": [*model.z_pi.parameters(), *model.z_mu.parameters()]},
         {"params": model.z_sigma.parameters(), "lr": 2e-3}], lr=1e-2,
    )  # fmt: skip
    out = []
    for epoch in range(200):
        loss = loss_of(*model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 40 == 39:
            out.append(loss.item())
    with torch.no_grad():
        pi, mu, sigma = model(x)
        out += [
            (pi * mu).sum(1).pow(2).mean().item(),
            (pi * (pi + 1e-9).log()).sum(1).mean().item(),
            sigma.mean().item(),
        ]
    return out


if __name__ == "__main__":
    sys.exit(main(__file__, (dqn, simclr, diffusion, wgan_gp, vit, gcn, speech, pinn, mixture), 2e-4))
