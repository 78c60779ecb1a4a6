"""Cases of the benchmark in small."""

import pytest

import onax
import script_modules


@pytest.mark.parametrize("function", ["small_cases"])
def test_results_are_finite(function):
    cases = script_modules.benchmark_cases("small", function, onax)
    assert len(cases) >= 15
    for case in cases:
        results = onax.tree.leaves(onax.jit(case.function)(*case.placed_args(onax)))
        assert results and all(bool(onax.numpy.isfinite(x).all()) for x in results), case.name
