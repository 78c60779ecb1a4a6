"""The leak checker: every transformation, what is no leak, and what the message tells."""

import gc
import re

import pytest

import onax as jax
import onax.numpy as jnp
from onax import errors, lax

pytestmark = pytest.mark.usefixtures("few_tracked_objects")

TRANSFORMATIONS = {
    "jit": lambda f: jax.jit(f)(1.0),
    "vmap": lambda f: jax.vmap(f)(jnp.ones(3)),
    "grad": lambda f: jax.grad(f)(1.0),
    "jvp": lambda f: jax.jvp(f, (1.0,), (1.0,)),
    "vjp": lambda f: jax.vjp(f, 1.0)[1](1.0),
    "linearize": lambda f: jax.linearize(f, 1.0)[1](1.0),
    "make_jaxpr": lambda f: jax.make_jaxpr(f)(1.0),
    "eval_shape": lambda f: jax.eval_shape(f, 1.0),
    "checkpoint": lambda f: jax.checkpoint(f)(1.0),
    "scan": lambda f: lax.scan(lambda c, _: (f(c), None), 1.0, None, length=2),
    "while_loop": lambda f: lax.while_loop(lambda c: c < 3.0, lambda c: f(c) + 1, 1.0),
    "fori_loop": lambda f: lax.fori_loop(0, 2, lambda i, c: f(c), 1.0),
    "cond": lambda f: lax.cond(True, f, lambda x: x * 3.0, 1.0),
    "custom_jvp": lambda f: jax.jit(_with_jvp(f))(1.0),
    "custom_vjp": lambda f: jax.jit(jax.grad(_with_vjp(f)))(1.0),
    "jit of grad": lambda f: jax.jit(jax.grad(f))(1.0),
    "grad of jit": lambda f: jax.grad(jax.jit(f))(1.0),
    "pullback out of jit": lambda f: jax.jit(lambda x: jax.vjp(f, x))(1.0)[1](1.0),
    "pushforward out of jit": lambda f: jax.jit(lambda x: jax.linearize(f, x))(1.0)[1](1.0),
    "vmap of grad of jit": lambda f: jax.vmap(jax.grad(jax.jit(f)))(jnp.ones(3)),
}


def _with_jvp(f):
    wrapped = jax.custom_jvp(f)
    wrapped.defjvp(lambda p, t: (f(*p), t[0]))
    return wrapped


def _with_vjp(f):
    wrapped = jax.custom_vjp(f)
    wrapped.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * x,))
    return wrapped


each = pytest.mark.parametrize("transform", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS.keys())


@each
def test_a_leak_raises_when_the_function_returns(transform):
    kept = []

    def careless(x):
        kept.append(x * 2.0)
        return x * 3.0

    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace") as caught:
        transform(careless)
    assert "the variable kept that careless" in str(caught.value) or "the variable kept of" in str(caught.value)


@each
def test_no_leak_no_error(transform):
    kept = []

    def careful(x):
        kept.append(x.shape)
        try:
            raise ValueError(x)  # a cycle: the error's traceback refers to this frame
        except ValueError as error:
            kept.append(type(error))
        return x * 3.0

    plain = transform(careful)
    with jax.checking_leaks():
        checked = transform(careful)
    assert str(jax.tree.leaves(plain)) == str(jax.tree.leaves(checked))


class Box:
    pass


box = Box()
HOLDERS = {
    "global": (lambda x: globals().update(saved=x), "the global saved of test_leaks"),
    "attribute": (lambda x: setattr(box, "saved", x), "the attribute saved of a Box\n  which is the global box of"),
    "dict": (
        lambda x: setattr(box, "saved", {"w": [x]}),
        "entry [0] of a list\n  which is entry ['w'] of a dict\n  which",
    ),
}


@pytest.fixture
def _all_objects_are_tracked():
    """`gc.get_referrers` finds nothing among the objects that `conftest.py` has excluded from collections."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("_all_objects_are_tracked")
@pytest.mark.parametrize("save, chain", HOLDERS.values(), ids=HOLDERS.keys())
def test_what_holds_it(save, chain):
    def careless(x):
        save(x + 1)
        return x

    try:
        with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace") as caught:
            jax.jit(careless)(1.0)
    finally:
        globals().pop("saved", None)
        vars(box).clear()
    text = str(caught.value).replace(f"{__name__}", "test_leaks")
    assert chain in text
    assert "JitTracer(~float32[])" in text and "careless at" in text
    line = careless.__code__.co_firstlineno + 1
    assert f"was created on line:\n  {__file__}:{line}" in text
    assert re.search(r"^<DynamicJaxprTracer [0-9]+> is referred to by ", text, re.MULTILINE)


def test_a_closure_is_named():
    def keeper():
        value = None

        def careless(x):
            nonlocal value
            value = x * 2
            return x

        return careless

    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace") as caught:
        jax.jit(keeper())(1.0)
    assert "the variable value that careless at" in str(caught.value)


LATER = {
    "jit": lambda f, x: jax.jit(f)(x),
    "vmap": lambda f, x: jax.vmap(f)(x),
    "jvp": lambda f, x: jax.jvp(f, (x,), (x,)),
    "value_and_grad": lambda f, x: jax.grad(f)(x),
    "linearize": lambda f, x: jax.linearize(f, x),
    "scan": lambda f, x: lax.scan(lambda c, y: (f(y), None), 0.0, x),
}


@pytest.mark.parametrize("name", LATER)
def test_later_errors_name_the_transformation_and_the_line(name):
    kept = []

    def careless(x):
        kept.append(x * 2.0)
        return jnp.sum(x)

    LATER[name](careless, jnp.ones(2))
    subject = "<lambda>" if name == "scan" else "careless"
    with pytest.raises(errors.UnexpectedTracerError, match=rf"{subject} at .*traced for {name}") as caught:
        kept.pop() + 1
    line = careless.__code__.co_firstlineno + 1
    assert f"The leaked intermediate value was created on line {__file__}:{line}:20 (" in str(caught.value)
    if name in ("jit", "scan"):  # staged: who called it is known, too
        assert re.search(r"the final 5 stack frames .*\n-+\n(.*\n){4}.*:\d+:20 \(.*careless\)\n-+\n", str(caught.value))
