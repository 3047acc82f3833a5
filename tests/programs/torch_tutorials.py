"""Twelve trainings in the form of PyTorch's tutorials, over tutti and over PyTorch: with the same weights and data, the
losses of all epochs are the same.

    python tests/programs/torch_tutorials.py [NAME...] [--torch PYTHON]

Each runs by `python -m tutti run --as torch`, and with --torch by a Python that has PyTorch; beside them is the
processor time, that of the shorter of two runs. Ours passes where no number is off by more than 0.5 % of PyTorch's."""

import copy
import math
import os
import sys
import tempfile
from collections import OrderedDict, deque

import numpy as np
from side_by_side import main

if "--run" in sys.argv:  # by whom torch is served
    import torch
    import torch.nn.functional as F
    from torch import nn, optim
    from torch.distributions import Categorical, Normal
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

    device = torch.device("cpu")


def fill(*models, seed=0):
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for m in models:
            for name, p in m.named_parameters():
                if p.dim() > 1:
                    fan = p[0].numel()
                    p.copy_(torch.from_numpy((rng.standard_normal(tuple(p.shape)) / math.sqrt(fan)).astype("float32")))
                elif "bias" in name:
                    p.zero_()


def digits(n=256, seed=1, size=16, channels=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, n)
    base = np.random.default_rng(99).random((10, channels, size, size))
    x = base[y] + 0.3 * rng.standard_normal((n, channels, size, size))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.long)


def vae():
    class VAE(nn.Module):
        def __init__(self, n=256, h=128, z=16):
            super().__init__()
            self.fc1 = nn.Linear(n, h)
            self.fc21 = nn.Linear(h, z)
            self.fc22 = nn.Linear(h, z)
            self.fc3 = nn.Linear(z, h)
            self.fc4 = nn.Linear(h, n)

        def encode(self, x):
            h1 = F.relu(self.fc1(x))
            return self.fc21(h1), self.fc22(h1)

        def reparameterize(self, mu, logvar):
            std = torch.exp(0.5 * logvar)
            eps = torch.from_numpy(noise.standard_normal(tuple(std.shape)).astype("float32")).to(std)
            return mu + eps * std

        def forward(self, x):
            mu, logvar = self.encode(x.view(-1, 256))
            z = self.reparameterize(mu, logvar)
            return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar

    noise = np.random.default_rng(3)
    x, y = digits()
    x = x.clamp(0, 1)
    model = VAE().to(device)
    fill(model)
    opt = optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=False)
    out = []
    for _epoch in range(6):
        model.train()
        train_loss = 0
        for data, _ in loader:
            data = data.to(device)
            opt.zero_grad()
            recon, mu, logvar = model(data)
            bce = F.binary_cross_entropy(recon, data.view(-1, 256), reduction="sum")
            kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
            loss = bce + kld
            loss.backward()
            train_loss += loss.item()
            opt.step()
        out.append(train_loss / len(loader.dataset))
    with torch.no_grad():
        sample = model.fc4(F.relu(model.fc3(torch.ones(4, 16))))
        out.append(sample.abs().mean().item())
    return out


def gan():
    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.ConvTranspose2d(20, 64, 4, 1, 0, bias=False),
                nn.BatchNorm2d(64),
                nn.ReLU(True),
                nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False),
                nn.BatchNorm2d(32),
                nn.ReLU(True),
                nn.ConvTranspose2d(32, 1, 4, 2, 1, bias=False),
                nn.Tanh(),
            )

        def forward(self, x):
            return self.main(x)

    class Discriminator(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.Conv2d(1, 32, 4, 2, 1, bias=False),
                nn.LeakyReLU(0.2, inplace=True),
                nn.Conv2d(32, 64, 4, 2, 1, bias=False),
                nn.BatchNorm2d(64),
                nn.LeakyReLU(0.2, inplace=True),
                nn.Conv2d(64, 1, 4, 1, 0, bias=False),
                nn.Sigmoid(),
            )

        def forward(self, x):
            return self.main(x).view(-1)

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            m.weight.data.mul_(0.5)
        elif classname.find("BatchNorm") != -1:
            nn.init.constant_(m.weight.data, 1.0)
            nn.init.constant_(m.bias.data, 0)

    rng = np.random.default_rng(5)
    netG, netD = Generator().to(device), Discriminator().to(device)
    fill(netG, netD)
    netG.apply(weights_init)
    netD.apply(weights_init)
    criterion = nn.BCELoss()
    optD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    x, _ = digits(128)
    G, D = [], []
    for _epoch in range(3):
        for k in range(0, 128, 32):
            netD.zero_grad()
            real = x[k : k + 32].to(device)
            b = real.size(0)
            label = torch.full((b,), 1.0, dtype=torch.float, device=device)
            errD_real = criterion(netD(real), label)
            errD_real.backward()
            z = torch.from_numpy(rng.standard_normal((b, 20, 1, 1)).astype("float32"))
            fake = netG(z)
            label.fill_(0.0)
            errD_fake = criterion(netD(fake.detach()), label)
            errD_fake.backward()
            errD = errD_real + errD_fake
            optD.step()
            netG.zero_grad()
            label.fill_(1.0)
            errG = criterion(netD(fake), label)
            errG.backward()
            optG.step()
            G.append(errG.item())
            D.append(errD.item())
    return G[-3:] + D[-3:]


