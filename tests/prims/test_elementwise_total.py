"""Comparisons in IEEE 754's total order: JAX's answers, for every kind of float."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

NAN = np.float32(np.nan)
X = np.array([0.0, -0.0, NAN, -NAN, 1.0, -np.inf, -1.0, np.inf], np.float32)
Y = np.array([-0.0, 0.0, NAN, NAN, 2.0, -1.0, -2.0, NAN], np.float32)
# What JAX 0.10.2 answers.
EQUAL = [False, False, True, False, False, False, False, False]
LESS = [False, True, False, True, True, True, False, True]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_the_order_of_floats(way, dtype):
    with jax.enable_x64(True):
        x, y = jnp.asarray(X).astype(dtype), jnp.asarray(Y).astype(dtype)
        # The sign of a NaN is kept by NumPy's casts, not by every cast: it is set here.
        x = x.at[3].set(-jnp.abs(x[3]))
        assert way(lax.eq_to_p.bind)(x, y).tolist() == EQUAL
        assert way(lax.lt_to_p.bind)(x, y).tolist() == LESS
        assert way(lax.le_to_p.bind)(x, y).tolist() == np.logical_or(EQUAL, LESS).tolist()


def test_integers_weak_types_and_refusals():
    assert lax.le_to_p.bind(jnp.array([1, -2, 3]), jnp.array([1, 1, 1])).tolist() == [True, True, False]
    assert lax.lt_to_p.bind(1.0, 2.0).weak_type and not lax.lt_to_p.bind(True, False)
    assert jax.vmap(lax.lt_to_p.bind, (0, None))(jnp.arange(3.0), 1.0).tolist() == [True, False, False]
    assert (
        str(jax.make_jaxpr(lax.eq_to_p.bind)(1.0, 2.0))
        == "{ lambda ; a:f32[] b:f32[]. let c:bool[] = eq_to a b in (c,) }"
    )
    assert jax.jvp(lax.le_to_p.bind, (1.0, 2.0), (1.0, 1.0))[1].dtype == jax.float0
    with pytest.raises(TypeError, match="le_to does not accept dtype complex64 at position 0"):
        lax.le_to_p.bind(1j, 1j)
    with pytest.raises(TypeError, match=r"lax.eq_to requires arguments to have the same dtypes, got float32, int32"):
        lax.eq_to_p.bind(jnp.arange(3.0), jnp.arange(3))
    with pytest.raises(TypeError, match=r"eq_to got incompatible shapes for broadcasting: \(3,\), \(2,\)."):
        lax.eq_to_p.bind(jnp.arange(3.0), jnp.arange(2.0))
