"""torch.utils.checkpoint: what is computed again on the way back."""

from ....autograd import checkpoint as _checkpoint

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(function, *args, use_reentrant=None, **kwargs):
    """A function of which nothing is kept."""
    return _checkpoint(function, *args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Functions one after the other, in segments: all but the last one keep what goes into them alone."""
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(functions) // segments

    def run(start, end):
        def forward(x):
            for f in functions[start:end]:
                x = f(x)
            return x

        return forward

    for k in range(segments - 1):
        input = _checkpoint(run(k * size, (k + 1) * size), input)
    return run((segments - 1) * size, len(functions))(input)