def gru_lm():
    text = "the quick brown fox jumps over the lazy dog and runs away from it while " * 12
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    data = torch.tensor([stoi[c] for c in text], dtype=torch.long)

    class RNNModel(nn.Module):
        def __init__(self, ntoken, ninp, nhid, nlayers):
            super().__init__()
            self.encoder = nn.Embedding(ntoken, ninp)
            self.rnn = nn.GRU(ninp, nhid, nlayers)
            self.decoder = nn.Linear(nhid, ntoken)
            self.nhid, self.nlayers = nhid, nlayers

        def forward(self, x, hidden):
            output, hidden = self.rnn(self.encoder(x), hidden)
            decoded = self.decoder(output)
            return F.log_softmax(decoded.view(-1, decoded.size(-1)), dim=1), hidden

        def init_hidden(self, bsz):
            weight = next(self.parameters())
            return weight.new_zeros(self.nlayers, bsz, self.nhid)

    def batchify(data, bsz):
        n = data.size(0) // bsz
        return data.narrow(0, 0, n * bsz).view(bsz, -1).t().contiguous()

    train = batchify(data, 8)
    model = RNNModel(len(chars), 32, 64, 2)
    fill(model)
    criterion = nn.NLLLoss()
    lr, losses = 2.0, []
    bptt = 20
    for _epoch in range(4):
        hidden = model.init_hidden(8)
        total = 0.0
        for i in range(0, train.size(0) - 1, bptt):
            n = min(bptt, len(train) - 1 - i)
            d, t = train[i : i + n], train[i + 1 : i + 1 + n].reshape(-1)
            hidden = hidden.detach()
            model.zero_grad()
            o, hidden = model(d, hidden)
            loss = criterion(o, t)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
            total += loss.item() * n
        losses.append(total / (train.size(0) - 1))
    model.eval()
    with torch.no_grad():
        inp, h, words = torch.zeros(1, 1, dtype=torch.long), model.init_hidden(1), []
        for _ in range(20):
            o, h = model(inp, h)
            idx = o.argmax(1)[0]
            words.append(int(idx))
            inp.fill_(idx)
    return losses + [sum(words)]


