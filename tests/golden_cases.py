"""Programs whose printed jaxprs must equal real JAX's: `cases(jax)` works for both packages."""

import importlib

import numpy as np


def cases(jax):
    """name -> (function, arguments)."""
    jnp, lax = jax.numpy, jax.lax
    x = np.array([1.0, 2.0, 3.0], np.float32)
    m = np.ones((3, 4), np.float32)
    i = np.arange(3, dtype=np.int32)
    table = jnp.ones(3)
    return {
        "arithmetic": (lambda a, b: (a + b * 2 - 1.5) / b, (x, x)),
        "scalars are literals": (lambda a: a + np.float32(2) + jnp.array(3.0) + 2, (x,)),
        "constants": (lambda a: (a + table, table), (x,)),
        "no equations": (lambda a, b: (b, a), (x, i)),
        "nothing": (lambda: (), ()),
        "only constants": (lambda: jnp.zeros(3), ()),
        "unary": (lambda a: [jnp.sin(a), jnp.exp(a), -a, abs(a), jnp.sqrt(a), jnp.log1p(a)], (x,)),
        "integer powers": (lambda a: (a**2, a**3, a**-1), (x,)),
        "comparisons": (lambda a, b: ((a > b) & (a == 1), a <= 2), (x, x)),
        "mixed dtypes": (lambda a, b: a * b + 1, (x, i)),
        "casts": (lambda a: (a.astype(jnp.int32), a.astype(jnp.bfloat16), a.astype(bool)), (x,)),
        "where": (lambda a: jnp.where(a > 0, a, 0.0), (x,)),
        "reductions": (lambda a: (jnp.sum(a), jnp.max(a, axis=0), jnp.prod(a, axis=1, keepdims=True)), (m,)),
        "mean": (lambda a: jnp.mean(a, axis=0), (m,)),
        "argmax": (lambda a: jnp.argmax(a, axis=1), (m,)),
        "shapes": (lambda a: a.reshape(2, 6).T[None].squeeze(0), (m,)),
        "broadcast": (lambda a, b: a[:, None] * b + b, (x, m)),
        "matmul": (lambda a, b: a @ b, (x, m)),
        "dot_general": (lambda a, b: lax.dot_general(a, b, (((0,), (0,)), ((), ()))), (m, m)),
        "concatenate": (lambda a: jnp.concatenate([a, a * 2], axis=1), (m,)),
        "static index": (lambda a: (a[0], a[1:, ::2], a[-1, None]), (m,)),
        "array index": (lambda a: a[np.array([0, 2])], (x,)),
        "traced index": (lambda a, k: a[k], (x, np.int32(1))),
        "set": (lambda a: a.at[0].set(3.0), (x,)),
        "add at": (lambda a: a.at[np.array([0, 1])].add(1.0), (x,)),
        "jit": (lambda a: jax.jit(lambda v: v + 1)(a), (x,)),
        "jit of jit": (jax.jit(lambda a: jax.jit(lambda v: v * 2)(a) + 1), (x,)),
        "jit closes over a tracer": (lambda a: jax.jit(lambda v: v + a)(2.0), (x,)),
        "jit closes over an array": (jax.jit(lambda a: a + x), (x,)),
        "one program twice": (lambda a: (lambda f: f(a) + f(a * 2))(jax.jit(lambda v: jnp.sin(v))), (x,)),
        "jvp of jit": (lambda a: jax.jvp(jax.jit(jnp.sin), (a,), (a,)), (x,)),
        "vjp of jit": (lambda a: jax.vjp(jax.jit(lambda v: jnp.sin(v) * 2), a)[1](a), (x,)),
        "grad": (jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2)), (x,)),
        "grad of product": (jax.grad(lambda a: jnp.sum(jnp.sin(a) * a)), (x,)),
        "grad of matmul": (jax.grad(lambda a: jnp.sum(a @ m)), (x,)),
        "value_and_grad": (jax.value_and_grad(lambda a: jnp.sum(jnp.exp(a) / a)), (x,)),
        "vmap": (jax.vmap(lambda a: a * jnp.sum(a)), (m,)),
        "vmap of jit": (jax.vmap(jax.jit(jnp.cos)), (x,)),
        "vmap of matmul": (jax.vmap(lambda a, b: a @ b, in_axes=(1, None)), (m, x)),
        "relu": (jax.nn.relu, (x,)),
        "grad of relu": (jax.grad(lambda a: jnp.sum(jax.nn.relu(a))), (x,)),
        "softmax": (jax.nn.softmax, (x,)),
        "log_softmax": (jax.nn.log_softmax, (m,)),
        "gelu": (jax.nn.gelu, (x,)),
        "one_hot": (lambda k: jax.nn.one_hot(k, 4), (i,)),
        "stop_gradient": (lambda a: lax.stop_gradient(a) * a, (x,)),
        **_named_functions(jax, x, m, i),
        **_nested_transformations(jax, x, m),
        **_windows(jax, m),
        **_elementwise_primitives(jax, x, i),
        **_other_primitives(jax, x, m, i),
        **_programs_inside(jax, x, m),
        **_derived_programs(jax, x, m),
        **_derived_branches(jax, x),
        **_derived_loops(jax, x),
        **_recomputed(jax, x),
        **_solved(jax, x),
        **_random_primitives(jax),
        **_callbacks(jax, x),
        **_options(jax, x, m),
    }


