"""Which JAX recorded answers came from: `recorded_versions.json` names the version for each file of answers.

A file without an entry came from REFERENCE.  Every script that records answers calls `note`; it runs with the Python
that has JAX, so this module needs no other package.
"""

import json
from pathlib import Path

TESTS = Path(__file__).resolve().parent
TABLE = TESTS / "recorded_versions.json"
REFERENCE = "0.10.2"  # the JAX with which onax agrees
NEWEST = "0.12.0.1"  # the JAX whose newer names onax has


def versions():
    """Path below tests/ -> version of JAX."""
    return json.loads(TABLE.read_text())


def note(path, version):
    """Enters the version of JAX that gave the answers just written into a file, unless it lies outside tests/."""
    if not path.resolve().is_relative_to(TESTS):
        return
    table = versions() | {path.resolve().relative_to(TESTS).as_posix(): version}
    TABLE.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n")
