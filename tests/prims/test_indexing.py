"""Gather and scatter against a direct reading of their definition; errors, programs, keys, symbolic dimensions.

Expected words and programs: JAX 0.10.2.
"""

import itertools
import re
from collections import namedtuple

import numpy as np
import pytest

from onax import jit, lax, linearize
from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad, jvp
from onax._transforms.vmap import vmap

X = np.arange(20, dtype=np.float32).reshape(4, 5)
ROWS = lax.GatherDimensionNumbers((1,), (0,), (0,))
INTO_ROWS = lax.ScatterDimensionNumbers((1,), (0,), (0,))
POINTS = lax.ScatterDimensionNumbers((), (0,), (0,))
Generator = namedtuple("Generator", "tag key_shape")


def program(function, *args):
    """The jaxpr's text on one line."""
    text = re.sub(r"\s+", " ", str(make_jaxpr(function)(*args)))
    return text.replace("[ ", "[").replace(" ]", "]")


def layout(rng):
    """A random operand shape, index array, dimension numbers of a gather and window sizes."""
    rank = rng.integers(0, 4)
    batch = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 4, rng.integers(0, 3)))
    shape = [int(n) for n in rng.integers(1, 5, rank)]
    axes = rng.permutation(rank)
    batching = axes[: rng.integers(0, min(rank, len(batch)) + 1)]
    along = rng.permutation(len(batch))[: len(batching)]
    order = np.argsort(batching)
    batching, along = batching[order], along[order]
    for a, i in zip(batching, along):
        shape[a] = int(batch[i])
    rest = axes[len(batching) :]
    point = np.sort(rest[: rng.integers(0, len(rest) + 1)])
    point = [a for a in point if shape[a] > 0]
    index_map = rng.permutation(rest)[: rng.integers(0, len(rest) + 1)]
    dropped = {*map(int, point), *map(int, batching)}
    sizes = [min(1, n) if a in dropped else int(rng.integers(0, n + 1)) for a, n in enumerate(shape)]
    windows = rank - len(dropped)
    offsets = np.sort(rng.permutation(len(batch) + windows)[:windows])
    indices = rng.integers(-2, 6, (*batch, len(index_map))).astype(np.int32)
    as_ints = lambda values: tuple(int(v) for v in values)
    numbers = tuple(map(as_ints, (offsets, point, index_map, batching, along)))
    return tuple(shape), indices, numbers, tuple(sizes)


def windows(shape, indices, numbers, sizes):
    """(place of the result, place in the operand before clamping, start of the window), for each element."""
    offsets, point, index_map, batching, along = numbers
    kept = [a for a in range(len(shape)) if a not in point and a not in batching]
    batch = indices.shape[:-1]
    rank = len(batch) + len(offsets)
    for at in np.ndindex(*batch):
        start = [0] * len(shape)
        for k, a in enumerate(index_map):
            start[a] = int(indices[at][k])
        base = [0] * len(shape)
        for a, i in zip(batching, along):
            base[a] = at[i]
        for inside in itertools.product(*(range(sizes[a]) for a in kept)):
            offset = dict(zip(kept, inside))
            of_window, of_batch = iter(inside), iter(at)
            place = tuple(next(of_window) if o in offsets else next(of_batch) for o in range(rank))
            yield place, [offset.get(a, 0) + base[a] for a in range(len(shape))], start


def clipped(start, shape, sizes):
    """The start moved inside."""
    return [min(max(s, 0), n - m) for s, n, m in zip(start, shape, sizes)]


def result_shape(indices, numbers, sizes, shape):
    """The shape of a gather."""
    offsets, point, _, batching, _ = numbers
    of_window = iter([sizes[a] for a in range(len(shape)) if a not in point and a not in batching])
    of_batch = iter(indices.shape[:-1])
    rank = indices.ndim - 1 + len(offsets)
    return tuple(next(of_window) if o in offsets else next(of_batch) for o in range(rank))


