"""Regions: what is put together, in which order, and that it computes what its equations compute."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onax as jax
import onax.numpy as jnp
from native_passes import check, names, with_regions
from onax import lax
from onax._control.fused import assemble, fused_p
from onax._ground.config import enable_x64
from onax._tape import regions
from tolerance import assert_ulps


def insides(jaxpr):
    return [names(eqn.params["jaxpr"]) for eqn in jaxpr.eqns if eqn.primitive is fused_p]


# ---- drawn programs


SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (4, 2, 3), (0, 3), (5000,), (70, 80), (70, 1), (80,)]
FLOATS, INTEGERS = ("float32", "float64"), ("int32", "uint32", "int64", "uint64")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e30, 3e9, -3e9, 1e19, 2.5]
UNARY = {
    "f": [jnp.abs, jnp.negative, jnp.floor, jnp.ceil, jnp.sqrt, jnp.square, lax.sign, lax.round, jnp.rint],
    "i": [jnp.negative, jnp.abs, jnp.invert, jnp.square, lambda x: lax.integer_pow(x, 3)],
    "b": [jnp.logical_not],
}
BINARY = {
    "f": [jnp.add, jnp.subtract, jnp.multiply, jnp.true_divide, jnp.maximum, jnp.minimum, jnp.fmod],
    "i": [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.bitwise_and, jnp.bitwise_xor]
    + [lambda x, y: lax.div(*jnp.broadcast_arrays(x, y)), lambda x, y: lax.rem(*jnp.broadcast_arrays(x, y))]
    + [jnp.left_shift, jnp.right_shift],
    "b": [jnp.logical_and, jnp.logical_or, jnp.logical_xor],
}
COMPARE = [jnp.equal, jnp.not_equal, jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal]


def operand(rng, shape, dtype):
    n = int(np.prod(shape))
    if dtype in FLOATS:
        pool = [rng.gauss(0, 5) for _ in range(20)] + EDGES
        return (
            np.array([rng.choice(pool) for _ in range(min(n, 97))] or [0.0], dtype)
            .take(range(n), mode="wrap")
            .reshape(shape)
        )
    if dtype == "bool":
        return np.array([rng.random() < 0.5 for _ in range(n)], bool).reshape(shape)
    info = np.iinfo(dtype)
    pool = [info.min, info.max, 0, 1, 2, 31, 32, 33, 64, *[rng.randrange(info.min, info.max + 1) for _ in range(5)]]
    pool += [-1, -2] if info.min else []
    return np.array([rng.choice(pool) for _ in range(n)], dtype).reshape(shape)


def fits(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) in (a.shape, b.shape)
    except ValueError:
        return False


def step(rng, values):
    """One more value, from those there are."""
    x = rng.choice(values)
    kind = "f" if x.dtype.kind == "f" else "b" if x.dtype.kind == "b" else "i"
    partners = [y for y in values if y.dtype == x.dtype and fits(x, y)]
    y, which = rng.choice(partners), rng.randrange(7)
    if which == 6 and x.ndim and x.shape[0] > 1:
        return x[rng.randrange(2) :: rng.randrange(1, 3)]
    if which == 0:
        return rng.choice(UNARY[kind])(x)
    if which == 1:
        return x.astype(rng.choice((*FLOATS, *INTEGERS, "bool")))
    if which == 2:
        return rng.choice(COMPARE)(x, y)
    masks = [m for m in values if m.dtype == bool and m.shape in ((), np.broadcast_shapes(x.shape, y.shape))]
    if which == 3 and masks:
        return jnp.where(rng.choice(masks), x, y)
    return rng.choice(BINARY[kind])(x, y)


def program(seed, length):
    def run(*operands):
        rng = random.Random(seed)
        values = list(operands)
        for _ in range(length):
            values.append(step(rng, values))
        return values[len(operands) :: 2]

    return run


@settings(deadline=None, max_examples=150, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), length=st.integers(2, 14))
def test_drawn_programs_give_the_same_bits(seed, length):
    rng = random.Random(seed)
    shapes = rng.sample(SHAPES, 2) + [()]
    with enable_x64(True):
        operands = [operand(rng, rng.choice(shapes), rng.choice((*FLOATS, *INTEGERS, "bool"))) for _ in range(4)]
        check(program(seed, length), *operands)


FUNCTIONS = [jnp.sin, jnp.exp, jnp.tanh, jnp.log, jnp.log1p, jnp.expm1, jax.nn.sigmoid, jnp.arctan, lax.erf, jnp.cbrt]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", (5, 6000))
def test_functions_agree_to_four_ulp(function, n):
    x = np.linspace(-3, 3, n, dtype=np.float32)
    assert check(lambda x: (function(x), function(jnp.abs(x))), x, compare=assert_ulps).eqns


@pytest.mark.parametrize("exponent", (0.5, 1.0, 2.0, 3.0, -1.0, 2.5, 0, 4))
def test_powers_with_a_known_exponent(exponent):
    x = np.array([*EDGES, 1e-30, 7.25, -7.25], np.float32)
    check(lambda x: (lax.pow(x, np.float32(exponent)), x**exponent + 1), x, compare=assert_ulps)


# ---- what is put together


X = np.linspace(0.1, 1, 6, dtype=np.float32).reshape(2, 3)
BIG = np.linspace(0.1, 1, 90_000, dtype=np.float32).reshape(300, 300)


def test_calls_are_opened_and_a_chain_is_one_equation():
    program = check(lambda x: jnp.where(x > 0.5, jax.nn.relu(x) * 2 + 1, jnp.clip(x, 0.2, 0.3)), BIG)
    assert names(program)[-1] == "fused" and insides(program)[0][-1] == "select_n" and len(insides(program)) == 1


def test_small_equations_of_one_level_share_a_node():
    program = check(lambda tree: [v * 2 + i for i, v in enumerate(tree)], [X, X[0], X[:, :1], np.float32(3)])
    assert names(program)[-1] == "fused" and insides(program)[0].count("mul") == insides(program)[0].count("add") == 4


def test_large_equations_join_those_they_exchange_values_with():
    program = check(lambda x, y: (jnp.sqrt(x) * 2, jnp.abs(y) + 1, jnp.floor(x)), BIG, BIG + 1)
    assert sorted(names(program)) == ["floor", "fused", "fused"]


def test_barriers_separate_levels():
    program = check(lambda x: (x - jnp.sort(x, 0)) * jnp.abs(jnp.sort(x) - 1) + jnp.sqrt(x) * 3, BIG)
    order = names(program)
    assert order.count("fused") >= 1 and order.index("sort") < len(order) - 1
    program = check(lambda x: jnp.sort(jnp.sin(x) * 2) + jnp.sort(jnp.cos(x) * 3 + 1), X, compare=assert_ulps)
    assert names(program)[0] == "fused" and names(program).count("fused") == 1


def test_what_one_later_region_alone_reads_is_computed_there():
    program = check(lambda x: jnp.sqrt(x) * jnp.sort(x, 0), BIG)
    assert insides(program) == [["sqrt", "mul"]]

    def shared(x):
        root = jnp.sqrt(x)
        return root * jnp.sort(x, 0), jnp.sort(root)

    assert insides(check(shared, BIG)) == []
    program = check(lambda x: (x - x.max(0)) * jnp.sort(x).max(0), BIG)
    assert insides(program)[-1][-2:] == ["broadcast_in_dim", "mul"] and "sub" in insides(program)[-1]
    repeated = lambda x: lax.max(x, lax.broadcast(np.float32(0.5), (300, 300))) * jnp.sort(x, 0)
    assert insides(check(repeated, BIG))[-1][-2:] == ["max", "mul"]


def test_what_keeps_more_memory_is_not_computed_later():
    program = check(lambda x: (jnp.sort(x) - jnp.sort(-x)) * jnp.sort(jnp.sort(x, 0) + 1), BIG)
    assert not any("sub" in inside for inside in insides(program))
    program = check(lambda x: jnp.sqrt(jnp.sort(x)) * jnp.sort(jnp.sort(x, 0) + 1), BIG)
    assert ["sqrt", "mul"] in insides(program)


def repeated(n):
    def function(x):
        for _ in range(n // 2):
            x = jnp.sin(x) * 0.5
        return x

    return function


def test_a_long_program_is_cut_into_equal_pieces_that_share_their_code():
    for n in (2 * regions.LONGEST, 6 * regions.LONGEST):
        program = check(repeated(n), X, compare=assert_ulps)
        lengths = [len(inside) for inside in insides(program)]
        assert lengths == [regions.LONGEST] * (n // regions.LONGEST)
        assert len({assemble(eqn.params["jaxpr"]) for eqn in program.eqns}) <= 2


def test_values_that_pieces_hand_on():
    check(jax.value_and_grad(lambda x: jnp.sum(repeated(regions.LONGEST)(x))), X, compare=closely)


def test_a_region_that_needs_too_many_registers_is_halved():
    def function(x):
        waiting = [x + i for i in range(1500)]
        for y in reversed(waiting):
            x = jnp.maximum(x - y, y)
        return x

    program = with_regions(jax.make_jaxpr(function)(BIG))
    assert names(program) == ["fused"] * len(program.eqns) and 1 < len(program.eqns) < 8
    assert sum([len(inside) for inside in insides(program)]) == 4500
    check(function, BIG[:2, :2])


def closely(got, want, *, what=None):
    np.testing.assert_allclose(got, want, rtol=3e-5, atol=2e-5, err_msg=what)


def rows_less_columns(x):
    """A row's value where columns are: what one loop makes and another reads across rows."""
    x = x[:, : x.shape[0]]
    m = jnp.max(x, 1)
    return jnp.exp(x - m[:, None]) + m[None, :] * 2


