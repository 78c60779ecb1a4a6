"""A call of a jitted function: static arguments, staging, what is kept."""

import functools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._compile.jit import jit
from onax._ground.config import config
from onax._prims import elementwise as ops
from onax._transforms.autodiff import grad

X = np.arange(3, dtype=np.float32)


def values(x):
    return np.asarray(x).tolist()


@pytest.mark.parametrize("options", [{"static_argnums": 1}, {"static_argnames": "n"}, {"static_argnames": ["n"]}])
@pytest.mark.parametrize("call", [lambda f: f(X, 2), lambda f: f(X, n=2)])
def test_static_arguments(options, call):
    def f(x, n):
        return functools.reduce(ops.add, [x] * n)

    assert values(call(jit(f, **options))) == [0, 2, 4]


def test_a_failing_function_is_not_kept():
    fail = [True]

    @jit
    def f(x):
        if fail[0]:
            raise KeyError("no")
        return x

    with pytest.raises(KeyError):
        f(X)
    fail[0] = False
    assert values(f(X)) == values(X)


def test_closing_over_tracers():
    def outer(x):
        return jit(lambda y: ops.mul(x, y))(x)

    assert values(jit(outer)(X)) == [0, 1, 4] and float(grad(outer)(3.0)) == 6


class _set:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def __enter__(self):
        self.before = config.read(self.name)
        config.update(self.name, self.value)

    def __exit__(self, *_):
        config.update(self.name, self.before)


TRANSFORMS = {
    "jit": jax.jit,
    "grad": jax.grad,
    "grad in jit": lambda f: jax.jit(jax.grad(f)),
    "jit in grad": lambda f: jax.grad(jax.jit(f)),
    "make_jaxpr": jax.make_jaxpr,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_function_that_closes_over_tracers_is_staged_once_for_each_trace(name):
    count = []

    def outer(x):
        @jax.jit
        def inner(y):
            count.append(y)
            return x * y

        return (inner(x) + inner(2.0) + inner(3.0)).sum()

    result = TRANSFORMS[name](outer)(jnp.arange(3.0))
    assert len(count) == 2  # for an array and for a number
    assert name != "make_jaxpr" or ("let inner = " in str(result) and str(result).count("mul") == 2)


def several(a, b, c=0, *rest, d, **more):
    return b


@pytest.mark.parametrize(
    "options, args, kwargs, names",
    [
        ({"static_argnames": "d"}, (1, 2), {"d": 3}, ("a", "b")),
        ({"static_argnames": ("a", "d")}, (1, 2), {"d": 3, "e": 4}, ("b", "more['e']")),
        ({"static_argnums": 0, "static_argnames": "c"}, (1, 2), {"c": 3, "d": 4}, ("b", "d")),
        ({"static_argnums": (0, 3)}, (1, 2, 3, 4, 5), {"d": 6}, ("b", "c", "rest[1]", "d")),
        ({"static_argnames": ("d", "e")}, (1,), {"b": 2, "d": 3, "e": 4}, ("a", "b")),
    ],
)
def test_names_of_arguments_beside_static_ones(options, args, kwargs, names):
    """As JAX 0.10.2 names them."""
    traced = jax.jit(several, **options).trace(*args, **kwargs)
    assert traced.jaxpr.jaxpr.debug_info.arg_names == names
