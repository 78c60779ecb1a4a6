"""Jaxtyping: annotations of shapes and dtypes are checked at run time, inside jit too."""

import jax
import jax.numpy as jnp
from beartype import beartype
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree, Shaped, jaxtyped


@jaxtyped(typechecker=beartype)
def affine(x: Float[Array, "batch n"], w: Float[Array, "n m"], b: Float[Array, " m"]) -> Float[Array, "batch m"]:
    return x @ w + b


@jaxtyped(typechecker=beartype)
def total(tree: PyTree[Float[Array, "..."]]) -> Float[Array, ""]:
    return sum(jnp.sum(v) for v in jax.tree.leaves(tree))


@jaxtyped(typechecker=beartype)
def draw(key: PRNGKeyArray, index: Int[Array, " k"]) -> Shaped[Array, "k 2"]:
    return jax.random.normal(key, (index.shape[0], 2))


def main():
    x, w, b = jnp.ones((3, 4)), jnp.arange(8.0).reshape(4, 2), jnp.ones(2)
    refused = 0
    for call in (
        lambda: affine(x, w.T, b),
        lambda: jax.jit(affine)(x, w, jnp.ones(3)),
        lambda: affine(x.astype(int), w, b),
        lambda: total({"a": jnp.ones(2, int)}),
        lambda: draw(jax.random.key(0), jnp.ones(3)),
    ):
        try:
            call()
        except Exception as error:
            refused += "TypeCheckError" in type(error).__name__
    return {
        "affine": jax.jit(affine)(x, w, b),
        "gradient": jax.grad(lambda w: affine(x, w, b).sum())(w),
        "batch": jax.vmap(affine, (0, None, None))(jnp.ones((2, 3, 4)), w, b),
        "total": total({"a": x, "b": [w]}),
        "draw": draw(jax.random.key(0), jnp.arange(3)),
        "refused": refused,
    }
