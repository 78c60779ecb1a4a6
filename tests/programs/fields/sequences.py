"""Models of sequences: recurrent cells, a small transformer with a cache, beam search, CTC."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**recurrent(jax), **transformer(jax), **attention_training(jax), **ctc(jax), **state_space_layer(jax)}


def weights(jax, seed, **shapes):
    """A dictionary of weights."""
    rng = np.random.default_rng(seed)
    draw = lambda shape: rng.normal(size=shape, scale=shape[0] ** -0.5).astype(np.float32)
    return {name: jax.numpy.asarray(draw(shape)) for name, shape in shapes.items()}


def recurrent(jax):
    """Training steps of Elman, LSTM and GRU cells that add numbers of a sequence."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(13)
    xs = jnp.asarray(rng.normal(size=(30, 16, 4)).astype(np.float32))
    target = xs.sum((0, 2))[:, None]

    def elman(p, h, x):
        return jnp.tanh(x @ p["x"] + h @ p["h"] + p["b"][0])

    def lstm(p, state, x):
        h, c = jnp.split(state, 2, -1)
        i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"] + p["b"][0], 4, -1)
        c = nn.sigmoid(f + 1.0) * c + nn.sigmoid(i) * jnp.tanh(g)
        return jnp.concatenate([nn.sigmoid(o) * jnp.tanh(c), c], -1)

    def gru(p, h, x):
        size = h.shape[-1]
        inner, outer = x @ p["x"] + p["b"][0], h @ p["h"]
        r, z = jnp.split(nn.sigmoid(inner[:, : 2 * size] + outer[:, : 2 * size]), 2, -1)
        n = jnp.tanh(inner[:, 2 * size :] + r * outer[:, 2 * size :])
        return (1 - z) * n + z * h

    found = {}
    for name, cell, gates, state in (("Elman", elman, 1, 1), ("LSTM", lstm, 4, 2), ("GRU", gru, 3, 1)):
        p = weights(jax, 14, x=(4, 32 * gates), h=(32, 32 * gates), b=(1, 32 * gates), out=(32, 1))
        start = jnp.zeros((16, 32 * state))

        def loss(p, xs, target, cell=cell, start=start):
            end, _ = lax.scan(lambda h, x: (cell(p, h, x), None), start, xs)
            return jnp.mean((end[:, :32] @ p["out"] - target) ** 2)

        def train(p, xs, target, loss=loss):
            value, slopes = jax.value_and_grad(loss)(p, xs, target)
            return jax.tree.map(lambda p, g: p - 0.01 * jnp.clip(g, -1, 1), p, slopes), value

        found[f"{name} cell: step"] = (cell, (p, start, xs[0]))
        found[f"{name} cell: training step over 30"] = (train, (p, xs, target))
    return found


def block_weights(jax):
    """Weights of a decoder of two blocks with 64 features and 50 tokens."""
    shapes = {"qkv": (64, 192), "out": (64, 64), "up": (64, 256), "down": (256, 64)}
    blocks = [weights(jax, seed, **shapes) for seed in (15, 16)]
    return {"embed": weights(jax, 17, e=(50, 64))["e"], "blocks": blocks}


def rms(jax, x):
    return x * jax.lax.rsqrt(jax.numpy.mean(x * x, -1, keepdims=True) + 1e-6)


def rotate(jax, x, position):
    """Rotary positions of the last axis."""
    jnp = jax.numpy
    half = x.shape[-1] // 2
    angles = position * 100.0 ** (-jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angles) - b * jnp.sin(angles), a * jnp.sin(angles) + b * jnp.cos(angles)], -1)


