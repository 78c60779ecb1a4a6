"""e3nn: an equivariant polynomial of spherical harmonics is trained; rotating the input leaves the result as it is."""

import e3nn_jax as e3nn
import jax
import jax.numpy as jnp


def main():
    positions = jax.random.normal(jax.random.PRNGKey(0), (5, 3))
    linear = e3nn.Irreps("4x0e + 2x1o + 1x2e")
    weights = {
        "scale": jax.random.normal(jax.random.PRNGKey(1), (4,)),
        "mix": jax.random.normal(jax.random.PRNGKey(2), (3,)),
    }

    def energy(weights, positions):
        harmonics = e3nn.spherical_harmonics("0e + 1o + 2e", e3nn.IrrepsArray("1o", positions), True)
        summed = e3nn.sum(harmonics, axis=0)
        product = e3nn.tensor_product(summed, summed, filter_ir_out=["0e"])
        return jnp.sum(product.array[: len(weights["mix"])] * weights["mix"]) + jnp.sum(weights["scale"])

    rotation = e3nn.rand_matrix(jax.random.PRNGKey(3), ())
    step = jax.jit(jax.value_and_grad(lambda w: (energy(w, positions) - 1.0) ** 2))
    losses = []
    for _ in range(10):
        value, gradient = step(weights)
        weights = jax.tree.map(lambda w, g: w - 1e-4 * g, weights, gradient)
        losses.append(value)
    wigner = e3nn.IrrepsArray(linear, jnp.ones(linear.dim)).transform_by_angles(0.1, 0.2, 0.3)
    return {
        "losses": jnp.stack(losses),
        "invariant": energy(weights, positions @ rotation.T) - energy(weights, positions) < 1e-3,
        "energy": energy(weights, positions),
        "wigner": wigner.array,
        "norm": e3nn.norm(wigner).array,
        "gate": e3nn.scalar_activation(e3nn.IrrepsArray("3x0e", jnp.arange(3.0)), [jax.nn.gelu]).array,
    }
