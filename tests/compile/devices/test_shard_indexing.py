"""Partitioned slices, gathers and scatters, sorting, cumulative operations and windows."""

import numpy as np
import pytest

import onax as jax
from sharded_programs import P, check, collectives, jnp, lax

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
IDS = np.array([1, 7, 2, 2, 0, 5, 3, 7], np.int32)
U = np.cos(np.arange(64, dtype=np.float32)).reshape(8, 8)
GATHER_X = [("all_gather", ("x",))]
PROGRAMS = {  # function, arguments, their specs, specs of the results (None: unchecked), collectives (the same)
    "slice of a whole dimension": (lambda a: a[:, :3], (Z,), [P("x")], [P("x")], []),
    "slice of a split dimension": (lambda a: a[2:6], (Z,), [P("x", "y")], [P("x", "y")], GATHER_X),
    "slice with steps": (lambda a: a[:, ::2], (Z,), [P("x")], [P("x")], []),
    "dynamic_slice": (lambda a, i: lax.dynamic_slice(a, (0, i[0]), (8, 3)), (Z, IDS), [P("x"), P()], [P("x")], []),
    "dynamic_update_slice": (
        lambda a, b, i: lax.dynamic_update_slice(a, b, (0, i[1])), (Z, U[:, :2], IDS), [P("x"), P(), P()], [P("x")], [],
    ),
    "pad": (lambda a: jnp.pad(a, ((0, 0), (1, 2))), (Z,), [P("x")], [P("x")], []),
    "split": (lambda a: jnp.split(a, 2, 1), (Z,), [P("x")], [P("x"), P("x")], []),
    "concatenate": (lambda a, b: jnp.concatenate([a, b], 1), (Z, U), [P("x"), P()], [P("x")], []),
    "concatenate along a split dimension": (
        lambda a, b: jnp.concatenate([a, b], 0), (Z, U), [P("x"), P()], [P("x")], GATHER_X,
    ),
    "roll": (lambda a: jnp.roll(a, 1, 1), (Z,), [P("x")], [P("x")], []),
    "sort": (lambda a: jnp.sort(a, 1), (Z,), [P("x")], [P("x")], []),
    "sort along a split dimension": (lambda a: jnp.sort(a, 0), (Z,), [P("x")], [P("x")], GATHER_X),
    "argsort": (lambda a: jnp.argsort(a, 1), (Z,), [P("x")], [P("x")], []),
    "top_k": (lambda a: lax.top_k(a, 2), (Z,), [P("x")], [P("x"), P("x")], []),
    "approx_max_k": (lambda a: lax.approx_max_k(a, 2), (Z,), [P("x")], None, []),
    "cumsum": (lambda a: jnp.cumsum(a, 1), (Z,), [P("x")], [P("x")], []),
    "cumsum along a split dimension": (lambda a: jnp.cumsum(a, 0), (Z,), [P("x", "y")], [P("x", "y")], GATHER_X),
    "cummax": (lambda a: lax.cummax(a, 1), (Z,), [P("x")], [P("x")], []),
    "windows": (
        lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 2), (1, 2), "VALID"), (Z,), [P("x")], [P("x")], [],
    ),
    "gradient of a maximum of windows": (
        jax.grad(lambda a: (lax.reduce_window(a, -np.inf, lax.max, (1, 2), (1, 2), "VALID") ** 2).sum()),
        (Z,), [P("x")], [P("x")], [],
    ),
    "rows of a table": (lambda t, i: t[i], (Z, IDS), [P(None, "y"), P("x")], [P("x", "y")], []),
    "rows of a split table": (lambda t, i: t[i], (Z, IDS), [P("x"), P()], [P()], GATHER_X),
    "an element of each row": (
        lambda a, i: jnp.take_along_axis(a, i[:, None], 1), (Z, IDS), [P("x"), P("x")], [P("x")], [],
    ),
    "indices in a batch": (jax.vmap(lambda a, i: a[i]), (Z, IDS), [P("x"), P("x")], [P("x")], []),
    "the gradient of a table": (
        jax.grad(lambda t, i: jnp.sin(t[i]).sum()), (Z, IDS), [P(None, "y"), P("x")], [P(None, "y")],
        [("psum", ("x",))],
    ),
    "additions by all devices": (
        lambda t, i, u: t.at[i].add(u), (Z, IDS, U), [P(), P("x"), P("x")], [P()], [("psum", ("x",))],
    ),
    "subtractions by all devices": (
        lambda t, i, u: t.at[i].subtract(u), (Z, IDS, U), [P(), P("x"), P("x")], [P()], [("psum", ("x",))],
    ),
    "assignments by all devices": (
        lambda t, i, u: t.at[i].max(u), (Z, IDS, U), [P(None, "y"), P("x"), P("x")], [P(None, "y")], None,
    ),
    "scatter in a batch": (jax.vmap(lambda a, i: a.at[i].set(9.0)), (Z, IDS), [P("x"), P("x")], [P("x")], []),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_indexing(name):
    function, args, in_specs, out_specs, wanted = PROGRAMS[name]
    program, specs = check(function, *args, in_specs=in_specs)
    if out_specs is not None:
        assert specs == out_specs
    if wanted is not None:
        assert collectives(program) == wanted