def two_widths(x):
    """Regions of two shapes that wait for each other."""
    m = jnp.max(x, 1, keepdims=True)
    y = jnp.exp(x[:, :100] - m) + 1
    return x / jnp.sum(y, 1, keepdims=True) + m


FOLDED = {  # function, how many equations are regions (of few elements, and of many)
    "softmax": (jax.nn.softmax, 1, 1),
    "log_softmax": (jax.nn.log_softmax, 1, 1),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=-1), 1, 1),
    "variance": (lambda x: jnp.var(x, axis=1) + 1, 1, 1),
    "squares": (lambda x: jnp.sum(x * x, 1), 1, 1),
    "of all": (lambda x: jnp.mean((x - jnp.mean(x)) ** 2), 1, 1),
    "of all and of rows": (lambda x: (x - jnp.mean(x)) / jnp.max(x, 1, keepdims=True), 1, 1),
    "several results": (lambda x: (x * 2, jnp.sum(x * 2, 1), jnp.max(x * 2 + 1, 1) + 1), 1, 1),
    "bools": (lambda x: jnp.where(jnp.any(x > 0.9, 1, keepdims=True), x, jnp.all(x < 2)), 1, 1),
    "integers": (lambda x: jnp.sum((x * 10).astype(int), 1) * 2, 1, 1),
    "products": (lambda x: jnp.prod(x * 0.01 + 1, 1), 1, 1),
    "rows where columns are": (rows_less_columns, 1, 2),
    "two widths": (two_widths, 1, 2),
    "three axes": (lambda x: jax.nn.softmax(x.reshape(-1, 3, x.shape[1] // 3) * 2, axis=(1, 2)), 1, 1),
    "three axes, then two": (
        lambda x: jnp.sum(jax.nn.softmax(jnp.stack([x, x + 1], 1) * 2) ** 2, (1, 2), keepdims=True) + 1,
        1,
        1,
    ),
    "columns": (lambda x: (x - jnp.mean(x, 0)) * 2, 0, 0),
    "gradient": (jax.grad(lambda x: jnp.sum(jax.nn.log_softmax(x) ** 2)), 1, 1),
}


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("operand", (X, BIG), ids=("few", "many"))
def test_folds_are_in_regions(name, operand):
    function, *wanted = FOLDED[name]
    program = check(function, operand, compare=closely)
    assert names(program).count("fused") == wanted[operand is BIG] or "columns" in name, program


@pytest.mark.parametrize("shape", ((0, 5), (5, 0), (1, 1), (1, 9000), (9000, 1), (4097, 3), (3, 2049), (33, 1, 129)))
@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16"))
def test_folds_of_any_size_and_type(shape, dtype):
    with enable_x64(dtype == "float64"):
        x = jnp.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32)).astype(dtype)
        for function in (
            jax.nn.softmax,
            lambda x: jnp.sum(x * x, -1),
            lambda x: x / (1 + jnp.max(jnp.abs(x), initial=0)),
        ):
            want, got = function(x), jax.jit(function)(x)
            assert got.dtype == want.dtype and got.shape == want.shape
            rtol = {"float16": 5e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-13}[dtype]
            np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=rtol, atol=rtol / 1000)


