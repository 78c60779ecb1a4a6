"""`x[index]`: random indices against NumPy, evaluated and staged; clamping, errors, programs, symbolic dimensions.

Expected words and programs: JAX 0.10.2.
"""

import re
from collections import namedtuple

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import jit
from onax._core.evaluate import eval_jaxpr
from onax._ground import dims, dtypes
from onax._ground.config import Option, _find
from onax._ground.errors import NonConcreteBooleanIndexError
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad
from onax._transforms.vmap import vmap
from onax.tree_util import tree_leaves as leaves

X = np.arange(20, dtype=np.float32).reshape(4, 5)
W = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
AR = np.array([0, 1], np.int32)
I = np.int32(2)
CHECKED = Option(_find("jax_check_static_indices"))
Generator = namedtuple("Generator", "tag key_shape")


def program(function, *args):
    """The jaxpr's text on one line."""
    text = re.sub(r"\s+", " ", str(make_jaxpr(function)(*args)))
    return text.replace("[ ", "[").replace(" ]", "]")


def staged(function, *args):
    """The result of evaluating the staged function."""
    jaxpr = make_jaxpr(function)(*args)
    (out,) = eval_jaxpr(jaxpr, jaxpr.consts, *map(jnp.asarray, args))
    return out


def random_index(rng, shape):
    """An index within bounds: integers, slices, None, Ellipsis, integer arrays, masks."""
    parts, axis, arrays = [], 0, tuple(rng.integers(1, 4, rng.integers(0, 3)))
    while axis < len(shape):
        n, kind = shape[axis], rng.integers(0, 8)
        if kind == 0:
            parts.append(None)
            continue
        if kind == 1 and not any(p is Ellipsis for p in parts):
            skipped = int(rng.integers(0, len(shape) - axis + 1))
            parts.append(Ellipsis)
            axis += skipped
            continue
        if kind == 2:
            parts.append(int(rng.integers(-n, n)))
        elif kind == 3:
            parts.append(rng.integers(-n, n, arrays).astype(np.int32))
        elif kind == 4 and not arrays:
            parts.append(rng.integers(0, 2, n).astype(bool))
        else:
            bounds = [None if rng.random() < 0.3 else int(rng.integers(-n - 2, n + 3)) for _ in range(2)]
            parts.append(slice(*bounds, [None, 1, 2, -1, -2, 3][rng.integers(0, 6)]))
        axis += 1
    return tuple(parts)


@pytest.mark.parametrize("seed", range(6))
def test_random_indices(seed):
    rng = np.random.default_rng(seed)
    for _ in range(150):
        shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(0, 4)))
        x = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
        index = random_index(rng, shape)
        try:
            want = x[index]
        except IndexError:  # two masks that select different numbers of elements
            continue
        a = jnp.asarray(x)
        np.testing.assert_array_equal(np.asarray(a[index]), want, f"{shape} {index}", strict=True)
        np.testing.assert_array_equal(
            np.asarray(staged(lambda a, i=index: a[i], a)), want, f"{shape} {index}", strict=True
        )


def test_indices_that_are_traced():
    """Scalars and arrays as arguments."""
    x = jnp.asarray(W)
    for f in (
        lambda x, i, a: x[i],
        lambda x, i, a: x[i, 1:3],
        lambda x, i, a: x[::2, i],
        lambda x, i, a: x[:, i, ::-1],
        lambda x, i, a: x[a],
        lambda x, i, a: x[a, :, a],
        lambda x, i, a: x[i, :, a],
        lambda x, i, a: x[a, i, None],
        lambda x, i, a: x[..., a[:, None], a],
        lambda x, i, a: x[1:, ::-1, a],
    ):
        want = f(W, 2, AR)
        np.testing.assert_array_equal(np.asarray(f(x, jnp.asarray(I), jnp.asarray(AR))), want)
        np.testing.assert_array_equal(np.asarray(staged(f, x, I, AR)), want)


