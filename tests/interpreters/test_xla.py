"""`apply_primitive`: an `impl` that compiles the lowering."""

import pytest

from onax.extend.core import Primitive
from onax.interpreters import mlir, xla


def primitive(name):
    p = Primitive(name)
    p.def_abstract_eval(lambda x: x)
    return p


def test_an_impl_that_compiles():
    p = primitive("test_by_lowering")
    p.def_impl(lambda x: xla.apply_primitive(p, x))
    with pytest.raises(NotImplementedError, match="not found: see"):
        p.bind(1.0)
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x + 1, multiple_results=False))
    assert float(p.bind(1.0)) == 2
