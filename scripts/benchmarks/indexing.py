"""Large gathers, scatters, sorts, searches, transforms of Fourier and random numbers."""

import numpy as np

from benchmarks.cases import Case, numbers


def indexing_cases(jax):
    """Compiled functions that read and write by index, sort, search, transform or draw."""
    yield from _gathers(jax)
    yield from _scatters(jax)
    yield from _sorts(jax)
    yield from _transforms(jax)
    yield from _draws(jax)
    yield from _eager(jax)


def _indices(count, below, dtype="int32"):
    return (np.arange(count, dtype=np.int64) * 7919 % below).astype(dtype)


def _gathers(jax):
    jnp = jax.numpy
    long, block = numbers(1_000_000), numbers(1000, 1000)
    for n in (1000, 100_000, 1_000_000):
        yield Case(f"gather of {n}, f32[1000000]", lambda v, i: v[i], (long, _indices(n, 1_000_000)))
    yield Case("gather of 1000000, f64[1000000]", lambda v, i: v[i], (
        long.astype("f8"), _indices(1_000_000, 1_000_000, "int64")), x64=True)  # fmt: skip
    take = lambda v, i: jnp.take(v, i, axis=1)
    rows = lambda v, i: v[i]
    yield Case("rows of a table, f32[5000,64], 20000", rows, (numbers(5000, 64), _indices(20_000, 5000)))
    yield Case("columns of a table, f32[1000,1000], 1000", take, (block, _indices(1000, 1000)))
    yield Case("pairs of indices, f32[1000,1000], 100000", lambda v, i, j: v[i, j], (
        block, _indices(100_000, 1000), _indices(100_000, 997)))  # fmt: skip
    order = np.argsort(block, 1).astype("i4")
    yield Case("take_along_axis 1, f32[1000,1000]", lambda v, i: jnp.take_along_axis(v, i, 1), (block, order))
    yield Case("take_along_axis 0, f32[1000,1000]", lambda v, i: jnp.take_along_axis(v, i, 0), (block, order))
    yield Case("interp of 100000 in 1000", lambda x, t, v: jnp.interp(x, t, v), (
        numbers(100_000), np.linspace(-3, 3, 1000, dtype="f4"), numbers(1000)))  # fmt: skip
    loss = lambda t, i: jnp.sum(t[i] ** 2)
    yield Case("gradient of an embedding, f32[5000,64], 20000", jax.grad(loss), (
        numbers(5000, 64), _indices(20_000, 5000)))  # fmt: skip
    yield Case("boolean mask by where, f32[1000000]", lambda v: jnp.sum(jnp.where(v > 0, v, 0)), (long,))
    yield Case("nonzero of fixed size, f32[1000000]", lambda v: jnp.nonzero(v > 1, size=1000)[0], (long,))


def _scatters(jax):
    jnp, ops = jax.numpy, jax.ops
    long = numbers(1_000_000)
    add = lambda v, i: jnp.zeros(1000).at[i].add(v)
    for n in (1000, 100_000, 1_000_000):
        yield Case(f"scatter-add of {n} into 1000", add, (long[:n], _indices(n, 1000)))
    yield Case("scatter-set of 100000, f32[1000000]", lambda v, i, u: v.at[i].set(u), (
        long, _indices(100_000, 1_000_000), numbers(100_000)))  # fmt: skip
    yield Case("scatter-max of 100000 into 1000", lambda v, i: jnp.zeros(1000).at[i].max(v), (
        long[:100_000], _indices(100_000, 1000)))  # fmt: skip
    yield Case("segment_sum of 1000000 into 1000", lambda v, i: ops.segment_sum(v, i, 1000), (
        long, _indices(1_000_000, 1000)))  # fmt: skip
    yield Case("segment_sum of sorted 1000000 into 1000", lambda v, i: ops.segment_sum(v, i, 1000), (
        long, np.sort(_indices(1_000_000, 1000))))  # fmt: skip
    yield Case("segment_max of 100000 into 1000", lambda v, i: ops.segment_max(v, i, 1000), (
        long[:100_000], _indices(100_000, 1000)))  # fmt: skip
    yield Case("segment_sum of rows, f32[20000,64]", lambda v, i: ops.segment_sum(v, i, 1000), (
        numbers(20_000, 64), _indices(20_000, 1000)))  # fmt: skip
    yield Case("bincount, i32[1000000]", lambda i: jnp.bincount(i, length=1000), (_indices(1_000_000, 1000),))
    yield Case("histogram, f32[100000]", lambda v: jnp.histogram(v, 50, (-3, 3))[0], (long[:100_000],))
    yield Case("scatter-add of 100000, f64", lambda v, i: jnp.zeros(1000).at[i].add(v), (
        numbers(100_000, dtype="f8"), _indices(100_000, 1000)), x64=True)  # fmt: skip


