"""Partitioned slices, gathers and scatters, sorting, cumulative operations and windows."""

import numpy as np
import pytest

import onax as jax
from sharded_programs import P, check, collectives, jnp, lax

Z = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)
IDS = np.array([1, 7, 2, 2, 0, 5, 3, 7], np.int32)
U = np.cos(np.arange(64, dtype=np.float32)).reshape(8, 8)
GATHER_X, PERMUTE_X, SUM_X = ([(name, ("x",))] for name in ("all_gather", "ppermute", "psum"))
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
    "reversed": (lambda a: lax.rev(a, (1,)), (Z,), [P("x")], [P("x")], []),
    "reversed along a split dimension": (lambda a: a[::-1], (Z,), [P("x", "y")], [P("x", "y")], PERMUTE_X),
    "reversed along both": (lambda a: lax.rev(a, (0, 1)), (Z,), [P("x", "y")], [P("x", "y")],
                            [*PERMUTE_X, ("ppermute", ("y",))]),
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


# ---- rows of a split dimension

TABLE = np.sin(np.arange(64 * 6, dtype=np.float32)).reshape(64, 6)
CUBE = np.sin(np.arange(4 * 64 * 6, dtype=np.float32)).reshape(4, 64, 6)
ROWS = np.array([1, 63, 17, 17, 0, 40, -1, -64], np.int32)
PAIRS = np.array([[1, 3], [63, 5], [17, 0], [0, 2]], np.int32)


def pairs(mode):
    numbers = lax.GatherDimensionNumbers((), (0, 1), (0, 1))
    return lambda t, i: lax.gather(t, i, numbers, (1, 1), mode=mode, fill_value=7.0)


ROWS_OF_OWNERS = {  # function of a value split P("x"), which takes few rows of it
    "a row": lambda t: t[37],
    "the last row": lambda t: t[-1],
    "rows with steps": lambda t: t[3:60:9],
    "rows and columns": lambda t: t[30:34, 1:3],
    "a row at a traced place": lambda t: lax.dynamic_index_in_dim(t, jnp.int32(50), keepdims=False),
    "rows at a traced place": lambda t: lax.dynamic_slice(t, (jnp.uint8(13), jnp.uint8(2)), (5, 3)),
    "a traced place out of bounds": lambda t: lax.dynamic_slice_in_dim(t, jnp.int32(1000), 4),
    "a negative traced place": lambda t: lax.dynamic_slice(t, (jnp.int32(-5), -2), (4, 6)),
    "listed rows": lambda t: t[jnp.asarray(ROWS)],
    "listed rows of one byte": lambda t: t[jnp.asarray(ROWS[:6], "uint8")],
    "a row of integers": lambda t: (t * 100).astype(int)[37],
    "a complex row": lambda t: lax.complex(t, t)[jnp.asarray(ROWS)],
    "rows of 16 bits": lambda t: t.astype(jnp.bfloat16)[jnp.asarray(ROWS)],
    "rows out of bounds, clip": lambda t: t.at[jnp.array([3, 64, 99, -65])].get(mode="clip"),
    "rows out of bounds, fill": lambda t: t.at[jnp.array([3, 64, 99, -65])].get(mode="fill"),
    "rows out of bounds, wrap": lambda t: jnp.take(t, jnp.array([3, 64, 99, -65]), 0, mode="wrap"),
    "a row of NaN": lambda t: jnp.log(-1 - t * 0)[5],
    "an infinite row": lambda t: (1 / (t * 0))[5],
    "elements, clip": lambda t: pairs("clip")(t, PAIRS),
    "elements, fill": lambda t: pairs("fill")(t, PAIRS),
    "elements, promise": lambda t: pairs("promise_in_bounds")(t, PAIRS),
    "elements out of bounds": lambda t: pairs("fill")(t, PAIRS + np.int32([[0, 0], [9, 0], [0, 0], [0, 9]])),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS_OF_OWNERS)
def test_few_rows_come_from_the_devices_that_have_them(name):
    program, _ = check(ROWS_OF_OWNERS[name], TABLE, in_specs=[P("x")], out_specs=[P()])
    assert collectives(program) == SUM_X


def test_a_table_that_is_split_both_ways():
    program, specs = check(lambda t, i: t[i], TABLE, ROWS, in_specs=[P("x", "y"), P()])
    assert (collectives(program), specs) == (SUM_X, [P(None, "y")])
    program, _ = check(lambda t, i: t[i], TABLE, ROWS, in_specs=[P("x"), P("y")], out_specs=[P("y")])
    assert collectives(program) == SUM_X