def _callbacks(jax, x):
    io_callback = importlib.import_module(f"{jax.__name__}.experimental").io_callback
    pure, struct = jax.pure_callback, jax.ShapeDtypeStruct

    def sine(v, *_):
        return np.sin(v)

    one = struct((), np.float32)
    vmapped = lambda method, *more: jax.vmap(lambda a: pure(sine, one, a, *more, vmap_method=method))
    stepwise = lambda c, y: (c + io_callback(sine, one, y, ordered=True), jax.debug.print("{} at {y}", c, y=y))
    return {
        "pure_callback": (lambda a: pure(sine, struct((3,), np.float32), a, k=2.0, vmap_method="sequential"), (x,)),
        **{
            f"vmap of pure_callback, {method}": (vmapped(method, 2.0), (x,))
            for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")
        },
        "io_callback": (lambda a: (io_callback(sine, struct((3,), np.float32), a), io_callback(sine, None, 1)), (x,)),
        "vmap of io_callback": (jax.vmap(lambda a: io_callback(sine, one, a)), (x,)),
        "debug.callback": (lambda a: jax.debug.callback(sine, a, "s", ordered=True), (x,)),
        "debug.print": (lambda a: jax.debug.print("{} {y} {z:.2f}", a, y="s", z=2.0), (x,)),
        "debug.print without values": (lambda: jax.debug.print("here", ordered=True), ()),
        "vmap of debug.print": (jax.vmap(lambda a: jax.debug.print("{}", a)), (x,)),
        "grad of debug.print": (jax.grad(lambda a: (jax.debug.print("{}", a), a * a)[1]), (np.float32(1),)),
        "effects in a scan": (lambda a: jax.lax.scan(stepwise, 0.0, a), (x,)),
        "effects in a call": (lambda a: jax.jit(lambda v: jax.debug.print("{}", v))(a), (x,)),
        "effects in a branch": (
            lambda a: jax.lax.cond(a[0] > 0, lambda: jax.debug.print("yes"), lambda: None),
            (x,),
        ),
    }


