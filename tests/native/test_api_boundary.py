"""Public functions at the border: calls, names, methods, pickling, and errors of operators without frames of onax."""

import copy
import inspect
import pickle
import traceback
import weakref

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._ground.config import traceback_filtering
from onax._ground.source import is_internal
from onax._native.api_boundary import ApiFunction, api_boundary

X, Y = jnp.ones(3), jnp.ones(4)


def described(a, /, b, *rest, c=3, **others):
    """The documentation."""
    return a, b, rest, c, others


def test_calls_are_those_of_the_function():
    for call in (api_boundary(described), ApiFunction(described, "label", (1,), ("b",))):
        assert call(1, 2) == described(1, 2)
        assert call(1, b=2, c=4, d=5) == described(1, b=2, c=4, d=5)
        assert call(*range(5), c=0) == described(*range(5), c=0)


def test_it_looks_like_the_function():
    call = api_boundary(described)
    assert (call.__name__, call.__doc__, call.__module__) == ("described", "The documentation.", __name__)
    assert call.__wrapped__ is described and inspect.signature(call) == inspect.signature(described)
    assert inspect.isroutine(call) and repr(call).startswith("<function described at 0x")
    assert weakref.ref(call)() is call


def test_it_is_a_method_of_a_class():
    class Box:
        def __init__(self, value):
            self.value = value

        @api_boundary
        def plus(self, other):
            return self.value + other

    box = Box(2)
    assert box.plus(3) == 5 and Box.plus(box, 3) == 5
    bound = box.plus
    assert bound(4) == 6 and bound.__self__ is box


@pytest.mark.parametrize("function", [jnp.sum, jax.random.normal, lax.add, jax.tree.leaves, jax.grad, jnp.linalg.inv])
def test_pickling_by_name(function):
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_pickling_by_value():
    call = ApiFunction(described, "label")
    call.__module__, call.__qualname__ = __name__, "nobody"
    again = pickle.loads(pickle.dumps(call))
    assert again is not call and again(1, 2) == described(1, 2) and again.__qualname__ == "nobody"


def delete_and_use():
    x = jnp.ones(2)
    x.delete()
    return x + 1


def assign():
    X[0] = 1


def delete():
    del X[0]


OPERATIONS = {
    "add": lambda: X + Y,
    "add of a list": lambda: X + [1, 2, 3],
    "reversed": lambda: {} - X,
    "matmul": lambda: X @ Y,
    "power": lambda: pow(X, 2, 3),
    "compare": lambda: X < Y,
    "bits": lambda: X & X,
    "unary": lambda: ~X,
    "index": lambda: X["a"],
    "as index": lambda: [1, 2][X],
    "assign": assign,
    "delete": delete,
    "bool": lambda: bool(X),
    "float": lambda: float(X),
    "int": lambda: int(X),
    "iterate": lambda: list(jnp.float32(1)),
    "length": lambda: len(jnp.float32(1)),
    "contains": lambda: 3 in jnp.ones((2, 2)),
    "hash": lambda: hash(X),
    "item": lambda: X.item(),
    "method": lambda: X.reshape(5),
    "operator's method": lambda: X.__add__(Y),
    "at": lambda: X.at["a"].set(1),
    "property": lambda: X.flat,
    "round": lambda: round(X, "a"),
    "deleted": delete_and_use,
    "jit": lambda: jax.jit(lambda x: x + Y)(X),
    "jit of a wrong argument": lambda: jax.jit(jnp.sin)("a"),
    "compiled": lambda: jax.jit(jnp.sin).lower(X).compile()(Y),
    "static": lambda: jnp.sum(X, keepdims=[]),
    "arity": lambda: jnp.sin(),
    "ufunc": lambda: jnp.add.reduce(X, axis=4),
    "tree": lambda: jax.tree.map(lambda a, b: a, [1], [1, 2]),
    "lax": lambda: lax.dot_general(X, Y, (((0,), (0,)), ((), ()))),
    "pullback": lambda: jax.vjp(jnp.sin, X)[1](Y),
    "initializer": lambda: jax.nn.initializers.orthogonal()(jax.random.key(0), (3,)),
    "custom_jvp": lambda: jax.custom_jvp(jnp.sin)(X),
}


def frames(call):
    with pytest.raises(
        (TypeError, ValueError, IndexError, RuntimeError, NotImplementedError, AttributeError)
    ) as caught:
        call()
    return [entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)], caught.value


@pytest.mark.parametrize("name", OPERATIONS)
def test_errors_show_the_users_frames(name, monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)
    shown, _ = frames(OPERATIONS[name])
    assert not any(map(is_internal, shown)) and shown[-1] == __file__
    with traceback_filtering("off"):
        whole, _ = frames(OPERATIONS[name])
    assert any(map(is_internal, whole)) or name in ("arity", "hash")  # Python itself refuses: no frame was made


def test_frames_of_the_users_functions_stay(monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)

    def mine(x):
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        jax.tree.map(mine, [1])
    assert [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)][1:] == ["mine"]
    assert len(caught.value.__notes__) == 1


def test_operators_of_subclasses_too(monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)
    kept = []
    jax.vmap(lambda x: kept.append(x) or x)(X)
    shown, error = frames(lambda: kept[0] + 1)
    assert not any(map(is_internal, shown)) and isinstance(error, jax.errors.UnexpectedTracerError)


def test_numbers_that_are_no_errors():
    """-1 is what slots give where something failed, and also a number."""
    assert int(jnp.int32(-1)) == -1 and np.arange(3)[jnp.int32(-1)] == 2
    assert not (jnp.int32(-1) == 0) and hash(jax.random.key_impl(jax.random.key(0))) is not None
