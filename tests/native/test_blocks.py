"""Programs over blocks: what each operation computes, how exact the functions are, and that nothing false is run."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special as scipy_special

from onax._native import normals, threefry
from onax._native.tape import BLOCK_OPERATIONS as OPERATIONS
from onax._native.tape import BLOCKS_MAGIC as MAGIC
from onax._native.tape import TYPES, RegisterKind, check_program, instruction_tape
from onax._prims import elementwise as e
from onax._prims import elementwise_bits as on_bits
from onax._prims import special
from onax._prims.convert import cast
from onax._prims.elementwise_high import mulhi_p
from onax._prims.elementwise_pow import pow_p
from special_values import VALUES
from tolerance import assert_same_bits, assert_ulps, finfo, is_float

F32 = np.dtype(np.float32)
DTYPES = list(TYPES)
R = RegisterKind
CONSTANT, DIRECT, IOTA, LOAD, ROW, TABLE = R.CONSTANT, R.DIRECT, R.IOTA, R.LOAD, R.ROW, R.TABLE


def single(name, dtypes, out, n):
    """The words of a program of one operation on n elements."""
    arity = len(dtypes)
    words = [MAGIC, arity, 1, 0, 1, 1]
    for dtype in (*dtypes, out):
        words += [TYPES[np.dtype(dtype)], n]
    words += [1, 1, 1, arity + 1, 1, n]
    for i, dtype in enumerate((*dtypes, out)):
        words += [TYPES[np.dtype(dtype)], DIRECT, i]
    operands = [*range(arity), 0, 0][:3]
    return [*words, OPERATIONS[name].number, arity, *operands]


def program(words, shapes):
    """The Tape of a program over blocks with results of these shapes."""
    check_program(words)
    n_in, n_out = words[1:3]
    ports = [((words[7 + 2 * i],), DTYPES[words[6 + 2 * i]]) for i in range(n_in + n_out)]
    results = [(shape, dtype) for shape, (_, dtype) in zip(shapes, ports[n_in:], strict=True)]
    return instruction_tape("blocks", ports[:n_in], results, [n_out, *words])


def run(name, out, *operands):
    """One operation on arrays of one shape."""
    words = single(name, [x.dtype for x in operands], out, operands[0].size)
    return program(words, [operands[0].shape])(list(operands))[0]


def edges(dtype):
    """Awkward numbers of a dtype, and some ordinary ones."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(3)
    if dtype.kind == "c":
        part = edges(f"f{dtype.itemsize // 2}")[:14]  # the last two are the largest numbers
        return np.stack(np.meshgrid(part, part), -1).ravel().view(dtype)
    if is_float(dtype):
        info = finfo(dtype)
        special = [0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny,
                   2**31, -(2.0**31), 2**32, 2**63, 2.0**64, 1e10, -1e10, 0.49999997, 100.7, -100.7]  # fmt: skip
        with np.errstate(all="ignore"):
            return np.concatenate([np.array(special, np.float64), rng.normal(size=40) * 10]).astype(dtype)
    if dtype.kind == "b":
        return np.array([False, True, True])
    info = np.iinfo(dtype)
    special = [info.min, info.min + 1, 0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, info.max - 1, info.max]
    signed = [-1, -2, -31, -32] if dtype.kind == "i" else []
    return np.array(special + signed, dtype)


def pairs(x):
    return [np.ascontiguousarray(a).reshape(-1) for a in np.meshgrid(x, x)]