CLAMPED = (
    (lambda v: v[10], 5),
    (lambda v: v[-10], 0),
    (lambda v: v[jnp.array([10, -10, -1])], [5, 0, 5]),
    (lambda v: v[np.array([10, -10, -1])], [5, 0, 5]),
    (lambda v: v[jnp.uint8(200)], 5),
    (lambda v: v[jnp.int32(9)], 5),
    (lambda v: v[jnp.array([250], "uint8")], [5]),
    (lambda v: v[::2][7], 4),
    (lambda v: v[None, 7], [5]),
)


@pytest.mark.parametrize("f, want", CLAMPED, ids=range(len(CLAMPED)))
def test_out_of_bounds_reads_are_clamped(f, want):
    v = jnp.arange(6)
    assert np.asarray(f(v)).tolist() == want
    assert np.asarray(staged(f, v)).tolist() == want


def test_kinds_of_index():
    x = jnp.asarray(X)
    assert x[(0, 1),].shape == (2, 5) and x[[0, 1],].shape == (2, 5) and x[0, [0, 1]].shape == (2,)
    assert x[True].shape == (1, 4, 5) and x[False].shape == (0, 4, 5) and x[np.True_].shape == (1, 4, 5)
    assert x[x > 7].shape == (12,) and x[np.array([True, False, True, False])].shape == (2, 5)
    assert x[jnp.array([], int)].shape == (0, 5) and x[[],].shape == (0, 5)
    assert x[np.int64(1)].shape == (5,) and x[np.array(1)].shape == (5,)
    assert x[jnp.int32(1) : np.int64(3)].shape == (2, 5)
    assert jnp.ones((2, 0))[:, AR[:0]].shape == (2, 0)
    assert jnp.broadcast_to(jnp.asarray(1.0), (3,))[0].weak_type
    assert [float(row[0]) for row in x] == [0, 5, 10, 15]


SEQUENCE = r"Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr\[array\(seq\)\]`"
WRONG = (
    (lambda x: x[[0, 1]], TypeError, SEQUENCE),
    (lambda x: x.at[[0, 1]].set(1), TypeError, SEQUENCE),
    (lambda x: x[1.0], TypeError, "Indexer must have integer or boolean type, got indexer with type float64"),
    (lambda x: x[np.float32(1)], TypeError, "got indexer with type float32"),
    (lambda x: x[jnp.ones(2)], TypeError, "got indexer with type float32"),
    (lambda x: x["a"], TypeError, "JAX does not support string indexing; got idx='a'"),
    (lambda x: x[0, 0, 0], IndexError, "Too many indices: array is 2-dimensional, but 3 were indexed"),
    (lambda x: x[AR, AR, AR], IndexError, "Too many indices: array is 2-dimensional, but 3 were indexed"),
    (lambda x: x[..., ...], IndexError, r"an index can only have a single ellipsis \('...'\)"),
    (lambda x: x[1.5:2], TypeError, "'float' object cannot be interpreted as an integer"),
    (lambda x: x[::0], ValueError, "slice step cannot be zero"),
    (lambda x: x[AR, np.arange(3)], ValueError, "Incompatible shapes for broadcasting"),
    (lambda x: x[np.array([True, False])], IndexError, r"did not match shape .* in index 0: got \(2,\), expected \[4"),
    (lambda x: x[:0][0], IndexError, "index is out of bounds for axis 0 with size 0"),
    (lambda x: x[:0][AR], TypeError, "Slice size at index 0 in gather op is out of range"),
    (lambda x: x.at[0].get(mode="wrap"), ValueError, 'Unknown gather mode "wrap"'),
)  # fmt: skip


@pytest.mark.parametrize("f, error, words", WRONG, ids=range(len(WRONG)))
def test_errors(f, error, words):
    """The same words when evaluating and when staging."""
    with pytest.raises(error, match=words):
        f(jnp.asarray(X))
    with pytest.raises(error, match=words):
        make_jaxpr(f)(X)


def test_errors_of_traced_indices():
    with pytest.raises(NonConcreteBooleanIndexError, match=r"Array boolean indices must be concrete; got bool\[4\]"):
        make_jaxpr(lambda x, m: x[m])(X, np.ones(4, bool))
    with pytest.raises(IndexError, match=r"Slice entries must be static integers. Got slice\(.*\) at position 1"):
        make_jaxpr(lambda x, i: x[:, i:])(X, I)


