"""A function of the user's: its NumPy version, onax and the exported model compared."""

import json

import numpy as np

from onax._divergence import cli

MODULE = """
import onax.numpy as jnp

def same(x):
    return jnp.tanh(x) * 2

def helper(x, i):
    return x[i]

def reads(x):
    return {"y": helper(x, jnp.array([1, 7]))}

def narrow(x):
    return (x * 200).astype(jnp.int8).sum()
"""


def run_on(name, tmp_path, *arguments):
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    return cli.main(["--fn", f"{path}:{name}", *arguments])


def test_a_function_that_agrees(tmp_path, capsys):
    assert run_on("same", tmp_path, "--arg", "f32[3]") == 0
    assert "agree" in capsys.readouterr().out


def test_too_many_arguments(tmp_path, capsys):
    assert run_on("same", tmp_path, "--arg", "f32[3]", "--arg", "f32[3]") == cli.EXIT_FAILED
    assert "same(x) does not take 2 --arg" in capsys.readouterr().err


def test_a_function_that_reads_outside(tmp_path, capsys):
    assert run_on("reads", tmp_path, "--arg", "f32[5]") == cli.EXIT_DEPARTS
    out = capsys.readouterr().out
    assert "numpy raised IndexError" in out
    assert "why:" in out and "mine.py:" in out


def test_a_function_with_another_dtype_as_json(tmp_path, capsys):
    assert run_on("narrow", tmp_path, "--arg", "f32[5]", "--format", "json") == cli.EXIT_DEPARTS
    data = json.loads(capsys.readouterr().out)
    assert data["parted"] and data["results"][0]["types"]["eager"] == ["int32", []]
    assert any("numpy computes in int64" in remark for remark in data["results"][0]["remarks"])


def test_arguments_from_a_file(tmp_path, capsys):
    np.savez(tmp_path / "x.npz", np.array([0.5, 0.25], np.float32))
    assert run_on("same", tmp_path, "--example", str(tmp_path / "x.npz")) == 0
    assert "float32[2]" in capsys.readouterr().out


def test_a_numpy_version_of_its_own(tmp_path, capsys):
    (tmp_path / "other.py").write_text("import numpy as np\n\ndef same(x):\n    return np.tanh(x) * 3\n")
    code = run_on("same", tmp_path, "--arg", "f32[3]", "--numpy", f"{tmp_path / 'other.py'}:same")
    assert code == cli.EXIT_DEPARTS
    assert "numpy differs by" in capsys.readouterr().out
