"""Cases of the benchmark in arrays."""

import pytest

import onax
import script_modules


@pytest.mark.parametrize("function", ["array_cases"])
def test_cases_are_staged_with_their_types(function):
    for case in script_modules.benchmark_cases("arrays", function, onax):
        with onax.enable_x64(case.x64):
            results = onax.tree.leaves(onax.eval_shape(case.function, *case.placed_args(onax)))
        assert results, case.name
        assert not case.x64 or any(x.dtype.itemsize >= 8 for x in results), case.name
