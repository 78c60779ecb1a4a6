"""The ONNX forms of gather and scatter: random dimension numbers, modes, indices out of bounds."""

import ml_dtypes
import numpy as np
import pytest

from lowering_runner import OPSETS, operators, run_kernel, run_lowering
from onax._prims import indexing as prims
from onax._prims.indexing_records import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from tolerance import assert_same_bits, assert_ulps

MODES = (CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS)
DTYPES = [
    np.dtype(t) for t in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8")
]
ROWS = GatherDimensionNumbers((1,), (0,), (0,))
ROW_UPDATES = ScatterDimensionNumbers((1,), (0,), (0,))


def _gather(numbers, sizes, mode, dtype):
    fill = prims.fill_array if mode is FILL_OR_DROP else None
    value = {"b": True, "u": 7, "i": -7}.get(dtype.kind, np.nan)
    return {"dimension_numbers": numbers, "slice_sizes": tuple(sizes), "indices_are_sorted": False,
            "unique_indices": False, "mode": mode, "fill_value": value if fill else None}  # fmt: skip


def _scatter(numbers, mode):
    return {"dimension_numbers": numbers, "indices_are_sorted": False, "unique_indices": False, "mode": mode,
            "update_jaxpr": None, "update_consts": ()}  # fmt: skip


class _Random:
    """Random dimension numbers: shape, window sizes, indices."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        ndim = int(rng.integers(0, 4))
        self.shape = [int(n) for n in rng.integers(1, 5, ndim)]
        axes = [int(a) for a in rng.permutation(ndim)]
        pairs = int(rng.integers(0, min(2, ndim) + 1)) if rng.random() < 0.4 else 0
        self.paired, rest = tuple(sorted(axes[:pairs])), axes[pairs:]
        self.indexed = tuple(rest[: int(rng.integers(0, len(rest) + 1))])
        self.sizes = [1 if a in self.paired else self._size(rng, n) for a, n in enumerate(self.shape)]
        self.collapsed = tuple(a for a in range(ndim)
                               if a not in self.paired and self.sizes[a] == 1 and rng.random() < 0.7)  # fmt: skip
        batch = [
            *[("pair", a) for a in self.paired],
            *[("free", int(n)) for n in rng.integers(1, 4, rng.integers(0, 3))],
        ]
        batch = [batch[i] for i in rng.permutation(len(batch))]
        self.batch = [self.shape[n] if kind == "pair" else n for kind, n in batch]
        self.index_pairs = tuple(batch.index(("pair", a)) for a in self.paired)
        windows = ndim - len(self.collapsed) - pairs
        self.rank = windows + len(batch)
        self.windows = tuple(sorted(int(i) for i in rng.permutation(self.rank)[:windows]))
        low, high = (-2, 6) if rng.random() < 0.6 else (0, 1)
        dtype = rng.choice([np.int32, np.int64, np.int8])
        self.indices = rng.integers(low, high, (*self.batch, len(self.indexed))).astype(dtype)

    @staticmethod
    def _size(rng, n):
        return n if rng.random() < 0.5 else int(rng.integers(0 if rng.random() < 0.1 else 1, n + 1))

    def numbers(self, kind):
        """The dimension numbers of a gather, or of the scatter with the same fields."""
        return kind(self.windows, self.collapsed, self.indexed, self.paired, self.index_pairs)

    def update_shape(self):
        """The shape of the gather's result, which is that of the scatter's updates."""
        gone = (*self.collapsed, *self.paired)
        sizes, batch = iter([n for a, n in enumerate(self.sizes) if a not in gone]), iter(self.batch)
        return [next(sizes) if i in self.windows else next(batch) for i in range(self.rank)]


@pytest.mark.parametrize("seed", range(120))
def test_random_layouts(seed):
    case = _Random(seed)
    x = np.arange(int(np.prod(case.shape)), dtype=np.float32).reshape(case.shape) + 1
    updates = np.random.default_rng(seed).integers(1, 1000, case.update_shape()).astype(np.float32)
    constants = (1,) if seed % 3 == 0 else ()
    for mode in MODES:
        params = _gather(case.numbers(GatherDimensionNumbers), case.sizes, mode, x.dtype)
        (got,) = run_lowering(prims.gather_p, [x, case.indices], params, constants=constants)
        assert_same_bits(got, run_kernel(prims.gather_p, [x, case.indices], params)[0], f"gather {mode}")
        params = _scatter(case.numbers(ScatterDimensionNumbers), mode)
        for p in (prims.scatter_add_p, prims.scatter_min_p, prims.scatter_p):
            operands = [x, case.indices, updates]
            (got,) = run_lowering(p, operands, params, constants=constants)
            assert_same_bits(got, run_kernel(p, operands, params)[0], f"{p.name} {mode}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_every_type(dtype, mode):
    x = (np.arange(15) % 5).astype(dtype).reshape(5, 3)
    indices = np.array([[0], [7], [-1], [2], [2]], np.int32)
    for opset in OPSETS:
        params = _gather(ROWS, (1, 3), mode, dtype)
        got = run_lowering(prims.gather_p, [x, indices], params, opset)[0]
        assert_same_bits(got, run_kernel(prims.gather_p, [x, indices], params)[0])
    updates = (np.arange(15) % 3 + 1).astype(dtype).reshape(5, 3)
    updates[4] = updates[3]  # which of two that meet is written last is not defined
    for name in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max", "scatter_sub"):
        p, operands = getattr(prims, f"{name}_p"), [x, indices, updates]
        if dtype.kind == "b" and name in ("scatter_add", "scatter_mul", "scatter_sub"):
            continue
        params = _scatter(ROW_UPDATES, mode)
        assert_ulps(run_lowering(p, operands, params)[0], run_kernel(p, operands, params)[0], what=name)


# places, width of a row, number of updates: below the one-thread limit, in portions, by elements
MEETING = [
    (10, 4, 24_000),
    (10, 4, 100_000),
    (10, 1, 1_000_000),
    (300, 64, 10_000),
    (4, 200_000, 5),
    (10, 1, 7_000_000),
]


@pytest.mark.parametrize("places, width, count", MEETING)
def test_updates_that_meet_are_all_counted(places, width, count):
    """The runtime (1.31.1) loses updates when several threads of one ScatterND meet at a place."""
    x, updates = np.zeros((places, width), np.float32), np.ones((count, width), np.float32)
    indices = np.random.default_rng(0).integers(0, places, (count, 1)).astype(np.int32)
    numbers = ScatterDimensionNumbers((1,), (0,), (0,))
    want = np.bincount(indices[:, 0], minlength=places).astype(np.float32)[:, None] + x
    for _ in range(3):
        (got,) = run_lowering(prims.scatter_add_p, [x, indices, updates], _scatter(numbers, FILL_OR_DROP))
        assert_same_bits(got, want)


def test_constant_indices_need_no_guard():
    x, indices = np.ones((5, 3), np.float32), np.array([[0], [4]], np.int32)
    params = _gather(ROWS, (1, 3), FILL_OR_DROP, x.dtype)
    assert operators(prims.gather_p, [x, indices], params, constants=(1,)) == ["Gather"]
    params = _scatter(ROW_UPDATES, FILL_OR_DROP)
    assert operators(prims.scatter_add_p, [x, indices, x[:2]], params, constants=(1,)) == ["ScatterND"]
    assert operators(prims.gather_p, [x, indices], _gather(ROWS, (1, 3), CLIP, x.dtype)) == [
        "Reshape",
        "Clip",
        "Gather",
    ]
