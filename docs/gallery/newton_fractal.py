"""
Newton's method, and where it ends
==================================

For each start in the complex plane: which root of a polynomial Newton's method finds, and in how many steps.
The loop is a `while_loop` under `vmap`, and the derivative comes from `grad` of a holomorphic function.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax


def polynomial(z):
    return z**5 + z**2 - 1


slope = jax.grad(polynomial, holomorphic=True)


def newton(z):
    def go_on(state):
        z, steps = state
        return (jnp.abs(polynomial(z)) > 1e-5) & (steps < 60)

    def step(state):
        z, steps = state
        return z - polynomial(z) / slope(z), steps + 1

    return lax.while_loop(go_on, step, (z, 0))


axis = jnp.linspace(-1.8, 1.8, 220)
starts = axis[None, :] + 1j * axis[::-1, None]
ends, steps = jax.jit(jax.vmap(jax.vmap(newton)))(starts.astype(jnp.complex64))

roots = jnp.roots(jnp.array([1.0, 0.0, 0.0, 1.0, 0.0, -1.0]), strip_zeros=False)
which = jnp.argmin(jnp.abs(ends[..., None] - roots), axis=-1)
distance = jnp.min(jnp.abs(ends[..., None] - roots), axis=-1)
print("roots:", np.round(np.asarray(roots), 3))
print(f"{float((steps < 60).mean()):.2%} of the starts arrive, in {float(jnp.mean(steps)):.1f} steps on average")

colors = plt.get_cmap("Set2")(np.asarray(which))
colors[..., :3] *= np.clip(1.15 - np.asarray(steps)[..., None] / 25, 0.15, 1)
fig, axes = plt.subplots(figsize=(5.5, 5.5))
axes.imshow(np.clip(colors, 0, 1), extent=(-1.8, 1.8, -1.8, 1.8))
axes.plot(np.real(roots), np.imag(roots), "k.", ms=5)
plt.show()
assert float((distance < 1e-3).mean()) > 0.99
