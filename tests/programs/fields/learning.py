"""Unsupervised models and linear methods: EM, k-means, mean shift, factorizations, kernels, eigenvectors."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {
        **mixture(jax), **clusters(jax), **factors(jax), **gaussian_process(jax), **random_features(jax),
        **eigenvectors(jax), **systems(jax), **transport(jax), **embedding(jax),
    }  # fmt: skip


def blobs(jax, count=300, size=2):
    """Points around four centres."""
    rng = np.random.default_rng(22)
    centres = rng.normal(size=(4, size), scale=4)
    return jax.numpy.asarray((centres[rng.integers(0, 4, count)] + rng.normal(size=(count, size))).astype(np.float32))


def mixture(jax):
    """Expectation and maximization of a mixture of Gaussians with full covariances."""
    jnp, lax, linalg = jax.numpy, jax.lax, jax.scipy.linalg
    x = blobs(jax)

    def log_density(x, mean, cov):
        root = jnp.linalg.cholesky(cov)
        z = linalg.solve_triangular(root, (x - mean).T, lower=True)
        return -0.5 * jnp.sum(z**2, 0) - jnp.sum(jnp.log(jnp.diag(root))) - jnp.log(2 * jnp.pi)

    def expect(x, shares, means, covs):
        joint = jnp.log(shares) + jax.vmap(log_density, (None, 0, 0), 1)(x, means, covs)
        total = jax.nn.logsumexp(joint, axis=1)
        return jnp.exp(joint - total[:, None]), total.mean()

    def maximize(x, member):
        counts = member.sum(0)
        means = member.T @ x / counts[:, None]
        gaps = x[:, None] - means
        covs = jnp.einsum("nk,nki,nkj->kij", member, gaps, gaps) / counts[:, None, None]
        return counts / x.shape[0], means, covs + 1e-3 * jnp.eye(x.shape[1])

    def step(model, _):
        member, fit = expect(x, *model)
        return maximize(x, member), fit

    start = (jnp.full(4, 0.25), x[:4], jnp.broadcast_to(4 * jnp.eye(2), (4, 2, 2)))
    return {
        "mixture of Gaussians: step": (lambda *m: step(m, None), start),
        "mixture of Gaussians: 10 steps": (lambda *m: lax.scan(step, m, None, 10), start),
    }


def clusters(jax):
    """k-means, and mean shift."""
    jnp, lax = jax.numpy, jax.lax
    x = blobs(jax)

    def assign(x, centres):
        return jnp.argmin(jnp.sum((x[:, None] - centres) ** 2, -1), 1)

    def lloyd(x, centres):
        label = assign(x, centres)
        sums = jax.ops.segment_sum(x, label, 4)
        counts = jax.ops.segment_sum(jnp.ones(x.shape[0]), label, 4)
        return jnp.where(counts[:, None] > 0, sums / jnp.maximum(counts, 1)[:, None], centres)

    def kmeans(x, centres):
        def step(state):
            centres, _, count = state
            new = lloyd(x, centres)
            return new, jnp.max(jnp.abs(new - centres)), count + 1

        settled = lambda s: (s[1] > 1e-4) & (s[2] < 50)
        centres, _, _ = lax.while_loop(settled, step, (centres, jnp.float32(1), 0))
        return centres, assign(x, centres)

    def shift(places, x):
        near = jnp.exp(-0.5 * jnp.sum((places[:, None] - x) ** 2, -1))
        return near @ x / near.sum(1, keepdims=True)

    return {
        "k-means: step": (lloyd, (x, x[:4])),
        "k-means: until it settles": (kmeans, (x, x[:4])),
        "mean shift: step": (shift, (x[:64], x)),
        "mean shift: 10 steps": (lambda p, x: lax.fori_loop(0, 10, lambda _, p: shift(p, x), p), (x[:64], x)),
    }


def factors(jax):
    """Factors of a rating table: alternating least squares, non-negative factors, stochastic descent."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    rng = np.random.default_rng(23)
    table = jnp.asarray((rng.uniform(size=(40, 4)) @ rng.uniform(size=(4, 30))).astype(np.float32))
    seen = jnp.asarray(rng.uniform(size=(40, 30)) < 0.5)
    u, v = (jnp.asarray(rng.uniform(size=(n, 4)).astype(np.float32)) for n in (40, 30))

    def solve(table, seen, v):
        def row(ratings, mask):
            kept = v * mask[:, None]
            return jnp.linalg.solve(kept.T @ v + 0.1 * jnp.eye(4), kept.T @ ratings)

        return jax.vmap(row)(table, seen)

    def alternate(state, _):
        _, v = state
        u = solve(table, seen, v)
        v = solve(table.T, seen.T, u)
        return (u, v), jnp.sum(jnp.where(seen, table - u @ v.T, 0) ** 2)

    def multiplicative(state, _):
        u, v = state
        u = u * (table @ v) / (u @ (v.T @ v) + 1e-6)
        v = v * (table.T @ u) / (v @ (u.T @ u) + 1e-6)
        return (u, v), None

    def descend(state, key):
        u, v = state
        i, j = random.randint(key, (2, 16), 0, jnp.array([[40], [30]]))
        gap = table[i, j] - jnp.sum(u[i] * v[j], -1)
        new_u = u.at[i].add(0.05 * gap[:, None] * v[j])
        return (new_u, v.at[j].add(0.05 * gap[:, None] * u[i])), jnp.mean(gap**2)

    keys = random.split(random.key(9), 50)
    return {
        "alternating least squares: step": (lambda *s: alternate(s, None), (u, v)),
        "alternating least squares: 5 steps": (lambda *s: lax.scan(alternate, s, None, 5), (u, v)),
        "non-negative factors: 20 steps": (lambda *s: lax.scan(multiplicative, s, None, 20)[0], (u, v)),
        "factors by stochastic descent: 50 steps": (lambda u, v, k: lax.scan(descend, (u, v), k)[1], (u, v, keys)),
    }


