"""Printed jaxprs equal real JAX's, letter by letter (recorded by `make record` in tests/golden/jaxprs.json)."""

import json
import re
from pathlib import Path

import pytest

import golden_cases
import onax as jax

RECORDED = json.loads((Path(__file__).parent / "golden" / "jaxprs.json").read_text())


@pytest.mark.parametrize("name", golden_cases.cases(jax))
def test_jaxpr_prints_as_in_jax(name):
    function, args = golden_cases.cases(jax)[name]
    # NumPy integers among parameters are an accident of JAX's batching rules: np.int64(1) is 1 there and here.
    wanted = re.sub(r"np\.int64\((-?\d+)\)", r"\1", "\n".join(RECORDED[name]))
    assert str(jax.make_jaxpr(function)(*args)) == wanted
