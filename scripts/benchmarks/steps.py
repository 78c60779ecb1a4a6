"""Steps of training and of recurrent networks on real sizes."""

import numpy as np

from benchmarks.cases import Case, numbers
from benchmarks.networks import adam_update, mlp, transformer


def step_cases(jax):
    """Compiled whole steps."""
    step, *args = mlp(jax)
    yield Case("MLP training step", step, args, seconds=0.3)
    for blocks, width in ((2, 64), (2, 128)):
        gradient, *args = transformer(jax, blocks, width)
        yield Case(f"gradient of {blocks} transformer blocks of width {width}", gradient, args, seconds=0.3)
    yield from _updates(jax)
    yield from _recurrent(jax)
    yield from _convolutional(jax)
    yield from _scalar_loops(jax)


def _updates(jax):
    jnp = jax.numpy
    sizes = ((784, 512), (512, 512), (512, 10))
    for dtype in ("float32", "float64"):
        weights = [(numbers(*size, dtype=dtype), numbers(size[1], dtype=dtype)) for size in sizes]
        squares = [tuple(w * w for w in layer) for layer in weights]
        row = f"Adam update of an MLP's weights, {'f32' if dtype == 'float32' else 'f64'}"
        yield Case(row, adam_update, (weights, weights, squares), x64=dtype == "float64")
    momentum = lambda p, m, g: jax.tree_util.tree_map(lambda p, m, g: (p - 0.1 * (0.9 * m + g), 0.9 * m + g), p, m, g)
    yield Case("momentum update of an MLP's weights", momentum, (weights,) * 3)
    many = [numbers(32, 32) for _ in range(50)]
    clip = lambda gs: [g * jnp.minimum(1.0, 1 / jnp.sqrt(sum(jnp.sum(g * g) for g in gs))) for g in gs]
    yield Case("clipping of 50 gradients by their norm, f32[32,32]", clip, (many,))
    logistic = lambda w, x, y: jnp.mean(jnp.logaddexp(0.0, -y * (x @ w)))
    signs = np.sign(numbers(10_000))
    yield Case(
        "gradient of a logistic loss, f32[10000,32]", jax.grad(logistic), (numbers(32), numbers(10_000, 32), signs)
    )
    hessian = jax.hessian(lambda w, x, y: logistic(w, x, y))
    yield Case("Hessian of a logistic loss, f32[1000,16]", hessian, (numbers(16), numbers(1000, 16), signs[:1000]))
    one = lambda w, x, y: jnp.logaddexp(0.0, -y * (x @ w))
    each = jax.vmap(jax.grad(one), (None, 0, 0))
    yield Case("gradients for each of 10000 rows of 32", each, (numbers(32), numbers(10_000, 32), signs))


def _recurrent(jax):
    jnp, nn, lax = jax.numpy, jax.nn, jax.lax

    def lstm(weights, state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], 1) @ weights, 4, 1)
        c = nn.sigmoid(f + 1) * c + nn.sigmoid(i) * jnp.tanh(g)
        return nn.sigmoid(o) * jnp.tanh(c), c

    def run(weights, state, xs):
        def step(state, x):
            state = lstm(weights, state, x)
            return state, state[0]

        return lax.scan(step, state, xs)[1]

    weights, state, xs = numbers(128, 256) * 0.1, (numbers(16, 64), numbers(16, 64)), numbers(32, 16, 64)
    yield Case("LSTM step, f32[16,64]", lstm, (weights, state, xs[0]))
    yield Case("LSTM over 32 steps, f32[16,64]", run, (weights, state, xs))
    loss = lambda w, state, xs: jnp.sum(run(w, state, xs) ** 2)
    yield Case("gradient of an LSTM over 32 steps, f32[16,64]", jax.grad(loss), (weights, state, xs))

    def gru(weights, out, h, x):
        z, r = jnp.split(nn.sigmoid(jnp.concatenate([x, h], 1) @ weights), 2, 1)
        return (1 - z) * h + z * jnp.tanh(jnp.concatenate([x, r * h], 1) @ out)

    yield Case("GRU step, f32[16,64]", gru, (numbers(128, 128) * 0.1, numbers(128, 64) * 0.1, state[0], xs[0]))


def _convolutional(jax):
    jnp, nn, lax = jax.numpy, jax.nn, jax.lax

    def network(params, x):
        for w in params[:-1]:
            x = nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ params[-1]

    def loss(params, x, labels):
        scores = nn.log_softmax(network(params, x))
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))

    def training(params, x, labels):
        return [p - 0.1 * g for p, g in zip(params, jax.grad(loss)(params, x, labels))]

    params = [numbers(3, 3, 1, 16) * 0.3, numbers(3, 3, 16, 32) * 0.1, numbers(7 * 7 * 32, 10) * 0.03]
    images, labels = numbers(32, 28, 28, 1), (np.arange(32) % 10).astype("i4")
    yield Case("convolutional network, f32[32,28,28,1]", network, (params, images))
    yield Case("convolutional training step, f32[32,28,28,1]", training, (params, images, labels))


def _scalar_loops(jax):
    jnp, lax = jax.numpy, jax.lax
    cubic = lambda x: x**3 - 2 * x - 5
    newton = lambda x: lax.while_loop(
        lambda x: jnp.abs(cubic(x)) > 1e-5, lambda x: x - cubic(x) / jax.grad(cubic)(x), x
    )
    yield Case("Newton's method in a while loop, f32[]", newton, (jnp.float32(2.0),))
    collatz = lambda n: lax.while_loop(
        lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0)
    )[1]
    yield Case("Collatz steps of 97, i32[]", collatz, (jnp.int32(97),))
    euler = lambda x: lax.fori_loop(0, 1000, lambda i, x: x + 0.01 * (x - x**3), x)
    for n in (1, 100, 10_000):
        yield Case(f"1000 steps of Euler, f32[{n}]", euler, (numbers(n),))