def _sorts(jax):
    jnp, lax = jax.numpy, jax.lax
    hundred = numbers(100_000)
    yield Case("sort, f32[100000]", jnp.sort, (hundred,))
    yield Case("argsort, f32[100000]", jnp.argsort, (hundred,))
    yield Case("sort, f64[100000]", jnp.sort, (hundred.astype("f8"),), x64=True)
    yield Case("sort, i32[100000]", jnp.sort, (_indices(100_000, 99_991),))
    for axis in (0, 1):
        yield Case(f"sort over {axis}, f32[512,512]", lambda v, a=axis: jnp.sort(v, a), (numbers(512, 512),))
        yield Case(f"argsort over {axis}, f32[512,512]", lambda v, a=axis: jnp.argsort(v, a), (numbers(512, 512),))
    yield Case("top_k of 10, f32[512,512]", lambda v: lax.top_k(v, 10), (numbers(512, 512),))
    pairs = lambda k, v: lax.sort((k, v), num_keys=1)
    yield Case("sort of pairs, i32 and f32[100000]", pairs, (_indices(100_000, 1000), hundred))
    yield Case("searchsorted of 100000 in 1000", lambda t, v: jnp.searchsorted(t, v), (
        np.linspace(-3, 3, 1000, dtype="f4"), hundred))  # fmt: skip
    yield Case("unique of fixed size, i32[10000]", lambda v: jnp.unique(v, size=1000), (_indices(10_000, 1000),))
    yield Case("quantiles, f32[100000]", lambda v: jnp.quantile(v, jnp.asarray([0.1, 0.5, 0.9])), (hundred,))


def _transforms(jax):
    fft = jax.numpy.fft
    image = numbers(512, 512)
    for name, function in (("fft2", fft.fft2), ("rfft2", fft.rfft2)):
        yield Case(f"{name}, f32[512,512]", function, (image,))
        yield Case(f"{name}, f64[512,512]", function, (image.astype("f8"),), x64=True)
    for n in (256, 4096, 65_536, 1_000_000):
        yield Case(f"rfft, f32[{n}]", fft.rfft, (numbers(n),))
        yield Case(f"fft, c64[{n}]", fft.fft, (numbers(n).astype("c8"),))
    yield Case("fft, c128[65536]", fft.fft, (numbers(65_536).astype("c16"),), x64=True)
    yield Case("fft of rows, c64[1000,256]", fft.fft, (numbers(1000, 256).astype("c8"),))
    yield Case("irfft, c64[32769]", fft.irfft, (numbers(32_769).astype("c8"),))
    yield Case("ifft2, c64[512,512]", fft.ifft2, (image.astype("c8"),))
    yield Case("fft of prime length, c64[10007]", fft.fft, (numbers(10_007).astype("c8"),))
    smooth = lambda x, k: fft.irfft(fft.rfft(x) * fft.rfft(k), x.shape[0])
    yield Case("convolution by rfft, f32[65536]", smooth, (numbers(65_536), numbers(65_536)))


def _draws(jax):
    jnp, random = jax.numpy, jax.random
    key, many = random.key(0), (1_000_000,)
    for name, function in {
        "bits": lambda k: random.bits(k, many),
        "uniform": lambda k: random.uniform(k, many),
        "normal": lambda k: random.normal(k, many),
        "bernoulli": lambda k: random.bernoulli(k, 0.3, many),
        "randint": lambda k: random.randint(k, many, 0, 1000),
        "exponential": lambda k: random.exponential(k, many),
        "permutation": lambda k: random.permutation(k, 100_000),
        "choice": lambda k: random.choice(k, 1000, many),
        "choice with probabilities": lambda k: random.choice(k, 1000, (100_000,), p=jnp.arange(1.0, 1001) / 500500),
        "categorical, 1000 rows of 100": lambda k: random.categorical(k, jnp.zeros((1000, 100))),
        "gamma, 100000": lambda k: random.gamma(k, 2.5, (100_000,)),
        "beta, 10000": lambda k: random.beta(k, 2.0, 3.0, (10_000,)),
        "poisson, 100000": lambda k: random.poisson(k, 4.0, (100_000,)),
        "split in 10000": lambda k: random.key_data(random.split(k, 10_000)),
        "truncated_normal": lambda k: random.truncated_normal(k, -1, 1, many),
    }.items():
        yield Case(f"random {name}", function, (key,))
    yield Case("random normal, f64[1000000]", lambda k: random.normal(k, many, "float64"), (key,), x64=True)
    yield Case("random uniform, f64[1000000]", lambda k: random.uniform(k, many, "float64"), (key,), x64=True)
    total = lambda a, k: jnp.sum(random.gamma(k, a, (100,)))
    yield Case("gradient of random gamma, 100", jax.grad(total), (jnp.float32(2.5), key))
    total = lambda a, k: jnp.sum(random.gamma(k, a))
    yield Case("gradient of random gamma, 10000", jax.grad(total), (np.linspace(0.5, 9, 10_000, dtype="f4"), key))


def _eager(jax):
    """Operations on large arrays without jit."""
    jnp, random = jax.numpy, jax.random
    key, long = random.key(0), numbers(100_000)
    for name, function, args in (
        ("jnp.sort, f32[100000]", jnp.sort, (long,)),
        ("jnp.argsort, f32[100000]", jnp.argsort, (long,)),
        ("x[i], 100000", lambda v, i: v[i], (long, _indices(100_000, 100_000))),
        ("x.at[i].add, 100000", lambda v, i: v.at[i].add(1.0), (long, _indices(100_000, 1000))),
        ("random.normal, 100000", lambda k: random.normal(k, (100_000,)), (key,)),
        ("random.split", lambda k: random.split(k), (key,)),
        ("random.permutation, 10000", lambda k: random.permutation(k, 10_000), (key,)),
        ("fft.rfft, f32[4096]", jnp.fft.rfft, (numbers(4096),)),
        ("searchsorted, f32[1000] in 1000", jnp.searchsorted, (np.sort(numbers(1000)), numbers(1000))),
    ):
        yield Case(f"eager {name}", function, args, jit=False)
