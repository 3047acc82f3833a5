"""torch.backends.cuda: how factors of products are rounded."""

import tutti as _tt

from ....cuda import is_available

__all__ = ["is_built", "matmul"]


class _Products:
    """allow_tf32 rounds factors to tf32."""

    allow_tf32 = False

    def __setattr__(self, name, value):
        if name == "allow_tf32":
            _tt.set_matmul_precision("high" if value else "highest")
        object.__setattr__(self, name, value)


matmul = _Products()


def is_built():
    return is_available()
