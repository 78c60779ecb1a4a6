"""The rooms that libraries build on: what they give is what real JAX gave (recorded in golden/room_cases.json)."""

import json

import pytest

import onax
import room_cases

RECORDED = json.loads(room_cases.GOLDEN.read_text())


@pytest.mark.parametrize("name", room_cases.CASES)
def test_as_jax(name):
    found, recorded = room_cases.run(name, onax), RECORDED[name]
    assert json.loads(json.dumps(found)) == recorded
