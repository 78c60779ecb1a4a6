"""The trained classifier, closed over its weights: what `train.py` exports as predict.onnx."""

import os

import numpy as np

import onax.numpy as jnp
from model import logits

with np.load(os.environ["ONAX_DEMO_WEIGHTS"]) as _stored:
    _LAYERS = [
        {"w": jnp.asarray(_stored[f"w{i}"]), "b": jnp.asarray(_stored[f"b{i}"])} for i in range(len(_stored.files) // 2)
    ]


def predict(images):
    """The most likely digit of each image: (batch, 8, 8) -> (batch,) int32."""
    return jnp.argmax(logits(_LAYERS, images), axis=1)