def _named_functions(jax, x, m, i):
    """jnp and nn functions that are staged as calls under their names."""
    jnp, nn = jax.numpy, jax.nn
    flags = np.array([True, False, True])

    def c(a):
        return jnp.cos(jnp.sin(a) * 2) + 1

    return {
        "clip": (lambda a: jnp.clip(a, 0.0, 1.0), (x,)),
        "where of scalars": (lambda a: jnp.where(a > 0, 1, 0), (x,)),
        "var, std": (lambda a: (jnp.var(a, axis=0), jnp.std(a)), (m,)),
        "average": (lambda a, b: jnp.average(a, weights=b), (x, x)),
        "round": (lambda a: (jnp.round(a), jnp.round(a, 2)), (x,)),
        "floor_divide": (lambda b: (b // 2, b % 2), (i,)),
        "divmod": (lambda a, b: jnp.divmod(a, b), (i, i)),
        "true_divide": (lambda a, b: (a / 2, a / b), (i, x)),
        "a program named like a variable": (lambda a: (lambda c: c(c(a)))(jax.jit(c)), (x,)),
        "power": (lambda a, b: (a**b, a**0.5, 2.0**a, b**b), (x, i)),
        "logaddexp": (lambda a, b: jnp.logaddexp(a, b), (x, x)),
        "isclose": (lambda a, b: jnp.isclose(a, b), (x, x)),
        "nan_to_num": (lambda a: jnp.nan_to_num(a), (x,)),
        "isnan, isinf": (lambda a: (jnp.isnan(a), jnp.isinf(a), jnp.isfinite(a)), (x,)),
        "logical": (lambda a, b: (jnp.logical_and(a, b), jnp.logical_not(b), a > 0), (x, flags)),
        "all, any": (lambda a: (jnp.all(a), jnp.any(a, axis=0), jnp.count_nonzero(a)), (flags,)),
        "dot, vdot, inner, outer": (
            lambda a, b: (jnp.dot(a, b), jnp.vdot(a, b), jnp.inner(a, b), jnp.outer(a, b)),
            (x, x),
        ),
        "tensordot": (lambda a, b: jnp.tensordot(a, b, 1), (x, m)),
        "einsum": (lambda a, b: jnp.einsum("i,ij->j", a, b), (x, m)),
        "clip by name": (lambda a: jnp.clip(a, min=1, max=2), (i,)),
        "stack": (lambda a: jnp.stack([a, a]), (x,)),
        "hstack, vstack": (lambda a: (jnp.hstack([a, a]), jnp.vstack([a, a])), (x,)),
        "take": (lambda a, k: jnp.take(a, k, axis=0), (m, i)),
        "take_along_axis": (lambda a, k: jnp.take_along_axis(a, k, axis=0), (x, i)),
        "tile, repeat": (lambda a: (jnp.tile(a, 2), jnp.repeat(a, 2)), (x,)),
        "roll, flip": (lambda a: (jnp.roll(a, 1), jnp.flip(a)), (x,)),
        "tril, triu": (lambda a: (jnp.tril(a), jnp.triu(a, 1)), (m,)),
        "diag, trace, eye": (lambda a: (jnp.diag(a), jnp.trace(jnp.diag(a)), jnp.eye(3)), (x,)),
        "arange, linspace": (lambda a: (jnp.arange(3) + a, jnp.linspace(0.0, 1.0, 3) * a), (x,)),
        "full_like, zeros_like": (lambda a: (jnp.full_like(a, 2), jnp.zeros_like(a), jnp.ones((2,))), (x,)),
        "swapaxes, moveaxis, ravel": (lambda a: (a.swapaxes(0, 1), jnp.moveaxis(a, 0, 1), a.ravel()), (m,)),
        "minimum, maximum, sign": (lambda a: (jnp.minimum(a, 2), jnp.maximum(a, a), jnp.sign(a), jnp.abs(a)), (x,)),
        "hypot, arctan2": (lambda a, b: (jnp.hypot(a, b), jnp.arctan2(a, b)), (x, x)),
        "ptp, norm": (lambda a: (jnp.ptp(a), jnp.linalg.norm(a)), (x,)),
        "slices with steps": (lambda a: (a[::-1], a[1:3, -2:], a[..., 0], a[:, None, 1]), (m,)),
        "masks": (lambda a, b: (jnp.where(b, a, -a), a * b), (x, flags)),
        "multiply, max, set at": (
            lambda a, k: (a.at[k].multiply(2.0), a.at[k].max(2.0), a.at[1:].set(0.0), a.at[k].get()),
            (x, i),
        ),
        "sigmoid, silu, softplus": (lambda a: (nn.sigmoid(a), nn.silu(a), nn.softplus(a)), (x,)),
        "elu, leaky_relu, relu6": (lambda a: (nn.elu(a), nn.leaky_relu(a), nn.relu6(a)), (x,)),
        "gelu, exactly": (lambda a: nn.gelu(a, approximate=False), (x,)),
        "logsumexp": (lambda a: (nn.logsumexp(a), nn.logsumexp(a, axis=1, keepdims=True)), (m,)),
        "standardize": (lambda a: nn.standardize(a), (m,)),
    }


def _nested_transformations(jax, x, m):
    """Transformations of transformations."""
    jnp = jax.numpy

    def f(a):
        return jnp.sum(jnp.where(a > 0, jnp.tanh(a), a) * a)

    return {
        "grad of grad": (jax.grad(jax.grad(lambda a: jnp.sin(a) * a)), (np.float32(2),)),
        "grad of jit of clip": (jax.grad(jax.jit(lambda a: jnp.sum(jnp.clip(a, 0.0, 1.0)))), (x,)),
        "jit of grad": (jax.jit(jax.grad(f)), (x,)),
        "grad of jit": (jax.grad(jax.jit(f)), (x,)),
        "vmap of grad": (jax.vmap(jax.grad(f)), (m,)),
        "grad of vmap": (jax.grad(lambda a: jnp.sum(jax.vmap(f)(a))), (m,)),
        "jvp of grad": (lambda a: jax.jvp(jax.grad(f), (a,), (a,)), (x,)),
        "jvp of vmap": (lambda a: jax.jvp(jax.vmap(f), (a,), (a,)), (m,)),
        "vmap of jvp": (jax.vmap(lambda a: jax.jvp(jnp.sin, (a,), (a,))), (x,)),
        "vmap of vmap": (jax.vmap(jax.vmap(lambda a: a * 2 + 1)), (m,)),
        "linearize": (lambda a: jax.linearize(jnp.sin, a)[1](a), (x,)),
        "grad of softmax": (jax.grad(lambda a: jax.nn.softmax(a)[0]), (x,)),
        "grad of logsumexp": (jax.grad(jax.nn.logsumexp), (x,)),
        "grad of indexing": (jax.grad(lambda a: a[0] * jnp.sum(a[1:])), (x,)),
        "grad of max": (jax.grad(lambda a: jnp.max(a)), (x,)),
    }


def _windows(jax, m):
    """Convolutions and reductions over windows, with what their derivatives and batches are."""
    jnp, lax = jax.numpy, jax.lax
    image, kernel = np.ones((2, 3, 8), np.float32), np.ones((4, 3, 3), np.float32)
    grouped = np.ones((6, 1, 3), np.float32)
    conv = lambda a, k: lax.conv_general_dilated(a, k, (2,), "SAME")
    groups = lambda a, k: lax.conv_general_dilated(
        a, k, (1,), [(1, -1)], dimension_numbers=("NCH", "OIH", "HNC"), feature_group_count=3
    )
    largest = lambda a: lax.reduce_window(a, -np.inf, lax.max, (1, 2), (1, 2), "SAME")
    total = lambda a: lax.reduce_window(a, 0.0, lax.add, (2, 2), None, "VALID", (1, 2), (2, 1))
    return {
        "conv": (conv, (image, kernel)),
        "grad of conv": (jax.grad(lambda a, k: jnp.sum(conv(a, k)), (0, 1)), (image, kernel)),
        "vmap of conv": (jax.vmap(conv), (image[None], kernel[None])),
        "vmap of conv over images": (jax.vmap(conv, (0, None)), (image[None], kernel)),
        "vmap of conv over kernels": (jax.vmap(conv, (None, 1), 2), (image, kernel[:, None])),
        "conv of groups": (groups, (image, grouped)),
        "grad of conv of groups": (jax.grad(lambda a, k: jnp.sum(groups(a, k)), (0, 1)), (image, grouped)),
        "vmap of conv of groups": (jax.vmap(groups, (None, 0)), (image, grouped[None])),
        "conv_transpose": (
            lambda a, k: lax.conv_transpose(a, k, (2,), "SAME", transpose_kernel=True),
            (image, np.ones((3, 8, 8), np.float32)),
        ),
        "convolve, correlate": (lambda a, b: (jnp.convolve(a, b), jnp.correlate(a, b, "same")), (m[0], m[0, :3])),
        "reduce_window": (lambda a: (largest(a), total(a)), (m,)),
        "grad of max over windows": (jax.grad(lambda a: jnp.sum(largest(a))), (m,)),
        "jvp of max over windows": (lambda a: jax.jvp(largest, (a,), (a,)), (m,)),
        "vmap of windows": (jax.vmap(lambda a: (largest(a), total(a))), (m[None],)),
    }


_UNARY = (
    "acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cosh digamma erf erfc erf_inv exp2 floor "
    "is_finite lgamma sinh tan rsqrt logistic expm1 square reciprocal neg sign round"
).split()
_INTEGER = "clz population_count bitwise_not".split()
_BITS = "bitwise_xor bitwise_and bitwise_or shift_left shift_right_arithmetic shift_right_logical rem".split()
_BINARY = "nextafter atan2 igamma igammac zeta polygamma complex pow rem max min".split()


def _elementwise_primitives(jax, x, i):
    """Each elementwise primitive, its derivative too."""
    lax = jax.lax
    z = np.array([1 + 2j, 3j], np.complex64)
    cases = {f"lax.{name}": (getattr(lax, name), (x,)) for name in _UNARY}
    cases |= {f"lax.{name} of integers": (getattr(lax, name), (i,)) for name in _INTEGER}
    cases |= {f"lax.{name} of integers": (getattr(lax, name), (i, i)) for name in _BITS}
    cases |= {f"lax.{name} of two": (getattr(lax, name), (x, x)) for name in _BINARY}
    differentiable = [n for n in _UNARY if n not in ("is_finite",)]
    for name in differentiable:
        function = getattr(lax, name)
        cases[f"jvp of lax.{name}"] = (lambda a, f=function: jax.jvp(f, (a,), (a,)), (x,))
    return cases | {
        "parts of complex numbers": (lambda a: (lax.real(a), lax.imag(a), lax.conj(a), abs(a)), (z,)),
        "grad through complex numbers": (jax.grad(lambda a: lax.real(lax.complex(a, a) ** 2).sum()), (x,)),
        "clamp": (lambda a: (lax.clamp(0.0, a, 1.0), jax.grad(lambda v: lax.clamp(0.0, v, 1.0).sum())(a)), (x,)),
        "regularized_incomplete_beta": (lambda a: lax.betainc(a, a, a), (x,)),
        "bitcast_convert_type": (lambda a: lax.bitcast_convert_type(a, np.int32), (x,)),
        "reduce_precision": (lambda a: lax.reduce_precision(a, 8, 7), (x,)),
        "select_n of three": (lambda k, a: lax.select_n(k, a, a, a), (i, x)),
        "copy": (lambda a: jax.numpy.copy(a), (x,)),
    }


def _other_primitives(jax, x, m, i):
    """Reductions, data movement and sorting, each primitive at least once."""
    jnp, lax = jax.numpy, jax.lax
    flags = np.array([True, False, True])
    at = lambda a, k: a.at[k]
    return {
        "argmin, argmax": (lambda a: (lax.argmin(a, 0, np.int32), lax.argmax(a, 1, np.int32)), (m,)),
        "cumulative": (lambda a: [getattr(lax, f"cum{n}")(a, 1) for n in "sum prod max min logsumexp".split()], (m,)),
        "cumulative, reversed": (lambda a: (lax.cumsum(a, 0, reverse=True), jnp.cumprod(a)), (m,)),
        "grad of cumulative": (jax.grad(lambda a: lax.cumsum(a, 1, reverse=True).sum()), (m,)),
        "reduce_xor, reduce_and, reduce_or": (
            lambda k, b: (lax.reduce_xor(k, (0,)), lax.reduce_and(b, (0,)), lax.reduce_or(b, (0,))),
            (i, flags),
        ),
        "lax.reduce": (lambda a: (lax.reduce(a, 0.0, lax.add, (0,)), lax.reduce(a, -np.inf, lax.max, (1,))), (m,)),
        "reduce_window with min": (lambda a: lax.reduce_window(a, np.inf, lax.min, (2, 2), (1, 1), "VALID"), (m,)),
        "sort": (lambda a: lax.sort(a, dimension=0), (m,)),
        "sort by keys": (lambda a, k: lax.sort((k, a), num_keys=1), (x, i)),
        "jnp.sort, argsort": (lambda a: (jnp.sort(a), jnp.argsort(a, axis=0), jnp.sort(a, descending=True)), (m,)),
        "grad of sort": (jax.grad(lambda a: jnp.sort(a)[0]), (x,)),
        "top_k": (lambda a: lax.top_k(a, 2), (m,)),
        "jvp of top_k": (lambda a: jax.jvp(lambda v: lax.top_k(v, 2)[0], (a,), (a,)), (m,)),
        "split, unstack": (lambda a: (lax.split(a, (1, 2)), jnp.unstack(a)), (m,)),
        "grad of split": (jax.grad(lambda a: lax.split(a, (1, 2))[0].sum()), (m,)),
        "dynamic_slice": (lambda a, k: lax.dynamic_slice(a, (k, 0), (2, 2)), (m, np.int32(1))),
        "dynamic_update_slice": (lambda a, k: lax.dynamic_update_slice(a, a[:1], (k, 0)), (m, np.int32(1))),
        "grad of dynamic_slice": (jax.grad(lambda a: lax.dynamic_slice(a, (1, 0), (2, 2)).sum()), (m,)),
        "vmap of dynamic_slice": (jax.vmap(lambda a, k: lax.dynamic_slice(a, (k,), (2,))), (m, i)),
        "vmap of dynamic_update_slice": (jax.vmap(lambda a, k: lax.dynamic_update_slice(a, a[:2], (k,))), (m, i)),
        "index_in_dim": (lambda a: lax.index_in_dim(a, 1, 0), (m,)),
        "scatters": (
            lambda a, k: (at(a, k).min(1.0), at(a, k).max(1.0), at(a, k).mul(2.0), at(a, k).apply(jnp.sin)),
            (x, i),
        ),
        "subtract at": (lambda a, k: at(a, k).subtract(1.0), (x, i)),
        "grad of scatters": (jax.grad(lambda a: (a.at[np.array([0, 1])].set(a[:2] * 2)).sum()), (x,)),
        "iota": (lambda: (lax.iota(np.int32, 3), lax.broadcasted_iota(np.float32, (2, 3), 1)), ()),
        "pad": (lambda a: lax.pad(a, 0.0, ((1, 0, 1), (0, -1, 0))), (m,)),
        "rev": (lambda a: lax.rev(a, (0, 1)), (m,)),
        "expand_dims, squeeze": (lambda a: lax.squeeze(lax.expand_dims(a, (0, 2)), (0,)), (m,)),
        "device_put": (lambda a: jax.device_put(a), (x,)),
        "median, quantile": (lambda a: (jnp.median(a), jnp.quantile(a, 0.3, axis=0)), (m,)),
    }


def _programs_inside(jax, x, m):
    """Primitives whose parameters are programs."""
    jnp, lax = jax.numpy, jax.lax

    @jax.custom_vjp
    def doubled(a):
        return a * 2

    doubled.defvjp(lambda a: (a * 2, a), lambda saved, g: (g * 2,))

    @jax.custom_jvp
    def tripled(a):
        return a * 3

    tripled.defjvp(lambda p, t: (tripled(p[0]), t[0] * 3))

    def step(carry, a):
        return carry + a, carry * a

    walk = lambda a: lax.scan(step, jnp.float32(0), a)
    loop = lambda a: lax.while_loop(lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1] * 2), (0, a))
    choice = lambda a: lax.cond(a[0] > 0, jnp.sin, lambda v: v * 2, a)
    saved = jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)))
    return {
        "scan": (walk, (x,)),
        "scan, reversed, unrolled": (lambda a: lax.scan(step, 1.0, a, reverse=True, unroll=2), (x,)),
        "scan of a length": (lambda a: lax.scan(lambda c, _: (c * 2, None), a, length=4), (x,)),
        "scan over a closure": (lambda a: lax.scan(lambda c, v: (c + a.sum() * v, c), 0.0, a), (x,)),
        "jvp of scan": (lambda a: jax.jvp(walk, (a,), (a,)), (x,)),
        "vmap of scan": (jax.vmap(walk), (m,)),
        "map": (lambda a: lax.map(jnp.sin, a), (x,)),
        "while": (loop, (x,)),
        "vmap of while": (jax.vmap(loop), (x,)),
        "jvp of while": (lambda a: jax.jvp(loop, (a,), (a,)), (x,)),
        "fori": (lambda a: lax.fori_loop(0, 3, lambda k, v: v + k, a), (x,)),
        "fori with an unknown bound": (lambda a, n: lax.fori_loop(0, n, lambda k, v: v + k, a), (x, 3)),
        "cond": (choice, (x,)),
        "vmap of cond": (jax.vmap(choice), (m,)),
        "switch": (lambda k, a: lax.switch(k, [jnp.sin, jnp.cos, lambda v: v], a), (1, x)),
        "custom_vjp": (doubled, (x,)),
        "grad of custom_vjp": (jax.grad(lambda a: doubled(a).sum()), (x,)),
        "vmap of custom_vjp": (jax.vmap(doubled), (x,)),
        "custom_jvp": (tripled, (x,)),
        "jvp of custom_jvp": (lambda a: jax.jvp(tripled, (a,), (a,)), (x,)),
        "checkpoint": (saved, (x,)),
        "grad of checkpoint": (jax.grad(lambda a: saved(a).sum()), (x,)),
        "associative_scan": (lambda a: lax.associative_scan(lax.add, a), (x,)),
    }


