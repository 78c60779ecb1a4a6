"""What onax alone has to say: its environment, its version, refusals of what it cannot do."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax.experimental import layout, mesh_utils
from onax.extend.core import Primitive
from onax.interpreters import ad, batching, mlir, xla


def primitive(name):
    p = Primitive(name)
    p.def_abstract_eval(lambda x: x)
    return p


def test_environment(capsys):
    text = onax.print_environment_info(return_string=True)
    assert text.startswith(f"onax:   {onax.__version__}\nonnxruntime") and f"numpy:  {np.__version__}" in text
    assert onax.print_environment_info() is None and capsys.readouterr().out == text + "\n"
    assert ".".join(map(str, onax.version.__version_info__)) == onax.__version__


def test_rules_for_mlir_are_kept_and_not_run():
    p = primitive("test_mlir_rule")
    mlir.register_lowering(p, lambda ctx, x: [x], platform="cuda")
    with pytest.raises(onax.errors.OnaxError, match="test_mlir_rule has no ONNX form"):
        onax.jit(p.bind)(1.0)
    p.def_impl(lambda x: x * 2)
    assert float(onax.jit(lambda x: p.bind(x))(1.5)) == 3
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x * 3, multiple_results=False))
    assert float(onax.jit(lambda x: p.bind(x) + 0)(1.5)) == 4.5
    exported = onax.export.export(onax.jit(lambda x: p.bind(x)))(jnp.ones(2))
    np.testing.assert_array_equal(exported.call(jnp.ones(2)), [3, 3])
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x * 5, multiple_results=False))
    assert float(onax.jit(lambda x: p.bind(x) + 0)(1j).imag) == 5
    with pytest.raises(AttributeError, match="no MLIR"):
        mlir.ir_constant(1)


def test_an_impl_that_compiles():
    p = primitive("test_by_lowering")
    p.def_impl(lambda x: xla.apply_primitive(p, x))
    with pytest.raises(NotImplementedError, match="not found: see"):
        p.bind(1.0)
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x + 1, multiple_results=False))
    assert float(p.bind(1.0)) == 2


def test_tables_of_rules():
    p = primitive("test_tables")
    assert p not in ad.primitive_jvps and onax.lax.sin_p in ad.primitive_jvps
    ad.deflinear2(p, lambda ct, x: [ct])
    assert p in ad.primitive_jvps and p in list(ad.primitive_jvps) and len(ad.primitive_transposes) > 20
    del ad.primitive_jvps[p]
    assert p not in ad.primitive_jvps
    batching.primitive_batchers[p] = lambda args, dims: (args[0], dims[0])
    del batching.primitive_batchers[p]
    for call in (lambda: ad.primitive_jvps["sin"], lambda: batching.fancy_primitive_batchers[p]):
        with pytest.raises(KeyError):
            call()
    for call in (
        lambda: ad.primitive_jvps.__setitem__("sin", None),
        lambda: batching.defvectorized("sin"),
        lambda: mlir.register_lowering("sin", None),
    ):
        with pytest.raises(TypeError, match="Primitive"):
            call()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: onax.distributed.initialize(num_processes=2), NotImplementedError),
        (lambda: onax.distributed.initialize(process_id=1), ValueError),
        (lambda: layout.with_layout_constraint(jnp.ones((2, 3)), layout.Layout((1, 0))), NotImplementedError),
        (lambda: mesh_utils.create_hybrid_device_mesh((1,), (1, 1), process_is_granule=True), ValueError),
        (lambda: batching.broadcast(jnp.ones(2), 3, 0, "x"), NotImplementedError),
        (lambda: onax.extend.core.mapped_aval(4, 0, jnp.ones(3).aval), ValueError),
        (lambda: onax.monitoring.unregister_event_listener(print), ValueError),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()


def test_one_process_begins_and_ends():
    onax.distributed.initialize("localhost:1234", num_processes=1, process_id=0)
    try:
        assert onax.distributed.is_initialized()
        with pytest.raises(RuntimeError, match="once"):
            onax.distributed.initialize()
    finally:
        onax.distributed.shutdown()
    assert not onax.distributed.is_initialized()