ROWS = {
    "add": e.add_p, "sub": e.sub_p, "mul": e.mul_p, "div": e.div_p, "rem": e.rem_p, "max": e.max_p, "min": e.min_p,
    "and": on_bits.and_p, "or": on_bits.or_p, "xor": on_bits.xor_p, "shift_left": on_bits.shift_left_p,
    "nextafter": e.nextafter_p,
    "shift_right_logical": on_bits.shift_right_logical_p, "shift_right_arithmetic": on_bits.shift_right_arithmetic_p,
    "eq": e.eq_p, "ne": e.ne_p, "lt": e.lt_p, "le": e.le_p, "neg": e.neg_p, "abs": e.abs_p, "sign": e.sign_p,
    "floor": e.floor_p, "ceil": e.ceil_p, "sqrt": e.sqrt_p, "is_finite": e.is_finite_p, "not": on_bits.not_p,
    "population_count": on_bits.population_count_p, "clz": on_bits.clz_p, "mulhi": mulhi_p,
    "real": e.real_p, "imag": e.imag_p, "conj": e.conj_p, "complex": e.complex_p,
}  # fmt: skip
CLOSE = {
    "sin": e.sin_p, "cos": e.cos_p, "tan": e.tan_p, "asin": e.asin_p, "acos": e.acos_p, "atan": e.atan_p,
    "sinh": e.sinh_p, "cosh": e.cosh_p, "tanh": e.tanh_p, "asinh": e.asinh_p, "acosh": e.acosh_p, "atanh": e.atanh_p,
    "exp": e.exp_p, "exp2": e.exp2_p, "expm1": e.expm1_p, "log": e.log_p, "log1p": e.log1p_p, "cbrt": e.cbrt_p,
    "logistic": e.logistic_p, "rsqrt": e.rsqrt_p, "pow": pow_p, "atan2": e.atan2_p, "magnitude": e.abs_p,
    "erf": special.erf_p, "erfc": special.erfc_p, "lgamma": special.lgamma_p, "digamma": special.digamma_p,
    "bessel_i0e": special.bessel_i0e_p, "bessel_i1e": special.bessel_i1e_p,
}  # fmt: skip
OVERFLOWING = ("sign", "exp2", "pow", "atan2")  # of complex numbers: the kernels overflow where the operations need not
ULPS_OF = {("pow", "complex128"): 64}  # exp(y log(x)): the rounding of the exponent counts as often as it is large
TESTED_APART = {("erfc", "float64"), ("lgamma", "float64"), ("lgamma", "float32")}  # SciPy's are less exact
CASES = [
    (name, d)
    for name in (*ROWS, *CLOSE)
    for d in TYPES
    if d in OPERATIONS[name].dtypes and (name, d.name) not in TESTED_APART
]


@pytest.mark.parametrize("name, dtype", CASES, ids=lambda x: str(x))
def test_an_operation_is_its_kernel(name, dtype):
    primitive = (ROWS | CLOSE)[name]
    x = edges(dtype)
    if dtype.kind == "c" and name in OVERFLOWING:
        x = x[~(np.isfinite(x) & ((np.abs(x.real) > 1e30) | (np.abs(x.imag) > 1e30)))]
    operands = pairs(x) if OPERATIONS[name].signature in "BCY" else [x]
    params = {"input_dtype": dtype} if name == "conj" else {}
    with np.errstate(all="ignore"):
        kernel = primitive.kernel
        kernel = kernel if type(kernel) is dict else dict.fromkeys(TYPES, kernel)
        exact = [x.astype(np.complex128) for x in operands] if (name, dtype) == ("atan2", "complex64") else operands
        kernel = kernel[exact[0].dtype]
        want = np.asarray(getattr(kernel, "small", kernel)(*exact, **params))
        want = want if exact is operands else want.astype(dtype)
    got = run(name, want.dtype, *operands)
    is_exact = name in ROWS and not (dtype.kind == "c" and name in ("sqrt", "div", "sign"))
    if is_exact:
        assert_same_bits(got, want, what=name)
    else:
        assert_ulps(got, want, ULPS_OF.get((name, dtype.name), 4), what=name)


ONE_BY_ONE = [
    (name, d)
    for name, o in OPERATIONS.items()
    if o.signature in "UBCPSV" and name not in CLOSE  # those are computed by other formulas if all operands are small
    for d in o.dtypes
    if d.kind in "fiub"
]


@pytest.mark.parametrize("name, dtype", ONE_BY_ONE, ids=lambda x: str(x))
def test_single_numbers_are_computed_as_many(name, dtype):
    signature = OPERATIONS[name].signature
    out = {"C": np.dtype(bool), "P": np.dtype(bool), "V": OPERATIONS[name].target}.get(signature, dtype)
    operands = pairs(edges(dtype)[::2]) if signature in "BCS" else [edges(dtype)]
    if signature == "S":
        operands = [np.arange(operands[0].size) % 2 == 1, *operands]
    many = run(name, out, *operands)
    one = program(single(name, [x.dtype for x in operands], out, 1), [(1,)])
    got = np.concatenate([one([x[i : i + 1] for x in operands])[0] for i in range(operands[0].size)])
    both_nan = (got != got) & (many != many)
    assert np.array_equal(got[~both_nan].view(np.uint8), many[~both_nan].view(np.uint8))