def seq2seq():
    SOS, _EOS, N = 0, 1, 12

    class EncoderRNN(nn.Module):
        def __init__(self, n, h):
            super().__init__()
            self.embedding = nn.Embedding(n, h)
            self.gru = nn.GRU(h, h, batch_first=True)
            self.dropout = nn.Dropout(0.0)

        def forward(self, x):
            return self.gru(self.dropout(self.embedding(x)))

    class BahdanauAttention(nn.Module):
        def __init__(self, h):
            super().__init__()
            self.Wa, self.Ua, self.Va = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)

        def forward(self, query, keys):
            scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2).unsqueeze(1)
            weights = F.softmax(scores, dim=-1)
            return torch.bmm(weights, keys), weights

    class AttnDecoderRNN(nn.Module):
        def __init__(self, h, n):
            super().__init__()
            self.embedding = nn.Embedding(n, h)
            self.attention = BahdanauAttention(h)
            self.gru = nn.GRU(2 * h, h, batch_first=True)
            self.out = nn.Linear(h, n)

        def forward(self, enc, hid, target=None):
            b = enc.size(0)
            x = torch.empty(b, 1, dtype=torch.long, device=device).fill_(SOS)
            outs, attn = [], []
            for i in range(6):
                e = self.embedding(x)
                context, w = self.attention(hid.permute(1, 0, 2), enc)
                o, hid = self.gru(torch.cat((e, context), dim=2), hid)
                o = self.out(o)
                outs.append(o)
                attn.append(w)
                if target is not None:
                    x = target[:, i].unsqueeze(1)
                else:
                    _, topi = o.topk(1)
                    x = topi.squeeze(-1).detach()
            return F.log_softmax(torch.cat(outs, dim=1), dim=-1), hid, torch.cat(attn, dim=1)

    rng = np.random.default_rng(4)
    src = torch.tensor(rng.integers(2, N, (128, 6)))
    tgt = src.flip(1)
    enc, dec = EncoderRNN(N, 32), AttnDecoderRNN(32, N)
    fill(enc, dec)
    eo, do = optim.Adam(enc.parameters(), lr=0.01), optim.Adam(dec.parameters(), lr=0.01)
    criterion = nn.NLLLoss()
    out = []
    for _epoch in range(6):
        total = 0
        for k in range(0, 128, 32):
            eo.zero_grad()
            do.zero_grad()
            e, h = enc(src[k : k + 32])
            o, _, _ = dec(e, h, tgt[k : k + 32])
            loss = criterion(o.view(-1, o.size(-1)), tgt[k : k + 32].reshape(-1))
            loss.backward()
            eo.step()
            do.step()
            total += loss.item()
        out.append(total / 4)
    with torch.no_grad():
        e, h = enc(src[:4])
        o, _, a = dec(e, h)
        out.append(float(a.sum()))
        out.append((o.topk(1)[1].squeeze(-1) == tgt[:4]).float().mean().item())
    return out


def resnet():
    def conv3x3(i, o, stride=1):
        return nn.Conv2d(i, o, kernel_size=3, stride=stride, padding=1, bias=False)

    class BasicBlock(nn.Module):
        expansion = 1

        def __init__(self, i, o, stride=1, downsample=None):
            super().__init__()
            self.conv1, self.bn1, self.relu = conv3x3(i, o, stride), nn.BatchNorm2d(o), nn.ReLU(inplace=True)
            self.conv2, self.bn2, self.downsample = conv3x3(o, o), nn.BatchNorm2d(o), downsample

        def forward(self, x):
            identity = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self, layers, classes=10):
            super().__init__()
            self.inplanes = 16
            self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
            self.bn1, self.relu = nn.BatchNorm2d(16), nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
            self.layer1 = self._make_layer(16, layers[0])
            self.layer2 = self._make_layer(32, layers[1], stride=2)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(32, classes)
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                    nn.init.constant_(m.weight, 1)
                    nn.init.constant_(m.bias, 0)

        def _make_layer(self, planes, blocks, stride=1):
            downsample = None
            if stride != 1 or self.inplanes != planes:
                downsample = nn.Sequential(
                    nn.Conv2d(self.inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
                )
            layers = [BasicBlock(self.inplanes, planes, stride, downsample)]
            self.inplanes = planes
            for _ in range(1, blocks):
                layers.append(BasicBlock(self.inplanes, planes))
            return nn.Sequential(*layers)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.avgpool(self.layer2(self.layer1(x)))
            return self.fc(torch.flatten(x, 1))

    model = ResNet([2, 2]).to(device)
    fill(model)
    x, y = digits(192, size=24, channels=3)
    train, val = Subset(TensorDataset(x, y), range(128)), Subset(TensorDataset(x, y), range(128, 192))
    opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    sched = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)
    out = []
    for _epoch in range(4):
        model.train()
        run = 0.0
        for xb, yb in DataLoader(train, batch_size=32):
            opt.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(xb), yb, label_smoothing=0.1)
            loss.backward()
            opt.step()
            run += loss.item() * xb.size(0)
        sched.step()
        model.eval()
        correct = 0
        with torch.inference_mode():
            for xb, yb in DataLoader(val, batch_size=64):
                _, pred = torch.max(model(xb), 1)
                correct += torch.sum(pred == yb.data).item()
        out += [run / 128, correct / 64, sched.get_last_lr()[0]]
    return out


