"""Targets in C, called eagerly, in compiled programs and under vmap (tests/ffi_handlers.c)."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import ffi
from onax.errors import JaxRuntimeError, LoweringError
from oracle import TESTS

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
F32 = np.float32
METHODS = ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]
X = np.arange(6, dtype=F32).reshape(2, 3)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("ffi") / "handlers.so"
    source = TESTS / "ffi_handlers.c"
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", "-Werror", "-Wall", "-I", ffi.include_dir(), source, "-o", path],
        check=True,
    )
    loaded = ctypes.CDLL(str(path))
    for name in ("Scale", "Describe", "Count", "Increment", "Attributes"):
        ffi.register_ffi_target(f"test_{name.lower()}", ffi.pycapsule(getattr(loaded, name)))
    return loaded


def scale(x, factor=3, **options):
    call = ffi.ffi_call("test_scale", jax.ShapeDtypeStruct(x.shape, x.dtype), **options)
    return call(x, scale=F32(factor))


@needs_compiler
def test_calls(library):
    np.testing.assert_array_equal(scale(jnp.asarray(X)), 3 * X)
    jitted = jax.jit(lambda x: scale(x + 1) * 2)
    np.testing.assert_array_equal(jitted(X), 6 * (X + 1))
    loop = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: scale(x), x))
    np.testing.assert_array_equal(loop(X), 27 * X)
    branch = jax.jit(lambda p, x: jax.lax.cond(p, scale, lambda x: x, x))
    np.testing.assert_array_equal(branch(True, X), 3 * X)
    ffi.register_ffi_target("test_as_function", library.Scale)
    call = ffi.ffi_call("test_as_function", (jax.ShapeDtypeStruct((2,), F32),))
    (doubled,) = call(jnp.ones(2, F32), scale=F32(2))
    assert doubled.tolist() == [2, 2] and not doubled.weak_type


@needs_compiler
@pytest.mark.parametrize(
    "method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]
)
def test_batches(library, method):
    mapped = jax.vmap(lambda x: scale(x, vmap_method=method), in_axes=1)
    np.testing.assert_array_equal(mapped(X), 3 * X.T)
    np.testing.assert_array_equal(jax.jit(mapped)(X), 3 * X.T)


@needs_compiler
def test_a_batch_needs_a_method(library):
    with pytest.raises(NotImplementedError, match="ffi_call primitive when vmap_method is one of"):
        jax.vmap(scale)(X)
    with pytest.raises(ValueError, match="must be on of the allowed methods"):
        scale(X, vmap_method="all")


@needs_compiler
def test_derivatives_are_the_users(library):
    with pytest.raises(ValueError, match="FFI call to `test_scale` cannot be differentiated"):
        jax.grad(lambda x: scale(x).sum())(X)
    tripled = jax.custom_jvp(scale)
    tripled.defjvp(lambda primals, tangents: (scale(*primals), 3 * tangents[0]))
    np.testing.assert_array_equal(jax.grad(lambda x: tripled(x).sum())(X), np.full((2, 3), 3))


@needs_compiler
def test_layouts(library):
    describe = lambda size, **options: ffi.ffi_call(
        "test_describe", jax.ShapeDtypeStruct((size,), np.float64), **options
    )
    with jax.enable_x64(True):
        assert describe(9)(X).tolist() == [2, 2, 3, 0, 1, 2, 3, 4, 5]
        assert describe(9, input_layouts=[(1, 0)])(X).tolist() == [2, 2, 3, 0, 3, 1, 4, 2, 5]
        with pytest.raises(ValueError, match=r"number of input arguments \(1\) must equal the number of input layouts"):
            describe(9, input_layouts=[])(X)
    transposed = ffi.ffi_call("test_scale", jax.ShapeDtypeStruct((3, 2), F32), output_layouts=(1, 0))
    np.testing.assert_array_equal(transposed(X, scale=F32(1)), X.T)


@needs_compiler
def test_results_in_the_memory_of_arguments(library):
    x = jnp.zeros(3, F32)
    call = ffi.ffi_call("test_increment", jax.ShapeDtypeStruct((3,), F32), input_output_aliases={0: 0})
    assert call(x).tolist() == jax.jit(call)(x).tolist() == [1, 1, 1] and x.tolist() == [0, 0, 0]
    with pytest.raises(JaxRuntimeError, match="INTERNAL: not aliased"):
        ffi.ffi_call("test_increment", jax.ShapeDtypeStruct((3,), F32))(x)
    for aliases, words in (({1: 0}, "outside the range"), ({0: 1}, "output index 1 outside the range")):
        with pytest.raises(ValueError, match=words):
            ffi.ffi_call("test_increment", jax.ShapeDtypeStruct((3,), F32), input_output_aliases=aliases)(x)
    with pytest.raises(ValueError, match="a different abstract value"):
        ffi.ffi_call("test_increment", jax.ShapeDtypeStruct((2,), F32), input_output_aliases={0: 0})(x)


@needs_compiler
def test_effects(library):
    def calls(has_side_effect):
        count = ffi.ffi_call("test_count", jax.ShapeDtypeStruct((), np.int32), has_side_effect=has_side_effect)
        before = int(ffi.ffi_call("test_count", jax.ShapeDtypeStruct((), np.int32))())
        jax.jit(lambda: (count(), 1)[1])()
        return int(ffi.ffi_call("test_count", jax.ShapeDtypeStruct((), np.int32))()) - before - 1

    assert calls(True) == 1 and calls(False) == 0


# kind, element type and size of each attribute, as a handler under JAX 0.10.2 receives them
ATTRIBUTES = [
    (True, [3, 1, 1]), (1, [3, 5, 1]), (1.5, [3, 12, 1]), ("abc", [4, 0, 3]), (b"ab", [4, 0, 2]),
    (np.int8(3), [3, 2, 1]), (F32(2), [3, 11, 1]), (np.bool_(True), [3, 1, 1]),
    (np.arange(3, dtype=np.int32), [1, 4, 3]), (np.ones((2, 2)), [1, 12, 4]), (np.array(3.0), [1, 12, 1]),
    (np.zeros(0, np.int8), [1, 2, 0]), ({"a": 1, "b": "x"}, [2, 0, 2]), ({}, [2, 0, 0]),
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize(("value", "seen"), ATTRIBUTES, ids=lambda v: repr(v)[:20])
def test_attributes(library, value, seen):
    with jax.enable_x64(True):
        call = ffi.ffi_call("test_attributes", jax.ShapeDtypeStruct((6,), np.float64))
        assert call(z=value, a=1).tolist() == [3, 5, 1, *seen]


@needs_compiler
@pytest.mark.parametrize("value", [1j, None, (1, 2), np.array([True]), object(), F32])
def test_attributes_that_targets_cannot_take(library, value):
    with pytest.raises(TypeError, match="Unsupported attribute type for attribute: z"):
        ffi.ffi_call("test_attributes", jax.ShapeDtypeStruct((6,), F32))(z=value)
    with pytest.raises(TypeError, match="Non-hashable keyword argument to ffi_call z"):
        ffi.ffi_call("test_attributes", jax.ShapeDtypeStruct((6,), F32))(z=[value])


@needs_compiler
def test_errors(library):
    with pytest.raises(JaxRuntimeError, match="INVALID_ARGUMENT: Scale takes float32"):
        scale(np.ones(2, np.int32))
    with pytest.raises(JaxRuntimeError, match="INVALID_ARGUMENT: Scale takes float32"):
        jax.jit(scale)(np.ones(2, np.int32))
    with pytest.raises(JaxRuntimeError, match=r"version 0\.0 of the interface"):
        ffi.register_ffi_target("test_silent", ffi.pycapsule(library.Silent))
    with pytest.raises(LoweringError, match="ffi_call"):
        jax.export.export(scale)(X)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ffi.ffi_call("test_missing", jax.ShapeDtypeStruct((), F32))(), JaxRuntimeError, "NOT_FOUND: No FFI"),
        (lambda: ffi.ffi_call("f", 3), ValueError, "Got 3 at position 0"),
        (lambda: ffi.ffi_call("f", jax.ShapeDtypeStruct((), F32), custom_call_api_version=1)(), NotImplementedError,
         "typed interface"),
        (lambda: ffi.ffi_call("f", jax.ShapeDtypeStruct((), F32), custom_call_api_version=1)(n=1), ValueError,
         "attributes requires a custom call API version of at least 4; got api_version=1"),
        (lambda: ffi.ffi_call("f", jax.ShapeDtypeStruct((), F32), legacy_backend_config="x"), ValueError, "< 4; got 4"),
        (lambda: ffi.register_ffi_target("f", 3), JaxRuntimeError, "Unsupported custom call target type"),
        (lambda: ffi.register_ffi_target("f", {}), JaxRuntimeError, "must provide an execute implementation"),
        (lambda: ffi.register_ffi_target("f", 3, api_version=2), JaxRuntimeError, "UNIMPLEMENTED: API version 2"),
        (lambda: ffi.register_ffi_target("f", 3, api_version=0), NotImplementedError, "untyped interface"),
        (lambda: ffi.register_ffi_type_id("f", None), ValueError, "not supported after"),
    ],
)  # fmt: skip
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_targets_of_other_platforms_are_ignored():
    assert ffi.register_ffi_target("test_elsewhere", None, platform="CUDA") is None
    assert ffi.register_ffi_target_as_batch_partitionable("test_elsewhere") is None


@needs_compiler
def test_programs_print_the_call(library):
    call = ffi.ffi_call("test_scale", jax.ShapeDtypeStruct((2, 3), F32))
    attributes = {"scale": F32(1), "more": np.arange(2), "kind": {"b": 1, "a": "x"}}
    text = str(jax.make_jaxpr(lambda x: call(x, **attributes))(X))
    kind = "('kind', FrozenDict({'b': 1, 'a': 'x'}))"
    assert f"attributes=({kind}, ('more', HashableArray(array([0, 1]))), ('scale', np.float32(1.0)))" in text
    assert "input_layouts=((1, 0),)" in text and "target_name=test_scale" in text
