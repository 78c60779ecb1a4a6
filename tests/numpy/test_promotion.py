"""Operands of jnp functions: what is taken, common dtypes and weak types, common ranks, axes."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.numpy import _promotion as promotion


class Arraylike:
    """What libraries hand over instead of an array."""

    def __jax_array__(self):
        return jnp.int8([1, 2])


def types(arrays):
    return [(str(x.dtype), x.weak_type) for x in arrays]


PROMOTED = [  # operands; common dtype and weak type; of inexact ones; of numeric ones
    ((jnp.int8(1), 2), ("int8", False), ("float32", False), ("int8", False)),
    ((1, 2.0), ("float32", True), ("float32", True), ("float32", True)),
    ((True, 1), ("int32", True), ("float32", True), ("int32", True)),
    ((True, np.bool_(1)), ("bool", False), ("float32", False), ("int32", False)),
    ((jnp.bfloat16(1), jnp.float16(1)), ("float32", False), ("float32", False), ("float32", False)),
    ((jnp.bfloat16(1), 2), ("bfloat16", False), ("bfloat16", False), ("bfloat16", False)),
    ((np.float64(1), 1j), ("complex64", False), ("complex64", False), ("complex64", False)),
]


@pytest.mark.parametrize(("operands", "common", "inexact", "numeric"), PROMOTED)
def test_dtypes(operands, common, inexact, numeric):
    assert types(promotion.promote_dtypes(*operands)) == [common] * 2
    assert types(promotion.promote_dtypes_inexact(*operands)) == [inexact] * 2
    assert types(promotion.promote_dtypes_numeric(*operands)) == [numeric] * 2
    found = []
    jax.jit(lambda: found.extend(types(promotion.promote_args("test", *operands))))()
    assert found == [common] * 2


def test_equal_operands_are_handed_on():
    x, y = jnp.ones(2), jnp.zeros(2)
    assert promotion.promote_args("test", x, y)[0] is x and promotion.promote_args_inexact("test", x, y)[1] is y


def test_python_numbers_wrap_as_in_c():
    assert (
        int(promotion.to_dtype(300, np.dtype("uint8"))) == 44 and int(promotion.to_dtype(-1, np.dtype("uint8"))) == 255
    )
    assert int(promotion.to_dtype(200, np.dtype("int8"))) == -56
    with pytest.raises(OverflowError, match="too large to convert to int32"):
        promotion.python_scalar(2**40, np.dtype("int32"), False)


def test_ranks():
    x, y, s = jnp.ones((2, 3)), jnp.ones(3), jnp.float32(1)
    assert [a.shape for a in promotion.promote_shapes("test", x, y, s)] == [(2, 3), (1, 3), (1, 1)]
    assert [a.shape for a in promotion.promote_shapes("test", x, s)] == [(2, 3), ()]
    with pytest.raises(ValueError, match="Incompatible shapes"):
        promotion.promote_shapes("test", x, jnp.ones((4, 1, 2)))
    with jax.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="for test on shapes"):
        promotion.promote_shapes("test", x, y)
    with jax.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="automatic rank promotion for test"):
        promotion.promote_shapes("test", x, y)


@pytest.mark.parametrize("x", [1, 1.5, 2j, True, np.float32(1), np.ones(2), jnp.ones(2), Arraylike()])
def test_what_is_taken(x):
    assert promotion.is_arraylike(x)
    assert isinstance(promotion.ensure_arraylike("test", x), jax.Array)


@pytest.mark.parametrize("x", [[1], (1,), "a", None, {}, np.array(["a"]), np.array([None])])
def test_what_is_not_taken(x):
    with pytest.raises(TypeError, match=r"^test"):
        promotion.ensure_arraylikes("test", 1, x)


def test_keys_promote_with_keys_alone():
    key = jax.random.key(0)
    assert promotion.promote_args("test", key, key)[0].dtype == key.dtype
    with pytest.raises(TypeError, match="test does not accept dtypes key<fry>, int32"):
        promotion.promote_args("test", key, jnp.asarray(1))
    with pytest.raises(TypeError, match="key<fry>"):
        promotion.promote_args_inexact("test", key, key)


def test_numpy_may_compute_what_is_known_and_not_placed():
    x = jnp.ones(2)
    assert promotion.can_use_numpy(x)
    assert not promotion.can_use_numpy(x, jax.device_put(x, jax.devices()[0]))
    assert not promotion.can_use_numpy(jax.random.key(0))
    found = []
    jax.jit(lambda: found.append(promotion.can_use_numpy(x)))()
    assert found == [False]


def test_axes():
    assert [promotion.canonical_axis(a, 3) for a in (0, -1, np.int8(2))] == [0, 2, 2]
    assert promotion.canonical_axes((0, -1), 3) == (0, 2) and promotion.canonical_axes(-2, 3) == (1,)
    with pytest.raises(ValueError, match="axis 3 is out of bounds"):
        promotion.canonical_axis(3, 3)
    with pytest.raises(ValueError, match="axis -4 is out of bounds"):
        promotion.canonical_axes((0, -4), 3)
    with pytest.raises(NotImplementedError, match="out"):
        promotion.no_out("test", 1)
    assert promotion.no_out("test", None) is None


F, M, I = np.float32([3, 1, 2]), np.float32([[2, 1], [1, 3]]), np.int32([2, 0, 1])  # fmt: skip
CALLS_WITH_OBJECTS = [
    (lambda x: jnp.add(x, 1), F),
    (lambda x: jnp.hypot(x, x), F),
    (lambda x: jnp.ldexp(x, 2), F),
    (lambda x: jnp.bitwise_xor(x, x), I),
    (lambda x: jnp.concatenate([x, x]), F),
    (lambda x: jnp.matmul(x, x), M),
    (lambda x: jnp.vdot(x, x), F),
    (lambda x: jnp.einsum("ij,j", x, np.float32([1, 2])), M),
    (lambda x: jnp.einsum(x, (0, 1), (1, 0)), M),
    (lambda x: jnp.interp(1.5, np.arange(3.0), x), F),
    (jnp.mean, F),
    (jnp.polyint, F),
    (jnp.trim_zeros, F),
    (jnp.tril_indices_from, M),
    (lambda i: jnp.roll(F, i), np.int32([1])),
    (lambda i: jnp.delete(F, i), np.int32(1)),
    (lambda i: jnp.insert(F, i, 5), np.int32(1)),
    (jnp.iscomplexobj, np.complex64([1j])),
    (jnp.shape, M),
    (jnp.ndim, M),
    (jnp.size, M),
    (jnp.linalg.inv, M),
    (jax.scipy.linalg.cholesky, M),
    (jax.nn.relu, F),
]


@pytest.mark.parametrize(("call", "value"), CALLS_WITH_OBJECTS)
def test_functions_take_objects_with_jax_array(call, value):
    @jax.tree_util.register_pytree_node_class
    class Wrapper:
        def __init__(self, x):
            self.x = x

        def __jax_array__(self):
            return jnp.asarray(self.x)

        def tree_flatten(self):
            return (self.x,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    with jax.disable_jit():
        results = [call(Wrapper(value))]
    for got in [*results, call(Wrapper(value))]:
        jax.tree.map(np.testing.assert_array_equal, got, call(jnp.asarray(value)))
