"""Arrays in files of the safetensors format, with the names of its own library.

import tutti as tt
tt.safetensors.save_file({"weight": tt.ones((2, 3))}, "model.safetensors")
print(tt.safetensors.load_file("model.safetensors")["weight"].shape)  # (2, 3)

A file appears whole or not at all, also where the power fails. It is checked as a whole when it is opened, and each
tensor against its checksum when it is loaded, where the file has them: files of ours do.
"""

from contextlib import nullcontext as _nullcontext

from . import _core, _device

__all__ = ["SafetensorError", "load", "load_file", "safe_open", "save", "save_file"]


class SafetensorError(ValueError):
    """A file that is none of the format, that is damaged, or that has no such tensor.

    Examples
    --------
    >>> try:
    ...     tt.safetensors.load(b"something else")
    ... except tt.safetensors.SafetensorError as error:
    ...     print(error)
    no safetensors file: a header of 7956005065853857651 bytes
    """


def _on(device):
    return _nullcontext() if device is None else _device.device(device)


def _checked(read, *args):
    """What the library says of a file in the words of this module."""
    try:
        return read(*args)
    except KeyError as error:
        raise SafetensorError(*error.args) from None
    except ValueError as error:
        raise SafetensorError(str(error)) from None


def _write(path, tensors, metadata):
    metadata = {} if metadata is None else metadata
    if not isinstance(tensors, dict) or not all(isinstance(name, str) for name in tensors):
        raise TypeError("expected a dict of arrays by their names")
    if not all(isinstance(text, str) for pair in metadata.items() for text in pair):
        raise TypeError("metadata are str by str")
    arrays = [_core.asarray(value) for value in tensors.values()]
    return _core.tensors_save(path, list(tensors), arrays, list(metadata), list(metadata.values()))


def save_file(tensors, filename, metadata=None):
    """Save arrays by name.

    Parameters
    ----------
    tensors : dict of array_like
        The arrays; those that wait to be computed are computed together.
    filename : path_like
        The file, which is replaced as a whole.
    metadata : dict of str, optional
        Texts that are kept beside them.

    Returns
    -------
    None
        Nothing.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tt.safetensors.save_file({"weight": tt.ones(3)}, path, metadata={"of": "an example"})
    >>> tt.safetensors.load_file(path)
    {'weight': array([1., 1., 1.])}
    """
    _write(filename, tensors, metadata)


def save(tensors, metadata=None):
    """The bytes of a file with arrays by name.

    Parameters
    ----------
    tensors : dict of array_like
        The arrays.
    metadata : dict of str, optional
        Texts that are kept beside them.

    Returns
    -------
    bytes
        What save_file would write.

    Examples
    --------
    >>> tt.safetensors.load(tt.safetensors.save({"step": tt.array([3, 4])}))
    {'step': array([3, 4])}
    """
    return _write(None, tensors, metadata)


def _load_all(opened):
    """In the order of the file, which is read from its begin to its end."""
    return {name: opened.load(name) for name in opened.names(True)}


def load_file(filename, device=None):
    """All arrays of a file, by name.

    Parameters
    ----------
    filename : path_like
        The file.
    device : Device or str, optional
        Where they are to live.

    Returns
    -------
    dict of ndarray
        The arrays.

    Raises
    ------
    SafetensorError
        The file is none of the format, or a tensor is not what was saved.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tt.safetensors.save_file({"bias": tt.zeros(2)}, path)
    >>> tt.safetensors.load_file(path, device="cpu")
    {'bias': array([0., 0.])}
    """
    with safe_open(filename, device=device) as file:
        return file._all()


def load(data):
    """All arrays of a file's bytes, by name.

    Parameters
    ----------
    data : bytes_like
        What save made.

    Returns
    -------
    dict of ndarray
        The arrays.

    Examples
    --------
    >>> tt.safetensors.load(tt.safetensors.save({"bias": tt.zeros(2)}))
    {'bias': array([0., 0.])}
    """
    if isinstance(data, str):
        raise TypeError("expected the bytes of a file; load_file takes its name")
    return _checked(_load_all, _checked(_core.tensors_open, memoryview(data)))


