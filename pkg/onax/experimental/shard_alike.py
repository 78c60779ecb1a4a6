"""Equal shardings for two values, under the name of jax.experimental.shard_alike."""

from onax._control.shard_alike import shard_alike_p
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.trace import as_array
from onax._ground.typing import PyTree
from onax._native.tree import tree_flatten, tree_unflatten


def shard_alike(x: PyTree, y: PyTree) -> tuple[PyTree, PyTree]:
    """Returns two trees of arrays unchanged; an array that is on one device, or whole on all, lies as its counterpart.

    Where both are sharded, the second one's sharding counts.  In a program it holds from here on.

    Args:
      x: a tree of arrays.
      y: a tree of the same structure and shapes.

    Returns:
      The pair (x, y).

    Raises:
      ValueError: structures or shapes differ.

    Examples:
      >>> from onax.experimental.shard_alike import shard_alike
      >>> shard_alike(jnp.ones(2), jnp.zeros(2))[1]
      Array([0., 0.], dtype=float32)
    """
    (xs, x_tree), (ys, y_tree) = tree_flatten(x), tree_flatten(y)
    if x_tree != y_tree:
        raise ValueError(f"Trees should be equal. Got x_tree: {x_tree}, y_tree: {y_tree}")
    pairs = [(as_array(a), as_array(b)) for a, b in zip(xs, ys)]
    for a, b in pairs:
        if a.shape != b.shape:
            raise ValueError(
                f"The leaves shapes of `x` and `y` should match. Got `x` leaf shape: {a.shape} and `y` leaf shape: "
                f"{b.shape}."
            )
    outs = [shard_alike_p.bind(a, b) for a, b in pairs]
    return tree_unflatten(x_tree, [a for a, _ in outs]), tree_unflatten(y_tree, [b for _, b in outs])


__all__ = ["shard_alike"]

_wrap_api_functions(globals(), __name__)
