"""cond, switch, while_loop, fori_loop, scan, map: eager and jitted against real JAX's recorded results; errors."""

import numpy as np
import pytest

import control_cases
import onax as jax
import onax.numpy as jnp
import oracle
from onax import lax
from tolerance import assert_same_bits, assert_within, finfo, is_float

RECORDED = oracle.load("control_cases")
# A case is a chain of at most sixteen operations, each within four units in the last place of its largest value.
CHAIN_ULPS = 64


def agree(got, answer, name):
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert leaf.weak_type == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype):
            size = np.max(np.abs(want.astype(np.float64)), initial=0.0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", control_cases.cases(jax))
def test_agrees_with_jax(name, way):
    function, args = control_cases.cases(jax)[name]
    assert name in RECORDED, "not recorded: run `make record`"
    assert "ok" in RECORDED[name], RECORDED[name]
    agree((jax.jit(function) if way == "jit" else function)(*args), RECORDED[name], name)


def test_the_same_body_is_staged_once():
    calls = []

    def body(c, x):
        calls.append(1)
        return c + x, c

    for _ in range(3):
        lax.scan(body, 0.0, jnp.arange(4.0))
    assert len(calls) == 1


def test_concrete_loops_leave_no_tracer_behind():
    seen = []
    lax.fori_loop(0, 2, lambda i, c: (seen.append(c), c + i)[1], 0.0)
    with pytest.raises(jax.errors.UnexpectedTracerError):
        seen[0] + 1


X = jnp.arange(3.0)
ERRORS = {
    "carry dtype": (lambda: lax.scan(lambda c, x: (c.astype(int), x), 0.0, X), TypeError, "so the dtypes do not match"),
    "carry shape": (
        lambda: lax.scan(lambda c, x: ((c[0], jnp.ones(2)), x), (0.0, X), X),
        TypeError,
        "The input carry component c[1] has type float32[3] but the corresponding output carry component has type "
        "float32[2], so the shapes do not match.",
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
    "condition type": (
        lambda: lax.while_loop(lambda c: c, lambda c: c + 1, 0),
        TypeError,
        "must return a boolean scalar",
    ),
    "condition tree": (
        lambda: lax.while_loop(lambda c: (c < 3, c), lambda c: c + 1, 0),
        TypeError,
        "cond_fun must return a boolean scalar, but got pytree PyTreeDef((*, *)).",
    ),
    "while tree": (lambda: lax.while_loop(lambda c: c < 3, lambda c: (c, c), 0), TypeError, "same pytree structure"),
    "reverse mode": (
        lambda: jax.grad(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c * 2, x))(1.0),
        ValueError,
        "Reverse-mode differentiation does not work for lax.while_loop",
    ),
    "fori bounds": (
        lambda: lax.fori_loop(0, 5.0, lambda i, c: c + i, 0),
        TypeError,
        "lower and upper arguments to fori_loop must have equal types, got int32 and float32",
    ),
    "predicate shape": (
        lambda: lax.cond(X, lambda x: x, lambda x: x, 2.0),
        TypeError,
        "Pred must be a scalar, got [0. 1. 2.] of shape (3,).",
    ),
    "branch trees": (
        lambda: lax.cond(True, lambda x: x, lambda x: (x, x), 2.0),
        TypeError,
        "cond branch outputs must have the same pytree structure",
    ),
    "branch types": (
        lambda: lax.cond(True, lambda x: x, lambda x: x.astype(int), 2.0),
        TypeError,
        "The output of true_fun has type float32[] but the corresponding output of false_fun has type int32[], so the "
        "dtypes do not match.",
    ),
    "index type": (
        lambda: lax.switch(1.0, [lambda x: x] * 2, 2.0),
        TypeError,
        "Index type must be an integer, got 1.0 as float32",
    ),
    "index shape": (
        lambda: lax.switch(jnp.arange(2), [lambda x: x] * 2, 2.0),
        TypeError,
        "Branch index must be scalar",
    ),
    "no branches": (lambda: lax.switch(1, [], 2.0), ValueError, "Empty branch sequence"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
