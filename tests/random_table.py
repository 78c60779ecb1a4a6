"""Every distribution x dtype x two shapes x three keys x both layouts of counters, for onax and for real JAX.

`draw(jax, name, dtype, shape, partitionable)` is a function of a seed.  Run by the Python of real JAX this file records
its answers: `python tests/random_table.py`.
"""

import gzip
import json
from pathlib import Path

import numpy as np

import recorded_versions

SEEDS = (0, 42, 123456)
SHAPES = ((5,), (2, 3))
FLOATS = ("float32", "float64", "bfloat16", "float16")
INTEGERS = ("int8", "int32", "uint32", "int64")
RECORDING = Path(__file__).parent / "golden" / "random_table.json.gz"
P = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
SPREAD = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])


def distributions(jax):
    """name -> (function of (key, shape, dtype), dtypes)."""
    r, jnp = jax.random, jax.numpy
    weights = lambda d: jnp.asarray(P, d)
    return {
        "bits": (r.bits, ("uint8", "uint16", "uint32", "uint64")),
        "uniform": (r.uniform, FLOATS),
        "uniform between": (lambda k, s, d: r.uniform(k, s, d, -2.0, 3.0), FLOATS),
        "normal": (r.normal, (*FLOATS, "complex64")),
        "randint": (lambda k, s, d: r.randint(k, s, 2, 99, d), INTEGERS),
        "bernoulli": (lambda k, s, d: r.bernoulli(k, jnp.asarray(0.3, d), s), ("float32", "float64")),
        "rademacher": (r.rademacher, ("int32", "float32", "int8")),
        "truncated_normal": (lambda k, s, d: r.truncated_normal(k, -1.0, 2.0, s, d), FLOATS),
        "lognormal": (lambda k, s, d: r.lognormal(k, 0.5, s, d), FLOATS),
        "exponential": (r.exponential, FLOATS),
        "gumbel": (r.gumbel, FLOATS),
        "laplace": (r.laplace, FLOATS),
        "logistic": (r.logistic, FLOATS),
        "cauchy": (r.cauchy, FLOATS),
        "maxwell": (r.maxwell, FLOATS),
        "double_sided_maxwell": (lambda k, s, d: r.double_sided_maxwell(k, 0.5, 2.0, s, d), FLOATS),
        "rayleigh": (lambda k, s, d: r.rayleigh(k, 2.0, s, d), FLOATS),
        "pareto": (lambda k, s, d: r.pareto(k, 2.5, s, d), FLOATS),
        "weibull_min": (lambda k, s, d: r.weibull_min(k, 2.0, 1.5, s, d), FLOATS),
        "triangular": (lambda k, s, d: r.triangular(k, 0.0, 1.0, 3.0, s, d), FLOATS),
        "wald": (lambda k, s, d: r.wald(k, 2.0, s, d), FLOATS),
        "gamma": (lambda k, s, d: r.gamma(k, 2.5, s, d), ("float32", "float64")),
        "gamma, small": (lambda k, s, d: r.gamma(k, 0.3, s, d), ("float32", "float64")),
        "loggamma": (lambda k, s, d: r.loggamma(k, 0.5, s, d), ("float32", "float64")),
        "beta": (lambda k, s, d: r.beta(k, 0.7, 2.0, s, d), ("float32", "float64")),
        "dirichlet": (lambda k, s, d: r.dirichlet(k, weights(d) * 5, s, d), ("float32", "float64")),
        "chisquare": (lambda k, s, d: r.chisquare(k, 3.0, s, d), ("float32", "float64")),
        "t": (lambda k, s, d: r.t(k, 3.0, s, d), ("float32", "float64")),
        "f": (lambda k, s, d: r.f(k, 3.0, 4.0, s, d), ("float32", "float64")),
        "generalized_normal": (lambda k, s, d: r.generalized_normal(k, 1.5, s, d), ("float32", "float64")),
        "ball": (lambda k, s, d: r.ball(k, 3, 2, s, d), ("float32", "float64")),
        "poisson": (lambda k, s, d: r.poisson(k, 3.5, s, d), ("int32", "int64")),
        "poisson, large": (lambda k, s, d: r.poisson(k, 40.0, s, d), ("int32", "int64")),
        "binomial": (lambda k, s, d: r.binomial(k, 20, 0.3, s, d), ("float32", "float64")),
        "multinomial": (
            lambda k, s, d: r.multinomial(k, jnp.asarray(30.0, d), weights(d), shape=(*s, 5), dtype=d),
            ("float32", "float64"),
        ),
        "geometric": (lambda k, s, d: r.geometric(k, 0.3, s, d), ("int32", "int64")),
        "categorical": (lambda k, s, d: r.categorical(k, jnp.log(weights(d)), shape=s), ("float32", "float64")),
        "choice": (lambda k, s, d: r.choice(k, jnp.arange(7, dtype=d), s), ("int32", "float32")),
        "choice with p": (lambda k, s, d: r.choice(k, 5, s, p=weights(d)), ("float32", "float64")),
        "choice without replacement": (
            lambda k, s, d: r.choice(k, jnp.arange(9, dtype=d), s, False),
            ("int32", "float32"),
        ),
        "permutation": (lambda k, s, d: r.permutation(k, jnp.arange(12, dtype=d)), ("int32", "float32")),
        "multivariate_normal": (
            lambda k, s, d: r.multivariate_normal(k, jnp.zeros(3, d), jnp.asarray(SPREAD, d), s, d),
            ("float32", "float64"),
        ),
        "orthogonal": (lambda k, s, d: r.orthogonal(k, 3, s, d), ("float32", "float64")),
    }