@pytest.mark.parametrize("seed", range(8))
def test_gather_against_definition(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        shape, indices, numbers, sizes = layout(rng)
        x = rng.integers(1, 100, shape).astype(np.float32)
        for mode in ("clip", "fill", "promise_in_bounds"):
            want = np.zeros(result_shape(indices, numbers, sizes, shape), np.float32)
            for place, offset, start in windows(shape, indices, numbers, sizes):
                moved = clipped(start, shape, sizes)
                if mode == "fill" and moved != start:
                    want[place] = -7
                else:
                    want[place] = x[tuple(s + o for s, o in zip(moved, offset))]
            got = lax.gather(x, indices, lax.GatherDimensionNumbers(*numbers), sizes, mode=mode, fill_value=-7)
            np.testing.assert_array_equal(np.asarray(got), want, f"{shape} {indices} {numbers} {sizes} {mode}")


COMBINE = {
    lax.scatter: lambda old, new: new,
    lax.scatter_add: np.add,
    lax.scatter_sub: np.subtract,
    lax.scatter_mul: np.multiply,
    lax.scatter_min: np.minimum,
    lax.scatter_max: np.maximum,
}


@pytest.mark.parametrize("scatter", COMBINE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["clip", "drop"])
def test_scatter_against_definition(scatter, mode):
    rng = np.random.default_rng(0)
    for _ in range(120):
        shape, indices, numbers, sizes = layout(rng)
        x = rng.integers(-9, 9, shape).astype(np.int32)
        updates = rng.integers(-9, 9, result_shape(indices, numbers, sizes, shape)).astype(np.int32)
        want = x.copy()
        for place, offset, start in windows(shape, indices, numbers, sizes):
            moved = clipped(start, shape, sizes)
            if mode == "clip" or moved == start:
                at = tuple(s + o for s, o in zip(moved, offset))
                want[at] = COMBINE[scatter](want[at], updates[place])
        got = scatter(x, indices, updates, lax.ScatterDimensionNumbers(*numbers), mode=mode)
        np.testing.assert_array_equal(np.asarray(got), want, f"{shape} {indices} {numbers} {sizes}")


FILLS = (
    ("float32", np.nan), ("bfloat16", np.nan), ("complex64", complex(np.nan, 0)), ("int8", -128), ("int32", -(2**31)),
    ("uint8", 255), ("bool", True),
)  # fmt: skip


@pytest.mark.parametrize("dtype, fill", FILLS)
def test_default_fill(dtype, fill):
    got = np.asarray(
        lax.gather(X.astype(dtypes.canonicalize_dtype(dtype)), [[1], [9]] * np.ones((1, 1), int), ROWS, (1, 5))
    )
    np.testing.assert_array_equal(got[1].astype(complex), np.full(5, fill, complex))


@pytest.mark.parametrize("kind", ["int8", "uint8", "uint64", "uint32"])
def test_index_types(kind):
    """Large unsigned indices are out of bounds, not negative."""
    indices = np.array([[3], [np.iinfo(kind).max]], kind)
    got = np.asarray(lax.gather(X, indices, ROWS, (1, 5), mode="clip"))
    np.testing.assert_array_equal(got, X[[3, 3]] if np.iinfo(kind).max > 100 else X)


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds", None])
@pytest.mark.parametrize("offset_dims, collapsed, size, shape", [((), (0,), 1, (0,)), ((1,), (), 3, (0, 3))])
def test_windows_of_which_there_are_none_fit(mode, offset_dims, collapsed, size, shape):
    numbers = lax.GatherDimensionNumbers(offset_dims, collapsed, (0,))
    gather = lambda x, i: lax.gather(x, i, numbers, (size,), mode=mode)
    x, none = np.zeros(0, np.float32), np.zeros((0, 1), np.int32)
    for f in (gather, jit(gather), lambda x, i: linearize(lambda x: gather(x, i), x)[1](x)):
        assert f(x, none).shape == shape
    assert vmap(gather, (None, 0))(x, none[None].repeat(2, 0)).shape == (2, *shape)
    with pytest.raises(TypeError, match=r"Slice size at index 0 in gather op is out of range, must be within \[0, 0"):
        gather(x, np.zeros((1, 1), np.int32))


# ---- errors ----

INDEX = np.array([[1], [2]])


def gather(sizes=(1, 5), indices=INDEX, **changes):
    """A gather of rows with something changed."""
    return lax.gather(X, indices, ROWS._replace(**changes), sizes)


def scatter(updates=(2, 5), indices=INDEX, **changes):
    """A scatter into rows with something changed."""
    return lax.scatter_add(X, indices, np.ones(updates, np.float32), INTO_ROWS._replace(**changes))


WRONG = (
    (lambda: gather(indices=INDEX * 1.0), ValueError, "indices must have an integer type"),
    (lambda: gather(offset_dims=(1, 0)), TypeError, r"offset_dims in gather op must be sorted; got \(1, 0\)"),
    (lambda: gather(offset_dims=(1, 1)), TypeError, "offset_dims in gather op must not repeat"),
    (lambda: gather(offset_dims=(4,)), TypeError, r"Offset dimension 0 in gather op is out of bounds; got 4"),
    (lambda: gather(start_index_map=(0, 1)), TypeError, "Gather op has 2 elements in start_index_map and the bound"),
    (lambda: gather(start_index_map=(3,)), TypeError, r"Invalid start_index_map; domain is \[0, 2\), got: 0->3"),
    (lambda: gather(collapsed_slice_dims=(3,)), TypeError, r"Invalid collapsed_slice_dims set in gather op"),
    (lambda: gather(collapsed_slice_dims=()), TypeError, "All components of the offset index in a gather op"),
    (lambda: gather((1,)), TypeError, "Gather op must have one slice size for every input dimension"),
    (lambda: gather((1, 7)), TypeError, r"Slice size at index 1 in gather op is out of range"),
    (lambda: gather((2, 5)), TypeError, "Gather op can only collapse slice dims with bound 1, but bound is 2"),
    (lambda: gather(indices=np.int32(2)), TypeError, "Gather index leaf dimension must be within"),
    (
        lambda: gather(operand_batching_dims=(1,), start_indices_batching_dims=(0,)),
        TypeError,
        r"requires operand batching dimensions and indices batching dimensions to have the same shape",
    ),
    (lambda: gather(operand_batching_dims=(0,)), TypeError, "must be disjoint"),
    (lambda: scatter((2, 7)), TypeError, "Bounds of the window dimensions of updates must not exceed"),
    (lambda: scatter((3, 5)), TypeError, "Bounds of the scatter dimensions of updates must be the same"),
    (lambda: scatter((3,)), TypeError, "Updates tensor must be of rank 2; got 1"),
    (lambda: scatter(inserted_window_dims=()), TypeError, "Scatter op has window of size 1; doesn't match operand"),
    (lambda: scatter(inserted_window_dims=(4,)), TypeError, "Invalid inserted_window_dims set in scatter op"),
    (lambda: scatter(scatter_dims_to_operand_dims=(0, 1)), TypeError, "Scatter op has 2 elements in scatter_dims_to"),
    (lambda: lax.scatter(X, INDEX, np.ones((2, 5), int), INTO_ROWS), TypeError, "same dtypes, got float32, int32"),
    (
        lambda: lax.scatter_add(np.ones(3, bool), INDEX, np.ones(2, bool), POINTS),
        TypeError,
        "add does not accept dtype bool",
    ),
)


@pytest.mark.parametrize("call, error, words", WRONG, ids=range(len(WRONG)))
def test_errors(call, error, words):
    """The same words when evaluating and when staging."""
    with pytest.raises(error, match=words):
        call()
    with pytest.raises(error, match=words):
        make_jaxpr(call)()


# ---- derivatives and programs ----


def test_gradient_of_gather_is_scatter_add():
    text = program(grad(lambda x: lax.gather(x, INDEX, ROWS, (1, 5), mode="clip").sum()), X)
    assert (
        "scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), "
        "scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) "
        "indices_are_sorted=False mode=GatherScatterMode.CLIP unique_indices=False update_consts=() "
        "update_jaxpr={ lambda ; " in text
    )
    assert "= add " in text


def test_gradient_of_repeated_scatter():
    """Only the update that survived, and the elements that were not overwritten, have a gradient."""
    where = np.array([[1], [1], [2]])
    f = lambda v, u: lax.scatter(v, where, u, POINTS)
    v, u = np.float32([1, 2, 3, 4]), np.float32([5, 6, 7])
    gv, gu = grad(lambda v, u: (f(v, u) * np.float32([1, 10, 100, 1000])).sum(), argnums=(0, 1))(v, u)
    assert np.asarray(gv).tolist() == [1, 0, 0, 1000]
    assert np.asarray(gu).tolist() == [0, 10, 100]
    out, tangent = jvp(f, (v, u), (np.ones_like(v), 2 * np.ones_like(u)))
    assert np.asarray(out).tolist() == [1, 6, 7, 4]
    assert np.asarray(tangent).tolist() == [1, 2, 2, 1]


def test_ties_of_minimum_share():
    """Operand and updates that attain the minimum together get equal parts."""
    v, u = np.float32([1, 5]), np.float32([1, 1, 3])
    where = np.array([[0], [0], [1]])
    f = lambda v, u: lax.scatter_min(v, where, u, POINTS).sum()
    gv, gu = grad(f, argnums=(0, 1))(v, u)
    np.testing.assert_allclose(np.asarray(gv), [1 / 3, 0], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(gu), [1 / 3, 1 / 3, 1], rtol=1e-6)


def test_scatter_mul_needs_unique_indices():
    f = lambda u: lax.scatter_mul(np.ones(4, np.float32), INDEX, u, POINTS).sum()
    with pytest.raises(NotImplementedError, match="only implemented if `unique_indices=True`"):
        grad(f)(np.ones(2, np.float32))


BATCHED = (  # in_axes, dimension numbers of the batched gather
    ((1, None), "offset_dims=(0, 2), collapsed_slice_dims=(1,), start_index_map=(1,), operand_batching_dims=(), "
     "start_indices_batching_dims=()"),
    ((None, 0), "offset_dims=(2,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), "
     "start_indices_batching_dims=()"),
    ((0, 1), "offset_dims=(2,), collapsed_slice_dims=(1,), start_index_map=(1,), operand_batching_dims=(0,), "
     "start_indices_batching_dims=(0,)"),
)  # fmt: skip


@pytest.mark.parametrize("in_axes, numbers", BATCHED)
def test_batching(in_axes, numbers):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) if in_axes[0] is not None else np.ones((3, 4), np.float32)
    where = np.array([[1, 0], [2, 2]])[:, :, None] if in_axes[1] is not None else np.array([[1], [0]])
    sizes = (1, x.shape[2] if in_axes[0] == 1 else 4)
    f = vmap(lambda x, i: lax.gather(x, i, ROWS, sizes, mode="clip"), in_axes=in_axes)
    assert numbers in program(f, x, where)
    n = x.shape[in_axes[0]] if in_axes[0] is not None else where.shape[in_axes[1]]
    for k in range(n):
        xk = x if in_axes[0] is None else np.take(x, k, in_axes[0])
        wk = where if in_axes[1] is None else np.take(where, k, in_axes[1])
        np.testing.assert_array_equal(np.asarray(f(x, where))[k], xk[wk[:, 0]])