class safe_open:
    """An open file, whose arrays are read one by one when they are asked for; a context manager.

    Parameters
    ----------
    filename : path_like
        The file. Its header is read and checked at once.
    framework : str, optional
        Taken for programs written for other libraries: arrays are always ours.
    device : Device or str, optional
        Where arrays are to live.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> tt.safetensors.save_file({"w": tt.arange(6).reshape(3, 2)}, path, {"step": "7"})
    >>> with tt.safetensors.safe_open(path) as file:
    ...     print(file.keys(), file.metadata(), file.get_tensor("w").shape)
    ['w'] {'step': '7'} (3, 2)
    """

    def __init__(self, filename, framework=None, device=None):
        self._device = device
        self._file = _checked(_core.tensors_open, filename)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._file.close()

    def _all(self):
        with _on(self._device):
            return _checked(_load_all, self._file)

    def keys(self):
        """The names of all tensors, sorted.

        Returns
        -------
        list of str
            The names.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.safetensors.save_file({"b": tt.zeros(2), "a": tt.ones(2)}, path)
        >>> with tt.safetensors.safe_open(path) as file:
        ...     file.keys()
        ['a', 'b']
        """
        return _checked(self._file.names, False)

    def offset_keys(self):
        """The names of all tensors in the order of the file.

        Returns
        -------
        list of str
            The names.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.safetensors.save_file({"a": tt.zeros(2, dtype="float16"), "b": tt.ones(2)}, path)
        >>> with tt.safetensors.safe_open(path) as file:
        ...     file.offset_keys()  # the widest type first
        ['b', 'a']
        """
        return _checked(self._file.names, True)

    def metadata(self):
        """The texts that were saved beside the tensors.

        Returns
        -------
        dict of str
            The texts by their keys; None where there are none.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.safetensors.save_file({"a": tt.zeros(2)}, path, {"step": "7"})
        >>> with tt.safetensors.safe_open(path) as file:
        ...     file.metadata()
        {'step': '7'}
        """
        return _checked(self._file.metadata) or None

    def get_tensor(self, name):
        """Read one tensor.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        ndarray
            The array.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.safetensors.save_file({"b": tt.zeros(2), "a": tt.ones(2)}, path)
        >>> with tt.safetensors.safe_open(path) as file:
        ...     file.get_tensor("a")
        array([1., 1.])
        """
        with _on(self._device):
            return _checked(self._file.load, name)

    def get_slice(self, name):
        """One tensor of which parts are read when they are asked for in square brackets.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        object
            It has get_shape() and get_dtype(), and what is between its brackets is an array's index.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
        >>> tt.safetensors.save_file({"a": tt.arange(6).reshape(3, 2)}, path)
        >>> with tt.safetensors.safe_open(path) as file:
        ...     file.get_slice("a")[1:2]
        array([[2, 3]])
        """
        return _Slice(self, name)


class _Slice:
    """A tensor of an open file: only the elements of the first axis that an index asks for are read."""

    def __init__(self, file, name):
        self._file, self._name = file, name
        self._dtype, self._shape = _checked(file._file.info, name)

    def get_shape(self):
        return list(self._shape)

    def get_dtype(self):
        return self._dtype

    def _rows(self, first):
        """(start, stop, what is left of the index) where the index takes a run of the first axis, or None."""
        if isinstance(first, slice) and first.step in (None, 1):
            start, stop, _ = first.indices(self._shape[0])
            return start, max(start, stop), slice(None)
        if isinstance(first, int) and -self._shape[0] <= first < self._shape[0]:
            start = first % self._shape[0]
            return start, start + 1, 0
        return None

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        rows = self._rows(index[0]) if index and self._shape and not isinstance(index[0], bool) else None
        with _on(self._file._device):
            if rows is None:
                return _checked(self._file._file.load, self._name)[index]
            return _checked(self._file._file.load, self._name, *rows[:2])[(rows[2], *index[1:])]
