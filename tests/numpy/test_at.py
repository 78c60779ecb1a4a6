"""`x.at[index]`: updates against NumPy's, evaluated and staged; what is dropped, clipped, warned of; gradients.

Expected words and programs: JAX 0.10.2.
"""

import re

import numpy as np
import pytest

import onax.numpy as jnp
from onax._core.evaluate import eval_jaxpr
from onax._ground.errors import NonConcreteBooleanIndexError
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad
from onax._transforms.vmap import vmap

X = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
V = np.arange(6, dtype=np.float32)
AR = np.array([0, 1], np.int32)


def program(function, *args):
    """The jaxpr's text on one line."""
    text = re.sub(r"\s+", " ", str(make_jaxpr(function)(*args)))
    return text.replace("[ ", "[").replace(" ]", "]")


def both(function, *args):
    """The result, evaluated and staged: they agree."""
    now = function(*map(jnp.asarray, args))
    jaxpr = make_jaxpr(function)(*args)
    (later,) = eval_jaxpr(jaxpr, jaxpr.consts, *map(jnp.asarray, args))
    assert now.aval == later.aval
    np.testing.assert_array_equal(np.asarray(now), np.asarray(later))
    return np.asarray(now)


def numpy_update(x, index, op, values):
    """The same by NumPy."""
    out = x.copy()
    if op is None:
        out[index] = values
    else:
        op.at(out, index, values)
    return out


OPERATIONS = {
    "set": None,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
INDICES = (
    2, -1, slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(3, 1), (1, 2), (slice(1, 3), 2),
    (0, slice(None)), ..., (None, 1), (1, None), (..., 3), AR, np.array([1, 1, 0]), np.array([[0, 3], [3, -1]]),
    (AR, 1), (slice(None), AR), (AR, AR), (AR[:, None], AR), np.array([True, False, True, False]), X > 7, True,
    (slice(None), slice(None, None, -2)), (slice(None, None, 2), AR), (np.array([2, 2]), slice(1, 4)),
)  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("index", INDICES, ids=range(len(INDICES)))
def test_updates_like_numpy(name, index):
    shape = X[index].shape
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) - 3
    choices = [np.float32(2), values]
    if shape and shape[-1]:
        choices.append(values[(0,) * (len(shape) - 1)] if min(shape) else values)
    for v in choices:
        want = numpy_update(X, index, OPERATIONS[name], v)
        got = both(lambda x, v=v: getattr(x.at[index], name)(v), X)
        np.testing.assert_array_equal(got, want)


def test_traced_indices():
    """Scalars, arrays and updates as arguments."""
    for f in (
        lambda x, i, a, u: x.at[i].set(u),
        lambda x, i, a, u: x.at[i, 1:3].add(u[1:3]),
        lambda x, i, a, u: x.at[a].add(u),
        lambda x, i, a, u: x.at[a, i].multiply(u[a]),
        lambda x, i, a, u: x.at[::2, i].set(u[:2]),
        lambda x, i, a, u: x.at[i, None].set(u),
    ):
        both(f, X, np.int32(-2), AR, X[3])


def test_nothing_to_update():
    assert both(lambda x: x.at[AR].add(1.0), np.ones((4, 0), np.float32)).shape == (4, 0)
    assert both(lambda x: x.at[AR[:0]].set(1.0), X).tolist() == X.tolist()
    assert both(lambda x: x.at[AR[:0], AR[:0]].add(1.0), X).tolist() == X.tolist()
    assert both(lambda x: x.at[AR + 9, AR].add(1.0), X).tolist() == X.tolist()


def test_divide_power_apply():
    assert both(lambda v: v.at[AR].divide(2.0), V).tolist() == [0, 0.5, 2, 3, 4, 5]
    assert both(lambda v: v.at[0].divide(2), np.int32([1, 2])).tolist() == [0.5, 2.0]
    assert both(lambda v: v.at[2:].power(2.0), V).tolist() == [0, 1, 4, 9, 16, 25]
    assert both(lambda v: v.at[AR].power(2), np.int32([2, 3])).tolist() == [4, 9]
    assert both(lambda v: v.at[np.array([2, 2, 3])].apply(lambda s: s * 2), V).tolist() == [0, 1, 8, 6, 4, 5]
    assert both(lambda x: x.at[1].apply(jnp.negative), X)[1].tolist() == [-6, -7, -8, -9, -10]
    looked_up = lambda s: jnp.asarray(V)[s.astype(int)] + 1
    assert both(lambda v: v.at[np.array([2, 2])].apply(looked_up), V).tolist() == [0, 1, 4, 3, 4, 5]
    with pytest.raises(TypeError, match="from a scalar to a scalar of the same dtype"):
        jnp.asarray(V).at[0].apply(lambda s: s.astype(int))


