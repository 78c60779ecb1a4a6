"""Small functions that exporters get wrong, each with its arguments: what the portable target must be right on.

`CASES` maps a name to (function, arguments).  They are run in ONNX Runtime, in onnx's reference evaluator and in
Node, and compared with eager evaluation there and with real JAX through the recordings of their primitives.
"""

import ml_dtypes
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from tolerance import assert_same_bits, assert_within, finfo, is_float

RNG = np.random.default_rng(0)
F = lambda *shape: RNG.normal(size=shape).astype(np.float32)
X, V, S = F(4, 5), F(6), np.float32(0.3)
SPD = (lambda a: a @ a.T + 4 * np.eye(4, dtype=np.float32))(F(4, 4))
IMAGE, KERNEL = F(2, 3, 9, 8), F(4, 3, 3, 3)
NANS = np.array([2, np.nan, -np.inf, 0, -1, np.inf, np.nan, 1], np.float32)
EDGES = np.array([0.5, -1.5, 127.9, 128, 300, -129, 1e10, -1e10, np.nan, np.inf, -np.inf], np.float32)
INTS = np.array([-7, 7, 0, 5, -(2**31), 2**31 - 1, 3, -3], np.int32)
DIVISORS = np.array([2, -2, 0, 0, -1, -1, 3, 3], np.int32)
INDEX = np.array([0, 4, 5, -1, -6, 100], np.int32)

CASES = {}


def case(*args):
    """Adds the decorated function under its name."""

    def add(function):
        CASES[function.__name__] = (function, args)
        return function

    return add


def conv(x, k, **options):
    return lax.conv_general_dilated(x, k, options.pop("strides", (1, 1)), options.pop("padding", "SAME"), **options)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") / 9


# ---- gradients


@case(V)
def grad_scan(v):
    def f(v):
        carry, ys = lax.scan(lambda c, x: (jnp.sin(c) + x, c * x), 0.5, v)
        return carry + ys.sum()

    return jax.grad(f)(v)


@case(V)
def grad_of_grad_scan(v):
    f = lambda v: lax.scan(lambda c, x: (jnp.tanh(c * x) + x, None), 0.5, v)[0]
    return jax.grad(lambda v: jax.grad(f)(v).sum())(v)


@case(IMAGE, KERNEL)
def grad_conv(x, k):
    return jax.grad(lambda x, k: (conv(x, k, strides=(2, 1)) ** 2).sum(), (0, 1))(x, k)


@case(IMAGE, F(6, 1, 3, 3))
def grad_grouped_dilated_conv(x, k):
    f = lambda x, k: (conv(x, k, padding="VALID", rhs_dilation=(2, 1), feature_group_count=3) ** 2).sum()
    return jax.grad(f, (0, 1))(x, k)


@case(IMAGE)
def grad_max_pool(x):
    return jax.grad(lambda x: (max_pool(x) ** 2).sum())(x)


@case(IMAGE)
def grad_average_pool(x):
    return jax.grad(lambda x: (average_pool(x) ** 2).sum())(x)


@case(S, V)
def grad_cond(s, v):
    f = lambda v: lax.cond(s > 0, lambda v: jnp.sin(v).sum(), lambda v: (v**2).sum(), v)
    return jax.grad(f)(v)


@case(np.int32(7), V)
def grad_switch_clamped(i, v):
    return jax.grad(lambda v: lax.switch(i, [jnp.sum, lambda v: (v * v).sum(), lambda v: jnp.exp(v).sum()], v))(v)


@case(V)
def grad_sort(v):
    return jax.grad(lambda v: (jnp.sort(v) * jnp.arange(6.0)).sum())(v)


@case(SPD, F(4))
def grad_solve(a, b):
    return jax.grad(lambda a, b: (jnp.linalg.solve(a, b) ** 2).sum(), (0, 1))(a, b)


@case(SPD)
def grad_cholesky(a):
    return jax.grad(lambda a: (jnp.linalg.cholesky(a) ** 3).sum())(a)


@case(V)
def grad_cumulative(v):
    return jax.grad(lambda v: (jnp.cumsum(v) ** 2).sum() + jnp.cumprod(v).sum() + lax.cummax(v).sum())(v)


@case(X)
def grad_logsumexp(x):
    return jax.grad(lambda x: jax.nn.logsumexp(x, axis=1).sum())(x)


