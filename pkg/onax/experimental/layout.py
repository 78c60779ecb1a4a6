"""Layouts of arrays in memory, under the names of jax.experimental.layout; onax has row-major layouts only."""

from onax._core.layout import Format, Layout
from onax._core.trace import as_array
from onax._ground.typing import ArrayLike
from onax._native.array import Array


def with_layout_constraint(x: ArrayLike, layouts: Layout) -> Array:
    """Returns an array unchanged if the layout that is asked for is row-major, as all arrays are.

    Args:
      x: array of any dtype.
      layouts: a Layout.

    Returns:
      Array.

    Raises:
      ValueError: the layout has another rank.
      NotImplementedError: the layout is not row-major.

    Examples:
      >>> from onax.experimental.layout import Layout, with_layout_constraint
      >>> with_layout_constraint(jnp.ones((2, 3)), Layout((0, 1))).shape
      (2, 3)
    """
    x = as_array(x)
    layouts.check_row_major(x.shape)
    return x


__all__ = ["Format", "Layout", "with_layout_constraint"]
