"""Programs with random numbers: `cases(jax)` works for onax and for real JAX, whose results are recorded."""

import numpy as np

SEEDS = (0, 42, -7)
LOGITS = np.array([[0.1, 2.0, -1.0], [3.0, 0.0, 0.5]], np.float32)
P = np.array([0.1, 0.2, 0.3, 0.15, 0.25], np.float32)
TABLE = np.arange(10, dtype=np.float32).reshape(5, 2)


def cases(jax):
    """name -> (function, arguments)."""
    found = {}
    for partitionable in (True, False):
        for seed in SEEDS:
            for name, draw in {name: draw for family in FAMILIES for name, draw in family(jax).items()}.items():
                label = f"{name}, key {seed}{'' if partitionable else ', original layout'}"
                found[label] = (_with(jax, partitionable, draw), (np.int32(seed),))
    return found


def _with(jax, partitionable, draw):
    def run(seed):
        with jax.threefry_partitionable(partitionable):
            return draw(jax.random.key(seed))

    return run


def _keys(jax):
    random, lax, jnp = jax.random, jax.lax, jax.numpy
    words = random.key_data

    def walk(key):
        def step(key, i):
            key, subkey = random.split(key)
            return random.fold_in(key, i), random.bits(subkey, (3,))

        key, drawn = lax.scan(step, key, jnp.arange(4))
        return words(key), drawn

    return {
        "words": words,
        "split": lambda k: words(random.split(k)),
        "split in 5": lambda k: words(random.split(k, 5)),
        "split in a shape": lambda k: words(random.split(k, (2, 3))),
        "split twice": lambda k: words(random.split(random.split(k)[1])),
        "fold_in": lambda k: [words(random.fold_in(k, i)) for i in (0, 1, 2**31 + 5)],
        "clone": lambda k: words(random.clone(k)),
        "raw keys": lambda k: [random.split(words(k)), random.fold_in(words(k), 3), random.bits(words(k), (2,))],
        "vmap of split": lambda k: words(jax.vmap(random.split)(random.split(k, 3))),
        "vmap of fold_in": lambda k: [
            words(jax.vmap(random.fold_in, (None, 0))(k, jnp.arange(3))),
            words(jax.vmap(random.fold_in)(random.split(k, 3), jnp.arange(3))),
            words(jax.vmap(random.fold_in, (0, None))(random.split(k, 3), 2)),
        ],
        "vmap of bits": lambda k: jax.vmap(lambda a: random.bits(a, (2, 3)), out_axes=1)(random.split(k, 4)),
        "vmap of vmap of bits": lambda k: jax.vmap(jax.vmap(random.bits))(random.split(k, (2, 3))),
        "vmap of key": lambda k: words(jax.vmap(random.key)(jnp.arange(3))),
        "keys in arrays": lambda k: words(jnp.concatenate([random.split(k, 3)[::-1], k[None]]).reshape(2, 2)),
        "scan": walk,
        "cond": lambda k: random.bits(lax.cond(words(k)[1] > 5, lambda: random.split(k)[0], lambda: k), (2,)),
    }


def _bits(jax):
    random, jnp = jax.random, jax.numpy
    shapes = ((), (1,), (5,), (3, 4), (0,), (2, 0))
    return {
        f"bits {width} {shape}": lambda k, width=width, shape=shape: random.bits(k, shape, getattr(jnp, f"uint{width}"))
        for width in (8, 16, 32)
        for shape in shapes
    } | {"bits 64": lambda k: _bits_64(jax, k)}


def _bits_64(jax, k):
    with jax.enable_x64(True):
        words = [jax.random.bits(k, shape, jax.numpy.uint64) for shape in ((), (3,), (2, 5))]
        return [(x >> np.uint64(32)).astype(np.uint32) for x in words] + [x.astype(np.uint32) for x in words]


