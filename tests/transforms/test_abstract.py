"""Types without values: ShapeDtypeStruct, eval_shape, make_jaxpr, what is refused as an argument or result."""

import pickle

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.layout import Format, Layout
from onax._transforms.abstract import abstractify, bind_static, with_static

Struct = jax.ShapeDtypeStruct
S = Struct((2, 3), np.float32)


def test_structs():
    assert (S.ndim, S.size, len(S), S.dtype) == (2, 6, 2, np.float32)
    assert repr(S) == "ShapeDtypeStruct(shape=(2, 3), dtype=float32)" and S == Struct([2, 3], "float32")
    weak = S.update(weak_type=True)
    assert weak != S and repr(weak).endswith("weak_type=True)") and len({S, weak, Struct((2, 3), np.float32)}) == 2
    assert S != (2, 3) and Struct((), jax.random.key(0).dtype).dtype == jax.random.key(0).dtype
    with pytest.raises(TypeError, match="len\\(\\) of unsized object"):
        len(Struct((), int))
    with pytest.raises(ValueError, match="dtype must be specified"):
        Struct((), None)


@pytest.mark.parametrize("dtype", [float, int, np.float64, np.str_, np.bytes_, object, np.float32])
def test_structs_keep_the_dtype_that_they_are_given(dtype):
    struct = Struct((2,), dtype)
    assert struct.dtype == np.dtype(dtype) and struct.size == 2 and f"dtype={np.dtype(dtype).name}" in repr(struct)


def test_types_of_results_have_the_stated_shardings():
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    f = jax.jit(lambda x: {"a": x, "b": x}, out_shardings={"a": sharding, "b": None})
    for types in (f.eval_shape(1.0), jax.eval_shape(f, 1.0)):
        assert (types["a"].sharding, types["b"].sharding) == (sharding, None)


class HasBoth:
    shape, dtype = (4,), np.dtype(np.int16)


@pytest.mark.parametrize("value, text", [
    (S, "float32[2,3]"), (np.ones(2), "float32[2]"), (3, "~int32[]"), (HasBoth(), "int16[4]"),
    (jnp.ones((), bool).aval, "bool[]"), (Struct((2,), np.float64, weak_type=True), "~float32[2]"),
])  # fmt: skip
def test_types_of_what_has_a_shape_and_a_dtype(value, text):
    assert str(abstractify(value)) == text


@pytest.mark.parametrize("value", ["a", None, HasBoth])
def test_what_has_none(value):
    with pytest.raises(TypeError):
        abstractify(value)


def test_eval_shape():
    seen = []
    out = jax.eval_shape(
        lambda x, y: {"a": (seen.append(x), x @ y)[1], "b": 1.0, "c": Struct((9,), int)}, S, np.ones((3, 4))
    )
    assert out["a"] == Struct((2, 4), np.float32) and out["b"] == Struct((), np.float32, weak_type=True)
    assert out["c"] == Struct((9,), np.int32) and len(seen) == 1
    with pytest.raises(TypeError, match="Expected a callable value"):
        jax.eval_shape(3)


def test_make_jaxpr():
    make = jax.make_jaxpr(lambda x, n: jnp.sum(x, n), static_argnums=1, return_shape=True)
    jaxpr, shape = make(S, 0)
    assert shape == Struct((3,), np.float32) and len(jaxpr.invars) == 1 and make.__name__ == "make_jaxpr(<lambda>)"
    assert make.__qualname__.startswith("make_jaxpr(") and make.__module__ == "jax"
    assert jax.make_jaxpr(lambda x: jax.lax.psum(x, "i"), axis_env=[("i", 3)])(1.0).eqns
    with pytest.raises(TypeError, match="the first argument must be callable"):
        jax.make_jaxpr(3)


def test_a_function_is_traced_once_for_all_that_stage_it():
    traced = []

    def f(x):
        return traced.append(x) or 2 * x

    for _ in range(2):
        jax.eval_shape(f, S)
        jax.make_jaxpr(f)(S)
        jax.jit(f)(np.ones((2, 3), np.float32))
    assert len(traced) == 1
    jax.make_jaxpr(f)(1.0)
    jax.make_jaxpr(f, static_argnums=0)(1.0)
    assert len(traced) == 3
    jax.jit(f).clear_cache()
    jax.eval_shape(f, S)
    assert len(traced) == 4


def test_structs_are_constants_of_what_is_only_staged():
    inner = jax.jit(lambda x: x + 1)
    outer = lambda y: y * inner(S)
    assert jax.eval_shape(outer, 1.0) == jax.eval_shape(jax.jit(outer), 1.0) == Struct((2, 3), np.float32)
    assert jax.eval_shape(jax.vmap(outer), Struct((4,), float)).shape == (4, 2, 3)
    assert jax.eval_shape(jax.grad(lambda y: outer(y).sum()), 1.0).shape == ()
    jaxpr = jax.make_jaxpr(outer)(1.0)
    assert jaxpr.consts == [S] and jaxpr.eqns[0].primitive.name == "jit"
    assert len(jax.make_jaxpr(lambda: inner(S) + inner(S))().consts) == 1


