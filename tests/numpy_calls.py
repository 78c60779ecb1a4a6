"""Calls of jnp and nn functions, and what real JAX answers: values and jaxprs, recorded.

A line is `letters | expression`: the letters name operands (see `operands`), called x, y, z, w in the expression.
Run by the Python that has real JAX, this file renews the recording:

    .venv-oracle/bin/python tests/numpy_calls.py
"""

import gzip
import inspect
import json
import warnings
from pathlib import Path

import numpy as np

import recorded_versions

GOLDEN = Path(__file__).parent / "golden"
RECORDING = GOLDEN / "numpy_calls.json.gz"
SIGNATURES = GOLDEN / "numpy_signatures.json"


def lines(table):
    """The lines of a table, `numpy` or `nn`."""
    return (GOLDEN / f"{table}_calls.txt").read_text().splitlines()


def operands(jnp):
    """letter -> array: f, h, b, i, u, c, bf, t by dtype or rank; v, m, k vectors, matrices; s a scalar; w indices."""
    rng = np.random.RandomState(0)

    def normal(*shape):
        return rng.randn(*shape).astype(np.float32)

    f = normal(3, 4)
    f[::2, 1] = np.nan
    numbers = {
        "f": f,
        "v": normal(4),
        "i": rng.randint(-3, 5, (3, 4)).astype(np.int32),
        "b": rng.rand(3, 4) > 0.5,
        "u": rng.randint(0, 200, (3, 4)).astype(np.uint8),
        "c": (rng.randn(3, 4) + 1j * rng.randn(3, 4)).astype(np.complex64),
        "h": normal(3, 4).astype(np.float16),
        "m": normal(4, 4),
        "s": np.float32(0.25),
        "t": normal(2, 3, 4),
        "w": rng.randint(0, 3, 4).astype(np.int32),
        "k": normal(4, 5),
    }
    arrays = {name: jnp.asarray(x) for name, x in numbers.items()}
    arrays["bf"] = jnp.asarray(normal(3, 4), dtype="bfloat16")
    return arrays


def function_of(line, jax):
    """(function, letters) of a line."""
    letters, expression = (part.strip() for part in line.split("|", 1))
    letters = letters.split()
    names = {"jax": jax, "jnp": jax.numpy, "jnn": jax.nn, "np": np}
    parameters = ",".join("xyzw"[: len(letters)])
    return eval(f"lambda {parameters}: {expression}", names), letters


def plain(value):
    """A result as JSON: [dtype, shape, weak, elements] for arrays."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        a = np.asarray(value)
        wide = a.astype(np.complex128) if a.dtype.kind == "c" else a.astype(np.float64)
        parts = wide.ravel().view(np.float64).tolist()
        return {
            "dtype": str(value.dtype), "shape": list(a.shape), "weak": bool(getattr(value, "weak_type", False)),
            "data": [repr(p) for p in parts],
        }  # fmt: skip
    return repr(value)


def failure(e):
    """An exception as text; only its first line and so much of it as names no tracer."""
    return f"!! {type(e).__name__}: {str(e)[:150]}"


def answer(line, jax, arrays):
    """{"value", "jaxpr"} of one line."""
    function, letters = function_of(line, jax)
    args = [arrays[letter] for letter in letters]
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, run in (
            ("value", lambda: plain(function(*args))),
            ("jaxpr", lambda: str(jax.make_jaxpr(function)(*args))),
        ):
            try:
                out[what] = run()
            except Exception as e:
                out[what] = failure(e)
    return out


def signatures(jax):
    """name -> [[parameter, kind, default], ...] of everything callable in jax.numpy, jax.numpy.linalg and jax.nn."""
    found = {}
    for table, module in (("numpy", jax.numpy), ("linalg", jax.numpy.linalg), ("nn", jax.nn)):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name.startswith("_") or not callable(function):
                continue
            try:
                parameters = inspect.signature(function).parameters.values()
            except (ValueError, TypeError):
                continue
            found[f"{table}.{name}"] = [
                [p.name, p.kind.name, "" if p.default is p.empty else _shown(p.default)] for p in parameters
            ]
    return found


def _shown(default):
    return getattr(default, "__name__", None) or repr(default)


def main():
    """Records the answers of the JAX at hand."""
    import jax
    import jax.scipy.special

    arrays = operands(jax.numpy)
    answers = {line: answer(line, jax, arrays) for table in ("numpy", "nn") for line in lines(table)}
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(answers).encode())
    recorded_versions.note(RECORDING, jax.__version__)
    SIGNATURES.write_text(json.dumps(signatures(jax), indent=0) + "\n")
    recorded_versions.note(SIGNATURES, jax.__version__)
    print(f"{len(answers)} calls")


if __name__ == "__main__":
    main()
