"""jax_debug_nans and jax_debug_infs: the operation, its operands and its line, however deep it lies."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax


def log(x):
    y = x + 1
    return jnp.log(y) * 2  # the line


def rootless(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # the line


def placed(function):
    """file:line of the marked line of a function."""
    lines = open(__file__).read().splitlines()
    start = function.__code__.co_firstlineno
    return f"{__file__}:{next(i for i in range(start, len(lines) + 1) if '# the line' in lines[i - 1])}:"


BAD = {
    "eager": lambda: log(-3.0),
    "jit": lambda: jax.jit(log)(-3.0),
    "nested jit": lambda: jax.jit(lambda x: jax.jit(log)(x) + 1)(-3.0),
    "scan": lambda: lax.scan(lambda c, x: (log(c), x), -3.0, jnp.ones(3)),
    "scan under jit": lambda: jax.jit(lambda x: lax.scan(lambda c, x: (log(c), x), x, jnp.ones(3)))(-3.0),
    "while": lambda: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, log(c[1])), (0, -3.0)),
    "fori under jit": lambda: jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: log(c), x))(-3.0),
    "cond": lambda: lax.cond(True, log, lambda x: x, -3.0),
    "cond under jit": lambda: jax.jit(lambda x: lax.cond(x < 0, log, lambda x: x, x))(-3.0),
    "vmap": lambda: jax.vmap(log)(jnp.array([1.0, -3.0])),
    "jit of vmap": lambda: jax.jit(jax.vmap(log))(jnp.array([1.0, -3.0])),
    "vmap of jit": lambda: jax.vmap(jax.jit(log))(jnp.array([1.0, -3.0])),
    "grad": lambda: jax.grad(log)(-3.0),
    "grad of jit": lambda: jax.grad(jax.jit(log))(-3.0),
    "jit of grad of scan": lambda: jax.jit(jax.grad(lambda x: lax.scan(lambda c, _: (log(c), None), x, None, 2)[0]))(
        -3.0
    ),
    "checkpoint": lambda: jax.checkpoint(log)(-3.0),
    "jvp of jit": lambda: jax.jvp(jax.jit(log), (-3.0,), (1.0,)),
}


OUTER = {"scan": "scan", "while": "while", "fori": "scan", "cond": "cond", "jit of grad of scan": "scan"}


@pytest.mark.parametrize("name", BAD)
def test_the_operation_its_operands_and_its_line(name):
    with jax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        BAD[name]()
    text = str(caught.value)
    outer = OUTER.get(name, OUTER.get(name.split()[0]))  # JAX names the loop or branch
    inner = "log" if outer is None else f"{outer}\nInside of it, the operation is log"
    assert text.startswith(f"invalid value (nan) encountered in {inner}")
    assert placed(log) in text
    assert "operand 0: float32" in text and "-2." in text


BACKWARD = {
    "eager": lambda: jax.grad(rootless)(0.0),
    "jit": lambda: jax.jit(jax.grad(rootless))(0.0),
    "grad of jit": lambda: jax.grad(jax.jit(rootless))(0.0),
    "jit of grad of jit": lambda: jax.jit(jax.grad(jax.jit(rootless)))(0.0),
    "vjp": lambda: jax.vjp(rootless, 0.0)[1](1.0),
    "scan": lambda: jax.grad(lambda x: lax.scan(lambda c, _: (rootless(c), None), x, None, length=2)[0])(0.0),
    "cond": lambda: jax.grad(lambda x: lax.cond(True, rootless, lambda x: x, x))(0.0),
    "vmap": lambda: jax.vmap(jax.grad(rootless))(jnp.zeros(2)),
}


@pytest.mark.parametrize("call", BACKWARD.values(), ids=BACKWARD.keys())
def test_the_backward_pass_names_the_forward_line(call):
    with jax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        call()
    assert f"In the backward pass of {placed(rootless)}" in str(caught.value)


@pytest.mark.parametrize("jitted", [False, True])
def test_infinities(jitted):
    run = jax.jit(lambda x: 1 / x) if jitted else lambda x: 1 / x
    with jax.debug_infs(True), pytest.raises(FloatingPointError, match=r"invalid value \(inf\) encountered in div"):
        run(jnp.array(0.0))
    with jax.debug_nans(True):
        run(jnp.array(0.0))


def test_what_is_hidden_inside_programs_passes():
    hidden = {
        "jit": lambda: jax.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))(-1.0),
        "scan": lambda: lax.scan(lambda c, x: (jnp.where(c > 0, jnp.log(c), 1.0), x), -1.0, jnp.ones(2)),
        "while": lambda: lax.while_loop(lambda c: c < 0, lambda c: jnp.where(c > 0, jnp.log(c), 1.0), -1.0),
        "device_put": lambda: jax.device_put(np.nan),
    }
    with jax.debug_nans(True):
        for call in hidden.values():
            call()


def test_the_first_bad_element_is_named():
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match=r"at index \[1, 0\] of the result"):
        jnp.sqrt(jnp.array([[1.0, 2.0], [-1.0, -2.0]]))


def test_a_value_that_only_the_compiled_program_gives(capfd):
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="de-optimized function did not produce"):
        jax.jit(lambda x: x)(np.nan)
    assert "Calling the de-optimized version" in capfd.readouterr().out


@pytest.mark.parametrize("given", [np.nan, np.float32(np.nan), np.full(2, np.nan, np.float32)], ids=repr)
def test_a_value_that_the_caller_gives_is_no_operations_fault(given):
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match=r"de-optimized function did not .* its inputs"):
        jax.jit(lambda x: x * 3)(given)


SHARDED = {
    "shard_map": lambda f: jax.shard_map(
        f,
        mesh=jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)),
        in_specs=jax.P("x"),
        out_specs=jax.P("x"),
    ),
    "pmap": jax.pmap,
}


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", SHARDED)
def test_sharded_computations_are_named_as_jax_names_them(name, way):
    f = way(SHARDED[name](log))
    with jax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        f(jnp.full(1, -3.0))
    text = str(caught.value)
    first, second = text.splitlines()[:2]
    assert (first, second) == (
        "Invalid value (nan) encountered in sharded computation.",
        "Inside of it, the operation is log",
    )
    assert placed(log) in text


def test_donated_arguments_stay_for_the_second_run():
    x = jnp.full(3, -1.0)
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="in log"):
        jax.jit(jnp.log, donate_argnums=0)(x)


def test_static_arguments_are_what_they_were():
    seen = []

    def f(x, n):
        seen.append((type(n), isinstance(x, jax.Array)))
        return jnp.log(x) * n

    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="in log"):
        jax.jit(f, static_argnums=1)(-1.0, 2)
    assert seen == [(int, True), (int, True)]


@pytest.mark.parametrize("option, value, text", [(jax.debug_nans, 0.0, "(nan)"), (jax.debug_infs, 1.0, "(inf)")])
def test_programs_that_were_compiled_before(option, value, text):
    compiled = jax.jit(lambda x: x / 0.0).lower(1.0).compile()
    compiled(value)
    with option(True):
        for _ in range(2):
            with pytest.raises(
                FloatingPointError, match=re.escape(f"invalid value {text} encountered in jit(<lambda>)")
            ):
                compiled(value)
        assert jax.jit(lambda x: x + 1).lower(1.0).compile()(value) == value + 1
    assert not np.isfinite(compiled(value))