GATHER = (
    "gather[dimension_numbers=GatherDimensionNumbers(offset_dims={}, collapsed_slice_dims={}, start_index_map={}, "
    "operand_batching_dims=(), start_indices_batching_dims=()) fill_value={} indices_are_sorted={} "
    "mode=GatherScatterMode.{} slice_sizes={} unique_indices={}]"
)
WRAP = "c:i32[2] = add b 4:i32[]"
PROGRAMS = (
    (lambda x: x[1], (X,), "b:f32[1,5] = slice[limit_indices=(2, 5) start_indices=(1, 0) strides=None] a "
     "c:f32[5] = squeeze[dimensions=(0,)] b"),
    (lambda x: x[::-2, 1], (X,), "b:f32[2,1] = slice[limit_indices=(4, 2) start_indices=(1, 1) strides=(2, 1)] a "
     "c:f32[2,1] = rev[dimensions=(0,)] b d:f32[2] = squeeze[dimensions=(1,)] c"),
    (lambda x: x[1:3, None, ..., 0], (X,), "c:f32[2] = squeeze[dimensions=(1,)] b "
     "d:f32[2,1] = broadcast_in_dim[broadcast_dimensions=(0,)] c"),
    (lambda x: x[:], (X,), "{ lambda ; a:f32[4,5]. let in (a,) }"),
    (lambda x: x[10], (X,), "b:bool[] = lt 10:i32[] 0:i32[] c:i32[] = add 10:i32[] 4:i32[]"),
    (lambda x, i: x[1:3, i], (X, I), "c:bool[] = lt 1:i32[] 0:i32[] d:i32[] = add 1:i32[] 4:i32[] "
     "e:i32[] = select_n c 1:i32[] d f:bool[] = lt b 0:i32[] g:i32[] = add b 5:i32[] h:i32[] = select_n f b g "
     "i:f32[2,1] = dynamic_slice[slice_sizes=(2, 1)] a e h j:f32[2] = squeeze[dimensions=(1,)] i"),
    (lambda x, i: x[::2, i], (X, I), "f:i32[2] = iota[dimension=0 dtype=int32 shape=(2,) sharding=None] "
     "g:i32[2] = mul 2:i32[] f h:i32[2] = add 0:i32[] g i:i32[2,1] = broadcast_in_dim[broadcast_dimensions=(0,)] h "
     "j:i32[2,1] = broadcast_in_dim e k:i32[2,2] = concatenate[dimension=1] i j l:f32[2] = "
     + GATHER.format("()", "(0, 1)", "(0, 1)", None, True, "PROMISE_IN_BOUNDS", "(1, 1)", True) + " a k"),
    (lambda x, a: x[a], (X, AR), "c:bool[2] = lt b 0:i32[] d:i32[2] = add b 4:i32[] e:i32[2] = select_n c b d "
     "f:i32[2,1] = broadcast_in_dim[broadcast_dimensions=(0,)] e g:f32[2,5] = "
     + GATHER.format("(1,)", "(0,)", "(0,)", None, False, "PROMISE_IN_BOUNDS", "(1, 5)", False) + " a f"),
    (lambda x, a: x[a, None, 1], (X, AR), "f:i32[2] = broadcast_in_dim 1:i32[] "
     "g:i32[2] = convert_element_type[new_dtype=int32 weak_type=False] f"),
    (lambda x, a: x[1:, ::-1, a], (W, AR), "f:i32[4] = iota[dimension=0 dtype=int32 shape=(4,) sharding=None] "
     "g:i32[4] = mul -1:i32[] f h:i32[4] = add 3:i32[] g i:i32[4] = rev[dimensions=(0,)] h"),
    (lambda x, a: x.at[a].get(mode="fill", fill_value=3.0), (X, AR),
     GATHER.format("(1,)", "(0,)", "(0,)", 3.0, False, "FILL_OR_DROP", "(1, 5)", False)),
    (lambda x: x.at[2].get(mode="fill"), (X,), "b:i32[1] = broadcast_in_dim 2:i32[] c:f32[5] = "
     + GATHER.format("(0,)", "(0,)", "(0,)", "nan", True, "FILL_OR_DROP", "(1, 5)", True) + " a b"),
    (lambda x, a: x.at[a].get(wrap_negative_indices=False), (X, AR),
     "let c:i32[2,1] = broadcast_in_dim[broadcast_dimensions=(0,)] b d:f32[2,5] = gather"),
    (grad(lambda x, i: x[i].sum()), (X, I), "l:f32[1,5] = broadcast_in_dim[broadcast_dimensions=(1,)] k "
     "m:f32[4,5] = broadcast_in_dim 0.0:f32[] n:f32[4,5] = dynamic_update_slice m l e h"),
    (vmap(lambda x, i: x[i]), (X, np.arange(4, dtype=np.int32)), "start_index_map=(1,), operand_batching_dims=(0,), "
     "start_indices_batching_dims=(0,)) fill_value=None indices_are_sorted=True mode=GatherScatterMode.CLIP"),
)  # fmt: skip


