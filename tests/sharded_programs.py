"""Programs over sharded values, for tests of their partitioned form: `CASES` and how one is partitioned and run."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.devices.spmd import gathers_of, partition
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices, mesh

with eight_devices():
    GRID = mesh(x=4, y=2)


def partitioned(function, *args, in_specs, out_specs=None):
    """(the partitioned program of a function, the specs of its results)."""
    with eight_devices():
        return partition(jax.make_jaxpr(function)(*args), GRID, in_specs, out_specs)


def body_of(program):
    """The body of the one shard_map equation of a partitioned program."""
    (eqn,) = program.eqns
    assert eqn.primitive.name == "shard_map"
    return eqn.params["jaxpr"]


COLLECTIVES = (
    "psum", "psum_invariant", "pmax", "pmin", "all_gather", "reduce_scatter", "all_to_all", "ppermute", "pbroadcast",
)  # fmt: skip


def collectives(program):
    """The collectives of a partitioned program, in order: (name, axes)."""
    found = []
    for eqn in body_of(program).eqns:
        if eqn.primitive.name in COLLECTIVES:
            found.append((eqn.primitive.name, eqn.params.get("axes") or eqn.params["axis_name"]))
    return found


def check(function, *args, in_specs, out_specs=None, gathers=(), rtol=1e-5):
    """Checks that the partitioned program gives what the function gives; returns (program, specs of results)."""
    program, specs = partitioned(function, *args, in_specs=in_specs, out_specs=out_specs)
    args = [jnp.asarray(x) for x in args]
    wanted = jax.tree.leaves(function(*args))
    with eight_devices():
        found = jax.core.eval_jaxpr(program, program.consts, *args)
    assert len(wanted) == len(found)
    for w, f in zip(wanted, found):
        assert (w.shape, w.dtype, w.aval.weak_type) == (f.shape, f.dtype, f.aval.weak_type)
        np.testing.assert_allclose(np.asarray(f), np.asarray(w), rtol=rtol, atol=1e-6)
    if gathers is not None:
        assert [g.operation for g in gathers_of(program)] == list(gathers)
    return program, specs


__all__ = ["GRID", "P", "check", "collectives", "jnp", "lax", "np", "partitioned"]