OUTSIDE = np.array([10, -10, -1])
MODES = (
    ({}, [0, 1, 2, 3, 4, 14]),
    ({"mode": "drop"}, [0, 1, 2, 3, 4, 14]),
    ({"mode": "fill"}, [0, 1, 2, 3, 4, 14]),
    ({"mode": "promise_in_bounds"}, [0, 1, 2, 3, 4, 14]),
    ({"mode": "clip"}, [9, 1, 2, 3, 4, 23]),
    ({"wrap_negative_indices": False}, [0, 1, 2, 3, 4, 5]),
    ({"mode": "clip", "wrap_negative_indices": False}, [18, 1, 2, 3, 4, 14]),
    ({"indices_are_sorted": False, "unique_indices": False, "out_sharding": None}, [0, 1, 2, 3, 4, 14]),
)


@pytest.mark.parametrize("options, want", MODES)
def test_writes_out_of_bounds(options, want):
    assert both(lambda v: v.at[OUTSIDE].add(9.0, **options), V).tolist() == want
    assert both(lambda v: v.at[20].set(9.0), V).tolist() == V.tolist()
    assert both(lambda x: x.at[2, -9].set(9.0), X).tolist() == X.tolist()


def test_reads_out_of_bounds():
    read = lambda **options: np.asarray(jnp.asarray(V).at[OUTSIDE].get(**options))
    assert read().tolist() == [5, 0, 5]
    assert read(fill_value=7).tolist() == [5, 0, 5]
    np.testing.assert_array_equal(read(mode="fill"), [np.nan, np.nan, 5])
    assert read(mode="fill", fill_value=7).tolist() == [7, 7, 5]
    assert np.asarray(jnp.arange(3).at[7].get(mode="fill")).tolist() == -(2**31)


def test_the_last_of_repeated_indices_stays():
    where = np.array([3, 1, 3, 1, 3])
    assert both(lambda v: v.at[where].set(np.float32([10, 20, 30, 40, 50])), V).tolist() == [0, 40, 2, 50, 4, 5]
    both_axes = (np.array([0, 0]), np.array([1, 1]))
    assert both(lambda x: x.at[both_axes].set(np.float32([7, 8])), X)[0, 1] == 8


UNSAFE = "scatter inputs have incompatible types: cannot safely cast value from dtype={} to dtype={}"


def test_dtypes():
    """The result has x's dtype and weak type; unsafe casts warn."""
    v = jnp.arange(3)
    for values, kind, want in ((1.5, "float32", 1), (jnp.float32(2.5), "float32", 2)):
        with pytest.warns(FutureWarning, match=UNSAFE.format(kind, "int32")):
            out = v.at[0].set(values)
        assert out.dtype == np.int32 and out[0] == want
    with pytest.warns(FutureWarning, match=UNSAFE.format("float32", "int32")):
        assert np.asarray(v.at[np.array([0, 0])].add(0.5)).tolist() == [1, 1, 2]  # added as floats
    with pytest.warns(FutureWarning, match=UNSAFE.format("int32", "int8")):
        assert jnp.arange(3, dtype="int8").at[0].set(jnp.int32(300))[0] == 44
    assert jnp.asarray(X).at[0].set(jnp.arange(5)).dtype == np.float32
    weak = jnp.broadcast_to(jnp.asarray(1.0), (3,))
    assert weak.at[0].set(2).weak_type and weak.at[AR].multiply(2).weak_type
    assert weak.at[0].set(jnp.float32(2)).weak_type
    assert not jnp.ones(3).at[0].set(weak[0]).weak_type
    assert jnp.zeros(3, bool).at[0].set(True).dtype == np.bool_
    assert jnp.ones(3, "bfloat16").at[0].add(1.5)[0] == 2.5
    assert jnp.arange(3, dtype="uint8").at[0].set(-1)[0] == 255


WRONG = (
    (lambda x: x.at[1:3].set(np.ones((3, 5), np.float32)), ValueError,
     r"Incompatible types for broadcasting: input type=float32\[3,5\] and requested type=float32\[2,5\]"),
    (lambda x: x.at[0].set(np.ones((1, 5), np.float32)), ValueError, "Cannot broadcast to shape with fewer dimensions"),
    (lambda x: x.at[0].set(1, mode="wrap"), ValueError, 'Unknown gather mode "wrap"'),
    (lambda x: (x > 0).at[0].add(True), TypeError, "add does not accept dtype bool at position 0"),
    (lambda x: x.at[:0].set(1).at[0, 9, 9].set(1), IndexError, "Too many indices"),
    (lambda x: x[:0].at[0].set(1), IndexError, "index is out of bounds for axis 0 with size 0"),
    (lambda x: x.at["a"].set(1), TypeError, "does not support string indexing"),
    (lambda x: x.at[0].set("a"), TypeError, "a"),
)  # fmt: skip


@pytest.mark.parametrize("f, error, words", WRONG, ids=range(len(WRONG)))
def test_errors(f, error, words):
    """The same words when evaluating and when staging."""
    with pytest.raises(error, match=words):
        f(jnp.asarray(X))
    with pytest.raises(error, match=words):
        make_jaxpr(f)(X)


def test_item_assignment_names_at():
    with pytest.raises(TypeError, match=r"x = x\.at\[idx\]\.set\(y\)"):
        jnp.asarray(V)[0] = 1


