"""A simulated device without room for anything: the host does the work, also work without elements."""

from null_program import run_program


def test_what_is_empty_ends_too():
    """It was asked for there again and again, for ever."""
    run_program(
        "import numpy as np, tutti as tt",
        """
        x = tt.asarray(np.zeros((4, 0), "float16"), device="null")
        assert x.astype("float32").tolist() == [[], [], [], []]
        assert x.tolist() == [[], [], [], []] and (x + 1).sum().tolist() == 0
        """,
        TUTTI_NULL_MEMORY="64",
    )
