"""torch.onnx, which can be imported; nothing of it is covered."""

__all__ = []


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.torch does not cover torch.onnx.{name}")
