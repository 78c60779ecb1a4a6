"""A program written for JAX prints the same under `python -m onax` as under JAX, as recorded and live."""

from pathlib import Path

import pytest

import jax_programs
import oracle

PROGRAM = Path(oracle.TESTS) / "unmodified_program.py"
RECORDED = (oracle.RECORDINGS / "unmodified_program.txt").read_text()


def test_as_recorded():
    assert jax_programs.run(PROGRAM) == RECORDED


@pytest.mark.oracle
@pytest.mark.skipif(oracle.python() is None, reason="no real JAX: `make oracle` installs it")
def test_the_recording_is_what_jax_prints():
    done = jax_programs.python(PROGRAM, executable=oracle.python(), JAX_PLATFORMS="cpu")
    assert done.stdout == RECORDED, done.stderr
