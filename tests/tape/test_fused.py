"""Programs over blocks as instructions."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._tape.fused import _with_numbers
from tape.harness import check, tape_of

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)


def test_a_region_is_one_instruction():
    tape, _, jaxpr = tape_of(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X)
    assert not tape.kernels and len(jaxpr.eqns) > 3
    check(lambda x: jnp.tanh(x * 2 + 1) / (1 + x * x), X, rtol=1e-6)


def test_a_single_equation():
    check(lambda x: -x, X)
    check(lambda x: x * x, X)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex64", "complex128"])
@pytest.mark.parametrize(
    "a, b",
    [((64, 1, 3), (50, 3)), ((7, 1), (1, 2)), ((90, 1, 5), (4, 5)), ((5, 1, 1, 40), (3, 17, 1)), ((2, 600), (3, 1, 1))],
)
def test_operands_that_repeat(a, b, dtype):
    """Rows of a few elements, rows and whole blocks that occur again, blocks that begin within a row."""
    x, y = (np.arange(np.prod(shape)).reshape(shape).astype(dtype) for shape in (a, b))
    check(lambda x, y: (x + y) * y - x, x, y)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 15, 16, 33])
def test_sums_of_short_rows(length):
    x = np.linspace(-3, 5, 700 * length, dtype=np.float32).reshape(700, length)
    x[3, 0], x[5, -1] = np.nan, np.inf
    check(lambda x: (x * 2).max(1), x)
    check(lambda x: (x * 2).sum(1), x, rtol=1e-5, atol=1e-5)
    check(lambda x: (x[:20] > 1).all(1), x)


# ---- many elements: pairs of operations in one pass, slices in place, short rows, what repeats itself

ODD = np.tile(np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.5, 3e38]), 1000)
OTHER = np.roll(ODD, 3)

PAIRS = {
    "the largest times one, plus the other": lambda a, b: jnp.maximum(a, b) * b + a,
    "from a choice another": lambda a, b: jnp.where(a < b, a, b) - jnp.where(a != a, 0.0, b),
    "a product negated": lambda a, b: -(a * b),
    "a squared difference": lambda a, b: (a - b) ** 2,
    "a product taken from a number": lambda a, b: a - a * b,
    "a number over a sum": lambda a, b: a / (a + b),
    "clipped numbers": lambda a, b: jnp.clip(a, -1, 1) + jnp.nan_to_num(b),
    "one product less the same": lambda a, b: a * b - a * b,
    "a product that a comparison and a choice read": lambda a, b: jnp.where((a * b) > b, a * b, b),
    "a product that two operations read": lambda a, b: (a * b) * (a + (a * b)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_have_the_bits_of_two_operations(name, dtype):
    check(PAIRS[name], ODD.astype(dtype), OTHER.astype(dtype))


def test_products_and_sums_are_rounded_apart():
    x, y = (np.random.default_rng(i).standard_normal(5000).astype(np.float32) for i in range(2))
    check(lambda x, y: x * y + y, x, y)
    check(lambda x, y: x - y * y, x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, m, length", [(50, 70, 3), (60, 90, 16), (33, 77, 17), (40, 60, 64), (20, 40, 300)])
def test_folds_over_rows_of_what_two_operands_give(n, m, length, dtype):
    x = np.linspace(-2, 3, n * length).reshape(n, length).astype(dtype)
    y = np.linspace(-1, 2, m * length).reshape(m, length).astype(dtype)
    check(lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1), x, y, rtol=1e-5, atol=1e-5)
    check(lambda x, y: (x[:, None] * y[None]).sum(-1), x, y, rtol=1e-4, atol=1e-3)
    check(lambda x, y: (x[:, None] * y[None]).max(-1), x, y)


@pytest.mark.parametrize("shape", [(1000, 64), (300, 7, 50), (20, 30, 40, 5), (100, 128), (100, 500), (9, 200, 130)])
def test_operands_that_repeat_in_large_programs(shape):
    x = np.linspace(-3, 3, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    row, column = np.arange(shape[-1], dtype=np.float32), np.ones((*shape[1:-1], 1), np.float32)
    check(lambda x, row: x * row + 1, x, row)
    check(lambda x, row, column: (x - row) * column + row, x, row, column)
    check(lambda x, some: x * some + 1, x, np.arange(x[0].size, dtype=np.float32).reshape(shape[1:]))


def test_slices_of_many_elements_are_read_in_place():
    x = np.linspace(-1, 1, 100_001, dtype=np.float32)
    check(lambda x: x[2:] - 2 * x[1:-1] + x[:-2], x)
    check(lambda x: jnp.diff(x), x)
    check(lambda x: x[:99_999:3] * 2 + x[2::3], x)


def test_parts_of_computed_values_return_to_them():
    x = np.linspace(-1, 1, 120_000, dtype=np.float32).reshape(300, 400)
    check(lambda x: (x * 2 + (x * 2)[10] * 2) * (x + 1)[:, 3:4], x)


# ---- numbers that are known while the tape is built are written into programs


def test_known_numbers_are_no_operands():
    program = _with_numbers(jax.make_jaxpr(lambda x, y, z: x * y + z)(X, np.float32(3), X), {1: np.float32(3)})
    assert [v.aval.shape for v in program.invars] == [X.shape, X.shape]
    np.testing.assert_array_equal(jax.core.eval_jaxpr(program.jaxpr, program.consts, X, X)[0], X * np.float32(3) + X)

    def quotient(x):
        two = lax.convert_element_type(2, jnp.int32)
        return (x + 1) // jnp.where(two == 0, 1, two * 3)

    check(quotient, np.arange(-9, 90, dtype=np.int32))


def _divisors(info):
    drawn = np.random.default_rng(0).integers(2, info.max, 30, dtype=np.int64)
    powers = [2**k + o for k in (7, 8, 15, 16, 29, 30) for o in (-1, 0, 1)]
    sizes = [*range(14), 641, 1000, *powers, info.max, info.max - 1, info.max // 2 + 1, *map(int, drawn)]
    return sizes if info.min == 0 else [*sizes, *[-d for d in sizes if d], info.min]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_quotients_and_remainders_by_known_numbers(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(1)
    ends = [info.min, info.min + 1, 0, 1, info.max, info.max - 1, info.max // 2, info.max // 2 + 1]
    for d in _divisors(info):
        multiples = [k * d + o for k in (-3, -1, 1, 2, 1000, info.max // max(abs(d), 1)) for o in (-1, 0, 1)]
        near = [v for v in multiples if info.min <= v <= info.max]
        x = np.array([*ends, *near, *rng.integers(info.min, info.max, 90, dtype=np.int64)], dtype)
        divide = jax.jit(lambda x, d=d: (lax.div(x, dtype(d)), lax.rem(x + 0, dtype(d))))
        quotient, remainder = divide(x)
        if d == 0:
            want, rest = np.full(x.shape, dtype(info.max) if info.min == 0 else dtype(-1)), x
        else:
            signs = np.where((x < 0) == (d < 0), 1, -1)
            exact = [abs(int(v)) // abs(d) * int(s) for v, s in zip(x, signs)]
            want = np.array([q & 0xFFFFFFFF for q in exact], np.uint32).view(dtype)
            rest = np.array([int(v) - q * d for v, q in zip(x, exact)], np.int64).astype(dtype)
        np.testing.assert_array_equal(quotient, want, err_msg=str(d))
        np.testing.assert_array_equal(remainder, rest, err_msg=str(d))
