"""Conway's life with a glider gun's cousins, Wolfram's rules by bits, and Langton's ant."""

import numpy as np

board = np.zeros((18, 22), dtype=bool)
for r, c in ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2), (9, 9), (9, 10), (9, 11), (8, 11)):
    board[r, c] = True
alive, seen = [], {}
for t in range(40):
    n = sum(np.roll(board, (i, j), (0, 1)).astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    board = (n == 3) | board & (n == 2)
    alive.append(int(np.count_nonzero(board)))
    seen.setdefault(board.tobytes(), t)
row = np.zeros(61, dtype=np.uint8)
row[30] = 1
rule = np.unpackbits(np.array([30], dtype=np.uint8), bitorder="little")
history = [row]
for _ in range(20):
    row = rule[(np.roll(row, 1) << 2) | (row << 1) | np.roll(row, -1)]
    history.append(row)
history = np.array(history)
centre = np.packbits(history[:, 30])
ground = np.zeros((21, 21), dtype=np.int8)
place, way = np.array([10, 10]), np.array([0, 1])
turn = np.array([[0, 1], [-1, 0]])
for _ in range(300):
    r, c = place
    way = way @ (turn if ground[r, c] else -turn)
    ground[r, c] ^= 1
    place = (place + way) % 21
rows, columns = np.where(board)
box = board[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
result = board, alive, len(seen), history, centre, ground, place, box
print("\n".join("".join(".#"[v] for v in line) for line in history[:4, 26:35].tolist()), centre)
