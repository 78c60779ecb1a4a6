"""Slices, updates, concatenations, padding and splits on tapes give the bits that the kernels give."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp
from onax._ground.dtypes import ALL_DTYPES
from onax._native.tape import OPERATIONS, instruction_tape
from onax._tape.builder import Builder
from tape.harness import check_bits, run_tape, tape_of
from tape.test_shaping import _array

DTYPES = sorted(ALL_DTYPES, key=str)


def _zero(x):
    return np.zeros((), x.dtype)


FUNCTIONS = [
    lambda x: lax.slice(x, (1, 0, 2), (3, 4, 5)),
    lambda x: lax.slice(x, (0, 1, 0), (3, 4, 5), (2, 3, 2)),
    lambda x: lax.slice(x, (0, 0, 0), (3, 4, 0)),
    lambda x: x,
    lambda x: lax.concatenate([x, x, lax.slice(x, (0, 0, 0), (1, 4, 5))], 0),
    lambda x: lax.concatenate([x, lax.rev(x, (0,))], 1),
    lambda x: lax.concatenate([lax.slice(x, (0, 0, 0), (3, 4, 0)), x, x], 2),
    lambda x: lax.concatenate([lax.slice(x, (0, 0, 0), (3, 0, 5)), x], 1),
    lambda x: lax.split(x, (1, 2, 0), 0),
    lambda x: lax.split(x, (2, 3), 2),
    lambda x: lax.split(x, (4,), 1),
    lambda x: lax.pad(x, _zero(x), ((1, 2, 0), (0, 0, 0), (0, 1, 0))),
    lambda x: lax.pad(x, _zero(x), ((-1, 2, 1), (2, -3, 2), (0, 0, 0))),
    lambda x: lax.pad(x, _zero(x), ((-3, 4, 0), (0, 0, 0), (-2, -2, 3))),
    lambda x: lax.pad(x, _zero(x), ((0, 0, 0), (-2, -2, 0), (0, 0, 0))),
    lambda x: lax.dynamic_slice(x, (1, np.int32(-1), 7), (2, 2, 5)),
    lambda x: lax.dynamic_update_slice(x, lax.slice(x, (1, 0, 2), (3, 4, 5)), (1, 3, 0)),
    lambda x: lax.dynamic_update_slice(x, lax.rev(x, (1,)), (1, 3, 0)),
    lambda x: lax.dynamic_update_slice(x, lax.slice(x, (0, 0, 0), (0, 4, 5)), (1, 3, 0)),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    x = _array((3, 4, 5), dtype)
    for fn in FUNCTIONS:
        check_bits(fn, x)


INDEX_DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_indices_known_at_run_time(dtype):
    x, update, info = _array((7, 5), np.dtype(np.float32)), np.ones((2, 3), np.float32), np.iinfo(dtype)

    def read(x, i, j):
        return lax.dynamic_slice_p.bind(x, i, j, slice_sizes=(2, 3))

    def write(x, update, i, j):
        return lax.dynamic_update_slice_p.bind(x, update, i, j)

    for i in {0, 1, 4, 5, 6, 100, int(info.max), int(info.min)}:
        i, j = np.array(i, dtype), np.array(1, dtype)
        check_bits(read, x, i, j)
        check_bits(write, x, update, i, j)


def test_64_bit_indices():
    x = np.arange(6.0, dtype=np.float32)
    with jax.enable_x64(True):
        for i in (np.int64(2**62), np.int64(-(2**62)), np.uint64(2**64 - 1), np.uint64(3), np.int64(3)):
            check_bits(lambda x, i: lax.dynamic_slice_p.bind(x, i, slice_sizes=(2,)), x, i)


def test_an_operand_that_is_read_again_is_not_overwritten():
    def fn(x, i):
        y = lax.dynamic_update_slice(x + 1, jnp.zeros((1, 3)), (i, 0))
        z = lax.dynamic_update_slice(y, jnp.full((1, 3), 7.0), (i + 1, 0))
        return y, z, lax.dynamic_update_slice(z, lax.slice(z, (0, 0), (1, 3)), (i + 1, 0)), x

    check_bits(fn, np.arange(12, dtype=np.float32).reshape(4, 3), np.int32(1))


def test_an_update_with_the_operand_itself():
    check_bits(lambda x: lax.dynamic_update_slice(x * 2, x * 2, (0,)), np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("size", [40, 4000])
def test_margins(size):
    x = np.arange(size, dtype=np.float32).reshape(-1, 8)
    for config in (((1, 1, 0), (2, 3, 0)), ((0, 5, 0), (0, 0, 0)), ((-2, 1, 0), (3, -4, 0)), ((1, 0, 1), (0, 0, 0))):
        check_bits(lambda x: lax.pad(x, np.float32(5), config), x)  # noqa: B023  called at once


def test_concatenation_of_scalars():
    def fn(x, y, z):
        return jnp.stack([x, y, z]), jnp.array([y, x])

    check_bits(fn, np.float32(1), np.float32(-0.0), np.float32(np.nan))


def test_a_carry_is_updated_in_place():
    def fn(x, rows):
        return lax.scan(
            lambda c, r: (lax.dynamic_update_slice(c, r[None], (c[0, 0].astype(np.int32), 0)), None), x, rows
        )[0]

    x, rows = np.zeros((50_000, 8), np.float32), np.arange(80, dtype=np.float32).reshape(10, 8)
    tape, operands, _ = tape_of(fn, x, rows)
    np.testing.assert_array_equal(tape(operands)[0], fn(x, rows))
    assert tape.memory < x.nbytes  # the carry lies in the result, and nowhere else


def test_keys():
    keys = jax.random.split(jax.random.key(3), 5)

    def fn(keys, i):
        part = lax.dynamic_slice(keys, (i,), (2,))
        both = lax.concatenate([part, lax.dynamic_update_slice(keys, part, (0,))], 0)
        return jax.random.key_data(both)

    got = run_tape(fn, keys, np.int32(2))[0]
    np.testing.assert_array_equal(got, fn(keys, 2))


def _operations(fn, *args):
    """The names of the instructions of a function's tape, outside of its loops."""
    jaxpr = jax.make_jaxpr(fn)(*args)
    b = Builder()
    b.outputs(b.program(jaxpr, b.inputs(jaxpr.in_avals)), jaxpr.out_avals)
    names = {number: name for name, number in OPERATIONS.items()}
    return [names[number] for number, _, _ in b.parts[0].instructions]


