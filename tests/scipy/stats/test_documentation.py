"""Functions of distributions are documented from one table; its numbers are SciPy's."""

import pytest
import scipy.stats

import onax.scipy.stats
from onax.scipy.stats import _documentation as documentation

CASES = [(d, f) for d, row in documentation.DISTRIBUTIONS.items() for f in row.values]


@pytest.mark.parametrize(("distribution", "name"), CASES, ids=[".".join(case) for case in CASES])
def test_numbers_of_examples_are_scipys(distribution, name):
    row = documentation.DISTRIBUTIONS[distribution]
    arguments = [float(x) for x in documentation.example_arguments(row, name).split(", ")]
    expected = getattr(getattr(scipy.stats, distribution), name)(*arguments)
    assert row.values[name] == pytest.approx(expected, abs=6e-5)


def test_every_function_has_an_example():
    for name, row in documentation.DISTRIBUTIONS.items():
        functions = documentation.FUNCTIONS.keys() & vars(getattr(onax.scipy.stats, name)).keys()
        assert row.values.keys() == functions and all(row.name in f.__doc__ for f in map(_find(name), functions))


def _find(distribution):
    return lambda name: getattr(getattr(onax.scipy.stats, distribution), name)


def test_a_distribution_of_vectors_documents_itself():
    functions = {"pdf": None}
    documentation.document("dirichlet", functions)
    assert functions == {"pdf": None}
