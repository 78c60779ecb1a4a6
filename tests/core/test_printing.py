"""Layout and names of printed programs; tests/golden compares whole texts with JAX."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._core.printing import BREAK, Group, Names, Nest, Note, layout, literal_text, print_eqn


def test_layout_breaks_only_groups_that_do_not_fit():
    doc = Group(["f(", Nest(2, [BREAK, "aaaa", BREAK, "bbbb"]), ")"])
    assert layout(doc, 40) == "f( aaaa bbbb)"
    assert layout(doc, 8) == "f(\n  aaaa\n  bbbb)"


def test_equations_know_their_line():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x))(1.0)
    assert "test_printing.py" in closed.pretty_print(source_info=True)


def test_notes_stand_in_a_column_and_take_no_space():
    doc = Group(["a", Note("one"), BREAK, "bbb", Note("two")])
    first, second = layout(doc, 4).splitlines()
    assert first.index("one") == second.index("two") > 3


@pytest.mark.parametrize(
    "number, text", [(0, "a"), (25, "z"), (26, "ba"), (27, "bb"), (26**2 - 1, "zz"), (26**2, "baa")]
)
def test_names_in_order_of_appearance(number, text):
    names, variables = Names({}), [object() for _ in range(number + 1)]
    assert [names.of(v) for v in variables][-1] == text and names.of(variables[0]) == "a"


def test_names_of_shared_programs_are_not_given_to_variables():
    names = Names({})
    names.reserved = frozenset({"b"})
    assert [names.of(object()) for _ in range(3)] == ["a", "c", "d"]


def test_results_that_are_not_used_have_no_name():
    jaxpr = jax.make_jaxpr(lambda x: (jnp.sin(x), jnp.cos(x)))(1.0).jaxpr
    text = "{ lambda ; a:f32[]. let _:f32[] = sin a; b:f32[] = cos a in (b,) }"
    assert str(jaxpr.replace(outvars=jaxpr.outvars[1:])) == text


def test_a_program_that_is_used_twice_is_printed_once():
    f = jax.jit(lambda x: jnp.sin(x) * 2)
    text = str(jax.make_jaxpr(lambda x: (f(x), f(x + 1)))(1.0))
    assert text.count("sin") == 1 and text.startswith("let ")


@pytest.mark.parametrize("options, shown, hidden", [
    ({}, ":f32[3]", "sin.py"),
    ({"print_shapes": False}, "sin a", ":f32[3]"),
    ({"source_info": True}, "test_printing.py", "!"),
    ({"name_stack": True}, "sin", "test_printing.py"),
])  # fmt: skip
def test_options(options, shown, hidden):
    text = jax.make_jaxpr(lambda x: jnp.sin(x))(jnp.ones(3)).pretty_print(**options)
    assert shown in text and hidden not in text


def test_literals():
    aval = jnp.ones((), jnp.bfloat16).aval
    assert literal_text(np.float32(1.5), aval) == "1.5:bf16[]" and literal_text(2, aval) == "2:bf16[]"


def test_one_equation():
    (eqn,) = jax.make_jaxpr(lambda x: jnp.sum(x, 0))(jnp.ones((2, 3))).eqns
    assert print_eqn(eqn).startswith("a:f32[3] = reduce_sum[") and "axes=(0,)" in print_eqn(eqn)