def _derived_programs(jax, x, m):
    """Derivatives and batches of programs inside programs, rules by hand, and what is built of them."""
    jnp, lax = jax.numpy, jax.lax
    pick = lambda p, a: lax.cond(p, lambda v: jnp.sin(v) * v, lambda v: jnp.exp(v) * 2, a)
    double = lambda a: lax.while_loop(lambda c: c.sum() < 10, lambda c: c * 2, a)
    wave = lambda a: lax.scan(lambda c, y: (jnp.sin(c) * y, c), 1.0, a)
    again = jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)))
    ruled = jax.custom_jvp(lambda a: jnp.sin(a))
    ruled.defjvp(lambda p, t: (ruled(*p), t[0] * 2))
    pulled = jax.custom_vjp(lambda a: jnp.sin(a))
    pulled.defvjp(lambda a: (pulled(a), a), lambda r, g: (g * r * 3,))
    by_hand = jax.custom_gradient(lambda a: (jnp.sin(a), lambda g: (g * a,)))
    name = importlib.import_module(f"{jax.__name__}.ad_checkpoint").checkpoint_name
    root = lambda a: lax.custom_root(lambda v: v * v - a, 1.0, lambda f, v: v + f(v), lambda g, y: y / g(1.0))
    found = {
        "jvp of cond": (lambda a, p: jax.jvp(lambda y: pick(p, y), (a,), (a,)), (x, True)),
        "switch": (lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], a), (1, x)),
        "vmap of cond": (jax.vmap(pick, (None, 0)), (True, m)),
        "vmap of cond's predicate": (jax.vmap(pick), (np.array([True, False, True]), m)),
        "cond's constants": (lambda p, a: lax.cond(p, lambda: (a, x), lambda: (x * 2, a)), (True, x)),
        "jvp of while": (lambda a: jax.jvp(double, (a,), (a,)), (x,)),
        "linearize of while": (lambda a: jax.linearize(double, a)[1](a), (x,)),
        "vmap of while": (jax.vmap(double), (m,)),
        "vmap of while's constant": (
            jax.vmap(lambda a, b: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * b), (0, a))),
            (m, m),
        ),
        "grad of scan": (jax.grad(lambda a: wave(a)[0]), (x,)),
        "jvp of scan": (lambda a: jax.jvp(lambda v: wave(v)[0], (a,), (a,)), (x,)),
        "vmap of scan": (jax.vmap(wave), (m,)),
        "fori_loop of dynamic length": (lambda n, a: lax.fori_loop(0, n, lambda i, c: c * 2 + i, a), (3, x)),
        "fori_loop of an int8 length": (
            lambda n, a: lax.fori_loop(0, n, lambda i, c: i + c, a),
            (np.int8(3), np.float32(2)),
        ),
        "grad of fori_loop": (jax.grad(lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), a)), (2.0,)),
        "map": (lambda a: lax.map(jnp.sin, a), (x,)),
        "map in batches": (lambda a: lax.map(jnp.sin, a, batch_size=2), (x,)),
        "grad of checkpoint": (jax.grad(again), (2.0,)),
        "vmap of checkpoint": (jax.vmap(again), (x,)),
        "jvp of checkpoint": (lambda a: jax.jvp(again, (a,), (a,)), (2.0,)),
        "grad of a name": (jax.grad(lambda a: name(a * a, "a")), (1.0,)),
        "associative_scan": (lambda a: lax.associative_scan(jnp.add, a), (np.ones(5, np.float32),)),
        "associative_scan backwards": (lambda a: lax.associative_scan(jnp.multiply, a, reverse=True, axis=1), (m,)),
        "custom_root": (root, (2.0,)),
        "grad of custom_root": (jax.grad(root), (2.0,)),
        "grad of custom_jvp": (jax.grad(ruled), (1.0,)),
        "vmap of custom_jvp": (jax.vmap(ruled), (x,)),
        "jvp of custom_jvp": (lambda a: jax.jvp(ruled, (a,), (a,)), (1.0,)),
        "grad of custom_vjp": (jax.grad(pulled), (1.0,)),
        "vmap of custom_vjp": (jax.vmap(pulled), (x,)),
        "vmap of grad of custom_vjp": (jax.vmap(jax.grad(pulled)), (x,)),
        "custom_gradient": (by_hand, (1.0,)),
        "grad of custom_gradient": (jax.grad(by_hand), (1.0,)),
        "jacfwd": (jax.jacfwd(jnp.sin), (x,)),
        "jacrev": (jax.jacrev(jnp.sin), (x,)),
        "linear_transpose": (lambda a: jax.linear_transpose(lambda v: v * 2, x)(a), (x,)),
    }
    return {f"derived: {key}": case for key, case in found.items()}


