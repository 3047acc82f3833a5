"""Parameters, modules that hold them, and modules that hold modules."""

import itertools
from collections import OrderedDict, namedtuple

from .. import _core, autograd
from . import _calls

_core.set_hooks(module_hooks=_calls.watched, module_call=_calls.call)
_Matched = namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])


class IncompatibleKeys(_Matched):
    """What load_state_dict did not find, and what nobody asked for.

    Parameters
    ----------
    missing_keys : list of str
        Names that the state lacks.
    unexpected_keys : list of str
        Names that the module lacks.

    Examples
    --------
    >>> tt.nn.ReLU().load_state_dict({})
    <All keys matched successfully>
    """

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Parameter(_core.ndarray, plain=True):
    """An array that a module trains: a leaf that gradients are asked for. What is computed of it is a plain array.

    Parameters
    ----------
    data : array_like
        The values, which are copied.
    requires_grad : bool
        Whether gradients are asked for.

    Examples
    --------
    >>> tt.nn.Parameter([1.0, 2.0])
    Parameter containing:
    array([1., 2.])
    """

    def __new__(cls, data, requires_grad=True):
        self = _core.array(data.detach() if isinstance(data, _core.ndarray) else data).view(cls)
        self.requires_grad = requires_grad
        return self

    def __repr__(self):
        return f"Parameter containing:\n{self.detach()!r}"

    def __deepcopy__(self, memo):
        return memo.setdefault(id(self), type(self)(self, self.requires_grad))

    def __reduce__(self):
        return type(self), (self.detach(), self.requires_grad)


class UninitializedParameter(Parameter):
    """A parameter of a lazy layer that has seen no input: its shape is not known.

    Parameters
    ----------
    data : array_like
        Elements that stand for those to come.
    requires_grad : bool
        Whether gradients are asked for.

    Examples
    --------
    >>> tt.nn.LazyLinear(3).weight
    <UninitializedParameter>
    """

    def __repr__(self):
        return "<UninitializedParameter>"


_EXTRA = "_extra_state"  # its name in states


def _named(members, prefix):
    return prefix + ("." if prefix else "") + members


