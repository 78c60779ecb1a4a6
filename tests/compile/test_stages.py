"""Traced, Lowered, Compiled: what they show, and how a Compiled refuses other arguments."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import new_ref
from onax._compile.jit import jit
from onax._core.sharding import SingleDeviceSharding
from onax._ground.devices import devices
from onax._ground.errors import JaxRuntimeError, LoweringError
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import elementwise as ops
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.transfer import device_put

Y = {"a": np.ones(3, np.float32)}


@jit
def f(x, y):
    return {"s": ops.add(y["a"], y["a"]), "x": x}


def test_traced():
    traced = f.trace(1.0, Y)
    assert (traced.fun_name, repr(traced.in_tree)) == ("f", "PyTreeDef(((*, {'a': *}), {}))")
    weak = ShapedArray((), np.dtype(np.float32), weak_type=True)
    assert traced.in_avals == ((weak, {"a": ShapedArray((3,), np.dtype(np.float32))}), {})
    assert traced.out_info["s"] == ShapeDtypeStruct((3,), np.float32) and traced.out_avals["x"] == weak
    assert "add" in str(traced.jaxpr)
    assert f.eval_shape(1.0, Y) == traced.out_info


def test_lowered():
    lowered = f.lower(1.0, Y)
    text = lowered.as_text()
    assert "f32[3] in.0" in text and "onax.Tape <" in text and "computes = 'add'" in text
    assert lowered.compiler_ir().graph.node[0].op_type == "Tape"
    assert repr(lowered.args_info).count("ArgInfo(_aval=ShapedArray(float32[") == 2
    assert lowered.donate_argnums == () and lowered.cost_analysis()["flops"] == 3
    assert jit(lambda x: x).lower(1.0).as_text() == "graph () => ()\n"
    assert jit(lambda x: x).lower(1.0).compiler_ir() is None


def test_donation_is_shown():
    lowered = jit(lambda x, y: (x, y), donate_argnums=1).lower(1.0, (2.0, 3.0))
    assert lowered.donate_argnums == (1, 2) and lowered.args_info[0][1][0].donated


def test_types_stand_for_values():
    struct = ShapeDtypeStruct((3,), np.float32)
    out = f.lower(ShapeDtypeStruct((), np.int32), {"a": struct}).compile()(np.int32(4), Y)
    assert np.asarray(out["s"]).tolist() == [2, 2, 2] and int(out["x"]) == 4


def test_static_arguments_are_left_out():
    g = jit(lambda x, n: ops.mul(x, n), static_argnums=1)
    lowered = g.lower(1.0, 3.0)
    assert repr(lowered.in_tree) == "PyTreeDef(((*,), {}))"
    assert float(lowered.compile()(2.0)) == 6


COMPILED = f.lower(np.float32(1), Y).compile
MISMATCHES = [
    (lambda c: c(1.0, {"b": Y["a"]}), r"(?s)There are 1 mismatches.*at args\[1\], seen .*'a'.* but now given .*'b'"),
    (lambda c: c(1.0), r"at args, seen .*tuple of length 2 but now given .*tuple of length 1, so the lengths do not"),
    (lambda c: c(1.0, y=Y), r"(?s)There are 2 mismatches.*at kwargs"),
    (
        lambda c: c(1.0, {"a": np.ones(4, np.float32)}),
        r"Argument 'y\['a'\]' compiled with float32\[3\] and called with float32\[4\]",
    ),
    (lambda c: c(1, Y), r"Argument 'x' compiled with float32\[\] and called with int32\[\]"),
    (lambda c: jit(lambda z: c(z, Y))(1.0), "Cannot apply JAX transformations to a function lowered and compiled"),
]


@pytest.mark.parametrize("call, message", MISMATCHES)
def test_compiled_refuses(call, message):
    with pytest.raises(TypeError, match=message):
        call(COMPILED())


def test_compiled():
    compiled = COMPILED()
    for x in (1.0, np.float32(1), 2.0):  # weak types may differ
        out = compiled(x, Y)
        assert np.asarray(out["s"]).tolist() == [2, 2, 2] and float(out["x"]) == x
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes, memory.alias_size_in_bytes) == (16, 16, 4)
    assert compiled.host_nodes == [] and compiled.cost_analysis()["bytes accessed"] == 36
    assert "onax.Tape" in compiled.as_text() and compiled.runtime_executable() is not None
    assert jit(lambda x: x).lower(1.0).compile().runtime_executable() is not None
    assert compiled.in_avals == f.trace(np.float32(1), Y).in_avals


def test_an_operation_without_onnx_form():
    odd_p = Primitive("test_odd", abstract_eval=lambda x: x)
    with pytest.raises(LoweringError, match=r"(?s)test_odd.*test_stages\.py"):
        jit(lambda x: odd_p.bind(x))(1.0)


def test_an_operation_with_only_a_kernel_runs_it_in_the_graph():
    even_p = Primitive("test_even", kernel=lambda x: x + x, abstract_eval=lambda x: x)
    compiled = jit(lambda x: even_p.bind(x) + 1).lower(1.0).compile()
    assert float(compiled(2.0)) == 5
    (name,) = compiled.host_nodes
    assert name.startswith("test_even") and "onax.Tape" in compiled.as_text()


def test_an_operation_with_only_an_impl_runs_it_in_the_graph():
    seen = []
    plain_p = Primitive("test_plain", impl=lambda x, *, n: seen.append(x) or x * n, abstract_eval=lambda x, n: x)
    compiled = jit(lambda x: plain_p.bind(x, n=3) + 1).lower(1.0).compile()
    assert float(compiled(2.0)) == 7 and isinstance(seen[0], Array)
    (name,) = compiled.host_nodes
    assert name.startswith("test_plain")
    with pytest.raises(ZeroDivisionError):
        failing_p = Primitive("test_failing", impl=lambda x: 1 // 0, abstract_eval=lambda x: x)
        jit(lambda x: failing_p.bind(x))(1.0)


def test_compiler_options():
    lowered = f.lower(np.float32(1), Y)
    assert float(lowered.compile({"optimization": 0})(np.float32(2), Y)["x"]) == 2
    with pytest.raises(JaxRuntimeError, match="INVALID_ARGUMENT: No such compile option: 'flag'"):
        lowered.compile({"flag": 1})
    assert float(lowered.compile({"xla_embed_ir_in_executable": True})(np.float32(2), Y)["x"]) == 2


def test_places_of_a_compiled_function():
    g = jit(lambda a, t, k: {"x": a, "y": ops.add(t["b"], t["b"])})
    compiled = g.lower(1.0, {"b": 1.0, "c": 2.0}, k=3).compile()
    here = SingleDeviceSharding(devices()[0])
    assert compiled.input_shardings == ((here, {"b": here, "c": None}), {"k": None})
    assert compiled.output_shardings == {"x": here, "y": here}
    kept = jit(lambda x, y: y, keep_unused=True).lower(1, 2).compile()
    assert kept.input_shardings == ((here, here), {}) and kept.output_shardings == here
    moved = jit(lambda x: ops.add(x, x), in_shardings=here, out_shardings=here).lower(1.0).compile()
    out = moved(2.0)
    x = device_put(np.ones((2, 3), np.float32))
    compiled = jit(lambda x, *, y: (ops.add(x, x), y), keep_unused=True).lower(x, y=1.0).compile()
    assert compiled.input_formats[0] == (x.format,) and compiled.output_formats[0] == x.format
    assert compiled.input_formats[1]["y"].layout.major_to_minor == ()
    assert (float(out), out._committed, moved.input_shardings) == (4, True, ((here,), {}))


def test_references_that_a_compiled_function_is_given_or_closes_over():
    inside, given = new_ref(jnp.zeros(3)), new_ref(jnp.zeros(3))

    @jit
    def f(ref, x):
        inside[0] += x
        ref[...] += inside[...]
        return x + 1

    compiled = f.lower(given, 2.0).compile()
    assert compiled(given, 2.0) == compiled(given, 2.0) == 3.0
    assert inside[...].tolist() == [4, 0, 0] and given[...].tolist() == [6, 0, 0]
    two = jit(lambda a, b: a[...] + b[...]).lower(given, inside).compile()
    with pytest.raises(ValueError, match="only one reference to a mutable array may be passed"):
        two(given, given)


@pytest.mark.parametrize("size", [3, 30000])
def test_compiled_functions_donate(size):
    compiled = jit(lambda x, y: x + y, donate_argnums=0).lower(jnp.ones(size), jnp.ones(size)).compile()
    x, y = jnp.ones(size), jnp.ones(size)
    result = compiled(x, y)
    assert (x.is_deleted(), y.is_deleted(), float(result[0])) == (True, False, 2.0)
    assert float(compiled(result, y)[0]) == 3.0 and result.is_deleted()
    with pytest.raises(JaxRuntimeError, match="previously donated in the same call"):
        compiled(y, y)
    kept = np.ones(size, np.float32)
    compiled(kept, kept)
    assert kept[0] == 1.0


def test_donations_that_no_result_can_use_warn_when_a_function_is_lowered():
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: float32\[3\]"):
        compiled = jit(lambda x: x.sum(), donate_argnums=0).lower(jnp.ones(3)).compile()
    x = jnp.ones(3)
    compiled(x)
    assert not x.is_deleted()


@pytest.mark.parametrize("method", ["as_text", "compiler_ir"])
def test_unknown_dialects_are_refused(method):
    lowered = jit(jnp.sin).lower(1.0)
    with pytest.raises(ValueError, match="unknown dialect: foo"):
        getattr(lowered, method)("foo")
    assert all(getattr(lowered, method)(dialect) is not None for dialect in (None, "hlo", "stablehlo"))


def test_what_stages_tell_of_results():
    traced = jit(lambda x: (x, 2 * x)).trace(1.0)
    assert [out.weak_type for out in traced.out_info] == [True, True]
    lowered = traced.lower()
    compiled = lowered.compile()
    assert [out.weak_type for out in (*lowered.out_info, *compiled.out_info)] == [False] * 4
    assert [out.format for out in compiled.out_info] == list(compiled.output_formats)
