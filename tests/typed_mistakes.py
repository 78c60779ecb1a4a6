"""Mistakes that type checkers must find, one in each line with a comment; tests/ground/test_typing.py counts them."""

import onax as jax
import onax.numpy as jnp
from onax import Array, lax
from onax.example_libraries import optimizers, stax
from onax.experimental import sparse


def loss(w: Array, scale: float = 1.0) -> Array:
    return (w**2).sum() * scale


def mistakes(w: Array) -> None:
    jax.jit(loss)(w, "two")  # an argument of another type
    jax.vmap(loss)()  # an argument is missing
    jax.value_and_grad(loss)(w, factor=2.0)  # there is no such argument
    w.resahpe(3)  # there is no such method
    w[0] = 1.0  # arrays do not change
    w + "one"  # text is no operand
    w.at[0].put(1.0)  # there is no such update
    w.reshape(3, copy=True)  # there is no such argument
    jax.grad(3)  # not a function
    jax.jitt(loss)  # there is no such function
    jnp.sinn(w)  # nor this one
    jnp.linalg.invert(w)  # nor this one
    jnp.sum(w, axs=0)  # there is no such argument
    jnp.linalg.svd(w).V.sum()  # the result has no such field
    jax.nn.relu(w, 2.0)  # too many arguments
    jax.random.normal()  # an argument is missing
    jnp.sin("one")  # text is no array
    jnp.sum([1.0, 2.0])  # nor is a list, which JAX refuses
    lax.add(w, "one")  # text is no array
    lax.scan(3, w)  # not a function
    jax.export.load(3)  # not a path
    jax.tree.mapp(loss, w)  # there is no such function
    jax.scipy.specials.expit(w)  # there is no such module
    optimizers.adam("small")  # text is no step size
    stax.Dense(3, bias=True)  # there is no such argument
    sparse.eye(3, sparse_format="coordinates")  # there is no such format
    sparse.bcoo_todense(w)  # an array is not sparse
    sparse.BCOO.fromdense(w).dense()  # there is no such method
    jnp.zeros(3, 3)  # an integer is no dtype
    jnp.zeros(3, out_sharding="x")  # text is no sharding
    lax.dot(w, w, precision=3)  # an integer is no precision
