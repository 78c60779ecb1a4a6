"""Layouts of arrays in memory, under the names of jax.experimental.layout; onax has row-major layouts only."""

from onax._core.layout import Format, Layout
from onax._core.trace import as_array


def with_layout_constraint(x, layouts):
    """Returns x, which is row-major, if the layout is row-major.

    Raises ValueError for a layout of another rank, NotImplementedError for any other order.
    """
    x = as_array(x)
    layouts.check_row_major(x.shape)
    return x


__all__ = ["Format", "Layout", "with_layout_constraint"]
