"""Sudoku by masks of bits, queens by broadcasting, and magic squares of every kind."""

import numpy as np

text = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
grid = np.array([0 if c == "." else int(c) for c in text]).reshape(9, 9)
steps = 0


def free(grid):
    """For each cell the digits that are possible, as a row of truth values."""
    digit = np.arange(1, 10)
    rows = (grid[:, :, None] == digit).any(axis=1)
    columns = (grid[:, :, None] == digit).any(axis=0)
    squares = (grid.reshape(3, 3, 3, 3)[..., None] == digit).any(axis=(1, 3))
    used = rows[:, None] | columns[None] | squares.repeat(3, 0).repeat(3, 1)
    return ~used & (grid == 0)[..., None]


def solve(grid):
    global steps
    steps += 1
    choices = free(grid)
    count = np.where(grid == 0, choices.sum(-1), 10)
    if count.min() == 10:
        return grid
    cell = np.unravel_index(count.argmin(), (9, 9))
    for digit in np.flatnonzero(choices[cell]) + 1:
        trial = grid.copy()
        trial[cell] = digit
        if (done := solve(trial)) is not None:
            return done
    return None


solved = solve(grid)
boards = np.arange(6)[:, None]
for _ in range(5):
    boards = np.column_stack([np.repeat(boards, 6, axis=0), np.tile(np.arange(6), len(boards))])
    apart = np.arange(boards.shape[1] - 1, 0, -1)
    gap = np.abs(boards[:, :-1] - boards[:, -1:])
    boards = boards[((gap != 0) & (gap != apart)).all(axis=1)]


def magic(n):
    i, j = np.indices((n, n))
    if n % 2:
        return n * ((i + j + 1 + n // 2) % n) + (i + 2 * j + 2) % n + 1
    square = np.arange(1, n * n + 1).reshape(n, n)
    keep = (i % 4 == j % 4) | ((i + j) % 4 == 3)
    return np.where(keep, n * n + 1 - square, square)


sums = [np.unique(np.r_[m.sum(0), m.sum(1), m.trace(), m[::-1].trace()]) for m in map(magic, (3, 4, 5, 8))]
result = solved, steps, boards, sums, magic(4)
print(solved[0], steps, len(boards), sums)
