"""while_loop and fori_loop: staging, what runs forward only, errors.  Values are compared with JAX in tests/golden."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

X = jnp.arange(3.0)
ERRORS = {
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
    "parts of a carry's tree": (
        lambda: lax.while_loop(lambda c: True, lambda c: (1.0, (None, 2.0), {"b": 1.0}), (1.0, (2.0, 3.0), {"a": 1.0})),
        TypeError,
        "  * the input carry component c[1][0] is a pytree leaf but the corresponding component of the carry output is "
        "a <class 'NoneType'>, so their Python types differ;\n  * the input carry component c[2] is a <class 'dict'> "
        "with pytree metadata ('a',) but the corresponding component of the carry output is a <class 'dict'> with "
        "pytree metadata ('b',), so the pytree node metadata does not match.",
    ),
    "fori_loop's carry": (
        lambda: lax.fori_loop(0, 3, lambda i, v: {"a": v["a"][:1]}, {"a": X}),
        TypeError,
        "scan body function carry input and carry output must have equal types, but they differ:\n\nThe input carry "
        "component loop_carry[1]['a'] has type float32[3] but the corresponding",
    ),
    "bounds of two types": (
        lambda: lax.fori_loop(jnp.int8(0), jnp.int32(3), lambda i, c: c, 0),
        TypeError,
        "lower and upper arguments to fori_loop must have equal types, got int8 and int32",
    ),
    "unrolled loop of traced length": (
        lambda: jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 0, unroll=2))(3),
        ValueError,
        "Can only use `unroll` in `fori_loop` if the loop bounds are statically known.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_concrete_loops_leave_no_tracer_behind():
    seen = []
    lax.fori_loop(0, 2, lambda i, c: (seen.append(c), c + i)[1], 0.0)
    with pytest.raises(jax.errors.UnexpectedTracerError):
        seen[0] + 1


def test_bodies_of_fori_loop_and_map_are_staged_once():
    calls = []
    body = lambda i, c: calls.append(1) or c + i
    for _ in range(3):
        lax.fori_loop(0, 4, body, 0.0)
    per_slice = lambda x: calls.append(1) or x * 2
    for _ in range(3):
        lax.map(per_slice, X)
    assert len(calls) == 2


def test_linear_parts_of_loops_run_forward_only():
    grow = lambda x: lax.while_loop(lambda c: jnp.sum(c) < 30, lambda c: c * 2, x)
    value, push = jax.linearize(grow, X)
    np.testing.assert_array_equal(push(X), value)
    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.linear_transpose(push, X)(X)
    # A loop whose result has no cotangent is not run backward.
    assert jax.grad(lambda x: (grow(x[None])[0], x * 3)[1])(1.0) == 3.0


def test_what_no_step_changes_and_the_condition_does_not_read_is_a_constant():
    """So a mapped condition does not map it."""

    def f(w, x, end):
        body = lambda c: (c[0] + 1, c[1] @ c[2], c[2])
        _, x, w = lax.while_loop(lambda c: c[0] < end, body, (0, x, w))
        return w, x

    w, xs, ends = jnp.ones((2, 2)), jnp.ones((4, 2)), jnp.arange(4)
    for wrap in (lambda f: f, jax.jit):
        same, out = wrap(jax.vmap(f, in_axes=(None, 0, 0), out_axes=(None, 0)))(w, xs, ends)
        assert same.tolist() == w.tolist() and out[:, 0].tolist() == [1, 2, 4, 8]
    assert jax.jvp(lambda w: f(w, xs[0], 2)[1].sum(), (w,), (w,)) == (8, 16)
    (eqn,) = jax.make_jaxpr(f)(w, xs[0], 3).eqns
    assert eqn.params["body_nconsts"] == 1 and len(eqn.outvars) == 2
    read = lambda c: (c[0] < 3) & (c[1] > 0)
    (eqn,) = jax.make_jaxpr(lambda x: lax.while_loop(read, lambda c: (c[0] + 1, c[1]), (0, x)))(1.0).eqns
    assert eqn.params["body_nconsts"] == 0 and len(eqn.outvars) == 2


def test_a_loop_of_no_steps_without_jit():
    with jax.disable_jit():
        assert lax.fori_loop(0, 0, lambda i, x: x + i, 1.0) == 1.0
        assert lax.fori_loop(3, 1, lambda i, x: x + i, (1.0, 2)) == (1.0, 2)
