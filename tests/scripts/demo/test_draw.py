"""The drawing: a file, whatever was misread."""

import numpy as np
import pytest

import script_modules

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("wrong", [0, 1, 9])
def test_the_file(wrong, tmp_path, monkeypatch, capsys):
    labels = np.arange(20) % 10
    predicted = np.where(np.arange(20) < wrong, (labels + 1) % 10, labels)
    images = np.random.default_rng(0).random((20, 8, 8))
    np.savez(
        tmp_path / "reference.npz", test_images=images, test_labels=labels, predicted=predicted, accuracy=1 - wrong / 20
    )
    monkeypatch.setattr("sys.argv", ["draw.py", "--out", str(tmp_path)])
    with script_modules.imported("demo", "draw") as modules:
        modules.draw.main()
        modules.draw.plt.close("all")
    assert (tmp_path / "digits.png").read_bytes()[:4] == b"\x89PNG"
    assert "digits.png" in capsys.readouterr().out
