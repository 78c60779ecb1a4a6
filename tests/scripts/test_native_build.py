"""The compiled modules in other configurations: under sanitizers, and by clang."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "scripts" / "native_build.py"
SPEC = importlib.util.spec_from_file_location("native_build", PATH)
script = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)

# Memory in use, which says nothing where freed memory is kept for a while
OF_RESIDENT_MEMORY = [
    "--deselect=tests/native/test_array.py::test_nothing_leaks",
    "--deselect=tests/native/test_ort.py::test_sessions_are_freed",
    "--deselect=tests/native/test_type_slots.py::test_a_part_of_the_suite_passes",
]
# NumPy fuses the products within a complex product, as gcc's vector code does; the code that sanitizers get rounds each
FUSED = [f"--deselect=tests/native/test_blocks.py::test_an_operation_is_its_kernel[mul-complex{n}]" for n in (64, 128)]
TESTS = {
    "address": ["tests/native", "tests/tape", "tests/programs/test_damaged_tapes.py", *OF_RESIDENT_MEMORY, *FUSED],
    "thread": ["tests/programs/test_threads.py"],
}


def test_clang_is_found_under_its_versions_name(tmp_path, monkeypatch):
    for name in ("clang-9", "clang-14", "clang-format", "clang-cpp-20"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert script.find_clang() == str(tmp_path / "clang-14")
    (tmp_path / "clang").touch(mode=0o755)
    assert script.find_clang() == str(tmp_path / "clang")


@pytest.mark.parametrize("configuration", ["address", "thread", "clang"])
def test_what_is_missing_is_said(configuration):
    environment = {**os.environ, "PATH": "/nonexistent"}
    done = subprocess.run([sys.executable, PATH, configuration], env=environment, capture_output=True, text=True)
    assert done.returncode == script.UNAVAILABLE and "not available here: " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("configuration", TESTS)
def test_under_sanitizers(configuration):
    command = [sys.executable, PATH, configuration, "-x", "-m", "not slow", *TESTS[configuration]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == script.UNAVAILABLE:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
