"""How a block is brought from one sharding into another, and with which collectives."""

import itertools

import numpy as np
import pytest

from onax._compile.devices.sharded_values import axes_of_spec, spec_of_axes, usable_axes
from sharded_programs import GRID, P, check, collectives

Z = np.arange(64 * 8, dtype=np.float32).reshape(8, 8, 8)
SPECS = [P(), P("x"), P("y"), P(("x", "y")), P(("y", "x")), P(None, "x"), P("y", "x"), P("x", "y"), P(None, None, "x")]
CHEAPEST = {  # specs before and after, collectives
    "no change": (P("x"), P("x"), []),
    "a slice": (P(), P("x"), []),
    "a finer slice": (P("x"), P(("x", "y")), []),
    "a slice of another dimension": (P("x"), P("x", "y"), []),
    "whole": (P("x", "y"), P(), [("all_gather", ("x",)), ("all_gather", ("y",))]),
    "two axes at once": (P(("x", "y")), P(), [("all_gather", ("x", "y"))]),
    "the inner axis alone": (P(("x", "y")), P("x"), [("all_gather", ("y",))]),
    "from one dimension to another": (P("x"), P(None, "x"), [("all_to_all", ("x",))]),
    "the inner axis to another dimension": (P(("x", "y")), P("x", "y"), [("all_to_all", ("y",))]),
    "another order": (P(("x", "y")), P(("y", "x")), [("ppermute", ("x", "y"))]),
}


@pytest.mark.parametrize("pair", list(itertools.product(SPECS, SPECS)), ids=str)
def test_all_pairs_of_shardings(pair):
    check(lambda v: v * 1, Z, in_specs=[pair[0]], out_specs=[pair[1]])


@pytest.mark.parametrize("name", CHEAPEST)
def test_collectives(name):
    before, after, wanted = CHEAPEST[name]
    program, _ = check(lambda v: v * 1, Z, in_specs=[before], out_specs=[after])
    assert collectives(program) == wanted


@pytest.mark.parametrize("after", SPECS, ids=str)
def test_pending_sums(after):
    program, _ = check(lambda v: v.sum(1), Z, in_specs=[P(None, "x", "y")], out_specs=[P(*after[:2])])
    assert next(name for name, _ in collectives(program)) in ("psum", "reduce_scatter")


def test_specs_and_axes():
    assert axes_of_spec(P("x", None, ("y",)), 4) == (("x",), (), ("y",), ())
    assert spec_of_axes((("x",), (), ("y", "x"), ())) == P("x", None, ("y", "x"))
    assert usable_axes(GRID, (("x",), ("x",), ("y",)), (8, 8, 3)) == (("x",), (), ())
