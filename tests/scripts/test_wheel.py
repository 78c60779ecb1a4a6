"""The sdist is the same for the same files; the wheel, in `make test-all`, works where no compiler is."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from script_modules import imported

ROOT = Path(__file__).resolve().parents[2]
with imported("", "wheel") as modules:
    script = modules.wheel
PARTS = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "pkg", "cython_src", "export")


def sdist(source, out):
    """The bytes of the sdist of a checkout."""
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = out.glob("*.tar.gz")
    return archive.read_bytes()


def test_the_sdist_is_reproducible(tmp_path):
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        for part in PARTS:
            source, copy = ROOT / part, tmp_path / name / part
            shutil.copytree(source, copy, ignore=ignored) if source.is_dir() else shutil.copyfile(source, copy)
    archives = [sdist(tmp_path / name, tmp_path / f"{name}-out") for name in ("first", "second")]
    assert archives[0] == archives[1]


def test_the_example_is_the_readmes_program():
    assert "onax" in script.readme_example()
    compile(script.readme_example(), "README.md", "exec")


def test_a_failing_step_ends_the_script():
    with pytest.raises(SystemExit, match="ended with status 3"):
        script.run(sys.executable, "-c", "raise SystemExit(3)")


def test_a_version_that_is_not_installed(capsys):
    with pytest.raises(SystemExit, match="77"):
        script.main(["try", "onax.whl", "--python", "3.0"])
    assert "NOT RUN: there is no Python 3.0" in capsys.readouterr().err


@pytest.mark.slow
def test_the_wheel_works_without_a_compiler(tmp_path):
    wheel = script.build(tmp_path, sys.executable)
    script.try_wheel(wheel, sys.executable, None)
