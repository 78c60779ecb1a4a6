"""The package without writes into type objects (ONAX_TRACEBACK_FILTERING=off): only tracebacks differ."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
SUITE = [
    "native/test_array.py",
    "native/test_dispatch.py",
    "core",
    "numpy/test_array_methods.py",
    "compile/test_jit.py",
]
IGNORED = ["core/test_facts.py", "core/test_leaks.py"]  # slow, and independent of the types' slots
REPORT = """
import traceback
import onax.numpy as jnp, onax
from onax import lax
from onax._ground.source import is_internal

x = jnp.ones(3)
for call in (lambda: jnp.sin(), lambda: x + jnp.ones(4), lambda: x["a"], lambda: onax.jit(lambda: x + jnp.ones(4))(),
             lambda: jnp.dot(x, jnp.ones(4)), lambda: jnp.sum(x, keepdims=[])):
    try:
        call()
    except (TypeError, ValueError, IndexError) as error:
        inside = [is_internal(e.filename) for e in traceback.extract_tb(error.__traceback__)]
        notes = [note for note in getattr(error, "__notes__", ()) if "TRACEBACK_FILTERING" not in note]
        print(type(error).__name__, any(inside), *str(error).split()[:4], *notes)
"""


def run(*arguments, filtering):
    """What Python prints, started with the environment variable set or not."""
    environment = {k: v for k, v in os.environ.items() if k not in ("ONAX_TRACEBACK_FILTERING", "ONAX_FULL_TRACEBACK")}
    environment |= {} if filtering else {"ONAX_TRACEBACK_FILTERING": "off"}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, cwd=TESTS.parent
    )
    return done.returncode, done.stdout


def test_a_part_of_the_suite_passes():
    paths = [str(TESTS / part) for part in SUITE]
    ignored = [f"--ignore={TESTS / part}" for part in IGNORED]
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", "not tracebacks"]
    code, text = run("-m", "pytest", *options, *ignored, *paths, filtering=False)
    assert code == 0, text[-3000:]


def test_errors_name_functions_and_keep_their_frames():
    code, plain = run("-c", REPORT, filtering=False)
    assert code == 0 and len(plain.splitlines()) == 6
    code, filtered = run("-c", REPORT, filtering=True)
    assert code == 0 and " True " not in filtered
    assert filtered == plain.replace(" True ", " False ")
    assert all(" True " in line for line in plain.splitlines()[1:])  # the first has too few arguments for any frame
