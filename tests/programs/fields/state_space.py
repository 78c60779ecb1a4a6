"""Models with a hidden state: Kalman filter and smoother, hidden Markov model, particle filter."""

import numpy as np


def programs(jax):
    """name -> (function, arguments)."""
    return {**kalman(jax), **unscented(jax), **markov(jax), **particles(jax)}


def kalman(jax):
    """Tracking a moving point: filter, log-likelihood and its gradient, smoother."""
    jnp, lax = jax.numpy, jax.lax
    rng = np.random.default_rng(2)
    dt = 0.1
    motion = jnp.asarray(np.kron([[1, dt], [0, 1]], np.eye(2)), jnp.float32)
    sight = jnp.eye(2, 4)
    observed = jnp.asarray(np.cumsum(rng.normal(size=(100, 2), scale=0.2), 0), jnp.float32)

    def predict(mean, cov, noise):
        return motion @ mean, motion @ cov @ motion.T + noise * jnp.eye(4)

    def update(mean, cov, y, noise):
        innovation = y - sight @ mean
        spread = sight @ cov @ sight.T + noise * jnp.eye(2)
        gain = jnp.linalg.solve(spread, sight @ cov).T
        new = (jnp.eye(4) - gain @ sight) @ cov
        fit = -0.5 * (innovation @ jnp.linalg.solve(spread, innovation) + jnp.linalg.slogdet(2 * jnp.pi * spread)[1])
        return mean + gain @ innovation, new, fit

    def step(state, y, q=0.01, r=0.1):
        predicted = predict(*state, q)
        mean, cov, fit = update(*predicted, y, r)
        return (mean, cov), (mean, cov, *predicted, fit)

    start = (jnp.zeros(4), jnp.eye(4))

    def log_likelihood(log_noises, observed):
        q, r = jnp.exp(log_noises)
        return lax.scan(lambda s, y: step(s, y, q, r), start, observed)[1][-1].sum()

    def smoother(observed):
        _, (means, covs, ahead, ahead_covs, _) = lax.scan(step, start, observed)

        def back(later, now):
            mean, cov, predicted, predicted_cov = now
            gain = jnp.linalg.solve(predicted_cov, motion @ cov).T
            mean = mean + gain @ (later[0] - predicted)
            cov = cov + gain @ (later[1] - predicted_cov) @ gain.T
            return (mean, cov), mean

        last = (means[-1], covs[-1])
        return lax.scan(back, last, (means[:-1], covs[:-1], ahead[1:], ahead_covs[1:]), reverse=True)[1]

    noises = jnp.log(jnp.asarray([0.01, 0.1]))
    return {
        "Kalman filter: step": (step, (start, observed[0])),
        "Kalman filter: 100 steps": (lambda ys: lax.scan(step, start, ys)[0], (observed,)),
        "Kalman filter: gradient of the likelihood": (jax.value_and_grad(log_likelihood), (noises, observed)),
        "Kalman smoother": (smoother, (observed,)),
    }


def unscented(jax):
    """The unscented Kalman filter of a vehicle seen from its bearing and distance."""
    jnp = jax.numpy

    def points(mean, cov):
        root = jnp.linalg.cholesky(5.0 * cov)
        return jnp.concatenate([mean[None], mean + root.T, mean - root.T])

    weights = jnp.asarray([0.2, *[0.1] * 8])

    def moments(x, noise):
        mean = weights @ x
        gap = x - mean
        return mean, (weights[:, None] * gap).T @ gap + noise

    def drive(x):
        place, heading, speed = x[:2], x[2], x[3]
        return jnp.concatenate([place + 0.1 * speed * jnp.stack([jnp.cos(heading), jnp.sin(heading)]), x[2:]])

    def measure(x):
        return jnp.stack([jnp.arctan2(x[1], x[0]), jnp.hypot(x[0], x[1])])

    def step(mean, cov, y):
        x = jax.vmap(drive)(points(mean, cov))
        mean, cov = moments(x, 0.01 * jnp.eye(4))
        x = points(mean, cov)
        z = jax.vmap(measure)(x)
        seen, spread = moments(z, 0.05 * jnp.eye(2))
        cross = (weights[:, None] * (x - mean)).T @ (z - seen)
        gain = jnp.linalg.solve(spread, cross.T).T
        return mean + gain @ (y - seen), cov - gain @ spread @ gain.T

    start = (jnp.asarray([1.0, 2.0, 0.3, 1.0]), 0.2 * jnp.eye(4))
    return {"unscented Kalman filter: step": (step, (*start, jnp.asarray([1.1, 2.3])))}