def bad(x):
    return "text"


REFUSED = [
    (lambda: jax.make_jaxpr(lambda p: p)({"w": "a"}), TypeError, r"(?s)type <class 'str'> .* at path p\['w'\]"),
    (lambda: jax.make_jaxpr(lambda x: x)(2**40), OverflowError, "argument path is x"),
    (lambda: jax.make_jaxpr(lambda x: x)(np.ma.array([1.0])), ValueError, "masked arrays are not supported"),
    (
        lambda: jax.make_jaxpr(bad)(1),
        TypeError,
        r"function bad at .*test_abstract.py:\d+ traced for jit returned a value of type",
    ),
]


@pytest.mark.parametrize("call, error, text", REFUSED)
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_binding_static_arguments():
    f = lambda a, b, c, *, k: (a, b, c, k)
    assert bind_static(f, 3, {1: "B"}, {"k": 4})("A", "C") == ("A", "B", "C", 4) and bind_static(f, 3, {}, {}) is f
    bound, dynamic = with_static(lambda *args: args, ("A", "B", "C"), (-1, 0))
    assert dynamic == ("B",) and bound("X") == ("A", "X", "C")


def test_types_of_values():
    like = jax.ShapeDtypeStruct.like
    assert repr(like(jnp.ones(3))) == "ShapeDtypeStruct(shape=(3,), dtype=float32)"
    assert repr(like(np.ones(3))) == "ShapeDtypeStruct(shape=(3,), dtype=float32)"
    assert repr(like(3)) == "ShapeDtypeStruct(shape=(), dtype=int32, weak_type=True)"
    assert repr(like(jax.random.key(0))) == "ShapeDtypeStruct(shape=(), dtype=key<fry>)"
    spec = jax.ShapeDtypeStruct((3,), np.int8, weak_type=True)
    assert like(spec) == spec and like(spec.update(shape=(4,))).shape == (4,)
    placed = jax.device_put(jnp.ones(3), jax.devices()[0])
    assert like(placed).sharding == placed.sharding == like(placed).format.sharding
    assert spec.manual_axis_type is None and not spec.is_ref
    with pytest.raises(TypeError, match="is not a valid JAX type"):
        like("a")


def test_shardings_of_structs_are_shardings():
    for value in (3, jax.devices()[0]):
        with pytest.raises(ValueError, match=r"^sharding should be an instance of `jax\.sharding\.Sharding`"):
            jax.ShapeDtypeStruct((2,), np.float32, sharding=value)
    here = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    assert jax.ShapeDtypeStruct((2,), np.float32, sharding=here).sharding == here


def test_structs_take_formats():
    form = jax.jit(lambda x: x).lower(jnp.ones((2, 3))).compile().output_formats
    struct = jax.ShapeDtypeStruct((2, 3), np.float32, sharding=form)
    assert (struct.format, struct.sharding) == (form, form.sharding)
    assert repr(struct).endswith(f"sharding={form.sharding}, format={form.layout})")
    assert struct.update(shape=(2, 3)) == struct != jax.ShapeDtypeStruct((2, 3), np.float32, sharding=form.sharding)


def test_structs_do_not_change():
    with pytest.raises(RuntimeError, match=r"Cannot reassign attributes \(shape\) of immutable ShapeDtypeStruct"):
        S.shape = (3,)
    assert pickle.loads(pickle.dumps(S.update(weak_type=True))) == S.update(weak_type=True)


def test_specs_of_structs_need_the_mesh_in_context():
    struct, mesh = Struct((2,), "float32", sharding=jax.P("x")), jax.make_mesh((1,), ("x",))
    with pytest.raises(TypeError, match="the context mesh cannot be empty"):
        struct.sharding  # noqa: B018
    with pytest.raises(TypeError, match="Error interpreting argument"):
        jax.jit(jnp.sin).lower(struct)
    with jax.set_mesh(mesh):
        assert struct.sharding == struct.update(shape=(4,)).sharding == jax.NamedSharding(mesh, jax.P("x"))


def test_a_known_layout_is_not_lost():
    from_format = Format(Layout((0, 1)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    struct = Struct((2, 2), np.int32, sharding=from_format)
    assert struct.update(shape=(4, 2)).format == from_format
    with pytest.raises(ValueError, match="You are updating ShapeDtypeStruct"):
        struct.update(sharding=from_format.sharding)


@pytest.mark.parametrize("spec", [jax.P(None, "x", None), "over a mesh"])
def test_shardings_of_too_many_dimensions(spec):
    mesh = jax.make_mesh((1,), ("x",))
    sharding = jax.NamedSharding(mesh, jax.P(None, "x", None)) if isinstance(spec, str) else spec
    with pytest.raises(ValueError, match=r"only valid for values of rank at least 3, .* to a value of rank 2"):
        Struct((2, 2), np.float32, sharding=sharding)
