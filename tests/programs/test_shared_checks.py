"""What all functions share: requests for 64 bits warn where they are written; shape errors name function and shapes."""

import warnings

import numpy as np
import pytest

import onax
from onax import lax, nn
from onax import numpy as jnp
from onax._native.api_boundary import ApiFunction
from onax.scipy import linalg, ndimage, special, stats

X = jnp.ones(2)
REQUESTS = {
    "zeros": lambda: jnp.zeros(2, "float64"),
    "ones_like": lambda: jnp.ones_like(X, np.float64),
    "arange": lambda: jnp.arange(2, dtype=np.int64),
    "array": lambda: jnp.array([1.0, 2.0], np.float64),
    "astype": lambda: X.astype(np.float64),
    "sum": lambda: jnp.sum(X, dtype=np.float64),
    "jit": lambda: onax.jit(lambda x: x.astype(np.complex128))(X),
    "full": lambda: jnp.full(2, 1, np.uint64),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_warns_and_truncates(name):
    with pytest.warns(UserWarning, match="will be truncated to dtype") as caught:
        out = REQUESTS[name]()
    assert out.dtype.itemsize in (4, 8 * (name == "jit"))
    assert [w.filename for w in caught] == [__file__]


def test_warns_once_a_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            jnp.zeros(2, "float64")
    assert len(caught) == 1


def test_is_silent_for_data_and_where_64_bits_are_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.asarray(np.ones(2)).dtype == np.float32
        with onax.enable_x64(True):
            assert jnp.zeros(2, "float64").dtype == np.float64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f, g: jnp.add(f, g), ("add", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.matmul(f, g), ("matmul|dot_general", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.dot(f, g), ("dot", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.concatenate([f, g]), ("oncatenate", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.stack([f, g]), ("stack", "", "")),
        (lambda f, g: jnp.where(f > 0, f, g), ("where", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.broadcast_to(f, (5, 5)), ("broadcast", "2,3", "5,5")),
        (lambda f, g: jnp.reshape(f, (4, 2)), ("reshape", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.einsum("ij,jk", f, g), ("einsum", "2|3", "4")),
        (lambda f, g: jnp.tensordot(f, g, 1), ("tensordot", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.vdot(f, g), ("vdot|dot", "6", "8")),
        (lambda f, g: jnp.cross(f, g), ("cross", "", "")),
        (lambda f, g: jnp.hypot(f, g), ("hypot", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.allclose(f, g), ("isclose|allclose", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: jnp.matvec(f, g[0]), ("matvec", "3|n", "2")),
        (lambda f, g: f + g, ("add", "2, 3|2,3", "4, 2|4,2")),
        (lambda f, g: f.at[:2].set(g), ("scatter|set|broadcast", "", "")),
    ],
)
def test_shape_errors_name_function_and_shapes(call, words):
    with pytest.raises((TypeError, ValueError)) as caught:
        call(jnp.ones((2, 3)), jnp.ones((4, 2)))
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    for word in words:
        assert any(w in text for w in word.split("|")), text


MODULES = (jnp, jnp.linalg, nn, lax, special, stats, linalg, ndimage)
STATIC = [
    (r, n)
    for r in MODULES
    for n, f in sorted(vars(r).items())
    if type(f) is ApiFunction and hasattr(f, "static_argnames")
]


@pytest.mark.parametrize(("module", "name"), STATIC, ids=[f"{r.__name__}.{n}" for r, n in STATIC])
def test_static_arguments_have_hashes(module, name):
    """Each parameter that a decorator declares static is asked for its hash, before anything else happens."""
    function = getattr(module, name)
    for parameter in function.static_argnames:
        with pytest.raises(ValueError, match="Non-hashable static arguments are not supported"):
            function(**{parameter: [1]})


def test_static_arguments_of_plain_and_staged_functions_are_declared():
    names = {f"{r.__name__}.{n}" for r, n in STATIC}
    assert {"onax.numpy.sum", "onax.numpy.polyfit", "onax.numpy.linalg.svd", "onax.nn.glu"} <= names
    assert "onax.numpy.add" not in names


@pytest.mark.parametrize(
    "call",
    [
        lambda x, axis: x.cumsum(axis=axis),
        lambda x, axis: x.sort(axis=axis),
        lambda x, axis: jnp.subtract.reduce(x, axis=axis),
        lambda x, axis: jnp.maximum.accumulate(x, axis=axis),
        lambda x, axis: jnp.linspace(0, 1, 5, endpoint=axis),
    ],
)
def test_a_traced_static_argument_of_a_method(call):
    with pytest.raises(ValueError, match=r"(?s)Non-hashable static arguments are not supported.*DynamicJaxprTracer"):
        onax.jit(call)(jnp.ones((2, 3)), 1)