def _forms(jax, name, function, *args):
    """The derivatives and batches of a function whose last arguments are floats, as programs."""
    jnp = jax.numpy
    places = tuple(i for i, a in enumerate(args) if getattr(a, "dtype", np.dtype(int)).kind == "f")

    def total(*xs):
        leaves = [y for y in jax.tree_util.tree_leaves(function(*xs)) if jnp.issubdtype(y.dtype, np.floating)]
        return sum((jnp.sum(y) for y in leaves), 0.0)

    def of_floats(apply):
        def run(*xs):
            part = lambda *ps: function(*[ps[places.index(i)] if i in places else x for i, x in enumerate(xs)])
            given = tuple(xs[i] for i in places)
            return apply(part, given)

        return run

    stacked = tuple(np.stack([a, a]) for a in args)
    slope = jax.grad(total, places)
    found = {
        "grad": (slope, args),
        "jit of grad": (jax.jit(slope), args),
        "grad of jit": (jax.grad(jax.jit(total), places), args),
        "linearize": (of_floats(lambda f, given: jax.linearize(f, *given)[1](*given)), args),
        "jvp": (of_floats(lambda f, given: jax.jvp(f, given, given)), args),
        "vmap": (jax.vmap(function), stacked),
        "vmap of grad": (jax.vmap(slope), stacked),
        "grad of checkpoint": (jax.grad(jax.checkpoint(total), places), args),
        "": (function, args),
    }
    return {f"{name}, {form}" if form else name: case for form, case in found.items()}


