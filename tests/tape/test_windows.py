"""Reductions over windows as instructions against the kernels."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._prims.elementwise import ge_p, le_p
from onax._prims.windows import select_and_gather_add_p, select_and_scatter_add_p
from tape.harness import check
from tape.values import FLOATS, INTEGERS, NUMBERS, values

BOOL = np.dtype(bool)
NONE = (0, 0)

# shape, window, strides, padding, dilation of the operand, dilation of the window
WINDOWS = [
    ((8,), (3,), (1,), (NONE,), (1,), (1,)),
    ((8,), (3,), (2,), ((1, 2),), (2,), (1,)),
    ((20,), (13,), (3,), ((2, 1),), (1,), (1,)),
    ((50,), (50,), (1,), ((49, 0),), (1,), (1,)),
    ((7,), (2,), (1,), (NONE,), (1,), (3,)),
    ((5,), (9,), (1,), (NONE,), (1,), (1,)),
    ((2, 9, 8, 3), (1, 2, 2, 1), (1, 2, 2, 1), (NONE,) * 4, (1,) * 4, (1,) * 4),
    ((2, 9, 8, 3), (1, 3, 3, 1), (1, 2, 1, 1), (NONE, (1, 1), (2, 0), NONE), (1,) * 4, (1,) * 4),
    ((2, 3, 9, 8), (1, 1, 3, 3), (1, 1, 2, 2), (NONE, NONE, (1, 1), (1, 1)), (1,) * 4, (1,) * 4),
    ((9, 8), (2, 3), (2, 1), ((-1, 2), (3, -2)), (3, 2), (2, 1)),
    ((5, 6), (1, 1), (1, 1), (NONE, NONE), (1, 1), (1, 1)),
    ((40, 300), (4, 1), (2, 1), ((0, 1), NONE), (1, 1), (1, 1)),
    ((0, 4), (1, 2), (1, 1), (NONE, NONE), (1, 1), (1, 1)),
]
LARGE = ((16, 60, 60, 8), (1, 3, 3, 1), (1, 2, 2, 1), (NONE, (1, 1), (1, 1), NONE), (1,) * 4, (1,) * 4)
NAMES = "window_dimensions window_strides padding base_dilation window_dilation".split()


@pytest.fixture(autouse=True)
def _wide():
    with jax.enable_x64(True):
        yield


def _reduce(operator, neutral, case):
    _, window, strides, padding, base, gap = case
    return lambda x: lax.reduce_window(
        x, neutral, operator, window, strides, padding, base_dilation=base, window_dilation=gap
    )


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_sums(dtype):
    for case in WINDOWS:
        check(_reduce(lax.add, dtype.type(0), case), values(case[0], dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, BOOL], ids=str)
def test_extremes(dtype):
    low, high = (False, True) if dtype == BOOL else (-np.inf, np.inf)
    if dtype in INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for case in WINDOWS:
        x = values(case[0], dtype)
        check(_reduce(lax.max, np.asarray(low).astype(dtype)[()], case), x)
        check(_reduce(lax.min, np.asarray(high).astype(dtype)[()], case), x)


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int32), np.dtype(np.int64)], ids=str)
@pytest.mark.parametrize("select", [ge_p, le_p], ids=lambda p: p.name)
def test_selected_elements(select, dtype):
    for case in [*WINDOWS, LARGE]:
        shape, params = case[0], dict(zip(NAMES, case[1:]))
        x, g = values(shape, dtype), values(shape, dtype, False, seed=5)
        if dtype.kind == "i":
            x = x // np.array(1 << (8 * dtype.itemsize - 4), dtype)
        check(lambda g, x, p=params: select_and_gather_add_p.bind(g, x, select_prim=select, **p), g, x)
        if {*params.pop("base_dilation"), *params.pop("window_dilation")} != {1}:
            continue
        count = lax.reduce_window_shape_tuple(shape, *params.values())
        eps = 8 * float(jax.numpy.finfo(dtype).eps) if dtype in FLOATS else 0
        check(
            lambda s, x, p=params: select_and_scatter_add_p.bind(s, x, select_prim=select, **p),
            values(count, dtype, False, seed=6), x, rtol=eps, atol=eps,
        )  # fmt: skip


def test_other_types_are_selected_by_the_kernels():
    params = dict(zip(NAMES, WINDOWS[0][1:]))
    x = values((8,), np.uint8)
    check(lambda x: select_and_gather_add_p.bind(x, x, select_prim=ge_p, **params), x, python={"select_and_gather_add"})


def test_windows_of_padding_alone():
    check(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), ((3, 3),)), np.zeros(0), python={"reduce_window_sum"}
    )


def test_gradients_of_pooling():
    def pool(x):
        return lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME").sum()

    check(jax.grad(pool), values((4, 30, 31, 5), np.float32, False))
