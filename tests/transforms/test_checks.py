"""check_grads, check_jvp, check_vjp: they accept right derivatives and refuse wrong ones."""

import functools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.test_util import check_grads, check_jvp, check_vjp

X = np.array([1.0, 2.0, 3.0], np.float32)

wrong = jax.custom_jvp(lambda x: x * x)
wrong.defjvp(lambda p, t: (p[0] * p[0], 2.2 * p[0] * t[0]))

RIGHT = {
    "two orders": (lambda x: jnp.sin(x) * x, (X,), 2),
    "three orders": (lambda x: x**4 / 8, (X,), 3),
    "trees": (lambda d, y: {"p": d["a"] * y, "q": jnp.sum(d["a"])}, ({"a": X}, np.float32(2)), 2),
    "complex": (lambda z: z * z * (1 + 2j), (X * (1 + 1j),), 2),
    "an integer among the arguments": (lambda x, n: x * n, (X, 3), 2),
    "an integer result": (lambda x: (x, x > 2), (X,), 1),
    "bfloat16": (lambda x: x * x, (jnp.asarray(X, jnp.bfloat16),), 1),
    "infinities": (lambda x: jnp.stack([x, jnp.full(3, -jnp.inf), jnp.full(3, jnp.inf)]), (X,), 2),
    "nothing": (lambda x: x, (jnp.zeros((0,)),), 1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name):
    check_grads(*RIGHT[name])


def test_double_precision_is_checked_more_closely():
    with jax.enable_x64(True):
        check_grads(lambda x: jnp.exp(jnp.sin(x)), (X.astype(np.float64),), 2, eps=1e-5)
        slightly = jax.custom_jvp(jnp.sin)
        slightly.defjvp(lambda p, t: (jnp.sin(p[0]), (jnp.cos(p[0]) + 1e-3) * t[0]))
        with pytest.raises(AssertionError, match="JVP tangent"):
            check_grads(slightly, (X.astype(np.float64),), 1)


@pytest.mark.parametrize(
    ("modes", "said"), [(("fwd",), "JVP tangent"), (("rev",), "VJP cotangent projection"), ("fwd", "JVP tangent")]
)
def test_wrong_derivatives_do_not(modes, said):
    with pytest.raises(AssertionError, match=said):
        check_grads(wrong, (X,), 1, modes=modes)


def test_a_wrong_second_derivative_is_named():
    good = jax.custom_jvp(lambda x: x * x)
    good.defjvp(lambda p, t: (good(p[0]), wrong(p[0]) / p[0] * 2 * t[0]))
    check_grads(good, (X,), 1)
    with pytest.raises(AssertionError, match="JVP of JVP tangent"):
        check_grads(good, (X,), 2)


def test_single_checks_and_bounds():
    check_jvp(jnp.sin, functools.partial(jax.jvp, jnp.sin), (X,), eps=1e-2)
    check_vjp(jnp.sin, functools.partial(jax.vjp, jnp.sin), (X,), eps=1e-2)
    check_grads(wrong, (X,), 1, atol=1.0, rtol=1.0)
    with pytest.raises(AssertionError, match="mine primal"):
        check_jvp(jnp.cos, functools.partial(jax.jvp, jnp.sin), (X,), err_msg="mine")
    with pytest.raises(AssertionError, match="\nprimal"):
        check_vjp(jnp.cos, functools.partial(jax.vjp, jnp.sin), (X,))
    with pytest.raises(AssertionError, match="structures"):
        check_jvp(lambda x: (x,), functools.partial(jax.jvp, jnp.sin), (X,))


def test_bounds_grow_with_the_size_and_dtypes_must_agree():
    off = lambda n: check_jvp(jnp.sin, lambda x, t: (jnp.sin(*x) + np.float32(0.01), jnp.cos(*x)), (np.ones(n, "f"),))
    with pytest.raises(AssertionError, match="\nprimal"):
        off(1)
    with pytest.raises(AssertionError, match="\ntangent"):
        off(100)
    half = lambda x, t: (jnp.sin(*x), jnp.cos(*x).astype(jnp.float16) * t[0].astype(jnp.float16))
    with pytest.raises(AssertionError, match=r"dtypes differ: float32\[3\] and float16\[3\]"):
        check_jvp(jnp.sin, half, (X,))


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("lin",), ("fwd", "rev", "lin")])
def test_second_orders_of_functions_with_integers(modes):
    """As in JAX the second order is taken of (primals, tangents) at (args, args), and of the pullback of the result."""
    check_grads(lambda x, n: jnp.sin(x) * n, (X, jnp.arange(3)), 2, modes=modes)
    bad = jax.custom_jvp(jnp.sin)
    bad.defjvp(lambda p, t: (jnp.sin(p[0]), 2 * jnp.cos(p[0]) * t[0]))
    good = jax.custom_jvp(jnp.sin)
    good.defjvp(lambda p, t: (jnp.sin(p[0]), bad(p[0] + np.pi / 2) * t[0]))
    check_grads(good, (X,), 1, modes=modes, atol=1e-2)
    with pytest.raises(AssertionError):
        check_grads(good, (X,), 2, modes=modes, atol=1e-2)
