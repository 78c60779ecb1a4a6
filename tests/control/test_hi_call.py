"""The equations of operations that are objects with rules: dead code, and accumulators of cotangents."""

import onax
import onax.numpy as jnp
from onax._control.hi_call import GradAccum, NullAccum
from onax._core.rewrite import eliminate_dead_code
from onax._core.zeros import Zero
from onax.experimental.hijax import VJPHiPrimitive

AVAL = onax.typeof(1.0)


class First(VJPHiPrimitive):
    def __init__(self):
        self.in_avals, self.out_aval, self.params = (AVAL,), AVAL, {}
        super().__init__()

    def expand(self, x):
        return x * 2


class Both(VJPHiPrimitive):
    def __init__(self):
        self.in_avals, self.out_aval, self.params = (AVAL, AVAL), (AVAL, AVAL), {}
        super().__init__()

    def expand(self, x, y):
        return x * 2, x * y

    def dce(self, used):
        return super().dce(used) if used[1] or not used[0] else ((True, False), (True, False), First())


def names(jaxpr):
    return [type(eqn.params["_prim"]).__name__ for eqn in eliminate_dead_code(jaxpr).eqns]


def test_the_object_gives_the_operation_for_the_used_results():
    assert names(onax.make_jaxpr(lambda x, y: Both()(x, y))(1.0, 2.0)) == ["Both"]
    assert names(onax.make_jaxpr(lambda x, y: Both()(x, y)[1])(1.0, 2.0)) == ["Both"]
    assert names(onax.make_jaxpr(lambda x, y: (Both()(x, y), x)[1])(1.0, 2.0)) == []
    first = onax.make_jaxpr(lambda x, y: Both()(x, y)[0])(1.0, 2.0)
    assert names(first) == ["First"]
    assert onax.jit(lambda x, y: Both()(x, y)[0])(3.0, 2.0) == 6


def test_accumulators():
    accum = GradAccum(AVAL)
    assert type(accum.total) is Zero
    for ct in (None, Zero(AVAL), jnp.float32(2), jnp.float32(3)):
        accum.accum(ct)
    assert accum.total == 5
    null = NullAccum(AVAL)
    null.accum(jnp.float32(2))
    assert type(null.total) is Zero
