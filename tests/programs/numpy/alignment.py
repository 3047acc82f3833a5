"""Words and sequences: distances by rows, alignment by tables, Viterbi's path, a knapsack and change."""

import numpy as np


def codes(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


def distance(a, b):
    a, b = codes(a), codes(b)
    row = np.arange(b.size + 1)
    for k, c in enumerate(a):
        new = np.concatenate(([k + 1], np.minimum(row[1:] + 1, row[:-1] + (b != c))))
        row = np.minimum.accumulate(new - np.arange(new.size)) + np.arange(new.size)
    return int(row[-1])


words = ["kitten", "sitting", "saturday", "sunday", "array", "arrays", "tarry"]
table = np.array([[distance(a, b) for b in words] for a in words])
a, b = codes("GATTACAGATT"), codes("GCATGCATTAG")
score = np.zeros((a.size + 1, b.size + 1), dtype=int)
score[:, 0], score[0] = -np.arange(a.size + 1), -np.arange(b.size + 1)
equal = np.where(a[:, None] == b, 1, -1)
for d in range(2, a.size + b.size + 1):
    r = np.arange(max(1, d - b.size), min(a.size, d - 1) + 1)
    c = d - r
    score[r, c] = np.maximum(
        score[r - 1, c - 1] + equal[r - 1, c - 1], np.maximum(score[r - 1, c], score[r, c - 1]) - 1
    )
stay = np.log(np.array([[0.7, 0.3], [0.4, 0.6]]))
emit = np.log(np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
seen = np.array([0, 1, 2, 2, 1, 0, 0, 2])
best, came = np.log([0.6, 0.4]) + emit[:, seen[0]], []
for s in seen[1:]:
    ways = best[:, None] + stay
    came.append(ways.argmax(0))
    best = ways.max(0) + emit[:, s]
path = [int(best.argmax())]
for c in came[::-1]:
    path.insert(0, int(c[path[0]]))
weight, worth = np.array([3, 4, 5, 9, 14]), np.array([3, 4, 4, 10, 15])
bag = np.zeros(31, dtype=int)
for w, v in zip(weight, worth):
    bag[w:] = np.maximum(bag[w:], bag[:-w] + v)
ways = np.zeros(101, dtype=np.int64)
ways[0] = 1
for coin in (1, 5, 10, 25, 50):
    for r in range(coin):
        ways[r::coin] = ways[r::coin].cumsum()
counts = np.bincount(codes("the quick brown fox jumps over the lazy dog"), minlength=128)[97:123]
shifted = (codes("HELLO") - 65 + 3) % 26 + 65
result = table, score, path, best, bag, ways, counts, shifted.astype(np.uint8).tobytes().decode()
print(table[0], score[-1, -1], path, ways[100], result[-1])
