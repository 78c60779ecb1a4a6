"""The demonstration in several processes has the losses of one, and leaves the same files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import processes

pytest.importorskip("sklearn", reason="the demo extra is not installed")
PROGRAM = Path(__file__).resolve().parents[3] / "scripts" / "demo" / "train_distributed.py"


@pytest.mark.slow
@pytest.mark.parametrize(("count", "model_parallel"), [(2, 1), (4, 2), (4, 4)])
def test_losses_of_one_process(tmp_path, count, model_parallel):
    one, several = tmp_path / "one", tmp_path / "several"
    subprocess.run([sys.executable, PROGRAM, "--out", one], check=True, capture_output=True)
    done = processes.run(count, PROGRAM, "--out", several, "--like", one, "--model-parallel", model_parallel)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} processes, mesh" in done.stdout and "55/55" in done.stderr
    assert sorted(path.name for path in several.iterdir()) == ["losses.npy", "predict.onnx", "weights.npz"]
    with np.load(one / "weights.npz") as wanted, np.load(several / "weights.npz") as found:
        for name in wanted:
            np.testing.assert_allclose(found[name], wanted[name], atol=1e-4)