@case(X, INDEX[:3])
def grad_gather_scatter(x, i):
    return jax.grad(lambda x: (x[i] ** 2).sum() + (x.at[i].add(x[1]) ** 2).sum())(x)


@case(V)
def hessian(v):
    return jax.hessian(lambda v: jnp.prod(jnp.sin(v)))(v)


@case(V)
def jacobian_of_vmap(v):
    return jax.jacfwd(jax.vmap(lambda a: jnp.tanh(a) * a))(v)


# ---- control flow


@case(V)
def loop_without_trips(v):
    return lax.fori_loop(3, 3, lambda i, v: v * 2, v)


@case(V, np.int32(4))
def loop_of_traced_length(v, n):
    return lax.fori_loop(0, n, lambda i, v: v + i, v)


@case(V)
def while_loop(v):
    return lax.while_loop(lambda v: v.sum() < 100, lambda v: v * v + 1, v)


@case(X)
def batched_while(x):
    return jax.vmap(lambda r: lax.while_loop(lambda c: c[0].sum() < 20, lambda c: (c[0] + 1.5, c[1] + 1), (r, 0)))(x)


@case(V)
def nested_control(v):
    def step(c, x):
        return lax.cond(x > 0, lambda c: lax.fori_loop(0, 2, lambda i, c: c * 1.1 + x, c), lambda c: c - x, c), c

    return lax.scan(step, 1.0, v)


@case(X)
def reverse_scan(x):
    return lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), jnp.zeros(5), x, reverse=True)


@case(V)
def associative_scan(v):
    return lax.associative_scan(jnp.multiply, v)


# ---- random numbers


@case(np.array([1, 2], np.uint32))
def random_bits(raw):
    return jax.random.bits(jax.random.wrap_key_data(raw), (9,))


@case(np.array([1, 2], np.uint32))
def random_draws(raw):
    keys = jax.random.split(jax.random.wrap_key_data(raw), 3)
    return (
        jax.random.uniform(keys[0], (7,)),
        jax.random.normal(keys[1], (3, 2)),
        jax.random.randint(keys[2], (5,), 0, 9),
    )


@case(np.array([7, 7], np.uint32))
def random_permutation(raw):
    return jax.random.permutation(jax.random.wrap_key_data(raw), 10)


@case(np.array([0, 3], np.uint32))
def random_in_scan(raw):
    def step(key, _):
        key, sub = jax.random.split(key)
        return key, jax.random.uniform(sub, (2,))

    return lax.scan(step, jax.random.wrap_key_data(raw), None, length=4)[1]


# ---- indices


@case(V, INDEX)
def read_out_of_bounds(v, i):
    return v[i], v.at[i].get(mode="fill"), jnp.take(v, i, mode="wrap"), jnp.take(v, i, mode="clip")


@case(V, INDEX)
def write_out_of_bounds(v, i):
    return v.at[i].set(9.0), v.at[i].add(1.0), v.at[i].multiply(2.0, mode="clip"), v.at[i].max(0.5)


@case(X, np.int32(9), np.int32(-9))
def dynamic_slices(x, i, j):
    return lax.dynamic_slice(x, (i, j), (2, 3)), lax.dynamic_update_slice(x, x[:2, :2], (j, i))


@case(X, np.array([3, 1], np.int32))
def mixed_indices(x, i):
    return x[i, 1:4], x[:, None, i], x[..., ::-2], x.at[i, 2].set(7.0)


@case(np.array([1, 1, 2, 2, 2], np.int32), F(5))
def repeated_scatter(i, v):
    return jnp.zeros(4).at[i].add(v), jnp.zeros(4).at[i].max(v), jnp.ones(4).at[i].multiply(v)


# ---- dtypes


@case(EDGES)
def casts_saturate(x):
    return x.astype(jnp.int8), x.astype(jnp.uint8), x.astype(jnp.int32), x.astype(jnp.uint32), x.astype(jnp.bool_)


@case(INTS)
def integer_casts_wrap(x):
    return x.astype(jnp.int8), x.astype(jnp.uint16), x.astype(jnp.float16), x.astype(jnp.uint32)


@case(INTS, DIVISORS)
def integer_division(x, y):
    return lax.div(x, y), lax.rem(x, y), x // y, x % y


