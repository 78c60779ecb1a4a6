"""Programs with references become pure ones."""

import numpy as np

import onax
import onax.numpy as jnp
from onax._core.evaluate import jaxpr_as_fun
from onax._core.refs import uses_refs
from onax._transforms.discharge import discharge_refs, split_results


def test_a_program_without_references_stays_what_it_is():
    jaxpr = onax.make_jaxpr(lambda x: x + 1)(1.0)
    assert discharge_refs(jaxpr) is jaxpr


def test_arguments_become_arrays_and_their_last_values_results():
    def f(r, x):
        r[0] = x
        inner = onax.new_ref(x)
        inner[...] = inner[...] * 2
        return inner[...]

    jaxpr = onax.make_jaxpr(f)(onax.new_ref(jnp.zeros(2)), 3.0)
    pure = discharge_refs(jaxpr)
    assert discharge_refs(jaxpr) is pure
    assert not uses_refs(pure.effects)
    assert [a.str_short() for a in pure.in_avals] == ["float32[2]", "float32[]"]
    result, last = jaxpr_as_fun(pure)(jnp.zeros(2), jnp.float32(3))
    assert float(result) == 6
    np.testing.assert_array_equal(last, [3, 0])


def test_programs_inside_equations_are_discharged_too():
    def f(x):
        ref = onax.new_ref(x)
        onax.jit(lambda r: r.__setitem__(..., r[...] + 1))(ref)
        return onax.jit(lambda y: onax.new_ref(y)[...] * 2)(ref[...])

    pure = discharge_refs(onax.make_jaxpr(f)(1.0))
    assert "Ref" not in str(pure)
    assert float(jaxpr_as_fun(pure)(jnp.float32(1))[0]) == 4


def test_an_argument_that_is_not_used_becomes_an_array():
    pure = discharge_refs(onax.make_jaxpr(lambda r, x: x)(onax.new_ref(jnp.zeros(2)), 3.0))
    assert [a.str_short() for a in pure.out_avals] == ["float32[]", "float32[2]"]


def test_results_are_told_from_last_values():
    assert split_results([1, 2, 3], 2, [None, "ref"]) == ([1, 2], [None, 3])
    assert split_results([1], 1, [None, None]) == ([1], [None, None])
