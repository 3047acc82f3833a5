"""Sequences of several lengths: packed, so that recurrent layers compute no more steps than there are, and padded."""

from collections import namedtuple

from ... import _core

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

_f = _core.functions


class PackedSequence(namedtuple("PackedSequence", "data batch_sizes sorted_indices unsorted_indices")):
    """Sequences with the elements of each step one behind the other, the longest sequence first.

    Parameters
    ----------
    data : ndarray
        The elements: [elements of all sequences, ...].
    batch_sizes : ndarray
        How many sequences have an element, of each step.
    sorted_indices : ndarray
        Which sequence is at each place; None: they came in this order.
    unsorted_indices : ndarray
        At which place each sequence is; None: found by sorted_indices.

    Examples
    --------
    >>> rnn = tt.nn.utils.rnn
    >>> rnn.pack_sequence([tt.array([1, 2, 3]), tt.array([4])]).data
    array([1, 4, 2, 3])
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)


def invert_permutation(permutation):
    """At which place each number is.

    Parameters
    ----------
    permutation : ndarray
        The numbers from 0 on, each once; None gives None.

    Returns
    -------
    ndarray
        The places.

    Examples
    --------
    >>> tt.nn.utils.rnn.invert_permutation(tt.array([2, 0, 1]))
    array([1, 2, 0])
    """
    return None if permutation is None else _f["argsort"](permutation)


def _seen(batch_sizes, images):
    """[steps, images]: which elements are there, the longest sequence first."""
    return batch_sizes[:, None] > _f["arange"](images)[None]


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Sequences side by side, padded to one length, as a packed sequence.

    Parameters
    ----------
    input : ndarray
        [steps, sequences, ...].
    lengths : sequence of int
        How long each sequence is.
    batch_first : bool
        Whether the first axis of the input is that of sequences.
    enforce_sorted : bool
        Whether it is an error that a sequence is longer than the one before.

    Returns
    -------
    PackedSequence
        Without what the sequences were padded with.

    Examples
    --------
    >>> x = tt.array([[1, 4], [2, 0], [3, 0]])
    >>> tt.nn.utils.rnn.pack_padded_sequence(x, [3, 1]).batch_sizes
    array([2, 1, 1])
    """
    input = input.swapaxes(0, 1) if batch_first else input
    given = [int(n) for n in lengths]
    if len(given) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(given)} (batch_size={input.shape[1]})"
        )
    if min(given, default=0) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if max(given) > input.shape[0]:
        raise RuntimeError(f"Expected lengths of at most {input.shape[0]} steps, but got {max(given)}")
    order = sorted(range(len(given)), key=lambda k: -given[k])
    where = None
    if not enforce_sorted:
        where = _core.array(order)
        input = _f["take"](input, where, axis=1)
    elif any(a < b for a, b in zip(given, given[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    lengths = _core.array([given[k] for k in order])
    seen = _f["arange"](given[order[0]])[:, None] < lengths[None]
    return PackedSequence(input[: given[order[0]]][seen], seen.sum(axis=1), where)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """A packed sequence as sequences side by side, and their lengths.

    Parameters
    ----------
    sequence : PackedSequence
        The sequences.
    batch_first : bool
        Whether the first axis of the result is that of sequences.
    padding_value : float
        What stands behind the end of sequences.
    total_length : int
        To how many steps they are padded; None: as many as the longest has.

    Returns
    -------
    tuple of ndarray
        [steps, sequences, ...], and the lengths.

    Examples
    --------
    >>> rnn = tt.nn.utils.rnn
    >>> packed = rnn.pack_sequence([tt.array([1, 2, 3]), tt.array([4])])
    >>> rnn.pad_packed_sequence(packed, batch_first=True)
    (array([[1, 2, 3],
           [4, 0, 0]]), array([3, 1]))
    """
    data, sizes, _, back = sequence
    steps, images = sizes.shape[0], int(sizes[0])
    total = steps if total_length is None else total_length
    if total < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total} and max sequence length being {steps}"
        )
    seen = _seen(sizes, images)
    out = _f["full"]((total, images, *data.shape[1:]), padding_value, data.dtype, device=data.device)
    out[:steps][seen] = data
    lengths = seen.sum(axis=0)
    if back is not None:
        out, lengths = _f["take"](out, back, axis=1), lengths[back]
    return out.swapaxes(0, 1) if batch_first else out, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences of several lengths side by side, padded to the longest.

    Parameters
    ----------
    sequences : sequence of ndarray
        Each [steps, ...].
    batch_first : bool
        Whether the first axis of the result is that of sequences.
    padding_value : float
        What they are padded with.
    padding_side : {'right', 'left'}
        Whether behind their end or before their start.

    Returns
    -------
    ndarray
        [steps, sequences, ...].

    Examples
    --------
    >>> tt.nn.utils.rnn.pad_sequence([tt.array([1, 2, 3]), tt.array([4])], batch_first=True)
    array([[1, 2, 3],
           [4, 0, 0]])
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = list(sequences)
    steps, padded = max(len(one) for one in sequences), []
    for one in sequences:
        more = _f["full"]((steps - len(one), *one.shape[1:]), padding_value, one.dtype, device=one.device)
        padded.append(_f["concatenate"]([one, more] if padding_side == "right" else [more, one]))
    return _f["stack"](padded, axis=0 if batch_first else 1)


def pack_sequence(sequences, enforce_sorted=True):
    """Sequences of several lengths as a packed sequence.

    Parameters
    ----------
    sequences : sequence of ndarray
        Each [steps, ...].
    enforce_sorted : bool
        Whether it is an error that a sequence is longer than the one before.

    Returns
    -------
    PackedSequence
        The sequences.

    Examples
    --------
    >>> tt.nn.utils.rnn.pack_sequence([tt.array([1, 2]), tt.array([3])]).data
    array([1, 3, 2])
    """
    sequences = list(sequences)
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """Sequences side by side, each as an array of its own length.

    Parameters
    ----------
    padded_sequences : ndarray
        [steps, sequences, ...].
    lengths : sequence of int
        How long each sequence is.
    batch_first : bool
        Whether the first axis is that of sequences.

    Returns
    -------
    list of ndarray
        The sequences.

    Examples
    --------
    >>> tt.nn.utils.rnn.unpad_sequence(tt.array([[1, 3], [2, 0]]), [2, 1])
    [array([1, 2]), array([3])]
    """
    turned = padded_sequences if batch_first else padded_sequences.swapaxes(0, 1)
    return [one[: int(n)] for one, n in zip(turned, lengths)]


def unpack_sequence(packed_sequences):
    """A packed sequence as arrays of their own lengths.

    Parameters
    ----------
    packed_sequences : PackedSequence
        The sequences.

    Returns
    -------
    list of ndarray
        The sequences.

    Examples
    --------
    >>> rnn = tt.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([tt.array([1, 2]), tt.array([3])]))
    [array([1, 2]), array([3])]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
