"""Gathers and scatters read the integers that their indices are computed from, and nothing else changes."""

import numpy as np
import pytest

import onax as jax
from native_passes import names
from onax import lax
from onax import numpy as jnp
from onax._tape.index_expressions import absorb_index_arithmetic
from tape.harness import check, check_bits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 5)).astype(np.float32)
I = np.array([0, 5, -1, -6, 6, -7, 3], np.int32)
J = np.array([4, -5, 2, 5, -6, 0, 1], np.int32)
U = RNG.normal(size=7).astype(np.float32)

GATHERS = {
    "negative": lambda x, i, j: x[i],
    "two": lambda x, i, j: x[i, j],
    "columns": lambda x, i, j: x[:, j],
    "windows between": lambda x, i, j: x.reshape(6, 5, 1)[i, :, j % 1],
    "broadcast": lambda x, i, j: x[i[:, None], j[None]],
    "a scalar": lambda x, i, j: x[i, -2],
    "positions": lambda x, i, j: x[jnp.arange(5), jnp.arange(5)],
    "positions and integers": lambda x, i, j: x[jnp.arange(6), j[:6]],
    "moving windows": lambda x, i, j: x.reshape(-1)[jnp.arange(20)[:, None] + 2 * jnp.arange(4)[None] + 1],
    "positions that leave": lambda x, i, j: x[jnp.arange(9) - 2],
    "positions that fall": lambda x, i, j: x[5 - jnp.arange(6)],
    "positions beyond the end": lambda x, i, j: jnp.take(x, jnp.arange(9), axis=0, mode="fill"),
    "all negative positions": lambda x, i, j: x[jnp.arange(3) - 6],
    "converted": lambda x, i, j: x[i.astype(jnp.int8), j.astype(jnp.uint8) % 5],
    "narrowed": lambda x, i, j: x[(i + 256).astype(jnp.uint8)],
    "along an axis": lambda x, i, j: jnp.take_along_axis(x, j[:6, None], 1),
    "clipped": lambda x, i, j: jnp.take(x, i, axis=0, mode="clip"),
    "wrapped": lambda x, i, j: jnp.take(x, i, axis=0, mode="wrap"),
    "filled rows": lambda x, i, j: x.at[i].get(mode="fill", fill_value=7.0),
    "filled columns": lambda x, i, j: x.at[:, j].get(mode="fill", fill_value=7.0),
    "slices": lambda x, i, j: x[i[1:4], j[2:5]],
    "transposed": lambda x, i, j: x[jnp.stack([i, j]).T[:, :, None], 0],
    "nothing": lambda x, i, j: x[i[:0]],
    "overflow": lambda x, i, j: x[(jnp.arange(3, dtype=jnp.int8) + jnp.int8(126)) * jnp.int8(1)],
}


@pytest.mark.parametrize("name", GATHERS)
def test_gathers(name):
    check_bits(GATHERS[name], X, I, J)


