"""The fine-tuned file is run by a process without onax, which compares its scores."""

import subprocess
import sys

import numpy as np
import pytest

import onax as jax
import script_modules


def write(folder, factor):
    """A file that doubles, and scores of one that multiplies by a factor."""
    images = np.arange(6, dtype=np.float32).reshape(3, 2)
    jax.export.export(jax.jit(lambda x: x * 2))(images).save(folder / "ten_digits.onnx")
    np.savez(folder / "finetuned.npz", images=images, labels=np.array([1, 1, 0]), scores=images * factor)


@pytest.mark.parametrize("factor, said", [(2, "accuracy 66.67%"), (3, "exceeds")])
def test_scores(tmp_path, factor, said):
    write(tmp_path, factor)
    command = [sys.executable, str(script_modules.SCRIPTS / "demo" / "run_finetuned.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert said in done.stdout + done.stderr and done.returncode == (factor == 3)


def test_onax_in_the_process_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run_finetuned.py", "--out", str(tmp_path)])
    with script_modules.imported("demo", "run_finetuned") as modules:
        with pytest.raises(SystemExit, match="without onax"):
            modules.run_finetuned.main()
