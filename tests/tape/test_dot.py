"""Products on tapes: every dtype, layout and size against the NumPy kernel."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.passes.inline_calls import inline_calls
from onax._native.tape import OPERATIONS, TYPES
from onax._tape import build  # noqa: F401  it attaches the rules
from onax._tape.builder import Builder
from onax._tape.layout import make_tape
from tape.harness import run_tape

EXACT = "iub"
NAMES = {number: name for name, number in OPERATIONS.items()}

# shapes, ((lhs contracting, rhs contracting), (lhs batch, rhs batch))
CASES = [
    ((2, 3), (3, 4), (([1], [0]), ([], []))),
    ((8, 8), (8,), (([1], [0]), ([], []))),
    ((8,), (8, 8), (([0], [0]), ([], []))),
    ((8,), (8, 8), (([0], [1]), ([], []))),
    ((5, 70), (70,), (([1], [0]), ([], []))),
    ((5,), (5,), (([0], [0]), ([], []))),
    ((700,), (700,), (([0], [0]), ([], []))),
    ((3, 530), (3, 530), (([1], [1]), ([0], [0]))),
    ((7,), (5,), (([], []), ([], []))),
    ((), (5,), (([], []), ([], []))),
    ((4, 5, 6), (4, 6, 3), (([2], [1]), ([0], [0]))),
    ((4, 5, 6), (6, 3, 4), (([2], [0]), ([0], [2]))),
    ((3, 4, 5), (5, 4, 6), (([1, 2], [1, 0]), ([], []))),
    ((3, 4, 5), (4, 5, 2, 3), (([1], [0]), ([0], [3]))),
    ((0, 3), (3, 4), (([1], [0]), ([], []))),
    ((2, 0), (0, 4), (([1], [0]), ([], []))),
    ((0, 2, 3), (0, 3, 2), (([2], [1]), ([0], [0]))),
    ((17, 33), (29, 33), (([1], [1]), ([], []))),
    ((33, 17), (33, 29), (([0], [0]), ([], []))),
    ((2, 300), (70, 300), (([1], [1]), ([], []))),
    ((131, 270), (270, 150), (([1], [0]), ([], []))),
    ((270, 61), (135, 270), (([0], [1]), ([], []))),
    ((150, 400), (400, 5), (([1], [0]), ([], []))),
    ((150, 400), (11, 400), (([1], [1]), ([], []))),
    ((2, 30, 3, 20), (2, 40, 3, 20), (([3], [3]), ([0, 2], [0, 2]))),
    ((70, 3, 3), (70, 3, 3), (([2], [1]), ([0], [0]))),
    ((40, 13, 7), (40, 7, 11), (([2], [1]), ([0], [0]))),
    ((300, 40), (300, 40), (([1], [1]), ([0], [0]))),
    ((300, 4, 4), (300, 4), (([2], [1]), ([0], [0]))),
    ((3, 400), (400, 3), (([1], [0]), ([], []))),
    ((5, 300), (300, 301), (([1], [0]), ([], []))),
    ((1, 700), (700, 530), (([1], [0]), ([], []))),
    ((41,), (150,), (([], []), ([], []))),
    ((41, 5), (5, 150), (([1], [0]), ([], []))),
    ((68, 270), (270, 150), (([1], [0]), ([], []))),
    ((64, 300), (300, 64), (([1], [0]), ([], []))),
    ((50, 1301), (1301, 45), (([1], [0]), ([], []))),
]
PREFERRED = [
    ("int8", "int8", "int32"),
    ("uint8", "uint8", "int32"),
    ("int16", "int16", "int64"),
    ("int32", "int32", "int64"),
    ("bool", "int32", "int32"),
    ("bfloat16", "bfloat16", "float32"),
    ("float16", "float16", "float32"),
    ("float64", "float64", "float32"),
    ("int8", "float32", "float32"),
    ("int32", "float32", "float32"),
]


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def sample(rng, shape, dtype):
    """Numbers of a dtype; of integers all there are."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.3)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True))
    if dtype.kind == "c":
        return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def compare(fn, *args, terms):
    """The tape's product and the eager one: integers agree in all bits, floats within the rounding of their terms."""
    (got,) = run_tape(fn, *args)
    want = fn(*args)
    assert got.dtype == want.dtype and got.shape == want.shape
    x, y = np.asarray(got._value), np.asarray(want._value)
    if x.dtype.kind in EXACT:
        np.testing.assert_array_equal(x, y)
        return
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    eps = float(ml_dtypes.finfo(x.dtype).eps)
    # The BLAS of NumPy 2.5 sums products of complex64 with twice the error of NumPy 2.4's: 1e-4 of terms of size 700.
    assert np.all(np.abs(x.astype(wide) - y.astype(wide)) <= eps * (np.abs(y.astype(wide)) + 16 * np.sqrt(terms)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_dtype(dtype):
    rng = np.random.default_rng(1)
    for left, right, numbers in CASES:
        x, y = sample(rng, left, dtype), sample(rng, right, dtype)
        compare(lambda x, y, n=numbers: lax.dot_general(x, y, n), x, y, terms=max(x.size, y.size) + 1)


@pytest.mark.parametrize("left, right, preferred", PREFERRED)
def test_preferred_element_type(left, right, preferred):
    rng = np.random.default_rng(2)
    out = np.dtype(getattr(ml_dtypes, preferred, preferred))
    left, right = (np.dtype(getattr(ml_dtypes, x, x)) for x in (left, right))
    for a, b, numbers in CASES:
        x, y = sample(rng, a, left), sample(rng, b, right)
        size = 300.0 if {x.dtype.kind, y.dtype.kind} & {"i"} and out.kind == "f" else 1.0
        if size > 1:
            x, y = (v % 100 if v.dtype.kind == "i" else v for v in (x, y))
        compare(
            lambda x, y, n=numbers: lax.dot_general(x, y, n, preferred_element_type=out),
            *(x, y),
            terms=size * size * (max(x.size, y.size) + 1),
        )


@pytest.mark.parametrize("level", ["1", "3", "4"])
def test_every_cpu_level(level, monkeypatch):
    monkeypatch.setenv("ONAX_CPU_LEVEL", level)
    rng = np.random.default_rng(4)
    for dtype in (np.float32, np.float64, np.uint32, np.int64, np.complex64, np.int8, np.int16, ml_dtypes.bfloat16):
        for left, right, numbers in CASES:
            x, y = sample(rng, left, dtype), sample(rng, right, dtype)
            compare(lambda x, y, n=numbers: lax.dot_general(x, y, n), x, y, terms=max(x.size, y.size) + 1)


def product(x, y):
    with np.errstate(invalid="ignore"):
        return x @ y


def test_infinities_and_nans_stay_in_their_rows():
    x = np.ones((19, 21), np.float32)
    y = np.ones((21, 35), np.float32)
    x[3, 5], x[7, 0], y[2, 33] = np.inf, np.nan, -np.inf
    (got,) = run_tape(lambda x, y: lax.dot(x, y), x, y)
    np.testing.assert_array_equal(np.asarray(got._value), product(x, y))
    v = np.array([1, np.inf, 2, 3, 4], np.float32)
    (got,) = run_tape(lambda x, v: lax.dot(x, v), np.eye(5, dtype=np.float32), v)
    np.testing.assert_array_equal(np.asarray(got._value), product(np.eye(5, dtype=np.float32), v))


def test_a_row_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(3)
    x, y = (sample(rng, (n, 40), np.float32) for n in (11, 23))
    whole = np.asarray(run_tape(lambda x, y: lax.dot_general(x, y, (([1], [1]), ([], []))), x, y)[0]._value)
    for rows in (4, 6):
        part = run_tape(lambda x, y: lax.dot_general(x, y, (([1], [1]), ([], []))), x[:rows], y)[0]
        np.testing.assert_array_equal(np.asarray(part._value), whole[:rows])


def test_mixed_complex_operands_keep_the_numpy_kernel():
    x, y = np.ones((2, 3), np.complex64), np.ones((3, 2), np.float32)
    (got,) = run_tape(lambda x, y: lax.dot_general(x, y, (([1], [0]), ([], []))), x, y, python=("dot_general",))
    np.testing.assert_array_equal(np.asarray(got._value), np.full((2, 2), 3, np.complex64))


TRANSPOSED = {
    "matrix": (lambda a, b: a.T @ b, (40, 30), (40, 20)),
    "other matrix": (lambda a, b: a @ b.T, (40, 30), (20, 30)),
    "both": (lambda a, b: a.T @ b.T, (30, 40), (20, 30)),
    "the same twice": (lambda a, b: a.T @ a.T + b, (30, 30), (30,)),
    "an axis of length 1": (lambda a, b: a.T @ b, (40, 1), (40, 20)),
    "heads": (lambda a, b: jnp.swapaxes(a, 0, 1) @ jnp.moveaxis(b, 0, 2), (12, 3, 8), (10, 3, 8)),
    "the result, its rows last": (lambda x, y: jnp.einsum("bhij,bjhk->bkhi", x, y), (3, 4, 9, 50), (3, 50, 4, 8)),
    "the result, its columns last": (lambda x, y: jnp.einsum("bhij,bjhk->bihk", x, y), (3, 4, 70, 50), (3, 50, 4, 40)),
    "a large result": (lambda x, y: jnp.einsum("bihj,bkhj->bhki", x, y), (2, 140, 3, 33), (2, 150, 3, 33)),
    "rows and columns in turn": (lambda x, y: jnp.einsum("aij,klj->kail", x, y), (4, 5, 6), (7, 8, 6)),
}
NOT_TRANSPOSED = {
    "reversed": (lambda a, b: a[::-1] @ b, (40, 30), (30, 20)),
    "a slice": (lambda a, b: a[::2] @ b, (40, 30), (30, 20)),
    "repeated": (lambda a, b: jnp.broadcast_to(a, (7, 30)) @ b, (30,), (30, 20)),
    "read again": (lambda a, b: (a.T @ b, a.T), (40, 30), (40, 20)),
    "the result goes along a batch axis": (lambda x, y: jnp.einsum("bij,bjk->ikb", x, y), (7, 9, 5), (7, 5, 8)),
    "the result is read before": (lambda x, y: (lambda z: (-z, z.transpose(1, 0, 2)))(x @ y), (3, 9, 5), (3, 5, 8)),
    "the result is read after": (lambda x, y: (lambda z: (z.transpose(1, 0, 2), -z))(x @ y), (3, 9, 5), (3, 5, 8)),
}


@pytest.mark.parametrize("name", [*TRANSPOSED, *NOT_TRANSPOSED])
def test_products_read_transposed_operands_where_they_lie(name):
    function, *shapes = (TRANSPOSED | NOT_TRANSPOSED)[name]
    rng = np.random.default_rng(0)
    args = [rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    builder = Builder()
    program = inline_calls(jax.make_jaxpr(function)(*args))
    builder.outputs(builder.program(program, builder.inputs(program.in_avals)), program.out_avals)
    operations = [NAMES[number] for number, _, _ in builder.parts[0].instructions]
    assert ("copy" in operations) is (name in NOT_TRANSPOSED)
    for got, want in zip(make_tape(builder)(args), jax.tree.leaves(function(*args)), strict=True):
        np.testing.assert_array_equal(got, want)  # sums of small integers are exact
