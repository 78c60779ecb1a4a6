"""Layouts: equality, compatibility with shapes, formats with shardings, constraints."""

import pytest

import onax
from onax import numpy as jnp
from onax.experimental.layout import Format, Layout, with_layout_constraint

PLACE = onax.sharding.SingleDeviceSharding(onax.devices()[0])


def test_layouts_compare_by_their_fields():
    layout = Layout((0, 1), ((8, 128),))
    assert layout == Layout([0, 1], [[8, 128]]) and hash(layout) == hash(Layout([0, 1], [[8, 128]]))
    assert layout != layout.update(tiling=None) and layout.update(major_to_minor=(1, 0)).major_to_minor == (1, 0)
    assert repr(Layout((1, 0))) == "Layout(major_to_minor=(1, 0), tiling=None, sub_byte_element_size_in_bits=0)"
    assert repr(Layout.AUTO) == "AUTO"


def test_formats_hold_a_layout_and_a_sharding():
    assert Format(Layout((0,)), PLACE) == Format(Layout((0,)), PLACE) != Format(Layout.AUTO)
    assert len({Format(), Format(None, None), Format(Layout.AUTO)}) == 2


@pytest.mark.parametrize("jitted", [False, True])
def test_row_major_is_what_arrays_are(jitted):
    constrained = lambda x: with_layout_constraint(x, Layout((0, 1))) * 2
    x = jnp.ones((2, 3))
    assert (onax.jit(constrained) if jitted else constrained)(x).tolist() == [[2, 2, 2]] * 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: with_layout_constraint(jnp.ones((2, 3)), Layout((1, 0))), NotImplementedError, "row by row"),
        (lambda: with_layout_constraint(jnp.ones((2, 3)), Layout((0, 1), ((2,),))), NotImplementedError, "row by row"),
        (lambda: with_layout_constraint(jnp.ones(3), Layout((0, 1))), ValueError, "rank of the value should match"),
        (lambda: Format("auto"), TypeError, "Layout.AUTO"),
        (lambda: Format(None, "cpu"), TypeError, "None or a Sharding"),
        (lambda: Format(Layout((0,))), ValueError, "Sharding has to be concrete"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("form", [Format(), Format(Layout.AUTO), Format(None, PLACE), Format(Layout((0, 1)), PLACE)])
def test_jit_takes_formats(form):
    x = jnp.ones((2, 3))
    compiled = onax.jit(lambda x: 2 * x, in_shardings=form, out_shardings=form).lower(x).compile()
    row_major = Format(Layout((0, 1), ()), PLACE)
    assert compiled.input_formats == ((row_major,), {}) and compiled.output_formats == row_major
    assert compiled(x).format == row_major


def test_jit_refuses_other_orders():
    with pytest.raises(NotImplementedError, match="arrays lie in memory row by row"):
        onax.jit(lambda x: x, in_shardings=Format(Layout((1, 0)), PLACE))
