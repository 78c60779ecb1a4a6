"""Cases of the benchmark that are steps of programs."""

import onax
import script_modules
import user_programs


def test_every_program_is_a_case():
    names = [case.name for case in script_modules.benchmark_cases("programs", "program_cases", onax)]
    assert names == [f"program: {name}" for name in user_programs.programs(onax)]