def _all_forms(jax, functions, but=()):
    """The forms of many functions, without those of which `but` says that they differ from JAX's, and why."""
    cases = {}
    for name, (function, *args) in functions.items():
        cases |= _forms(jax, name, function, *args)
    return {name: case for name, case in cases.items() if name not in but}


def _derived_branches(jax, x):
    """cond and switch, whose branches store different residuals, in every transformation."""
    jnp, lax = jax.numpy, jax.lax
    m = np.ones((3, 3), np.float32)
    functions = {
        "branches": (lambda p, a: lax.cond(p, lambda v: jnp.sin(v) * v, lambda v: jnp.exp(v) * 2, a), True, x),
        "uneven branches": (lambda p, a: lax.cond(p, lambda v: v, lambda v: jnp.exp(jnp.sin(v)), a), True, x),
        "constant branches": (lambda p, a: lax.cond(p, lambda v: v * 0 + 1, lambda v: jnp.ones(3), a), True, x),
        "branches of two": (
            lambda p, a, b: lax.cond(p, lambda v, w: (v * w.sum(), w), lambda v, w: (v, w @ w), a, b),
            True, x, m,
        ),
        "branches over closures": (lambda p, a, b: lax.cond(p, lambda: a @ b, lambda: b.sum(0) * a), True, x, m),
        "a branch of zeros": (lambda p, a: lax.cond(p, jnp.sin, lambda v: jnp.zeros(3), a), True, x),
        "a call in a branch": (lambda p, a: lax.cond(p, jax.jit(lambda v: jnp.sin(v) * v), lambda v: v, a), True, x),
        "a predicate of the operand": (lambda a: lax.cond(a[0] > 0, jnp.sin, jnp.cos, a), x),
        "a switch": (lambda k, a: lax.switch(k, [jnp.sin, jnp.cos, lambda v: v * 2], a), np.int32(1), x),
        "equal branches": (lambda k, a: lax.switch(k, [jnp.sin, jnp.sin, jnp.sin], a), np.int32(1), x),
        "branches in branches": (
            lambda p, a: lax.cond(p, lambda v: lax.cond(v[0] > 0, jnp.sin, jnp.cos, v), lambda v: v * 2, a), True, x,
        ),
        "a loop in a branch": (
            lambda p, a: lax.cond(
                p, lambda v: lax.scan(lambda c, u: (jnp.sin(c) * u, c), 1.0, v)[1], lambda v: v, a
            ),
            True, x,
        ),
        "branches in a call": (jax.jit(lambda p, a: lax.cond(p, jnp.sin, jnp.cos, a)), True, x),
    }  # fmt: skip
    but = {
        # a branch whose derivative is constant: JAX computes zeros before, in a cond of its own
        "constant branches, grad of checkpoint",
        "branches in a call, grad of checkpoint",
    }
    return _all_forms(jax, functions, but)


