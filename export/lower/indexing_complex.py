"""Lowerings of gather and scatter for complex numbers, where they differ from applying the rule to each part.

Elements out of bounds are NaN + 0i.  ScatterND combines real and imaginary parts separately, which is right for sums
but not for products and extrema: their updates are combined with gathered elements, which are then overwritten.
"""

import numpy as np

from onax._ground.errors import LoweringError
from onax._prims import elementwise
from onax._prims import indexing as prims
from onax.export.lower.driver import component_aval
from onax.export.lower.registry import Decomposition, lowering, lowers_components


@lowers_components(prims.gather_p)
def _gather(g, out, parts, indices, *, fill_value=None, **params):
    """Gathers each component, with the corresponding component of the fill value."""
    fills = [fill_value] * len(parts)
    if np.dtype(np.complex64) == out.dtype or np.dtype(np.complex128) == out.dtype:
        fill = complex(np.nan if fill_value is None else fill_value)
        fills = fill.real, fill.imag
    rule, aval = lowering[prims.gather_p], component_aval(out)
    return tuple(rule(g, aval, x, indices, fill_value=fill, **params) for x, fill in zip(parts, fills))


def _gather_updated(x, indices, updates, d, params):
    """The elements that the updates will overwrite, in the shape of the updates."""
    alone = {*d.inserted_window_dims, *d.operand_batching_dims}
    sizes = iter(updates.shape[i] for i in d.update_window_dims)
    numbers = prims.GatherDimensionNumbers(
        offset_dims=d.update_window_dims,
        collapsed_slice_dims=d.inserted_window_dims,
        start_index_map=d.scatter_dims_to_operand_dims,
        operand_batching_dims=d.operand_batching_dims,
        start_indices_batching_dims=d.scatter_indices_batching_dims,
    )
    shape = tuple(1 if i in alone else next(sizes) for i in range(x.ndim))
    return prims.gather(x, indices, numbers, shape, **params)


def _combine_then_scatter(name, combine):
    def scatter(x, indices, updates, *, dimension_numbers, indices_are_sorted, unique_indices, mode, **_):
        if not unique_indices:
            raise LoweringError(
                f"{name} of complex numbers has an ONNX form only if no two updates have the same index: pass "
                "unique_indices=True."
            )
        params = {"indices_are_sorted": indices_are_sorted, "unique_indices": True, "mode": mode}
        there = _gather_updated(x, indices, updates, dimension_numbers, params)
        return prims.scatter(x, indices, combine(there, updates), dimension_numbers, **params)

    return Decomposition(scatter)


lowers_components(prims.scatter_mul_p)(_combine_then_scatter("scatter-mul", elementwise.mul))
lowers_components(prims.scatter_min_p)(_combine_then_scatter("scatter-min", elementwise.min))
lowers_components(prims.scatter_max_p)(_combine_then_scatter("scatter-max", elementwise.max))
