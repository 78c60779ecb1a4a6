"""Calls of functions as ONNX Runtime makes them from an exported model."""

import jax
import numpy as np
import onnxruntime

import onax


def buffer(leaf):
    """The ndarray that ONNX Runtime takes for an argument; the words of a key."""
    array = jax.numpy.asarray(leaf)
    is_key = jax.numpy.issubdtype(array.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(array) if is_key else array)


def call(function, arguments):
    """The leaves of the results of the function's exported model, run by ONNX Runtime without onax."""
    exported = onax.export.export(function)(*arguments)
    session = onnxruntime.InferenceSession(bytes(exported.serialize()), providers=["CPUExecutionProvider"])
    leaves = [buffer(leaf) for leaf in jax.tree.leaves(arguments)]
    wanted = {i.name for i in session.get_inputs()}
    feed = {name: leaf for name, leaf in zip(exported.in_names, leaves, strict=True) if name in wanted}
    return [jax.numpy.asarray(value) for value in session.run(list(exported.out_names), feed)]