def test_erfc_is_right_where_it_is_small():
    x = np.concatenate([np.linspace(-6, 27, 999), [np.inf, -np.inf, np.nan]])
    assert_ulps(run("erfc", np.float64, x), np.array([math.erfc(v) for v in x]))


def test_lgamma_is_right():
    x, want = np.array(VALUES["lgamma"]).T
    assert_ulps(run("lgamma", np.float64, x), want)
    narrow = x.astype(np.float32)
    assert_ulps(run("lgamma", F32, narrow), run("lgamma", np.float64, narrow.astype(float)).astype(F32))


@pytest.mark.parametrize("given", TYPES, ids=str)
@pytest.mark.parametrize("wanted", TYPES, ids=str)
def test_conversions_saturate(given, wanted):
    names = {operation.target: name for name, operation in OPERATIONS.items() if operation.signature == "V"}
    with np.errstate(all="ignore"):
        want = cast(edges(given), wanted)
    assert_same_bits(run(names[wanted], wanted, edges(given)), want)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_select_and_move(dtype):
    x, y = pairs(edges(dtype))
    mask = np.arange(x.size) % 3 == 0
    assert_same_bits(run("select", dtype, mask, x, y), np.where(mask, x, y))
    assert_same_bits(run("move", dtype, x), x)


def test_halves_round_as_asked():
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32)
    assert run("rint", F32, x).tolist() == [-2, -2, 0, 0, 2, 2, 0]
    assert run("round", F32, x).tolist() == [-3, -2, -1, 1, 2, 3, 0]