@pytest.mark.parametrize("width", (7, 1500))
def test_what_is_not_a_number_stays_in_its_row(width):
    x = np.random.default_rng(0).normal(size=(60, width)).astype(np.float32)
    x[1, 3], x[2, 0], x[3, 6], x[4, :], x[5, 2:4] = np.nan, np.inf, -np.inf, -np.inf, (np.inf, -np.inf)
    for function in (jax.nn.softmax, jax.nn.log_softmax, lambda x: jax.nn.logsumexp(x, axis=1), jax.nn.standardize):
        np.testing.assert_allclose(jax.jit(function)(x), function(x), rtol=2e-5, atol=1e-6)


def test_views_are_read_through():
    def norm(x, scale, shift):
        return (x - shift[:, None]) * scale[None, :] + jnp.ones(300)

    program = check(norm, BIG, BIG[0], BIG[:, 0])
    assert names(program) == ["fused"]


def test_large_slices_are_read_through():
    stencil = lambda x: x[1:-1, 1:-1] * 4 - x[2:, 1:-1] - x[:-2, 1:-1] - x[1:-1, 2:] - x[1:-1, :-2]
    assert names(check(stencil, BIG)) == ["fused"]
    assert names(check(lambda x: x[1:] - x[:-1], BIG)) == ["fused"]
    assert names(check(lambda x: x[::2, 1::2] * 2, BIG)) == ["fused"]
    assert names(check(lambda x: x[:2, :3] * 2, BIG)) == ["slice", "mul"]


