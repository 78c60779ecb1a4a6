"""Builds onax and runs its tests on other versions of Python than the environment's, where they are installed.

    python scripts/python_versions.py [--short] VERSION ... [-- arguments of pytest]

A version such as 3.13 is `python3.13` on PATH, or the newest one that pyenv has.  Each gets an environment of its own,
`.venv-3.13`; compiled modules of several versions lie beside each other.  With --short the folders of SHORT run, which
test what depends on Python's version: compiled code, frames, code objects, types, messages of Python's own errors; but
not what other programs say of the source, mypy and pyright.
A version that is not installed is reported and skipped.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHORT = (
    "compile", "control", "core", "extend", "faces", "ground", "interop", "interpreters", "native", "tape",
    "transforms",
)  # fmt: skip
OF_SOURCE = ("tests/ground/test_typing.py",)
FAILED = "the tests failed"
ASK = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sysconfig.get_paths()['include'])"


def answers(executable, version):
    """Whether the executable is a Python of this version with headers."""
    asked = subprocess.run([executable, "-c", ASK], capture_output=True, text=True)
    found, _, include = asked.stdout.strip().partition(" ")
    return asked.returncode == 0 and found == version and (Path(include) / "Python.h").exists()


def of_pyenv(version):
    """The executables of this version below pyenv's folder, newest first."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [p for p in root.glob(f"versions/{version}.*") if re.fullmatch(r"\d+\.\d+\.\d+", p.name)]
    folders.sort(key=lambda p: int(p.name.split(".")[2]), reverse=True)
    return [str(p / "bin" / "python") for p in folders]


def find(version):
    """The path of a Python of this version, or None."""
    on_path = shutil.which(f"python{version}")
    candidates = [on_path] if on_path else []
    return next((p for p in [*candidates, *of_pyenv(version)] if answers(p, version)), None)


def build(version, executable):
    """Makes the environment of a version with onax in it; the path of its Python."""
    environment = f".venv-{version}"
    command = ["make", f"VENV={environment}", f"PYTHON={executable}", f"{environment}/.built"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / environment / "bin" / "python"


def run_tests(version, short, arguments):
    """How pytest ended on this version, in words that main prints."""
    executable = find(version)
    if executable is None:
        return f"NOT RUN: there is neither python{version} with headers on PATH nor one of pyenv"
    selected = []
    if short:
        selected = ["-m", "not slow", *(f"tests/{folder}" for folder in SHORT), *(f"--ignore={f}" for f in OF_SOURCE)]
    print(f"== Python {version}: {executable}", flush=True)
    status = subprocess.run([build(version, executable), "-m", "pytest", *selected, *arguments], cwd=ROOT).returncode
    return f"{FAILED} with status {status}" if status else "passed"


def main(arguments):
    """1 if the tests fail on some version, else 0."""
    divider = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="what depends on Python's version, without slow tests")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    options = parser.parse_args(arguments[:divider])
    results = {v: run_tests(v, options.short, arguments[divider + 1 :]) for v in options.versions}
    for version, result in results.items():
        print(f"{'' if result == 'passed' else '!!! '}Python {version}: {result}")
    return int(any(result.startswith(FAILED) for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
