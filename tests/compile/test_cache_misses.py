"""jax_explain_cache_misses and jax_log_compiles: what the log says about a call that has to be traced."""

import logging

import numpy as np
import pytest

import onax
from onax import lax
from onax import numpy as jnp


@pytest.fixture
def logged(caplog):
    """The messages logged by a call."""
    caplog.set_level(logging.WARNING, "onax")

    def run(call):
        caplog.clear()
        call()
        return [record.getMessage() for record in caplog.records]

    return run


def scaled(x, by=1):
    return x["a"] * by if isinstance(x, dict) else x * by


@pytest.fixture
def f():
    """`scaled` under jit, which was never called."""
    onax.clear_caches()
    return onax.jit(scaled, static_argnames="by")


ONES = jnp.ones(3)
DIFFERENCES = {
    "shape": (lambda f: f(jnp.ones(4)), "  different input types:\n  * at x, now f32[4] and before f32[3]"),
    "dtype": (lambda f: f(jnp.ones(3, int)), "  different input types:\n  * at x, now i32[3] and before f32[3]"),
    "weak type": (
        lambda f: (onax.clear_caches(), f(np.float32(2)), f(2.0)),
        "  * at x, now f32[]{weak_type=True} and before f32[]{weak_type=False} "
        "https://docs.jax.dev/en/latest/type_promotion.html#weak-types",
    ),
    "tree": (
        lambda f: f({"a": ONES}),
        "  different input pytree:\n  * at input path [0][0], now a <class 'dict'> and before a",
    ),
    "static": (lambda f: f(ONES, 2), "  different static arguments:\n  * by, now 2 and before not given"),
    "another static": (
        lambda f: (onax.clear_caches(), f(ONES, 2), f(ONES, 3)),
        "different static arguments:\n  * by, now 3 and before 2",
    ),
    "option": (
        lambda f: onax.default_matmul_precision("float32")(f)(ONES),
        "  * jax_default_matmul_precision differs: now float32 and before None",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_says_what_differs(name, logged, f):
    call, words = DIFFERENCES[name]
    with onax.explain_cache_misses(True):
        first = logged(lambda: f(ONES))
        assert logged(lambda: f(ONES)) == []
        messages = logged(lambda: call(f))
    assert len(first) == 1
    assert first[0].startswith(f"TRACING CACHE MISS at {__file__}:")
    assert "never seen function:\n    scaled id=" in first[0]
    assert f"  for scaled defined at {__file__}:" in messages[-1]
    assert words in messages[-1]


def test_is_silent_when_off(logged):
    assert logged(lambda: onax.jit(lambda x: x + 1)(ONES)) == []


def test_functions_of_the_same_line(logged):
    with onax.explain_cache_misses(True):
        messages = logged(lambda: [onax.jit(lambda x: x + 1)(ONES) for _ in range(2)])
    assert ["another function defined on the same line" in m for m in messages] == [False, True]


def test_the_same_function_again(logged):
    f = onax.jit(lambda x: x + 1)
    with onax.explain_cache_misses(True):
        messages = logged(lambda: (f(ONES), onax.clear_caches(), f(ONES)))
    assert ["another function" in m for m in messages] == [False, False]


def test_compilations_are_logged_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, "onax")
    onax.jit(lambda x: x + 1)(ONES)
    assert [(r.levelname, r.getMessage().split(" ")[0]) for r in caplog.records] == [
        ("DEBUG", "Finished"),
        ("DEBUG", "Compiling"),
        ("DEBUG", "Finished"),
    ]


def test_log_compiles(logged):
    with onax.log_compiles(True):
        messages = logged(lambda: onax.jit(scaled)(ONES, 7))
    assert [m.split(" in ")[0] for m in messages] == [
        "Finished tracing scaled for jit",
        "Compiling jit(scaled) with global shapes and types (float32[3], int32[]).",
        "Finished compilation of jit(scaled) by ONNX Runtime",
    ]


def test_disable_jit_runs_the_function_itself():
    seen = []

    @onax.jit
    def f(x):
        seen.append(float(x))
        return x + 1 if x > 0 else x - 1

    with onax.disable_jit():
        assert f(jnp.float32(2)) == 3
        assert f(jnp.float32(-2)) == -3
        out = lax.scan(lambda c, x: (c + x, seen.append(float(c))), 0.0, jnp.ones(2))[0]
        ys = lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(3.0), reverse=True)[1]
        lax.while_loop(lambda c: c < 7, lambda c: seen.append(int(c)) or c + 1, 6)
        lax.fori_loop(8, 9, lambda i, c: seen.append(int(i)), None)
        lax.switch(5, [abs, lambda x: seen.append(x)], 9)
        mapped = onax.vmap(lambda v: lax.while_loop(lambda c: c < 3, lambda c: c + 1, v))(jnp.arange(5))
        with pytest.raises(ValueError, match="zero-length scan"):
            lax.scan(lambda c, x: (c, x), 0.0, jnp.ones(0))
    assert seen == [2.0, -2.0, 0.0, 1.0, 6, 8, 9]
    assert out == 2
    np.testing.assert_array_equal(ys, [3, 2, 0])
    np.testing.assert_array_equal(mapped, [3, 3, 3, 3, 4])
    with pytest.raises(onax.errors.ConcretizationTypeError):
        f(1.0)


def over(name, kind):
    mesh = onax.make_mesh((1,), (name,), (getattr(onax.sharding.AxisType, kind),))
    return onax.device_put(ONES, onax.NamedSharding(mesh, onax.P(name)))


MESHES = {
    "explicit axes of an argument": (
        lambda f: f(over("x", "Explicit")),
        "different input types:\n  * at x, now f32[3@x]({Explicit: ('x',)}) and before f32[3]({})",
    ),
    "set_mesh": (
        lambda f: onax.set_mesh(over("x", "Auto").sharding.mesh).__enter__() or f(ONES),
        "  * abstract_mesh_context_manager differs: now AbstractMesh('x': 1, axis_types=(Auto,)",
    ),
    "with mesh": (
        lambda f: over("x", "Auto").sharding.mesh(f)(ONES),
        "  * mesh_context_manager differs: now (Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,)),) and "
        "before ()",
    ),
}


@pytest.mark.parametrize("name", MESHES)
def test_says_which_mesh_differs(name, logged, f):
    call, words = MESHES[name]
    with onax.explain_cache_misses(True):
        logged(lambda: f(ONES))
        try:
            (message,) = logged(lambda: call(f))
        finally:
            onax.set_mesh(None)
    assert words in message and "UserContext" not in message
