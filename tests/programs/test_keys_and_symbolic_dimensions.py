"""Arrays of random keys (logical and physical shapes differ) and symbolic dimensions through the movement of data.

Their users come later; here each passes reshape, slice, concatenate, gather and vmap, evaluated and staged.
"""

from collections import namedtuple

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground import dims, dtypes
from onax._ground.errors import InconclusiveDimensionOperation
from onax._native.array import make_array

KEY = dtypes.KeyType(namedtuple("Generator", "tag key_shape")("fry", (2,)))


def keys(*shape):
    """Keys of a shape, each of two words that tell them apart."""
    words = np.arange(2 * int(np.prod(shape)), dtype=np.uint32)
    return make_array(words.view(KEY.storage).reshape(shape), KEY)


def words(x):
    """The number of each key: what `keys` counted."""
    assert x.dtype == KEY
    return np.ascontiguousarray(x._value).view(np.uint32).reshape(*x.shape, 2)[..., 0] // 2


NUMBERS = np.arange(12).reshape(3, 4)
ROWS = np.array([2, 0])

# name: (function of an array of shape (3, 4)); the same function moves NumPy's numbers, which says what is wanted
MOVES = {
    "reshape": lambda x: jnp.reshape(x, (2, 6)),
    "ravel": jnp.ravel,
    "transpose": jnp.transpose,
    "broadcast": lambda x: jnp.broadcast_to(x, (2, 3, 4)),
    "expand_dims": lambda x: jnp.expand_dims(x, 1),
    "slice": lambda x: lax.slice(x, (1, 0), (3, 4), (1, 2)),
    "basic index": lambda x: x[1:, ::-1],
    "int index": lambda x: x[-1],
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (1, 1), (2, 2)),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(x, x[:1, :2], (2, 2)),
    "concatenate": lambda x: jnp.concatenate([x, x[:1]]),
    "stack": lambda x: jnp.stack([x, x], axis=1),
    "split": lambda x: jnp.split(x, 2, axis=1)[1],
    "gather": lambda x: x[ROWS],
    "gather of pairs": lambda x: x[ROWS, np.array([1, 3])],
    "take": lambda x: jnp.take(x, ROWS, axis=1),
    "out of bounds": lambda x: x[np.array([7, -1])],
    "scatter": lambda x: x.at[ROWS].set(x[0]),
    "where": lambda x: jnp.where(np.array([[True], [False], [True]]), x, x[0]),
    "vmap": jax.vmap(lambda row: row[::-1]),
    "vmap of columns": jax.vmap(lambda column: jnp.reshape(column, (3, 1)), in_axes=1, out_axes=1),
    "vmap of concatenate": jax.vmap(lambda row: jnp.concatenate([row, row[:2]])),
    "vmap of gather": jax.vmap(lambda row: row[np.array([3, 0])]),
    "vmap of mapped places": lambda x: jax.vmap(lambda row, i: row[i])(x, jnp.array([0, 3, 1])),
    "vmap of mapped slices": lambda x: jax.vmap(lambda row, i: lax.dynamic_slice(row, (i,), (2,)))(
        x, jnp.array([0, 2, 1])
    ),
    "vmap of a constant": lambda x: jax.vmap(lambda i: x[i, 0])(jnp.array([2, 1])),
}


@pytest.mark.parametrize("name", MOVES)
def test_keys_move_as_numbers_do(name):
    move, x = MOVES[name], keys(3, 4)
    wanted = np.asarray(move(jnp.asarray(NUMBERS)))
    out = move(x)
    assert out.shape == wanted.shape and out.aval.dtype == KEY
    np.testing.assert_array_equal(words(out), wanted)

    staged = jax.make_jaxpr(move)(x)
    (aval,) = staged.out_avals
    assert aval.shape == wanted.shape and aval.dtype == KEY and "key<fry>[" in str(staged)
    np.testing.assert_array_equal(words(jax.jit(move)(x)), wanted)


def test_shape_of_keys_is_the_logical_one():
    x = keys(3, 4)
    assert (x.shape, x.ndim, x.size, x.dtype.itemsize) == ((3, 4), 2, 12, 8)
    assert jax.eval_shape(jnp.transpose, x).dtype == KEY
    assert str(x.aval) == "key<fry>[3,4]"


@pytest.mark.parametrize(
    "refused", [lambda x: x + 1, lambda x: jnp.sin(x), lambda x: jnp.sum(x), lambda x: x.astype(np.float32), np.asarray]
)
def test_keys_are_no_numbers(refused):
    with pytest.raises((TypeError, ValueError), match="key"):
        refused(keys(3))


# ---- symbolic dimensions ----

