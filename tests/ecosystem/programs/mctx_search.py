"""Monte Carlo tree search of Mctx with a linear model of the environment."""

import jax
import jax.numpy as jnp
import mctx


def main():
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    weights = [jax.random.normal(k, (4, n)) for k, n in zip(keys, (3, 1, 4), strict=True)]

    def evaluate(state):
        return state @ weights[0], jnp.tanh(state @ weights[1])[:, 0]

    def recurrent(params, key, action, state):
        state = jnp.tanh(state @ weights[2] + jax.nn.one_hot(action, 4))
        logits, value = evaluate(state)
        output = mctx.RecurrentFnOutput(
            reward=state[:, 0], discount=jnp.full(state.shape[0], 0.9), prior_logits=logits, value=value
        )
        return output, state

    state = jnp.linspace(-1, 1, 8).reshape(2, 4)
    logits, value = evaluate(state)
    root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)

    @jax.jit
    def gumbel(key):
        return mctx.gumbel_muzero_policy(None, key, root, recurrent, num_simulations=16, max_num_considered_actions=3)

    @jax.jit
    def muzero(key):
        return mctx.muzero_policy(None, key, root, recurrent, num_simulations=16)

    a, b = gumbel(jax.random.PRNGKey(1)), muzero(jax.random.PRNGKey(2))
    return {
        "actions": jnp.stack([a.action, b.action]),
        "gumbel": a.action_weights,
        "muzero": b.action_weights,
        "visits": b.search_tree.summary().visit_counts,
        "values": a.search_tree.summary().value,
    }