REFERENCES = {  # function in float64, domain
    "exp": (np.exp, (-104, 89)),
    "exp2": (np.exp2, (-150, 128)),
    "expm1": (np.expm1, (-20, 88)),
    "log": (np.log, (0, 20)),
    "log1p": (np.log1p, (-1, 20)),
    "tanh": (np.tanh, (-10, 10)),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), (-88, 88)),
    "sin": (np.sin, (-1e5, 1e5)),
    "cos": (np.cos, (-1e5, 1e5)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (0, 1e4)),
    "tan": (np.tan, (-1e5, 1e5)),
    "asin": (np.arcsin, (-1, 1)),
    "acos": (np.arccos, (-1, 1)),
    "atan": (np.arctan, (-30, 30)),
    "sinh": (np.sinh, (-90, 90)),
    "cosh": (np.cosh, (-90, 90)),
    "asinh": (np.arcsinh, (-1e3, 1e3)),
    "acosh": (np.arccosh, (1, 1e3)),
    "atanh": (np.arctanh, (-1, 1)),
    "cbrt": (np.cbrt, (-1e3, 1e3)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_functions_are_right_to_three_ulp(name):
    function, (low, high) = REFERENCES[name]
    rng = np.random.default_rng(0)
    x = [rng.uniform(low, high, 200_000), rng.uniform(max(low, -1), 1, 200_000), rng.uniform(max(low, -1), 1, 9) * 1e-6]
    x.append(rng.integers(0, 2**32, 200_000, np.uint32).view(np.float32))
    x = np.concatenate([np.asarray(part, np.float32) for part in x])
    with np.errstate(all="ignore"):
        want = function(x.astype(np.float64)).astype(np.float32)
    assert_ulps(run(name, F32, x), want, 3)


@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in ("rsqrt", "cbrt")])
def test_functions_of_float64_are_right_to_four_ulp(name):
    """By extended precision, where NumPy has it."""
    function, (low, high) = REFERENCES[name]
    rng = np.random.default_rng(1)
    wide = (-740, 709) if low in (-104, -90, -88, -20) else (low, high)
    x = [
        rng.uniform(*wide, 50_000),
        rng.uniform(max(low, -1), min(high, 3), 50_000),
        rng.uniform(-1, 1, 99) * 1e-9 + (low == 1),
    ]
    x.append(10 ** rng.uniform(-300, 300, 50_000) * rng.choice([-1, 1], 50_000))
    x.append([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 709.782712, -745.1, 1, -1])
    x = np.concatenate(x)
    x = x[(np.abs(x) < 1e5) | (np.abs(x) > 1e300) | (name not in ("sin", "cos", "tan"))]
    with np.errstate(all="ignore"):
        want = function(x.astype(np.longdouble)).astype(np.float64)
    got = run(name, np.float64, x)
    assert_ulps(got, want)
    zero = (x == 0) & (want == 0)
    assert (np.signbit(got) == np.signbit(want))[zero].all()


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_functions_keep_the_sign_of_zero(dtype):
    x = np.array([-0.0] * 20, dtype)
    for name in ("sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "expm1", "log1p", "erf", "cbrt"):
        assert np.signbit(run(name, dtype, x)).all(), name


def test_functions_far_out():
    x = np.array([1e5, 3e7, 1e30, np.inf, -np.inf, np.nan], np.float32)
    with np.errstate(all="ignore"):
        assert_ulps(run("sin", F32, x), np.sin(x.astype(np.float64)).astype(np.float32))
        assert_ulps(run("cos", F32, x), np.cos(x.astype(np.float64)).astype(np.float32))
    assert run("exp", F32, x).tolist()[:5] == [np.inf, np.inf, np.inf, np.inf, 0]
    assert run("tanh", F32, np.array([-np.inf, np.inf], np.float32)).tolist() == [-1, 1]


# ---- how elements are found


def loaded(shape, strides, elements, n_axes, start=0):
    """The words of a program that adds what strides of one buffer reach to 7 and the numbers of the positions."""
    n = int(np.prod(shape))
    f32 = TYPES[F32]
    words = [MAGIC, 1, 1, 0, 1, 1, f32, elements, f32, n, 1, 1, n_axes, 4, 2, *shape]
    words += [f32, LOAD, 0, *strides, start, f32, IOTA, 0, *[int(np.prod(shape[i + 1 :])) for i in range(n_axes)], 7]
    words += [f32, DIRECT, 1, f32, CONSTANT, int(np.float32(0.5).view(np.uint32))]
    add = OPERATIONS["add"].number
    return [*words, add, 2, 0, 1, 0, add, 2, 2, 3, 0]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_loads_follow_strides(data):
    shape = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    kept = [data.draw(st.booleans()) for _ in shape]
    own = [d for d, k in zip(shape, kept) if k]
    source = np.random.default_rng(0).normal(size=(*own, 1)).astype(np.float32)[..., 0]
    order = data.draw(st.permutations(range(len(own))))
    turned = iter(order)
    strides, sizes, place = [], [], np.array([s // 4 for s in source.strides])
    for d, k in zip(shape, kept):
        axis = next(turned) if k else None
        strides.append(int(place[axis]) if k else 0)
        sizes.append(own[axis] if k else d)
    view = np.lib.stride_tricks.as_strided(source, sizes, [4 * s for s in strides])
    start = data.draw(st.integers(0, 3))
    longer = np.concatenate([np.zeros(start, np.float32), source.ravel()])
    got = program(loaded(sizes, strides, longer.size, len(sizes), start), [tuple(sizes)])([longer])[0]
    count = 7 + np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    assert_same_bits(got, view + count + np.float32(0.5))


# ---- folds


def folding(rows_of_x, length, *, name="sum", dtype=np.float32, rows=None, strides=(1, 0), out=None):
    """The words of a program that takes from each element what its row folds to."""
    x, t = TYPES[np.dtype(dtype)], rows_of_x if out is None else out
    n = rows_of_x * length
    words = [MAGIC, 1, 1, 1, 2, 1 if rows else 2, x, n, x, n, x, t, *([rows, 2] if rows else [1, 1])]
    words += [1, 2, 1, n, x, DIRECT, 0, x, ROW, 2, OPERATIONS[name].number, 1, 0, 0, 0]
    words += [] if rows else [1, 1]
    words += [2, 3, 1, rows_of_x, length, x, DIRECT, 0, x, LOAD, 2, *strides, 0, x, DIRECT, 1]
    return [*words, OPERATIONS["or" if dtype is np.bool_ else "sub"].number, 2, 0, 1, 0]


def folded(name, x):
    """(what a program gives, with and without groups of rows)."""
    n, length = x.shape
    words = [folding(n, length, name=name, dtype=x.dtype.type, rows=k) for k in {None, n if n > 1 else None}]
    return [program(w, [x.shape])([x])[0] for w in words]


FOLDS = {"sum": np.add, "prod": np.multiply, "largest": np.maximum, "smallest": np.minimum}
LENGTHS = [(1, 1), (6, 1), (1, 7), (6, 31), (5, 32), (4, 33), (3, 1023), (2, 1025), (1, 5000), (4096, 5), (300, 64)]


@pytest.mark.parametrize("shape", LENGTHS)
@pytest.mark.parametrize("name", FOLDS)
def test_folds_of_integers(name, shape):
    rng = np.random.default_rng(0)
    for dtype in (np.int32, np.uint32, np.int64, np.uint64):
        x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        want = x - FOLDS[name].reduce(x, axis=1, keepdims=True, dtype=dtype)
        for got in folded(name, x):
            assert_same_bits(got, want)


@pytest.mark.parametrize("name, ufunc", [("largest", np.logical_or), ("smallest", np.logical_and)])
def test_folds_of_bools(name, ufunc):
    for x in (np.random.default_rng(0).random((40, 50)) < p for p in (0.01, 0.99)):
        for got in folded(name, x):
            assert_same_bits(got, x | ufunc.reduce(x, axis=1, keepdims=True))


@pytest.mark.parametrize("shape", LENGTHS)
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_folds_of_floats(name, shape, dtype):
    x = (1 + np.random.default_rng(0).normal(size=shape) / 50).astype(dtype)
    exact = FOLDS[name].reduce(x.astype(np.longdouble), axis=1, keepdims=True)
    for got in folded(name, x):
        error = np.abs((x - got) - exact) / np.maximum(np.abs(exact), np.abs(x))
        assert np.max(error) < 60 * np.finfo(dtype).eps


@pytest.mark.parametrize("shape", [(1, 1), (6, 7), (4, 33), (2, 1025), (300, 64)])
@pytest.mark.parametrize(
    "dtype", ("float16", "bfloat16", "int8", "uint8", "int16", "uint16", "complex64", "complex128")
)
def test_folds_of_narrow_and_complex_numbers(dtype, shape):
    dtype = {str(d): d for d in TYPES}[dtype]
    x = np.random.default_rng(0).integers(0, 40, shape)
    x = (x + 1j * x[:, ::-1] if dtype.kind == "c" else x).astype(dtype)
    for name in FOLDS if dtype.kind != "c" else ("sum",):
        wide = x.astype(np.int64) if dtype.kind in "iu" else x.astype(complex) if dtype.kind == "c" else x.astype(float)
        if name == "prod" and dtype.kind not in "iu":
            wide = np.where(wide > 20, 1.0, 0.5)
        operand = wide.astype(dtype)
        with np.errstate(over="ignore"):
            total = FOLDS[name].reduce(wide, axis=1, keepdims=True).astype(dtype)
        for got in folded(name, operand):
            want = operand - total
            if name == "prod" and dtype.kind not in "iu":
                assert_ulps(got, want)
            else:
                assert_same_bits(got, want)


@pytest.mark.parametrize("name", FOLDS)
def test_what_is_not_a_number_stays_in_its_row(name):
    x = np.ones((40, 70), np.float32)
    x[3, 50], x[5, 0], x[7, 69], x[9, 3], x[9, 4] = np.nan, np.inf, -np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        want = x - FOLDS[name].reduce(x, axis=1, keepdims=True)
    for got in folded(name, x):
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_random_words():
    keys = np.random.default_rng(0).integers(0, 2**32, (2, 500), np.uint32)
    counters = np.arange(500, dtype=np.uint32) * 77_777
    first, second = threefry.threefry2x32(*keys, np.zeros(500, np.uint32), counters)
    for name, want in (("first", first), ("second", second), ("both", first ^ second)):
        assert_same_bits(run(f"threefry_{name}", np.uint32, *keys, counters), want)


def test_erf_inv_is_the_kernel():
    x = np.concatenate([np.linspace(-1, 1, 5001), [np.nan, 2, -0.0, 0.9999999]]).astype(np.float32)
    assert_same_bits(run("erf_inv", F32, x), normals.erf_inv(x))


def test_erf_inv_of_float64_is_right():
    x = np.concatenate([np.linspace(-1, 1, 2001)[1:-1], 1 - np.logspace(-15.5, -1, 200), np.logspace(-300, -1, 100)])
    y = run("erf_inv", np.float64, x)
    far = np.abs(x) > 0.5
    assert_ulps(y, scipy_special.erfinv(x), 8)  # SciPy's error is of several units in the last place
    np.testing.assert_allclose(scipy_special.erfc(np.abs(y[far])), 1 - np.abs(x[far]), rtol=2e-14)
    odd = np.array([1, -1, 0.0, -0.0, np.nan, 2, -np.inf])
    np.testing.assert_array_equal(run("erf_inv", np.float64, odd), [np.inf, -np.inf, 0, 0, *[np.nan] * 3])
    assert np.signbit(run("erf_inv", np.float64, odd)).tolist()[2:4] == [False, True]


def test_lgamma_of_float32_is_right():
    sizes = np.concatenate([np.logspace(-37, 38, 3000), np.linspace(0.5, 12, 3000), [1, 2, 2**23, 2**23 + 1, 1e37]])
    x = np.concatenate([sizes, -sizes, np.nextafter(np.float32([1, 2, -1, -3]), np.float32(0))]).astype(F32)
    assert_ulps(run("lgamma", F32, x), run("lgamma", np.float64, x.astype(float)).astype(F32), 2)
    odd = np.array([0, -0.0, -1, -3, np.inf, -np.inf, np.nan], F32)
    for numbers in (odd, odd[[0, 4, 6]]):
        want = np.where(np.isnan(numbers), np.nan, np.inf)
        np.testing.assert_array_equal(run("lgamma", F32, numbers), want)


def test_operands_are_checked():
    tape = program(single("add", [F32, F32], F32, 6), [(2, 3)])
    x = np.arange(6, dtype=np.float32)
    assert tape([x[::-1], np.asfortranarray(x.reshape(2, 3))])[0].tolist() == [[5, 5, 5], [5, 5, 5]]
    for operands in ([x], [x, x[:5]], [x, x.astype(np.float64)], [x, [1.0] * 6]):
        with pytest.raises(TypeError):
            tape(operands)
    with pytest.raises(ValueError, match="other operands"):
        program(single("add", [F32, F32], F32, 6), [(7,)])


def taking(n, size, *, dtype=np.float32, limit=None, index=np.int32, kind=None):
    """The words of a program that takes n elements of a table by number."""
    x, i, wide = TYPES[np.dtype(dtype)], TYPES[np.dtype(index)], TYPES[np.dtype(np.int64)]
    words = [MAGIC, 2, 1, 0, 1, 1, x, size, i, n, x, n, 1, 1, 1, 4, 1, n]
    words += [x, TABLE if kind is None else kind, 0, i, DIRECT, 1, wide, CONSTANT, size if limit is None else limit]
    return [*words, x, DIRECT, 2, OPERATIONS["take"].number, 3, 0, 1, 2]


@pytest.mark.parametrize("dtype", list(TYPES), ids=str)
def test_takes(dtype):
    table = np.arange(7).astype(dtype)
    index = np.array([0, 6, 3, -1, 7, 2**31 - 1, -(2**31), 5, 3], np.int32)
    (got,) = program(taking(9, 7, dtype=dtype), [(9,)])([table, index])
    assert_same_bits(got, table[np.clip(index, 0, 6)])


# ---- what is refused


GOOD = single("add", [F32, F32], F32, 4)
REFUSED = [
    ("no program", [1, 2, 3]),
    ("no program", []),
    ("left over", [*GOOD, 0]),
    ("ends within", GOOD[:-1]),
    ("one element for each", [*GOOD[:7], 3, *GOOD[8:]]),
    ("another type", [*GOOD[:6], TYPES[np.dtype(np.int32)], *GOOD[7:]]),
    ("no such operation", [*GOOD[:-5], 999, *GOOD[-4:]]),
    ("only read", [*GOOD[:-4], 0, *GOOD[-3:]]),
    ("not written", [*GOOD[:-3], 2, *GOOD[-2:]]),
    ("names no register", [*GOOD[:-4], 7, *GOOD[-3:]]),
    ("never written", [MAGIC, 0, 1, 0, 0, 0, 0, 4]),
    ("beyond its buffer", loaded([3, 4], [4, 1], 11, 2)),
    ("beyond its buffer", loaded([3, 4], [4, 1], 12, 2, 1)),
    ("negative or too long", loaded([3, 4], [4, -1], 12, 2)),
    ("starts nowhere", loaded([3, 4], [4, 1], 12, 2, -1)),
    ("no such rows", [*GOOD[:12], 0, *GOOD[13:]]),
    ("no such rows or loops", [*GOOD[:13], 2, *GOOD[14:]]),
    ("fewer loops than", [*GOOD[:4], 2, *GOOD[5:]]),
    ("of one length", folding(3, 4, out=5)),
    ("only read", folding(3, 4, name="neg")),
    ("other rows", folding(4, 3, rows=6)),
    ("types do not fit", taking(4, 3, limit=4)),
    ("types do not fit", taking(4, 3, limit=0)),
    ("types do not fit", taking(4, 3, index=np.uint32)),
    ("not written", taking(3, 3, kind=DIRECT)),
    ("leaves its row", folding(4, 4, strides=[0, 1], rows=4)),
]


@pytest.mark.parametrize("message, words", REFUSED)
def test_refused(message, words):
    with pytest.raises(ValueError, match=message):
        program(words, [(4,)])


@settings(deadline=None, max_examples=600)
@given(st.data())
def test_no_mutation_leaves_its_buffers(data):
    """Programs with a few words changed are refused, or run in their own memory."""
    words = list(
        data.draw(
            st.sampled_from(
                [
                    GOOD,
                    loaded([3, 4], [4, 1], 12, 2),
                    loaded([2, 3, 4], [0, 4, 1], 12, 3),
                    folding(6, 4),
                    folding(6, 4, rows=6),
                ]
            )
        )
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(1, len(words) - 1))
        words[at] = data.draw(st.sampled_from([-1, 0, 1, 2, 3, 4, 5, 6, 7, 11, 13, 24, 2**31, 2**62, -(2**63)]))
    try:
        check_program(words)
    except ValueError:
        return
    n_in, n_out = words[1:3]
    buffers = [(DTYPES[words[6 + 2 * i]], words[7 + 2 * i]) for i in range(n_in + n_out)]
    if all(n < 10**4 for _, n in buffers):
        shapes = [(n,) for _, n in buffers[n_in:]]
        results = program(words, shapes)([np.ones(n, d) for d, n in buffers[:n_in]])
        assert [x.shape for x in results] == shapes


# ---- operands that are one number for a block, and operations that are joined

SHAPE = 5, 512


def whole_and_rows(dtype):
    """Numbers for each position and for each row, edges among them."""
    rng = np.random.default_rng(11)
    whole = rng.normal(size=SHAPE).astype(dtype)
    whole[1, :14] = edges(dtype)[:14]
    row = np.array([0.5, -2.0, np.inf, np.nan, -0.0], dtype)
    return whole, row


def two_steps(first, second, swapped, dtype):
    """The words of `u = first(x, y)`, then `second(u, z)` or `second(z, u)`; y is by rows and z one constant."""
    t = TYPES[np.dtype(dtype)]
    n, (rows, width) = SHAPE[0] * SHAPE[1], SHAPE
    constant = np.array([0.75, 0], dtype)[:1].tobytes().ljust(8, b"\0")
    words = [MAGIC, 2, 1, 0, 1, 1, t, n, t, rows, t, n, 1, 1, 2, 5, 2, rows, width]
    words += [t, DIRECT, 0, t, LOAD, 1, 1, 0, 0, t, CONSTANT, int.from_bytes(constant, "little", signed=True)]
    words += [t, R.BLOCK, 0, t, DIRECT, 2]
    operands = (2, 3) if swapped else (3, 2)
    return [*words, OPERATIONS[first].number, 3, 0, 1, 0, OPERATIONS[second].number, 4, *operands, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("second", ["add", "sub", "mul", "div", "max", "min", "exp", "neg"])
@pytest.mark.parametrize("first", ["add", "sub", "mul", "div", "max", "min"])
def test_two_operations_with_numbers_of_rows_have_the_bits_of_each_by_itself(first, second, dtype):
    whole, row = whole_and_rows(dtype)
    spread = np.ascontiguousarray(np.broadcast_to(row[:, None], SHAPE)).reshape(-1)
    between = run(first, dtype, whole.reshape(-1), spread)
    constant = np.full_like(between, 0.75)
    for swapped in (False, True) if OPERATIONS[second].signature == "B" else (False,):
        out = program(two_steps(first, second, swapped, dtype), [SHAPE])([whole.reshape(-1), row])[0]
        given = (constant, between) if swapped else (between, constant)
        expected = run(second, dtype, *given[: 2 if OPERATIONS[second].signature == "B" else 1])
        np.testing.assert_array_equal(out.reshape(-1), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "min"])
@pytest.mark.parametrize("is_second", [False, True])
def test_an_operand_that_is_one_number_a_row_may_be_either(name, dtype, is_second):
    whole, row = whole_and_rows(dtype)
    t, n, (rows, width) = TYPES[np.dtype(dtype)], whole.size, SHAPE
    words = [MAGIC, 2, 1, 0, 1, 1, t, n, t, rows, t, n, 1, 1, 2, 3, 1, rows, width]
    words += [t, DIRECT, 0, t, LOAD, 1, 1, 0, 0, t, DIRECT, 2]
    words += [OPERATIONS[name].number, 2, *((0, 1) if is_second else (1, 0)), 0]
    spread = np.ascontiguousarray(np.broadcast_to(row[:, None], SHAPE)).reshape(-1)
    out = program(words, [SHAPE])([whole.reshape(-1), row])[0]
    operands = (whole.reshape(-1), spread) if is_second else (spread, whole.reshape(-1))
    np.testing.assert_array_equal(out.reshape(-1), run(name, dtype, *operands))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("by_rows", [False, True])
def test_sums_of_exponentials_of_differences(dtype, is_kept, by_rows):
    whole, row = whole_and_rows(dtype)
    whole = np.where(np.isfinite(whole) & (abs(whole) < 50), whole, 1).astype(dtype)
    row = np.array([0.5, -2.0, 3.0, 60.0, -0.0], dtype)
    t, n, (rows, width) = TYPES[np.dtype(dtype)], whole.size, SHAPE
    spread = np.ascontiguousarray(np.broadcast_to(row[:, None], SHAPE))
    given = row if by_rows else spread.reshape(-1)
    outputs = [t, rows] + [t, n] * is_kept
    words = [MAGIC, 2, 1 + is_kept, 0, 1, 1, t, n, t, given.size, *outputs, 1, 1, 2, 5, 3, rows, width]
    words += [t, DIRECT, 0, *((t, LOAD, 1, 1, 0, 0) if by_rows else (t, DIRECT, 1)), t, R.BLOCK, 0]
    words += [t, *((DIRECT, 3) if is_kept else (R.BLOCK, 0)), t, ROW, 2]
    words += [
        OPERATIONS["sub"].number,
        2,
        0,
        1,
        0,
        OPERATIONS["exp"].number,
        3,
        2,
        0,
        0,
        OPERATIONS["sum"].number,
        4,
        3,
        0,
        0,
    ]
    sums, *kept = program(words, [(rows,)] + [SHAPE] * is_kept)([whole.reshape(-1), given])
    terms = run("exp", dtype, run("sub", dtype, whole.reshape(-1), spread.reshape(-1))).reshape(SHAPE)
    for array in kept:
        np.testing.assert_array_equal(array, terms)
    exact = terms.astype(np.float64).sum(1)
    np.testing.assert_allclose(sums, exact, rtol=64 * finfo(np.dtype(dtype)).eps)
