"""A checkout that is not built says how to build it."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["onax._native.context"] = None  # importing it raises ModuleNotFoundError
try:
    import onax._native
except ImportError as error:
    print(error)
"""


def test_missing_modules_are_explained():
    # `onax/__init__.py` imports onax._native first, so the message is the first thing that a user sees.
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert "onax's compiled modules are missing" in done.stdout and "pip install -e ." in done.stdout, done.stderr
