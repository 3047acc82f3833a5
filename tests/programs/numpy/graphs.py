"""Graphs as matrices: shortest paths two ways, ranks of pages, components, triangles and a spanning tree."""

import numpy as np

N = 14
i, j = np.indices((N, N))
linked = ((i * 7 + j * 11) % 5 == 0) & (i != j)
linked |= linked.T
cost = np.where(linked, 1 + (i * j) % 7 + np.abs(i - j), np.inf)
np.fill_diagonal(cost, 0)
far = cost.copy()
via = np.where(linked, i, -1)
for k in range(N):
    through = far[:, k, None] + far[k]
    shorter = through < far
    far[shorter] = through[shorter]
    via[shorter] = np.broadcast_to(via[k], (N, N))[shorter]


def dijkstra(start):
    best, done = np.full(N, np.inf), np.zeros(N, dtype=bool)
    best[start] = 0
    for _ in range(N):
        at = np.where(done, np.inf, best).argmin()
        done[at] = True
        np.minimum(best, best[at] + cost[at], out=best)
    return best


assert all(np.array_equal(dijkstra(s), far[s]) for s in range(N))
degree = linked.sum(axis=0)
walk = linked / np.maximum(degree, 1)
rank = np.full(N, 1 / N)
while True:
    new = 0.15 / N + 0.85 * walk @ rank
    if np.abs(new - rank).sum() < 1e-13:
        break
    rank = new
adjacent = linked.astype(np.int64)
triangles = np.trace(np.linalg.matrix_power(adjacent, 3)) // 6
laplacian = np.diag(degree) - adjacent
trees = np.linalg.det(laplacian[1:, 1:].astype(float))
parts = int((np.linalg.eigvalsh(laplacian) < 1e-9).sum())
rows, columns = np.nonzero(np.triu(linked))
order = np.lexsort((columns, rows, cost[rows, columns]))
group, chosen = np.arange(N), []
for r, c in zip(rows[order], columns[order]):
    if group[r] != group[c]:
        group[group == group[c]] = group[r]
        chosen.append((int(r), int(c)))
reach = np.linalg.matrix_power(np.eye(N, dtype=int) + adjacent, 4) > 0
result = far, via, rank, triangles, trees, parts, chosen, reach, np.argsort(-rank, kind="stable"), degree
print(parts, int(triangles), chosen[:3], f"{far[np.isfinite(far)].max():g}")
