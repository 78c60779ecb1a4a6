"""Shapes: results against NumPy, errors in JAX's words, symbolic dimensions, arrays of keys."""

import numpy as np
import pytest

import onax
import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._transforms import autodiff
from onax._transforms.staging import trace_to_jaxpr
from onax._transforms.vmap import vmap

X = np.arange(6, dtype=np.float32).reshape(2, 3)

#     name, result, what NumPy gives
RESULTS = (
    ("broadcast", lambda: lax.broadcast(X, (2,)), np.stack([X, X])),
    ("broadcast_in_dim", lambda: lax.broadcast_in_dim(X[:, :1], (2, 4, 3), (0, 2)),
     np.broadcast_to(X[:, None, :1], (2, 4, 3))),
    ("broadcast_in_dim to exchanged axes", lambda: lax.broadcast_in_dim(X, (3, 4, 2), (2, 0)),
     np.broadcast_to(X.T[:, None], (3, 4, 2))),
    ("broadcast_in_dim that transposes", lambda: lax.broadcast_in_dim(X, (3, 2), (1, 0)), X.T),
    ("broadcast_to_rank", lambda: lax.broadcast_to_rank(X, 4), X[None, None]),
    ("expand_dims", lambda: lax.expand_dims(X, (0, -1)), X[None, :, :, None]),
    ("squeeze", lambda: lax.squeeze(X[:, :1], (-1,)), X[:, 0]),
    ("reshape", lambda: lax.reshape(X, (3, 2)), X.reshape(3, 2)),
    ("reshape of a permutation", lambda: lax.reshape(X, (6,), (1, 0)), X.T.reshape(6)),
    ("collapse", lambda: lax.collapse(X, 0), X.reshape(6)),
    ("transpose", lambda: lax.transpose(X, (1, 0)), X.T),
    ("rev", lambda: lax.rev(X, (0, 1)), X[::-1, ::-1]),
    ("broadcast_like", lambda: lax.broadcast_like(X[0], X), np.stack([X[0], X[0]])),
    ("reduce_sum wraps", lambda: lax.reduce_sum(np.full(10, 100, np.int8), (0,)), np.int8(-24)),
    ("reduce_sum of float16", lambda: lax.reduce_sum(np.full(3000, 1, np.float16), (0,)), np.float16(3000)),
)  # fmt: skip


@pytest.mark.parametrize("name, call, want", RESULTS, ids=[row[0] for row in RESULTS])
def test_results(name, call, want):
    got = np.asarray(call())
    assert got.dtype == want.dtype and got.shape == want.shape
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def test_transformations_of_broadcasts_to_exchanged_axes():
    f = lambda x: lax.broadcast_in_dim(x, (3, 4, 2), (2, 0))
    np.testing.assert_array_equal(onax.jit(f)(X), f(X))
    weights = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    np.testing.assert_array_equal(onax.grad(lambda x: (f(x) * weights).sum())(X), weights.sum(1).T)
    stacked = np.stack([X, 2 * X])
    np.testing.assert_array_equal(vmap(f, in_axes=2, out_axes=1)(stacked.transpose(1, 2, 0))[:, 1], f(2 * X))
    exported = onax.export.export(onax.jit(f))(onax.ShapeDtypeStruct((2, 3), "float32"))
    np.testing.assert_array_equal(exported.call(X), f(X))


def test_what_changes_nothing_returns_its_operand():
    x = lax.full((2, 3), 1.0)
    assert lax.reshape(x, (2, 3)) is x
    assert lax.transpose(x, (0, 1)) is x
    assert lax.broadcast_in_dim(x, (2, 3), (0, 1)) is x
    assert lax.squeeze(x, ()) is x
    assert lax.expand_dims(x, ()) is x