def unet():
    class DoubleConv(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.double_conv = nn.Sequential(
                nn.Conv2d(i, o, 3, padding=1),
                nn.GroupNorm(4, o),
                nn.SiLU(),
                nn.Conv2d(o, o, 3, padding=1),
                nn.GroupNorm(4, o),
                nn.SiLU(),
            )

        def forward(self, x):
            return self.double_conv(x)

    class Up(nn.Module):
        def __init__(self, i, o, bilinear):
            super().__init__()
            self.up = (
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
                if bilinear
                else nn.ConvTranspose2d(i, i // 2, 2, stride=2)
            )
            self.conv = DoubleConv(i if not bilinear else i + o, o)

        def forward(self, x1, x2):
            x1 = self.up(x1)
            dy, dx = x2.size()[2] - x1.size()[2], x2.size()[3] - x1.size()[3]
            x1 = F.pad(x1, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.conv(torch.cat([x2, x1], dim=1))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.inc, self.pool = DoubleConv(1, 8), nn.MaxPool2d(2)
            self.d1, self.d2 = DoubleConv(8, 16), DoubleConv(16, 32)
            self.u1, self.u2 = Up(32, 16, False), Up(16, 8, True)
            self.outc = nn.Conv2d(8, 1, 1)

        def forward(self, x):
            x1 = self.inc(x)
            x2 = self.d1(self.pool(x1))
            x3 = self.d2(self.pool(x2))
            return self.outc(self.u2(self.u1(x3, x2), x1))

    def dice(p, t, smooth=1.0):
        p = torch.sigmoid(p).flatten(1)
        t = t.flatten(1)
        inter = (p * t).sum(1)
        return (1 - (2 * inter + smooth) / (p.sum(1) + t.sum(1) + smooth)).mean()

    rng = np.random.default_rng(2)
    n, s = 24, 27
    gy, gx = np.mgrid[:s, :s]
    c = rng.uniform(7, 20, (n, 2, 1, 1))
    r = rng.uniform(3, 7, (n, 1, 1))
    mask = (((gy - c[:, 0]) ** 2 + (gx - c[:, 1]) ** 2) < r**2)[:, None].astype("float32")
    img = torch.from_numpy((mask + 0.5 * rng.standard_normal(mask.shape)).astype("float32"))
    mask = torch.from_numpy(mask)
    model = UNet()
    fill(model)
    opt = optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    sched = optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, total_steps=15)
    crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
    out = []
    for _epoch in range(5):
        tot = 0
        for k in range(0, n, 8):
            logits = model(img[k : k + 8])
            loss = crit(logits, mask[k : k + 8]) + dice(logits, mask[k : k + 8])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            tot += loss.item()
        out.append(tot / 3)
    with torch.no_grad():
        p = torch.sigmoid(model(img)) > 0.5
        iou = (p & mask.bool()).sum().item() / (p | mask.bool()).sum().item()
    return out + [iou]


def transformer():
    class PositionalEncoding(nn.Module):
        def __init__(self, d, dropout=0.0, max_len=64):
            super().__init__()
            self.dropout = nn.Dropout(p=dropout)
            position = torch.arange(max_len).unsqueeze(1)
            div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
            pe = torch.zeros(max_len, 1, d)
            pe[:, 0, 0::2] = torch.sin(position * div)
            pe[:, 0, 1::2] = torch.cos(position * div)
            self.register_buffer("pe", pe)

        def forward(self, x):
            return self.dropout(x + self.pe[: x.size(0)])

    class Classifier(nn.Module):
        def __init__(self, vocab, d=32, heads=4, layers=2, classes=3):
            super().__init__()
            self.embed = nn.Embedding(vocab, d, padding_idx=0)
            self.pos = PositionalEncoding(d)
            layer = nn.TransformerEncoderLayer(d, heads, 64, dropout=0.0, activation="gelu", norm_first=False)
            self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = nn.Linear(d, classes)
            self.d = d

        def forward(self, x):
            pad = x.eq(0)
            h = self.pos(self.embed(x.t()) * math.sqrt(self.d))
            h = self.encoder(h, src_key_padding_mask=pad)
            keep = (~pad).t().unsqueeze(-1).float()
            return self.head((h * keep).sum(0) / keep.sum(0).clamp(min=1))

    rng = np.random.default_rng(8)
    seqs, ys = [], []
    for _i in range(96):
        y = int(rng.integers(0, 3))
        n = int(rng.integers(5, 20))
        s = rng.integers(1, 20, n)
        s[rng.random(n) < 0.3] = 20 + y
        seqs.append(torch.tensor(s))
        ys.append(y)

    class Text(Dataset):
        def __len__(self):
            return len(seqs)

        def __getitem__(self, i):
            return seqs[i], ys[i]

    def collate(batch):
        xs, y = zip(*batch)
        return pad_sequence(xs, batch_first=True, padding_value=0), torch.tensor(y)

    model = Classifier(24)
    fill(model)
    crit = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.5, 0.8]))
    opt = optim.Adam(
        [
            {"params": model.encoder.parameters()},
            {"params": list(model.embed.parameters()) + list(model.head.parameters()), "lr": 3e-3},
        ],
        lr=1e-3,
    )
    sched = optim.lr_scheduler.LambdaLR(opt, lambda e: 0.9**e)
    out = []
    for _epoch in range(4):
        tot = hit = 0
        for x, y in DataLoader(Text(), batch_size=16, collate_fn=collate):
            opt.zero_grad()
            z = model(x)
            loss = crit(z, y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            opt.step()
            tot += loss.item()
            hit += (z.argmax(dim=1) == y).sum().item()
        sched.step()
        out += [tot / 6, hit / 96]
    return out


def siamese():
    class SiameseNetwork(nn.Module):
        def __init__(self):
            super().__init__()
            self.cnn = nn.Sequential(
                nn.Conv2d(1, 8, 3, padding=1),
                nn.BatchNorm2d(8),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(8, 16, 3),
                nn.PReLU(),
                nn.AdaptiveMaxPool2d(2),
            )
            self.fc = nn.Sequential(nn.Linear(64, 32), nn.ELU(), nn.Linear(32, 8))

        def forward_once(self, x):
            return self.fc(self.cnn(x).view(x.size()[0], -1))

        def forward(self, a, b):
            return self.forward_once(a), self.forward_once(b)

    class ContrastiveLoss(nn.Module):
        def __init__(self, margin=1.0):
            super().__init__()
            self.margin = margin

        def forward(self, a, b, same):
            d = F.pairwise_distance(a, b, keepdim=True)
            return torch.mean((1 - same) * torch.pow(torch.clamp(self.margin - d, min=0.0), 2) + same * torch.pow(d, 2))

    x, y = digits(128)
    rng = np.random.default_rng(6)
    i, j = rng.integers(0, 128, (2, 256))
    half = np.arange(256) % 2 == 0
    yn = y.numpy()
    for k in range(256):
        if half[k]:
            j[k] = rng.choice(np.flatnonzero(yn == yn[i[k]]))
    same = torch.tensor((yn[i] == yn[j]).astype("float32")).unsqueeze(1)
    model = SiameseNetwork()
    fill(model)
    crit, trip = ContrastiveLoss(2.0), nn.TripletMarginLoss(margin=1.0)
    opt = optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, momentum=0.5)
    sched = optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    out = []
    for _epoch in range(4):
        tot = 0
        for k in range(0, 256, 64):
            a, b = model(x[i[k : k + 64]], x[torch.as_tensor(j[k : k + 64])])
            loss = (
                crit(a, b, same[k : k + 64])
                + 0.1 * trip(a, b, b.roll(1, 0))
                + 0.1 * F.cosine_embedding_loss(a, b, same[k : k + 64, 0] * 2 - 1)
            )
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        sched.step()
        out.append(tot / 4)
    model.eval()
    with torch.no_grad():
        a, b = model(x[:32], x[32:64])
        out.append(torch.cdist(a, b).mean().item())
    return out