def gaussian_process(jax):
    """Regression by a Gaussian process: likelihood, its gradient, prediction."""
    jnp, linalg = jax.numpy, jax.scipy.linalg
    rng = np.random.default_rng(24)
    x = jnp.asarray(np.sort(rng.uniform(0, 10, 60)).astype(np.float32))
    y = jnp.sin(x) + jnp.asarray(rng.normal(size=60, scale=0.1).astype(np.float32))

    def kernel(a, b, p):
        return jnp.exp(p[0]) * jnp.exp(-0.5 * ((a[:, None] - b) / jnp.exp(p[1])) ** 2)

    def factor(p, x):
        return linalg.cho_factor(kernel(x, x, p) + jnp.exp(p[2]) * jnp.eye(x.shape[0]), lower=True)

    def loss(p, x, y):
        root = factor(p, x)
        return 0.5 * y @ linalg.cho_solve(root, y) + jnp.sum(jnp.log(jnp.diag(root[0])))

    def predict(p, x, y, new):
        root, cross = factor(p, x), kernel(new, x, p)
        spread = kernel(new, new, p) - cross @ linalg.cho_solve(root, cross.T)
        return cross @ linalg.cho_solve(root, y), jnp.diag(spread)

    p, new = jnp.asarray([0.0, 0.0, -2.0]), jnp.linspace(0.0, 10.0, 40)
    return {
        "Gaussian process: likelihood": (loss, (p, x, y)),
        "Gaussian process: gradient": (jax.value_and_grad(loss), (p, x, y)),
        "Gaussian process: prediction": (predict, (p, x, y, new)),
    }


def random_features(jax):
    """Ridge regression on random Fourier features, and its score on each part left out."""
    jnp, random = jax.numpy, jax.random
    x = blobs(jax, 200)
    y = jnp.sin(x[:, 0]) * jnp.cos(x[:, 1])

    def features(key, x):
        w, b = random.split(key)
        return jnp.cos(x @ random.normal(w, (2, 48)) + random.uniform(b, (48,), maxval=2 * jnp.pi)) / 24**0.5

    def fit(z, y, mask):
        kept = z * mask[:, None]
        return jnp.linalg.solve(kept.T @ z + 0.1 * jnp.eye(48), kept.T @ y)

    def validate(key, x, y):
        z = features(key, x)
        part = jnp.arange(200) % 5

        def score(k):
            gap = (y - z @ fit(z, y, part != k)) * (part == k)
            return jnp.sum(gap**2) / 40

        return jax.vmap(score)(jnp.arange(5))

    def train(key, x, y):
        return fit(features(key, x), y, jnp.ones(200))

    return {
        "random features: fit": (train, (random.key(10), x, y)),
        "random features: cross-validation": (validate, (random.key(10), x, y)),
    }


