"""checkpoint: derivatives do not change; policies decide what is computed again; print_saved_residuals tells."""

import functools
import gc
import re
import weakref

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import checkpoint_policies as policies
from onax import lax
from onax.ad_checkpoint import checkpoint_name, print_saved_residuals

X = jnp.arange(1.0, 4.0)
W = jnp.arange(9.0).reshape(3, 3) / 9


def f(w, x):
    y = checkpoint_name(jnp.sin(w @ x), "y")
    z = checkpoint_name(jnp.cos(jax.jit(jnp.dot)(w, y)), "z")
    return jnp.sum(z * jnp.where(x > 0, y, 1.0))


offloading = policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z"], offload_src="device", offload_dst="pinned_host"
)
# policy -> operations of the forward pass that are computed again, of which there are two products, sines and cosines
POLICIES = {
    "none": (None, {"dot_general": 2, "sin": 1, "cos": 1}),
    "nothing": (policies.nothing_saveable, {"dot_general": 2, "sin": 1, "cos": 1}),
    "everything": (policies.everything_saveable, {"dot_general": 0, "sin": 0, "cos": 0}),
    "dots": (policies.dots_saveable, {"dot_general": 0, "sin": 1, "cos": 1}),
    "dots without batch": (policies.dots_with_no_batch_dims_saveable, {"dot_general": 0, "sin": 1, "cos": 1}),
    "offloaded dots": (
        policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
        {"dot_general": 0, "sin": 1, "cos": 1},
    ),
    "only y": (policies.save_only_these_names("y"), {"dot_general": 2, "sin": 0, "cos": 1}),
    "only z": (policies.save_only_these_names("z"), {"dot_general": 2, "sin": 1, "cos": 0}),
    "any but y": (policies.save_any_names_but_these("y"), {"dot_general": 2, "sin": 1, "cos": 0}),
    "all except y": (policies.save_anything_except_these_names("y"), {"dot_general": 0, "sin": 0, "cos": 0}),
    "y or dots": (
        policies.save_from_both_policies(policies.save_only_these_names("y"), policies.dots_saveable),
        {"dot_general": 0, "sin": 0, "cos": 1},
    ),
    "offloaded names": (offloading, {"dot_general": 2, "sin": 0, "cos": 0}),
}
WANTED = jax.grad(f, (0, 1))(W, X)


def counted(jaxpr, name):
    return sum(
        (eqn.primitive.name == name) + sum(counted(p, name) for p in eqn.params.values() if hasattr(p, "eqns"))
        for eqn in jaxpr.eqns
    )


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_changes_a_derivative(name, way):
    slope = jax.grad(jax.checkpoint(f, policy=POLICIES[name][0]), (0, 1))
    for got, wanted in zip((jax.jit(slope) if way == "jit" else slope)(W, X), WANTED):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_decide_what_is_computed_again(name):
    """Counted beyond what the derivative needs when everything is kept."""
    policy, again = POLICIES[name]

    def linear_part(policy):
        jaxpr = jax.make_jaxpr(jax.grad(jax.checkpoint(f, policy=policy), (0, 1)))(W, X)
        return next(e.params["jaxpr"] for e in jaxpr.eqns if e.primitive.name == "remat2")

    full, mine = linear_part(policies.everything_saveable), linear_part(policy)
    # Derivatives of sin and cos are residuals themselves: computed again unless everything is kept.
    for operation, times in again.items():
        beyond = counted(mine, operation) - counted(full, operation)
        if operation != "dot_general" and name not in ("everything", "all except y"):
            beyond -= 1
        assert beyond == times, operation


TRANSFORMED = {
    "hessian": lambda g: jax.hessian(g, 1)(W, X),
    "vmap of grad": lambda g: jax.vmap(jax.grad(g, 1), (None, 0))(W, W),
    "grad of vmap": lambda g: jax.grad(lambda x: jnp.sum(jax.vmap(g, (None, 0))(W, x)))(W),
    "jvp": lambda g: jax.jvp(g, (W, X), (W, X)),
    "in scan": lambda g: jax.grad(lambda w: lax.scan(lambda c, x: (c + g(w, x), None), 0.0, W)[0])(W),
    "in cond": lambda g: jax.grad(lambda w: lax.cond(w[0, 0] > -1, lambda v: g(v, X), lambda v: 0.0, w))(W),
    "of checkpoint": lambda g: jax.grad(jax.checkpoint(g))(W, X),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_checkpoint_inside_other_transformations(name):
    run = TRANSFORMED[name]
    got = run(jax.checkpoint(f, policy=policies.dots_saveable))
    for a, b in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(run(f))):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def given_to_calls(x):
    y = checkpoint_name(jnp.sin(jnp.ones(3)), "y")
    for _ in range(2):
        x = jax.jit(lambda x: x * y)(x)
    return jnp.sum(x)


