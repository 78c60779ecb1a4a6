"""Calls of functions of jax.experimental, and what real JAX answers: recorded values.

A line is an expression in the names of `names`.  Run by the Python that has real JAX, this file renews the recording:

    .venv-oracle/bin/python tests/experimental_calls.py
"""

import gzip
import importlib
import json
import sys

import numpy as np

import lax_scipy_calls
import recorded_versions

RECORDING = lax_scipy_calls.GOLDEN / "experimental_calls.json.gz"
TABLE = lax_scipy_calls.GOLDEN / "experimental_calls.txt"
MODULES = ("jet", "rnn", "sparse")


def lines():
    """The table."""
    return TABLE.read_text().splitlines()


def names(jax):
    """What the expressions speak of: modules, and arrays with many zeros."""
    jnp = jax.numpy
    importlib.import_module(f"{jax.__name__}.experimental.sparse.linalg")
    modules = {name: importlib.import_module(f"{jax.__name__}.experimental.{name}") for name in MODULES}
    arrays = {
        "x": np.linspace(0.125, 1, 4).reshape(2, 2),
        "m": [[0, 1, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]],
        "v": [1, -2, 0.5, 3],
        "w": [2, 0, -1],
        "t": np.array([0, 1, 0, 0, 2, 0, 0, 3, 0, 4, 0, 0, 0, 0, -1, 0, 0, 5, 0, 0, 0, 6, 0, 0.5]).reshape(2, 3, 4),
        "u": np.array([1, 0, 0, 2, 0, 3, 4, 0, 0, 0, 5, 0, 0, 6, 0, 0, 7, 0, 0, 0, 0, 8, 0, 9]).reshape(2, 4, 3),
        "p": [[4, 1, 0], [0, 3, -1], [2, 0, 5]],
    }
    given = {name: jnp.asarray(np.asarray(x, np.float32)) for name, x in arrays.items()}
    sparse = modules["sparse"]
    given["M"], given["V"] = sparse.BCOO.fromdense(given["m"]), sparse.BCOO.fromdense(given["v"])
    given["P"], given["T"] = sparse.BCOO.fromdense(given["p"]), sparse.BCOO.fromdense(given["t"])
    given["B"], given["D"] = sparse.BCOO.fromdense(given["t"], n_batch=1), sparse.BCOO.fromdense(given["t"], n_dense=1)
    given["R"], given["C"] = sparse.BCSR.fromdense(given["m"]), sparse.BCOO.fromdense(given["u"], n_batch=1)
    given["L"] = sparse.BCOO.fromdense(given["v"][None, None], n_batch=2)
    given["K"] = sparse.BCOO.fromdense(given["w"][None, None], n_batch=2)
    # one value, and one index, serves several examples
    shared, several = jnp.array([[1.0, 2.0]]), jnp.array([[[1], [0]], [[3], [1]], [[2], [7]]])
    given["S"] = sparse.BCOO((shared, several), shape=(3, 4))
    given["Q"] = sparse.BCOO((jnp.arange(1.0, 7).reshape(3, 2), several[1:2]), shape=(3, 4))
    return {"jax": jax, "jnp": jnp, "lax": jax.lax, "np": np, **modules, "jet": modules["jet"].jet, **given}


def main():
    """Records the answers of the JAX at hand: of all lines, or of those that contain the words on the command line."""
    import jax

    known, words = names(jax), sys.argv[1:]
    answers = json.loads(gzip.decompress(RECORDING.read_bytes())) if words else {}
    table = lines()
    asked = [line for line in table if not words or line not in answers or any(word in line for word in words)]
    answers.update((line, lax_scipy_calls.answer(line, known)) for line in asked)
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps({line: answers[line] for line in table}).encode())
    recorded_versions.note(RECORDING, jax.__version__)
    print(f"{len(asked)} calls")


if __name__ == "__main__":
    main()