#     call, error, words
ERRORS = (
    (lambda: lax.reshape(X, (5,)), TypeError, "reshape total size must be unchanged"),
    (lambda: lax.reshape(X, (-1,)), TypeError, "reshape new_sizes must all be positive, got (-1,)."),
    (lambda: lax.reshape(X, (6.0,)), TypeError, "got (6.0,)."),
    (lambda: lax.reshape(X, (6,), (0, 0)), TypeError, "reshape dimensions must be a permutation"),
    (lambda: lax.transpose(X, (0,)), TypeError, "got permutation (0,) for operand shape (2, 3)."),
    (lambda: lax.transpose(X, (-1, 0)), TypeError, "got permutation (-1, 0) for operand shape (2, 3)."),
    (lambda: lax.broadcast_in_dim(X, (2, 4), (0, 1)), TypeError,
     "operand of shape (2, 3), target broadcast shape (2, 4)"),
    (lambda: lax.broadcast_in_dim(X[:, :2], (2, 2), (0, 0)), TypeError, "must not contain duplicates, got"),
    (lambda: lax.broadcast_in_dim(X, (2, 3), (1, 0)), TypeError, "got operand of shape (2, 3), target broadcast shape"),
    (lambda: lax.broadcast_in_dim(X, (2, 3), (0,)), TypeError, "got broadcast_dimensions (0,) for operand ndim 2."),
    (lambda: lax.broadcast_in_dim(X[0], (2, 3), (-1,)), TypeError, "must have every element be nonnegative, got (-1,)"),
    (lambda: lax.broadcast_in_dim(X[0], (2, 3), (2,)), TypeError, "must be a subset of output dimensions"),
    (lambda: lax.broadcast_in_dim(X, (3,), (0, 1)), TypeError, "must have equal or higher rank"),
    (lambda: lax.broadcast(X, (-1,)), TypeError, "nonnegative, got (-1, 2, 3)."),
    (lambda: lax.squeeze(X, (0,)), ValueError, "got shape=(2, 3) and dimensions=(0,)"),
    (lambda: lax.squeeze(X, (5,)), ValueError, "axis 5 is out of bounds for array of dimension 2"),
    (lambda: lax.squeeze(X[:1], (0, 0)), ValueError, "dimensions are not unique: (0, 0)"),
    (lambda: lax.expand_dims(X, (5,)), ValueError, "axis 5 is out of bounds for array of dimension 3"),
    (lambda: lax.expand_dims(X, (0, 0)), ValueError, "repeated axis in lax.expand_dims: (0, 0)"),
    (lambda: lax.rev(X, (2,)), TypeError, "got dimensions (2,) for operand ndim 2."),
    (lambda: lax.rev(X, (0, 0)), TypeError, "rev dimensions must be unique, got (0, 0)."),
    (lambda: lax.rev(X, (-1,)), TypeError, "nonnegative, got (-1,)."),
    (lambda: lax.reduce_sum(X, (2,)), ValueError,
     "reduction axes (2,) contains out-of-bounds indices for float32[2,3]."),
    (lambda: lax.reduce_sum(X, (-1,)), ValueError, "reduction axes (-1,) contains out-of-bounds"),
    (lambda: lax.reduce_sum(X, (0, 0)), ValueError, "duplicate value in 'axes' of reduction: (0, 0)"),
    (lambda: lax.reduce_sum(X > 0, (0,)), TypeError, "reduce_sum does not accept dtype bool."),
    (lambda: lax.iota(bool, 2), TypeError, "iota does not accept dtype bool."),
    (lambda: lax.iota(np.int32, -1), TypeError, "nonnegative, got (-1,)."),
    (lambda: lax.broadcasted_iota(np.int32, (2, 3), 2), ValueError, "got dimension=2 for shape=(2, 3)"),
    (lambda: lax.full((2,), X), TypeError, "full must be called with scalar fill_value"),
    (lambda: lax.collapse(X, 1, 0), ValueError, "(2, 3)[1:0]"),
    (lambda: lax.broadcast_shapes((2, 3), (3, 2)), ValueError, "Incompatible shapes for broadcasting"),
    (lambda: lax.broadcast_like(X, X[0]), ValueError, "(2, 3) and requested shape (3,)"),
    (lambda: lax.reshape(X, (6,), out_sharding="x"), TypeError, "only supports instances of"),
)  # fmt: skip