def returned_by_call(x):
    y, given = jax.jit(lambda x: (jnp.sin(x), x))(x)
    return jnp.sum(jax.jit(lambda y: y * y * given)(y))


SAVED = {
    "plain": (
        lambda x: jnp.sum(jnp.sin(x) * 2),
        ["f32[3] output of cos from"],
    ),
    "named": (
        lambda x: (lambda e: jnp.sum(e * e))(checkpoint_name(jnp.exp(x), "e")),
        ["f32[3] output of exp from", "f32[3] named 'e' from"],
    ),
    "checkpoint": (jax.checkpoint(lambda x: jnp.sum(jnp.sin(x) * x)), ["f32[3] from the argument x"]),
    "policy": (
        jax.checkpoint(lambda x: jnp.sum(jnp.sin(W @ x)), policy=policies.dots_saveable),
        ["f32[3] output of dot_general from"],
    ),
    "what several calls are given": (
        jax.checkpoint(given_to_calls, policy=policies.save_only_these_names("y")),
        ["f32[3] named 'y' from"],
    ),
    "what a call is given and returns": (
        jax.checkpoint(returned_by_call, policy=policies.everything_saveable),
        ["f32[3] from the argument x", *["f32[3] output of jitted function"] * 3],
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_print_saved_residuals(name, capsys):
    function, wanted = SAVED[name]
    print_saved_residuals(function, X)
    lines = capsys.readouterr().out.splitlines()
    for text in wanted:
        assert any(line.startswith(text) for line in lines), lines
    if name not in ("named", "policy"):
        assert len(lines) == len(wanted), lines


def plain(x, w):
    y = checkpoint_name(jnp.sin(w @ x), "y")
    return checkpoint_name(jnp.cos(w @ y), "z") * y


PLACES = {
    "scan": lambda x, w: lax.scan(lambda c, v: (plain(c, w) * v, c.sum()), x, x)[0],
    "cond": lambda x, w: lax.cond(x[0] > 0, plain, lambda v, u: u @ jnp.sin(v), x, w),
    "jit": lambda x, w: jax.jit(plain)(x, w),
    "fori": lambda x, w: lax.fori_loop(0, 3, lambda i, c: plain(c, w), x),
    "cond in scan": lambda x, w: lax.scan(lambda c, v: (lax.cond(v > 1, plain, lambda a, b: a, c, w), None), x, x)[0],
    "checkpoint in scan": lambda x, w: lax.scan(lambda c, v: (jax.checkpoint(plain)(c, w) * v, None), x, x)[0],
}
KEPT = {
    "dots": policies.dots_saveable,
    "y": policies.save_only_these_names("y"),
    "nothing": None,
    "everything": policies.everything_saveable,
    "offloaded": offloading,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KEPT)
def test_policies_inside_of_programs_change_no_derivative(kind, place):
    function = PLACES[place]
    kept = jax.checkpoint(function, policy=KEPT[kind])
    slope = lambda g: jax.grad(lambda x, w: jnp.sum(g(x, w)), (0, 1))
    for got in (slope(kept)(X, W), jax.jit(slope(kept))(X, W)):
        for a, b in zip(got, slope(function)(X, W)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=5e-6)
    second = lambda g: jax.jvp(lambda x: slope(g)(x, W)[0], (X,), (X,))[1]
    np.testing.assert_allclose(second(kept), second(function), rtol=1e-4, atol=1e-4)


# place, policy -> what real JAX 0.10.2 stores beside the two arguments
STORED = {
    ("scan", "dots"): ["f32[3,3] output of closed_call"] * 2,
    ("scan", "y"): ["f32[3,3] output of closed_call"],
    ("scan", "nothing"): [],
    ("scan", "everything"): ["f32[3,3] output of closed_call"] * 6,
    ("cond", "dots"): ["f32[3] output of cond"] * 2,
    ("cond", "y"): ["f32[3] output of cond"],
    ("cond", "everything"): ["i32[] output of convert_element_type", *["f32[3] output of cond"] * 4],
    ("jit", "dots"): ["f32[3] output of jitted function 'plain'"] * 2,
    ("jit", "y"): ["f32[3] output of jitted function 'plain'"],
    ("jit", "everything"): ["f32[3] output of jitted function 'plain'"] * 4,
    ("fori", "dots"): ["f32[3,3] output of closed_call"] * 2,
    ("fori", "y"): ["f32[3,3] output of closed_call"],
    ("fori", "everything"): ["f32[3,3] output of closed_call"] * 5,
    ("cond in scan", "dots"): ["f32[3,3] output of closed_call"] * 2,
    ("cond in scan", "y"): ["f32[3,3] output of closed_call"],
    ("cond in scan", "everything"): [
        "i32[3] output of closed_call",
        *["f32[3,3] output of closed_call"] * 5,
    ],
}


@pytest.mark.parametrize("place, kind", STORED)
def test_policies_decide_what_is_stored_inside_of_programs(place, kind, capsys):
    print_saved_residuals(lambda x, w: jnp.sum(jax.checkpoint(PLACES[place], policy=KEPT[kind])(x, w)), X, W)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["f32[3] from the argument x", "f32[3,3] from the argument w"]
    assert [line.split(" from ")[0] for line in lines[2:]] == STORED[place, kind]


STATIC = {
    "position": {"static_argnums": (1,)},
    "number": {"static_argnums": 1},
    "from the end": {"static_argnums": -1},
    "name": {"static_argnames": "twice"},
}


@pytest.mark.parametrize("name", STATIC)
def test_static_arguments(name):
    g = jax.checkpoint(lambda x, twice: x * 2 if twice else x, **STATIC[name])
    assert jax.grad(g)(3.0, True) == 2.0
    assert jax.grad(g)(3.0, False) == 1.0


def test_options():
    assert jax.grad(jax.checkpoint(lambda x: x * x, prevent_cse=False))(3.0) == 6.0
    assert jax.grad(jax.checkpoint(lambda x, y: x * y, prevent_cse=(True, False)))(3.0, 2.0) == 2.0
    with pytest.raises(NotImplementedError, match="`concrete` option"):
        jax.checkpoint(lambda x: x, concrete=True)


def doubling():
    """A function, and the list of the values that it was traced with."""
    traced = []

    def function(x, double=True, *, power=1):
        traced.append(x)
        return (2 if double else 3) * x**power

    return function, traced


def test_a_function_is_traced_once_for_each_pattern_of_calls():
    function, traced = doubling()
    for _ in range(2):
        assert jax.checkpoint(function)(X).tolist() == [2.0, 4.0, 6.0]
        assert (
            jax.grad(lambda x: jax.checkpoint(function, policy=policies.dots_saveable)(x).sum())(X).tolist()
            == [2.0] * 3
        )
    assert len(traced) == 1
    jax.checkpoint(function)(1.0)
    for _ in range(2):
        assert jax.checkpoint(function, static_argnums=1)(X, False).tolist() == [3.0, 6.0, 9.0]
        assert jax.checkpoint(function, static_argnames="power")(X, power=2).tolist() == [2.0, 8.0, 18.0]
    assert len(traced) == 4
    jax.clear_caches()
    jax.checkpoint(function)(X)
    assert len(traced) == 5


def test_what_a_function_closes_over_is_that_of_the_call():
    @jax.jit
    def outer(x, y):
        inner = jax.checkpoint(lambda x: x * y)
        return inner(x) + jax.jit(lambda: inner(x))()

    assert [float(outer(2.0, y)) for y in (3.0, 4.0)] == [12.0, 16.0]


@pytest.mark.parametrize("position", [0, (0,), [0], -2])
def test_the_first_argument_can_be_static(position):
    run = jax.checkpoint(lambda double, x: 2 * x if double else x, static_argnums=position)
    assert [float(run(double, 1.0)) for double in (True, False, [], [1])] == [2.0, 1.0, 1.0, 2.0]


def test_the_programs_are_freed_with_the_function():
    function, _ = doubling()
    gone = weakref.ref(function)
    jax.checkpoint(function)(X)
    del function, _
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("static", [1, -2, (0, 3)])
def test_static_arguments_that_a_call_lacks(static):
    with pytest.raises(ValueError, match=r"but got \(.*\), while `len\(args\)` = 1"):
        jax.checkpoint(lambda x, *rest: x, static_argnums=static)(1.0)


def with_callback(x):
    y = checkpoint_name(jnp.sin(x), "y")
    jax.debug.print("y")
    z = checkpoint_name(jnp.cos(y), "z")
    jax.debug.print("{}", z)
    return jnp.exp(z)


# policy -> how often a callback with the operand z runs; one without operands always runs in both passes
PRINTED = {
    "nothing": (policies.nothing_saveable, 2),
    "everything": (policies.everything_saveable, 1),
    "any but z": (policies.save_any_names_but_these("z"), 2),
    "all except y": (policies.save_anything_except_these_names("y"), 1),
    "all except y and z": (policies.save_anything_except_these_names("y", "z"), 2),
}


@pytest.mark.parametrize("place", [lambda f: f, jax.jit, lambda f: lambda x: lax.cond(x > 0, f, jnp.sin, x)])
@pytest.mark.parametrize("name", PRINTED)
def test_how_often_callbacks_run(name, place, capfd):
    policy, times = PRINTED[name]
    jax.grad(jax.checkpoint(place(with_callback), policy=policy))(1.0)
    lines = capfd.readouterr().out.splitlines()
    assert lines.count("y") == 2 and len(lines) == 2 + times


@pytest.mark.parametrize("options, x", [({}, 3.0), ({"static_argnums": 0}, jnp.array(3.0))])
def test_errors_about_concrete_values_advise_static_arguments(options, x):
    branch = jax.checkpoint(lambda x: jnp.sin(x) if x > 0 else x, **options)
    with pytest.raises(
        jax.errors.TracerBoolConversionError, match=r"Consider the parameter `static_argnums` of `jax.remat`"
    ):
        branch(x)
    inner = jax.checkpoint(lambda x: jax.jit(lambda: 0 if jnp.add(1, 1) else 1)() + x)
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        inner(x)
    assert "static_argnums" not in str(caught.value)


def test_names_of_arguments_beside_static_ones():
    @functools.partial(jax.checkpoint, static_argnums=(0,), static_argnames="mode")
    def branch(double, x, mode):
        return x if x > 0 else -x

    with pytest.raises(jax.errors.TracerBoolConversionError, match="depends on the value of the argument x"):
        branch(True, 1.0, mode="a")


LOGGED = {
    "nothing": (None, "saving inputs with shapes:\n  float32[3]\n"),
    "everything": (
        lambda *_, **__: True,
        "saving these intermediates:\n  float32[3] from output of cos from .*\n"
        "  float32\\[\\] from output of sin from .*\n",
    ),
    "cos": (
        lambda p, *_, **__: str(p) == "cos",
        "saving inputs with shapes:\n  float32[3]\nand saving these intermediates:\n"
        "  float32[3] from output of cos from .*\n",
    ),
}


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", LOGGED)
def test_what_is_stored_is_logged(name, way, caplog):
    policy, stored = LOGGED[name]
    run = jax.checkpoint(lambda x: jnp.cos(jnp.sin(x).sum()), policy=policy)
    jax.config.update("jax_log_checkpoint_residuals", True)
    try:
        jax.grad(way(run))(X)
    finally:
        jax.config.update("jax_log_checkpoint_residuals", False)
    (record,) = [r for r in caplog.records if r.name == "onax.checkpoint"]
    pattern = stored.replace("[3]", r"\[3\]")
    assert record.levelname == "WARNING" and re.fullmatch(f"remat-decorated function {pattern}", record.getMessage())


@pytest.mark.parametrize("ordered", [False, True])
def test_calls_for_their_side_effects(ordered):
    """They would run in the forward and in the backward pass."""

    def f(x):
        jax.experimental.io_callback(lambda: None, None, ordered=ordered)
        return jnp.sin(x)

    assert np.allclose(jax.checkpoint(f)(1.0), np.sin(1.0))
    for grad in (jax.grad(jax.checkpoint(f)), jax.jit(jax.grad(jax.checkpoint(f)))):
        with pytest.raises(NotImplementedError, match="Effects not supported in partial-eval of `checkpoint`"):
            grad(1.0)
