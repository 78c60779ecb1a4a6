"""dot_general: dtypes on matrices; layouts with contracted, batched and free axes in every order in float32."""

import numpy as np

from laws.sampling import ALL, BFLOAT16, COMPLEXES, FLOATS, Sample, numbers
from onax import lax
from onax._prims.dot_ragged import ragged_dot_general_p

F32 = np.dtype("float32")
LAYOUTS = (  # lhs shape, rhs shape, dimension numbers
    ((3, 4), (4, 2), (((1,), (0,)), ((), ()))),
    ((4, 3), (2, 4), (((0,), (1,)), ((), ()))),
    ((3,), (3,), (((0,), (0,)), ((), ()))),
    ((3,), (2,), (((), ()), ((), ()))),
    ((), (), (((), ()), ((), ()))),
    ((), (2, 3), (((), ()), ((), ()))),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,)))),
    ((4, 2, 3), (3, 2, 4), (((0,), (2,)), ((1, 2), (1, 0)))),
    ((2, 3, 4), (4, 5, 3), (((1, 2), (2, 0)), ((), ()))),
    ((2, 3, 4), (3, 4, 2), (((2, 1), (1, 0)), ((0,), (2,)))),
    ((2, 3), (2, 3), (((), ()), ((0, 1), (0, 1)))),
    ((3, 0), (0, 2), (((1,), (0,)), ((), ()))),
    ((0, 3), (3, 2), (((1,), (0,)), ((), ()))),
    ((3, 1), (1, 2), (((1,), (0,)), ((), ()))),
)
PREFERRED = (  # operand dtype, result dtype
    ("int8", "int32"),
    ("uint8", "float32"),
    ("bfloat16", "float32"),
    ("float16", "float32"),
    ("float32", "float16"),
    ("float32", "float64"),
)


def _sample(dtype, lhs, rhs, layout, preferred=None):
    params = {
        "dimension_numbers": layout,
        "precision": None,
        "preferred_element_type": preferred,
        "out_sharding": None,
    }
    operands = numbers("lhs", lhs, dtype), numbers("rhs", rhs, dtype)
    inexact = dtype in FLOATS + COMPLEXES
    terms = int(np.prod([lhs[a] for a in layout[0][0]], dtype=int))
    return Sample(
        lax.dot_general_p,
        operands,
        params,
        linear=((0,), (1,)) if inexact else (),
        sums=(max(terms, 1), lambda x, y: _size(x, y, layout)) if inexact else None,
    )


def _size(x, y, layout):
    """The sums of the terms' absolute values."""
    (lc, rc), (lb, rb) = layout
    x, y = np.abs(x.astype(np.complex128)), np.abs(y.astype(np.complex128))
    names = iter("abcdefghijkl")
    left = [next(names) for _ in x.shape]
    right = [next(names) for _ in y.shape]
    for i, j in zip((*lc, *lb), (*rc, *rb)):
        right[j] = left[i]
    batch = [left[i] for i in lb]
    free = [n for i, n in enumerate(left) if i not in lc and i not in lb]
    free += [n for j, n in enumerate(right) if j not in rc and j not in rb]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(batch + free)}", x, y)


def products():
    """Every dtype on the first layout, every layout in float32, results of another dtype."""
    for dtype in ALL:
        yield _sample(dtype, *LAYOUTS[0])
    for layout in LAYOUTS[1:]:
        yield _sample(F32, *layout)
        yield _sample(np.dtype("int32"), *layout)
    for dtype, preferred in PREFERRED:
        dtype, preferred = (BFLOAT16 if d == "bfloat16" else np.dtype(d) for d in (dtype, preferred))
        yield _sample(dtype, *LAYOUTS[0], preferred)


RAGGED = (  # lhs shape, rhs shape, group sizes, dimension numbers of dot, ragged axis, group axes
    ((7, 3), (3, 3, 2), [2, 0, 3], (((1,), (1,)), ((), ())), 0, (0,)),
    ((3, 7), (2, 2, 3), [4, 3], (((0,), (2,)), ((), ())), 1, (1,)),
    ((2, 5, 3), (2, 3, 2, 4), [[1, 2], [3, 1]], (((2,), (1,)), ((0,), (0,))), 1, (2,)),
    ((2, 5, 3), (2, 3, 2, 4), [1, 3], (((2,), (1,)), ((0,), (0,))), 1, (2,)),
    ((3, 5, 2), (2, 2, 4), [[1, 2], [3, 1], [0, 5]], (((2,), (0,)), ((), ())), 1, (1,)),
    ((6, 3), (6, 2), [1, 0, 4], (((0,), (0,)), ((), ())), 0, ()),
    ((2, 3, 5), (5, 2, 4), [[1, 2], [3, 1]], (((2,), (0,)), ((0,), (1,))), 2, ()),
    ((4, 2, 3), (4, 3, 2), [1, 2], (((2,), (1,)), ((0,), (0,))), 0, ()),
)


def ragged():
    """ragged_dot_general: the ragged axis free, contracted and batch; one row of groups and one for each batch."""
    for dtype in FLOATS + (np.dtype("int32"), np.dtype("complex64")):
        yield _ragged(dtype, *RAGGED[0])
    for row in RAGGED[1:]:
        yield _ragged(F32, *row)


def _ragged(dtype, lhs, rhs, sizes, dot, axis, groups):
    numbers_ = lax.RaggedDotDimensionNumbers(dot, (axis,), groups)
    params = {
        "ragged_dot_dimension_numbers": numbers_, "precision": None, "preferred_element_type": None,
        "group_offset": None, "out_sharding": None,
    }  # fmt: skip
    operands = numbers("lhs", lhs, dtype), numbers("rhs", rhs, dtype), np.array(sizes, np.int32)
    inexact = dtype in FLOATS + COMPLEXES
    return Sample(
        ragged_dot_general_p,
        operands,
        params,
        linear=((0,), (1,)) if inexact else (),
        sums=(max(lhs), lambda x, y, sizes: _ragged_size(x, y, sizes, params)) if inexact else None,
    )


def _ragged_size(x, y, sizes, params):
    """The sums of the terms' absolute values."""
    x, y = np.abs(x.astype(np.complex128)).real, np.abs(y.astype(np.complex128)).real
    return ragged_dot_general_p.kernel(x, y, sizes, **params)


SAMPLES = [*products(), *ragged()]
