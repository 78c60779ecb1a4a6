"""
A program, drawn
================

`onax.visualize` draws the jaxpr of a function, of its gradient, or the ONNX graph that it becomes. Here the
boxes are counted instead of drawn: how many operations a gradient adds, and how many the compiler takes away
again.
"""

import collections

import matplotlib.pyplot as plt

import onax as jax
import onax.numpy as jnp


def loss(w, x):
    h = jnp.tanh(x @ w)
    return jnp.mean(jax.nn.softmax(h) * h)


def operations(jaxpr, counts):
    """Counts the equations of a program, those of the programs inside it included."""
    for equation in jaxpr.eqns:
        inner = [p for p in equation.params.values() if hasattr(p, "eqns")]
        if inner:
            for program in inner:
                operations(program, counts)
        else:
            counts[equation.primitive.name] += 1
    return counts


w, x = jnp.ones((8, 8)), jnp.ones((4, 8))
programs = {
    "loss": jax.make_jaxpr(loss)(w, x),
    "gradient": jax.make_jaxpr(jax.grad(loss))(w, x),
    "gradient, simplified": dict(jax.jit(jax.grad(loss)).lower(w, x).passes())["simplify"],
}
counts = {name: operations(jaxpr, collections.Counter()) for name, jaxpr in programs.items()}
print(jax.visualize(loss, w, x))
for name, count in counts.items():
    print(f"{name:21} {count.total():3} operations: {', '.join(sorted(count))}")

names = sorted(set().union(*counts.values()))
fig, axes = plt.subplots(figsize=(8, 3.6))
for i, (name, count) in enumerate(counts.items()):
    axes.bar([j + 0.27 * (i - 1) for j in range(len(names))], [count[n] for n in names], 0.27, label=name)
axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
axes.set_ylabel("operations")
axes.legend()
plt.tight_layout()
plt.show()
assert counts["loss"].total() < counts["gradient"].total()
