"""The tree of errors, and their texts: fault, place, remedy, pointer."""

import doctest
import operator
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import errors as public
from onax._ground import errors
from onax._native.avals import ShapedArray
from onax.errors import explain

DOCUMENT = explain.document()

BASES = {
    "ConcretizationTypeError": TypeError,
    "TracerBoolConversionError": errors.ConcretizationTypeError,
    "TracerArrayConversionError": TypeError,
    "TracerIntegerConversionError": TypeError,
    "UnexpectedTracerError": TypeError,
    "KeyReuseError": TypeError,
    "NonConcreteBooleanIndexError": IndexError,
    "JaxprTypeError": TypeError,
    "LoweringError": NotImplementedError,
    "BackendError": errors.JaxRuntimeError,
    "JaxRuntimeError": RuntimeError,
    "ArtifactError": errors.ExportError,
    "ExportError": ValueError,
}


class FakeTracer:
    aval = ShapedArray((2, 5), np.dtype("float32"))

    def _origin_msg(self):
        return "It arose in f."

    def _argument_names(self):
        return None


@pytest.mark.parametrize("name, base", BASES.items())
def test_bases(name, base):
    kind = getattr(public, name)
    assert issubclass(kind, base) and kind.__module__ == "onax.errors" and kind is getattr(errors, name)


@pytest.mark.parametrize(
    "name, parts",
    [
        ("ConcretizationTypeError", ["Abstract tracer value encountered where concrete value is expected", "why"]),
        ("TracerBoolConversionError", ["Attempted boolean conversion of traced array"]),
        ("TracerArrayConversionError", ["__array__() was called on traced array"]),
        ("TracerIntegerConversionError", ["__index__() method was called on traced array"]),
        ("NonConcreteBooleanIndexError", ["Array boolean indices must be concrete"]),
    ],
)
def test_texts(name, parts):
    arguments = (FakeTracer(), "why") if name == "ConcretizationTypeError" else (FakeTracer(),)
    text = str(getattr(errors, name)(*arguments))
    for part in [*parts, "float32[2,5]", "It arose in f.", f"See onax.errors.{name}: python -m onax.errors {name}"]:
        assert part in text
    assert text.splitlines()[-1].startswith("See ")


@pytest.mark.parametrize("name", ["UnexpectedTracerError", "KeyReuseError"])
def test_from_message(name):
    assert str(getattr(errors, name)("told you so")).startswith("told you so\nSee ")


@pytest.mark.parametrize("kind", errors.PUBLIC, ids=lambda kind: kind.__name__)
def test_every_class_is_explained(kind):
    assert issubclass(kind, errors.OnaxError) and getattr(public, kind.__name__) is kind
    assert f'<a id="{kind.__name__}"></a>' in DOCUMENT
    error = kind.__new__(kind)
    errors.OnaxError.__init__(error, "the fault")
    assert (
        error.message == "the fault"
        and str(error) == f"the fault\nSee onax.errors.{kind.__name__}: python -m onax.errors {kind.__name__}"
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) and again.message == "the fault"


def test_a_message_ends_with_one_pointer():
    first = errors.LoweringError("no form")
    assert str(errors.LoweringError(str(first))) == str(first)


def test_the_examples_run():
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", DOCUMENT, re.S))
    example = doctest.DocTestParser().get_doctest(blocks, {}, "errors.md", "errors.md", 0)
    report = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert result.attempted > 50 and not result.failed, "".join(report)


def place(function, fragment):
    lines = Path(__file__).read_text().splitlines()
    start = function.__code__.co_firstlineno
    number = next(i for i in range(start, len(lines) + 1) if fragment in lines[i - 1])
    return f"{__file__}:{number}"


def branches(x):
    doubled = 2 * x
    return x if doubled > 0 else -x


def test_the_message_of_a_traced_condition():
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        jax.jit(lambda w: branches(w["a"][0]))({"a": [1.0, 2.0]})
    text = str(caught.value)
    assert "traced array with shape bool[]" in text and " for jit." in text
    assert "depends on the value of the argument w['a'][0]." in text
    with pytest.raises(errors.TracerBoolConversionError, match="static_argnames='x'"):
        jax.jit(branches)(1.0)
    for transform, name in ((lambda f: jax.vmap(f)(jnp.ones(3)), "vmap"), (lambda f: jax.jit(f)(1.0), "jit")):
        with pytest.raises(errors.TracerBoolConversionError, match=rf"branches at .*test_errors.py:\d+ .*for {name}"):
            transform(branches)


def test_the_operation_that_made_a_tracer():
    def count(x):
        number = jnp.prod(jnp.arange(3) + 1)
        return x.reshape(number, -1)

    with pytest.raises(TypeError, match=r"got \(JitTracer\(int32\[\]\), -1\)") as caught:
        jax.jit(count)(jnp.ones(6))
    assert f"from line {place(count, 'jnp.prod')}" in str(caught.value)


ONLY_OF_VALUES = ["devices", "delete", "unsafe_buffer_pointer", "addressable_shards", "committed"]


@pytest.mark.parametrize("name", ONLY_OF_VALUES)
def test_what_a_tracer_lacks(name):
    def ask(x):
        value = getattr(x, name)
        return value() if callable(value) else value

    with pytest.raises(errors.ConcretizationTypeError, match=name):
        jax.jit(ask)(1.0)


@pytest.mark.parametrize("name", ["block_until_ready", "copy_to_host_async", "sharding", "is_ready"])
def test_absent_attributes(name):
    with pytest.raises(AttributeError, match=name):
        jax.jit(lambda x: getattr(x, name))(1.0)


CONVERSIONS = {
    "int of a vector": (int, jnp.ones(2), "Only scalar arrays can be converted to Python scalars; got arr.ndim=1"),
    "index of a vector": (operator.index, jnp.arange(2), "Only integer scalar arrays can be converted"),
    "index of a float": (operator.index, 1.5, "Only integer scalar arrays can be converted"),
    "item": (lambda x: x.item(), 1.5, r"This occurred in the item\(\) method"),
    "tolist": (lambda x: x.tolist(), 1.5, r"The tolist\(\) method was called"),
    "pickle": (pickle.dumps, 1.5, "attempt to serialize/pickle a traced value"),
    "hash": (hash, 1.5, "unhashable type"),
    "set": (lambda x: {x}, 1.5, "unhashable type"),
    "length": (len, 1.5, "unsized object"),
    "iteration": (list, 1.5, "iteration over a 0-d array"),
}


@pytest.mark.parametrize("convert, value, text", CONVERSIONS.values(), ids=CONVERSIONS.keys())
def test_conversions(convert, value, text):
    with pytest.raises(TypeError, match=text):
        jax.jit(convert)(value)