def test_rows_of_a_middle_dimension():
    program, _ = check(lambda t: t[:, 20:22], CUBE, in_specs=[P(None, "x")])
    assert collectives(program) == SUM_X
    program, _ = check(lambda t: jnp.take(t, jnp.asarray(ROWS), 1), CUBE, in_specs=[P(None, ("x", "y"))])
    assert collectives(program) == [("psum", ("x", "y"))]


def test_rows_of_bool_are_gathered():
    program, _ = check(lambda t: (t > 0)[37], TABLE, in_specs=[P("x")])
    assert collectives(program) == GATHER_X


def test_a_table_over_the_axis_of_its_indices_is_gathered():
    program, _ = check(lambda t, i: t[i], TABLE, ROWS, in_specs=[P("x"), P("x")])
    assert collectives(program) == GATHER_X


UPDATES = np.cos(np.arange(48, dtype=np.float32)).reshape(8, 6)
OUT_OF_BOUNDS = np.array([3, 64, 99, -65, 63, 0, -1, 20], np.int32)
SCATTERS = {  # function of a table split P("x"), indices and updates: each device drops those of other devices' rows
    "add": lambda t, i, u: t.at[i].add(u),
    "subtract": lambda t, i, u: t.at[i].subtract(u),
    "set": lambda t, i, u: t.at[jnp.abs(i) // 9].set(u * 0 + 2),
    "multiply": lambda t, i, u: t.at[i].mul(u),
    "max": lambda t, i, u: t.at[i].max(u),
    "min": lambda t, i, u: t.at[i].min(u),
    "bytes": lambda t, i, u: t.at[i.astype("uint8")].add(u),
    "clip": lambda t, i, u: t.at[i].add(u, mode="clip"),
    "drop": lambda t, i, u: t.at[i].add(u, mode="drop"),
    "elements": lambda t, i, u: t.at[i, jnp.arange(8) % 6].add(u[:, 0]),
}


@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.parametrize("rows", [ROWS, OUT_OF_BOUNDS], ids=["inside", "outside"])
def test_updates_of_a_split_dimension_stay_on_their_devices(name, rows):
    program, specs = check(SCATTERS[name], TABLE, rows, UPDATES, in_specs=[P("x"), P(), P()])
    assert (collectives(program), specs) == ([], [P("x")])


def test_a_batch_updates_a_split_table():
    function = jax.grad(lambda t, i: jnp.sin(t[i]).sum())
    program, _ = check(function, TABLE, ROWS, in_specs=[P("x"), P("y")], out_specs=[P("x")])
    assert collectives(program) == [*SUM_X, ("psum", ("y",))]


# ---- rotations, and dimensions that operations need whole


@pytest.mark.parametrize("spec", [P("x"), P("x", "y"), P(("y", "x"))], ids=str)
@pytest.mark.parametrize("shift", [1, -1, 3, 16, -16, 17, 40, 63])
def test_rotations_exchange_rows(spec, shift):
    program, specs = check(lambda t: jnp.roll(t, shift, 0), TABLE, in_specs=[spec], rtol=0)
    found = collectives(program)
    assert specs == [spec]
    assert {name for name, _ in found} == {"ppermute"}
    assert len(found) <= 2


def test_rotations_in_loops():
    step = lambda t, _: (t + jnp.roll(t, 1, 0) - jnp.roll(t, -1, 0), None)
    check(lambda t: lax.scan(step, t, None, length=3)[0], TABLE, in_specs=[P("x")])


LARGE = np.sin(np.arange(128 * 96, dtype=np.float32)).reshape(128, 96)
WHOLE = {  # function of a value split P("x") along what the function needs whole
    "sort": lambda a: jnp.sort(a, 0),
    "argsort": lambda a: jnp.argsort(a, 0),
    "cumsum": lambda a: jnp.cumsum(a, 0),
    "cummax": lambda a: lax.cummax(a, 0),
    "pad": lambda a: jnp.pad(a, ((4, 4), (0, 0))),
    "concatenate": lambda a: jnp.concatenate([a, 2 * a], 0),
    "split": lambda a: jnp.split(a, 2, 0)[0] * 3,
    "half of the rows": lambda a: a[32:96],
    "half of the rows at a traced place": lambda a: lax.dynamic_slice_in_dim(a, jnp.int32(5), 64),
    "another half": lambda a: lax.dynamic_update_slice(a, a[:64] * 2, (jnp.int32(5), 0)),
    "the best": lambda a: lax.top_k(a.T, 64)[0].T,
}


@pytest.mark.parametrize("name", WHOLE)
def test_large_values_are_split_along_another_dimension(name):
    program, _ = check(WHOLE[name], LARGE, in_specs=[P("x")], out_specs=[P("x")])
    assert {name for name, _ in collectives(program)} == {"all_to_all"}
