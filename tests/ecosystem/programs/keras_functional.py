"""Keras on the JAX backend: convolution, batch norm, attention and an LSTM in a functional model; saved and loaded."""

import os
import tempfile

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers


def main():
    keras.utils.set_random_seed(1)
    image, words = keras.Input((8, 8, 1)), keras.Input((5,), dtype="int32")
    a = layers.BatchNormalization()(layers.Conv2D(4, 3, activation="gelu")(image))
    a = layers.GlobalAveragePooling2D()(layers.MaxPooling2D()(a))
    b = layers.Embedding(10, 8)(words)
    b = layers.LSTM(6)(layers.LayerNormalization()(b + layers.MultiHeadAttention(2, 4)(b, b)))
    model = keras.Model([image, words], layers.Dense(3, activation="softmax")(layers.Concatenate()([a, b])))
    generator = np.random.default_rng(2)
    inputs = [generator.normal(size=(16, 8, 8, 1)).astype("float32"), generator.integers(0, 10, (16, 5))]
    labels = generator.integers(0, 3, 16)
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "sparse_categorical_crossentropy")
    history = model.fit(inputs, labels, batch_size=8, epochs=3, shuffle=False, verbose=0)
    predicted = model.predict(inputs, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model.keras")
        again = keras.models.load_model(f"{folder}/model.keras").predict(inputs, verbose=0)
    return {
        "losses": np.array(history.history["loss"]),
        "predicted": predicted,
        "difference": np.abs(again - predicted).max() < 1e-6,
    }


TOLERANCE = 1e-3  # training with momentum
