"""Cases of the benchmark that run eagerly, and jitted calls."""

import pytest

import onax
import script_modules


@pytest.mark.parametrize("function, jit", [("eager_cases", False), ("call_cases", True)])
def test_calls_do_not_wait(function, jit):
    for case in script_modules.benchmark_cases("eager", function, onax):
        assert (case.jit, case.wait) == (jit, False)
        assert onax.tree.leaves(case.function(*case.args)), case.name
