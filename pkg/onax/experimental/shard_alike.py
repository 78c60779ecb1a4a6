"""Equal shardings for two values, under the name of jax.experimental.shard_alike."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import typeof
from onax._native.tree import tree_flatten


def shard_alike(x, y):
    """Returns x and y, trees of the same structure and shapes, unchanged: arguments are moved where they are used.

    Raises ValueError for other structures or shapes.
    """
    (xs, x_tree), (ys, y_tree) = tree_flatten(x), tree_flatten(y)
    if x_tree != y_tree:
        raise ValueError(f"Trees should be equal. Got x_tree: {x_tree}, y_tree: {y_tree}")
    for a, b in zip(map(typeof, xs), map(typeof, ys)):
        if a.shape != b.shape:
            raise ValueError(
                f"The leaves shapes of `x` and `y` should match. Got `x` leaf shape: {a.shape} and `y` leaf shape: "
                f"{b.shape}."
            )
    return x, y


__all__ = ["shard_alike"]

_wrap_api_functions(globals(), __name__)
