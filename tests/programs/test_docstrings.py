"""Examples in docstrings of public functions say what their functions return."""

import doctest

import pytest

import onax
from onax import nn
from onax import numpy as jnp
from onax._native.api_boundary import ApiFunction

MODULES = (jnp, nn)
WITH_EXAMPLES = [
    (r, n) for r in MODULES for n, f in sorted(vars(r).items()) if type(f) is ApiFunction and ">>>" in (f.__doc__ or "")
]


@pytest.mark.parametrize(("module", "name"), WITH_EXAMPLES, ids=[f"{r.__name__}.{n}" for r, n in WITH_EXAMPLES])
def test_examples(module, name):
    names = {"jnp": jnp, "nn": nn, "onax": onax}
    example = doctest.DocTestParser().get_doctest(getattr(module, name).__doc__, names, name, None, 0)
    report = []
    result = doctest.DocTestRunner().run(example, out=report.append)
    assert result.attempted and not result.failed, "".join(report)


def test_there_are_examples():
    assert len(WITH_EXAMPLES) >= 20
