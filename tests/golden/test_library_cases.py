"""Public modules that libraries build on behave as in real JAX (recorded in golden/library_cases.json)."""

import json

import pytest

import library_cases
import onax

RECORDED = json.loads(library_cases.GOLDEN.read_text())


@pytest.mark.parametrize("name", library_cases.CASES)
def test_as_jax(name):
    found, recorded = library_cases.run(name, onax), RECORDED[name]
    assert json.loads(json.dumps(found)) == recorded
