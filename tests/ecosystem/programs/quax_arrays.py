"""Quax: an array type with units of its own runs through an unmodified function; LoRA fine-tunes a layer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import quax
from quax.examples import lora, zero


class Scaled(quax.ArrayValue):
    array: jax.Array
    factor: float = eqx.field(static=True)

    def aval(self):
        return jax.core.ShapedArray(self.array.shape, self.array.dtype)

    def materialise(self):
        return self.array * self.factor


@quax.register(jax.lax.mul_p)
def _(x: Scaled, y: Scaled, **kwargs):
    return Scaled(x.array * y.array, x.factor * y.factor)


def main():
    x = Scaled(jnp.arange(3.0), 2.0)
    product = quax.quaxify(lambda a, b: a * b)(x, x)
    default = quax.quaxify(jax.jit(lambda a: jnp.sin(a) + 1))(x)
    linear = eqx.nn.Linear(6, 6, key=jax.random.key(0))
    adapted = lora.loraify(linear, rank=2, scale=0.5, key=jax.random.key(1))
    data = jnp.linspace(-1, 1, 24).reshape(4, 6)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(model):
        return jnp.mean(jax.vmap(quax.quaxify(model))(data) ** 2)

    value, gradient = loss(adapted)
    zeros = quax.quaxify(lambda a, b: a + b)(zero.Zero((3,), jnp.float32), jnp.arange(3.0))
    return {
        "product": product.array,
        "factor": product.factor,
        "default": default,
        "value": value,
        "zeros": zeros,
        "gradient": gradient.weight.b,
    }
