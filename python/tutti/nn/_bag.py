"""Bags of rows of a table."""

from .. import autograd
from . import functional
from . import init as _init
from ._module import Module, Parameter
from ._weighted import _new


class EmbeddingBag(Module):
    """Means, sums or largest elements of bags of rows of a table.

    Parameters
    ----------
    num_embeddings : int
        How many rows there are.
    embedding_dim : int
        How long they are.
    max_norm : float
        Not implemented: None.
    norm_type : float
        Has no effect without max_norm.
    scale_grad_by_freq : bool
        Not implemented: False.
    mode : {'sum', 'mean', 'max'}
        What is made of a bag.
    sparse : bool
        Not implemented: False.
    include_last_offset : bool
        Whether the last of the offsets is the end of the last bag.
    padding_idx : int
        A row that does not count; None: there is none.
    device : Device or str
        Where the table lies.
    dtype : dtype
        Its type; None: float32.

    Examples
    --------
    >>> bag = tt.nn.EmbeddingBag.from_pretrained(tt.array([[1.0], [2.0], [5.0]]), mode="sum")
    >>> bag(tt.array([0, 1, 2, 2]), tt.array([0, 2]))
    array([[ 3.],
           [10.]])
    """

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError("padding_idx must be within num_embeddings")
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self.weight = _new((num_embeddings, embedding_dim), device, dtype)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the table: normal numbers, zeros in the row of padding.

        Returns
        -------
        None

        Examples
        --------
        >>> tt.nn.EmbeddingBag(3, 2).reset_parameters()
        """
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with autograd.no_grad():
                self.weight[self.padding_idx] = 0

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
    ):
        """A layer over a table that is there.

        Parameters
        ----------
        embeddings : ndarray
            The table.
        freeze : bool
            Whether it stays as it is.
        max_norm : float
            Not implemented: None.
        norm_type : float
            Has no effect without max_norm.
        scale_grad_by_freq : bool
            Not implemented: False.
        mode : {'sum', 'mean', 'max'}
            What is made of a bag.
        sparse : bool
            Not implemented: False.
        include_last_offset : bool
            Whether the last of the offsets is the end of the last bag.
        padding_idx : int
            A row that does not count; None: there is none.

        Returns
        -------
        EmbeddingBag
            The layer.

        Examples
        --------
        >>> tt.nn.EmbeddingBag.from_pretrained(tt.array([[1.0], [2.0]]))(tt.array([[0, 1]]))
        array([[1.5]])
        """
        numbers = max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx
        self = cls(*embeddings.shape, *numbers, dtype=embeddings.dtype)
        self.weight = Parameter(embeddings, not freeze)
        return self

    def forward(self, input, offsets=None, per_sample_weights=None):
        """What is made of the bags.

        Parameters
        ----------
        input : ndarray
            Numbers of rows: [bags, length], or all bags one after the other.
        offsets : ndarray
            Where each bag begins in an input of one axis.
        per_sample_weights : ndarray
            A factor for each number of a row, with 'sum'; None: 1.

        Returns
        -------
        ndarray
            [bags, embedding_dim].

        Examples
        --------
        >>> tt.nn.EmbeddingBag(10, 3).forward(tt.array([[1, 2], [3, 4]])).shape
        (2, 3)
        """
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self):
        """The numbers that the layer was made with.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.EmbeddingBag(10, 3).extra_repr()
        "10, 3, mode='mean'"
        """
        said = [
            f"{self.num_embeddings}, {self.embedding_dim}",
            f"max_norm={self.max_norm!r}" if self.max_norm is not None else "",
            f"norm_type={self.norm_type!r}" if self.norm_type != 2 else "",
            f"scale_grad_by_freq={self.scale_grad_by_freq!r}" if self.scale_grad_by_freq else "",
            f"mode={self.mode!r}",
            f"padding_idx={self.padding_idx!r}" if self.padding_idx is not None else "",
        ]
        return ", ".join(s for s in said if s)
