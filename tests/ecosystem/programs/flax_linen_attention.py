"""Flax linen: a small causal transformer with embeddings, remat and scanned layers."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=2)(h, h, mask=mask)
        h = nn.LayerNorm()(x)
        return x + nn.Dense(16)(nn.silu(nn.Dense(32)(h))), None


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(11, 16)(tokens) + self.param("position", nn.initializers.normal(0.1), (tokens.shape[1], 16))
        mask = nn.make_causal_mask(tokens)
        layers = nn.scan(
            nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast, length=2
        )
        x, _ = layers()(x, mask)
        return nn.Dense(11)(nn.RMSNorm()(x))


def setting():
    tokens = (jnp.arange(6)[:, None] * 3 + jnp.arange(9) ** 2) % 11
    model = Transformer()
    return model, model.init(jax.random.key(0), tokens[:, :-1]), tokens


optimizer = optax.sgd(0.1, momentum=0.9)


def step(params, state, tokens):
    def loss(params):
        logits = Transformer().apply(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    value, gradient = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(params, updates), state, value


def main():
    _, params, tokens = setting()
    state, compiled, losses = optimizer.init(params), jax.jit(step), []
    for _ in range(30):
        params, state, value = compiled(params, state, tokens)
        losses.append(value)
    return {"losses": jnp.stack(losses)[::3]}


def exports():
    model, params, tokens = setting()
    return {
        "forward": (model.apply, (params, tokens[:, :-1])),
        "train": (step, (params, optimizer.init(params), tokens)),
    }
