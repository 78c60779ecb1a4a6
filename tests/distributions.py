"""Functions of distributions against SciPy: eager and compiled, outside their support, their slopes and dtypes."""

import importlib

import numpy as np
import scipy.stats

import onax as jax
from onax import numpy as jnp

NAMES = "logpdf pdf logpmf pmf cdf logcdf sf logsf ppf isf entropy".split()
PROBABILITIES = np.array([0.01, 0.2, 0.5, 0.9])


def module(name):
    return importlib.import_module(f"onax.scipy.stats.{name}")


def functions(name):
    """(name, function of onax, function of SciPy) of each function that a distribution has."""
    theirs = getattr(scipy.stats, name)
    return [(f, getattr(module(name), f), getattr(theirs, f)) for f in NAMES if hasattr(module(name), f)]


def assert_as_scipy(name, x, *parameters, nan=True, **options):
    """All functions at the points x, or at probabilities, with 64 bits, eagerly and under jit.

    NaN gives NaN; with `nan=False` densities are those of a point outside or inside, as in JAX.
    """
    found = functions(name)
    assert found
    with jax.enable_x64(True):
        for f, ours, theirs in found:
            points = () if f == "entropy" else (PROBABILITIES if f in ("ppf", "isf") else x,)
            want = theirs(*points, *parameters, **options)
            for run in (ours, jax.jit(ours)):
                got = run(*points, *parameters, **options)
                np.testing.assert_allclose(got, want, 1e-8, 1e-12, err_msg=f)
            if points and (nan or not f.endswith(("pdf", "pmf"))):
                assert np.isnan(ours(np.nan, *parameters, **options)), f


def assert_types(name, x, *parameters):
    """Floats keep their dtype; results of float32 are near those of float64; parameters are broadcast."""
    for f, ours, theirs in functions(name):
        if f == "entropy":
            continue
        points = (PROBABILITIES if f in ("ppf", "isf") else np.asarray(x)).astype(np.float32)
        got = ours(points, *parameters)
        assert got.dtype == np.float32 and got.shape == points.shape, f
        np.testing.assert_allclose(got, theirs(points.astype(float), *parameters), 2e-4, 2e-6, err_msg=f)
        column = [np.full((2, 1), p, np.float32) for p in parameters]
        if column:
            np.testing.assert_allclose(ours(points, *column), np.stack([got, got]), 1e-5, 1e-6, err_msg=f)


def assert_slopes(name, x, *parameters, functions=("logpdf",), fixed=0, discrete=False):
    """Derivatives in x (unless it is discrete) and in the parameters after the first `fixed` are differences."""
    with jax.enable_x64(True):
        args = [float(x), *map(float, parameters)]
        for f in functions:
            function = getattr(module(name), f)
            at = [i for i in range(len(args)) if i > max(fixed, 0) or (i == 0 and not discrete)]
            got = jax.jit(jax.grad(function, tuple(at)))(*args)
            for i, g in zip(at, got):
                moved = [[a + (h if j == i else 0) for j, a in enumerate(args)] for h in (1e-6, -1e-6)]
                want = (function(*moved[0]) - function(*moved[1])) / 2e-6
                np.testing.assert_allclose(g, want, 1e-5, 1e-7, err_msg=f"{f}, argument {i}")


def assert_values(function, rows):
    """(arguments, result) in float32, eagerly and under jit."""
    for args, want in rows:
        for run in (function, jax.jit(function)):
            np.testing.assert_allclose(run(*(jnp.float32(a) for a in args)), want, 1e-6, err_msg=str(args))