def _continuous(jax):
    random, jnp = jax.random, jax.numpy
    x = np.array([0.5, 1.0, 2.0], np.float32)
    return {
        "uniform": lambda k: [random.uniform(k), random.uniform(k, (5,)), random.uniform(k, (3, 4))],
        "uniform in halves": lambda k: [random.uniform(k, (7,), d) for d in (jnp.bfloat16, jnp.float16)],
        "uniform between": lambda k: random.uniform(k, (2, 3), minval=-x, maxval=3),
        "uniform from raw key": lambda k: random.uniform(random.key_data(k), (5,)),
        "normal": lambda k: [random.normal(k), random.normal(k, (5,)), random.normal(k, (3, 4))],
        "normal in halves": lambda k: [random.normal(k, (7,), d) for d in (jnp.bfloat16, jnp.float16)],
        "normal complex": lambda k: random.normal(k, (4,), jnp.complex64),
        "truncated_normal": lambda k: [
            random.truncated_normal(k, -1, 2.0, (4, 3)),
            random.truncated_normal(k, -x, x),
        ],
        "lognormal": lambda k: [random.lognormal(k, shape=(4,)), random.lognormal(k, x)],
        "exponential": lambda k: random.exponential(k, (4, 3)),
        "gumbel": lambda k: [random.gumbel(k, (4, 3)), random.gumbel(k, (5,), mode="high")],
        "laplace": lambda k: random.laplace(k, (4, 3)),
        "logistic": lambda k: random.logistic(k, (4, 3)),
        "cauchy": lambda k: random.cauchy(k, (4, 3)),
        "maxwell": lambda k: random.maxwell(k, (4, 3)),
        "double_sided_maxwell": lambda k: [
            random.double_sided_maxwell(k, 0.5, x, (4, 2)),
            random.double_sided_maxwell(k, 0.5, 2.0, (4,)),
            random.double_sided_maxwell(k, x, 2.0),
        ],
        "rayleigh": lambda k: [random.rayleigh(k, x), random.rayleigh(k, 2.0, (4,))],
        "pareto": lambda k: [random.pareto(k, x), random.pareto(k, 2.0, (4,))],
        "weibull_min": lambda k: random.weibull_min(k, 2.0, 1.5, (4, 3)),
        "triangular": lambda k: [random.triangular(k, 0.0, x, 3.0), random.triangular(k, 0.0, 1.0, 3.0, (4,))],
        "wald": lambda k: [random.wald(k, x), random.wald(k, 2.0, (4,))],
        "gradients": lambda k: [
            jax.grad(lambda a: jnp.sum(random.uniform(k, (3,), minval=a, maxval=2 * a)))(1.5),
            jax.grad(lambda a: jnp.sum(random.truncated_normal(k, -a, a, (3,))))(1.5),
            jax.grad(lambda a: jnp.sum(random.rayleigh(k, a, (3,))))(1.5),
            jax.grad(lambda a: jnp.sum(random.pareto(k, a, (3,))))(1.5),
            jax.grad(lambda a: jnp.sum(random.lognormal(k, a, (3,))))(0.5),
            jax.grad(lambda a: jnp.sum(random.weibull_min(k, a, a, (3,))))(1.5),
        ],
        "vmap of normal": lambda k: jax.vmap(lambda a: random.normal(a, (2,)))(random.split(k, 3)),
        "vmap of uniform's bounds": lambda k: jax.vmap(lambda a: random.uniform(k, (2,), minval=a, maxval=3))(x),
    }


def _randint_64(jax, k):
    with jax.enable_x64(True):
        x = jax.random.randint(k, (5,), -(2**40), 2**41)
        return (x >> 20).astype(np.int32), (x & 0xFFFFF).astype(np.int32)


def _discrete(jax):
    random, jnp = jax.random, jax.numpy
    ends = np.array([3, 5, 100], np.int32)
    pick = lambda k, *args, **kwargs: random.choice(k, *args, **kwargs)
    return {
        "randint": lambda k: [random.randint(k, shape, -3, 1000) for shape in ((), (5,), (3, 4))],
        "randint of bounds": lambda k: random.randint(k, (2, 3), 0, ends),
        "randint of nothing": lambda k: [random.randint(k, (2,), 5, 5), random.randint(k, (2,), 5, 3)],
        "randint of everything": lambda k: random.randint(k, (4,), -(2**31), 2**31 - 1),
        "randint beyond a dtype": lambda k: random.randint(k, (4,), 0, 2**31 - 1, jnp.uint32),
        "randint of 64 bits": lambda k: _randint_64(jax, k),
        "randint beyond int32": lambda k: [
            random.randint(k, (4,), np.uint32(2**31 + 7), np.uint32(2**32 - 1), d) for d in (jnp.int8, jnp.uint16)
        ],
        "randint of dtypes": lambda k: [
            random.randint(k, (6,), -200, 300, d) for d in (jnp.int8, jnp.int16, jnp.uint8, jnp.uint16, jnp.uint32)
        ],
        "bernoulli": lambda k: [random.bernoulli(k), random.bernoulli(k, 0.3, (3, 4)), random.bernoulli(k, P)],
        "bernoulli, mode high": lambda k: random.bernoulli(k, 0.3, (3, 4), mode="high"),
        "rademacher": lambda k: [random.rademacher(k, (5,)), random.rademacher(k, (5,), jnp.float32)],
        "geometric": lambda k: [random.geometric(k, 0.3, (5,)), random.geometric(k, P)],
        "categorical": lambda k: [
            random.categorical(k, LOGITS),
            random.categorical(k, LOGITS, axis=0),
            random.categorical(k, LOGITS, shape=(5, 2)),
            random.categorical(k, LOGITS[0]),
        ],
        "categorical, mode high": lambda k: random.categorical(k, LOGITS, mode="high"),
        "categorical without replacement": lambda k: [
            random.categorical(k, LOGITS, shape=(2, 2), replace=False),
            random.categorical(k, LOGITS, axis=0, shape=(2, 3), replace=False),
            random.categorical(k, LOGITS[0], shape=(3,), replace=False),
        ],
        "permutation": lambda k: [
            random.permutation(k, 7),
            random.permutation(k, TABLE),
            random.permutation(k, TABLE, axis=1),
            random.permutation(k, TABLE[:, 0]),
            random.permutation(k, TABLE, independent=True),
        ],
        "permutation of one": lambda k: [random.permutation(k, 1), random.permutation(k, TABLE[:1])],
        "permutation of many": lambda k: random.permutation(k, 3000),
        "choice": lambda k: [pick(k, 7), pick(k, 7, (2, 3)), pick(k, TABLE, (3,)), pick(k, TABLE, (3,), axis=1)],
        "choice without replacement": lambda k: [
            pick(k, 7, (3,), replace=False),
            pick(k, TABLE, (2, 2), replace=False),
            pick(k, TABLE, (2,), replace=False, axis=1),
        ],
        "choice with p": lambda k: [pick(k, 5, (6,), p=P), pick(k, TABLE, (2,), p=P), pick(k, TABLE, p=P)],
        "choice with p without replacement": lambda k: [
            pick(k, 5, (3,), False, P),
            pick(k, TABLE, (2,), False, P, mode="high"),
        ],
    }


