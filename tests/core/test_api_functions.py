"""Functions of public modules: which are wrapped, what their errors name, static arguments without a hash."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.api_functions import static_argnames, wrap_api_functions
from onax._native.api_boundary import ApiFunction, unwrap

X = np.ones((2, 3), np.float32)


def make_namespace():
    def public(x, n=1, *, k=None):
        "Doc."
        raise ValueError(x)

    def foreign():
        pass

    public.__module__, foreign.__module__ = "onax.somewhere", "elsewhere"
    return {
        "public": public,
        "_private": public,
        "foreign": foreign,
        "number": 3,
        "other": static_argnames("n", "k")(public),
    }


def test_own_public_functions_are_wrapped():
    namespace = make_namespace()
    original = namespace["public"]
    wrap_api_functions(namespace, "onax.public_module")
    assert {n for n, v in namespace.items() if type(v) is ApiFunction} == {"public", "other"}
    wrapped = namespace["public"]
    assert (wrapped.__name__, wrapped.__module__, wrapped.__doc__) == ("public", "onax.public_module", "Doc.")
    assert unwrap(wrapped) is original and namespace["_private"] is original
    assert namespace["other"].__doc__ == "Alias of `public`. Doc."


@pytest.mark.parametrize(
    "name", ["abs", "acos", "amax", "around", "bitwise_left_shift", "bitwise_not", "conj", "divide", "mod", "pow"]
)
def test_documentation_says_what_is_an_alias(name):
    assert getattr(jnp, name).__doc__.startswith("Alias of `")


@pytest.mark.parametrize("args, kwargs", [((1, [2]), {}), ((1,), {"n": [2]}), ((1,), {"k": {}})])
def test_static_arguments_are_hashed_first(args, kwargs):
    namespace = make_namespace()
    wrap_api_functions(namespace, "onax.public_module")
    with pytest.raises(ValueError, match=r"(?s)Non-hashable static arguments are not supported.*unhashable type"):
        namespace["other"](*args, **kwargs)


@pytest.mark.parametrize("call", [
    lambda: jnp.concatenate([X, X[0]]),
    lambda: jnp.add(X, X.T),
    lambda: jnp.reshape(X, (4, 5)),
    lambda: jnp.broadcast_to(X, (4, 5)),
    lambda: jnp.matmul(X, X),
])  # fmt: skip
def test_errors_about_shapes_name_the_function_and_the_operands(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    name = call.__code__.co_names[1]
    assert name in text and ("2,3" in text or "2, 3" in text)


@pytest.mark.parametrize("call", [lambda f: jnp.apply_along_axis(f, 0, X), lambda f: jax.vmap(f)(X)])
def test_errors_of_the_users_functions_get_no_note(call):
    def wrong(x):
        raise ValueError("dimension")

    with pytest.raises(ValueError) as caught:
        call(wrong)
    assert not [note for note in getattr(caught.value, "__notes__", []) if "In a call of" in note]
