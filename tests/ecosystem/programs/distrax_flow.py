"""A coupling flow of Distrax is fitted to a ring; distributions and bijectors beside it."""

import distrax
import jax
import jax.numpy as jnp
import optax

TOLERANCE = 1e-3  # 40 steps of training


def main():
    angles = jnp.linspace(0, 6.2, 64)
    data = jnp.stack([2 * jnp.cos(angles), 2 * jnp.sin(angles)], 1) + 0.1 * jax.random.normal(
        jax.random.key(0), (64, 2)
    )

    def flow(params):
        layers, mask = [], jnp.array([True, False])
        for w in params:
            conditioner = lambda x, w=w: jnp.tanh(x @ w["in"]) @ w["out"]
            bijector = lambda p: distrax.ScalarAffine(shift=p[..., :2], log_scale=jnp.tanh(p[..., 2:]))
            layers.append(distrax.MaskedCoupling(mask=mask, bijector=bijector, conditioner=conditioner))
            mask = ~mask
        base = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
        return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))

    keys = jax.random.split(jax.random.key(1), 4)
    params = [{"in": jax.random.normal(k, (2, 8)), "out": 0.1 * jax.random.normal(k, (8, 4))} for k in keys]
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(lambda p: -flow(p).log_prob(data).mean())(params)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(40):
        params, state, value = step(params, state)
        losses.append(value)
    mixture = distrax.MixtureSameFamily(
        distrax.Categorical(logits=jnp.zeros(2)), distrax.Normal(jnp.array([-1.0, 1.0]), jnp.ones(2))
    )
    hmm = distrax.HMM(
        trans_dist=distrax.Categorical(probs=jnp.array([[0.9, 0.1], [0.2, 0.8]])),
        init_dist=distrax.Categorical(probs=jnp.array([0.5, 0.5])),
        obs_dist=distrax.Normal(jnp.array([0.0, 3.0]), jnp.ones(2)),
    )
    _, _, posterior, _ = hmm.forward_backward(jnp.array([0.1, 2.5, 3.3, -0.2]))
    return {
        "losses": jnp.stack(losses)[::4],
        "mixture": mixture.log_prob(jnp.linspace(-2, 2, 5)),
        "posterior": posterior,
        "kl": distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(1.0, 2.0)),
        "draws": distrax.Gumbel(0.0, 1.0).sample(seed=jax.random.key(2), sample_shape=3),
    }