# name: (function of an array of shape (b, 4), its shape as text)
SYMBOLIC = {
    "reshape": (lambda x: jnp.reshape(x, (x.shape[0] * 2, 2)), "2*b, 2"),
    "reshape to the rest": (lambda x: jnp.reshape(x, (2, -1)), "2, 2*b"),
    "ravel": (jnp.ravel, "4*b"),
    "transpose": (jnp.transpose, "4, b"),
    "broadcast": (lambda x: jnp.broadcast_to(x, (3, *x.shape)), "3, b, 4"),
    "slice": (lambda x: lax.slice(x, (1, 0), (x.shape[0], 4), (1, 2)), "b - 1, 2"),
    "basic index": (lambda x: x[:-1, None, 1:], "b - 1, 1, 3"),
    "reversed": (lambda x: x[::-1], "b, 4"),
    "stride": (lambda x: x[::2], "floordiv(b + 1, 2), 4"),
    "int index": (lambda x: x[-1], "4"),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (0, 1), (x.shape[0], 2)), "b, 2"),
    "concatenate": (lambda x: jnp.concatenate([x, x, x[:1]]), "2*b + 1, 4"),
    "stack": (lambda x: jnp.stack([x, x]), "2, b, 4"),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 0))), "b + 3, 4"),
    "gather": (lambda x: x[ROWS], "2, 4"),
    "gather of columns": (lambda x: x[:, ROWS], "b, 2"),
    "gather at as many places": (lambda x: x[jnp.arange(x.shape[0])[::-1]], "b, 4"),
    "take": (lambda x: jnp.take(x, ROWS, axis=1), "b, 2"),
    "scatter": (lambda x: x.at[ROWS].add(1.0), "b, 4"),
    "reduce": (lambda x: jnp.sum(x, axis=1), "b"),
    "mean": (lambda x: jnp.mean(x, axis=0), "4"),
    "vmap": (jax.vmap(lambda row: row[::-1]), "b, 4"),
    "vmap of reshape": (jax.vmap(lambda row: jnp.reshape(row, (2, 2))), "b, 2, 2"),
    "vmap of concatenate": (jax.vmap(lambda row: jnp.concatenate([row, row])), "b, 8"),
    "vmap of gather": (jax.vmap(lambda row: row[np.array([3, 0])]), "b, 2"),
    "vmap of columns": (jax.vmap(lambda column: jnp.concatenate([column, column]), in_axes=1), "4, 2*b"),
    "vmap of mapped places": (lambda x: jax.vmap(lambda row, i: row[i])(x, jnp.arange(x.shape[0]) % 4), "b"),
    "grad": (jax.grad(lambda x: jnp.sum(x[1:] * x[:-1])), "b, 4"),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_symbolic_dimension(name):
    function, text = SYMBOLIC[name]
    scope = dims.SymbolicScope(["b >= 3"])
    (b,) = dims.parse_dims("b", scope)
    wanted = dims.parse_dims(text, scope)
    spec = jax.ShapeDtypeStruct((b, 4), np.float32)
    assert jax.eval_shape(function, spec).shape == wanted
    staged = jax.make_jaxpr(function)(spec)
    assert staged.out_avals[0].shape == wanted and hash(staged.out_avals[0]) == hash(staged.out_avals[0])
    for size in (3, 6):  # the program for any b has the shape of the function at this b
        assert tuple(dims.evaluate(d, {"b": size}) for d in wanted) == function(jnp.ones((size, 4))).shape


def test_symbolic_dimensions_of_keys():
    (b,) = dims.parse_dims("b", dims.SymbolicScope())
    spec = jax.ShapeDtypeStruct((b, 4), KEY)
    staged = jax.make_jaxpr(jax.vmap(lambda row: jnp.concatenate([jnp.reshape(row, (2, 2))[0], row[ROWS]])))(spec)
    assert staged.out_avals[0].shape == (b, 4) and staged.out_avals[0].dtype == KEY


def test_a_symbolic_dimension_is_no_int():
    (b,) = dims.parse_dims("b", dims.SymbolicScope())
    with pytest.raises(InconclusiveDimensionOperation):
        int(b)
    with pytest.raises(TypeError):
        range(b)


def test_reshape_refuses_sizes_that_may_not_divide():
    (b,) = dims.parse_dims("b", dims.SymbolicScope())
    of = lambda shape, new: jax.eval_shape(lambda x: x.reshape(new), jax.ShapeDtypeStruct(shape, np.int32)).shape
    assert of((4 * b,), (2, -1)) == (2, 2 * b) and of((b, 5, 6), (2, -1)) == (2, 15 * b)
    for shape, new in (((b,), (2, -1)), ((4 * b,), (-1, 3))):
        with pytest.raises(InconclusiveDimensionOperation, match="Cannot divide evenly the sizes of shapes"):
            of(shape, new)
