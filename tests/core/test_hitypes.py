"""Types that programs define: what the base classes ask for, and what values and traced values show."""

import pytest

import onax
import onax.numpy as jnp
from onax._core import hitypes
from onax.experimental.hijax import HiType, aval_method, aval_property
from user_types import Number, NumberType, Pair, PairSpec, PairType

VECTOR = onax.typeof(jnp.ones((2, 3)))


class Bare(HiType):
    pass


class Named(NumberType):
    factor = 3
    doubled = aval_method(lambda x, n: (type(x).__name__, 2 * n))
    title = aval_property(lambda x: "a " + type(x).__name__)


MUST_OVERRIDE = {
    "hash": lambda: hash(Bare()),
    "equality": lambda: Bare() == Bare(),
    "arrays": lambda: Bare().lo_ty(),
    "tangent": lambda: Bare().to_ct_aval(),
    "zero": lambda: Bare().vspace_zero(),
    "axis": lambda: Bare().dec_rank(2, 0),
}


@pytest.mark.parametrize("name", MUST_OVERRIDE)
def test_methods_without_a_default(name):
    with pytest.raises(AssertionError, match="must override"):
        MUST_OVERRIDE[name]()


def test_types_of_values():
    assert onax.typeof(Number(jnp.float32(1))) == NumberType()
    assert onax.typeof(Pair(1, 2.0)) == PairType((onax.typeof(1), onax.typeof(2.0)))
    assert hitypes.type_of_value(3) is None


def test_traced_values_have_attributes_of_their_types():
    class Own:
        def __init__(self, value):
            self.value = value

    hitypes.register_hitype(Own, lambda own: Named())
    seen = onax.make_jaxpr(lambda x: [seen_of.append((x.factor, x.doubled(2), x.title)), 1][1])
    seen_of = []
    seen(Own(jnp.float32(1)))
    assert seen_of == [(3, ("DynamicJaxprTracer", 4), "a DynamicJaxprTracer")]


def test_types_of_arrays_have_the_methods_too():
    assert VECTOR.lo_ty() == [VECTOR] and VECTOR.lower_val(1) == [1] and VECTOR.raise_val(1) == 1
    assert VECTOR.dec_rank(2, 0).shape == (3,) and VECTOR.inc_rank(5, 1).shape == (2, 5, 3)
    assert VECTOR.inc_rank(5, None) == VECTOR and VECTOR.leading_axis_spec() == 0 and not VECTOR.is_high
    assert PairType((VECTOR, VECTOR)).dec_rank(2, PairSpec((0, 0))).types[1].shape == (3,)