@pytest.mark.parametrize("rows, regions", [(63, 1), (64, 3), (65, 3)])
def test_a_slice_of_what_a_large_region_makes_waits_for_it(rows, regions):
    def function(x):
        y = jnp.abs(x) * 2
        return (y + (y[:1] * 3 + 1)) * y[0]

    x = np.linspace(-1, 1, rows * 64, dtype=np.float32).reshape(rows, 64)
    assert names(check(function, x)).count("fused") == regions


def test_a_view_for_others_stays_outside():
    program = check(lambda x: (jnp.broadcast_to(jnp.abs(x) + 1, (4, 3)), (jnp.abs(x) + 1) * 2), X[0])
    assert names(program) == ["fused", "broadcast_in_dim"]


def test_constants_stay_for_the_lowering():
    program = check(lambda x: x[jnp.flip(jnp.arange(2) + 0)] * 2 + 1, X)
    assert names(program)[-1] == "fused" and "add" in names(program)


@pytest.mark.parametrize("dtype", ("float16", "bfloat16", "int8", "uint16"))
def test_narrow_dtypes_are_in_regions(dtype):
    program = check(lambda x: ((x * 2 + 1) * x, x.astype(jnp.float32) * 2 + 1), X.astype(dtype))
    assert names(program) == ["fused"]


