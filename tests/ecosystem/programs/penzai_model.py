"""A model of Penzai's layers with named axes: selection, patching and a gradient step."""

import jax
import jax.numpy as jnp
from penzai import pz


def main():
    model = pz.nn.Sequential(
        [
            pz.nn.Linear.from_config("a", jax.random.key(0), {"features": 4}, {"features": 8}),
            pz.nn.Elementwise(jax.nn.tanh),
            pz.nn.Linear.from_config("b", jax.random.key(1), {"features": 8}, {"features": 2}),
        ]
    )
    x = pz.nx.wrap(jnp.linspace(-1, 1, 12).reshape(3, 4)).tag("batch", "features")

    def loss(params, frozen):
        out = pz.bind_variables(frozen, params)(x)
        return (out.untag("batch", "features").unwrap() ** 2).mean()

    frozen, params = pz.unbind_params(model, freeze=True)
    value, gradient = jax.jit(jax.value_and_grad(lambda p: loss(p, frozen)))(params)
    stepped = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradient)
    patched = pz.select(model).at_instances_of(pz.nn.Elementwise).set(pz.nn.Elementwise(jnp.sin))
    named = pz.nx.nmap(jnp.dot)(x.untag("features"), x.untag("features"))
    return {
        "value": value,
        "after": loss(stepped, frozen),
        "out": model(x).untag("batch", "features").unwrap(),
        "patched": patched(x).untag("batch", "features").unwrap(),
        "named": named.untag("batch").unwrap(),
    }