@pytest.mark.parametrize("function, args, part", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(function, args, part):
    assert part in program(function, *args)


def test_keys():
    dtype = dtypes.KeyType(Generator("fry", (2,)))
    bits = np.arange(8, dtype=np.uint32).reshape(4, 2)
    k = make_array(bits.view(dtype.storage).reshape(4), dtype)
    for index in (1, slice(1, 3), AR, slice(None, None, -1), None):
        got, at = k[index], staged(lambda k, i=index: k[i], k)
        want = bits[index]
        assert got.dtype == dtype == at.dtype and got.shape == want.shape[:-1] == at.shape
        assert (got._value.reshape(-1).view(np.uint32) == want.ravel()).all()
    assert k.at[0].set(k[2])[0]._value.reshape(1).view(np.uint32).tolist() == [4, 5]


def test_symbolic_dimensions():
    (b,) = dims.parse_dims("b")
    x = ShapedArray((b, 5), np.dtype("float32"))
    rows = ShapedArray((b,), np.dtype("int32"))
    shapes = lambda f, *avals: [a.shape for a in make_jaxpr(f)(*avals).out_avals]
    for f, want in (
        (lambda x: x[0], (5,)),
        (lambda x: x[-1], (5,)),
        (lambda x: x[3], (5,)),
        (lambda x: x[:, 0], (b,)),
        (lambda x: x[:3], (dims.min_dim(b, 3), 5)),
        (lambda x: x[1:], (b - 1, 5)),
        (lambda x: x[:-1], (b - 1, 5)),
        (lambda x: x[::-1], (b, 5)),
        (lambda x: x[::2], ((b + 1) // 2, 5)),
        (lambda x: x[1:-1], (dims.max_dim(0, b - 2), 5)),
        (lambda x: x[2:4], (dims.min_dim(b, 4) - dims.min_dim(b, 2), 5)),
        (lambda x: x[:, AR], (b, 2)),
        (lambda x: x[AR], (2, 5)),
        (lambda x: x[None, ..., 1:3], (1, b, 2)),
        (lambda x: x.at[0].set(1.0), (b, 5)),
        (lambda x: x.at[:, 1].add(x[:, 0]), (b, 5)),
    ):
        assert shapes(f, x) == [want]
    assert shapes(lambda x, y: x[jnp.arange(x.shape[0]), y], x, rows) == [(b,)]
    assert shapes(lambda x, y: x[y], x, rows) == [(b, 5)]
    assert shapes(vmap(lambda r, i: r[i]), x, rows) == [(b,)]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (4, "index 4 out of bounds for axis 0 with size 4"),
        (-5, "index -5 out of bounds for axis 0 with size 4"),
        ((slice(None), 5), "index 5 out of bounds for axis 1 with size 5"),
        ((..., np.int8(-6)), "index -6 out of bounds for axis 1 with size 5"),
        ((AR, 7), "index 7 out of bounds for axis 1 with size 5"),
    ],
)
def test_the_option_that_checks_static_indices(index, words):
    x = jnp.asarray(X)
    reads = [lambda x: x[index], jit(lambda x: x[index]), lambda x: x.at[index].get()]
    for read in reads:
        assert read(x).size  # clamped
        with CHECKED(True), pytest.raises(IndexError, match=re.escape(words)):
            read(x)
    with CHECKED(True):
        assert x.at[index].set(0).shape == x.shape and x.at[index].get(mode="clip").size and x[-4, 4] == 4
        with pytest.raises(IndexError, match="normalize_indices=False"):
            x.at[-1].get(wrap_negative_indices=False)


@pytest.mark.parametrize("shape", [(0,), (0, 5), (4, 0)])
def test_masks_of_length_0(shape):
    x, mask = jnp.asarray(X), np.empty(shape, bool)
    assert x[mask].shape == X[:0].reshape(0, *X.shape[len(shape) :]).shape
    np.testing.assert_array_equal(x.at[mask].set(0), X)
    with pytest.raises(IndexError, match="boolean index did not match shape"):
        x[np.empty((3, 0), bool)]


@pytest.mark.parametrize(
    ("index", "better"),
    [([0], "array"), ([0, 1], "array"), ([[0, 1]], "tuple"), ([0, None], "tuple"), ([0, AR], "tuple")],
)
def test_lists_are_no_indices(index, better):
    for call in (lambda: jnp.asarray(X)[index], lambda: jnp.asarray(X).at[index].set(0)):
        with pytest.raises(TypeError, match=re.escape(f"use `arr[{better}(seq)]` instead of `arr[seq]`")):
            call()


SIZED = [  # index as a function of a start, the start, what it reads of X
    (lambda i: onax.ds(i, 2), 1, X[1:3]),
    (lambda i: onax.ds(i, 2), 3, X[2:]),  # begins earlier
    (lambda i: onax.ds(i, 2), -3, X[1:3]),
    (lambda i: onax.ds(i, 0), 1, X[:0]),
    (lambda i: (1, onax.ds(i, 2)), 2, X[1, 2:4]),
    (lambda i: (onax.ds(i, 2), i), 1, X[1:3, 1]),
    (lambda i: (..., onax.ds(i, 3)), 1, X[:, 1:4]),
    (lambda i: (None, onax.ds(i, 2), slice(None, None, -1)), 1, X[None, 1:3, ::-1]),
    (lambda i: (onax.ds(i, 2), slice(None, None, 2)), 1, X[1:3, ::2]),
    (lambda i: onax.ds(i, 2, 2), 1, X[1::2]),
    (lambda i: (onax.ds(i, 3, 2), 0), 0, X[[0, 2, 3], 0]),
    (lambda i: onax.ds(i, 2, 0), 1, X[[1, 1]]),
    (lambda i: (AR, onax.ds(i, 2)), 1, X[:2, 1:3]),
    (lambda i: (onax.ds(i, 2), AR), 1, X[1:3, :2]),
    (lambda i: (X[:, 0] > 5, onax.ds(i, 2)), 1, X[2:, 1:3]),
    (lambda i: onax.ds(3), 0, X[:3]),
    (lambda i: onax.ds(None), 0, X),
]


@pytest.mark.parametrize(("index", "start", "want"), SIZED)
def test_slices_of_a_size(index, start, want):
    x = jnp.asarray(X)
    read = lambda i: x[index(i)]
    for i in (start, np.int32(start), jnp.int32(start)):
        np.testing.assert_array_equal(read(i), want, strict=True)
        np.testing.assert_array_equal(jit(read)(i), want, strict=True)
    np.testing.assert_array_equal(vmap(read)(jnp.array([0, start]))[1], want, strict=True)
    hits = grad(lambda x: x[index(start)].sum())(x)
    np.testing.assert_array_equal(X[hits > 0], np.unique(want)[: np.count_nonzero(hits)])
    assert np.count_nonzero(hits) >= np.unique(want).size - 1  # what is read outside has no derivative, as in JAX


def test_updates_at_slices_of_a_size():
    x = jnp.asarray(X)
    for wrap in (lambda f: f, jit):
        np.testing.assert_array_equal(wrap(lambda i: x.at[onax.ds(i, 2)].set(0))(1), np.where(X // 5 % 3 > 0, 0, X))
        np.testing.assert_array_equal(wrap(lambda i: x.at[onax.ds(i, 2)].set(0))(3), X)  # leaves the array: dropped
        np.testing.assert_array_equal(wrap(lambda i: x.at[onax.ds(i, 2)].get(mode="fill"))(3), np.full((2, 5), np.nan))
        added = wrap(lambda i: x.at[AR, onax.ds(i, 2, 2)].add(1.0))(1)
        np.testing.assert_array_equal(added - X, [[0, 1, 0, 1, 0]] * 2 + [[0] * 5] * 2)


def test_a_slice_of_a_size_is_an_operand():
    x = jnp.asarray(X)
    read = jit(lambda x, part: x[part])
    assert len(leaves(onax.ds(1, 2))) == 0
    for start in (1, jnp.int32(1)):
        np.testing.assert_array_equal(read(x, onax.ds(start, 2)), X[1:3])
    assert onax.ds(1, 2) == onax.ds(1, 2) and onax.ds(1, 2) != onax.ds(1, 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jnp.asarray(X)[onax.ds(0, 9)], TypeError, "slice slice_sizes must be less than or equal to operand"),
        (lambda: jnp.asarray(X)[onax.ds(AR, 2)], TypeError, "start_indices arguments to dynamic_slice must be scalars"),
        (lambda: jnp.asarray(X)[(onax.ds(0, 1),) * 3], IndexError, "Too many indices"),
        (lambda: onax.ds(0, 2, -1), ValueError, "`stride` must be >= 0."),
        (lambda: onax.ds(0, 2, jnp.int32(1)), ValueError, "Non-static stride"),
    ],
)
def test_errors_of_slices_of_a_size(call, error, words):
    with pytest.raises(error, match=re.escape(words)):
        call()


@pytest.mark.parametrize(
    "index, wanted", [(9, [8, 9, 10, 11]), (-9, [0, 1, 2, 3]), ((1, 9), 7), ((slice(1, 9), -7), [4, 8])]
)
def test_clipped_positions_that_are_known_are_read_by_a_slice(index, wanted):
    x = jnp.arange(12).reshape(3, 4)
    read = lambda x: x.at[index].get(mode="clip")
    assert read(x).tolist() == wanted
    assert [e.primitive.name for e in onax.make_jaxpr(read)(x).eqns] == ["slice", "squeeze"]


@pytest.mark.parametrize("index", [(), ..., None, (None, ..., None), slice(None), (slice(0, 3), slice(None))])
@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", None])
def test_what_reads_everything_gathers_nothing(index, mode):
    x = jnp.arange(12).reshape(3, 4)
    read = lambda x: x.at[index].get(mode=mode)
    np.testing.assert_array_equal(read(x), np.arange(12).reshape(3, 4)[index])
    assert [e.primitive.name for e in onax.make_jaxpr(read)(x).eqns if e.primitive.name != "broadcast_in_dim"] == []


@pytest.mark.parametrize(
    "index", [np.int8(1), (np.int32(1), slice(0, 2)), (np.int64(1), np.uint8(2)), (0, np.int32(-1), slice(1, 3))]
)
def test_scalar_arrays_of_any_dtype_beside_numbers(index):
    with onax.enable_x64(True):
        x = jnp.arange(60.0).reshape(3, 4, 5)
        arrays = onax.tree.map(lambda i: jnp.asarray(i) if isinstance(i, np.generic) else i, index)
        wanted = np.asarray(x)[index]
        assert np.array_equal(x.at[arrays].get(), wanted) and np.array_equal(x[arrays], wanted)
        assert float(onax.grad(lambda x: x.at[arrays].get().sum())(x).sum()) == wanted.size