def test_traced_masks():
    with pytest.raises(NonConcreteBooleanIndexError, match=r"must be concrete; got bool\[6\]"):
        make_jaxpr(lambda v, m: v.at[m].set(0.0))(V, V > 2)


def test_representation():
    at = jnp.arange(2).at
    assert repr(at) == "_IndexUpdateHelper(Array([0, 1], dtype=int32))"
    assert repr(at[1:2]) == "_IndexUpdateRef(Array([0, 1], dtype=int32), slice(1, 2, None))"
    assert not hasattr(at, "set")


SCATTER = (
    "scatter{}[dimension_numbers=ScatterDimensionNumbers(update_window_dims={}, inserted_window_dims={}, "
    "scatter_dims_to_operand_dims={}, operand_batching_dims=(), scatter_indices_batching_dims=()) "
    "indices_are_sorted={} mode=GatherScatterMode.{} unique_indices={} update_consts=() update_jaxpr={}"
)
ADD = "{ lambda ; i:f32[] j:f32[]. let k:f32[] = add i j in (k,) }"
PROGRAMS = (
    (lambda x: x.at[2].set(1.0), (X,), "b:i32[1] = broadcast_in_dim 2:i32[] c:f32[5] = broadcast_in_dim 1.0:f32[] "
     "d:f32[4,5] = " + SCATTER.format("", "(0,)", "(0,)", "(0,)", True, "FILL_OR_DROP", True, None) + "] a b c"),
    (lambda x, a: x.at[a].add(1.0), (X, AR), "g:f32[2,5] = broadcast_in_dim 1.0:f32[] h:f32[4,5] = "
     + SCATTER.format("-add", "(1,)", "(0,)", "(0,)", False, "FILL_OR_DROP", False, ADD) + "] a f g"),
    (lambda x: x.at[::-1].set(np.arange(5.0, dtype=np.float32)), (X,), "h:f32[4,5] = broadcast_in_dim"
     "[broadcast_dimensions=(1,)] a i:f32[4,5] = rev[dimensions=(0,)] h"),
    (lambda x, i: x.at[i, None].set(1.0), (X, np.int32(1)), "g:f32[1,5] = broadcast_in_dim 1.0:f32[] "
     "h:f32[5] = squeeze[dimensions=(0,)] g"),
    (lambda v, y: v.at[0].add(y), (np.arange(3, dtype=np.int32), np.float32(1.5)),
     "d:f32[3] = convert_element_type[new_dtype=float32 weak_type=False] a"),
    (grad(lambda x, u: x.at[AR].set(u, unique_indices=True).sum(), argnums=(0, 1)), (X, X[:2]),
     "fill_value=0 indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP slice_sizes=(1, 5) "
     "unique_indices=False]"),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:scatter inputs")
@pytest.mark.parametrize("function, args, part", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(function, args, part):
    assert part in program(function, *args)


def test_gradients():
    weights = np.arange(1, 7, dtype=np.float32)
    where = np.array([1, 1, 4])
    u = np.float32([1, 2, 3])
    gradients = lambda update: [
        np.asarray(g).tolist()
        for g in grad(lambda v, u: (update(v.at[where], u) * weights).sum(), argnums=(0, 1))(V, u)
    ]
    assert gradients(lambda at, u: at.add(u)) == [[1, 2, 3, 4, 5, 6], [2, 2, 5]]
    assert gradients(lambda at, u: at.subtract(u)) == [[1, 2, 3, 4, 5, 6], [-2, -2, -5]]
    assert gradients(lambda at, u: at.set(u)) == [[1, 0, 3, 4, 0, 6], [0, 2, 5]]
    assert gradients(lambda at, u: at.max(u)) == [[1, 0, 3, 4, 5, 6], [0, 2, 0]]


def test_batching():
    rows = np.array([[0, 1], [1, 1], [2, 4], [3, 0]], np.int32)
    got = vmap(lambda x, i, u: x.at[i].add(u), in_axes=(0, 0, None))(X, rows, np.float32([1, 10]))
    want = X.copy()
    for k, row in enumerate(rows):
        np.add.at(want[k], row, np.float32([1, 10]))
    np.testing.assert_array_equal(np.asarray(got), want)


def test_the_original_stays():
    x = jnp.asarray(V)
    for update in (lambda: x.at[0].set(9.0), lambda: x.at[AR].add(1.0), lambda: x.at[1:].multiply(2.0)):
        update()
        assert np.asarray(x).tolist() == V.tolist()


def test_lists_are_values():
    x = jnp.zeros(3)
    assert x.at[np.array([0, 1])].set([1.0, 2.0]).tolist() == x.at[:2].add((1, jnp.float32(2))).tolist() == [1, 2, 0]
    assert x.at[:2].max([True, False]).tolist() == [1, 0, 0] and (x + 6).at[:1].divide([2]).tolist() == [3, 6, 6]
    for values, error in (
        (None, ValueError),
        ([[1.0], [2.0, 3.0]], ValueError),
        ("ab", TypeError),
        (object(), TypeError),
    ):
        with pytest.raises(error):
            x.at[:2].set(values)
