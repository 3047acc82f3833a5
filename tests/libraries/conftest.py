import pytest
import tutti as tt


@pytest.fixture(params=[-1, 0], ids=["at_once", "recorded"])
def beside_jax(request):
    """float64 for JAX in tests that ask for it; they run with small work done at the call and with all recorded."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    tt.set_eager(request.param)
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)
    tt.set_eager(-1)
