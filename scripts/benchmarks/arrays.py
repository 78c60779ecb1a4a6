"""Large elementwise chains, reductions, cumulative operations and moves of data."""

import numpy as np

from benchmarks.cases import Case, numbers

SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int32": "i32"}


def array_cases(jax):
    """Compiled functions of large arrays that read each element a few times."""
    yield from _chains(jax)
    yield from _rows(jax)
    yield from _reductions(jax)
    yield from _cumulative(jax)
    yield from _moves(jax)
    yield from _eager(jax)


def _typed(jax, dtype, *shape):
    """Normal numbers of any dtype: NumPy's for those that NumPy has."""
    if dtype in ("float16", "bfloat16"):
        return jax.numpy.asarray(numbers(*shape), dtype)
    return numbers(*shape, dtype=dtype)


def _chains(jax):
    jnp, nn = jax.numpy, jax.nn
    chains = {
        "sin(v) * 2 + v * v - exp(-v)": lambda v: jnp.sin(v) * 2 + v * v - jnp.exp(-v),
        "v * 2 + 1": lambda v: v * 2 + 1,
        "gelu": nn.gelu,
        "tanh": jnp.tanh,
        "logistic": nn.sigmoid,
        "where(v > 0, v, exp(v) - 1)": lambda v: jnp.where(v > 0, v, jnp.exp(v) - 1),
    }
    for name, function in chains.items():
        for dtype in ("float32", "float64", "bfloat16"):
            args = (_typed(jax, dtype, 1_000_000),)
            yield Case(f"{name}, {SHORT[dtype]}[1000000]", function, args, x64=dtype == "float64")
    for n in (1000, 10_000, 100_000):
        yield Case(f"sin(v) * 2 + v * v - exp(-v), f32[{n}]", chains["sin(v) * 2 + v * v - exp(-v)"], (numbers(n),))
        yield Case(f"gelu, f32[{n}]", nn.gelu, (numbers(n),))
    one = numbers(1_000_000)
    for name, function in {
        "log1p(abs(v))": lambda v: jnp.log1p(jnp.abs(v)),
        "hypot": lambda v: jnp.hypot(v, v + 1),
        "arctan2": lambda v: jnp.arctan2(v, v + 1),
        "power 2.5": lambda v: jnp.abs(v) ** 2.5,
        "erf": jax.scipy.special.erf,
        "gammaln": lambda v: jax.scipy.special.gammaln(jnp.abs(v)),
        "nan_to_num": jnp.nan_to_num,
        "clip and round": lambda v: jnp.round(jnp.clip(v, -1, 1)),
        "to int32": lambda v: (v * 100).astype(jnp.int32),
        "polyval of degree 6": lambda v: jnp.polyval(jnp.arange(7.0), v),
        "complex product": lambda v: jnp.abs((v + 1j) * (v - 2j)),
    }.items():
        yield Case(f"{name}, f32[1000000]", function, (one,))
    line = (numbers(100_000) + 1j * numbers(100_000)[::-1]).astype("c8")
    for name, function in {
        "exp": jnp.exp,
        "sine": jnp.sin,
        "log of the square": lambda v: jnp.log(v * v),
        "Moebius transformation": lambda v: (v - 0.3j) / (v + 2),
    }.items():
        yield Case(f"{name}, c64[100000]", function, (line,))
    yield Case("integer arithmetic, i32[1000000]", lambda v: (v * 3 + 7) // 5 % 11, (np.arange(1_000_000, dtype="i4"),))


def _rows(jax):
    jnp, nn, lax = jax.numpy, jax.nn, jax.lax

    def layer_norm(v):
        mean, var = v.mean(-1, keepdims=True), v.var(-1, keepdims=True)
        return (v - mean) * lax.rsqrt(var + 1e-5)

    def cross_entropy(scores, labels):
        return -jnp.mean(jnp.take_along_axis(nn.log_softmax(scores), labels[:, None], 1))

    functions = {"softmax": nn.softmax, "layer norm": layer_norm, "log_softmax": nn.log_softmax}
    for name, function in functions.items():
        for shape in ((4096, 1000), (8192, 512), (64, 32)):
            yield Case(f"{name}, f32{list(shape)}", function, (numbers(*shape),))
        yield Case(f"{name}, f64[1024, 512]", function, (numbers(1024, 512, dtype="float64"),), x64=True)
        yield Case(f"{name}, bf16[1024, 512]", function, (_typed(jax, "bfloat16", 1024, 512),))
    yield Case("softmax over axis 0, f32[512,1000]", lambda v: nn.softmax(v, 0), (numbers(512, 1000),))
    scores, labels = numbers(2048, 1000), (np.arange(2048) * 37 % 1000).astype("i4")
    for name, function in functions.items():
        loss = lambda v, function=function: jnp.sum(function(v) ** 3)
        yield Case(f"gradient of {name}, f32[2048,1000]", jax.grad(loss), (scores,))
    yield Case("cross entropy, f32[2048,1000]", cross_entropy, (scores, labels))
    yield Case("gradient of cross entropy, f32[2048,1000]", jax.grad(cross_entropy), (scores, labels))
    yield Case("logsumexp, f32[2048,1000]", lambda v: nn.logsumexp(v, axis=-1), (scores,))

    def batch_norm(x, scale):
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale, 0.9 + 0.1 * mean

    images, scale = numbers(16, 32, 32, 64), numbers(64)
    total = jax.grad(lambda x, s: jnp.sum(batch_norm(x, s)[0] ** 3), argnums=(0, 1))
    yield Case("batch norm, f32[16,32,32,64]", batch_norm, (images, scale))
    yield Case("gradient of batch norm, f32[16,32,32,64]", total, (images, scale))


def _reductions(jax):
    jnp = jax.numpy
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        block = _typed(jax, dtype, 100, 100, 100)
        for where, axis in (("leading", 0), ("middle", 1), ("last", 2), ("all", None)):
            row = f"sum over {where}, {SHORT[dtype]}[100,100,100]"
            yield Case(row, lambda v, axis=axis: jnp.sum(v, axis), (block,), x64=dtype == "float64")
    block = numbers(1000, 1000)
    for axis in (0, 1, None):
        for name, function in (("max", jnp.max), ("mean", jnp.mean), ("var", jnp.var), ("argmax", jnp.argmax)):
            yield Case(f"{name} over {axis}, f32[1000,1000]", lambda v, f=function, axis=axis: f(v, axis), (block,))
    yield Case("std over 0, f64[1000,1000]", lambda v: jnp.std(v, 0), (block.astype("f8"),), x64=True)
    yield Case("argmin over 0, f64[1000,1000]", lambda v: jnp.argmin(v, 0), (block.astype("f8"),), x64=True)
    yield Case("prod over 1, f32[1000,1000]", lambda v: jnp.prod(v, 1), (block,))
    yield Case("any and all, f32[1000,1000]", lambda v: (jnp.any(v > 9, 0), jnp.all(v > -9, 1)), (block,))
    yield Case("count_nonzero, i32[1000000]", jnp.count_nonzero, (np.arange(1_000_000, dtype="i4") % 3,))
    yield Case("sum of squares, f32[1000,1000]", lambda v: jnp.sum(v * v, 0), (block,))
    yield Case("median over 1, f32[100,1000]", lambda v: jnp.median(v, 1), (numbers(100, 1000),))
    for n in (1000, 10_000, 100_000, 1_000_000):
        yield Case(f"mean and variance, f32[{n}]", lambda v: (v.mean(), v.var()), (numbers(n),))


def _cumulative(jax):
    jnp, lax = jax.numpy, jax.lax
    one, block = numbers(1_000_000) / 1000 + 1, numbers(1000, 1000)
    for name, function in {"cumsum": jnp.cumsum, "cumprod": jnp.cumprod, "cummax": lax.cummax}.items():
        yield Case(f"{name}, f32[1000000]", function, (one,))
        for axis in (0, 1):
            yield Case(f"{name} over {axis}, f32[1000,1000]", lambda v, f=function, axis=axis: f(v, axis), (block,))
    yield Case("cumsum, f64[1000000]", jnp.cumsum, (one.astype("f8"),), x64=True)
    yield Case("cumsum, i32[1000000]", jnp.cumsum, (np.arange(1_000_000, dtype="i4") % 7,))
    yield Case("cumlogsumexp over 1, f32[1000,1000]", lambda v: lax.cumlogsumexp(v, 1), (block,))
    yield Case("gradient of cumsum, f32[1000000]", jax.grad(lambda v: jnp.sum(jnp.cumsum(v) ** 2)), (one,))
    scan = lambda v: lax.associative_scan(jnp.add, v)
    yield Case("associative_scan of additions, f32[100000]", scan, (one[:100_000],))
    for n in (1000, 10_000, 100_000):
        yield Case(f"cumsum, f32[{n}]", jnp.cumsum, (one[:n],))


def _moves(jax):
    jnp = jax.numpy
    block, cube = numbers(1000, 1000), numbers(100, 100, 100)
    for name, function in {
        "transpose": lambda v: v.T + 0.0,
        "pad by 8": lambda v: jnp.pad(v, 8),
        "reflecting pad by 8": lambda v: jnp.pad(v, 8, mode="reflect"),
        "roll by 7 over 0": lambda v: jnp.roll(v, 7, 0),
        "roll by 7 over 1": lambda v: jnp.roll(v, 7, 1),
        "concatenate over 0": lambda v: jnp.concatenate([v, v * 2], 0),
        "concatenate over 1": lambda v: jnp.concatenate([v, v * 2], 1),
        "stack last": lambda v: jnp.stack([v, v + 1, v + 2], -1),
        "flip": lambda v: jnp.flip(v, 1),
        "where": lambda v: jnp.where(v > 0, v, -v),
        "tril": jnp.tril,
        "tile 2x2": lambda v: jnp.tile(v, (2, 2)),
        "repeat 3 over 0": lambda v: jnp.repeat(v, 3, 0),
        "every second": lambda v: v[::2, ::2] * 2,
        "difference": lambda v: jnp.diff(v, axis=1),
        "5-point stencil": lambda v: v[1:-1, 1:-1] * 4 - v[2:, 1:-1] - v[:-2, 1:-1] - v[1:-1, 2:] - v[1:-1, :-2],
    }.items():
        yield Case(f"{name}, f32[1000,1000]", function, (block,))
    yield Case("transpose 2,0,1, f32[100,100,100]", lambda v: jnp.transpose(v, (2, 0, 1)) + 0.0, (cube,))
    yield Case("transpose 1,0,2, f32[100,100,100]", lambda v: jnp.transpose(v, (1, 0, 2)) + 0.0, (cube,))
    yield Case("transpose, f64[1000,1000]", lambda v: v.T + 0.0, (block.astype("f8"),), x64=True)
    yield Case("meshgrid and sum, f32[1000]", lambda v: sum(jnp.meshgrid(v, v)), (numbers(1000),))


def _eager(jax):
    """Operations on large arrays without jit."""
    jnp, nn = jax.numpy, jax.nn
    one, block = numbers(1_000_000), numbers(1000, 1000)
    for name, function, value in (
        ("x + x, f32[1000000]", lambda v: v + v, one),
        ("exp, f32[1000000]", jnp.exp, one),
        ("nan_to_num, f32[1000000]", jnp.nan_to_num, one),
        ("hypot, f32[1000000]", lambda v: jnp.hypot(v, v), one),
        ("softmax, f32[1000,1000]", nn.softmax, block),
        ("gelu, f32[1000,1000]", nn.gelu, block),
        ("sum over 0, f32[1000,1000]", lambda v: jnp.sum(v, 0), block),
        ("mean, f32[1000000]", jnp.mean, one),
        ("argmax, f32[1000000]", jnp.argmax, one),
        ("cumsum, f32[1000000]", jnp.cumsum, one),
        ("where, f32[1000000]", lambda v: jnp.where(v > 0, v, 0.0), one),
        ("transpose and add, f32[1000,1000]", lambda v: v.T + v, block),
        ("matmul, f32[256,256]", lambda v: v @ v, numbers(256, 256)),
        ("softmax, f32[10]", nn.softmax, numbers(10)),
        ("jnp.sort, f32[10]", jnp.sort, numbers(10)),
        ("nan_to_num, f32[10]", jnp.nan_to_num, numbers(10)),
        ("jnp.linalg.norm, f32[10]", jnp.linalg.norm, numbers(10)),
        ("concatenate, f32[10]", lambda v: jnp.concatenate([v, v]), numbers(10)),
    ):
        yield Case(f"eager {name}", function, (value,), jit=False)