def test_complex_numbers_are_in_regions():
    assert names(check(lambda x: jnp.real(x * x) + 1, X + 1j, compare=assert_ulps)) == ["fused"]
    assert names(check(lambda x: abs(x * 2j + 1) * jnp.imag(x), (X + 1j).astype(np.complex64), compare=assert_ulps))


def test_effects_keep_their_order():
    seen = []

    def f(x):
        y = x * 2 + 1
        jax.debug.callback(lambda v: seen.append(float(v)), y, ordered=True)
        z = jnp.sum(y * x) + 1
        jax.debug.callback(lambda v: seen.append(float(v)), z * 2 + y, ordered=True)
        return z - y

    assert jax.jit(f)(1.0) == 1.0
    jax.effects_barrier()
    assert seen == [3.0, 11.0]


def test_results_that_are_arguments_constants_or_the_same():
    check(lambda x: (x, x * 2 + 1, 1.0, jnp.abs(x * 2 + 1)), X)

    def twice(x):
        y = x * 2 + 1
        return y, y, jax.jit(lambda z: (z, 2.0))(y)

    check(twice, X)


def test_gradients_run_as_regions():
    def loss(w):
        return jnp.sum(jnp.tanh(w * X) ** 2)

    want = jax.grad(loss)(X)
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(X), want, rtol=1e-5)


# ---- places, programs without a session


# ---- each primitive alone, on the samples of the laws


# ---- exponentials, and functions of bfloat16, of any number of elements


@pytest.mark.parametrize("function", [jnp.exp, jnp.log, jnp.tanh, jax.nn.sigmoid, jax.scipy.special.erf])
def test_functions_of_all_bfloat16_are_those_of_float32_rounded(function):
    x = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(jnp.bfloat16)
    got = np.asarray(jax.jit(function)(x))
    with np.errstate(invalid="ignore"):
        want = np.asarray(jax.jit(function)(x.astype(np.float32))).astype(jnp.bfloat16)
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16], ids=["f32", "bf16"])
def test_exponentials_and_extremes_of_rows_of_any_length(dtype):
    def program(x):
        top = x.max(-1, keepdims=True)
        terms = jnp.exp(x - top)
        return top, x.min(-1), terms, terms.astype(jnp.float32).sum(-1), jnp.exp(x - x[::-1])

    rng = np.random.default_rng(0)
    for n in [*range(1, 70), 255, 256, 257, 512, 515, 1000]:
        x = (rng.normal(size=(21, n)) * 4).astype(dtype)
        x[3, 0], x[5, n // 2], x[7, n - 1], x[9] = np.nan, np.inf, -np.inf, -np.inf
        wide = x.astype(np.float64)
        top, least, terms, total, differences = [np.asarray(v) for v in jax.jit(program)(x)]
        with np.errstate(invalid="ignore", over="ignore"):
            np.testing.assert_array_equal(top.astype(float), wide.max(-1, keepdims=True))
            np.testing.assert_array_equal(least.astype(float), wide.min(-1))
            ulps = 4 if dtype is np.float32 else 1
            assert_ulps(terms, np.exp((x - top).astype(np.float64)).astype(dtype), ulps)
            assert_ulps(differences, np.exp((x - x[::-1]).astype(np.float64)).astype(dtype), ulps)
            np.testing.assert_allclose(total, terms.astype(np.float64).sum(-1), rtol=1e-5)


def test_exponentials_of_extreme_numbers():
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 88.72, 88.73, 89.5, 1e30, -87.3, -88.0, -103.9, -104.5, -1e30, 1e-40]
    x = np.concatenate([special, np.linspace(-110, 95, 20_011)]).astype(np.float32)
    with np.errstate(over="ignore"):
        want = np.exp(x.astype(np.float64)).astype(np.float32)
    assert_ulps(np.asarray(jax.jit(lambda x: jnp.exp(x) * 1)(x)), want, 2)