def _derived_loops(jax, x):
    """scan: what is carried, what is stacked, what is computed once before; in every transformation."""
    jnp, lax = jax.numpy, jax.lax
    m = np.ones((3, 3), np.float32)
    wave = lambda c, v: (jnp.sin(c) * v, c)
    functions = {
        "a loop": (lambda a: lax.scan(wave, 1.0, a), x),
        "a loop with a constant": (
            lambda a, b: lax.scan(lambda c, v: (jnp.tanh(b @ c) * v, c.sum()), a, a), x, m,
        ),
        "a loop without slices": (lambda a: lax.scan(lambda c, _: (jnp.sin(c), None), a, length=3), x),
        "a loop that counts": (
            lambda a: lax.scan(lambda c, v: ((c[0] + 1, c[1] * jnp.sin(v)), None), (0, 1.0), a), x,
        ),
        "a loop backwards": (lambda a: lax.scan(wave, 1.0, a, reverse=True, unroll=2), x),
        "a loop of two": (
            lambda a, b: lax.scan(lambda c, v: ((c[0] * v, c[1] @ c[1]), c[0]), (1.0, b), a), x, m,
        ),
        "a call in a loop": (lambda a: lax.scan(jax.jit(wave), 1.0, a), x),
        "a loop in a loop": (lambda a: lax.scan(lambda c, v: (lax.scan(wave, c, a)[0] * v, None), 1.0, a), x),
        "work that is the same each time": (
            lambda a, b: lax.scan(lambda c, v: (c * jnp.sin(b).sum() + v, None), 1.0, a), x, m,
        ),
        "a carry that stays": (lambda a, b: lax.scan(lambda c, v: ((c[0], c[1] * c[0].sum()), v), (b, 1.0), a), x, m),
        "a loop of checkpoints": (lambda a: lax.scan(jax.checkpoint(wave), 1.0, a), x),
        "fori": (lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * i, a), x),
        "mapped": (lambda a: lax.map(lambda v: jnp.sin(v) * v, a), x),
    }  # fmt: skip
    but = {
        "a loop of checkpoints, grad of checkpoint",  # JAX keeps a call around the loop inside
        "a loop in a loop, grad of checkpoint",
    }
    return _all_forms(jax, functions, but)


