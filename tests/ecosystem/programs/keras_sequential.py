"""Keras on the JAX backend: a dense classifier is compiled, fitted and evaluated."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np


def main():
    keras.utils.set_random_seed(0)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(64, 6)).astype("float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("float32")
    model = keras.Sequential(
        [
            keras.layers.Input((6,)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dropout(0.1),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, batch_size=16, epochs=5, shuffle=False, verbose=0)
    return {
        "losses": np.array(history.history["loss"]),
        "evaluated": np.array(model.evaluate(x, y, verbose=0)),
        "prediction": model.predict(x[:4], verbose=0),
    }


TOLERANCE = 1e-3  # 20 steps of training
