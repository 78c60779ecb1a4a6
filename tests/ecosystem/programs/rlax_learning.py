"""RLax: returns, Q learning, policy gradients, V-trace and distributional losses; a tabular agent learns."""

import jax
import jax.numpy as jnp
import rlax


def main():
    rewards, discounts = jnp.array([1.0, 0.0, -1.0, 2.0]), jnp.full(4, 0.9)
    values = jnp.array([0.5, 1.0, -0.5, 0.2, 0.8])
    logits = jax.random.normal(jax.random.PRNGKey(0), (4, 3))
    actions = jnp.array([0, 2, 1, 1])

    def loss(table):
        errors = jax.vmap(rlax.q_learning)(table[jnp.arange(4)], actions, rewards, discounts, table[jnp.arange(4) + 1])
        return jnp.mean(rlax.l2_loss(errors))

    table, losses = jnp.zeros((5, 3)), []
    step = jax.jit(jax.value_and_grad(loss))
    for _ in range(30):
        value, gradient = step(table)
        table, losses = table - gradient, [*losses, value]
    vtrace = rlax.vtrace_td_error_and_advantage(
        values[:-1], values[1:], rewards, discounts, jnp.array([0.8, 1.2, 1.0, 0.9])
    )
    return {
        "losses": jnp.stack(losses)[::5],
        "lambda": rlax.lambda_returns(rewards, discounts, values[1:], 0.8),
        "gae": rlax.truncated_generalized_advantage_estimation(rewards, discounts, 0.9, values),
        "gradient": jax.grad(lambda l: rlax.policy_gradient_loss(l, actions, vtrace.pg_advantage, jnp.ones(4)))(logits),
        "entropy": rlax.entropy_loss(logits, jnp.ones(4)),
        "vtrace": vtrace.errors,
        "categorical": rlax.categorical_l2_project(
            jnp.linspace(-1, 1, 5), jnp.full(5, 0.2), jnp.linspace(-0.8, 0.8, 5)
        ),
        "retrace": rlax.retrace(
            logits[:-1],
            logits[1:],
            actions[:-1],
            actions[1:],
            rewards[:-1],
            discounts[:-1],
            jnp.full((3, 3), 1 / 3),
            jnp.full(3, 0.5),
            0.9,
        ),
        "draws": rlax.epsilon_greedy(0.1).sample(jax.random.PRNGKey(1), logits),
    }
