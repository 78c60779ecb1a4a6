"""Joining and splitting arrays, against NumPy; types of what is joined."""

import numpy as np
import pytest

from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(6.0).reshape(2, 3)
T = np.arange(24).reshape(2, 3, 4)
V = np.arange(4)
CALLS = [
    call("concatenate", [X, X[:1]]), call("concatenate", [X, X], axis=None), call("concatenate", [V, X[0]]),
    call("concatenate", [X, X[:, :0]], 1), call("concat", [X, X], axis=1),
    call("stack", [X, -X]), call("stack", [X, X], axis=-1), call("vstack", [V, V]), call("hstack", [X, X]),
    call("hstack", [V, V]), call("dstack", [X, X]),
    call("column_stack", [V, V * 1.5]), call("append", X, V), call("append", X, X, axis=0),
    call("block", [[X, X], [np.zeros((1, 6))]]), call("block", [1.0, X[0]]),
    call("split", T, 2, axis=2), call("split", V, [1, 3]), call("array_split", V, 3), call("vsplit", T, 2),
    call("hsplit", T, [1]), call("dsplit", T, 4), call("unstack", T, axis=1),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


REFUSED = [
    (lambda: jnp.concatenate([]), ValueError, "at least one"),
    (lambda: jnp.concatenate(X[0, 0]), (TypeError, ValueError), "sequence|0-dim|zero-dimensional|iterable"),
    (lambda: jnp.stack([X, V]), ValueError, "different numbers of dimensions"),
    (lambda: jnp.split(V, 3), ValueError, "equal division"),
    (lambda: jnp.dsplit(X, 1), IndexError, "out of range"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()


TYPES = [
    (lambda: jnp.concatenate([np.int8([1]), np.uint8([2])]), "int16", False),
    (lambda: jnp.concatenate([jnp.asarray(1)[None], jnp.asarray(2)[None]]), "int32", True),
    (lambda: jnp.stack([jnp.asarray(1.0), np.int8(2)]), "float32", True),
    (lambda: jnp.concatenate([np.int8([1])], dtype=np.float16), "float16", False),
    (lambda: jnp.append(jnp.int8([1]), 2), "int8", False),
]


@pytest.mark.parametrize(("make", "dtype", "weak"), TYPES)
def test_types_of_what_is_joined(make, dtype, weak):
    assert (str(make().dtype), make().weak_type) == (dtype, weak)
