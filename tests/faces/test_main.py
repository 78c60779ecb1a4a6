"""`python -m onax` without a program says how it is called."""

import jax_programs
from onax.interop.command import USAGE


def test_without_arguments():
    done = jax_programs.python("-m", "onax")
    assert (done.returncode, done.stderr) == (2, USAGE)
