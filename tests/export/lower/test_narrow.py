"""Exports of programs with numbers of 2 to 8 bits: the file computes in wider ones, with the results of evaluation."""

import numpy as np
import onnx
import pytest

import onax as jax
import onax.numpy as jnp
from onax import export, lax
from onax.errors import LoweringError
from onax.export.artifact import carrier

INTEGERS = ("int2", "int4", "uint2", "uint4")
FLOATS = ("float4_e2m1fn", "float6_e2m3fn", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2")
VALUES = np.array([-2, 1, 0, 3, -1, 7, 2, -8, -0.75, 1.25], np.float32)

EITHER = {
    "astype": lambda x: x.astype("float32") * 2,
    "from_float": lambda x: (x.astype("float32") * 1.3 - 0.7).astype(x.dtype),
    "from_nonfinite": lambda x: jnp.array([np.inf, -np.inf, np.nan, 1e9]).astype(x.dtype),
    "from_int": lambda x: (x.astype("int32") + 13).astype(x.dtype),
    "add": lambda x: x + x[::-1],
    "sub": lambda x: x - x[::-1],
    "mul": lambda x: x * x[::-1],
    "neg": lambda x: -x,
    "div": lambda x: lax.div(x, jnp.full_like(x, 2)),
    "compare": lambda x: x < x[::-1],
    "where": lambda x: jnp.where(x > 0, x, x * x),
    "sort": jnp.sort,
    "sum": jnp.sum,
    "prod": jnp.prod,
    "reduce": lambda x: lax.reduce(x, np.array(0, x.dtype), lax.add, (0,)),
    "max": jnp.max,
    "min_of_none": lambda x: lax.reduce_min_p.bind(x[:0], axes=(0,), out_sharding=None),
    "argmax": jnp.argmax,
    "dot": lambda x: jnp.dot(x, x),
    "wide_dot": lambda x: jnp.dot(x, x, preferred_element_type=np.float32),
    "take": lambda x: jnp.take(x, jnp.array([99, 0, 1])),
    "at": lambda x: x.at[1].set(1).at[jnp.array([0, 0])].add(1),
    "shape": lambda x: jnp.concatenate([x, x]).reshape(2, -1).T,
    "iota": lambda x: lax.iota(x.dtype, 10) + x[0],
    "scan": lambda x: lax.scan(lambda c, a: (c + a, c * a), x[0], x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: y + y, lambda y: y, x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x, x),
    "jit": lambda x: jax.jit(lambda y: y + 1)(x),
    "constant": lambda x: x + jnp.ones(10, x.dtype),
    "pad": lambda x: jnp.pad(x, 2),
    "window": lambda x: lax.reduce_window(x, np.array(0, x.dtype), lax.add, (2,), (1,), "SAME"),
}
OF_INTEGERS = {
    "and": lambda x: x & x[::-1],
    "xor": lambda x: x ^ x[::-1],
    "not": lambda x: ~x,
    "shift_left": lambda x: lax.shift_left(x, x[::-1]),
    "shift_right_logical": lambda x: lax.shift_right_logical(x, x[::-1]),
    "shift_right_arithmetic": lambda x: lax.shift_right_arithmetic(x, jnp.ones_like(x)),
    "population_count": lax.population_count,
    "clz": lax.clz,
    "power": lambda x: x**3,
    "bitcast": lambda x: lax.bitcast_convert_type(x, f"int{jnp.iinfo(x.dtype).bits}"),
    "view": lambda x: x[: x.shape[0] // 8 * 8].view("uint16"),
    "view back": lambda x: jnp.float32([1.5, -2.25]).view(x.dtype),
    "view of 4 and 2 bits": lambda x: x[:8].view("int2").view("uint4"),
}
OF_FLOATS = {"exp": lax.exp, "sqrt": lambda x: lax.sqrt(jnp.abs(x))}
CASES = [(d, name, f) for d in (*INTEGERS, *FLOATS) for name, f in EITHER.items()]
CASES += [(d, name, f) for d in INTEGERS for name, f in OF_INTEGERS.items()]
CASES += [(d, name, f) for d in FLOATS for name, f in OF_FLOATS.items()]


@pytest.mark.parametrize(("dtype", "name", "function"), CASES, ids=[f"{d}-{n}" for d, n, _ in CASES])
def test_export_gives_what_evaluation_gives(dtype, name, function):
    x = jnp.asarray(VALUES).astype(dtype)
    expected = jax.tree.leaves(function(x))
    found = jax.tree.leaves(export.export(jax.jit(function))(x).call(x))
    for want, have in zip(expected, found, strict=True):
        assert have.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(have).astype("f4"), np.asarray(want).astype("f4"), strict=True)


@pytest.mark.parametrize(("dtype", "element"), [("int4", "INT8"), ("uint2", "UINT8"), ("float4_e2m1fn", "FLOAT")])
def test_tensors_at_the_boundary_have_the_element_type_of_the_carrier(dtype, element):
    x = jnp.ones(3, dtype)
    exported = export.export(jax.jit(lambda x: x * x))(x)
    model = onnx.load_from_string(bytes(exported.serialize()))
    onnx.checker.check_model(model, full_check=True)
    (port,) = model.graph.input
    assert onnx.TensorProto.DataType.Name(port.type.tensor_type.elem_type) == element
    again = export.deserialize(exported.serialize())
    assert again.in_avals[0].dtype == x.dtype and again.call(x).dtype == x.dtype


def test_carriers():
    wide = {name: carrier(jnp.dtype(name)) for name in ("int8", "bool", "float16", "complex64", "float8_e8m0fnu")}
    assert set(wide.values()) == {None}


@pytest.mark.parametrize(
    ("dtype", "function"),
    [
        ("float4_e2m1fn", lambda x: lax.nextafter(x, x)),
        ("float4_e2m1fn", lambda x: lax.bitcast_convert_type(x, "uint4")),
    ],
)
def test_what_depends_on_the_width_is_refused(dtype, function):
    with pytest.raises(LoweringError, match="in wider numbers"):
        export.export(jax.jit(function))(jnp.ones((3, 2), dtype))
