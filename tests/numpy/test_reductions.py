"""Reductions against NumPy: axes, masks, initial values, dtypes, NaN; what an empty axis gives."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4))
N = np.where(RNG.random((2, 3, 4)) < 0.3, np.nan, X)
Z = X + 1j * X[::-1]
I = RNG.integers(-5, 6, (3, 4))
MASK = RNG.random((2, 3, 4)) < 0.6
SUMS = "sum prod max min mean var std".split()
CALLS = [
    *[call(name, X, axis=axis) for name in [*SUMS, "ptp"] for axis in (None, 1, (0, -1))],
    *[call(name, I) for name in [*SUMS, "ptp", "count_nonzero", "any", "all"]],
    *[call(name, I, axis=0, keepdims=True) for name in [*SUMS, "ptp", "any", "all", "count_nonzero"]],
    *[call(name, X, axis=(1, 2), where=MASK) for name in ("sum", "prod", "mean", "var", "std")],
    *[call(name, X, axis=1, where=MASK, initial=0.5) for name in ("sum", "prod", "max", "min")],
    *[call(name, Z, axis=1) for name in ("sum", "prod", "mean", "var", "std")],
    call("count_nonzero", X > 0, axis=(0, 1)),
    call("var", X, ddof=1), call("std", X, axis=0, ddof=1),
    call("sum", X, axis=()), call("sum", I > 0), call("prod", I > 0), call("sum", X[:, :0], axis=1),
    call("prod", X[:, :0], axis=1),
    call("all", X[:, :0], axis=1), call("any", X[:, :0]), call("max", X[:, :0], axis=1, initial=-1.0),
    call("mean", X[:, :0], axis=1),
    call("any", X > 1, axis=0, where=MASK), call("all", X < 1, axis=0, where=MASK), call("max", I > 0, axis=1),
    call("sum", I, dtype=np.float32), call("mean", I, dtype=np.float32), call("average", X), call("average", X, axis=1),
    call("average", X, axis=1, weights=np.array([1.0, 0, 2])), call("average", X, weights=np.abs(X), returned=True),
    call("average", I, axis=(0,), keepdims=True), call("max", N), call("min", N, axis=0), call("sum", X[0], -1),
    call(lambda xp, x: xp.var(x, mean=xp.mean(x, keepdims=True)), X), call(lambda xp, x: xp.std(x, correction=1), X),
    call(lambda xp, x: xp.var(x, axis=np.array([0, 1]) if xp is jnp else (0, 1)), X),
    call(lambda xp, x: xp.std(x, axis=[0] if xp is jnp else 0), X),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_a_dtype_that_is_asked_for_is_computed_in(name):
    function = getattr(jnp, name)
    kinds = lambda **options: [str(e.primitive) for e in jax.make_jaxpr(lambda x: function(x, **options))(HALF).eqns]
    assert "convert_element_type" in kinds() and "convert_element_type" not in kinds(dtype=HALF.dtype)


HALF = jnp.ones(4, jnp.bfloat16)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "bool", "float16", "bfloat16", "complex64"])
def test_dtypes_of_sums(dtype):
    """Small integers are summed as the default one, halves in float32 and rounded once."""
    x = jnp.ones((200, 2), dtype)
    kind = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32"}.get(dtype, dtype)
    assert (str(jnp.sum(x).dtype), jnp.sum(x).tolist()) == (kind, 400)
    assert jnp.sum(x, promote_integers=False).dtype == ("int32" if dtype == "bool" else dtype)
    assert jnp.mean(x).dtype == (dtype if jnp.issubdtype(dtype, jnp.inexact) else "float32")
    assert jnp.max(x.astype("int8")).dtype == np.int8
    assert jnp.var(jnp.ones(3, "complex64")).dtype == np.float32


def test_halves_are_summed_exactly():
    x = jnp.full(10_000, 0.1, jnp.bfloat16)
    assert float(jnp.sum(x)) == pytest.approx(10_000 * float(x[0]), rel=4e-3)


@pytest.mark.parametrize("name", "sum prod max min mean any all var std ptp count_nonzero average".split())
def test_results_are_not_weak(name):
    assert not getattr(jnp, name)(jnp.asarray(2.0)).weak_type


def test_slopes():
    x = jnp.array([1.0, 3.0, 3.0])
    assert jax.grad(jnp.max)(x).tolist() == [0, 0.5, 0.5]
    assert jax.jit(jax.grad(jnp.prod))(jnp.array([2.0, 0.0, 5.0])).tolist() == [0, 10, 0]
    np.testing.assert_allclose(jax.grad(jnp.var)(x), 2 * (x - x.mean()) / 3, rtol=1e-6)


REFUSED = [
    (lambda: jnp.max(X[:, :0], axis=1), ValueError, "zero-size|identity"),
    (lambda: jnp.sum(X, axis=3), ValueError, "out of bounds"),
    (lambda: jnp.sum(X, axis=(0, 0)), ValueError, "duplicate"),
    (lambda: jnp.max(X, where=MASK), ValueError, "initial"),
    (lambda: jnp.sum([1.0]), TypeError, "requires ndarray"),
    (lambda: jnp.mean(X, out=X), NotImplementedError, "out"),
    (lambda: jnp.average(X, weights=np.ones(3)), (TypeError, ValueError), "axis|shape"),
    (lambda: jnp.var(X, ddof=1, correction=2), ValueError, "correction"),
    (lambda: jnp.sum(X, where=I), ValueError, "bool|where"),
    *(
        (lambda f=f: getattr(jnp, f)(X, where=I), ValueError, f"jnp.{f}: where must be None or a bool")
        for f in ("std", "var", "nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin")
    ),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
