"""Traces and tracers: which is current, what tracers refuse, types of values."""

import copy
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.trace import (
    Trace,
    as_array,
    concrete_or_error,
    ensure_compile_time_eval,
    eval_trace,
    find_cur_trace,
    is_concrete,
    to_concrete_value,
    trace_state_clean,
    typeof,
    valid_jaxtype,
)
from onax._core.zeros import Zero
from onax._native.array import ArrayImpl


def test_truth_of_a_traced_array_of_several_elements():
    for shape in ((3,), (0,)):
        with pytest.raises(ValueError, match=r"truth value of an (empty )?array"):
            jax.make_jaxpr(bool)(np.ones(shape, np.float32))


# ---- traces


def test_the_current_trace():
    seen = []
    assert find_cur_trace() is eval_trace and trace_state_clean()
    jax.make_jaxpr(lambda x: (seen.append((find_cur_trace().staging, trace_state_clean())), x)[1])(1.0)
    assert seen == [(True, False)] and find_cur_trace() is eval_trace
    with pytest.raises(ZeroDivisionError):
        jax.vmap(lambda x: 1 // 0)(jnp.ones(2))
    assert trace_state_clean()


def test_values_that_are_known_are_computed_at_once_on_request():
    kept = []

    def f(x):
        with ensure_compile_time_eval():
            kept.append(jnp.sin(jnp.ones(2)))
            return x * kept[0] + jnp.cos(x)

    jaxpr = jax.make_jaxpr(f)(1.0)
    assert [e.primitive.name for e in jaxpr.eqns if e.primitive.name in ("sin", "cos")] == ["cos"]
    assert type(kept[0]) is ArrayImpl


def test_a_trace_without_a_rule_says_what_it_lacks():
    for call, text in (
        (lambda t: t.process_primitive(None, (), {}), "does not interpret operations"),
        (
            lambda t: t.process_custom_jvp_call(None, None, None, (), symbolic_zeros=False, params={}),
            "custom_jvp calls",
        ),
    ):
        with pytest.raises(NotImplementedError, match=f"Trace .*{text}"):
            call(Trace(None))


# ---- tracers


def tracer(value):
    """A tracer of a value's type, of a trace that has ended."""
    kept = []
    jax.make_jaxpr(lambda x: kept.append(x))(value)
    return kept[0]


REFUSED = {  # use, class of the error, part of its text
    "bool": (bool, jax.errors.TracerBoolConversionError, "traced array"),
    "int": (int, jax.errors.ConcretizationTypeError, "x.astype(int)"),
    "float": (float, jax.errors.ConcretizationTypeError, "x.astype(float)"),
    "complex": (complex, jax.errors.ConcretizationTypeError, "x.astype(complex)"),
    "index": (lambda x: [1, 2][x], TypeError, "Only integer scalar arrays"),
    "__array__": (np.asarray, jax.errors.TracerArrayConversionError, "traced array"),
    "item": (lambda x: x.item(), jax.errors.ConcretizationTypeError, "item() method"),
    "tolist": (lambda x: x.tolist(), jax.errors.ConcretizationTypeError, "tolist() method"),
    "tobytes": (lambda x: x.tobytes(), jax.errors.ConcretizationTypeError, "tobytes() method"),
    "hash": (hash, TypeError, "unhashable type"),
    "len": (len, TypeError, "len() of unsized object"),
    "iter": (iter, TypeError, "iteration over a 0-d array"),
    "format": (lambda x: f"{x:.2f}", TypeError, "unsupported format string passed to DynamicJaxprTracer"),
    "device": (lambda x: x.device, AttributeError, "DynamicJaxprTracer has no attribute device"),
    "unknown": (lambda x: x.foo, AttributeError, "DynamicJaxprTracer has no attribute foo"),
    "addressable_data": (
        lambda x: x.addressable_data(0),
        jax.errors.ConcretizationTypeError,
        "addressable_data() method",
    ),
    "pickle": (pickle.dumps, jax.errors.ConcretizationTypeError, "serialize/pickle"),
    "devices": (lambda x: x.devices(), jax.errors.ConcretizationTypeError, "devices() method"),
    "committed": (lambda x: x.committed, jax.errors.ConcretizationTypeError, "committed property"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tracers_refuse(name):
    use, error, text = REFUSED[name]
    with pytest.raises(error) as caught:
        jax.make_jaxpr(lambda x: (use(x), x)[1])(1.0)
    assert text in str(caught.value)


@pytest.mark.parametrize("name", ["block_until_ready", "copy_to_host_async", "sharding"])
def test_attributes_that_tracers_do_not_have(name):
    assert not hasattr(tracer(1.0), name)


def test_tracers_are_what_they_stand_for():
    x = tracer(np.ones((2, 3), np.float32))
    assert (x.shape, x.ndim, x.size, x.dtype, x.weak_type, len(x)) == ((2, 3), 2, 6, np.float32, False, 2)
    assert copy.copy(x) is copy.deepcopy(x) is x and repr(x) == f"{x}" == "JitTracer(float32[2,3])"


def test_tracers_that_know_their_value_convert():
    seen = []
    jax.grad(lambda x: (seen.append((bool(x > 1), int(x), round(x))), x * x)[1])(2.0)
    assert seen == [(True, 2, 2)]


@pytest.mark.parametrize("convert", [float, complex, math.sin, "%f".__mod__])
def test_no_derivative_is_lost_in_a_python_float(convert):
    with pytest.raises(jax.errors.ConcretizationTypeError, match=r"problem arose with the `(float|complex)` function"):
        jax.grad(lambda x: x * convert(x))(2.0)


# ---- types of values

TYPES = [
    (1, "~int32[]"), (1.5, "~float32[]"), (1j, "~complex64[]"), (True, "bool[]"), (np.float64(1), "float32[]"),
    (np.ones((2, 3)), "float32[2,3]"), (np.arange(2, dtype=np.int8), "int8[2]"), (jnp.ones(2), "float32[2]"),
    (Zero(jnp.ones(3).aval), "float32[3]"),
]  # fmt: skip


@pytest.mark.parametrize("value, text", TYPES, ids=str)
def test_types_of_values(value, text):
    assert str(typeof(value)) == text and valid_jaxtype(value)


@pytest.mark.parametrize(
    "value", ["a", None, [1.0], object(), np.array(["a"]), np.array([None]), np.datetime64("2020")]
)
def test_what_has_no_type(value):
    assert not valid_jaxtype(value)
    with pytest.raises(TypeError, match="is not a valid JAX"):
        typeof(value)


def test_values_as_arrays():
    given = np.ones(2, np.float32)
    x = as_array(given)
    given[0] = 5
    assert x.tolist() == [1.0, 1.0] and as_array(x) is x and as_array(2).weak_type and not as_array(True).weak_type


def test_concrete_values():
    seen = []
    jax.make_jaxpr(lambda x: seen.append((is_concrete(x), to_concrete_value(x))))(1.0)
    assert seen == [(False, None)] and is_concrete(3) and to_concrete_value(3) == 3
    assert concrete_or_error(int, 2.5) == 2 and concrete_or_error(None, 2.5) == 2.5
    with pytest.raises(jax.errors.ConcretizationTypeError, match="the number of rows"):
        jax.make_jaxpr(lambda x: concrete_or_error(int, x, "the number of rows"))(1)


@pytest.mark.parametrize("transform", [jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())])
def test_tracers_are_referenced_weakly(transform):
    references = []

    def function(x):
        references.append(weakref.ref(x))
        assert references[-1]() is x
        return x * 2

    transform(function)(jax.numpy.ones(2))
    gc.collect()
    assert len(references) == 1 and references[0]() is None
