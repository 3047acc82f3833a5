"""PyTorch's own samples of its operations and modules through tutti.compat.torch: values, types, shapes and gradients.

    python tests/compat/torch_db.py [WORD...]      operations and modules whose names hold one of the words

prints how many samples agree, and for each name what does not. It needs torch and expecttest. Samples of random numbers
and of memory that nobody has written cannot agree; names that are not covered are counted."""

import collections
import sys
import warnings

import numpy as np
import torch as real
import tutti.compat.torch as ours
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db

MOST = 60  # samples of an operation and a type


def converted(x, pairs):
    """A sample's argument as ours; tensors that gradients are asked for are listed."""
    if isinstance(x, real.Tensor):
        made = x.detach().resolve_conj().resolve_neg()
        made = ours.tensor(made.numpy(), dtype=str(x.dtype).removeprefix("torch."), requires_grad=x.requires_grad)
        if x.requires_grad:
            pairs.append((x, made))
        return made
    if isinstance(x, real.dtype):
        return ours.dtype(str(x).removeprefix("torch."))
    if isinstance(x, (list, tuple)):
        return (list if isinstance(x, list) else tuple)(converted(part, pairs) for part in x)
    if isinstance(x, dict):
        return {name: converted(part, pairs) for name, part in x.items()}
    return None if isinstance(x, (real.memory_format, real.layout, real.device)) else x


def flat(x):
    return [leaf for part in x for leaf in flat(part)] if isinstance(x, (list, tuple)) else [x]


def elements(x):
    return x.detach().numpy(force=True)


def difference(want, got):
    """What differs between results, or None."""
    want, got = flat(want), flat(got)
    if len(want) != len(got):
        return "number of results"
    for a, b in zip(want, got, strict=True):
        if not isinstance(a, real.Tensor):
            if not (a == b or a != a):
                return "value"
            continue
        if type(b) is not ours.Tensor or tuple(a.shape) != tuple(b.shape):
            return "shape"
        if str(a.dtype).removeprefix("torch.") != str(b.dtype):
            return f"type {b.dtype} for {a.dtype}"
        near = {"rtol": 1e-6, "atol": 1e-7} if a.dtype == real.float64 else {"rtol": 1e-3, "atol": 1e-4}
        if not np.allclose(elements(a.resolve_conj().resolve_neg()), elements(b), equal_nan=True, **near):
            return "elements"
    return None


def gradients(m, results, leaves):
    """Those of the results by the leaves, for a cotangent that tells elements apart."""
    floats = [x for x in flat(results) if isinstance(x, m.Tensor) and x.requires_grad and x.dtype == m.float64]
    if not floats or not leaves:
        return []
    total = sum((x * m.cos(m.arange(x.numel(), dtype=m.float64).reshape(x.shape))).sum() for x in floats)
    return m.autograd.grad(total, leaves, allow_unused=True)


def gradients_differ(want, got):
    for a, b in zip(want, got, strict=True):
        a, b = (0 if x is None else elements(x) for x in (a, b))
        if not np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True):
            return True
    return False


def compare(theirs, call, args, kwargs, parameters=lambda: []):
    """How one sample ends; None: it is no sample, for PyTorch refuses it."""
    try:
        want = theirs(*args, **kwargs)
    except Exception:
        return None
    pairs = []
    try:
        got = call(*converted(args, pairs), **converted(kwargs, pairs))
        pairs += parameters()
        said = difference(want, got)
        if said:
            return said
        slopes = gradients(real, want, [a for a, _ in pairs])
        return "gradient" if gradients_differ(slopes, gradients(ours, got, [b for _, b in pairs])) else "agree"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:70]}"


def operations(words):
    for op in op_db:
        if words and not any(word in op.name for word in words):
            continue
        found = ours
        for part in op.name.split("."):
            found = getattr(found, part, None)
        if found is None or isinstance(found, ours.dtype):
            found = getattr(ours.Tensor, op.name, None)
        if found is None:
            yield op.name, "not covered"
            continue
        for dtype in (real.float64, real.float32, real.int64, real.bool):
            samples = op.sample_inputs("cpu", dtype, requires_grad=dtype == real.float64) if dtype in op.dtypes else ()
            for sample, _ in zip(samples, range(MOST), strict=False):
                yield op.name, compare(op.op, found, (sample.input, *sample.args), sample.kwargs)


def modules(words):
    for info in module_db:
        if words and not any(word in info.name for word in words):
            continue
        cls = getattr(ours.nn, info.name.rpartition(".")[2], None)
        if cls is None:
            yield info.name, "not covered"
            continue
        for sample in info.module_inputs_func(info, "cpu", real.float64, requires_grad=True, training=True)[:MOST]:
            made, given = sample.constructor_input, sample.forward_input
            try:
                theirs = info.module_cls(*made.args, **made.kwargs).double()
                mine = cls(*converted(made.args, []), **converted(made.kwargs, [])).double()
                mine.load_state_dict(converted(dict(theirs.state_dict()), []))
            except Exception as error:
                yield info.name, f"{type(error).__name__}: {str(error)[:70]}"
                continue
            named = dict(theirs.named_parameters())
            both = [(named[name], p) for name, p in mine.named_parameters()]
            yield info.name, compare(theirs, mine, given.args, given.kwargs, lambda both=both: both)


def main(words):
    warnings.simplefilter("ignore")
    for kind in operations, modules:
        total, wrong = collections.Counter(), collections.defaultdict(collections.Counter)
        for name, said in kind(words):
            total["agree" if said == "agree" else "not covered" if said == "not covered" else "differ"] += (
                said is not None
            )
            if said not in (None, "agree"):
                wrong[name][said] += 1
        for name, count in wrong.items():
            print(f"{name:40s} {dict(count.most_common(2))}")
        print(f"{kind.__name__}: {dict(total)}")


if __name__ == "__main__":
    main(sys.argv[1:])
