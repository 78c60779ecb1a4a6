"""The per-device program: which collectives it has, and that it gives what the whole program gives."""

import re

import numpy as np
import pytest

import onax as jax
from onax._compile.devices import spmd
from onax._compile.devices.spmd import gathers_of, partition
from onax._ground.config import separate_devices
from onax._ground.errors import LoweringError
from onax.sharding import AxisType, NamedSharding
from sharded_programs import GRID, P, check, collectives, jnp, lax, partitioned
from virtual_devices import eight_devices, mesh

X = np.arange(32, dtype=np.float32).reshape(8, 4) / 7
Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
V = np.arange(8, dtype=np.float32)
GAMMA = lambda a: jax.random.gamma(jax.random.wrap_key_data(np.array([1, 2], np.uint32)), a)


def loss(w, x, v):
    return ((jnp.tanh(x @ w) @ v) ** 2).mean()


PROGRAMS = {  # function, arguments, their specs, specs of the results, collectives
    "elementwise": (lambda a: jnp.sin(a) + 1, (X,), [P("x", "y")], [P("x", "y")], []),
    "operands that lie differently": (
        lambda a, b: a * b, (Z, Z), [P("x"), P("y", "x")], [P("x")],
        [("all_gather", ("y",)), ("all_to_all", ("x",))],
    ),
    "a vector along rows": (lambda a, b: a + b, (Z, V), [P("x"), P("y")], [P("x", "y")], []),
    "a function with a rule of its own": (lambda a: jax.nn.relu(a), (Z,), [P("x")], [P("x")], []),
    "softmax": (
        lambda a: jax.nn.softmax(a, -1), (Z,), [P("x", "y")], [P("x", "y")], [("pmax", ("y",)), ("psum", ("y",))],
    ),
    "a tensor-parallel layer": (loss, (Z, Z, Z), [P(None, "y"), P("x"), P("y")], [P()],
                                [("psum", ("y",)), ("psum", ("x",))]),
    "its gradient": (jax.grad(loss, (0, 2)), (Z, Z, Z), [P(None, "y"), P("x"), P("y")], [P(None, "y"), P("y")],
                     [("psum", ("y",)), ("psum", ("x",)), ("psum", ("x",))]),
    "nothing sharded": (lambda a: a @ a, (Z,), [P()], [P()], []),
    "several axes on a dimension": (lambda a: a.sum(1), (Z,), [P(("x", "y"))], [P(("x", "y"))], []),
    "a call": (jax.jit(lambda a: a.T * 2), (Z,), [P("x", "y")], [P("y", "x")], []),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_partitioned_programs(name):
    function, args, in_specs, out_specs, wanted = PROGRAMS[name]
    program, specs = check(function, *args, in_specs=in_specs)
    assert specs == out_specs
    assert collectives(program) == wanted


def test_the_body_works_on_blocks():
    program, _ = partitioned(lambda a: a * 2, Z, in_specs=[P("x", "y")])
    (eqn,) = program.eqns
    assert [v.aval.shape for v in eqn.params["jaxpr"].invars] == [(2, 4)]
    assert [v.aval.shape for v in eqn.outvars] == [(8, 8)]
    assert not eqn.params["check_vma"]
    assert eqn.params["newly_manual_axes"] == {"x", "y"}


def test_stated_specs_of_results_have_precedence():
    program, specs = check(lambda a: a @ a.T, Z, in_specs=[P(None, "x")], out_specs=[P(None, "x")])
    assert specs == [P(None, "x")]
    assert collectives(program) == [("reduce_scatter", ("x",))]


def test_axes_that_do_not_divide_a_dimension_do_not_shard_it():
    _, specs = check(lambda a: a + 1, X[:3], in_specs=[P("x", "y")])
    assert specs == [P(None, "y")]


def test_constants_of_the_program():
    _, specs = check(lambda a: a + jnp.asarray(Z), Z, in_specs=[P("x")])
    assert specs == [P("x")]


def test_a_program_is_partitioned_once_for_given_specs():
    with eight_devices():
        jaxpr = jax.make_jaxpr(jnp.sin)(Z)
        assert partition(jaxpr, GRID, [P("x")]) is partition(jaxpr, GRID, [P("x", None)])
        assert partition(jaxpr, GRID, [P("x")]) is not partition(jaxpr, GRID, [P("y")])


def test_two_readers_share_a_collective():
    program, _ = check(lambda a: (a @ Z, a @ jnp.cos(Z)), Z, in_specs=[P(None, "x")], out_specs=[P(), P()])
    assert len(collectives(program)) == 2  # each sums its own product
    program, _ = check(lambda a: (jnp.sort(a), jnp.argsort(a)), V, in_specs=[P("x")])
    assert collectives(program) == [("all_gather", ("x",))]


def test_an_equation_without_a_rule_is_noted():
    program, _ = check(GAMMA, abs(Z) + 1, in_specs=[P("x")], gathers=["random_gamma"], rtol=1e-3)
    (gather,) = gathers_of(program)
    assert gather.bytes == 64 * 4 - 64
    assert gather.source_info is not None


def test_weak_types_stay():
    program, _ = partitioned(lambda a: a * 2.0, 3.0, in_specs=[P()])
    assert program.out_avals[0].weak_type


def test_references_are_discharged():
    def function(a):
        ref = jax.new_ref(a)
        ref[...] = ref[...] * 2
        return ref[...]

    _, specs = check(function, Z, in_specs=[P("x")], gathers=None)
    assert len(specs) == 1


def placed(args, specs):
    return [jax.device_put(x, NamedSharding(GRID, s)) for x, s in zip(args, specs)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways_give_the_same(name):
    """`jit` as one program of all virtual devices, and as a program on each."""
    function, args, in_specs, out_specs, _ = PROGRAMS[name]
    with eight_devices():
        args = placed(args, in_specs)
        together = jax.tree.leaves(jax.jit(function)(*args))
        with separate_devices(True):
            apart = jax.tree.leaves(jax.jit(function)(*args))
    for one, other, spec in zip(together, apart, out_specs):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert one.sharding == other.sharding
        assert one.sharding.is_equivalent_to(NamedSharding(GRID, spec), one.ndim)


def test_devices_run_what_stands_in_the_partitioned_program(monkeypatch):
    seen = []
    original = spmd.partition_call
    monkeypatch.setattr(spmd, "partition_call", lambda *args: seen.append(original(*args)) or seen[-1])
    with eight_devices(), separate_devices(True):
        (x,) = placed([Z], [P("x")])
        found = jax.jit(lambda a: a.sum(0), out_shardings=NamedSharding(GRID, P("x")))(x)
    assert collectives(seen[0]) == [("reduce_scatter", ("x",))]
    assert found.sharding.spec == P("x")
    np.testing.assert_allclose(found, Z.sum(0), rtol=1e-5, atol=1e-6)


def test_a_program_over_several_meshes_is_not_partitioned():
    with eight_devices():
        other = mesh(z=8)
        jaxpr = jax.make_jaxpr(lambda a: lax.with_sharding_constraint(a, NamedSharding(other, P("z"))))(Z)
        assert spmd.partition_call(jaxpr, placed([Z], [P("x")]), [NamedSharding(GRID, P("x"))]) is jaxpr
        with separate_devices(True):
            found = jax.jit(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(other, P("z"))))(
                *placed([Z], [P("x")])
            )
    np.testing.assert_array_equal(found, Z * 2)


def test_another_mesh_is_refused():
    with eight_devices():
        other = mesh(z=8)
        function = lambda a: lax.with_sharding_constraint(a, NamedSharding(other, P("z")))
        jaxpr = jax.make_jaxpr(function)(Z)
        with pytest.raises(LoweringError, match=re.escape("one jitted function for each mesh")):
            partition(jaxpr, GRID, [P("x")])


def test_a_mesh_of_other_axis_types_is_the_same_mesh():
    with eight_devices():
        other = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)
        jaxpr = jax.make_jaxpr(lambda a: jax.reshard(a, NamedSharding(other, P("x"))))(Z)
        _, specs = partition(jaxpr, GRID, [P()])
    assert specs == [P("x")]
