"""Small expressions, and what real JAX answers: values, printed objects, errors and warnings word by word.

`golden/detail_cases.txt` has an expression a line, in which `jax`, `jnp`, `lax`, `np` and the values of `environment`
are known; a line that begins with `#` is the heading of a class of behaviour.  Run by the Python that has real JAX,
this file records the answers, for `golden/test_detail_cases.py`:

    .venv-oracle/bin/python tests/detail_cases.py
"""

import functools
import importlib
import json
import pickle
import re
import warnings
from pathlib import Path

import numpy as np

CASES = Path(__file__).parent / "golden" / "detail_cases.txt"
RECORDING = Path(__file__).parent / "golden" / "detail_cases.json"
MODULES = (
    "numpy lax random nn tree_util flatten_util test_util dtypes sharding experimental.checkify experimental.ode "
    "scipy.linalg scipy.signal scipy.optimize scipy.stats"
)


def environment(jax):
    """name -> value in the expressions."""
    modules = {name.rpartition(".")[2]: importlib.import_module(f"{jax.__name__}.{name}") for name in MODULES.split()}
    jnp = modules["numpy"]
    return {
        **modules,
        "jax": jax,
        "scipy_signal": modules["signal"],
        "jnp": jnp,
        "np": np,
        "pickle": pickle,
        "partial": functools.partial,
        "initializers": importlib.import_module(f"{jax.__name__}.nn.initializers"),
        "key": jax.random.key(0),
        "x": jnp.arange(3.0),
        "m": jnp.ones((2, 3)),
        "i": jnp.arange(3),
        "mask2": jnp.array([True, False]),
        "mask3": jnp.array([True, False, True]),
        "float0": np.zeros(3, modules["dtypes"].float0),
        "same": lambda x: x,
        "traced": lambda f, x=0: jax.jit(f)(x),
        "tracer": lambda transform, *args: _printed_tracers(transform, *args),
        "promotion": lambda mode, f: _with(jax.numpy_dtype_promotion(mode), f),
        "rank_promotion": lambda mode, f: _with(jax.numpy_rank_promotion(mode), f),
        "x64": lambda f: _with(jax.enable_x64(True), f),
        "leaks": lambda f: _with(jax.checking_leaks(), f),
        "nans": lambda f: _with(jax.debug_nans(True), f),
    }


def _with(context, function):
    with context:
        return function()


def _printed_tracers(transform, *args):
    printed = []

    def look(x):
        printed.append(repr(x))
        return x * 2

    transform(look)(*args)
    return printed


def outcome(jax, line, names):
    """What the expression does: [value or error, warnings], in texts that do not depend on the package."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            answer = _describe(eval(line, dict(names)))
        except Exception as error:
            answer = {"error": type(error).__name__, "text": _clean((str(error).splitlines() or [""])[0])}
    told = [[w.category.__name__, _clean(str(w.message).splitlines()[0])] for w in caught]
    return [answer, told]


def _describe(value):
    if isinstance(value, dict):
        return {str(key): _describe(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return [_describe(item) for item in value]
    if hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "__array__"):
        weak = ", weak" if getattr(getattr(value, "aval", value), "weak_type", False) else ""
        array = np.asarray(value) if "key" not in str(value.dtype) else np.zeros(0)
        elements = np.array2string(array, precision=4, floatmode="maxprec", suppress_small=True).replace("\n", "")
        return f"{value.dtype}{list(value.shape)}{weak} {elements}"
    return _clean(repr(value))


def _clean(text):
    """A text without what depends on the package: module paths, addresses, folders."""
    text = re.sub(r"<class '(?:[\w<>]+\.)*(\w+)'>", r"<class \1>", text)
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"(?:/[\w.-]+)+/(?=[\w-]+\.py\b)", "", text)
    text = re.sub(r"Input dtypes \([^)]*\)", "Input dtypes (...)", text)  # JAX lists them in the order of a set
    return text.replace("onax", "jax").strip()


def cases():
    """[(heading, expression), ...] of the table."""
    found, heading = [], ""
    for line in CASES.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.strip():
            found.append((heading, line))
    return found


if __name__ == "__main__":
    import jax

    known = environment(jax)
    answers = {line: outcome(jax, line, known) for _, line in cases()}
    RECORDING.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items()) + "\n}\n")
    print(len(answers), "recorded")
