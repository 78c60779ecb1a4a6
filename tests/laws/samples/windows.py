"""Reductions over windows and what their derivatives need: every dtype on one window, every window in float32."""

import numpy as np

from laws.sampling import ALL, BFLOAT16, BOOL, COMPLEXES, FLOATS, Sample, numbers
from onax import lax
from onax._prims.windows import reduce_window_sum_p

F32 = np.dtype("float32")
WINDOWS = (  # shape, window, and what differs from windows at every place
    ((4, 5), (2, 3), {}),
    ((6, 5), (2, 2), {"strides": (2, 2)}),
    ((2, 3, 7), (1, 1, 3), {"strides": (1, 1, 2), "padding": ((0, 0), (0, 0), (1, 1))}),
    ((5, 4), (3, 2), {"padding": ((1, 2), (-1, 0)), "strides": (2, 1)}),
    ((5, 4), (2, 3), {"base_dilation": (2, 3), "padding": ((1, 0), (0, 1))}),
    ((5, 4), (2, 2), {"base_dilation": (2, 3), "padding": ((2, 0), (0, 1))}),  # some windows are empty
    ((7,), (3,), {"window_dilation": (2,), "padding": ((1, 1),), "strides": (2,)}),
    ((30,), (19,), {"padding": ((18, 0),)}),
    ((30,), (12,), {"strides": (5,), "window_dilation": (2,)}),
    ((3, 4), (1, 1), {"strides": (2, 1)}),
    ((3,), (4,), {}),  # no window fits
    ((0, 3), (2, 2), {"padding": ((3, 0), (0, 0))}),
    ((), (), {}),
)


def _params(window, changes):
    rank = len(window)
    return {
        "window_dimensions": window,
        "window_strides": changes.get("strides", (1,) * rank),
        "padding": changes.get("padding", ((0, 0),) * rank),
        "base_dilation": changes.get("base_dilation", (1,) * rank),
        "window_dilation": changes.get("window_dilation", (1,) * rank),
    }


def _grid():
    for dtype in ALL:
        yield dtype, WINDOWS[0]
    for case in WINDOWS[1:]:
        yield F32, case


def _distinct(name, shape, dtype):
    """Numbers no two of which are equal, so that a largest one is the only one."""
    size = int(np.prod(shape))
    order = np.random.default_rng(len(name) + size).permutation(size).reshape(shape)
    return (order * 0.25 - size / 8).astype(dtype)


def reductions():
    """Sum, max and min over windows."""
    for dtype, (shape, window, changes) in _grid():
        params, terms = _params(window, changes), int(np.prod(window))
        x = numbers("window", shape, dtype)
        if dtype not in BOOL:
            sums = (terms, lambda v, params=params: _size(v, params)) if dtype in FLOATS + COMPLEXES else None
            yield Sample(lax.reduce_window_sum_p, (x,), params, sums=sums)
        if dtype in COMPLEXES:
            continue
        if dtype in FLOATS:
            x = _distinct("window", shape, dtype)
        for p in (lax.reduce_window_max_p, lax.reduce_window_min_p):
            # not where windows hold nothing, nor in rank 0, where real JAX's process dies
            empty = not shape or changes.get("padding", ((0,),))[0][0] >= min(window)
            yield Sample(p, (x,), params, exact=True, differentiable=() if empty else None)


def _size(x, params):
    return np.asarray(reduce_window_sum_p.bind(np.abs(x.astype(np.complex128)), **params))


def choices():
    """Reading and adding at the elements that are largest or smallest."""
    cases = [(dtype, WINDOWS[1]) for dtype in (np.dtype("float64"), np.dtype("float16"), BFLOAT16)]
    cases += [(F32, case) for case in WINDOWS if case[0]]  # rank 0: as above
    for dtype, (shape, window, changes) in cases:
        params = _params(window, changes)
        x, g = _distinct("choice", shape, dtype), numbers("tangent", shape, dtype)
        undilated = "window_dilation" not in changes
        for select in (lax.ge_p, lax.le_p):
            both = {**params, "select_prim": select}
            linear = ((0,),) if undilated else ()
            yield Sample(lax.select_and_gather_add_p, (g, x), both, differentiable=(0,), linear=linear, exact=True)
        if undilated and "base_dilation" not in changes and shape != (3,):
            yield from _scatters(dtype, shape, x, params)


def _scatters(dtype, shape, x, params):
    kept = {k: params[k] for k in ("window_dimensions", "window_strides", "padding")}
    count = lax.reduce_window_shape_tuple(shape, *kept.values())
    source = numbers("source", count, dtype)
    for select in (lax.ge_p, lax.le_p):
        p = {**kept, "select_prim": select}
        yield Sample(
            lax.select_and_scatter_add_p,
            (source, x),
            p,
            differentiable=(0,),
            linear=((0,),),
            sums=(int(np.prod(params["window_dimensions"])), lambda s, v, p=p: _added(s, v, p)),
        )


def _added(source, x, params):
    return np.asarray(lax.select_and_scatter_add_p.bind(np.abs(source.astype(float)), x.astype(float), **params))


SAMPLES = [*reductions(), *choices()]
