"""Runs mypy on the public interface of the package, laid out as it installs (an editable install hides onax.export)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    """mypy's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "onax"
        package.mkdir()
        for source in (ROOT / "pkg" / "onax").iterdir():
            (package / source.name).symlink_to(source)
        (package / "export").symlink_to(ROOT / "export")
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache"), "-p", "onax"]
        return subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": folder}).returncode


if __name__ == "__main__":
    sys.exit(main())
