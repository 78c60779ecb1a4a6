"""Cases of the benchmark that compile, and steady ones."""

import onax
import script_modules


def test_first_calls_stage_functions():
    for case in script_modules.benchmark_cases("compiled", "compile_cases", onax):
        assert onax.tree.leaves(onax.eval_shape(case.function, *case.args)), case.name


def test_steady_cases_are_measured_longer():
    cases = script_modules.benchmark_cases("compiled", "steady_cases", onax)
    assert len(cases) > 5 and all(case.seconds >= 0.5 and case.jit for case in cases)
