"""The type of references, the effect of using one, and operations on them outside staged programs."""

import pytest

import onax
import onax.numpy as jnp
from onax._core.jaxpr import ShapedArray
from onax._core.refs import AbstractRef, Ref, RefEffect, apply_with_refs, check_distinct, is_ref, uses_refs
from onax._core.trace import eval_trace
from onax._prims.elementwise import add_p
from onax._transforms.flatten import debug_info


def test_the_type_of_a_reference():
    aval = AbstractRef(ShapedArray((2, 3), jnp.float32))
    assert str(aval.str_short()) == "Ref{float32[2,3]}" and aval.str_short(short_dtypes=True) == "Ref{f32[2,3]}"
    assert (aval.shape, aval.dtype, aval.ndim, aval.size, aval.weak_type) == ((2, 3), jnp.float32, 2, 6, False)
    assert aval == AbstractRef(ShapedArray((2, 3), jnp.float32)) != AbstractRef(ShapedArray((2, 3), jnp.int32))
    assert len({aval, AbstractRef(ShapedArray((2, 3), jnp.float32))}) == 1
    assert aval.update(shape=(4,)).shape == (4,)
    assert aval.to_tangent_aval() == aval


def test_the_effect_marks_programs_that_use_references():
    assert uses_refs(frozenset({RefEffect()})) and not uses_refs(frozenset())
    jaxpr = onax.make_jaxpr(lambda x: onax.new_ref(x)[...])(1.0)
    assert uses_refs(jaxpr.effects)
    assert not uses_refs(onax.make_jaxpr(lambda x: x + 1)(1.0).effects)


def test_references_are_told_from_arrays():
    ref = onax.new_ref(1.0)
    assert is_ref(ref) and isinstance(ref, Ref)
    assert not is_ref(jnp.ones(3)) and not is_ref(1.0) and not isinstance(jnp.ones(3), Ref)
    seen = []
    onax.make_jaxpr(lambda r, x: seen.append([is_ref(r), is_ref(x), isinstance(r, Ref)]))(ref, 1.0)
    assert seen == [[True, False, True]]


def test_operations_without_a_rule_refuse_references():
    with pytest.raises(NotImplementedError, match="add does not take mutable array references"):
        apply_with_refs(eval_trace, add_p, [onax.new_ref(1.0), 1.0], {})


def test_one_reference_is_passed_once():
    ref, info = onax.new_ref(1.0), debug_info("jit", lambda a, b, c: a, (0, 0, 0))
    check_distinct(info, [ref, 1.0, onax.new_ref(1.0)])
    with pytest.raises(ValueError, match="appeared at both a and c"):
        check_distinct(info, [ref, 1.0, ref])
