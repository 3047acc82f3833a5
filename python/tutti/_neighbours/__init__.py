"""Libraries beside us: what NumPy, Numba, JAX and Arrow make of our arrays, and we of theirs."""
