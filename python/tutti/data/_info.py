"""What a worker process of a loader knows of itself, in a module that is quickly loaded."""

mine = None  # in a worker: a WorkerInfo


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
    return mine
