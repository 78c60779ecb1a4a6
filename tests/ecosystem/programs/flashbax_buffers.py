"""Replay buffers of Flashbax: transitions are added, sampled, and their priorities changed, under jit."""

import flashbax
import jax
import jax.numpy as jnp


def main():
    item = {"observation": jnp.zeros(3), "reward": jnp.zeros(())}
    buffer = flashbax.make_flat_buffer(max_length=16, min_length=4, sample_batch_size=4)
    state = buffer.init(item)
    add, sample = jax.jit(buffer.add), jax.jit(buffer.sample)
    for i in range(20):
        state = add(state, {"observation": jnp.full(3, i, jnp.float32), "reward": jnp.float32(i)})
    batch = sample(state, jax.random.key(0)).experience
    weighted = flashbax.make_prioritised_trajectory_buffer(
        sample_batch_size=4,
        sample_sequence_length=2,
        period=1,
        add_batch_size=1,
        min_length_time_axis=4,
        max_length_time_axis=32,
        priority_exponent=0.6,
        device="cpu",
    )
    priorities = weighted.init(item)
    for i in range(10):
        priorities = weighted.add(
            priorities, {"observation": jnp.full((1, 1, 3), i, jnp.float32), "reward": jnp.full((1, 1), i, jnp.float32)}
        )
    drawn = weighted.sample(priorities, jax.random.key(1))
    priorities = weighted.set_priorities(priorities, drawn.indices, jnp.arange(1.0, 5.0))
    again = weighted.sample(priorities, jax.random.key(2))
    return {
        "first": batch.first["reward"],
        "second": batch.second["reward"],
        "can": buffer.can_sample(state),
        "drawn": drawn.experience["reward"],
        "again": again.experience["reward"],
        "probabilities": again.probabilities,
    }