SHAPES = np.array([0.3, 1.0, 4.5], np.float32)
SPREAD = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]], np.float32)


def _rejection(jax):
    random, jnp = jax.random, jax.numpy
    halves = (jnp.bfloat16, jnp.float16)
    return {
        "gamma": lambda k: [random.gamma(k, SHAPES), random.gamma(k, 2.5, (2, 3))],
        "gamma in halves": lambda k: [random.gamma(k, 2.5, (4,), d) for d in halves],
        "loggamma": lambda k: [random.loggamma(k, SHAPES / 10), random.loggamma(k, 0.5, (2, 3))],
        "beta": lambda k: [random.beta(k, SHAPES, 2.0), random.beta(k, 0.5, 0.5, (2, 3))],
        "dirichlet": lambda k: [random.dirichlet(k, SHAPES), random.dirichlet(k, SHAPES, (2,))],
        "chisquare": lambda k: [random.chisquare(k, SHAPES), random.chisquare(k, 3.0, (2, 3))],
        "t": lambda k: [random.t(k, SHAPES), random.t(k, 3.0, (2, 3))],
        "f": lambda k: [random.f(k, SHAPES, 3.0), random.f(k, 3.0, 4.0, (2, 3))],
        "generalized_normal": lambda k: [random.generalized_normal(k, p, (2, 3)) for p in (1.5, 2)],
        "ball": lambda k: [random.ball(k, 3), random.ball(k, 2, 1.5, (2,))],
        "poisson": lambda k: [
            random.poisson(k, SHAPES * 8),
            random.poisson(k, 4.0, (2, 3)),
            random.poisson(k, 1e4, (3,)),
        ],
        "binomial": lambda k: [
            random.binomial(k, 50, SHAPES / 5),
            random.binomial(k, 9, 0.3, (2, 3)),
            random.binomial(k, 400, 0.7, (5,), jnp.bfloat16),
        ],
        "multinomial": lambda k: [
            random.multinomial(k, 50, SHAPES / SHAPES.sum()),
            random.multinomial(k, np.float32(9), P, shape=(2, 5)),
        ],
        "vmap of gamma": lambda k: [
            jax.vmap(lambda a: random.gamma(a, 2.5, (2,)))(random.split(k, 3)),
            jax.vmap(lambda a: random.gamma(k, a, (2,)))(SHAPES),
        ],
        "vmap of poisson": lambda k: jax.vmap(lambda a, rate: random.poisson(a, rate, (2,)))(
            random.split(k, 3), SHAPES * 8
        ),
        "gradients of rejection": lambda k: [
            jax.grad(lambda a, draw=draw: jnp.sum(draw(a)))(1.5)
            for draw in (
                lambda a: random.gamma(k, a, (3,)),
                lambda a: random.loggamma(k, a, (3,)),
                lambda a: random.beta(k, a, 2.0, (3,)),
                lambda a: random.dirichlet(k, a * SHAPES)[0],
                lambda a: random.chisquare(k, a, (3,)),
                lambda a: random.t(k, a, (3,)),
                lambda a: random.f(k, a, 3.0, (3,)),
                lambda a: random.generalized_normal(k, a, (3,)),
            )
        ],
        "multivariate_normal": lambda k: [
            random.multivariate_normal(k, SHAPES, SPREAD),
            random.multivariate_normal(k, SHAPES, SPREAD, (2,)),
        ],
        "multivariate_normal by eigh": lambda k: random.multivariate_normal(k, SHAPES, SPREAD, method="eigh"),
        "orthogonal": lambda k: [random.orthogonal(k, 3), random.orthogonal(k, 2, (2,), m=3)],
        "orthogonal complex": lambda k: random.orthogonal(k, 2, dtype=jnp.complex64),
    }


FAMILIES = (_keys, _bits, _continuous, _discrete, _rejection)