def markov(jax):
    """A hidden Markov model: likelihood, most likely path, posterior, one round of Baum and Welch."""
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    rng = np.random.default_rng(3)
    logits = lambda *shape: jnp.asarray(rng.normal(size=shape).astype(np.float32))
    initial, change, emit = (nn.log_softmax(logits(*s), -1) for s in ((8,), (8, 8), (8, 16)))
    seen = jnp.asarray(rng.integers(0, 16, 120))

    def forward(initial, change, emit, seen):
        def step(alpha, y):
            alpha = nn.logsumexp(alpha[:, None] + change, axis=0) + emit[:, y]
            return alpha, alpha

        first = initial + emit[:, seen[0]]
        last, rest = lax.scan(step, first, seen[1:])
        return nn.logsumexp(last), jnp.concatenate([first[None], rest])

    def viterbi(initial, change, emit, seen):
        def step(score, y):
            options = score[:, None] + change
            return options.max(0) + emit[:, y], options.argmax(0)

        score, came_from = lax.scan(step, initial + emit[:, seen[0]], seen[1:])
        last = score.argmax()
        _, path = lax.scan(lambda state, back: (back[state], back[state]), last, came_from, reverse=True)
        return jnp.append(path, last), score.max()

    def posterior(initial, change, emit, seen):
        total, alphas = forward(initial, change, emit, seen)

        def step(beta, y):
            return nn.logsumexp(change + emit[:, y] + beta, axis=1), beta

        _, betas = lax.scan(step, jnp.zeros(8), seen, reverse=True)
        return jnp.exp(alphas + betas - total), total

    def learn(initial, change, emit, seen):
        slopes = jax.grad(lambda *p: forward(*p, seen)[0], argnums=(0, 1, 2))(initial, change, emit)
        counts = [jnp.exp(p) * 0 + g + 1e-3 for p, g in zip((initial, change, emit), slopes)]
        return [jnp.log(c / c.sum(-1, keepdims=True)) for c in counts]

    model = (initial, change, emit, seen)
    return {
        "hidden Markov model: likelihood": (lambda *a: forward(*a)[0], model),
        "hidden Markov model: most likely path": (viterbi, model),
        "hidden Markov model: posterior": (posterior, model),
        "hidden Markov model: learning": (learn, model),
        "hidden Markov model: 16 likelihoods": (
            jax.vmap(lambda *a: forward(*a)[0], in_axes=(None, None, None, 0)),
            (*model[:3], jnp.asarray(rng.integers(0, 16, (16, 60)))),
        ),
    }


def particles(jax):
    """A particle filter of a stochastic volatility model, with systematic resampling."""
    jnp, lax, random = jax.numpy, jax.lax, jax.random
    returns = jnp.asarray(np.random.default_rng(4).normal(size=50, scale=0.8).astype(np.float32))

    def resample(key, weights, x):
        places = (random.uniform(key) + jnp.arange(x.shape[0])) / x.shape[0]
        return x[jnp.minimum(jnp.searchsorted(jnp.cumsum(weights), places), x.shape[0] - 1)]

    def step(state, y):
        key, x = state
        key, moving, choosing = random.split(key, 3)
        x = 0.95 * x + 0.3 * random.normal(moving, x.shape)
        log_weights = -0.5 * (x + y**2 * jnp.exp(-x))
        top = log_weights.max()
        weights = jnp.exp(log_weights - top)
        total = weights.sum()
        return (key, resample(choosing, weights / total, x)), (top + jnp.log(total / x.shape[0]), x.mean())

    start = (random.key(0), jnp.zeros(256))
    return {
        "particle filter: step": (lambda key, x, y: step((key, x), y)[1], (*start, returns[0])),
        "particle filter: 10 steps": (lambda key, x, ys: lax.scan(step, (key, x), ys)[1], (*start, returns[:10])),
    }
