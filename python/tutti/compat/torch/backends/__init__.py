"""torch.backends: switches that change nothing here, but for the precision of products."""

import tutti as _tt

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mps"]


class _Switches:
    """What programs set, and read back."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def is_available(self):
        return bool(self.__dict__.get("available"))

    def is_built(self):
        return self.is_available()


class _Products(_Switches):
    """cuda.matmul: allow_tf32 rounds factors to tf32."""

    def __setattr__(self, name, value):
        if name == "allow_tf32":
            _tt.set_matmul_precision("high" if value else "highest")
        self.__dict__[name] = value


_gpus = _tt.cuda.is_available()
cpu = _Switches(available=True)
mkl = _Switches(available=False)
mps = _Switches(available=False)
cudnn = _Switches(available=_gpus, enabled=True, benchmark=False, deterministic=True, allow_tf32=True)
cudnn.version = lambda: None
cuda = _Switches(available=_gpus, matmul=_Products(allow_tf32=False))
