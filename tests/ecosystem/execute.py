"""Executes one program and writes the numbers that it returns as JSON.

    python tests/ecosystem/execute.py PROGRAM.py OUT.json              under JAX
    python -m onax tests/ecosystem/execute.py PROGRAM.py OUT.json      under onax

A program has `main()`, which returns a dict from names to numbers or arrays.  Where it has `exports()` too, a dict from
names to (function, arguments), a digest of each leaf of the functions' results is written; under onax it is ONNX
Runtime that computes them, from exported models.
"""

import importlib.util
import json
import sys
from pathlib import Path

import jax
import numpy as np


def load(path):
    """The module of a program."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def describe(value):
    """dtype, shape and elements of a result, as JSON can hold them."""
    array = np.asarray(value)
    elements = array.astype(complex if array.dtype.kind == "c" else object if array.dtype.kind in "bui" else float)
    flat = elements.ravel()
    if array.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], -1).ravel()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "elements": flat.tolist()}


def digest(leaf):
    """The first elements of an array, its mean and its mean square, which is enough to compare large results."""
    leaf = np.asarray(jax.random.key_data(leaf) if jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)
    values = leaf.astype(np.float64).ravel()
    return np.concatenate([values[:6], [values.mean(), np.mean(values**2)]]).astype(np.float32)


def call(function, arguments):
    """The leaves of what the function itself returns, in compiled form."""
    return jax.tree.leaves(jax.jit(function)(*arguments))


def main(program, out):
    module = load(program)
    results = {name: describe(value) for name, value in module.main().items()}
    if exports := getattr(module, "exports", None):
        run = call if importlib.util.find_spec("onax") is None else importlib.import_module("exported").call
        for name, (function, arguments) in exports().items():
            for i, leaf in enumerate(run(function, arguments)):
                results[f"{name}[{i}]"] = describe(digest(leaf))
    Path(out).write_text(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
