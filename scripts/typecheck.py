"""Runs mypy on the public interface of the package, laid out as it installs (an editable install hides onax.export)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lay_out(folder):
    """Makes links in a folder, so that it holds the package as it is installed."""
    package = Path(folder) / "onax"
    package.mkdir()
    for source in (ROOT / "pkg" / "onax").iterdir():
        (package / source.name).symlink_to(source)
    (package / "export").symlink_to(ROOT / "export")


def main():
    """mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder)
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "onax"]
        return subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
