"""Functions of networks: the rows `nn.functional.*` of the function table, with PyTorch's names and parameters."""

from .. import _core, _table

__all__ = [*_table.fill(globals(), "nn.functional"), "triplet_margin_with_distance_loss"]


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """What is missing to a margin between the distances to something alike and to something other.

    Parameters
    ----------
    anchor : ndarray
        Vectors.
    positive : ndarray
        Vectors that should be near.
    negative : ndarray
        Vectors that should be far.
    distance_function : callable
        Gets two sets of vectors, gives their distances; None: pairwise_distance.
    margin : float
        How far apart suffices.
    swap : bool
        Whether the distance between both others counts where it is smaller.
    reduction : {'mean', 'sum', 'none'}
        What becomes of the single losses.

    Returns
    -------
    ndarray
        One number, or, with reduction 'none', a loss for each.

    Examples
    --------
    >>> a, b, c = tt.array([[[0.0, 0.0]], [[3.0, 4.0]], [[0.0, 1.0]]])
    >>> tt.nn.functional.triplet_margin_with_distance_loss(a, b, c).round(3)
    array(5.)
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function  # noqa: F821 (a row)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _core.ops["minimum"](far, distance(positive, negative))
    return margin_ranking_loss(far, near, _core.functions["ones_like"](far), margin, reduction=reduction)  # noqa: F821 (a row)
