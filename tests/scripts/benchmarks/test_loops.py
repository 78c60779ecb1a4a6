"""Cases of the benchmark in loops."""

import pytest

import onax
import script_modules


@pytest.mark.parametrize("function", ["loop_cases", "loop_gradient_cases"])
def test_results_are_finite(function):
    cases = script_modules.benchmark_cases("loops", function, onax)
    assert len(cases) >= 8
    for case in cases:
        results = onax.tree.leaves(onax.jit(case.function)(*case.placed_args(onax)))
        assert results and all(bool(onax.numpy.isfinite(x).all()) for x in results), case.name
