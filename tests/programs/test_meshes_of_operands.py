"""Operands over other meshes than the one in context, or than each other, are refused, as in JAX."""

import numpy as np
import pytest

import onax as jax
import onax.extend.core
import onax.numpy as jnp
from onax import lax
from onax.sharding import AxisType, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

V = np.arange(8, dtype=np.float32)


@pytest.fixture(autouse=True)
def devices():
    with eight_devices():
        yield


def two_axes(*types):
    return jax.make_mesh((2, 2), ("x", "y"), types or None)


def over(mesh, spec):
    return jax.device_put(V, NamedSharding(mesh, spec))


FUNCTIONS = {
    "add": lambda x: x + x,
    "sin": jnp.sin,
    "reduce_sum": lambda x: x.sum(),
    "reshape": lambda x: lax.reshape(x, (2, 4)),
    "concatenate": lambda x: jnp.concatenate([x, x]),
    "dot_general": lambda x: x @ x,
    "mul": jax.grad(lambda x: (x * x).sum()),
}
CONTEXTS = {
    "other names": lambda: jax.make_mesh((4,), ("z",)),
    "an automatic axis": lambda: two_axes(AxisType.Explicit, AxisType.Auto),
    "automatic axes": lambda: two_axes(AxisType.Auto, AxisType.Auto),
}


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_another_mesh_in_context(name, context):
    x, f = over(two_axes(), P("x")), FUNCTIONS[name]
    with jax.set_mesh(CONTEXTS[context]()):
        for run in (f, jax.jit(f), jax.make_jaxpr(f), lambda x: jax.eval_shape(f, x)):
            with pytest.raises(ValueError, match=f"For primitive {name}, context mesh .* should match the aval mesh"):
                run(x)
        assert np.array_equal(x, V)


def test_operands_over_two_meshes():
    x, z = over(two_axes(), P("x")), over(jax.make_mesh((4,), ("z",)), P("z"))
    for f in (lambda: x + z, lambda: jax.jit(lambda a: a * z)(x)):
        with pytest.raises(ValueError, match=r"Mesh for all inputs should be equal\. Got one mesh"):
            f()


def test_a_compiled_function_is_refused_in_another_context():
    x, f = over(two_axes(), P("x")), jax.jit(lambda x: x * 2)
    with jax.set_mesh(two_axes()):
        assert np.array_equal(f(x), 2 * V)
    with jax.set_mesh(jax.make_mesh((4,), ("z",))), pytest.raises(ValueError, match="should match the aval mesh"):
        f(x)


def test_programs_are_interpreted_in_the_context_in_which_they_were_staged():
    x = over(two_axes(), P("x"))
    with jax.set_mesh(two_axes()):
        program = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(x)
        pullback = jax.vjp(lambda x: jnp.sin(x).sum(), x)[1]
    evaluate = lambda x: jax.core.eval_jaxpr(program.jaxpr, program.consts, x)[0]
    with jax.set_mesh(jax.make_mesh((4,), ("z",))):
        assert str(jax.make_jaxpr(evaluate)(x)) == str(program)
    (ct,) = pullback(jnp.float32(1))
    np.testing.assert_allclose(ct, np.cos(V), rtol=1e-6)


def test_an_explicit_part_of_a_program_is_evaluated_operation_by_operation():
    auto = two_axes(AxisType.Auto, AxisType.Auto)
    inner = jax.sharding.explicit_axes(lambda x: jnp.sin(x) * 2, in_sharding=P("x"))
    with jax.set_mesh(auto):
        x = over(auto, P("x"))
        program = jax.jit(lambda x: inner(x + 1)).trace(x).jaxpr
        np.testing.assert_allclose(jax.extend.core.jaxpr_as_fun(program)(x)[0], 2 * np.sin(V + 1), rtol=1e-6)
