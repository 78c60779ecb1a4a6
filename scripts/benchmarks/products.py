"""Large products, convolutions, poolings and attention, and their gradients."""

import numpy as np

from benchmarks.cases import Case, numbers


def product_cases(jax):
    """Compiled products of large arrays."""
    yield from _matmuls(jax)
    yield from _contractions(jax)
    yield from _convolutions(jax)
    yield from _attentions(jax)


def _matmuls(jax):
    jnp, lax = jax.numpy, jax.lax
    for n in (64, 256, 512, 1024, 2048):
        matrix = numbers(n, n)
        yield Case(f"matmul, f32[{n},{n}]", jnp.matmul, (matrix, matrix))
    for n in (256, 1024):
        matrix = numbers(n, n, dtype="float64")
        yield Case(f"matmul, f64[{n},{n}]", jnp.matmul, (matrix, matrix), x64=True)
    wide = lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    for n in (128, 512):
        small = (np.arange(n * n) * 37 % 255 - 127).astype(np.int8).reshape(n, n)
        yield Case(f"matmul, i8[{n},{n}] to i32", wide, (small, small))
    whole = (np.arange(256 * 256) % 1000).astype(np.int32).reshape(256, 256)
    yield Case("matmul, i32[256,256]", jnp.matmul, (whole, whole))
    for dtype in ("bfloat16", "float16"):
        half = numbers(512, 512)
        yield Case(f"matmul, {dtype}[512,512]", jnp.matmul, (jnp.asarray(half, dtype), jnp.asarray(half, dtype)))
    yield Case("matmul and bias, f32[128,784] @ [784,512]", lambda x, w, b: jax.nn.relu(x @ w + b), (
        numbers(128, 784), numbers(784, 512), numbers(512)))  # fmt: skip
    yield Case("x.T @ x, f32[4096,64]", lambda x: x.T @ x, (numbers(4096, 64),))
    yield Case("matrix by vector, f32[1024,1024]", jnp.matmul, (numbers(1024, 1024), numbers(1024)))
    yield Case("vector by matrix, f32[1024,1024]", jnp.matmul, (numbers(1024), numbers(1024, 1024)))
    squared = jax.grad(lambda a, b: jnp.sum((a @ b) ** 2), argnums=(0, 1))
    yield Case("gradient of a matmul, f32[512,512]", squared, (numbers(512, 512), numbers(512, 512)))


def _contractions(jax):
    jnp = jax.numpy
    stack = numbers(64, 64, 64)
    yield Case("batched matmul, f32[64,64,64]", jnp.matmul, (stack, stack))
    yield Case("batched matmul, f64[64,64,64]", jnp.matmul, (stack.astype("f8"), stack.astype("f8")), x64=True)
    yield Case("batched matmul, f32[1000,8,8]", jnp.matmul, (numbers(1000, 8, 8), numbers(1000, 8, 8)))
    yield Case("batched matmul, transposed, f32[64,64,64]", lambda a, b: a @ jnp.swapaxes(b, 1, 2), (stack, stack))
    heads = numbers(8, 128, 4, 32)
    yield Case("einsum bqhd,bkhd->bhqk, f32[8,128,4,32]", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), (
        heads, heads))  # fmt: skip
    yield Case("einsum ij,kj->ki, f32[512,512]", lambda a, b: jnp.einsum("ij,kj->ki", a, b), (
        numbers(512, 512), numbers(512, 512)))  # fmt: skip
    yield Case("einsum bij,bjk,bk->bi, f32[32,64,64]", lambda a, b, v: jnp.einsum("bij,bjk,bk->bi", a, b, v), (
        numbers(32, 64, 64), numbers(32, 64, 64), numbers(32, 64)))  # fmt: skip
    yield Case("tensordot, f32[64,32,32]", lambda a, b: jnp.tensordot(a, b, axes=((1, 2), (1, 2))), (
        numbers(64, 32, 32), numbers(64, 32, 32)))  # fmt: skip
    for n in (1000, 1_000_000):
        vector = numbers(n)
        yield Case(f"dot, f32[{n}]", jnp.dot, (vector, vector))
        yield Case(f"norm, f32[{n}]", jnp.linalg.norm, (vector,))
    long = numbers(1_000_000, dtype="float64")
    yield Case("dot, f64[1000000]", jnp.dot, (long, long), x64=True)
    yield Case("outer, f32[1000]", jnp.outer, (numbers(1000), numbers(1000)))
    for shape in ((512, 16), (1000, 3)):
        direct = lambda x: jnp.sum((x[:, None] - x) ** 2, -1)
        yield Case(f"pairwise distances, f32{list(shape)}", direct, (numbers(*shape),))
    expanded = lambda x: jnp.sum(x * x, 1)[:, None] + jnp.sum(x * x, 1) - 2 * x @ x.T
    yield Case("pairwise distances by matmul, f32[1000,64]", expanded, (numbers(1000, 64),))
    one_hot = lambda i, w: jax.nn.one_hot(i, 1000) @ w
    yield Case("one-hot matmul, i32[512] @ f32[1000,64]", one_hot, (
        (np.arange(512) * 37 % 1000).astype("i4"), numbers(1000, 64)))  # fmt: skip


