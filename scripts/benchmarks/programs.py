"""Compiled steps of programs as users write them, of `tests/programs/fields`."""

import sys
from pathlib import Path

from benchmarks.cases import Case

TESTS = Path(__file__).resolve().parents[2] / "tests"


def program_cases(jax):
    """Compiled steps of programs as users write them."""
    sys.path.insert(0, str(TESTS))
    import user_programs

    for name, (function, args) in user_programs.programs(jax).items():
        yield Case(f"program: {name}", function, args)