def policy():
    """REINFORCE and actor-critic on a walk along a line."""

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1 = nn.Linear(4, 32)
            self.action_head = nn.Linear(32, 2)
            self.value_head = nn.Linear(32, 1)
            self.saved_actions, self.rewards = [], []

        def forward(self, x):
            x = F.relu(self.affine1(x))
            return F.softmax(self.action_head(x), dim=-1), self.value_head(x)

    rng = np.random.default_rng(1)
    model = Policy()
    fill(model)
    opt = optim.Adam(model.parameters(), lr=3e-3)
    eps = np.finfo(np.float32).eps.item()
    out = []
    for _episode in range(25):
        pos, vel, t = 0.0, 0.1, 0
        while t < 30:
            state = np.array([pos, vel, t / 30, 1.0], dtype="float32")
            probs, v = model(torch.from_numpy(state).float())
            m = Categorical(probs)
            action = torch.tensor(int(rng.random() > probs[0].item()))
            model.saved_actions.append((m.log_prob(action), v, m.entropy()))
            vel += 0.1 if action.item() else -0.1
            pos += vel
            t += 1
            model.rewards.append(1.0 - abs(pos))
            if abs(pos) > 2:
                break
        R, returns = 0, deque()
        for r in model.rewards[::-1]:
            R = r + 0.99 * R
            returns.appendleft(R)
        returns = torch.tensor(list(returns))
        returns = (returns - returns.mean()) / (returns.std() + eps)
        pl, vl = [], []
        for (lp, value, ent), R in zip(model.saved_actions, returns):
            adv = R - value.item()
            pl.append(-lp * adv - 0.01 * ent)
            vl.append(F.smooth_l1_loss(value, torch.tensor([R])))
        opt.zero_grad()
        loss = torch.stack(pl).sum() + torch.stack(vl).sum()
        loss.backward()
        opt.step()
        del model.rewards[:]
        del model.saved_actions[:]
        out.append(loss.item())
    n = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
    out += [n.log_prob(torch.tensor([0.5, 0.5])).sum().item(), n.entropy().sum().item()]
    return out[::6] + out[-2:]