@case(INTS, np.array([0, 1, 31, 32, 33, -1, 5, 40], np.int32))
def shifts(x, n):
    return lax.shift_left(x, n), lax.shift_right_logical(x, n), lax.shift_right_arithmetic(x, n)


@case(np.array([127, -128, 100, -1], np.int8), np.array([1, -1, 100, 2], np.int8))
def int8_arithmetic(x, y):
    return x + y, x - y, x * y, lax.div(x, y), jnp.abs(x), -x, jnp.sum(x), jnp.maximum(x, y)


@case(np.array([250, 3, 255], np.uint8))
def uint8_arithmetic(x):
    return x + x, x * x, x - jnp.uint8(4), jnp.sum(x), ~x, x ^ jnp.uint8(15)


@case(F(3, 4).astype(ml_dtypes.bfloat16))
def bfloat16_arithmetic(x):
    return x + x, jnp.sin(x), x @ x.T, jnp.sum(x), x.astype(jnp.float32)


@case(F(3, 4).astype(np.float16))
def float16_arithmetic(x):
    return x * x, jnp.exp(x), x @ x.T, jnp.mean(x), jnp.sort(x)


@case(V)
def bitcasts(v):
    bits = lax.bitcast_convert_type(v, jnp.int32)
    return bits, lax.bitcast_convert_type(bits ^ 1, jnp.float32), lax.bitcast_convert_type(v, jnp.uint8)


@case(np.array([0, 1, 255, -1], np.int32))
def bit_counts(x):
    return lax.population_count(x), lax.clz(x)


@case(V)
def weak_types(v):
    return v * 2, v.astype(jnp.float16) * 2.5, jnp.arange(3) / 2, (v > 0) + 1


# ---- order and NaN


@case(NANS)
def nan_order(x):
    return jnp.sort(x), jnp.argmax(x), jnp.argmin(x), jnp.max(x), lax.top_k(x, 3)


@case(NANS)
def nan_reductions(x):
    return jnp.nanmax(x), jnp.nanargmin(x), jnp.nansum(jnp.where(jnp.isinf(x), 0, x)), jnp.isnan(x)


@case(NANS, NANS[::-1].copy())
def nan_elementwise(x, y):
    return jnp.maximum(x, y), jnp.minimum(x, y), jnp.sign(x), jnp.clip(x, -1, 1), x == y, jnp.nan_to_num(x)


@case(np.array([3, 1, 2, 1, 3], np.int32), F(5))
def sort_several(k, v):
    return lax.sort((k, v), num_keys=1), jnp.argsort(k, descending=True), jnp.lexsort((v, k))


@case(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997], np.float32))
def rounding(x):
    return jnp.round(x), lax.round(x), jnp.floor(x), jnp.trunc(x)


@case(NANS)
def where_gradient(x):
    return jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0).sum())(x)


# ---- linear algebra, transforms


@case(SPD, F(4, 2))
def solves(a, b):
    return jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.cholesky(a)


@case(F(2, 4, 3))
def qr_batched(a):
    q, r = jnp.linalg.qr(a)
    return q @ r, jnp.abs(r)


@case(SPD)
def symmetric_eigenvalues(a):
    return jnp.linalg.eigvalsh(a), jnp.linalg.norm(a, 2)


@case(F(4, 3))
def singular_values(a):
    return jnp.linalg.svd(a, compute_uv=False), jnp.linalg.pinv(a)


@case(F(2, 4, 4))
def general_eigenvalues(a):
    w, v = jnp.linalg.eig(a)
    t, z = lax.linalg.schur(a)
    return (v * w[..., None, :]) @ jnp.linalg.inv(v), z @ t @ jnp.swapaxes(z, -1, -2), jnp.abs(w).sum(-1)


@case(F(4, 4) + 4 * np.diag(np.arange(4, dtype=np.float32)))
def grad_general_eigenvalues(a):
    return jax.grad(lambda a: (jnp.abs(jnp.linalg.eigvals(a)) ** 2).sum())(a)


@case(SPD)
def reduced_forms(a):
    return lax.linalg.hessenberg(a), lax.linalg.tridiagonal(a)


@case(F(3, 8))
def ffts(x):
    return jnp.fft.rfft(x), jnp.fft.ifft(jnp.fft.fft(x)).real, jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x)


