"""What the sanitizers, the fault loops and the hostile surroundings found, each as a program."""

import tutti as tt


def identity(n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


def test_bases_of_empty_matrices():
    """An empty result beside a full one was taken for one that nobody wants."""
    for _ in range(3):  # fresh memory is often zero, used memory is not
        assert tt.linalg.svd(tt.zeros((0, 3)))[2].tolist() == identity(3)
        assert tt.linalg.svd(tt.zeros((3, 0)))[0].tolist() == identity(3)
        assert tt.linalg.qr(tt.zeros((3, 0)), mode="complete")[0].tolist() == identity(3)
