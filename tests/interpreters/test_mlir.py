"""Lowerings of primitives of other packages: rules for MLIR are kept, `lower_fun` lowers to ONNX."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax.extend.core import Primitive
from onax.interpreters import mlir


def primitive(name):
    p = Primitive(name)
    p.def_abstract_eval(lambda x: x)
    return p


def test_rules_for_mlir_are_kept_and_not_run():
    p = primitive("test_mlir_rule")
    mlir.register_lowering(p, lambda ctx, x: [x], platform="cuda")
    with pytest.raises(onax.errors.OnaxError, match="primitive 'test_mlir_rule' not found"):
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


def test_rules_for_unknown_platforms_are_refused():
    with pytest.raises(NotImplementedError, match=r"for an unknown platform abacus. Known platforms are: cpu, cuda"):
        mlir.register_lowering(primitive("test_mlir_platform"), None, platform="abacus")
