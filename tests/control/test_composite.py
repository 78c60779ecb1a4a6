"""composite and platform_dependent; ragged products mapped in part."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.errors import UnexpectedTracerError

X = np.array([0.5, -1.0, 2.0], np.float32)


def scaled_sine(x, *, k):
    return jnp.sin(x) * k


def test_composite_is_one_equation_and_its_decomposition():
    call = lax.composite(scaled_sine, "my.sin", 1)
    (eqn,) = jax.make_jaxpr(lambda x: call(x, k=2))(X).eqns
    assert eqn.primitive.name == "composite" and eqn.params["name"] == "my.sin" and eqn.params["version"] == 1
    assert eqn.params["attributes"][0][:2] == ("k", (2,))
    want = 2 * np.sin(X)
    np.testing.assert_allclose(call(X, k=2), want, 1e-6)
    np.testing.assert_allclose(jax.jit(lambda x: call(x, k=np.float32(2)))(X), want, 1e-6)
    held = np.ones(3, np.float32)
    shifted = lax.composite(lambda x, *, by: (x + by, held), "n")
    for got, wanted in zip(jax.jit(lambda x: shifted(x, by=X))(X), (2 * X, held)):
        np.testing.assert_array_equal(got, wanted)


def test_composite_refuses_what_jax_refuses():
    call = lax.composite(scaled_sine, "my.sin")
    with pytest.raises(ValueError, match="JVP rule for composite not implemented"):
        jax.grad(lambda x: call(x, k=2))(1.0)
    with pytest.raises(NotImplementedError, match="Batching rule for 'composite'"):
        jax.vmap(lambda x: call(x, k=2))(X)
    with pytest.raises(UnexpectedTracerError, match="as a constant"):
        jax.jit(lambda z: lax.composite(lambda x: x + z, "n")(z))(1.0)
    with pytest.raises(UnexpectedTracerError, match="as an attribute"):
        call(X, k=jnp.ones(2))


def test_platform_dependent():
    branches = {"cpu": jnp.cos, "tpu": jnp.sin}
    for run in (lambda f: f, jax.jit, jax.grad, jax.vmap):
        x = X if run is jax.vmap else 0.5
        got = run(lambda y: lax.platform_dependent(y, default=jnp.exp, **branches))(x)
        np.testing.assert_allclose(got, run(jnp.cos)(x))
    np.testing.assert_allclose(lax.platform_dependent(0.5, tpu=jnp.sin, default=jnp.exp), np.exp(0.5), 1e-6)
    with pytest.raises(NotImplementedError, match="give a function as cpu= or default="):
        lax.platform_dependent(0.5, tpu=jnp.sin)
    with pytest.raises(TypeError, match="'cpu' branch must be a callable"):
        lax.platform_dependent(0.5, cpu=3)


RNG = np.random.default_rng(0)
LHS, RHS = (RNG.normal(size=s).astype(np.float32) for s in ((2, 7, 3), (2, 3, 3, 4)))
SIZES = np.array([[2, 0, 3], [1, 4, 2]], np.int32)


@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0), (0, 0, None)])
def test_ragged_products_of_some_mapped_operands(axes):
    args = [x if a == 0 else x[0] for x, a in zip((LHS, RHS, SIZES), axes)]
    rows = [[x[i] if a == 0 else x for x, a in zip(args, axes)] for i in range(2)]
    want = np.stack([lax.ragged_dot(*row) for row in rows])
    mapped = jax.vmap(lax.ragged_dot, axes)
    np.testing.assert_allclose(mapped(*args), want, 1e-5, 1e-6)
    np.testing.assert_allclose(jax.jit(mapped)(*args), want, 1e-5, 1e-6)


def test_groups_summed_apart_have_derivatives():
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())
    left, right = LHS[0], RHS[0, :, :, 0].repeat(3, 0)[:7]
    function = lambda x, y: lax.ragged_dot_general(x, y, SIZES[0], numbers)
    got = jax.jacrev(function, (0, 1))(left, right)
    want = jax.jacfwd(function, (0, 1))(left, right)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, 1e-5, 1e-6)


def test_rows_of_absent_groups_are_zero_and_see_no_nan():
    rhs = RHS[0].copy()
    rhs[1] = np.nan
    out = lax.ragged_dot(LHS[0], rhs, SIZES[0])
    assert np.isfinite(out).all() and not np.asarray(out)[5:].any()
    with pytest.raises(TypeError, match="rhs group dimension size"):
        lax.ragged_dot(LHS[0], rhs, SIZES[0][:2])
    with pytest.raises(NotImplementedError, match="group_offset"):
        lax.ragged_dot(LHS[0], rhs, SIZES[0], group_offset=np.array([0]))


def test_mulhi_of_the_largest():
    for dtype in ("int8", "uint16", "int32", "uint64", "int64"):
        with jax.enable_x64(True):
            info = np.iinfo(dtype)
            x = np.array([info.max, info.min, info.max // 3], dtype)
            want = np.array([int(v) * int(info.max) >> info.bits for v in x], dtype)
            np.testing.assert_array_equal(lax.mulhi(x, x[:1]), want)
            np.testing.assert_array_equal(jax.jit(lax.mulhi)(x, x[:1]), want)
