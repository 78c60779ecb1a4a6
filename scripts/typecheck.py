"""Runs mypy on the public interface of the package, and its stubtest on the stubs of compiled classes.

The package is laid out as it installs, since an editable install hides onax.export from mypy.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUBS = ("onax._native.array", "onax._native.tree")


def lay_out(folder):
    """Makes links in a folder, so that it holds the package as it is installed; returns the package's folder."""
    package = Path(folder) / "onax"
    shutil.copytree(ROOT / "pkg" / "onax", package, copy_function=os.symlink)
    (package / "export").symlink_to(ROOT / "export")
    return package


def main():
    """The exit status of mypy, or if that passes of stubtest."""
    config = ["--config-file", str(ROOT / "pyproject.toml")]
    with tempfile.TemporaryDirectory() as folder:
        (lay_out(folder) / "_ground" / "argument_types.pyi").unlink()  # the file beside it says why
        here = {"cwd": folder, "env": os.environ | {"MYPYPATH": folder, "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}}
        status = subprocess.run([sys.executable, "-m", "mypy", *config, "-p", "onax"], **here).returncode
        if status:
            return status
        config[0] = "--mypy-config-file"
        allowed = [
            "--allowlist",
            str(ROOT / "scripts" / "stubtest_allowlist.txt"),
            "--ignore-missing-stub",
            "--concise",
        ]
        return subprocess.run([sys.executable, "-m", "mypy.stubtest", *STUBS, *config, *allowed], **here).returncode


if __name__ == "__main__":
    sys.exit(main())
