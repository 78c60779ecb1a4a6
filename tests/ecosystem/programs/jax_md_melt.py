"""Molecular dynamics of JAX MD: soft spheres are relaxed, then simulated at constant energy with neighbor lists."""

import jax
from jax_md import energy, minimize, simulate, space

TOLERANCE = 1e-3  # a hundred steps of dynamics in float32


def main():
    displacement, shift = space.periodic(5.0)
    positions = jax.random.uniform(jax.random.PRNGKey(0), (30, 2), maxval=5.0)
    soft = energy.soft_sphere_pair(displacement)
    init, apply = minimize.fire_descent(soft, shift)
    relaxed = jax.lax.fori_loop(0, 50, lambda _, s: apply(s), init(positions))
    neighbors, pair = energy.lennard_jones_neighbor_list(displacement, 5.0, sigma=0.8, r_onset=1.2, r_cutoff=1.6)
    table = neighbors.allocate(relaxed.position)
    init, apply = simulate.nve(pair, shift, 1e-3)
    state = init(jax.random.PRNGKey(1), relaxed.position, kT=0.1, neighbor=table)

    @jax.jit
    def run(state, table):
        def step(carry, _):
            state, table = carry
            table = table.update(state.position)
            state = apply(state, neighbor=table)
            return (state, table), pair(state.position, neighbor=table)

        return jax.lax.scan(step, (state, table), None, length=20)

    (state, table), energies = run(state, table)
    return {
        "soft": soft(relaxed.position),
        "energies": energies[::4],
        "positions": state.position,
        "overflow": table.did_buffer_overflow,
        "forces": jax.grad(soft)(positions),
    }
