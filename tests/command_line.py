"""A folder with a module and weights, in which commands run."""

import sys

import numpy as np

from onax._commands import export_main as main
from onax.export import load

NET = """
import jax_like
import onax as jax
import onax.numpy as jnp

def predict(params, x):
    for layer in params["layers"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x

def updated(params, x):
    return {"w": params["w"] - 0.1 * x}

def two(x, y):
    return {"sum": x + y, "product": x * y}

def counts(x):
    return jnp.cumsum(x), (x * 2).astype(jnp.int32)

def grow(x):
    return jax.lax.fori_loop(0, 3, lambda i, v: v + jnp.sin(v), x)

CALLS = []

def impure(x):
    CALLS.append(x)
    y = jnp.sin(x)
    return y + 1 if len(CALLS) == 1 else jnp.cos(y)
""".replace("import jax_like\n", "")

RNG = np.random.default_rng(0)
WEIGHTS = {
    "layers.0.w": RNG.normal(size=(8, 256)).astype(np.float32),
    "layers.0.b": np.zeros(256, np.float32),
    "layers.1.w": RNG.normal(size=(256, 4)).astype(np.float32),
    "layers.1.b": np.ones(4, np.float32),
}
X = RNG.normal(size=(5, 8)).astype(np.float32)


def wanted(x):
    """What `predict` gives."""
    for i in range(2):
        x = np.tanh(x @ WEIGHTS[f"layers.{i}.w"] + WEIGHTS[f"layers.{i}.b"])
    return x


def in_project(tmp_path, monkeypatch):
    """Yields the folder, which is the current one meanwhile."""
    (tmp_path / "net.py").write_text(NET)
    np.savez(tmp_path / "weights.npz", **WEIGHTS)
    np.savez(tmp_path / "inputs.npz", X)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    yield tmp_path
    sys.modules.pop("net", None)


def made(*arguments):
    """The artefact that the command writes for `predict`."""
    assert main(["export", "net.py:predict", *arguments, "--quiet", "-o", "p.onnx"]) == 0
    return load("p.onnx")
