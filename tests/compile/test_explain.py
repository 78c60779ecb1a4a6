"""onax.explain: each step of a compiled program, where it runs, how often, and why not elsewhere."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground import config
from onax.extend.core import Primitive
from virtual_devices import eight_devices


def by_operation(explanation):
    return {step.operation: step for step in explanation.steps}


def nested(x):
    def step(c, _):
        return lax.cond(c[0] > 0.5, jnp.sort, lambda c: jnp.cumsum(c) * 0.1, c), jnp.max(c)

    return lax.scan(step, x, None, length=7)


X = np.linspace(0, 1, 4, dtype=np.float32)
LARGE = np.ones((256, 256), np.float32)


def with_session(images, filters):
    convolved = lambda x: lax.conv_general_dilated(x, filters, (1, 1), "SAME")
    y = convolved(images)
    return lax.fori_loop(0, 3, lambda i, x: jnp.tanh(convolved(x)), y).sum(), jnp.fft.fft(y)


def test_a_program_that_is_one_tape():
    e = jax.explain(nested)(X)
    assert (e.name, e.runner) == ("nested", "tape")
    assert e.calls >= 3
    assert e.seconds > 0
    steps = by_operation(e)
    assert (steps["loop"].runs, steps["loop"].depth, steps["branch"].runs, steps["branch"].depth) == (1, 0, 7, 1)
    assert steps["sort"].runs + steps["cumulative"].runs == 7
    assert steps["sort"].depth == 2
    assert all(s.where == "tape" and s.seconds >= 0 for s in e.steps)
    assert all("test_explain.py" in s.location for s in e.steps)
    assert sum(map(e.share, e.steps)) == pytest.approx(1)


def test_a_program_with_a_session():
    images, filters = np.ones((4, 16, 64, 64), np.float32), np.ones((16, 16, 3, 3), np.float32)
    e = jax.explain(jax.jit(with_session))(images, filters)
    assert e.runner == "session"
    convolutions = [s for s in e.steps if s.operation == "Conv"]
    assert [(s.where, s.runs, s.depth) for s in convolutions] == [("runtime", 1, 0), ("runtime", 3, 1)]
    loop = by_operation(e)["Loop"]
    assert "conv_general_dilated is 37,748,736 multiplications" in loop.reason
    assert by_operation(e)["fft"].where == "tape"
    assert by_operation(e)["fft"].depth == 1
    assert "Conv: conv_general_dilated" in str(e)


def test_a_loop_whose_large_products_are_tapes_in_a_session_says_so():
    big = np.ones((600, 600), np.float32)
    e = jax.explain(jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ x), x)))(big)
    assert e.runner == "session"
    assert "dot_general is 216,000,000 multiplications" in by_operation(e)["Loop"].reason


def test_python_calls_say_why():
    e = jax.explain(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, x, x) * 2)(X)
    (call,) = [s for s in e.steps if s.where == "Python"]
    assert call.reason
    assert call.runs == 1

    thrice = Primitive("thrice")
    thrice.def_impl(lambda x: x * 3)
    thrice.def_abstract_eval(lambda x: x)
    e = jax.explain(lambda x: lax.fori_loop(0, 5, lambda i, c: thrice.bind(c), x))(X)
    (call,) = [s for s in e.steps if s.where == "Python"]
    assert call.runs == 5
    assert "NumPy kernel is called, because" in call.reason
    assert call.remedy
    assert call.reason in str(e)


def test_effects_happen_once():
    seen = []
    e = jax.explain(lambda x: jax.debug.callback(seen.append, x[0]))(X)
    jax.effects_barrier()
    assert len(seen) == 1
    assert e.calls == 1
    assert e.seconds is None


def test_shapes_alone_are_not_measured():
    e = jax.explain(nested)(jax.ShapeDtypeStruct((4,), np.float32))
    assert e.calls == 0
    assert e.seconds is None
    assert all(s.seconds is None and s.runs is None for s in e.steps)
    assert by_operation(e)["sort"].where == "tape"


def test_of_a_compiled_function():
    compiled = jax.jit(nested).lower(X).compile()
    assert compiled.explain().calls == 0
    assert by_operation(compiled.explain(X))["branch"].runs == 7


def test_nothing_to_compute():
    e = jax.explain(lambda x: x)(X)
    assert (e.runner, e.steps) == ("nothing", [])


def test_static_arguments_and_trees():
    e = jax.explain(jax.jit(lambda n, tree: {"y": jnp.sin(tree["x"]) * n}, static_argnums=0))(3, {"x": X})
    assert [name for name, _ in e.steps[0].equations] == ["sin", "mul"]


def test_without_direct_tapes():
    with config.direct_tapes(False):
        e = jax.explain(nested)(X)
    assert e.runner == "session"
    assert by_operation(e)["branch"].runs == 7


def test_several_devices():
    mesh = jax.make_mesh((1,), ("i",))
    assert jax.explain(jax.shard_map(jnp.sin, mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P("i")))(X).steps
    with eight_devices(True):
        mesh = jax.make_mesh((2,), ("i",))
        spread = jax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=jax.P("i"), out_specs=jax.P())
        assert [s.operation for s in jax.explain(spread)(X).steps] == ["psum_invariant"]


def sorted_there(x):
    return lax.cond(x[0] > 0.5, jnp.sort, jnp.flip, x)


def test_a_branch_that_is_a_library_function_has_the_line_of_its_caller():
    sorted_here = lambda x: lax.cond(x[0] > 0.5, jnp.sort, jnp.flip, x)
    for fun, name in ((sorted_there, "sorted_there"), (sorted_here, "<lambda>")):
        steps = [s for s in jax.explain(fun)(X).steps if s.depth]
        assert steps and all(name in s.location for s in steps)