def _recomputed(jax, x):
    """checkpoint with policies, which reach into loops, branches and calls."""
    jnp, lax, policies = jax.numpy, jax.lax, jax.checkpoint_policies
    name = importlib.import_module(f"{jax.__name__}.ad_checkpoint").checkpoint_name
    m = np.ones((3, 3), np.float32)

    def plain(a, b):
        u = name(jnp.sin(b @ a), "y")
        return name(jnp.cos(b @ u), "z") * u

    def loop(a, b):
        def step(c, v):
            u = name(jnp.sin(b @ c), "y")
            return name(jnp.tanh(b @ u), "z") * v, u.sum()

        return lax.scan(step, a, a)

    functions = {
        "alone": plain,
        "in a loop": loop,
        "in a call": lambda a, b: jax.jit(plain)(a, b),
        "in a branch": lambda a, b: lax.cond(a[0] > 0, plain, lambda v, w: w @ jnp.sin(v), a, b),
        "in a loop in a call": jax.jit(loop),
        "in fori": lambda a, b: lax.fori_loop(0, 3, lambda i, c: plain(c, b), a),
        "inside of another": lambda a, b: jax.checkpoint(plain)(jnp.sin(a), b),
    }
    kept = {
        "nothing": None,
        "products": policies.dots_saveable,
        "unmapped products": policies.dots_with_no_batch_dims_saveable,
        "y": policies.save_only_these_names("y"),
        "names but y": policies.save_any_names_but_these("y"),
        "y or products": policies.save_from_both_policies(policies.save_only_these_names("y"), policies.dots_saveable),
        "everything": policies.everything_saveable,
    }
    cases = {}
    for kind, policy in kept.items():
        for place, function in functions.items():
            found = _forms(jax, f"checkpoint that keeps {kind}, {place}", jax.checkpoint(function, policy=policy), x, m)
            cases.update((key, case) for key, case in found.items() if key.endswith((", grad", "linearize")))
    return cases


def _solved(jax, x):
    """Systems of linear equations, in every transformation."""
    linalg = jax.numpy.linalg
    m = (np.eye(3) * 3 + 0.1).astype(np.float32)
    functions = {"solve": (linalg.solve, m, x), "solve for many": (linalg.solve, m, m), "inv": (linalg.inv, m)}
    return _all_forms(jax, functions)


def _random_primitives(jax):
    """Keys and the bits made from them."""
    random = jax.random
    return {
        "keys": (lambda: (random.key(0), random.PRNGKey(0)), ()),
        "split": (lambda: random.split(random.key(0)), ()),
        "fold_in": (lambda: random.fold_in(random.key(0), 3), ()),
        "bits": (lambda: random.bits(random.key(0), (2,)), ()),
        "key_data, wrap_key_data": (lambda: random.wrap_key_data(random.key_data(random.key(0))), ()),
        "clone": (lambda: random.clone(random.key(0)), ()),
    }


def _options(jax, x, m):
    """Options of make_jaxpr and of pretty_print, as texts; structures of results."""
    make = jax.make_jaxpr
    f = lambda a, n: jax.numpy.sum(a, axis=n)
    shown = lambda **options: make(lambda a: jax.jit(lambda v: v * 2)(a) + 1)(x).pretty_print(
        use_color=False, **options
    )
    long = lambda a: [a + k for k in range(12)]
    lax = jax.lax
    names = "psum pmax pmin axis_index all_gather ppermute all_to_all psum_scatter".split()
    collectives = [
        lambda a: lax.psum(a, "i"),
        lambda a: lax.pmax(a, "i"),
        lambda a: lax.pmin(a, "i"),
        lambda a: lax.axis_index("i") + 1,
        lambda a: lax.all_gather(a, "i"),
        lambda a: lax.ppermute(a, "i", [(0, 1), (1, 2), (2, 0)]),
        lambda a: lax.all_to_all(a, "i", 0, 0),
        lambda a: lax.psum_scatter(a, "i"),
    ]
    return {
        "static_argnums": (f, (m, 0), {"static_argnums": 1}),
        **{
            f"{name} over a named axis": (lambda a, k=key: collectives[k](a), (m,), {"axis_env": [("i", 3)]})
            for key, name in enumerate(names)
        },
        "static_argnums, several": (lambda n, a, k: a * n + k, (2, x, 3), {"static_argnums": (0, 2)}),
        "keyword arguments": (lambda a: make(lambda v, *, by: v * by)(a, by=a), (x,), "text"),
        "types for values": (lambda: make(f, static_argnums=1)(jax.ShapeDtypeStruct((2, 3), np.int8), 0), (), "text"),
        "return_shape": (lambda a: make(lambda v: {"r": (v, v[0])}, return_shape=True)(a)[1], (x,), "text"),
        "without types": (lambda: shown(print_shapes=False), (), "text"),
        "with effects": (lambda: shown(print_effects=True), (), "text"),
        "with name stacks": (lambda: shown(name_stack=True), (), "text"),
        "many results": (long, (x,)),
        "many arguments": (lambda *a: sum(a), (x,) * 30),
        "nested containers": (lambda d: {"b": d["a"][0] + d["a"][1], "c": None}, ({"a": (x, x)},)),
        "one equation": (lambda: str(make(jax.numpy.sin)(x).eqns[0]), (), "text"),
        "an inner program": (lambda: str(make(jax.jit(jax.numpy.sin))(x).eqns[0].params["jaxpr"]), (), "text"),
    }