def eigenvectors(jax):
    """The largest eigenvectors by powers and by Lanczos' method, and the rank of pages."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(25)
    a = rng.normal(size=(64, 64)).astype(np.float32)
    a = jnp.asarray(a @ a.T / 64)

    def power(a, v):
        def step(v, _):
            w = a @ v
            return w / jnp.linalg.norm(w), v @ w

        return lax.scan(step, v, None, 30)[1]

    def lanczos(a, v):
        def step(state, _):
            v, before, beta = state
            w = a @ v - beta * before
            alpha = w @ v
            w = w - alpha * v
            beta = jnp.linalg.norm(w)
            return (w / beta, v, beta), (alpha, beta)

        _, (alphas, betas) = lax.scan(step, (v, jnp.zeros_like(v), jnp.float32(0)), None, 8)
        return jnp.diag(alphas) + jnp.diag(betas[:-1], 1) + jnp.diag(betas[:-1], -1)

    def subspace(a, q):
        def step(q, _):
            q, r = jnp.linalg.qr(a @ q)
            return q * jnp.sign(jnp.diag(r)), jnp.abs(jnp.diag(r))

        return lax.scan(step, q, None, 10)[1][-1]

    def page_rank(source, target, rank):
        degree = jnp.zeros(200).at[source].add(1.0)

        def step(state):
            rank, _, count = state
            flow = jnp.zeros(200).at[target].add((rank / jnp.maximum(degree, 1))[source])
            new = 0.15 / 200 + 0.85 * (flow + jnp.sum(jnp.where(degree == 0, rank, 0)) / 200)
            return new, jnp.sum(jnp.abs(new - rank)), count + 1

        return lax.while_loop(lambda s: (s[1] > 1e-4) & (s[2] < 100), step, (rank, jnp.float32(1), 0))[0]

    v = jnp.ones(64) / 8
    edges = [jnp.asarray(rng.integers(0, 200, 1000)) for _ in range(2)]
    return {
        "power iteration": (power, (a, v)),
        "Lanczos": (lanczos, (a, v)),
        "subspace iteration": (subspace, (a, jnp.eye(64, 4))),
        "page rank": (page_rank, (*edges, jnp.full(200, 1 / 200))),
    }


def systems(jax):
    """Linear systems without a matrix: conjugate gradients, preconditioned, and Jacobi-Davidson's inner solve."""
    jnp, lax = jax.numpy, jax.lax
    b = jnp.asarray(np.random.default_rng(26).normal(size=(24, 24)).astype(np.float32))

    def operator(u):
        u = jnp.pad(u, 1)
        return 5 * u[1:-1, 1:-1] - u[2:, 1:-1] - u[:-2, 1:-1] - u[1:-1, 2:] - u[1:-1, :-2]

    def step(x, r, p, rr):
        q = operator(p)
        alpha = rr / jnp.vdot(p, q)
        x, r = x + alpha * p, r - alpha * q
        new = jnp.vdot(r, r)
        return x, r, r + new / rr * p, new

    def solve(b):
        going = lambda s: (s[3] > 1e-4) & (s[4] < 200)
        start = (jnp.zeros_like(b), b, b, jnp.vdot(b, b), 0)
        return lax.while_loop(going, lambda s: (*step(*s[:4]), s[4] + 1), start)[0]

    def library(b):
        return jax.scipy.sparse.linalg.cg(operator, b, tol=1e-3, maxiter=50)[0]

    return {
        "conjugate gradients: step": (step, (b * 0, b, b, jnp.vdot(b, b))),
        "conjugate gradients: until it settles": (solve, (b,)),
        "conjugate gradients: of the library": (library, (b,)),
        "conjugate gradients: gradient": (jax.grad(lambda b: jnp.sum(library(b) ** 2)), (b,)),
    }


def transport(jax):
    """Optimal transport by Sinkhorn's method in logarithms, and its gradient."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    x, y = blobs(jax, 48), blobs(jax, 64)[16:] * 0.8

    def sinkhorn(x, y, strength=1.0):
        cost = jnp.sum((x[:, None] - y) ** 2, -1)

        def step(state, _):
            f, g = state
            f = -strength * nn.logsumexp((g - cost) / strength - jnp.log(48.0), axis=1)
            g = -strength * nn.logsumexp((f[:, None] - cost) / strength - jnp.log(48.0), axis=0)
            return (f, g), None

        (f, g), _ = lax.scan(step, (jnp.zeros(48), jnp.zeros(48)), None, 20)
        plan = jnp.exp((f[:, None] + g - cost) / strength) / 48**2
        return jnp.sum(plan * cost)

    return {
        "Sinkhorn: transport": (sinkhorn, (x, y)),
        "Sinkhorn: gradient": (jax.grad(sinkhorn), (x, y)),
    }


def embedding(jax):
    """A step of t-SNE, and principal components."""
    jnp = jax.numpy
    x = blobs(jax, 80, 6)

    def affinities(x, width=4.0):
        square = jnp.sum((x[:, None] - x) ** 2, -1)
        near = jnp.where(jnp.eye(80, dtype=bool), 0.0, jnp.exp(-square / width))
        near = near / near.sum(1, keepdims=True)
        return (near + near.T) / 160

    def loss(y, p):
        near = jnp.where(jnp.eye(80, dtype=bool), 0.0, 1 / (1 + jnp.sum((y[:, None] - y) ** 2, -1)))
        return jnp.sum(p * (jnp.log(p + 1e-9) - jnp.log(near / near.sum() + 1e-9)))

    def step(y, velocity, p):
        velocity = 0.5 * velocity - 10.0 * jax.grad(loss)(y, p)
        return y + velocity, velocity

    def components(x):
        gaps = x - x.mean(0)
        _, sizes, rows = jnp.linalg.svd(gaps, full_matrices=False)
        return sizes, jnp.abs(gaps @ rows[:2].T)

    y = x[:, :2] * 0.1
    return {
        "t-SNE: affinities": (affinities, (x,)),
        "t-SNE: step": (step, (y, jnp.zeros((80, 2)), affinities(x))),
        "principal components": (components, (x,)),
    }
