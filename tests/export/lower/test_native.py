"""What the native target chooses: kernels of ours where they are quicker or the only ones, else ONNX's operators."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import direct_tapes
from onax._native.dispatch import Primitive
from onax.export.lower import driver, native

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
DTYPES = "bool int8 uint16 int32 uint32 int64 float16 float32 float64 complex64".split()


def nodes(fun, *args):
    """The kinds of nodes of a compiled function, `host:` before a kernel of ours."""
    names = jax.jit(fun).lower(*args).compile().host_nodes
    return sorted({n.rsplit("_", 1)[0] for n in names})


def check(fun, *args):
    """Compiled and evaluated results are the same bits."""
    for got, want in zip(jax.tree_util.tree_leaves(jax.jit(fun)(*args)), jax.tree_util.tree_leaves(fun(*args))):
        assert got.dtype == want.dtype and got.shape == want.shape
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes()


# ---- gather and scatter of rows

MODES = ("clip", "fill", "promise_in_bounds")
INDICES = {
    "one": np.array([1, 39, 1, 0]),
    "out of bounds": np.array([[1, 40, -41], [-1, 1000, -1000]]),
    "none": np.zeros((0,), np.int32),
    "scalar": np.int32(7),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_gathered(dtype, mode):
    with jax.enable_x64():
        x = jnp.asarray(X).astype(dtype)
        for name, i in INDICES.items():
            if mode != "promise_in_bounds" or name != "out of bounds":
                check(lambda v, k: v.at[k].get(mode=mode), x, i)
                check(lambda v, k: v[:, 0].at[k].get(mode=mode), x, i.astype(np.int32))
                check(lambda v, k: v.at[k, k % 3].get(mode=mode), x, i)


@pytest.mark.parametrize("op", ["set", "add", "subtract", "multiply", "min", "max"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "int8", "complex64"])
def test_rows_are_scattered(dtype, op):
    if dtype == "complex64" and op in ("min", "max"):
        pytest.skip("complex numbers have no order")
    with jax.enable_x64():
        x = jnp.asarray(X * 20).astype(dtype)
        y = jnp.asarray(RNG.normal(size=(2, 3, 3)) * 9).astype(dtype)
        update = lambda v, k, u: [getattr(v.at[k], op)(u, mode=mode) for mode in ("clip", "drop")]
        check(update, x, INDICES["out of bounds"], y)
        check(update, x[:, 0], INDICES["out of bounds"].astype(np.int32), y[..., 0])
        check(update, x, INDICES["one"], y[0, 0])
        check(lambda v, k, u: getattr(v.at[k, 1], op)(u), x, INDICES["one"], y[0, 0, 0])


def test_extrema_keep_nan():
    x = jnp.array([np.nan, 1.0, 2.0, -0.0])
    i, y = np.array([0, 1, 2, 1]), jnp.array([5.0, np.nan, 3.0, 0.0])
    check(lambda v, k, u: (v.at[k].max(u), v.at[k].min(u)), x, i, y)


def test_what_runs_where():
    many = jnp.zeros(5000)
    assert nodes(jnp.sort, many) == nodes(lambda v: lax.top_k(v, 5), many) == []  # instructions of tapes
    assert nodes(lambda k: jax.random.bits(k, (3,)), jax.random.key(0)) == []
    assert nodes(lambda k: jax.random.bits(k, (3,)), jax.random.key(0, impl="rbg")) == ["random_bits"]
    assert nodes(lambda k: jax.random.normal(k, (50, 100)), jax.random.key(0)) == []


# ---- what only a kernel can say


def test_a_primitive_with_nothing_but_a_kernel():
    odd_p = Primitive("test_native_odd", kernel=lambda x, *, by: x * by, abstract_eval=lambda x, *, by: x)
    fun = lambda v: lax.fori_loop(0, 3, lambda i, c: odd_p.bind(c, by=2), v)
    for dtype in (np.float32, ml_dtypes.bfloat16, np.complex64, np.int8):
        check(fun, jnp.asarray(X).astype(dtype))
    assert nodes(fun, X) == ["test_native_odd"]


def _pick(x):
    return x[jnp.array([2, 0])], lax.select(x > 1, x, -x), jnp.pad(x, 1, constant_values=1), x[::-1].reshape(3, 1)


def _odd(x):
    same_p = Primitive("test_native_same", kernel=lambda x: x, abstract_eval=lambda x: x)
    return same_p.bind(x)


NARROW = {  # functions of a narrow array, whose constants are narrow, too
    "no rule": _odd,
    "arithmetic": lambda x: (x * x + x - 1, x > 1, x.astype(jnp.float32), lax.sort(x), jnp.float32(2).astype(x.dtype)),
    "movement": _pick,
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: y + 1, lambda y: y, x),
    "scan": lambda x: lax.scan(lambda c, y: (c * y + 1, c), jnp.ones((), x.dtype), x),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 1, lambda c: c + 1, x),
    "callback": lambda x: jax.pure_callback(lambda y: np.asarray(y), x, x) + x,
    "reduce": lambda x: lax.reduce(x, jnp.ones((), x.dtype), lambda a, b: a * b + a, (0,)),
    "reduce, max": lambda x: jax.vmap(lambda y: lax.reduce(y, jnp.zeros((), x.dtype), lax.max, (0,)))(x[None]),
    "reduce, two": lambda x: lax.reduce(
        (x, x), (jnp.zeros((), x.dtype),) * 2, lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (0,)
    ),
}


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "uint2", "float8_e4m3fn", "float4_e2m1fn"])
@pytest.mark.parametrize("name", NARROW)
def test_narrow_numbers_are_bytes_in_a_session(name, dtype):
    x = jnp.array([1, 0, 1], dtype)
    check(NARROW[name], x)
    with direct_tapes(False):
        check(lambda y: NARROW[name](y), x)


def test_many_narrow_numbers_run_in_a_session():
    check(lambda x: (x * x, x.T, x.astype(jnp.float32)), jnp.ones((1_500_000, 2), "int4"))


def test_exports_and_other_providers_do_not_get_bytes():
    program = jax.make_jaxpr(lambda x: x)(jnp.ones(3, jnp.int4))
    with pytest.raises(jax.errors.LoweringError, match="ONNX has no element type for int4"):
        driver.lower_jaxpr(program, opset=21)


def test_every_choice_names_a_primitive_with_a_kernel():
    assert all(p.kernel is not None for p in native.native)


HALVES = jnp.asarray(np.array([[1, 2, 3], [0.5, 0.25, 4]]), dtype="float16")
OF_HALVES = {
    "gather": lambda x: (x + x)[jnp.array([1, 0])] * 2,
    "igammac": lambda x: lax.igammac(x + x, x) * 2,
    "erf_inv": lambda x: lax.erf_inv((x + x) / 9) * 2,
    "sort": lambda x: jnp.sort(x + x) * 2,
    "scatter": lambda x: (x + x).at[jnp.array([1, 1])].add(x) * 2,
    "top_k": lambda x: lax.top_k(x + x, 2)[0] * 2,
    "where around a kernel": lambda x: jnp.where(x < 0, 0, lax.igammac(jnp.floor(1 + jnp.maximum(x - 0, 0)), x)),
    "one number": lambda x: lax.igammac(x[0, 0] + x[0, 1], x[0, 0]) * 2,
}


@pytest.mark.parametrize("name", OF_HALVES)
def test_halves_stay_halves(name):
    function = OF_HALVES[name]
    wanted, got = np.asarray(function(HALVES)), np.asarray(jax.jit(function)(HALVES))
    assert got.dtype == wanted.dtype == np.float16
    np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=4e-3)
