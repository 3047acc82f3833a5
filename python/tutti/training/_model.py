"""tt.Model: a module that is compiled and fitted."""

from ..nn import Module
from . import _tree
from ._trainer import Trainer


class Model(Module, Trainer):
    """A network with Keras' ways of training it: compile, fit, evaluate, predict.

    Parameters
    ----------
    module : Module, optional
        The network; None: a subclass has a forward of its own.
    output_names : list of str, optional
        Names of the outputs, where there are several in a list.

    Examples
    --------
    >>> tt.random.seed(0)
    >>> x = tt.random.normal(size=(256, 2))
    >>> y = (x[:, 0] > x[:, 1]).astype("int64")
    >>> model = tt.Model(tt.nn.Sequential(tt.nn.Linear(2, 2), tt.nn.Softmax(-1)))
    >>> optimizer = tt.optim.Adam(model.parameters(), lr=0.1)
    >>> model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    >>> history = model.fit(x, y, epochs=5, verbose=0)
    >>> model.evaluate(x, y, verbose=0, return_dict=True)["accuracy"] > 0.95
    True
    """

    def __init__(self, module=None, output_names=None):
        super().__init__()
        self.module = module
        if output_names is not None:
            self.output_names = list(output_names)

    def forward(self, *args, **kwargs):
        """The outputs of the network; a subclass has its own.

        Parameters
        ----------
        *args, **kwargs
            The inputs.

        Returns
        -------
        ndarray, or a structure of them
            The outputs.

        Examples
        --------
        >>> tt.Model(tt.nn.ReLU())(tt.array([-1.0, 1.0]))
        array([0., 1.])
        """
        module = self._modules.get("module")
        return module(*args, **kwargs) if module is not None else super().forward(*args, **kwargs)

    def _kept(self):
        return self if self.module is None else self.module

    def _outputs(self, x):
        if not isinstance(x, _tree.NESTED):
            return self(x)
        return self(**x) if isinstance(x, dict) else self(*x)