SCATTERS = {
    "set": lambda x, i, j, u: x.at[i, j].set(u),
    "add": lambda x, i, j, u: x.at[i, j].add(u),
    "max": lambda x, i, j, u: x.at[i, j].max(u),
    "min": lambda x, i, j, u: x.at[j, 0].min(u),
    "multiply": lambda x, i, j, u: x.at[i].multiply(u[:, None]),
    "subtract": lambda x, i, j, u: x.at[i].subtract(u[:, None]),
    "columns": lambda x, i, j, u: x.at[:, j].set(u),
    "columns added": lambda x, i, j, u: x.at[:, j].add(u),
    "positions": lambda x, i, j, u: x.at[jnp.arange(5), jnp.arange(5)].set(u[:5]),
    "positions and integers": lambda x, i, j, u: x.at[jnp.arange(6), j[:6]].add(u[:6]),
    "clipped": lambda x, i, j, u: x.at[i, j].add(u, mode="clip"),
    "segments": lambda x, i, j, u: jax.ops.segment_sum(u, i, 6),
    "largest of segments": lambda x, i, j, u: jax.ops.segment_max(u, i, 6),
    "negative to the last": lambda x, i, j, u: x.at[jnp.where(i < 0, 5, i)].add(u[:, None]),
    "negative out of bounds, clipped": lambda x, i, j, u: x.at[jnp.where(i < 0, 9, i)].add(u[:, None], mode="clip"),
    "negative out of bounds": lambda x, i, j, u: x.at[jnp.where(i < 0, 9, i), j].add(u),
    "negative to a converted number": lambda x, i, j, u: x.at[jnp.where(i < 0, jnp.int8(-7), i)].add(u[:, None]),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_scatters(name):
    check(SCATTERS[name], X, I, J, U)


def test_windows_that_overlap_are_written_in_order():
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    updates = np.arange(28, dtype=np.float32).reshape(7, 4)
    x, i = np.zeros((6, 1), np.float32), np.array([0, 1, 2, 1, 0, 2, 1], np.int32)

    def fn(x, i, updates):
        return lax.scatter(x[:, 0], i[:, None], updates, numbers)

    check_bits(fn, x, i, updates)


def test_maxima_and_minima_have_nan_and_the_first_zero():
    values = np.array([0.0, -0.0, np.nan, 1.0, -np.inf, np.inf], np.float32)
    x, u = (a.reshape(-1).copy() for a in np.meshgrid(values, values))
    i = np.arange(36, dtype=np.int32)
    check(lambda x, i, u: (x.at[i].max(u), x.at[i].min(u)), x, i, u)


def test_many_types_of_indices():
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        sign = 1 if dtype.startswith("u") else I
        check_bits(lambda x, i, j: x[i, j], X, (abs(I) * np.sign(sign)).astype(dtype), abs(J).astype(dtype))
    with jax.enable_x64(True):
        wide = np.array([3, -1, 5, -6, 0, 2, -2])
        check_bits(lambda x, i, j: (x[i, j], x[i], x.at[i - 2].get(mode="fill")), X, wide, J)


def test_many_windows():
    i = RNG.integers(-70, 70, 3000).astype(np.int32)
    x = RNG.normal(size=(60, 50)).astype(np.float32)
    check_bits(lambda x, i: (x[:, i], x[i], x[i[:40, None], i[None]], x[i, :, None], x[..., i % 50].T), x, i)
    check(lambda x, i: (x.at[:, i % 50].add(x[:, :1]), x.at[i].max(0.5)), x, i)


def test_index_arithmetic_disappears():
    def left(fn, *args):
        return names(absorb_index_arithmetic(jax.make_jaxpr(fn)(*args)))

    assert left(lambda x, i, j: x[i, j], X, I, J) == ["gather_at"]
    assert left(lambda x, i, j, u: x.at[i, j].add(u), X, I, J, U) == ["scatter_at"]
    replaced = lambda x, i, u: x.at[lax.select(i < 0, lax.broadcast(np.int32(9), (7,)), i)].add(u[:, None])
    assert not {"lt", "select_n", "add"} & set(left(replaced, X, I, U))
    assert "add" in left(lambda x, i, j: (x[i], i + 6), X, I, J)  # somebody else reads it
    assert left(lambda x, i: lax.rev(x, (0,)), X, I) == ["rev"]


def test_its_kernels_give_what_its_instructions_give():
    for fn in (GATHERS["two"], GATHERS["positions and integers"], GATHERS["filled rows"]):
        jaxpr = absorb_index_arithmetic(jax.make_jaxpr(fn)(X, I, J))
        np.testing.assert_array_equal(
            jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, X, I, J)[0], fn(jnp.asarray(X), I, J)
        )
    for name in ("set", "add", "positions and integers", "clipped", "negative out of bounds"):
        jaxpr = absorb_index_arithmetic(jax.make_jaxpr(SCATTERS[name])(X, I, J, U))
        got = jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, X, I, J, U)[0]
        np.testing.assert_array_equal(got, SCATTERS[name](jnp.asarray(X), I, J, U))
