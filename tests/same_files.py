"""Exports a model with a loop, random numbers, a gradient and a symbolic size to a file; run in other processes."""

import sys

import numpy as np

import onax
import onax.numpy as jnp
from onax import lax
from onax.export import export, symbolic_shape


def net(params, x, key):
    h = x
    for layer in params.values():
        h = onax.nn.gelu(h @ layer["w"] + layer["b"])
    h = h + onax.random.normal(key, h.shape[1:])
    last, steps = lax.scan(lambda c, y: (c + y, jnp.where(y > 0, c, jnp.linalg.norm(y))), jnp.zeros(4), h)
    return {"soft": onax.nn.softmax(h), "last": last, "steps": steps, "sorted": jnp.sort(h)}


def loss(params, x, key):
    return sum(jnp.sum(value) for value in net(params, x, key).values())


def main(path):
    (n,) = symbolic_shape("n")
    params = {name: {"w": np.ones((4, 4), np.float32), "b": np.ones(4, np.float32)} for name in "pqr"}
    both = lambda params, x, key: (net(params, x, key), onax.grad(loss)(params, x, key))
    export(both)(params, onax.ShapeDtypeStruct((n, 4), np.float32), onax.random.key(0)).save(path)


if __name__ == "__main__":
    main(sys.argv[1])