def autoencoder():
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(
                OrderedDict(
                    [
                        ("conv1", nn.Conv2d(1, 8, 3, stride=2, padding=1)),
                        ("act1", nn.GELU()),
                        ("conv2", nn.Conv2d(8, 16, 3, stride=2, padding=1)),
                        ("act2", nn.GELU()),
                        ("flat", nn.Flatten()),
                        ("fc", nn.Linear(256, 12)),
                    ]
                )
            )

        def forward(self, x):
            return self.net(x)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(12, 256)
            self.net = nn.Sequential(
                nn.Unflatten(1, (16, 4, 4)),
                nn.ConvTranspose2d(16, 8, 3, output_padding=1, padding=1, stride=2),
                nn.GELU(),
                nn.ConvTranspose2d(8, 1, 3, output_padding=1, padding=1, stride=2),
                nn.Tanh(),
            )

        def forward(self, z):
            return self.net(self.fc(z))

    x, _ = digits(160)
    x = (x - x.mean()) / x.std() * 0.5
    noise = torch.from_numpy(np.random.default_rng(9).standard_normal(tuple(x.shape)).astype("float32"))
    ae = nn.Sequential(Encoder(), Decoder())
    fill(ae)
    opt = optim.NAdam(ae.parameters(), lr=2e-3)
    sched = optim.lr_scheduler.ReduceLROnPlateau(opt, mode="min", factor=0.5, patience=1)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    out, best, folder = [], float("inf"), tempfile.mkdtemp()
    for epoch in range(6):
        tot = 0
        perm = torch.arange(160).flip(0)
        for idx in perm.split(40):
            opt.zero_grad()
            with torch.autocast("cpu", enabled=False):
                rec = ae(x[idx] + 0.1 * noise[idx])
                loss = F.mse_loss(rec, x[idx], reduction="none").sum(dim=[1, 2, 3]).mean(dim=[0])
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            tot += loss.item()
        sched.step(tot)
        if tot < best:
            best = tot
            torch.save(
                {
                    "epoch": epoch,
                    "model_state_dict": ae.state_dict(),
                    "optimizer_state_dict": opt.state_dict(),
                    "loss": loss,
                },
                os.path.join(folder, "net.pt"),
            )
        out.append(tot / 4)
    ck = torch.load(os.path.join(folder, "net.pt"), weights_only=True)
    ae.load_state_dict(ck["model_state_dict"])
    opt.load_state_dict(ck["optimizer_state_dict"])
    ae.eval()
    with torch.no_grad():
        out.append(F.l1_loss(ae(x), x).item())
    return out + [ck["epoch"], opt.param_groups[0]["lr"]]


