"""A graph network of Jraph on padded batches of graphs is trained."""

import jax
import jax.numpy as jnp
import jraph


def graph(n, key):
    senders = jnp.concatenate([jnp.arange(n), jnp.arange(n)])
    receivers = (senders + jnp.concatenate([jnp.ones(n, int), jnp.full(n, 2)])) % n
    return jraph.GraphsTuple(
        nodes=jax.random.normal(key, (n, 3)),
        edges=jnp.ones((2 * n, 1)),
        senders=senders,
        receivers=receivers,
        globals=jnp.zeros((1, 2)),
        n_node=jnp.array([n]),
        n_edge=jnp.array([2 * n]),
    )


def main():
    graphs = [graph(n, jax.random.PRNGKey(n)) for n in (4, 5, 7)]
    batch = jraph.pad_with_graphs(jraph.batch(graphs), 20, 40, 5)
    mask = jraph.get_graph_padding_mask(batch)
    target = jnp.array([4.0, 5.0, 7.0, 0.0, 0.0]) / 5
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = {
        "edge": 0.3 * jax.random.normal(keys[0], (9, 4)),
        "node": 0.3 * jax.random.normal(keys[1], (13, 4)),
        "global": 0.3 * jax.random.normal(keys[2], (10, 1)),
    }

    def apply(params):
        network = jraph.GraphNetwork(
            update_edge_fn=lambda e, s, r, g: jax.nn.relu(jnp.concatenate([e, s, r, g], 1) @ params["edge"]),
            update_node_fn=lambda n, s, r, g: jax.nn.relu(jnp.concatenate([n, s, r, g], 1) @ params["node"]),
            update_global_fn=lambda n, e, g: jnp.concatenate([n, e, g], 1) @ params["global"],
        )
        return network(batch).globals[:, 0]

    @jax.jit
    def step(params):
        value, gradient = jax.value_and_grad(lambda p: jnp.sum(mask * (apply(p) - target) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradient), value

    losses = []
    for _ in range(40):
        params, value = step(params)
        losses.append(value)
    attention = jraph.segment_softmax(batch.edges[:, 0], batch.receivers, 20)
    return {"losses": jnp.stack(losses)[::4], "out": apply(params), "attention": attention}
