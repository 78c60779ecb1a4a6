"""Compares functions with their meaning in NumPy or SciPy, eagerly and under jit, with 32 and 64 bits.

A meaning computes with the operands as NumPy has them (usually in float64), so results with 32 bits are compared by
their own precision.
"""

import functools
import operator
import warnings

import numpy as np

import onax as jax

RTOL = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 5e-6, "complex64": 5e-6, "float64": 1e-12, "complex128": 1e-12}


def assert_equal(got, want, rtol=None, atol=None, dtypes=True):
    """Leaves agree in shape, dtype (the canonical one of the wanted) and value.

    Without `rtol`, values agree by the precision of their dtype, relative to themselves or to the largest element.
    """
    got, want = jax.tree.leaves(got), [np.asarray(x) for x in jax.tree.leaves(want)]
    assert len(got) == len(want)
    for g, w in zip(got, want):
        g = np.asarray(g)
        assert g.shape == w.shape
        if dtypes:
            assert g.dtype == jax.dtypes.canonicalize_dtype(w.dtype)
        bound = rtol or RTOL.get(g.dtype.name, 0)
        inexact = w.dtype.kind in "fc"
        size = float(np.max(np.abs(w[np.isfinite(w)]), initial=0)) if inexact else 0
        g, w = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (g, w))
        np.testing.assert_allclose(g, w, rtol=bound, atol=bound * size if atol is None else atol)


def assert_agrees(function, meaning, *args, rtol=None, atol=None, dtypes=True, jit=True, **options):
    """`function(*args, **options)` is what `meaning` gives, in every way.

    Arrays among `args` are operands; everything else is fixed.  `jit` is False where shapes depend on values.  With 32
    bits `rtol` and `atol` count as far as the precision of the dtype allows.
    """
    want = meaning(*args, **options)
    at = [i for i, x in enumerate(args) if isinstance(x, np.ndarray)]
    operands = [args[i] for i in at]

    def call(*operands):
        full = list(args)
        for i, x in zip(at, operands):
            full[i] = x
        return function(*full, **options)

    with jax.enable_x64(True):
        assert_equal(call(*map(jax.numpy.asarray, operands)), want, rtol, atol, dtypes)
    if rtol is not None:
        rtol, atol = max(rtol, 1e-5), None
    assert_equal(call(*map(jax.numpy.asarray, operands)), want, rtol, atol, dtypes)
    if jit:
        assert_equal(jax.jit(call)(*operands), want, rtol, atol, dtypes)


def call(function, *args, **options):
    """A row of a table of calls: (function, arguments, options), for `assert_as_numpy`."""
    return function, args, options


def assert_as_numpy(function, args, options):
    """The call of a function of `jnp`, given by its dotted name, agrees with that of `np`.

    A function instead of a name takes the module, `jnp` or `np`, as its first argument.
    """
    if isinstance(function, str):
        ours, theirs = map(operator.attrgetter(function), (jax.numpy, np))
    else:
        ours, theirs = (functools.partial(function, module) for module in (jax.numpy, np))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of slices without numbers
        assert_agrees(ours, theirs, *args, **options)
