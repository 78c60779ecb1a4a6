"""sort by one key and several, with ties and edge values; top_k."""

import numpy as np

from laws.sampling import ALL, BFLOAT16, BOOL, COMPLEXES, FLOATS, INTEGERS, Sample, numbers
from onax import lax

SHAPES = (((6,), 0), ((3, 4), 1), ((4, 3), 0), ((2, 5, 2), 1), ((0,), 0), ((2, 0), 1), ((1, 3), 0))
EDGES = (np.nan, 1, -np.inf, 0.0, np.inf, -0.0, np.nan, -1, -0.0, 0.5, np.inf, 0.0)


def distinct(name, shape, dtype):
    """Numbers that differ by at least 0.125: differences must not reorder them."""
    count = int(np.prod(shape))
    order = np.random.default_rng(count + len(name)).permutation(count)
    return (order.reshape(shape) * 0.125 - 0.5).astype(dtype)


def single():
    """One operand."""
    for dtype in ALL:
        for shape, axis in SHAPES:
            make = distinct if dtype in FLOATS else numbers
            yield _sort((make("sort", shape, dtype),), axis)
    for dtype in FLOATS:
        yield _sort((np.array(EDGES, dtype),), 0, differentiable=())
        yield _sort((np.array(EDGES, dtype).reshape(4, 3),), 0, differentiable=())
    yield _sort((np.array([3, 1, 2**31, 2**32 - 1], np.uint32),), 0)
    yield _sort((np.array([3, 2**63 + 1, 0, 2**64 - 1], np.uint64),), 0)
    yield _sort((np.array([-(2**63), 2**63 - 1, 2**62, 2**62 + 1, -1], np.int64),), 0)


def _sort(operands, axis, num_keys=1, differentiable=None, is_stable=True):
    params = {"dimension": axis, "is_stable": is_stable, "num_keys": num_keys}
    if any(x.dtype in COMPLEXES for x in operands):
        differentiable = ()
    return Sample(lax.sort_p, operands, params, exact=True, differentiable=differentiable)


def several():
    """Two and three operands, by one key and by two, with ties."""
    for dtype in ALL:
        places = np.arange(12, dtype=np.int32).reshape(3, 4)
        yield _sort((numbers("ties", (3, 4), dtype).round(), places), 1, differentiable=())
        yield _sort((numbers("ties", (3, 4), dtype), numbers("more", (3, 4), dtype), places), 0, 2, differentiable=())
    for dtype in FLOATS:
        x, places = np.array(EDGES, dtype), np.arange(12, dtype=np.int32)
        yield _sort((x, places), 0, differentiable=(), is_stable=False)
        yield _sort((x, np.flip(x).copy(), places), 0, 2, differentiable=())
        yield _sort((places % 3, x, places), 0, 2, differentiable=())
        yield _sort((distinct("a", (3, 4), dtype), numbers("carried", (3, 4), dtype)), 1)
        yield _sort((numbers("bools", (3, 4), bool), distinct("b", (3, 4), dtype)), 1, 2, differentiable=(1,))


def largest():
    """top_k of some, all and none."""
    for dtype in INTEGERS + FLOATS + BOOL:
        for shape, axis in SHAPES:
            make = distinct if dtype in FLOATS else numbers
            for k in sorted({0, shape[axis] // 2, shape[axis]}):
                yield Sample(lax.top_k_p, (make("top_k", shape, dtype),), {"axis": axis, "k": k}, exact=True)
        for k in (2, 5) if dtype != BOOL[0] else ():
            yield Sample(lax.top_k_p, (_ties(dtype),), {"axis": 0, "k": k}, exact=True, differentiable=())
    for dtype in FLOATS:
        x = np.array([1, np.nan, np.inf, 2, np.nan, -np.inf], dtype)
        yield Sample(lax.top_k_p, (x,), {"axis": 0, "k": 4}, exact=True, differentiable=())
    x = np.array([0.0, -0.0, -1, 0.0, -0.0, 1], np.float32)
    for dtype in (np.dtype("float32"), np.dtype("float64"), BFLOAT16):
        yield Sample(lax.top_k_p, (x.astype(dtype),), {"axis": 0, "k": 6}, exact=True, differentiable=())
    yield Sample(lax.top_k_p, (np.array([3, 2**63 + 1, 0, 2**64 - 1], np.uint64),), {"axis": 0, "k": 3})


def _ties(dtype):
    return np.array([1, 3, 3, 0, 1, 3], dtype)


def approximate():
    """approx_top_k, which is exact here."""
    for dtype in FLOATS:
        for shape, axis in ((7,), 0), ((2, 5), -1), ((4, 2), 0):
            for is_max_k in (True, False):
                yield _approximate(distinct("approximate", shape, dtype), 3, axis, is_max_k)
    yield _approximate(distinct("approximate", (300, 2), np.float32), 2, 0, True, aggregate_to_topk=False)
    yield _approximate(distinct("approximate", (1, 600), np.float32), 1, 1, False, aggregate_to_topk=False)


def _approximate(x, k, axis, is_max_k, aggregate_to_topk=True):
    params = {
        "k": k, "is_max_k": is_max_k, "reduction_dimension": axis, "recall_target": 0.95,
        "reduction_input_size_override": -1, "aggregate_to_topk": aggregate_to_topk,
    }  # fmt: skip
    return Sample(lax.approx_top_k_p, (x,), params, exact=True)


SAMPLES = [*single(), *several(), *largest(), *approximate()]
