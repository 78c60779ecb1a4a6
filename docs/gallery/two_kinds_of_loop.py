"""
Where the time goes
===================

The same sum as a Python loop, a `fori_loop` and one array operation: `explain` says where each step of the
compiled program runs, and for how long.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax


def python_loop(x):
    total = jnp.float32(0)
    for i in range(x.shape[0]):
        total = total + jnp.sin(x[i]) * i
    return total


def structured_loop(x):
    return lax.fori_loop(0, x.shape[0], lambda i, total: total + jnp.sin(x[i]) * i, jnp.float32(0))


def one_operation(x):
    return jnp.sum(jnp.sin(x) * jnp.arange(x.shape[0]))


def seconds(function, *args):
    start = time.perf_counter()
    function(*args).block_until_ready()
    return time.perf_counter() - start


x = jnp.linspace(0, 1, 300)
times = {}
for name in ("python_loop", "structured_loop", "one_operation"):
    compiled = jax.jit(globals()[name])
    first = seconds(compiled, x)
    times[name] = first, min(seconds(compiled, x) for _ in range(200))
    print(f"{name:16} first call {first * 1e3:7.2f} ms, later {times[name][1] * 1e6:6.1f} µs")
print(jax.explain(jax.jit(structured_loop))(x))

fig, axes = plt.subplots(figsize=(6, 3.2))
places = np.arange(3)
axes.bar(places - 0.2, [a * 1e6 for a, _ in times.values()], 0.4, label="first call: trace and compile")
axes.bar(places + 0.2, [b * 1e6 for _, b in times.values()], 0.4, label="later calls")
axes.set(yscale="log", ylabel="µs", xticks=places, xticklabels=list(times))
axes.legend()
plt.show()
values = [float(globals()[name](x)) for name in times]
assert np.allclose(values, values[0], rtol=1e-4)
