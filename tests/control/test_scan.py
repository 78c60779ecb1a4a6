"""scan: what is staged once, what loops leave behind, errors.  Values are compared with JAX in tests/golden."""

import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
    "carry dtype": (lambda: lax.scan(lambda c, x: (c.astype(int), x), 0.0, X), TypeError, "so the dtypes do not match"),
    "carry shape": (
        lambda: lax.scan(lambda c, x: ((c[0], jnp.ones(2)), x), (0.0, X), X),
        TypeError,
        "The input carry component c[1] has type float32[3] but the corresponding output carry component has type "
        "float32[2], so the shapes do not match.",
    ),
    "carry dtype and shape": (
        lambda: lax.scan(lambda c, x: (jnp.ones(2, int), x), jnp.float32(0), X),
        TypeError,
        "has type float32[] but the corresponding output carry component has type int32[2], so the dtypes do not "
        "match, and the shapes do not match.",
    ),
    "traced length": (
        lambda: jax.jit(lambda n: lax.scan(lambda c, x: (c, x), 1.0, (), n))(3),
        jax.errors.ConcretizationTypeError,
        "The `length` argument to `scan` expects a concrete `int` value. For scan-like iteration with a dynamic "
        "length, use `while_loop` or `fori_loop`.",
    ),
    "traced unroll": (
        lambda: jax.jit(lambda n: lax.scan(lambda c, x: (c, x), 1.0, (), 3, unroll=n))(True),
        jax.errors.ConcretizationTypeError,
        "The `unroll` argument to `scan` expects a concrete `int` or `bool` value.",
    ),
    "carry tree": (
        lambda: lax.scan(lambda c, x: ({"a": c}, x), 0.0, X),
        TypeError,
        "must have the same pytree structure",
    ),
    "no pair": (lambda: lax.scan(lambda c, x: c, 0.0, X), TypeError, "scan body output must be a pair, got"),
    "lengths": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, (X, jnp.ones(4))),
        ValueError,
        "scan got values with different leading axis sizes: 3, 4.",
    ),
    "length": (
        lambda: lax.scan(lambda c, x: (c, x), 0.0, X, length=4),
        ValueError,
        "scan got `length` argument of 4 which disagrees with leading axis sizes [3].",
    ),
    "no length": (lambda: lax.scan(lambda c, x: (c, x), 0.0, None), ValueError, "`length` not provided"),
    "scalar xs": (lambda: lax.scan(lambda c, x: (c, x), 0.0, 1.0), ValueError, "no leading axis to scan over"),
    "several faults": (
        lambda: lax.scan(lambda c, x: ((c[0].astype(int), c[1][:1]), x), (0.0, X), X),
        TypeError,
        "  * the input carry component c[0] has type float32[] but the corresponding output carry component has type "
        "int32[], so the dtypes do not match;\n  * the input carry component c[1] has type float32[3] but the "
        "corresponding output carry component has type float32[1], so the shapes do not match.",
    ),
    "a pair is named": (
        lambda: lax.scan(lambda c, x: {"a": c, "b": x}, 0.0, X),
        TypeError,
        "scan body output must be a pair, got {'a': ~float32[], 'b': float32[]}.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_the_same_body_is_staged_once():
    calls = []

    def body(c, x):
        calls.append(1)
        return c + x, c

    for _ in range(3):
        lax.scan(body, 0.0, jnp.arange(4.0))
    assert len(calls) == 1
