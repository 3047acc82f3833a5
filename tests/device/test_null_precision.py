"""Files of weights and mixed precision on the simulated device: what they are on the host."""

from null_program import run_program

PROGRAM = """
import os, tempfile
import numpy as np, tutti as tt
from tutti import amp, safetensors
from tutti.nn import functional

path = os.path.join(tempfile.mkdtemp(), "file")
"""


def test_files():
    run_program(
        PROGRAM,
        """
        x = tt.asarray(np.arange(12.0).reshape(3, 4), device="null:0")
        safetensors.save_file({"x": x, "turned": x.T, "computed": x * 2}, path)
        for device in ("cpu", "null:0"):
            back = safetensors.load_file(path, device=device)
            assert back["turned"].tolist() == x.T.tolist() and back["computed"].tolist() == (x * 2).tolist()
            assert {str(a.device).partition(":")[0] for a in back.values()} == {device.partition(":")[0]}
            with safetensors.safe_open(path, device=device) as file:
                assert file.get_slice("x")[1:, 2].tolist() == [6, 10]
        tt.save_checkpoint(path, {"x": x, "n": 1})
        kept = tt.load_checkpoint(path, device="null:0")
        assert str(kept["x"].device) == "null:0" and kept["x"].tolist() == x.tolist()
        """,
    )


def test_scaled_steps():
    run_program(
        PROGRAM,
        """
        def train(device, slopes):
            w = tt.asarray(np.full((8, 8), 0.5, dtype="float32"), device=device).requires_grad_()
            x = tt.asarray(np.linspace(0, 1, 64, dtype="float32").reshape(8, 8), device=device)
            optimizer, scaler = tt.optim.Adam([w], lr=0.1), amp.GradScaler(init_scale=256.0)
            for slope in slopes:
                optimizer.zero_grad()
                with amp.autocast():
                    y = x @ w
                assert y.dtype == "bfloat16" and y.device == w.device
                loss = functional.mse_loss(y.astype("float32"), x) * slope
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            return w.detach().numpy(), scaler.get_scale()

        slopes = [1.0, float("inf"), 2.0, float("nan"), 1.0]
        here, scale = train("cpu", slopes)
        there, other = train("null:0", slopes)
        assert scale == other == 64
        np.testing.assert_allclose(here, there, rtol=1e-2)
        np.testing.assert_allclose(here, train("cpu", [1.0, 2.0, 1.0])[0], rtol=0)
        """,
    )
