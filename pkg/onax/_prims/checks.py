"""check: an assertion about values (`onax.experimental.checkify`).

    check_p.bind(ok, code, *payload, sites, debug)      no results

`sites.exception(code, payload)` gives the exception for a failed check.
"""

import numpy as np

from onax._core.effects import Effect
from onax._core.trace import as_array, typeof
from onax._native.dispatch import NEVER, Primitive
from onax._prims.elementwise import sub
from onax._prims.reductions import argmin, reduce_and
from onax._prims.shaping import bdim_at_front, reshape, rev
from onax._prims.slicing import dynamic_slice


class CheckEffect(Effect):
    """The effect of a check: it may fail, so it must not be removed."""

    __slots__ = ()


_check_effects = frozenset((CheckEffect(),))


def _check_impl(ok, code, *payload, sites, debug):
    if not debug and not as_array(ok)._value:
        values = [np.asarray(as_array(x)._value) for x in payload]
        raise sites.exception(int(as_array(code)._value), values)
    return []


def _check_abstract(*_, **__):
    return [], _check_effects


def _check_jvp(primals, tangents, **params):
    return check_p.bind(*primals, **params), []


def last_failure(ok, others):
    """Reduces checks along their leading axis: (whether all hold, the other operands of the last one that fails)."""
    index = sub(np.int32(typeof(ok).shape[0] - 1), argmin(rev(ok, (0,)), 0, np.int32))
    chosen = []
    for x in others:
        shape = typeof(x).shape
        starts = [index, *[np.int32(0)] * (len(shape) - 1)]
        chosen.append(reshape(dynamic_slice(x, starts, (1, *shape[1:])), shape[1:]))
    return reduce_and(ok, (0,)), chosen


def _check_batch(axis_data, operands, dims, **params):
    """Makes one check for all examples; as in JAX, it fails with the values of the last example that fails."""
    ok, *others = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, dims)]
    if axis_data.size:
        ok, others = last_failure(ok, others)
        check_p.bind(ok, *others, **params)
    return [], []


check_p = Primitive(
    "check",
    multiple_results=True,
    impl=_check_impl,
    jvp=_check_jvp,
    batch=_check_batch,
    weak=NEVER,
)
check_p.def_effectful_abstract_eval(_check_abstract)
