"""The slot of instructions."""

import numpy as np

from onax import lax
from onax._core.slots import declared_slots
from onax._tape.rules import Unsupported, tape
from tape.harness import run_tape


def test_declared():
    assert tape in declared_slots()


def test_what_is_unsupported_calls_the_numpy_kernel():
    def refuse(b, out, *operands, **params):
        raise Unsupported("never")

    old = tape.get(lax.mul_p)
    tape.set(lax.mul_p, refuse, replace=True)
    try:
        found = run_tape(lambda x: lax.mul_p.bind(x, x), np.float32(3), python=("mul",))
    finally:
        tape._rules.pop(lax.mul_p) if old is None else tape.set(lax.mul_p, old, replace=True)
    assert float(found[0]) == 9.0
