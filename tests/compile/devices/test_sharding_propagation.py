"""How shardings go through programs; tests/golden compares those of whole functions with JAX."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.devices.sharding_propagation import propagate
from onax.sharding import NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

with eight_devices():
    GRID = mesh(x=4, y=2)
X = np.arange(32, dtype=np.float32).reshape(8, 4)


def over_some(v, names, f=lambda a: a * 2):
    return jax.shard_map(f, mesh=GRID, in_specs=P("x"), out_specs=P("x"), axis_names=names)(v)


RULES = {  # function of an operand sharded P("x", "y"), spec of the result (None: on one device)
    "elementwise": (lambda v: jnp.sin(v) + 1, P("x", "y")),
    "transpose": (lambda v: v.T, P("y", "x")),
    "a reduction": (lambda v: v.sum(0), P("y")),
    "argmax": (lambda v: jnp.argmax(v, 1), P("x")),
    "a new dimension": (lambda v: v[:, None], P("x", None, "y")),
    "merged dimensions": (lambda v: v.reshape(32), P("x")),
    "split dimensions": (lambda v: v.reshape(4, 2, 4), P("x", None, "y")),
    "dot_general": (lambda v: v @ v.T, P("x")),
    "a product with a replicated matrix": (lambda v: v @ jnp.ones((4, 4)), P("x")),
    "a slice of a whole dimension": (lambda v: v[:, :3], P("x")),
    "a slice that the axis does not divide": (lambda v: v[:3], P(None, "y")),
    "a constraint": (lambda v: lax.with_sharding_constraint(v, NamedSharding(GRID, P("y"))), P("y")),
    "a call": (jax.jit(lambda v: v.T * 2), P("y", "x")),
    "scan's stacked results": (lambda v: lax.scan(lambda c, r: (c, r * 2), 0.0, v)[1], P(None, "y")),
    "cond": (lambda v: lax.cond(True, jnp.sin, jnp.cos, v), P("x", "y")),
    "shard_map": (lambda v: over_some(v, {"x", "y"}), P("x")),
    "shard_map over some axes": (lambda v: over_some(v, {"x"}), P("x", "y")),
    "a constraint in a shard_map over some axes": (
        lambda v: over_some(v, {"x"}, lambda a: lax.with_sharding_constraint(a * 2, P("y"))),
        P(("x", "y")),
    ),
    "a constant": (lambda v: jnp.ones(8), None),
}


@pytest.mark.parametrize("name", RULES)
def test_shardings_of_results(name):
    function, wanted = RULES[name]
    with eight_devices():
        (found,) = propagate(jax.make_jaxpr(function)(X), (NamedSharding(GRID, P("x", "y")),))
    if wanted is None:
        assert found is None or not any(found.spec)
    else:
        assert found.is_equivalent_to(NamedSharding(GRID, wanted), np.ndim(jax.eval_shape(function, X))), found


def test_without_sharded_operands_nothing_is_sharded():
    assert propagate(jax.make_jaxpr(lambda v: (v + 1, v.sum()))(X), (None,)) == [None, None]


def test_the_first_sharded_operand_decides():
    jaxpr = jax.make_jaxpr(lambda a, b: a + b)(X, X)
    one, other = NamedSharding(GRID, P("x")), NamedSharding(GRID, P(None, "y"))
    assert propagate(jaxpr, (None, other)) == [other]
    assert propagate(jaxpr, (one, None)) == [one]
    assert propagate(jaxpr, (one, other)) == [NamedSharding(GRID, P("x", "y"))]


def test_indices_on_several_devices():
    """Eager gathers and scatters take indices that lie on the devices of their operand, replicated or split."""
    with eight_devices():
        grid = mesh(x=4)
        table = np.arange(32, dtype=np.float32).reshape(8, 4)
        ids = np.array([1, 7, -2, 0], np.int32)
        for spec in (P(), P("x")):
            at = jax.device_put(ids, NamedSharding(grid, spec))
            x = jax.device_put(table, NamedSharding(grid, P()))
            np.testing.assert_array_equal(x[at], table[ids])
            np.testing.assert_array_equal(x.at[at].set(0.0), np.asarray(jax.numpy.asarray(table).at[ids].set(0.0)))
            rows = jax.device_put(table[:4], NamedSharding(grid, P("x")))
            np.testing.assert_array_equal(jax.ops.segment_sum(rows, at % 3, 3).sum(), table[:4].sum())


@pytest.mark.parametrize("spec", [P("x", None), P(("x", "y"), None), P("x")])
@pytest.mark.parametrize("through", [jax.jit, lambda f: f])
def test_results_that_lie_as_the_first_argument_have_its_sharding(spec, through):
    with eight_devices():
        x = jax.device_put(X, NamedSharding(GRID, spec))
        same, product, fewer = through(lambda v: (v * 2, v @ v.T, v[:, 0]))(x)
        assert same.sharding.spec == product.sharding.spec == spec and fewer.sharding.spec == P(spec[0])


KEYS = {  # function of keys sharded P("x"): specs of the result of an operation, and of a compiled one
    "fold_in": (jax.vmap(lambda k: jax.random.fold_in(k, 1)), P("x"), P("x")),
    "split": (jax.vmap(lambda k: jax.random.split(k, 3)), P("x", None), P("x", None)),
    "bits": (jax.vmap(lambda k: jax.random.bits(k, (4,))), P("x"), P("x")),
    "key_data": (jax.random.key_data, P("x", None), P("x")),
    "wrap_key_data": (lambda k: jax.random.wrap_key_data(jax.random.key_data(k)), P("x"), P("x")),
    "reshape": (lambda k: k.reshape(4, 2), P("x", None), P("x", None)),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys(name):
    function, eager, compiled = KEYS[name]
    with eight_devices():
        keys = jax.device_put(jax.random.split(jax.random.key(0), 8), NamedSharding(GRID, P("x")))
        assert function(keys).sharding == NamedSharding(GRID, eager)
        assert jax.jit(function)(keys).sharding == NamedSharding(GRID, compiled)