def transformer(jax):
    """Decoding with a cache of keys and values: one token, greedy, sampled, and by beam search."""
    jnp, lax, nn, random = jax.numpy, jax.lax, jax.nn, jax.random
    length, heads = 32, 4
    params = block_weights(jax)

    def attend(p, x, keys, values, position):
        q, k, v = (rms(jax, x) @ p["qkv"]).reshape(3, heads, 16)
        q, k = rotate(jax, q, position), rotate(jax, k, position)
        keys = lax.dynamic_update_slice(keys, k[None], (position, 0, 0))
        values = lax.dynamic_update_slice(values, v[None], (position, 0, 0))
        scores = jnp.einsum("hd,thd->ht", q, keys) / 4
        scores = jnp.where(jnp.arange(length) <= position, scores, -jnp.inf)
        mixed = jnp.einsum("ht,thd->hd", nn.softmax(scores), values).reshape(64)
        return x + mixed @ p["out"], keys, values

    def token_step(params, cache, token, position):
        x, new = params["embed"][token], []
        for p, (keys, values) in zip(params["blocks"], cache):
            x, keys, values = attend(p, x, keys, values, position)
            x = x + nn.gelu(rms(jax, x) @ p["up"]) @ p["down"]
            new.append((keys, values))
        return rms(jax, x) @ params["embed"].T, new

    def greedy(params, cache, token):
        def step(state, position):
            token, cache = state
            scores, cache = token_step(params, cache, token, position)
            return (jnp.argmax(scores).astype(token.dtype), cache), (token, scores.max())

        return lax.scan(step, (token, cache), jnp.arange(length - 4))[1]

    def sampled(params, cache, token, key):
        def step(state, position):
            token, cache = state
            scores, cache = token_step(params, cache, token, position)
            best, which = lax.top_k(scores, 5)
            choice = random.categorical(random.fold_in(key, position), best / 0.8)
            return (which[choice].astype(token.dtype), cache), token

        return lax.scan(step, (token, cache), jnp.arange(length - 4))[1]

    def beam(params, cache, token, width=4):
        cache = jax.tree.map(lambda c: jnp.broadcast_to(c, (width, *c.shape)), cache)
        scores = jnp.where(jnp.arange(width) == 0, 0.0, -jnp.inf)
        text = jnp.zeros((width, 12), jnp.int32).at[:, 0].set(token)

        def step(position, state):
            text, scores, cache = state
            last = text[:, position]
            out, cache = jax.vmap(token_step, (None, 0, 0, None))(params, cache, last, position)
            total = scores[:, None] + nn.log_softmax(out)
            scores, flat = lax.top_k(total.ravel(), width)
            source = flat // 50
            text = text[source].at[:, position + 1].set(flat % 50)
            return text, scores, jax.tree.map(lambda c: c[source], cache)

        return lax.fori_loop(0, 11, step, (text, scores, cache))[:2]

    cache = [(jnp.zeros((length, heads, 16)), jnp.zeros((length, heads, 16))) for _ in params["blocks"]]
    token = jnp.int32(3)
    return {
        "transformer: one token with a cache": (token_step, (params, cache, token, jnp.int32(0))),
        "transformer: greedy decoding": (greedy, (params, cache, token)),
        "transformer: sampled decoding": (sampled, (params, cache, token, random.key(8))),
        "transformer: beam search": (beam, (params, cache, token)),
    }


def attention_training(jax):
    """A training step of the same decoder over whole sentences."""
    jnp, nn = jax.numpy, jax.nn
    tokens = jnp.asarray(np.random.default_rng(18).integers(0, 50, (4, 24)))

    def apply(params, tokens):
        x = params["embed"][tokens]
        count = tokens.shape[-1]
        mask = jnp.tril(jnp.ones((count, count), bool))
        for p in params["blocks"]:
            q, k, v = jnp.split((rms(jax, x) @ p["qkv"]).reshape(*x.shape[:-1], 12, 16), 3, -2)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
            shares = nn.softmax(jnp.where(mask, scores, -1e9))
            x = x + jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(x.shape) @ p["out"]
            x = x + nn.gelu(rms(jax, x) @ p["up"]) @ p["down"]
        return rms(jax, x) @ params["embed"].T

    def loss(params, tokens):
        scores = nn.log_softmax(apply(params, tokens[:, :-1]))
        return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], -1))

    def train(params, tokens):
        value, slopes = jax.value_and_grad(loss)(params, tokens)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes), value

    return {"transformer: training step": (train, (block_weights(jax), tokens))}


def ctc(jax):
    """Connectionist temporal classification: the loss of a line of text, and its gradient."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(19)
    logits = jnp.asarray(rng.normal(size=(40, 12)).astype(np.float32))
    labels = jnp.asarray(rng.integers(1, 12, 10))

    def loss(logits, labels):
        log_probs = nn.log_softmax(logits)
        line = jnp.zeros(2 * labels.shape[0] + 1, labels.dtype).at[1::2].set(labels)
        skipping = jnp.concatenate([jnp.zeros(2, bool), (line[2:] != 0) & (line[2:] != line[:-2])])
        low = -1e9

        def step(alpha, scores):
            one = jnp.pad(alpha, (1, 0), constant_values=low)[:-1]
            two = jnp.where(skipping, jnp.pad(alpha, (2, 0), constant_values=low)[:-2], low)
            return jnp.logaddexp(jnp.logaddexp(alpha, one), two) + scores[line], None

        first = jnp.full(line.shape, low).at[:2].set(log_probs[0, line[:2]])
        last, _ = lax.scan(step, first, log_probs[1:])
        return -jnp.logaddexp(last[-1], last[-2])

    return {
        "CTC: loss": (loss, (logits, labels)),
        "CTC: gradient": (jax.value_and_grad(loss), (logits, labels)),
    }


def state_space_layer(jax):
    """A selective state-space layer: its recurrence as an associative scan."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    p = weights(jax, 20, step=(16, 16), b=(16, 8), c=(16, 8))
    x = jnp.asarray(np.random.default_rng(21).normal(size=(64, 16)).astype(np.float32))

    def layer(p, x):
        size = nn.softplus(x @ p["step"])
        decay = jnp.exp(-size[:, :, None] * jnp.arange(1.0, 9.0))
        inward = (size * x)[:, :, None] * (x @ p["b"])[:, None, :]

        def joined(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        _, states = lax.associative_scan(joined, (decay, inward))
        return jnp.einsum("tds,ts->td", states, x @ p["c"])

    return {
        "state-space layer": (layer, (p, x)),
        "state-space layer: gradient": (jax.grad(lambda p, x: jnp.sum(layer(p, x) ** 2)), (p, x)),
    }
