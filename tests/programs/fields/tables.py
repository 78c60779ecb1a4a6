"""Dynamic programming and graphs: edit distance, alignment, knapsack, time warping, paths, message passing."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**strings(jax), **knapsack(jax), **warping(jax), **paths(jax), **messages(jax), **parsing(jax)}


def strings(jax):
    """Edit distance of two words, and the score of a local alignment."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(33)
    a, b = (jnp.asarray(rng.integers(0, 4, n)) for n in (40, 50))

    def distance(a, b):
        def line(above, letter):
            substituted = above[:-1] + (b != letter)
            partial = jnp.minimum(above[1:] + 1, substituted)

            def cell(left, value):
                value = jnp.minimum(left + 1, value)
                return value, value

            first = above[0] + 1
            _, rest = lax.scan(cell, first, partial)
            return jnp.concatenate([first[None], rest]), None

        return lax.scan(line, jnp.arange(b.shape[0] + 1), a)[0][-1]

    def alignment(a, b):
        places = jnp.arange(b.shape[0] + 1)

        def line(above, letter):
            score = jnp.where(b == letter, 2.0, -1.0)
            best = jnp.maximum(jnp.pad(above[:-1] + score, (1, 0)), above - 1.5)
            gapped = lax.cummax(best + 1.5 * places) - 1.5 * places
            new = jnp.maximum(gapped, 0)
            return new, new.max()

        return lax.scan(line, jnp.zeros(b.shape[0] + 1), a)[1].max()

    return {"edit distance": (distance, (a, b)), "local alignment": (alignment, (a, b))}


def knapsack(jax):
    """The most valuable load of a bag, and what is in it."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(34)
    values, sizes = (jnp.asarray(rng.integers(1, 30, 30)) for _ in range(2))

    def load(values, sizes):
        room = jnp.arange(101)

        def item(best, row):
            value, size = row
            taken = jnp.where(room >= size, best[jnp.maximum(room - size, 0)] + value, -1)
            return jnp.maximum(best, taken), taken > best

        best, choices = lax.scan(item, jnp.zeros(101, jnp.int32), (values, sizes))

        def back(left, row):
            chosen, size = row
            took = chosen[left]
            return left - jnp.where(took, size, 0), took

        return best[-1], lax.scan(back, 100, (choices, sizes), reverse=True)[1]

    def change(coins):
        def amount(i, ways):
            return ways.at[i].set(jnp.min(jnp.where(coins <= i, ways[i - coins], 1000)) + 1)

        return lax.fori_loop(1, 200, amount, jnp.zeros(200, jnp.int32))

    return {"knapsack": (load, (values, sizes)), "coin change": (change, (jnp.asarray([1, 7, 23, 50]),))}


def warping(jax):
    """Dynamic time warping with a soft minimum, and its gradient."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(35)
    x, y = (jnp.asarray(np.cumsum(rng.normal(size=n), 0).astype(np.float32)) for n in (30, 36))

    def soft_minimum(*values):
        return -nn.logsumexp(-jnp.stack(values), axis=0)

    def distance(x, y):
        cost = (x[:, None] - y) ** 2

        def line(above, costs):
            def cell(left, row):
                cost, up, diagonal = row
                value = cost + soft_minimum(left, up, diagonal)
                return value, value

            _, rest = lax.scan(cell, jnp.float32(1e6), (costs, above[1:], above[:-1]))
            return jnp.concatenate([jnp.full(1, 1e6), rest]), None

        first = jnp.full(y.shape[0] + 1, 1e6).at[0].set(0.0)
        return lax.scan(line, first, cost)[0][-1]

    return {"time warping": (distance, (x, y)), "time warping: gradient": (jax.grad(distance), (x, y))}


