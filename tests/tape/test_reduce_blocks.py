"""Reductions over leading axes together with what computes their operand, against the eager functions."""

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
JOINED = {
    "squares": (lambda v: jnp.sum(v * v, 0), (300, 300)),
    "few columns": (lambda v: jnp.sum(v * v, 0), (5000, 17)),
    "several axes": (lambda v: jnp.sum(v * 2 + v, (0, 1)), (30, 40, 5, 20)),
    "differences": (lambda v, m: jnp.sum((v - m) ** 2, 0), (300, 1000), (1000,)),
    "largest": (lambda v: jnp.max(jnp.sin(v), 0), (301, 999)),
    "product": (lambda v: jnp.prod(1 + v * 1e-3, 0), (301, 999)),
    "with a fold of rows": (lambda v: jnp.sum(v - v.mean(1, keepdims=True), 0), (301, 999)),
    "another result": (lambda v: (lambda y: (jnp.sum(jnp.exp(y), 0), y))(v + 1), (301, 999)),
    "several readers of operands": (lambda v: (jnp.sum(v * v, 0), jnp.sum(v * 3 + 1, 0), v + 2), (301, 999)),
    "reversed": (lambda v: jnp.sum(v[::-1] * v, 0), (301, 999)),
    "a shifted part": (lambda v: jnp.sum(v[1:] * v[:-1], 0), (301, 999)),
}
SEPARATE = {
    "the operand is a result": (lambda v: (lambda y: (jnp.sum(y, 0), y))(v * v), (300, 300)),
    "a middle axis": (lambda v: jnp.sum(v * v, 1), (30, 100, 40)),
    "many columns": (lambda v: jnp.sum(v * v, 0), (20, 5000)),
    "small": (lambda v: jnp.sum(v * v, 0), (20, 50)),
    "no program": (lambda v: jnp.sum(v, 0), (300, 300)),
}


def run(function, *args):
    """(the names of a program's instructions, its results as one tape)."""
    builder = Builder()
    program = inline_calls(jax.make_jaxpr(function)(*args))
    builder.outputs(builder.program(program, builder.inputs(program.in_avals)), program.out_avals)
    names = [NAMES[number] for number, _, _ in builder.parts[0].instructions]
    return names, make_tape(builder)([*args, *builder.hoisted])


def arguments(shapes, dtype):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=shape) * 3).astype(dtype) for shape in shapes]


def check(got, want, rtol=1e-5, atol=1e-3):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("name", [*JOINED, *SEPARATE])
def test_forms(name, dtype):
    function, *shapes = (JOINED | SEPARATE)[name]
    if dtype == "int32" and name not in ("squares", "few columns", "several axes", "the operand is a result", "small"):
        dtype = "float32"
    with jax.enable_x64(dtype == "float64"):
        args = arguments(shapes, dtype)
        names, results = run(function, *args)
        with jax.disable_jit():
            want = function(*map(jnp.asarray, args))
        check(results, want)
        check(jax.jit(function)(*args), want)
    assert ("reduce_blocks" in names) is (name in JOINED)


def test_errors_of_long_sums_do_not_grow():
    x = np.random.default_rng(0).random((100_000, 16)).astype(np.float32)
    (got,) = run(lambda v: jnp.sum(v * v, 0), x)[1]
    exact = np.sum((x * x).astype(np.float64), 0)
    assert np.max(np.abs(got - exact) / exact) <= 4 * 2**-24


def test_nan_reaches_the_largest():
    x = np.zeros((400, 400), np.float32)
    x[77, 5] = np.nan
    (got,) = run(lambda v: jnp.max(v * 2, 0), x)[1]
    assert np.isnan(got[5]) and np.isnan(got).sum() == 1


def test_in_a_loop():
    x = arguments([(300, 300)], "float32")[0]

    def step(carry, _):
        return carry - 0.1 * jnp.mean(carry * carry, 0), jnp.sum(carry * 2, 0)

    with jax.disable_jit():
        want = lax.scan(step, jnp.asarray(x), None, length=3)
    check(jax.jit(lambda x: lax.scan(step, x, None, length=3))(x), want)
