"""Partitioned operations on shapes, reductions, and stated shardings."""

import numpy as np
import pytest

import onax as jax
from onax.experimental.shard_alike import shard_alike
from onax.sharding import NamedSharding
from sharded_programs import GRID, P, check, collectives, jnp, lax
from virtual_devices import eight_devices

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
BOTH = [P("x", "y")]
over = lambda spec: NamedSharding(GRID, spec)
mapped = lambda f, i, o, **options: jax.shard_map(f, mesh=GRID, in_specs=i, out_specs=o, **options)
PROGRAMS = {  # function, spec of the argument Z, spec of the result, collectives
    "transpose": (lambda a: a.T, P("x", "y"), P("y", "x"), []),
    "merged dimensions": (lambda a: a.reshape(64), P("x"), P("x"), []),
    "merged dimensions, the second one split": (
        lambda a: a.reshape(64), P("x", "y"), P("x"), [("all_gather", ("y",))],
    ),
    "split dimensions": (lambda a: a.reshape(4, 2, 2, 4), P("x", "y"), P("x", None, "y"), []),
    "split into too few": (lambda a: a.reshape(2, 4, 8), P("x", "y"), P(None, None, "y"), [("all_gather", ("x",))]),
    "dimensions of length 1": (lambda a: a.reshape(8, 1, 8, 1), P("x", "y"), P("x", None, "y"), []),
    "squeeze": (lambda a: a[:, None, :].squeeze(1), P("x", "y"), P("x", "y"), []),
    "broadcast": (lambda a: jnp.broadcast_to(a[:, None], (8, 3, 8)), P("x", "y"), P("x", None, "y"), []),
    "stack": (lambda a: jnp.stack([a, a * 2], 1), P("x", "y"), P("x", None, "y"), []),
    "unstack": (lambda a: sum(jnp.unstack(a, axis=1)), P("x"), P("x"), []),
    "tile": (lambda a: jnp.tile(a, (1, 2)), P("x"), P("x"), []),
    "sum": (lambda a: a.sum(0), P("x", "y"), P("y"), [("psum", ("x",))]),
    "sum of all": (lambda a: a.sum(), P("x", "y"), P(), [("psum", ("x", "y"))]),
    "sum of what is not split": (lambda a: a.sum(1), P("x"), P("x"), []),
    "max": (lambda a: a.max(0), P("x", "y"), P("y"), [("pmax", ("x",))]),
    "min": (lambda a: a.min(0), P("x", "y"), P("y"), [("pmin", ("x",))]),
    "product": (lambda a: (a + 1).prod(0), P("x", "y"), P("y"), [("all_gather", ("x",))]),
    "all": (lambda a: (a > -2).all(), P("x", "y"), P(), [("all_gather", ("x", "y"))]),
    "any": (lambda a: (a > 0.9).any(1), P("x"), P("x"), []),
    "max of bools": (lambda a: (a > 0).max(0), P("x", "y"), P("y"), [("all_gather", ("x",))]),
    "argmax": (lambda a: jnp.argmax(a, 0), P("x", "y"), P("y"), [("all_gather", ("x",))]),
    "reduce of a pair": (
        lambda a: lax.reduce((a, a), (0.0, 0.0), lambda p, q: (p[0] + q[0], p[1] * q[1]), (1,))[0],
        P("x", "y"), P("x"), [("all_gather", ("y",))],
    ),
    "a constraint": (lambda a: lax.with_sharding_constraint(a, over(P("y"))), P("y", "x"), P("y"),
                     [("all_gather", ("x",))]),
    "a constraint on a sum": (
        lambda a: lax.with_sharding_constraint(a @ a.T, over(P("x"))), P(None, "x"), P("x"),
        [("reduce_scatter", ("x",))],
    ),
    "open dimensions of a constraint": (
        lambda a: lax.with_sharding_constraint(a, over(P("x", P.UNCONSTRAINED))) * 1, P(None, "y"), P("x", "y"), [],
    ),
    "open dimensions whose axes are used": (
        lambda a: lax.with_sharding_constraint(a, over(P(P.UNCONSTRAINED, "x"))) * 1, P(("x", "y")), P(None, "x"), None,
    ),
    "a constraint of each example": (
        jax.vmap(lambda a: lax.with_sharding_constraint(a, over(P("y")))), P("x"), P("x", "y"), [],
    ),
    "a call that states shardings": (
        jax.jit(lambda a: a + 1, in_shardings=over(P("x")), out_shardings=over(P(None, "x"))), P(), P(None, "x"),
        [("all_to_all", ("x",))],
    ),
    "shard_alike": (lambda a: shard_alike(a * 2, a)[1], P("x"), P("x"), []),
    "optimization_barrier": (lambda a: lax.optimization_barrier(a), P("x"), P("x"), []),
    "shard_map": (
        mapped(lambda a: lax.psum(a, "x"), P("x"), P()), P("x"), P(), [("psum_invariant", ("x",))],
    ),
    "shard_map of what lies elsewhere": (
        mapped(lambda a: a * lax.axis_index("x"), P("x"), P("x")), P(None, "x"), P("x"), [("all_to_all", ("x",))],
    ),
    "shard_map that does not check": (
        mapped(lambda a: a + lax.axis_index("y"), P("x"), P("x"), check_vma=False), P("x"), P("x"),
        [("pbroadcast", ("y",))],
    ),
    "the gradient of shard_map with a gathered value": (
        jax.grad(lambda a: (mapped(lambda b: lax.all_gather(b, "x", tiled=True) * b.sum(), P("x"), P("x"))(a)).sum()),
        P("x"), P("x"), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes(name):
    function, in_spec, out_spec, wanted = PROGRAMS[name]
    with eight_devices():
        program, specs = check(function, Z, in_specs=[in_spec])
    assert specs == [out_spec]
    if wanted is not None:
        assert collectives(program) == wanted
