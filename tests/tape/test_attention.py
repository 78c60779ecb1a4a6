"""Two products with a program between them as one instruction, against the eager functions."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.passes.inline_calls import inline_calls
from onax._native.tape import OPERATIONS
from onax._tape import build  # noqa: F401  it attaches the rules
from onax._tape.builder import Builder
from onax._tape.layout import make_tape

NAMES = {number: name for name, number in OPERATIONS.items()}


def attention(q, k, v, change=lambda scores: scores):
    scores = change(jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def causal(scores):
    return jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -1e9)


def shapes(batch, queries, keys, heads, width):
    return (batch, queries, heads, width), (batch, keys, heads, width), (batch, keys, heads, width)


def plain(q, k, v):
    return jnp.exp(q @ k) @ v


def both(q, k, v):
    weights = jnp.exp(q @ k)
    return weights @ v, weights


FUSED = {
    "attention": (attention, *shapes(2, 256, 256, 3, 16)),
    "a shorter last tile": (attention, *shapes(1, 300, 500, 2, 8)),
    "few queries": (attention, *shapes(3, 17, 3000, 5, 8)),
    "few keys": (attention, *shapes(2, 3000, 18, 3, 8)),
    "causal": (lambda q, k, v: attention(q, k, v, causal), *shapes(2, 200, 200, 3, 16)),
    "masked": (
        lambda q, k, v, m: attention(q, k, v, lambda s: jnp.where(m[:, None, None, :] > 0, s, -jnp.inf)),
        *shapes(2, 200, 300, 3, 16), (2, 300)),
    "biased": (lambda q, k, v, m: attention(q, k, v, lambda s: s + m), *shapes(2, 200, 300, 3, 16), (3, 200, 300)),
    "dot_product_attention": (jax.nn.dot_product_attention, *shapes(2, 200, 300, 2, 8)),
    "one matrix": (plain, (400, 20), (20, 300), (300, 30)),
    "weights on the right": (
        lambda q, k, v: jnp.einsum("jk,ik->ji", v, jnp.tanh(q @ k)), (400, 20), (20, 300), (30, 300)),
    "columns of a vector": (lambda q, k, v: plain(q, k, v)[:, 0], (400, 20), (20, 300), (300, 1)),
    "scores that go around": (lambda q, k, v: jnp.roll(q @ k, 1, axis=0) @ v, (400, 20), (20, 300), (300, 30)),
    "every second score": (lambda q, k, v: (2 * (q @ k)[::-1] + 1) @ v, (400, 20), (20, 300), (300, 30)),
}  # fmt: skip
NOT_FUSED = {
    "grouped heads": (jax.nn.dot_product_attention, (2, 200, 6, 8), (2, 200, 2, 8), (2, 200, 2, 8)),
    "rows are summed": (lambda q, k, v: v @ jnp.tanh(q @ k), (400, 20), (20, 300), (30, 400)),
    "small": (attention, *shapes(2, 16, 16, 3, 16)),
    "scores are a result": (lambda q, k, v: (lambda s: (jnp.exp(s) @ v, s))(q @ k), (400, 20), (20, 300), (300, 30)),
    "weights are a result": (both, (400, 20), (20, 300), (300, 30)),
    "the same weights twice": (lambda q, k: (lambda w: w @ w)(jnp.exp(q @ k)), (300, 20), (20, 300)),
    "one row": (lambda q, k, v: plain(q, k, v), (50, 1, 20), (50, 20, 3000), (50, 3000, 30)),
    "another reader of scores": (
        lambda q, k, v: (lambda s: (jnp.exp(s) @ v, jnp.linalg.det(s)))(q @ k), (300, 20), (20, 300), (300, 30)),
}  # fmt: skip


def operations(function, *args):
    """(the names of a program's instructions, its results as one tape)."""
    builder = Builder()
    program = inline_calls(jax.make_jaxpr(function)(*args))
    builder.outputs(builder.program(program, builder.inputs(program.in_avals)), program.out_avals)
    names = [NAMES[number] for number, _, _ in builder.parts[0].instructions]
    return names, make_tape(builder)([*args, *builder.hoisted])


def arguments(some, dtype=np.float32):
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(dtype) * 0.3 for shape in some]


def check(got, want, rtol=1e-4, atol=1e-4):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", [*FUSED, *NOT_FUSED])
def test_forms(name):
    function, *some = (FUSED | NOT_FUSED)[name]
    args = arguments(some)
    names, results = operations(function, *args)
    with jax.disable_jit():
        check(results, function(*map(jnp.asarray, args)))
    if name in NOT_FUSED:
        assert "attend" not in names
    elif name not in ("scores that go around", "every second score"):
        assert names.count("attend") == 1 and "dot" not in names


@pytest.mark.parametrize("name", ["attention", "biased", "a shorter last tile"])
def test_float64(name):
    function, *some = FUSED[name]
    with jax.enable_x64(True):
        args = arguments(some, np.float64)
        names, results = operations(function, *args)
        assert "attend" in names
        with jax.disable_jit():
            check(results, function(*map(jnp.asarray, args)), 1e-12, 1e-12)


def test_jit_with_its_threads():
    args = arguments(shapes(4, 256, 256, 4, 32))
    with jax.disable_jit():
        want = attention(*map(jnp.asarray, args))
    check(jax.jit(attention)(*args), want)
    check(jax.jit(jax.vmap(attention))(*[x[None] for x in args]), want[None])


def test_in_a_loop():
    q, k, v = arguments(shapes(1, 300, 300, 1, 16))

    def step(carry, _):
        return attention(carry, k, v), jnp.sum(carry)

    got = jax.jit(lambda q: lax.scan(step, q, None, length=3))(q)
    with jax.disable_jit():
        want = lax.scan(step, jnp.asarray(q), None, length=3)
    check(got, want)


def test_gradient():
    args = arguments(shapes(2, 256, 256, 2, 16))
    gradient = jax.grad(lambda q, k, v: jnp.sum(attention(q, k, v) ** 2), argnums=(0, 1, 2))
    with jax.disable_jit():
        want = gradient(*map(jnp.asarray, args))
    check(jax.jit(gradient)(*args), want, 1e-4, 1e-4)


def test_operands_that_are_updated_in_between():
    q, k, v = arguments([(300, 20), (20, 300), (300, 30)])

    def function(q, k, v):
        k = k * 2
        weights = jnp.exp(q @ k)
        k = k.at[0].set(5.0)
        return weights @ v, k

    with jax.disable_jit():
        want = function(*map(jnp.asarray, (q, k, v)))
    check(operations(function, q, k, v)[1], want)