def tabular():
    class Tabular(nn.Module):
        def __init__(self, sizes, n_cont, layers=(32, 16), p=0.0):
            super().__init__()
            self.embeds = nn.ModuleList([nn.Embedding(c, s) for c, s in sizes])
            self.emb_drop, self.bn_cont = nn.Dropout(p), nn.BatchNorm1d(n_cont)
            n = sum(s for _, s in sizes) + n_cont
            stack = []
            for i in layers:
                stack += [nn.Linear(n, i), nn.ReLU(inplace=True), nn.BatchNorm1d(i), nn.Dropout(p)]
                n = i
            self.layers = nn.Sequential(*stack, nn.Linear(n, 1))

        def forward(self, cat, cont):
            x = torch.cat([e(cat[:, i]) for i, e in enumerate(self.embeds)], 1)
            return self.layers(torch.cat([self.emb_drop(x), self.bn_cont(cont)], 1))

    rng = np.random.default_rng(12)
    n = 512
    cat = np.stack([rng.integers(0, k, n) for k in (7, 4, 12)], 1)
    cont = rng.standard_normal((n, 5))
    y = cat[:, 0] * 0.3 - cat[:, 1] + np.sin(cat[:, 2]) + cont @ rng.standard_normal(5)
    cats, conts = torch.tensor(cat, dtype=torch.int64), torch.tensor(cont, dtype=torch.float)
    y = torch.tensor(y, dtype=torch.float).reshape(-1, 1)
    model = Tabular([(7, 4), (4, 2), (12, 6)], 5)
    fill(model)
    opt = optim.Adagrad(model.parameters(), lr=0.05)
    out = []
    ds = TensorDataset(cats[:448], conts[:448], y[:448])
    for _epoch in range(5):
        model.train()
        tot = 0
        for a, b, t in DataLoader(ds, 64, drop_last=True):
            pred = model(a, b)
            loss = torch.sqrt(F.mse_loss(pred, t)) + 1e-4 * sum(p.abs().sum() for p in model.parameters())
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.detach()
        out.append((tot / 7).item())
    model.eval()
    with torch.no_grad():
        pred = model(cats[448:], conts[448:])
        r2 = 1 - ((pred - y[448:]) ** 2).sum() / ((y[448:] - y[448:].mean()) ** 2).sum()
    return out + [r2.item(), sum(p.numel() for p in model.parameters() if p.requires_grad)]


def finetune():
    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 8, 3, padding=1),
                nn.BatchNorm2d(8),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(8, 16, 3, padding=1),
                nn.BatchNorm2d(16),
                nn.ReLU(),
                nn.AdaptiveAvgPool2d(4),
            )
            self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1000))

        def forward(self, x):
            return self.classifier(torch.flatten(self.features(x), 1))

    model = Backbone()
    fill(model)
    for p in model.features.parameters():
        p.requires_grad = False
    model.classifier[3] = nn.Linear(model.classifier[3].in_features, 10)
    fill(model.classifier[3], seed=3)
    seen = {}
    handle = model.features.register_forward_hook(lambda m, i, o: seen.update(features=o.detach()))
    grads = []
    model.classifier[1].weight.register_hook(lambda g: grads.append(g.norm().item()))
    x, y = digits(192)
    opt = optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.05, momentum=0.9)
    warm = optim.lr_scheduler.SequentialLR(
        opt, [optim.lr_scheduler.LinearLR(opt, 0.1, 1.0, 2), optim.lr_scheduler.ExponentialLR(opt, 0.8)], milestones=[2]
    )
    best_w, best, out = copy.deepcopy(model.state_dict()), 0.0, []
    for _epoch in range(4):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            model.features.eval()
            loss_sum = hit = 0
            lo, hi = (0, 128) if phase == "train" else (128, 192)
            for k in range(lo, hi, 32):
                xb, yb = x[k : k + 32], y[k : k + 32]
                opt.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    o = model(xb)
                    _, pred = torch.max(o, 1)
                    loss = F.cross_entropy(o, yb)
                    if phase == "train":
                        loss.backward()
                        opt.step()
                loss_sum += loss.item() * xb.size(0)
                hit += torch.sum(pred == yb.data)
            if phase == "train":
                warm.step()
            acc = hit.double() / (hi - lo)
            if phase == "val" and acc > best:
                best, best_w = acc, copy.deepcopy(model.state_dict())
            out.append(loss_sum / (hi - lo))
    handle.remove()
    model.load_state_dict(best_w)
    for p in model.parameters():
        p.requires_grad_(True)
    opt.add_param_group({"params": model.features.parameters(), "lr": 1e-3})
    for k in range(0, 128, 32):
        opt.zero_grad()
        F.cross_entropy(model(x[k : k + 32]), y[k : k + 32]).backward()
        opt.step()
    return out + [float(best), grads[0], grads[-1], seen["features"].mean().item(), F.cross_entropy(model(x), y).item()]


if __name__ == "__main__":
    dozen = [vae, gan, gru_lm, seq2seq, resnet, unet, transformer, siamese, policy, autoencoder, tabular, finetune]
    sys.exit(main(__file__, dozen))
