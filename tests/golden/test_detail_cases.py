"""Small expressions answer as in JAX, with the same errors and warnings: `detail_cases.txt`, recorded by JAX."""

import json

import pytest
from tests import detail_cases

import onax

RECORDED = json.loads(detail_cases.RECORDING.read_text())


@pytest.fixture(scope="module")
def names():
    return detail_cases.environment(onax)


@pytest.mark.parametrize(("heading", "line"), detail_cases.cases())
def test_answers_as_jax(heading, line, names):
    assert detail_cases.outcome(onax, line, names) == RECORDED[line], heading


def test_every_recorded_answer_has_a_case():
    assert {line for _, line in detail_cases.cases()} == set(RECORDED)
