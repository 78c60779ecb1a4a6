"""A training state is saved with Orbax, restored into abstract arrays, and training goes on."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp


def main():
    optimizer = optax.adam(0.1)
    target = jnp.arange(4.0)

    @jax.jit
    def step(params, state):
        value, gradient = jax.value_and_grad(lambda p: jnp.sum((p["w"] - target) ** 2))(params)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state, value

    params = {"w": jnp.zeros(4), "half": jnp.ones(3, jnp.bfloat16)}
    state = optimizer.init(params)
    for _ in range(10):
        params, state, _ = step(params, state)
    with tempfile.TemporaryDirectory() as folder:
        with ocp.CheckpointManager(
            Path(folder) / "run", options=ocp.CheckpointManagerOptions(max_to_keep=2)
        ) as manager:
            for i in range(3):
                manager.save(i, args=ocp.args.StandardSave({"params": params, "state": state}))
            manager.wait_until_finished()
            kept = manager.all_steps()
            abstract = jax.tree.map(ocp.utils.to_shape_dtype_struct, {"params": params, "state": state})
            restored = manager.restore(2, args=ocp.args.StandardRestore(abstract))
    again, state, value = step(restored["params"], restored["state"])
    return {"w": again["w"], "value": value, "kept": jnp.array(kept), "half": again["half"].astype(jnp.float32)}
