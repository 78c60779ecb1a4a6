"""Runs mypy on the public interface of the package, laid out as it installs (an editable install hides onax.export)."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lay_out(folder):
    """Makes links in a folder, so that it holds the package as it is installed; returns the package's folder."""
    package = Path(folder) / "onax"
    shutil.copytree(ROOT / "pkg" / "onax", package, copy_function=os.symlink)
    (package / "export").symlink_to(ROOT / "export")
    return package


def main():
    """mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        (lay_out(folder) / "_ground" / "argument_types.pyi").unlink()  # the file beside it says why
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "onax"]
        return subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
