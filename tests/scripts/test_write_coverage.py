"""The table of primitives and their rules in docs/ is what the registries say."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_the_table_is_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "write_coverage.py", "--check"], capture_output=True)
    assert done.returncode == 0, "docs/coverage.md is out of date: run `make docs`"
