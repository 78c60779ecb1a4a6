"""
Strict mode finds a silent bug
==============================

Out of bounds, an index is clamped: as on accelerators, nothing raises. Here the last bin of a histogram
collects what lies beyond it. `onax.strict()` says so, with the line.
"""

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp

values = 2.5 * jax.random.normal(jax.random.key(0), (5000,))


def density(values, table):
    bins = jnp.floor((values + 5) * 2).astype(int)  # 20 bins from -5 to 5, so -5.5 and 7 have none
    return table[bins]


table = jnp.exp(-0.5 * (jnp.linspace(-4.75, 4.75, 20) / 2.5) ** 2)
looked_up = density(values, table)

try:
    with jax.strict():
        density(values, table)
except jax.errors.OutOfBoundsError as error:
    print(error.message)
    caught = True

exact = jnp.exp(-0.5 * (values / 2.5) ** 2)
fig, axes = plt.subplots(figsize=(7, 3.6))
axes.plot(values, exact, ".", ms=2, label="exact")
axes.plot(values, looked_up, ".", ms=2, label="from the table")
beyond = np.abs(values) > 5
axes.plot(values[beyond], looked_up[beyond], "r.", ms=3, label="out of bounds: wrong, and silent")
axes.legend(loc="upper right")
plt.show()
assert caught and beyond.any()
