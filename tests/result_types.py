"""Dtypes and weak types of results: every public function of jnp, lax, nn and scipy with arguments of mixed kinds.

For each function and number of arguments some combinations of Python numbers, NumPy scalars, lists, weakly typed and
other arrays are drawn (the same in every run), with 64-bit types and without.  Run by the Python that has real JAX,
this file records the types of what JAX accepts:

    .venv-oracle/bin/python tests/result_types.py
"""

import gzip
import importlib
import inspect
import itertools
import json
import random
import warnings
import zlib
from pathlib import Path

import numpy as np

import recorded_versions

RECORDING = Path(__file__).parent / "golden" / "result_types.json.gz"
COMBINATIONS = 7  # of each function, number of arguments and width

PATHS = (
    "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "nn", "scipy.special", "scipy.linalg", "scipy.signal",
    "scipy.integrate", "scipy.fft", "scipy.cluster.vq", "scipy.stats", "ops", "image",
)  # fmt: skip
DISTRIBUTIONS = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic "
    "multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
).split()

# Functions that give no arrays, take functions, or read and write files.
OMITTED = frozenset(
    "apply_along_axis apply_over_axes array2string array_repr array_str associative_scan broadcast_shapes can_cast "
    "cond custom_linear_solve custom_root einsum_path fori_loop from_dlpack fromfile fromfunction frompyfunc "
    "get_printoptions infeed iscomplexobj isdtype isrealobj isscalar issubdtype iterable jit load map ndim outfeed "
    "piecewise printoptions promote_types reduce reduce_window result_type save savez scan set_printoptions shape size "
    "switch vectorize while_loop".split()
)


def kinds(jax, x64):
    """name -> a function that makes an argument of that kind."""
    jnp = jax.numpy
    found = {
        "True": lambda: True, "2": lambda: 2, "0.5": lambda: 0.5, "0.5+1j": lambda: 0.5 + 1j,
        "weak int": lambda: jnp.asarray(2), "weak float": lambda: jnp.asarray(0.5),
        "weak complex": lambda: jnp.asarray(0.5j), "weak int[3]": lambda: jnp.broadcast_to(jnp.asarray(1), (3,)),
        "weak float[3]": lambda: jnp.broadcast_to(jnp.asarray(0.5), (3,)),
        "weak float[3,3]": lambda: jnp.broadcast_to(jnp.asarray(0.5), (3, 3)) + 0.0,
        "int32[3]": lambda: jnp.arange(3, dtype="int32"), "int8[3]": lambda: jnp.arange(3, dtype="int8"),
        "uint8[3]": lambda: jnp.arange(3, dtype="uint8"), "bool[3]": lambda: jnp.array([True, False, True]),
        "float16[3]": lambda: jnp.array([0.25, 0.5, 0.75], "float16"),
        "bfloat16[3]": lambda: jnp.array([0.25, 0.5, 0.75], "bfloat16"),
        "float32[3]": lambda: jnp.array([0.25, 0.5, 0.75], "float32"),
        "complex64[3]": lambda: jnp.array([0.25, 0.5j, 0.75], "complex64"),
        "float32[3,3]": lambda: jnp.eye(3, dtype="float32") * 2 + 0.125,
        "int32[3,3]": lambda: jnp.eye(3, dtype="int32"), "float16[3,3]": lambda: jnp.eye(3, dtype="float16"),
        "[1, 2, 3]": lambda: [1, 2, 3], "[0.5, 0.25]": lambda: [0.5, 0.25], "np.float32": lambda: np.float32(0.5),
        "np.float64": lambda: np.float64(0.5), "np.int64": lambda: np.int64(2),
        "np.float64[3]": lambda: np.array([0.25, 0.5, 0.75]), "np.int64[3]": lambda: np.arange(3),
    }  # fmt: skip
    if x64:
        found["float64[3]"] = lambda: jnp.array([0.25, 0.5, 0.75], "float64")
        found["int64[3]"] = lambda: jnp.arange(3, dtype="int64")
    return found


def modules_by_path(jax):
    """name -> module."""
    names = [*PATHS, *(f"scipy.stats.{name}" for name in DISTRIBUTIONS)]
    return {name: importlib.import_module(f"{jax.__name__}.{name}") for name in names}


def functions(module):
    """name -> how many arguments it is called with, of the functions of a module."""
    found = {}
    for name, function in sorted(vars(module).items()):
        if name.startswith("_") or name.endswith("_p") or name in OMITTED or not callable(function):
            continue
        if inspect.isclass(function):
            continue
        try:
            parameters = inspect.signature(function).parameters.values()
        except (ValueError, TypeError):
            continue
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        least, most = sum(p.default is p.empty for p in positional), len(positional)
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            least, most = max(least, 1), max(most, 2)
        found[name] = sorted({n for n in (least, least + 1, least + 2) if 1 <= n <= min(most, 5)})
    return found


def combinations(name, count, names):
    """The kinds of arguments of each call of a function with this many of them."""
    draw = random.Random(zlib.crc32(f"{name} {count}".encode()))
    if count == 1:
        return [(kind,) for kind in draw.sample(names, min(2 * COMBINATIONS, len(names)))]
    if count == 2:
        return draw.sample(list(itertools.product(names, repeat=2)), 2 * COMBINATIONS)
    return [tuple(draw.choices(names, k=count)) for _ in range(COMBINATIONS)]


def shown(value):
    """The types of a result: "float32*[3]" is weakly typed; other things than arrays have none."""
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(shown, value))})"
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return "?"
    return f"{value.dtype}{'*' if getattr(value, 'weak_type', False) else ''}{list(value.shape)}"


def calls(jax, path, x64, names=None):
    """(name, kinds, function, arguments) of every call in the module at a path."""
    module, made = modules_by_path(jax)[path], kinds(jax, x64)
    for name, counts in (functions(module) if names is None else names).items():
        function = getattr(module, name)
        for count in counts:
            for combination in combinations(f"{path}.{name}", count, list(made)):
                yield name, combination, function, [made[kind]() for kind in combination]


def staged_types(jax, function, args):
    """The types that staging finds, arguments being constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return shown(jax.eval_shape(lambda: function(*args)))


def main():
    """Records the types that the JAX at hand gives."""
    import jax

    recorded = {}
    for x64 in (False, True):
        with jax.enable_x64(x64):
            for path in modules_by_path(jax):
                found = recorded[f"{path} {'x64' if x64 else 'x32'}"] = {}
                for name, combination, function, args in calls(jax, path, x64):
                    try:
                        types = staged_types(jax, function, args)
                    except Exception:
                        continue  # errors are compared in tests/golden/test_error_calls.py
                    found[f"{name}({', '.join(combination)})"] = types
    RECORDING.write_bytes(gzip.compress(json.dumps(recorded, separators=(",", ":")).encode(), mtime=0))
    recorded_versions.note(RECORDING, jax.__version__)
    print(f"{sum(map(len, recorded.values()))} calls")


if __name__ == "__main__":
    main()