def test_slices_that_are_only_concatenated_are_not_stored():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for axis in (0, 1):

        def roll(x):
            return jnp.roll(x, 1, axis)  # noqa: B023  called at once

        assert _operations(roll, x) == ["copy", "copy"]
        check_bits(roll, x)


def test_slices_that_something_else_reads_are_stored():
    def fn(x):
        part = lax.slice(x, (1,), (3,))
        return lax.concatenate([part, lax.slice(x, (0,), (1,))], 0), part

    x = np.arange(4, dtype=np.float32)
    assert _operations(fn, x).count("copy") + _operations(fn, x).count("concatenate") == 3
    check_bits(fn, x)


def test_a_slice_of_what_is_overwritten_before_it_is_concatenated():
    def step(c, row):
        part = lax.slice(c, (0, 0), (1, 3))
        c = lax.dynamic_update_slice(c, row[None], (1, 0))
        c = lax.dynamic_update_slice(c, 2 * row[None], (0, 0))
        return c, lax.concatenate([part, lax.slice(c, (1, 0), (2, 3))], 0)

    def fn(x, rows):
        return lax.scan(step, x, rows)

    check_bits(fn, np.zeros((2, 3), np.float32), np.arange(12, dtype=np.float32).reshape(4, 3))


PIECES = {  # what is computed in its place: (function, its operations)
    "results": (lambda x: jnp.concatenate([(-x), x * 2], 0), ["blocks"]),
    "an operand": (lambda x: jnp.concatenate([x, x * 2], 0), ["blocks", "copy"]),
    "nested": (lambda x: jnp.concatenate([jnp.concatenate([x + 1, x * 2]), x - 1], 0), ["blocks"]),
    "nested, not from the start": (
        lambda x: jnp.concatenate([x * 3, jnp.concatenate([x + 1, jnp.concatenate([x * 2, x - 2])])], 0),
        ["blocks"],
    ),
    "nested, in two results": (
        lambda x: [jnp.concatenate([x * n, jnp.concatenate([x + n, jnp.concatenate([x - n, -x])])], 0) for n in (2, 3)],
        None,
    ),
    "nested, between": (
        lambda x: jnp.sum(jnp.concatenate([x * 3, jnp.concatenate([x + 1, jnp.concatenate([x, x - 2])])], 0), 1),
        None,
    ),
    "read again": (lambda x: (lambda y: (jnp.concatenate([y, x * 2], 0), y * y))(-x), None),
    "twice": (lambda x: (lambda y: jnp.concatenate([y, y], 0))(-x), None),
    "read in part": (lambda x: jnp.concatenate([(-x), x * 2], 0)[1:3] * 3, None),
    "overwritten": (lambda x: jnp.concatenate([(-x), x * 2], 0).at[2].set(7.0), None),
    "a result and an operand": (lambda x: (lambda y: (y, jnp.sum(y)))(jnp.stack([(-x), x * 2])), None),
    "by rows": (lambda x: jnp.concatenate([(-x), x * 2], 1), ["blocks", "concatenate"]),
    "results of a branch": (
        lambda x: jnp.concatenate([lax.cond(x[0, 0] > 0, lax.neg, lax.abs, x), lax.sort(x, dimension=1)], 0),
        None,
    ),
    "results of a loop": (
        lambda x: jnp.concatenate([*lax.scan(lambda c, r: (c + r, c * r), x[0], x)[1:], lax.sort(x, dimension=0)], 0),
        None,
    ),
    "of a branch that a loop stacks": (
        lambda x: lax.scan(
            lambda c, r: (c, lax.cond(r[0] > 0, lambda q: jnp.concatenate([q * 2, -q]), lambda q: jnp.tile(q, 2), r)),
            0,
            x,
        )[1],
        None,
    ),
    "a carry": (
        lambda x: lax.fori_loop(
            0, 5, lambda i, c: jnp.concatenate([lax.sort(c[:2], dimension=0) + 1, c[1:2] * c[:1]]), x
        ),
        None,
    ),
}


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.int8))
@pytest.mark.parametrize("name", PIECES)
def test_pieces_of_a_concatenation_are_computed_in_their_places(name, dtype):
    fn, operations = PIECES[name]
    for width in (1, 5, 700):
        x = (np.arange(3 * width) % 11 - 5).reshape(3, width).astype(dtype)
        check_bits(fn, x)
    if operations is not None and dtype == np.float32:
        x = np.linspace(0, 1, 3 * 700).reshape(3, 700)
        assert sorted(_operations(fn, x.astype(dtype))) == operations


def test_rows_without_elements_beside_others():
    """A tape may join them; programs drop them before."""
    port = lambda width: ((100, width), np.dtype(np.float32))
    tape = instruction_tape("concatenate", [port(0), port(3), port(0)], [port(3)], (100, 0, 12, 0))
    x = np.arange(300, dtype=np.float32).reshape(100, 3)
    assert np.array_equal(tape([x[:, :0], x, x[:, :0]])[0], x)
