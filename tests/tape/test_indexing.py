"""Gathers and scatters on tapes give the bits that the kernels give: all roles of axes, modes and dtypes."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax import numpy as jnp
from onax._ground.dtypes import ALL_DTYPES
from onax._native.tape import TYPES
from onax._prims.indexing_records import GatherDimensionNumbers, ScatterDimensionNumbers
from tape.harness import check, check_bits, run_tape, tape_of
from tape.test_shaping import _array

MODES = ["clip", "fill", "promise_in_bounds"]
INDEX_DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


def _random_case(rng):
    """Operand shape, window sizes, indices, GatherDimensionNumbers."""
    rank = int(rng.integers(1, 5))
    shape = [int(n) for n in rng.integers(1, 6, rank)]
    axes = [int(a) for a in rng.permutation(rank)]
    n_batching = int(rng.integers(0, 2)) if rank > 1 else 0
    batching, rest = sorted(axes[:n_batching]), axes[n_batching:]
    index_map = tuple(rest[: int(rng.integers(0, len(rest) + 1))])
    sizes = [int(rng.integers(1, n + 1)) for n in shape]
    collapsed = sorted(a for a in rest if rng.random() < 0.5)
    for a in (*collapsed, *batching):
        sizes[a] = 1
    batch = [int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 5, int(rng.integers(n_batching, 3)))]
    of_batch = [int(i) for i in rng.permutation(len(batch))[:n_batching]]
    for a, i in zip(batching, of_batch):
        batch[i] = shape[a]
    n_windows = rank - len(collapsed) - n_batching
    offsets = tuple(sorted(int(o) for o in rng.permutation(len(batch) + n_windows)[:n_windows]))
    numbers = GatherDimensionNumbers(offsets, tuple(collapsed), index_map, tuple(batching), tuple(of_batch))
    dtype = np.dtype(INDEX_DTYPES[int(rng.integers(0, len(INDEX_DTYPES)))])
    indices = rng.integers(-3 if dtype.kind == "i" else 0, 8, (*batch, len(index_map))).astype(dtype)
    return shape, tuple(sizes), indices, numbers


def _scatter_numbers(d):
    return ScatterDimensionNumbers(
        d.offset_dims, d.collapsed_slice_dims, d.start_index_map, d.operand_batching_dims, d.start_indices_batching_dims
    )


SCATTERS = [lax.scatter, lax.scatter_add, lax.scatter_sub, lax.scatter_mul, lax.scatter_min, lax.scatter_max]


@pytest.mark.parametrize("seed", range(60))
def test_random_dimension_numbers(seed):
    rng = np.random.default_rng(seed)
    shape, sizes, indices, numbers = _random_case(rng)
    mode, x = MODES[seed % 3], rng.integers(-9, 9, shape).astype(np.float32)

    def gather(x, indices):
        return lax.gather(x, indices, numbers, sizes, mode=mode)

    check_bits(gather, x, indices)
    updates = rng.integers(-9, 9, gather(x, indices).shape).astype(np.float32)
    for scatter in SCATTERS:

        def fn(x, indices, updates):
            return scatter(x, indices, updates, _scatter_numbers(numbers), mode=mode)  # noqa: B023  called at once

        check(fn, x, indices, updates)


ROW = GatherDimensionNumbers((0,), (0,), (0,))
ROWS = GatherDimensionNumbers((1,), (0,), (0,))
ELEMENTS = GatherDimensionNumbers((), (0,), (0,))


@pytest.mark.parametrize("dtype", sorted(ALL_DTYPES, key=str), ids=str)
def test_gathers_of_every_dtype(dtype):
    x, indices = _array((6, 4), dtype), np.array([[0], [5], [6], [-1], [3], [3]], np.int32)
    for mode in MODES:
        check_bits(lambda x, i: lax.gather(x, i, ROWS, (1, 4), mode=mode), x, indices)  # noqa: B023
        check_bits(lambda x, i: lax.gather(x[:, 0], i, ELEMENTS, (1,), mode=mode), x, indices)  # noqa: B023
        check_bits(lambda x, i: lax.gather(x, i[2], ROW, (1, 4), mode=mode), x, indices)  # noqa: B023


COMBINED = sorted(TYPES, key=str)


@pytest.mark.parametrize("dtype", COMBINED, ids=str)
def test_scatters_of_every_dtype(dtype):
    with jax.enable_x64(dtype.itemsize >= 8):
        x, updates = _numbers((6, 4), dtype, 0), _numbers((7, 4), dtype, 1)
        indices = np.array([[0], [5], [6], [-1], [3], [3], [0]], np.int32)
        for scatter in SCATTERS_OF_KIND.get(dtype.kind, SCATTERS):
            for mode in MODES:

                def rows(x, i, u):
                    return scatter(x, i, u, _scatter_numbers(ROWS), mode=mode)  # noqa: B023  called at once

                def elements(x, i, u):
                    return scatter(x[:, 1], i, u[:, 2], _scatter_numbers(ELEMENTS), mode=mode)  # noqa: B023

                check(rows, x, indices, updates)
                check(elements, x, indices, updates)


SCATTERS_OF_KIND = {"b": [lax.scatter, lax.scatter_min, lax.scatter_max], "c": SCATTERS[:4]}


def _numbers(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype.kind in "biu":
        return _array(shape, dtype, seed)
    x = rng.normal(size=shape)
    x.flat[::5], x.flat[1::7], x.flat[2::9] = np.inf, np.nan, -0.0
    return (x + 1j * rng.normal(size=shape)).astype(dtype) if dtype.kind == "c" else x.astype(dtype)


def test_64_bit_indices_beyond_every_range():
    x = np.arange(6, dtype=np.float32)
    with jax.enable_x64(True):
        for dtype in (np.int64, np.uint64):
            info = np.iinfo(dtype)
            indices = np.array([[info.min], [info.max], [2**33], [4]], dtype)
            for mode in MODES:
                check_bits(lambda x, i: lax.gather(x, i, ELEMENTS, (1,), mode=mode), x, indices)  # noqa: B023


def test_fill_values():
    x, indices = np.arange(6, dtype=np.int16), np.array([[7], [2]], np.int32)
    check_bits(lambda x, i: lax.gather(x, i, ELEMENTS, (1,), mode="fill", fill_value=-3), x, indices)


def test_keys():
    keys = jax.random.split(jax.random.key(3), 5)

    def fn(keys, i):
        return jax.random.key_data(keys.at[i].set(keys[i + 1])[i])

    i = np.array([2, 7, -1], np.int32)
    np.testing.assert_array_equal(run_tape(fn, keys, i)[0], fn(keys, i))


def test_updates_by_a_function_are_called():
    def fn(x):
        return x.at[np.array([1, 1, 3])].apply(jnp.sin)

    check(fn, np.arange(5, dtype=np.float32), python=None)


def test_many_rows():
    rng = np.random.default_rng(2)
    x, i = rng.normal(size=(300, 40)).astype(np.float32), rng.integers(-5, 310, 9000).astype(np.int32)
    check_bits(lambda x, i: (x[i], x[:, i % 40], x.at[i].add(1.0), x.at[i, i % 40].set(2.0)), x, i)


def test_a_carry_is_updated_in_place():
    def fn(x, indices):
        return lax.scan(lambda c, i: (c.at[i].add(1.0), None), x, indices)[0]

    x, indices = np.zeros(400_000, np.float32), np.array([3, 3, 70_000, 399_999, 400_000], np.int32)
    tape, operands, _ = tape_of(fn, x, indices)
    np.testing.assert_array_equal(tape(operands)[0], fn(x, indices))
    assert tape.memory < x.nbytes  # the carry lies in the result, and nowhere else
