"""Einops: rearranging, reducing, packing and einsum in a jitted, differentiated attention."""

import jax
import jax.numpy as jnp
from einops import einsum, pack, rearrange, reduce, repeat, unpack


@jax.jit
def attention(x, w):
    q, k, v = rearrange(x @ w, "b t (three h d) -> three b h t d", three=3, h=2)
    weights = jax.nn.softmax(einsum(q, k, "b h i d, b h j d -> b h i j"))
    return rearrange(einsum(weights, v, "b h i j, b h j d -> b h i d"), "b h t d -> b t (h d)")


def main():
    x = jax.random.normal(jax.random.key(0), (2, 5, 6))
    w = jax.random.normal(jax.random.key(1), (6, 12)) / 3
    value, gradient = jax.value_and_grad(lambda w: jnp.sum(attention(x, w) ** 2))(w)
    image = jnp.arange(48.0).reshape(1, 4, 4, 3)
    packed, shapes = pack([x, x[:, 0]], "b * d")
    return {
        "value": value,
        "gradient": gradient,
        "pooled": reduce(image, "b (h 2) (w 2) c -> b h w c", "mean"),
        "tiled": repeat(x[0, :2, :2], "a b -> (a 2) b"),
        "packed": packed.sum(1),
        "unpacked": unpack(packed, shapes, "b * d")[1],
    }