def _convolutions(jax):
    jnp, lax = jax.numpy, jax.lax

    def convolve(layout, groups=1, stride=1):
        names = (layout, "HWIO" if layout == "NHWC" else "OIHW", layout)
        return lambda x, w: lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=names, feature_group_count=groups
        )

    def gradient(function):
        return jax.grad(lambda x, w: jnp.sum(function(x, w) ** 2), argnums=(0, 1))

    last, first = numbers(8, 32, 32, 32), numbers(8, 32, 32, 32)
    weights_last, weights_first = numbers(3, 3, 32, 64), numbers(64, 32, 3, 3)
    yield Case("convolution 3x3, NHWC f32[8,32,32,32]", convolve("NHWC"), (last, weights_last))
    yield Case("convolution 3x3, NCHW f32[8,32,32,32]", convolve("NCHW"), (first, weights_first))
    yield Case("convolution 3x3 by steps of 2, NHWC", convolve("NHWC", stride=2), (last, weights_last))
    yield Case("gradient of convolution 3x3, NHWC", gradient(convolve("NHWC")), (last, weights_last))
    yield Case("gradient of convolution 3x3, NCHW", gradient(convolve("NCHW")), (first, weights_first))
    yield Case("convolution 1x1, NHWC f32[8,32,32,32]", convolve("NHWC"), (last, numbers(1, 1, 32, 64)))
    depthwise, kernels = convolve("NHWC", groups=32), numbers(3, 3, 1, 32)
    yield Case("depthwise convolution 3x3, NHWC", depthwise, (last, kernels))
    yield Case("gradient of depthwise convolution 3x3, NHWC", gradient(depthwise), (last, kernels))
    image = numbers(1, 256, 256, 1)
    yield Case("convolution 5x5 of an image of 256x256", convolve("NHWC"), (image, numbers(5, 5, 1, 1)))
    doubles = last.astype("f8"), weights_last.astype("f8")
    yield Case("convolution 3x3, NHWC f64[8,32,32,32]", convolve("NHWC"), doubles, x64=True)
    line = lambda x, k: jnp.convolve(x, k, mode="same")
    yield Case("convolve, f32[100000] with 31", line, (numbers(100_000), numbers(31)))
    window = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    largest = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, *window)
    average = lambda x: lax.reduce_window(x, 0.0, lax.add, *window) / 4
    yield Case("max pooling 2x2, NHWC f32[8,32,32,32]", largest, (last,))
    yield Case("average pooling 2x2, NHWC f32[8,32,32,32]", average, (last,))
    yield Case("gradient of max pooling 2x2", jax.grad(lambda x: jnp.sum(largest(x) ** 2)), (last,))
    yield Case("gradient of average pooling 2x2", jax.grad(lambda x: jnp.sum(average(x) ** 2)), (last,))


def _attentions(jax):
    jnp = jax.numpy

    def attention(q, k, v, causal=False):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)

    for shape in ((2, 16, 4, 16), (4, 256, 8, 32)):
        tokens = (numbers(*shape),) * 3
        text = f"f32{list(shape)}".replace(" ", "")
        yield Case(f"attention, {text}", attention, tokens)
        yield Case(f"causal attention, {text}", lambda q, k, v: attention(q, k, v, True), tokens)
        yield Case(f"jax.nn.dot_product_attention, {text}", jax.nn.dot_product_attention, tokens)
        loss = lambda q, k, v: jnp.sum(attention(q, k, v) ** 2)
        yield Case(f"gradient of attention, {text}", jax.grad(loss, argnums=(0, 1, 2)), tokens)
    doubles = (numbers(2, 16, 4, 16, dtype="float64"),) * 3
    yield Case("attention, f64[2,16,4,16]", attention, doubles, x64=True)
