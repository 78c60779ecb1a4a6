"""A small network for 8x8 images of handwritten digits, written as one would for JAX."""

import numpy as np

import onax as jax
import onax.numpy as jnp

CLASSES = 10
LEARNING_RATE = 0.1
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4


def initial_state(seed=0, hidden=128):
    """Weights and their velocities for a 64-hidden-hidden-10 network."""
    rng = np.random.default_rng(seed)
    sizes = (64, hidden, hidden, CLASSES)
    params = [
        {"w": (rng.normal(size=(n, m)) * np.sqrt(2 / n)).astype(np.float32), "b": np.zeros(m, np.float32)}
        for n, m in zip(sizes[:-1], sizes[1:])
    ]
    velocity = jax.tree.map(np.zeros_like, params)
    return {"params": params, "velocity": velocity}


def logits(params, images):
    """Unnormalised log probabilities (batch, 10) of images (batch, 8, 8) with values from 0 to 1."""
    x = images.reshape(images.shape[0], 64)
    *hidden, last = params
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def loss(params, images, labels):
    """Mean cross entropy with weight decay."""
    log_p = jax.nn.log_softmax(logits(params, images))
    likelihood = jnp.sum(log_p * jax.nn.one_hot(labels, CLASSES), axis=1)
    decay = sum(jnp.sum(layer["w"] ** 2) for layer in params)
    return -jnp.mean(likelihood) + WEIGHT_DECAY * decay


def train_step(state, images, labels):
    """One step of gradient descent with momentum: (new state, loss before it)."""
    value, grads = jax.value_and_grad(loss)(state["params"], images, labels)
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v - LEARNING_RATE * g, state["velocity"], grads)
    params = jax.tree.map(jnp.add, state["params"], velocity)
    return {"params": params, "velocity": velocity}, value