class Module(_core.Module):
    """What networks are built of: parameters, buffers and other modules by name, and a forward().

    Examples
    --------
    >>> class Double(tt.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tt.nn.Parameter([2.0])
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Double()(tt.ones(1)).item()
    2.0
    """

    training = True

    def __init__(self):
        for name in "_parameters", "_buffers", "_modules", "_hook_options", "_state_hooks":
            object.__setattr__(self, name, {})
        for name in _calls.Hooks.KINDS:
            object.__setattr__(self, name, OrderedDict())
        object.__setattr__(self, "_passing", set())  # buffers that are no part of the state
        object.__setattr__(self, "training", True)

    # ---- members

    def __setattr__(self, name, value):
        own = self.__dict__
        if "_parameters" not in own:
            if isinstance(value, (Parameter, Module)):
                kind = "parameters" if isinstance(value, Parameter) else "module"
                raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
            return object.__setattr__(self, name, value)
        kept = self._parameters, self._buffers, self._modules
        place = (
            self._parameters
            if isinstance(value, Parameter)
            else self._modules
            if isinstance(value, Module)
            else next((k for k in kept if name in k), None)
        )
        if place is None:
            return object.__setattr__(self, name, value)
        if name in self._parameters and place is self._parameters and not isinstance(value, (Parameter, type(None))):
            raise TypeError(f"cannot assign '{_type_name(value)}' as parameter '{name}' (Parameter or None expected)")
        if name in self._buffers and place is self._buffers and not isinstance(value, (_core.ndarray, type(None))):
            raise TypeError(f"cannot assign '{_type_name(value)}' as buffer '{name}' (array or None expected)")
        if name in self._modules and place is self._modules and not isinstance(value, (Module, type(None))):
            raise TypeError(f"cannot assign '{_type_name(value)}' as child module '{name}' (Module or None expected)")
        own.pop(name, None)
        for other in kept:
            if other is not place:
                other.pop(name, None)
        place[name] = value

    def __delattr__(self, name):
        for place in self._parameters, self._buffers, self._modules:
            if name in place:
                del place[name]
                self._passing.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*super().__dir__(), *self._parameters, *self._buffers, *self._modules})

    def _check_name(self, what, name):
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and not any(name in m for m in (self._parameters, self._buffers, self._modules)):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name, param):
        """Add a parameter.

        Parameters
        ----------
        name : str
            The name.
        param : Parameter or None
            None: there could be one, but is not.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.Module()
        >>> m.register_parameter("w", tt.nn.Parameter([1.0]))
        >>> [name for name, _ in m.named_parameters()]
        ['w']
        """
        self._check_name("parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (Parameter or None required)"
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add an array that is no parameter, as running means are.

        Parameters
        ----------
        name : str
            The name.
        tensor : ndarray or None
            None: there could be one, but is not.
        persistent : bool
            Whether it is part of the state.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.Module()
        >>> m.register_buffer("mean", tt.zeros(1))
        >>> list(m.state_dict())
        ['mean']
        """
        self._check_name("buffer", name)
        if tensor is not None and not isinstance(tensor, _core.ndarray):
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (array or None required)")
        self._buffers[name] = tensor
        (self._passing.discard if persistent else self._passing.add)(name)

    def add_module(self, name, module):
        """Add a module.

        Parameters
        ----------
        name : str
            The name.
        module : Module or None
            The module.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.Module()
        >>> m.add_module("first", tt.nn.ReLU())
        >>> m.first
        ReLU()
        """
        self._check_name("module", name)
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target):
        """A module by its path.

        Parameters
        ----------
        target : str
            Names with points between.

        Returns
        -------
        Module
            The module.

        Examples
        --------
        >>> tt.nn.Sequential(tt.nn.ReLU()).get_submodule("0")
        ReLU()
        """
        found = self
        for name in target.split(".") if target else ():
            found = getattr(found, name, None)
            if not isinstance(found, Module):
                raise AttributeError(f"{type(self).__name__} has no module `{target}`")
        return found

    def set_submodule(self, target, module, strict=False):
        """Put a module in the place of another, by its path.

        Parameters
        ----------
        target : str
            Names with points between.
        module : Module
            The module.
        strict : bool
            Whether there has to be one.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.Sequential(tt.nn.ReLU())
        >>> m.set_submodule("0", tt.nn.Tanh())
        >>> m[0]
        Tanh()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if not isinstance(getattr(parent, name, module), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """A parameter by its path.

        Parameters
        ----------
        target : str
            Names with points between.

        Returns
        -------
        Parameter
            The parameter.

        Examples
        --------
        >>> tt.nn.Sequential(tt.nn.Linear(2, 3)).get_parameter("0.bias").shape
        (3,)
        """
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no parameter `{target}`")
        return found

    def get_buffer(self, target):
        """A buffer by its path.

        Parameters
        ----------
        target : str
            Names with points between.

        Returns
        -------
        ndarray
            The buffer.

        Examples
        --------
        >>> tt.nn.BatchNorm1d(2).get_buffer("running_mean").tolist()
        [0.0, 0.0]
        """
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no buffer `{target}`")
        return found

    # ---- walks

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all below it, with their paths.

        Parameters
        ----------
        memo : set of Module
            Those that have been seen; None: none.
        prefix : str
            What stands before the paths.
        remove_duplicate : bool
            Whether a module that is met twice is given once.

        Returns
        -------
        iterator of (str, Module)
            Paths and modules.

        Examples
        --------
        >>> [name for name, _ in tt.nn.Sequential(tt.nn.ReLU()).named_modules()]
        ['', '0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _named(name, prefix), remove_duplicate)

    def modules(self):
        """This module and all below it.

        Returns
        -------
        iterator of Module
            The modules.

        Examples
        --------
        >>> len(list(tt.nn.Sequential(tt.nn.ReLU(), tt.nn.ReLU()).modules()))
        3
        """
        return (module for _, module in self.named_modules())

    def named_children(self):
        """The modules right below, with their names.

        Returns
        -------
        iterator of (str, Module)
            Names and modules.

        Examples
        --------
        >>> list(tt.nn.Sequential(tt.nn.ReLU()).named_children())
        [('0', ReLU())]
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The modules right below.

        Returns
        -------
        iterator of Module
            The modules.

        Examples
        --------
        >>> list(tt.nn.Sequential(tt.nn.ReLU()).children())
        [ReLU()]
        """
        return (module for _, module in self.named_children())

    def _walk(self, members, prefix, recurse, remove_duplicate):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in getattr(module, members).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield _named(name, path), value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """The parameters with their paths.

        Parameters
        ----------
        prefix : str
            What stands before the paths.
        recurse : bool
            Whether those of modules below are among them.
        remove_duplicate : bool
            Whether one that is met twice is given once.

        Returns
        -------
        iterator of (str, Parameter)
            Paths and parameters.

        Examples
        --------
        >>> [name for name, _ in tt.nn.Linear(2, 3).named_parameters()]
        ['weight', 'bias']
        """
        return self._walk("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters, each once.

        Parameters
        ----------
        recurse : bool
            Whether those of modules below are among them.

        Returns
        -------
        iterator of Parameter
            The parameters.

        Examples
        --------
        >>> sum(p.size for p in tt.nn.Linear(2, 3).parameters())
        9
        """
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Buffers with their paths.

        Parameters
        ----------
        prefix : str
            What stands before the paths.
        recurse : bool
            Whether those of modules below are among them.
        remove_duplicate : bool
            Whether one that is met twice is given once.

        Returns
        -------
        iterator of (str, ndarray)
            Paths and buffers.

        Examples
        --------
        >>> [name for name, _ in tt.nn.BatchNorm1d(2).named_buffers()]
        ['running_mean', 'running_var', 'num_batches_tracked']
        """
        return self._walk("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """Buffers, each once.

        Parameters
        ----------
        recurse : bool
            Whether those of modules below are among them.

        Returns
        -------
        iterator of ndarray
            The buffers.

        Examples
        --------
        >>> len(list(tt.nn.BatchNorm1d(2).buffers()))
        3
        """
        return (b for _, b in self.named_buffers(recurse=recurse))

    def apply(self, fn):
        """Call a function with every module, those below first.

        Parameters
        ----------
        fn : callable
            Gets the module.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Sequential(tt.nn.ReLU()).apply(lambda m: print(type(m).__name__))
        ReLU
        Sequential
        Sequential(
          (0): ReLU()
        )
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- calls

    def forward(self, *args, **kwargs):
        """What the module computes; classes have their own.

        Parameters
        ----------
        *args : object
            What is given.
        **kwargs : object
            What is given by name.

        Returns
        -------
        object
            The result.

        Examples
        --------
        >>> tt.nn.ReLU().forward(tt.array([-1.0, 1.0]))
        array([0., 1.])
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def _add_hook(self, kind, hook, prepend, **options):
        told = tuple(name for name, value in options.items() if value)
        return _calls.Handle(getattr(self, kind), hook, self._hook_options, told, prepend)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call a function before forward.

        Parameters
        ----------
        hook : callable
            Gets the module and its arguments; gives others, or None.
        prepend : bool
            Whether it is called before the hooks that are there.
        with_kwargs : bool
            Whether it gets the arguments by name too, and gives a pair.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m = tt.nn.ReLU()
        >>> handle = m.register_forward_pre_hook(lambda module, args: (-args[0],))
        >>> m(tt.array([-1.0, 1.0]))
        array([1., 0.])
        """
        return self._add_hook("_forward_pre_hooks", hook, prepend, with_kwargs=with_kwargs)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call a function after forward.

        Parameters
        ----------
        hook : callable
            Gets the module, its arguments and its result; gives another one, or None.
        prepend : bool
            Whether it is called before the hooks that are there.
        with_kwargs : bool
            Whether it gets the arguments by name too, before the result.
        always_call : bool
            Whether it is called where forward failed, too.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m = tt.nn.ReLU()
        >>> handle = m.register_forward_hook(lambda module, args, result: result + 10)
        >>> m(tt.array([-1.0, 1.0]))
        array([10., 11.])
        """
        return self._add_hook("_forward_hooks", hook, prepend, with_kwargs=with_kwargs, always_call=always_call)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call a function on the way back, when the gradients of the result are known.

        Parameters
        ----------
        hook : callable
            Gets the module and a tuple with a gradient for each result; gives others, or None.
        prepend : bool
            Whether it is called before the hooks that are there.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m, x = tt.nn.ReLU(), tt.ones(2).requires_grad_()
        >>> handle = m.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 3,))
        >>> m(x).sum().backward()
        >>> x.grad
        array([3., 3.])
        """
        return self._add_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call a function on the way back, when the gradients of the arguments are known.

        Parameters
        ----------
        hook : callable
            Gets the module, a tuple with a gradient for each argument (None: there is none) and one with those of the
            results; gives others for the arguments, or None.
        prepend : bool
            Whether it is called before the hooks that are there.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m, x = tt.nn.ReLU(), tt.ones(2).requires_grad_()
        >>> handle = m.register_full_backward_hook(lambda module, into, out: print(into[0], out[0]))
        >>> m(x).sum().backward()
        [1. 1.] [1. 1.]
        """
        return self._add_hook("_backward_hooks", hook, prepend)

    # ---- state

    def state_dict(self, *, prefix="", keep_vars=False):
        """All parameters and buffers by their paths, without their history.

        Parameters
        ----------
        prefix : str
            What stands before the paths.
        keep_vars : bool
            Whether parameters themselves are in it.

        Returns
        -------
        dict
            Paths and arrays.

        Examples
        --------
        >>> list(tt.nn.Linear(2, 3).state_dict())
        ['weight', 'bias']
        """
        made = OrderedDict()
        self._save(made, prefix, keep_vars)
        return made

    def _save(self, made, prefix, keep_vars):
        self._call_state_hooks("before_saving", prefix, keep_vars)
        for name, value in self._members():
            made[prefix + name] = value if keep_vars else _core.detach(value)
        if self._has_extra_state():
            made[prefix + _EXTRA] = self.get_extra_state()
        for name, module in self._modules.items():
            if module is not None:
                module._save(made, f"{prefix}{name}.", keep_vars)
        self._call_state_hooks("after_saving", made, prefix, {})

    def _members(self):
        """The parameters and buffers of this module that are part of the state."""
        both = itertools.chain(self._parameters.items(), self._buffers.items())
        return [(name, value) for name, value in both if value is not None and name not in self._passing]

    def _has_extra_state(self):
        return type(self).get_extra_state is not Module.get_extra_state

    def get_extra_state(self):
        """What else is part of the state; a subclass that has something has this method and set_extra_state.

        Returns
        -------
        object
            It.

        Examples
        --------
        >>> class Counted(tt.nn.Module):
        ...     n = 3
        ...     def get_extra_state(self):
        ...         return self.n
        ...     def set_extra_state(self, state):
        ...         self.n = state
        >>> dict(Counted().state_dict())
        {'_extra_state': 3}
        """
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        """Take what get_extra_state() gave.

        Parameters
        ----------
        state : object
            It.

        Returns
        -------
        None

        Examples
        --------
        >>> class Counted(tt.nn.Module):
        ...     def get_extra_state(self):
        ...         return 3
        ...     def set_extra_state(self, state):
        ...         print("read", state)
        >>> Counted().load_state_dict({"_extra_state": 4})
        read 4
        <All keys matched successfully>
        """
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def _add_state_hook(self, when, hook):
        return _calls.Handle(self._state_hooks.setdefault(when, OrderedDict()), hook)

    def _call_state_hooks(self, when, *args):
        if self._state_hooks:
            for hook in list(self._state_hooks.get(when, {}).values()):
                if hook(self, *args) is not None:
                    raise RuntimeError("hooks of states change what they are given; they must not return anything")

    def register_state_dict_pre_hook(self, hook):
        """Call a function before the module's state is made.

        Parameters
        ----------
        hook : callable
            Gets the module, what stands before its names, and keep_vars.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m = tt.nn.Linear(2, 3)
        >>> handle = m.register_state_dict_pre_hook(lambda module, prefix, keep_vars: print("saved"))
        >>> list(m.state_dict())
        saved
        ['weight', 'bias']
        """
        return self._add_state_hook("before_saving", hook)

    def register_state_dict_post_hook(self, hook):
        """Call a function with the module's state, which it may change.

        Parameters
        ----------
        hook : callable
            Gets the module, the state, what stands before its names, and an empty dict.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m = tt.nn.Linear(2, 3)
        >>> handle = m.register_state_dict_post_hook(lambda module, state, prefix, _: state.__delitem__("bias"))
        >>> list(m.state_dict())
        ['weight']
        """
        return self._add_state_hook("after_saving", hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call a function with a state before it is read; it may change it.

        Parameters
        ----------
        hook : callable
            Gets the module, a copy of the state, what stands before the module's names, an empty dict, strict, and
            lists of missing and unexpected names and of errors.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> def renamed(module, state, *_):
        ...     state["bias"] = state.pop("beta")
        >>> m = tt.nn.Linear(1, 1)
        >>> handle = m.register_load_state_dict_pre_hook(renamed)
        >>> m.load_state_dict({"weight": tt.ones((1, 1)), "beta": tt.ones(1)})
        <All keys matched successfully>
        """
        return self._add_state_hook("before_loading", hook)

    def register_load_state_dict_post_hook(self, hook):
        """Call a function after a state was read.

        Parameters
        ----------
        hook : callable
            Gets the module, and the missing and unexpected names, which it may change.

        Returns
        -------
        object
            Its remove() takes the hook away.

        Examples
        --------
        >>> m = tt.nn.Linear(1, 1)
        >>> handle = m.register_load_state_dict_post_hook(lambda module, names: names.missing_keys.clear())
        >>> m.load_state_dict({})
        <All keys matched successfully>
        """
        return self._add_state_hook("after_loading", hook)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Write the arrays of a state into parameters and buffers, all or none.

        Parameters
        ----------
        state_dict : dict
            Paths and arrays.
        strict : bool
            Whether a name that is missing, or too many, is an error.
        assign : bool
            Whether the arrays take the place of those that are there, type and device too.

        Returns
        -------
        IncompatibleKeys
            Names that were missing or too many.

        Examples
        --------
        >>> a, b = tt.nn.Linear(2, 3), tt.nn.Linear(2, 3)
        >>> a.load_state_dict(b.state_dict())
        <All keys matched successfully>
        >>> tt.all(a.weight == b.weight).item()
        True
        """
        state, wrong, names = OrderedDict(state_dict), [], IncompatibleKeys([], [])
        for path, module in list(self.named_modules(remove_duplicate=False)):
            module._before_loading(_named("", path), state)
            module._call_state_hooks("before_loading", state, _named("", path), {}, strict, *names, wrong)
        own, others = self._places()
        names.missing_keys.extend(name for name in (*own, *others) if name not in state)
        names.unexpected_keys.extend(name for name in state if name not in own and name not in others)
        given = {name: _as_array(state[name], name) for name in own if name in state}
        misfits = strict and any(names)  # which those who watch may explain
        if misfits:
            self._end_loading(names)
        wrong = [*(_names_amiss(names) if strict else ()), *_shapes_amiss(given, own), *wrong]
        if wrong:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(wrong))
            )
        with autograd.no_grad():
            for name, value in given.items():
                if assign:
                    self._assign(name, value)
                else:
                    own[name][...] = value
        for name, module in others.items():
            if name in state:
                module.set_extra_state(state[name])
        if not misfits:
            self._end_loading(names)
        return names

    def _places(self):
        """The arrays of the state by their paths, and the modules that have something else."""
        own, others = {}, {}
        for path, module in self.named_modules(remove_duplicate=False):
            own.update((_named(name, path), value) for name, value in module._members())
            if module._has_extra_state():
                others[_named(_EXTRA, path)] = module
        return own, others

    def _end_loading(self, names):
        for module in reversed(list(self.modules())):
            module._call_state_hooks("after_loading", names)

    def _before_loading(self, path, state):
        """Called before a state, in which this module's names begin with a path, is compared with what is here."""

    def _assign(self, path, value):
        before, _, name = path.rpartition(".")
        module = self.get_submodule(before)
        if name in module._parameters:
            value = Parameter(value, module._parameters[name].requires_grad)
            module._parameters[name] = value
        else:
            module._buffers[name] = value

    # ---- modes, types, places

    def train(self, mode=True):
        """Let modules that differ in training (dropout, batch norm) train, or not.

        Parameters
        ----------
        mode : bool
            Whether there is training.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Dropout().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self):
        """The end of training: train(False).

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Dropout().eval()(tt.ones(2))
        array([1., 1.])
        """
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Ask for gradients of all parameters, or not.

        Parameters
        ----------
        requires_grad : bool
            Whether gradients are asked for.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).requires_grad_(False).weight.requires_grad
        False
        """
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool
            Whether there are none afterwards, or zeros.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.Linear(1, 1)
        >>> m(tt.ones(1, dtype="float32")).sum().backward()
        >>> m.zero_grad()
        >>> m.weight.grad is None
        True
        """
        for p in self.parameters():
            if set_to_none or p.grad is None:
                p.grad = None
            else:
                p.grad.zero_()

    def _apply(self, fn):
        """Replace every parameter and buffer by fn of it, where that is another array."""
        changed = {}
        for module in self.modules():
            for members in module._parameters, module._buffers:
                for name, value in members.items():
                    if value is None:
                        continue
                    if id(value) not in changed:
                        changed[id(value)] = value, _converted(value, fn)
                    members[name] = changed[id(value)][1]
        return self

    def to(self, device=None, dtype=None):
        """Move parameters and buffers to a device, and floats to a type. Parameters become new ones, so optimisers are
        made afterwards.

        Parameters
        ----------
        device : Device or str
            The device; None: where they are. A type of elements may stand here.
        dtype : dtype
            The type of floats; None: as they are.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).to(tt.float64).weight.dtype
        dtype('float64')
        """
        if device is not None and dtype is None:
            try:
                device, dtype = None, _core.dtype(device)
            except TypeError:
                pass

        def convert(a):
            if dtype is not None and a.dtype.kind == "f" and a.dtype != dtype:
                a = a.astype(dtype)
            return a if device is None else a.to(device)

        return self._apply(convert)

    def cpu(self):
        """Move parameters and buffers to the host.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).cpu().weight.shape
        (1, 1)
        """
        return self.to("cpu")

    def cuda(self, device=None):
        """Move parameters and buffers to a GPU.

        Parameters
        ----------
        device : int
            Which one; None: the first.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> model = tt.nn.Linear(1, 1)
        >>> if any(d.type == "cuda" for d in tt.devices()):
        ...     model = model.cuda()
        """
        return self.to(f"cuda:{device or 0}")

    def float(self):
        """Make floats float32.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).float().weight.dtype
        dtype('float32')
        """
        return self.to(dtype=_core.float32)

    def double(self):
        """Make floats float64.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).double().weight.dtype
        dtype('float64')
        """
        return self.to(dtype=_core.float64)

    def half(self):
        """Make floats float16.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> tt.nn.Linear(1, 1).half().weight.dtype
        dtype('float16')
        """
        return self.to(dtype=_core.float16)

    def bfloat16(self):
        """Make floats bfloat16.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> str(tt.nn.Linear(1, 1).bfloat16().weight.dtype)
        'bfloat16'
        """
        return self.to(dtype=_core.bfloat16)

    # ---- printing

    def extra_repr(self):
        """What stands between the brackets of the printed module; classes have their own.

        Returns
        -------
        str
            The words.

        Examples
        --------
        >>> tt.nn.Linear(2, 3).extra_repr()
        'in_features=2, out_features=3, bias=True'
        """
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + _indented(repr(module)) for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = lines + children
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(body) + "\n" if body else "") + ")"


def _indented(text):
    return text.replace("\n", "\n  ")


def _type_name(value):
    return type(value).__name__


def _names_amiss(names):
    words = []
    for what, which in ("Unexpected", names.unexpected_keys), ("Missing", names.missing_keys):
        if which:
            words.append("{} key(s) in state_dict: {}. ".format(what, ", ".join(f'"{k}"' for k in which)))
    return words


def _shapes_amiss(given, own):
    return [
        f"size mismatch for {name}: copying a param with shape {value.shape} from checkpoint, the shape in current "
        f"model is {own[name].shape}."
        for name, value in given.items()
        if value.shape != own[name].shape
    ]


def _as_array(value, name):
    if isinstance(value, _core.ndarray):
        return value.detach()
    try:
        return _core.asarray(value)
    except TypeError:
        raise RuntimeError(f'"{name}" of the state is no array but {_type_name(value)}') from None


def _converted(value, fn):
    made = fn(value.detach())
    if made.dtype == value.dtype and made.device == value.device:
        return value
    return type(value)(made, value.requires_grad) if isinstance(value, Parameter) else made


# ---- containers


class Sequential(Module):
    """Modules one after the other.

    Parameters
    ----------
    *args : Module
        The modules, or one dict of them by name.

    Examples
    --------
    >>> tt.nn.Sequential(tt.nn.Linear(2, 3), tt.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args):
        super().__init__()
        named = args[0] if len(args) == 1 and isinstance(args[0], dict) else {str(k): m for k, m in enumerate(args)}
        for name, module in named.items():
            self.add_module(name, module)

    def _name_at(self, index):
        names = list(self._modules)
        if not -len(names) <= index < len(names):
            raise IndexError(f"index {index} is out of range")
        return names[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            del self._modules[name]
        left = list(self._modules.values())
        self._modules.clear()
        self._modules.update((str(k), module) for k, module in enumerate(left))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Add a module at the end.

        Parameters
        ----------
        module : Module
            The module.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> len(tt.nn.Sequential().append(tt.nn.ReLU()))
        1
        """
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add modules at the end.

        Parameters
        ----------
        modules : sequence of Module
            The modules.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> len(tt.nn.Sequential().extend([tt.nn.ReLU(), tt.nn.ReLU()]))
        2
        """
        for module in modules:
            self.append(module)
        return self

    def forward(self, input):
        """The last module's result.

        Parameters
        ----------
        input : object
            What the first module gets.

        Returns
        -------
        object
            What the last one gives.

        Examples
        --------
        >>> tt.nn.Sequential(tt.nn.ReLU()).forward(tt.array([-1.0, 1.0]))
        array([0., 1.])
        """
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(Module):
    """Modules in a list, whose parameters are found.

    Parameters
    ----------
    modules : iterable of Module
        The modules; None: none.

    Examples
    --------
    >>> len(tt.nn.ModuleList([tt.nn.ReLU() for _ in range(3)]))
    3
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __repr__(self):
        """Neighbours that are printed alike are one line, with their number."""
        groups = []  # first, last, text
        for i, text in enumerate(map(repr, self)):
            if groups and groups[-1][2] == text:
                groups[-1][1] = i
            else:
                groups.append([i, i, text])
        body = "".join(
            f"\n  ({i}): {_indented(text)}" if i == last else f"\n  ({i}-{last}): {last - i + 1} x {_indented(text)}"
            for i, last, text in groups
        )
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"

    _name_at = Sequential._name_at
    __setitem__ = Sequential.__setitem__
    __delitem__ = Sequential.__delitem__
    __len__ = Sequential.__len__
    __iter__ = Sequential.__iter__
    append = Sequential.append
    extend = Sequential.extend

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name_at(index)]

    def __iadd__(self, modules):
        return self.extend(modules)

    def insert(self, index, module):
        """Add a module before another.

        Parameters
        ----------
        index : int
            The place of the other.
        module : Module
            The module.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.ModuleList([tt.nn.ReLU()])
        >>> m.insert(0, tt.nn.Tanh())
        >>> m[0]
        Tanh()
        """
        all_of_them = list(self)
        all_of_them.insert(index, module)
        self._modules.clear()
        self.extend(all_of_them)


class ModuleDict(Module):
    """Modules by name, whose parameters are found.

    Parameters
    ----------
    modules : dict of Module
        The modules; None: none.

    Examples
    --------
    >>> tt.nn.ModuleDict({"relu": tt.nn.ReLU()})["relu"]
    ReLU()
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    __len__ = Sequential.__len__

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        """The names.

        Returns
        -------
        iterable of str
            The names.

        Examples
        --------
        >>> list(tt.nn.ModuleDict({"relu": tt.nn.ReLU()}).keys())
        ['relu']
        """
        return self._modules.keys()

    def items(self):
        """Names and modules.

        Returns
        -------
        iterable of (str, Module)
            Names and modules.

        Examples
        --------
        >>> list(tt.nn.ModuleDict({"relu": tt.nn.ReLU()}).items())
        [('relu', ReLU())]
        """
        return self._modules.items()

    def values(self):
        """The modules.

        Returns
        -------
        iterable of Module
            The modules.

        Examples
        --------
        >>> list(tt.nn.ModuleDict({"relu": tt.nn.ReLU()}).values())
        [ReLU()]
        """
        return self._modules.values()

    def update(self, modules):
        """Add modules, in the place of those of the same names.

        Parameters
        ----------
        modules : dict of Module
            The modules, or pairs of names and modules.

        Returns
        -------
        None

        Examples
        --------
        >>> m = tt.nn.ModuleDict()
        >>> m.update({"relu": tt.nn.ReLU()})
        >>> len(m)
        1
        """
        for key, module in dict(modules).items():
            self.add_module(key, module)

    def pop(self, key):
        """Take a module out.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        Module
            The module.

        Examples
        --------
        >>> tt.nn.ModuleDict({"relu": tt.nn.ReLU()}).pop("relu")
        ReLU()
        """
        return self._modules.pop(key)


class ParameterList(Module):
    """A list of parameters, which are found.

    Parameters
    ----------
    values : iterable of array_like
        Their values; None: none.

    Examples
    --------
    >>> len(list(tt.nn.ParameterList([tt.ones(2), tt.ones(3)]).parameters()))
    2
    """

    def __init__(self, values=None):
        super().__init__()
        for value in values or ():
            self.append(value)

    def __getitem__(self, index):
        return list(self._parameters.values())[index]

    def __setitem__(self, index, value):
        name = list(self._parameters)[index]
        self._parameters[name] = value if isinstance(value, Parameter) else Parameter(value)

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def append(self, value):
        """Add a parameter at the end.

        Parameters
        ----------
        value : array_like
            Its values, or a parameter.

        Returns
        -------
        Module
            This one.

        Examples
        --------
        >>> len(tt.nn.ParameterList().append([1.0]))
        1
        """
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def extra_repr(self):
        """A line for each parameter.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> tt.nn.ParameterList([tt.ones(2)]).extra_repr()
        '(0): Parameter containing: [float64 of size 2]'
        """
        lines = (
            f"({k}): Parameter containing: [{p.dtype} of size {'x'.join(map(str, p.shape))}]"
            for k, p in self._parameters.items()
        )
        return "\n".join(lines)


class ParameterDict(Module):
    """A dictionary of parameters, which are found; what is no array stays as it is.

    Parameters
    ----------
    parameters : dict
        Names and values; None: none.

    Examples
    --------
    >>> list(tt.nn.ParameterDict({"a": tt.nn.Parameter([1.0])}).state_dict())
    ['a']
    """

    def __init__(self, parameters=None):
        super().__init__()
        object.__setattr__(self, "_names", {})  # in order
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        if key not in self._names:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{_type_name(key)}')."
            )
        self._names[key] = None
        if isinstance(value, _core.ndarray) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)

    def __delitem__(self, key):
        del self._names[key]
        delattr(self, key)

    def __len__(self):
        return len(self._names)

    def __iter__(self):
        return iter(self._names)

    def __reversed__(self):
        return reversed(list(self._names))

    def __contains__(self, key):
        return key in self._names

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """Another one of the same parameters.

        Returns
        -------
        ParameterDict
            It.

        Examples
        --------
        >>> len(tt.nn.ParameterDict({"a": [1.0]}).copy())
        1
        """
        return ParameterDict({name: self[name] for name in self._names})

    def keys(self):
        """The names.

        Returns
        -------
        iterable of str
            The names.

        Examples
        --------
        >>> list(tt.nn.ParameterDict({"a": tt.ones(1)}).keys())
        ['a']
        """
        return self._names.keys()

    def values(self):
        """The parameters.

        Returns
        -------
        iterable
            The parameters.

        Examples
        --------
        >>> len(list(tt.nn.ParameterDict({"a": tt.ones(1)}).values()))
        1
        """
        return (self[name] for name in self._names)

    def items(self):
        """Names and parameters.

        Returns
        -------
        iterable of (str, object)
            Names and parameters.

        Examples
        --------
        >>> [name for name, p in tt.nn.ParameterDict({"a": tt.ones(1)}).items()]
        ['a']
        """
        return ((name, self[name]) for name in self._names)

    def update(self, parameters):
        """Add parameters, in the place of those of the same names.

        Parameters
        ----------
        parameters : dict
            Names and values, or pairs of them.

        Returns
        -------
        None

        Examples
        --------
        >>> d = tt.nn.ParameterDict()
        >>> d.update({"a": tt.ones(1)})
        >>> len(d)
        1
        """
        for key, value in dict(parameters).items():
            self[key] = value

    def pop(self, key):
        """Take a parameter out.

        Parameters
        ----------
        key : str
            Its name.

        Returns
        -------
        object
            The parameter.

        Examples
        --------
        >>> tt.nn.ParameterDict({"a": tt.ones(1)}).pop("a").shape
        (1,)
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Take the last parameter out.

        Returns
        -------
        (str, object)
            Its name and itself.

        Examples
        --------
        >>> tt.nn.ParameterDict({"a": tt.ones(1)}).popitem()[0]
        'a'
        """
        key = next(reversed(self._names))
        return key, self.pop(key)

    def get(self, key, default=None):
        """A parameter, or something else where there is none.

        Parameters
        ----------
        key : str
            Its name.
        default : object
            What else.

        Returns
        -------
        object
            The parameter.

        Examples
        --------
        >>> tt.nn.ParameterDict().get("a", 3)
        3
        """
        return self[key] if key in self._names else default

    def setdefault(self, key, default=None):
        """A parameter, which is added where there is none.

        Parameters
        ----------
        key : str
            Its name.
        default : object
            Its value then.

        Returns
        -------
        object
            The parameter.

        Examples
        --------
        >>> tt.nn.ParameterDict().setdefault("a", tt.ones(1)).shape
        (1,)
        """
        if key not in self._names:
            self[key] = default
        return self[key]

    def fromkeys(self, keys, default=None):
        """Another one with one value for all names.

        Parameters
        ----------
        keys : iterable of str
            The names.
        default : object
            The value.

        Returns
        -------
        ParameterDict
            It.

        Examples
        --------
        >>> len(tt.nn.ParameterDict().fromkeys("ab", tt.ones(1)))
        2
        """
        return ParameterDict(dict.fromkeys(keys, default))

    def clear(self):
        """Take all parameters out.

        Returns
        -------
        None

        Examples
        --------
        >>> d = tt.nn.ParameterDict({"a": tt.ones(1)})
        >>> d.clear()
        >>> len(d)
        0
        """
        for key in list(self._names):
            del self[key]

    def extra_repr(self):
        """A line for each parameter.

        Returns
        -------
        str
            The lines.

        Examples
        --------
        >>> print(tt.nn.ParameterDict({"a": tt.ones(2)}).extra_repr())
          (a): Parameter containing: [float64 of size 2]
        """
        lines = []
        for name, p in self.items():
            if isinstance(p, _core.ndarray):
                lines.append(f"  ({name}): Parameter containing: [{p.dtype} of size {'x'.join(map(str, p.shape))}]")
            else:
                lines.append(f"  ({name}): Object of type: {_type_name(p)}")
        return "\n".join(lines)