def rows(jax):
    """(name, dtype, shape, partitionable) of every row."""
    for name, (_, dtypes) in distributions(jax).items():
        for dtype in dtypes:
            for shape in SHAPES:
                for partitionable in (True, False):
                    yield name, dtype, shape, partitionable


def label(name, dtype, shape, partitionable):
    """How a row is called in the recording."""
    return f"{name} {dtype} {shape}{'' if partitionable else ', original layout'}"


def answers(jax, name, dtype, shape, partitionable, jit=False):
    """The drawn arrays, one a seed."""
    function = distributions(jax)[name][0]
    wide = dtype in ("float64", "int64", "uint64")
    with jax.enable_x64(wide), jax.threefry_partitionable(partitionable):
        drawn = lambda key: function(key, shape, np.dtype(getattr(jax.numpy, dtype)))
        drawn = jax.jit(drawn) if jit else drawn
        return [np.asarray(drawn(jax.random.key(seed))) for seed in SEEDS]


def written(array):
    """An array as JSON values, exactly."""
    if array.dtype.kind == "c":
        return {"dtype": array.dtype.name, "shape": list(array.shape), "values": array.view(np.float32).tolist()}
    exact = array.astype(object) if array.dtype.kind in "iu" else array.astype(np.float64)
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": exact.tolist()}


def read():
    """label -> arrays of real JAX, one a seed."""
    import ml_dtypes

    def array(a):
        dtype = np.dtype(getattr(ml_dtypes, a["dtype"], a["dtype"]))
        if dtype.kind == "c":
            return np.array(a["values"], np.float32).view(dtype).reshape(a["shape"])
        whole = dtype.kind in "iu"  # beyond 2^53 a float is not exact
        return np.array(a["values"], object if whole else None).astype(dtype).reshape(a["shape"])

    with gzip.open(RECORDING, "rt") as file:
        return {name: [array(a) for a in found] for name, found in json.load(file).items()}


def record():
    """Asks real JAX for every row and writes its answers."""
    import jax

    found, table = {}, list(rows(jax))
    for i, row in enumerate(table):
        found[label(*row)] = [written(a) for a in answers(jax, *row, jit=True)]
        print(f"\r{i + 1} of {len(table)}", end="", flush=True)
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(found, separators=(",", ":")).encode())
    recorded_versions.note(RECORDING, jax.__version__)


if __name__ == "__main__":
    record()