def paths(jax):
    """Shortest paths by Floyd and Warshall, by Bellman and Ford, and by Dijkstra with a mask."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(36)
    lengths = np.where(rng.uniform(size=(32, 32)) < 0.2, rng.uniform(1, 5, (32, 32)), np.inf)
    np.fill_diagonal(lengths, 0)
    source, target = (jnp.asarray(e) for e in np.nonzero(np.isfinite(lengths)))
    lengths = jnp.asarray(lengths.astype(np.float32))

    def all_pairs(d):
        return lax.fori_loop(0, 32, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), d)

    def from_one(lengths, start):
        edges = lengths[source, target]

        def relax(state):
            d, _ = state
            new = d.at[target].min(d[source] + edges)
            return new, (new < d).any()

        d = jnp.full(32, jnp.inf).at[start].set(0.0)
        return lax.while_loop(lambda s: s[1], relax, (d, jnp.array(True)))[0]

    def nearest_first(lengths, start):
        def visit(_, state):
            d, done = state
            at = jnp.argmin(jnp.where(done, jnp.inf, d))
            return jnp.minimum(d, d[at] + lengths[at]), done.at[at].set(True)

        d = jnp.full(32, jnp.inf).at[start].set(0.0)
        return lax.fori_loop(0, 32, visit, (d, jnp.zeros(32, bool)))[0]

    return {
        "paths: all pairs": (all_pairs, (lengths,)),
        "paths: Bellman-Ford": (from_one, (lengths, jnp.int32(3))),
        "paths: Dijkstra": (nearest_first, (lengths, jnp.int32(3))),
    }


def messages(jax):
    """Networks on a graph: a training step of convolutions, and of attention over edges; labels that spread."""
    jnp, lax, nn, ops = jax.numpy, jax.lax, jax.nn, jax.ops
    rng = np.random.default_rng(37)
    nodes, edges = 100, 400
    source, target = (jnp.asarray(rng.integers(0, nodes, edges)) for _ in range(2))
    draw = lambda *shape: jnp.asarray(rng.normal(size=shape, scale=0.3).astype(np.float32))
    x, labels = draw(nodes, 8), jnp.asarray(rng.integers(0, 3, nodes))
    params = [
        {"w": draw(8, 16), "self": draw(8, 16), "a": draw(32)},
        {"w": draw(16, 3), "self": draw(16, 3), "a": draw(6)},
    ]

    def convolve(p, x):
        degree = ops.segment_sum(jnp.ones(edges), target, nodes)
        mean = ops.segment_sum(x[source], target, nodes) / jnp.maximum(degree, 1)[:, None]
        return mean @ p["w"] + x @ p["self"]

    def attend(p, x):
        h = x @ p["w"]
        scores = nn.leaky_relu(jnp.concatenate([h[source], h[target]], -1) @ p["a"])
        top = ops.segment_max(scores, target, nodes)
        shares = jnp.exp(scores - lax.stop_gradient(top)[target])
        shares = shares / ops.segment_sum(shares, target, nodes)[target]
        return ops.segment_sum(shares[:, None] * h[source], target, nodes) + x @ p["self"]

    def trainer(layer):
        def loss(params, x, labels):
            x = nn.relu(layer(params[0], x))
            scores = nn.log_softmax(layer(params[1], x))
            return -jnp.mean(jnp.sum(scores * nn.one_hot(labels, 3), 1))

        def train(params, x, labels):
            value, slopes = jax.value_and_grad(loss)(params, x, labels)
            return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), value

        return train

    def spread(labels):
        def step(labels, _):
            votes = jnp.zeros((nodes, 3)).at[target, labels[source]].add(1.0)
            votes = votes.at[jnp.arange(nodes), labels].add(0.5)
            return votes.argmax(1), None

        return lax.scan(step, labels, None, 10)[0]

    return {
        "graph convolutions: training step": (trainer(convolve), (params, x, labels)),
        "graph attention: training step": (trainer(attend), (params, x, labels)),
        "labels that spread": (spread, (labels,)),
    }


def parsing(jax):
    """The inside algorithm of a probabilistic grammar, a table filled by growing spans."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(38)
    count, length = 6, 12
    rules = nn.log_softmax(jnp.asarray(rng.normal(size=(count, count * count)).astype(np.float32))).reshape(6, 6, 6)
    words = nn.log_softmax(jnp.asarray(rng.normal(size=(count, 20)).astype(np.float32)))
    text = jnp.asarray(rng.integers(0, 20, length))

    def inside(rules, words, text):
        table = jnp.full((length, length + 1, count), -1e9)
        table = table.at[jnp.arange(length), jnp.arange(1, length + 1)].set(words[:, text].T)

        def span(size, table):
            def one(start):
                middles = jnp.arange(length)
                inner = (middles > start) & (middles < start + size)
                left, right = table[start, middles], table[middles, jnp.minimum(start + size, length)]
                pairs = jnp.where(inner[:, None, None], left[:, :, None] + right[:, None, :], -1e9)
                return nn.logsumexp(rules + nn.logsumexp(pairs, axis=0), axis=(1, 2))

            scores = jax.vmap(one)(jnp.arange(length))
            ends = jnp.arange(length) + size
            return table.at[jnp.arange(length), jnp.where(ends <= length, ends, length + 1)].set(scores, mode="drop")

        return lax.fori_loop(2, length + 1, span, table)[0, length, 0]

    return {"inside algorithm": (inside, (rules, words, text))}