def test_batching_over_nothing():
    """A mapped axis of length 0 in both operands."""
    x, where = np.ones((0, 3, 4), np.float32), np.zeros((0, 2, 1), np.int32)
    assert vmap(lambda x, i: lax.gather(x, i, ROWS, (1, 4)))(x, where).shape == (0, 2, 4)


def test_index_take():
    got = lax.index_take(make_array(X), (np.array([0, -1]), np.array([6, 2])), (0, 1))
    np.testing.assert_array_equal(np.asarray(got), [X[0, 1], X[3, 2]])


# ---- keys and symbolic dimensions ----


def test_keys():
    dtype = dtypes.KeyType(Generator("fry", (2,)))
    bits = np.arange(8, dtype=np.uint32).reshape(4, 2)
    k = make_array(bits.view(dtype.storage).reshape(4), dtype)
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    got = lax.gather(k, np.array([[2], [9]]), numbers, (1,))
    assert got.dtype == dtype and got._value.view(np.uint32).tolist() == [4, 5, 2**32 - 1, 2**32 - 1]
    put = lax.scatter(k, np.array([[0]]), got[:1], POINTS)
    assert put._value.view(np.uint32).tolist() == [4, 5, 2, 3, 4, 5, 6, 7]
    mapped = vmap(lambda i: lax.gather(k, i, numbers, (1,), mode="clip"))(np.array([[[1]], [[3]]]))
    assert mapped.shape == (2, 1) and mapped.dtype == dtype


def test_symbolic_dimensions():
    (b,) = dims.parse_dims("b")
    x = ShapedArray((b, 5), np.dtype("float32"))
    where = ShapedArray((b, 1), np.dtype("int32"))
    shapes = lambda f, *avals: [a.shape for a in make_jaxpr(f)(*avals).out_avals]
    rows = lambda x, i: lax.gather(x, i, ROWS, (1, 5), mode="clip")
    assert shapes(rows, x, where) == [(b, 5)]
    assert shapes(grad(lambda x, i: rows(x, i).sum()), x, where) == [(b, 5)]
    add = lambda x, i: lax.scatter_add(x, i, rows(x, i), INTO_ROWS)
    assert shapes(add, x, where) == [(b, 5)]
    each = lambda row, i: lax.gather(row, i, lax.GatherDimensionNumbers((), (0,), (0,)), (1,))
    assert shapes(vmap(each), x, ShapedArray((b, 3, 1), np.dtype("int32"))) == [(b, 3)]
