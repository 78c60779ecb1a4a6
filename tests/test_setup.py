"""What building without a tool says: one clear line, before anything is compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# setup.py, run in a process that believes Python's headers to lie elsewhere
WITHOUT_HEADERS = """
import sys, sysconfig
paths = sysconfig.get_paths
sysconfig.get_paths = lambda *a, **k: {**paths(*a, **k), "include": "/nowhere"}
sys.argv = ["setup.py", "build_ext"]
exec(compile(open("setup.py").read(), "setup.py", "exec"))
"""


def _build(*args, **environment):
    """The last line of a build that fails; its compiler runs nowhere near the checkout's modules."""
    done = subprocess.run(
        [sys.executable, *args],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr.strip().splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools finds MSVC by itself and words its absence")
class TestMissingTool:
    def test_compiler(self):
        (line,) = _build("setup.py", "build_ext", CC="/nonexistent/cc -O2")
        assert line.startswith("onax: no C compiler: '/nonexistent/cc' is not on PATH; install one")

    def test_headers(self):
        (line,) = _build("-c", WITHOUT_HEADERS)
        assert line.startswith("onax: no Python headers: /nowhere/Python.h is missing; install")


def test_files_that_are_no_modules_are_installed(tmp_path):
    subprocess.run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path], cwd=ROOT, check=True)
    interop = tmp_path / "onax" / "interop"
    built = {str(path.relative_to(interop)) for path in interop.rglob("*") if path.is_file()}
    sources = ROOT / "pkg" / "onax" / "interop"
    wanted = {str(path.relative_to(sources)) for path in sources.rglob("*") if path.is_file()}
    assert built == {name for name in wanted if "__pycache__" not in name}
    assert {"private_names.txt", "distributions/jax.py", "distributions/jax-0.10.2.dist-info/METADATA"} <= built
    package = ROOT / "pkg" / "onax"
    stubs = {path.relative_to(package) for path in package.rglob("*.pyi")}
    stubs |= {Path("export") / path.relative_to(ROOT / "export") for path in (ROOT / "export").rglob("*.pyi")}
    assert stubs and stubs == {path.relative_to(tmp_path / "onax") for path in (tmp_path / "onax").rglob("*.pyi")}
    assert (tmp_path / "onax" / "py.typed").exists() and list((tmp_path / "onax" / "_pages").glob("*.css"))
