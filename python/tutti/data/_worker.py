"""What a worker process of a loader knows of itself."""

_info = None


def get_worker_info():
    """Tell a worker process of a loader which one it is.

    Returns
    -------
    WorkerInfo or None
        `id`, `num_workers`, `seed` and `dataset`, the worker's own copy of the set; None outside of workers.

    Examples
    --------
    >>> tt.data.get_worker_info() is None
    True
    """
    return _info
