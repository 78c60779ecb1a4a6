"""Rules of primitives as tables: reading, assigning, deleting."""

import pytest

import onax
from onax.extend.core import Primitive
from onax.interpreters import ad, batching, mlir


def primitive(name):
    p = Primitive(name)
    p.def_abstract_eval(lambda x: x)
    return p


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
