"""Effects: values that compare by class, sets of them, and what they do to equations."""

import pytest

import onax as jax
from onax._core.effects import (
    DebugEffect,
    Effect,
    IOEffect,
    OrderedDebugEffect,
    OrderedEffect,
    OrderedIOEffect,
    has_io,
    join_effects,
    no_effects,
)

KINDS = [DebugEffect, OrderedDebugEffect, IOEffect, OrderedIOEffect]


def test_effects_of_one_class_are_one_effect():
    assert len({kind() for kind in KINDS for _ in range(2)}) == 4
    assert DebugEffect() == DebugEffect() != OrderedDebugEffect() and Effect() != DebugEffect()
    assert [str(kind()) for kind in KINDS] == ["Debug", "OrderedDebug", "IO", "OrderedIO"]
    assert [isinstance(kind(), OrderedEffect) for kind in KINDS] == [False, True, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_which_must_not_run_where_the_program_skips_them(kind):
    assert has_io({DebugEffect(), kind()}) == (kind in (IOEffect, OrderedIOEffect))
    assert not has_io(no_effects)


def test_joining():
    some = frozenset({DebugEffect()})
    assert join_effects() is no_effects is join_effects(no_effects, no_effects)
    assert join_effects(no_effects, some, {IOEffect()}) == {DebugEffect(), IOEffect()}


@pytest.mark.parametrize("call, kind", [
    (lambda x: jax.debug.print("{}", x), DebugEffect),
    (lambda x: jax.debug.print("{}", x, ordered=True), OrderedDebugEffect),
    (lambda x: jax.experimental.io_callback(lambda v: v, x, x), IOEffect),
    (lambda x: jax.experimental.io_callback(lambda v: v, x, x, ordered=True), OrderedIOEffect),
])  # fmt: skip
def test_programs_have_the_effects_of_their_equations(call, kind):
    jaxpr = jax.make_jaxpr(lambda x: jax.jit(lambda y: (call(y), y)[1])(x))(1.0)
    assert jaxpr.effects == jaxpr.eqns[0].effects == {kind()}