@case(F(8))
def grad_fft(x):
    return jax.grad(lambda x: (jnp.abs(jnp.fft.fft(x)) ** 2 * jnp.arange(8.0)).sum())(x)


@case((F(5) + 1j * F(5)).astype(np.complex64), (F(5) + 1j * F(5)).astype(np.complex64))
def complex_numbers(x, y):
    return x * y, x / y, jnp.exp(x), jnp.sqrt(x), jnp.abs(x), jnp.angle(x), jnp.conj(x).real, (x * y).sum()


@case(F(2, 3, 4), F(4, 3, 5))
def einsums(x, y):
    return (
        jnp.einsum("abc,cbd->ad", x, y),
        jnp.tensordot(x, y, ((2,), (0,))),
        lax.dot_general(x, y, (((2,), (0,)), ((1,), (1,)))),
    )


# ---- shapes


@case(np.zeros((0, 3), np.float32))
def zero_size(x):
    return jnp.sum(x), jnp.sum(x, 1), x @ x.T, jnp.concatenate([x, jnp.ones((2, 3))]), jnp.sort(x)


@case(S)
def scalars(s):
    return s + 1, jnp.sum(s), s[None], jnp.sort(s[None]), lax.cond(s > 0, lambda: s, lambda: -s)


@case(X)
def movements(x):
    return (
        jnp.roll(x, 2, 1),
        jnp.flip(x),
        jnp.pad(x, ((1, 2), (0, 1)), mode="reflect"),
        jnp.tile(x, 2),
        x.T.reshape(10, 2),
    )


@case(X)
def unusual_functions(x):
    p = jnp.abs(x) + 0.1
    return (
        lax.lgamma(p),
        lax.erf_inv(jnp.clip(x / 4, -0.9, 0.9)),
        lax.digamma(p),
        lax.erfc(x),
        lax.cbrt(x),
    )


@case(np.abs(X) * 3 + 0.2, np.abs(X[::-1]) * 2 + 0.1)
def incomplete_gamma_and_beta(a, x):
    return (
        lax.igamma(a, x),
        lax.igammac(a * 30, x * 40),
        lax.betainc(a, x, jax.nn.sigmoid(x - 1)),
        lax.betainc(a + 20, x + 20, jax.nn.sigmoid(x - 1)),
        lax.random_gamma_grad(a, x),
        jax.grad(lambda a: lax.igamma(a, x).sum())(a),
    )


@case(X)
def zeta_and_bessel(x):
    p = jnp.abs(x) + 0.1
    return lax.zeta(p + 1, p), lax.polygamma(2.0 + 0 * x, x), lax.bessel_i0e(x * 9), lax.bessel_i1e(x * 9)


@case(np.array([1, 2], np.uint32))
def grad_random_gamma(raw):
    key = jax.random.wrap_key_data(raw)
    return jax.grad(lambda a: jax.random.gamma(key, a, (3,)).sum())(1.5)


@case(V, V[::-1].copy())
def custom_derivatives(v, w):
    @jax.custom_vjp
    def f(x, y):
        return jnp.sin(x) * y

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, g: (g * r[1] * 2, g * r[0]))
    return jax.grad(lambda x, y: jax.checkpoint(f)(x, y).sum(), (0, 1))(v, w)


@case({"w": F(3, 3), "b": F(3)}, F(5, 3))
def training_step(params, x):
    def loss(p):
        return (jnp.tanh(x @ p["w"] + p["b"]) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


# ---- comparing


def eager(name):
    """(function, arguments, flat results of eager evaluation)."""
    function, args = CASES[name]
    arrays = jax.tree.map(jax.numpy.asarray, args)
    return function, arrays, [np.asarray(x) for x in jax.tree.leaves(function(*arrays))]


def agree(found, wanted, name):
    """These are programs of many operations, so floats are held to 64 units in the last place of the largest value."""
    assert len(found) == len(wanted)
    for i, (got, want) in enumerate(zip(found, wanted)):
        what = f"{name}, result {i}"
        if not (is_float(want.dtype) or want.dtype.kind == "c"):
            assert_same_bits(got, want, what)
            continue
        wide = np.abs(want.astype(np.complex128 if want.dtype.kind == "c" else np.float64))
        scale = float(np.max(wide[np.isfinite(wide)], initial=0.0))
        assert_within(got, want, 64 * float(finfo(want.real.dtype).eps) * scale, what)
