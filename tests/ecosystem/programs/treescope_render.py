"""Trees of arrays are rendered as text and as HTML; array summaries read values and shapes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import treescope


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: jax.Array
    bias: jax.Array


def main():
    tree = {
        "layer": Layer(jnp.arange(6.0).reshape(2, 3), jnp.zeros(3)),
        "shape": jax.ShapeDtypeStruct((2,), jnp.float32),
    }
    with treescope.active_autovisualizer.set_scoped(treescope.ArrayAutovisualizer()):
        page = treescope.render_to_html(tree)
    text = treescope.render_to_text(tree)
    array = treescope.render_array(jnp.linspace(-1, 1, 12).reshape(3, 4))
    return {
        "lines": text.count("\n"),
        "layer": "Layer(" in text,
        "shape": "(2, 3)" in text,
        "page": len(page) > 1000,
        "array": array is not None,
        "sum": np.sum(np.asarray(tree["layer"].weight)),
    }
