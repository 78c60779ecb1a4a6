"""Calls of lax and scipy functions whose equations are not JAX's, and what real JAX answers: recorded values.

A line is an expression in the names of `names`.  Run by the Python that has real JAX, this file renews the recording:

    .venv-oracle/bin/python tests/lax_scipy_calls.py
"""

import gzip
import importlib
import json
import warnings
from pathlib import Path

import numpy as np

import numpy_calls
import recorded_versions

GOLDEN = Path(__file__).parent / "golden"
RECORDING = GOLDEN / "lax_scipy_calls.json.gz"
MODULES = {
    "special": "special", "stats": "stats", "signal": "signal", "linalg": "sparse.linalg", "optimize": "optimize",
    "ndimage": "ndimage", "interpolate": "interpolate", "vq": "cluster.vq", "transform": "spatial.transform",
}  # fmt: skip


def lines():
    """The table."""
    return (GOLDEN / "lax_scipy_calls.txt").read_text().splitlines()


def names(jax):
    """What the expressions speak of: modules by name, and arrays."""
    jnp = jax.numpy
    modules = {name: importlib.import_module(f"{jax.__name__}.scipy.{path}") for name, path in MODULES.items()}
    arrays = numpy_calls.operands(jnp)
    m = np.asarray(arrays["m"])
    more = {
        "f2": np.array([[3.0, 1, 2, 5], [1, 9, 0, 2], [7, 4, 6, 8]]),
        "p": m @ m.T + np.eye(4),
        "t": np.asarray(arrays["t"]).transpose(0, 2, 1),
        "x34": np.arange(12.0).reshape(3, 4),
        "q": np.array([[0.5, 1.0], [0.75, 1.75], [1.25, 0.25], [1.0, 2.0]]),
        "xs": np.array([-3.0, -1.25, -0.5, 0.25, 0.5, 1.5, 2.5, 5.0]),
        "pos": np.array([0.125, 0.5, 1.0, 1.5, 2.5, 4.0, 9.0]),
        "long": np.round(np.random.RandomState(1).randn(100) * 64) / 64,
        "rv": np.array([[0.25, -0.5, 0.75], [1.0, 2.0, -0.5], [0.125, 0, 0]]),
    }
    given = {name: jnp.asarray(np.asarray(x, np.float32)) for name, x in more.items()}
    given["at34"] = [jnp.array([-1.5, -0.25, 0.5, 1.25, 2.75, 5.0]), jnp.array([0.0, 0.25, 1.75, 2.25, 3.75, -4])]
    given["grid34"] = (jnp.array([0.0, 1, 3]), jnp.array([0.0, 2, 4, 5]))
    both = {**arrays, **given}
    np_shape = lambda shape: jnp.array([int(d) for d in shape])
    return {
        "jax": jax,
        "jnp": jnp,
        "lax": jax.lax,
        "np_shape": np_shape,
        **modules,
        "R": modules["transform"].Rotation,
        **both,
    }


def answer(line, known, run=lambda function: function()):
    """The arrays of a result, or its error; `run` calls the function of no arguments that the line is."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = run(eval(f"lambda: {line}", known))
            return [numpy_calls.plain(x) for x in known["jax"].tree.leaves(value)]
        except Exception as e:
            return numpy_calls.failure(e)


def close(got, want, bound):
    """Whether two plain results agree: equal dtypes and shapes, elements by the bound, relative to the largest."""
    if not isinstance(want, dict):
        return got == want
    if got["dtype"] != want["dtype"] or got["shape"] != want["shape"]:
        return False
    x, y = (np.array([float(v) for v in r["data"]]) for r in (got, want))
    bound = {"bfloat16": 8e-3, "float16": 2e-3}.get(want["dtype"], bound)
    size = np.abs(y[np.isfinite(y)]).max(initial=0)
    return np.allclose(x, y, rtol=10 * bound, atol=bound * min(size, 1), equal_nan=True)


def main():
    """Records the answers of the JAX at hand."""
    import jax

    known = names(jax)
    answers = {line: answer(line, known) for line in lines()}
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(answers).encode())
    recorded_versions.note(RECORDING, jax.__version__)
    print(f"{len(lines())} calls")


if __name__ == "__main__":
    main()