@pytest.mark.parametrize("call, error, words", ERRORS)
def test_errors(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_broadcast_shapes():
    assert lax.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert lax.broadcast_shapes((0,), (1,)) == (0,)


# ---- symbolic dimensions ----

B, T = dims.parse_dims("b, t", dims.SymbolicScope())
SYMBOLIC = ShapedArray((B, T, 3), np.dtype("float32"))
#     function of an array of shape (b, t, 3), shape of its result
SHAPES = (
    (lambda x: lax.reshape(x, (B * T, 3)), (B * T, 3)),
    (lambda x: lax.collapse(x, 1), (B, 3 * T)),
    (lambda x: lax.broadcast(x, (2,)), (2, B, T, 3)),
    (lambda x: lax.transpose(x, (1, 0, 2)), (T, B, 3)),
    (lambda x: lax.squeeze(lax.expand_dims(x, (1,)), (1,)), (B, T, 3)),
    (lambda x: lax.rev(x, (0,)), (B, T, 3)),
    (lambda x: lax.reduce_sum(x, (0, 2)), (T,)),
    (lambda x: lax.add(x, np.float32(1)), (B, T, 3)),
    (lambda x: lax.full_like(x, 0), (B, T, 3)),
    (lambda x: lax.broadcasted_iota(np.int32, (T, B), 0), (T, B)),
    (vmap(lambda x: lax.reshape(x, (3 * T,))), (B, 3 * T)),
    (vmap(lambda x: lax.broadcast(x, (T,)), in_axes=1), (T, T, B, 3)),
    (autodiff.grad(lambda x: lax.reduce_sum(lax.mul(lax.sin(x), x), (0, 1, 2))), (B, T, 3)),
    (autodiff.grad(lambda x: lax.reduce_sum(lax.reduce_max(x, (1,)), (0, 1))), (B, T, 3)),
)


@pytest.mark.parametrize("function, shape", SHAPES)
def test_symbolic_shapes(function, shape):
    jaxpr = trace_to_jaxpr(lambda x: [function(x)], [SYMBOLIC])
    assert jaxpr.out_avals[0].shape == shape


@pytest.mark.parametrize("other", [(B, 2, 3), (T, T, 3)])
def test_symbolic_shapes_that_do_not_fit(other):
    with pytest.raises(TypeError, match="add got incompatible shapes"):
        trace_to_jaxpr(lambda x, y: [lax.add(x, y)], [SYMBOLIC, ShapedArray(other, np.dtype("float32"))])
    with pytest.raises(TypeError, match="reshape total size"):
        trace_to_jaxpr(lambda x: [lax.reshape(x, (B, T))], [SYMBOLIC])


# ---- keys ----


class Generator:
    """What a key dtype reads of its generator."""

    tag = "fry"
    key_shape = (2,)


KEY = dtypes.KeyType(Generator())
WORDS = np.arange(12, dtype=np.uint32).view(KEY.storage).reshape(2, 3)
#     function of an array of keys, the same on NumPy's buffer
MOVES = (
    (lambda k: lax.reshape(k, (6,)), lambda k: k.reshape(6)),
    (lambda k: lax.transpose(k, (1, 0)), lambda k: k.T),
    (lambda k: lax.expand_dims(k, (1,)), lambda k: k[:, None]),
    (lambda k: lax.broadcast(k, (2,)), lambda k: np.stack([k, k])),
    (lambda k: lax.rev(k, (1,)), lambda k: k[:, ::-1]),
    (lambda k: lax.select_n(WHICH, k, lax.rev(k, (0,))), lambda k: np.where(WHICH, k[::-1], k)),
    (lambda k: lax.convert_element_type(k, KEY), lambda k: k),
    (vmap(lambda k: lax.reshape(k, (3, 1)), in_axes=0), lambda k: k[..., None]),
)
WHICH = np.array([[True, False, True], [False, True, False]])


@pytest.mark.parametrize("function, by_numpy", MOVES)
def test_keys_move(function, by_numpy):
    out = function(make_array(WORDS.copy(), KEY))
    assert out.dtype == KEY
    assert out._value.tobytes() == np.ascontiguousarray(by_numpy(WORDS)).tobytes()


def test_sums_of_16_bits_can_be_refused():
    for dtype in ("float16", "bfloat16"):
        x = jnp.ones((1, 3), dtype)
        assert lax.reduce_sum(x, (1,)).tolist() == [3]
        with jax.allow_f16_reductions(False):
            assert lax.reduce_sum(x, (0,)).tolist() == [1, 1, 1] and jnp.sum(x) == 3  # jnp adds in 32 bits
            assert lax.reduce_sum(x.astype(np.float32), (0, 1)) == 3
            with pytest.raises(
                ValueError, match=r"^reduce_sum on operand b?f(loat)?16\[1,3\] is not allowed when jax_allow"
            ):
                lax.reduce_sum(x, (0, 1))


def test_broadcasting_to_no_new_axes_is_no_operation():
    assert not jax.make_jaxpr(lambda x: (lax.broadcast(x, ()), lax.broadcast(np.float32(3), ())))(1.0).eqns
    assert isinstance(lax.broadcast(np.float32(3), ()), jax.Array)


def test_keys_compare_but_do_not_compute():
    k = make_array(WORDS.copy(), KEY)
    assert np.asarray(lax.eq(k, k)).all() and not np.asarray(lax.ne(k, k)).any()
    for function in (
        lax.sin,
        lambda k: lax.add(k, k),
        lambda k: lax.reduce_sum(k, (0,)),
        lambda k: lax.reduce_max(k, (0,)),
    ):
        with pytest.raises(TypeError, match="key<fry>"):
            function(k)
    with pytest.raises(ValueError, match="Cannot convert_element_type from key<fry> to float32"):
        lax.convert_element_type(k, np.float32)


def test_the_sharding_of_a_type_is_none_to_be_refused():
    unsharded = onax.typeof(onax.numpy.ones((2, 3))).sharding
    assert lax.reshape(X, (6,), out_sharding=unsharded).shape == (6,)
    assert onax.random.normal(onax.random.key(0), (2, 3), out_sharding=unsharded).shape == (2, 3)
    assert onax.numpy.percentile(onax.numpy.ones(3), 50, out_sharding=unsharded) == 1
