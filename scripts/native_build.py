"""Builds the compiled modules in another configuration, in a folder of its own, and runs tests with them.

    python scripts/native_build.py CONFIGURATION [arguments of pytest]

    address  gcc's sanitizers of addresses and of undefined behaviour
    thread   gcc's sanitizer of data races
    clang    the flags of a release, compiled by clang with all warnings

Tests run uncaptured, so that a sanitizer's report of a fault, which ends the process, is seen; more options for the
sanitizers are taken from ASAN_OPTIONS, UBSAN_OPTIONS and TSAN_OPTIONS.  The script exits with 77
and says why if this machine lacks what a configuration needs.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPRESSIONS = ROOT / "scripts" / "sanitizers"
UNAVAILABLE = 77  # the exit status that Automake's tests have for "skipped"

# configuration -> what -fsanitize takes, the libraries that must be in the process before Python is
SANITIZERS = {
    "address": ("address,undefined", ["libasan.so", "libubsan.so"]),
    "thread": ("thread", ["libtsan.so"]),
}


def unavailable(reason):
    """Ends the program: this machine cannot build or run the configuration."""
    print(f"not available here: {reason}")
    sys.exit(UNAVAILABLE)


def find_clang():
    """The path of clang, or of the newest versioned one on PATH."""
    versioned = [p for d in os.get_exec_path() if Path(d).is_dir() for p in Path(d).glob("clang-*")]
    versioned = [p for p in versioned if re.fullmatch(r"clang-\d+", p.name)]
    newest = max(versioned, key=lambda p: int(p.name.split("-")[1]), default=None)
    return shutil.which("clang") or (newest and str(newest))


def libraries(names):
    """The paths of gcc's runtime libraries."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        unavailable("the sanitizers need Linux and gcc")
    found = []
    for name in names:
        asked = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        path = Path(asked.stdout.strip())
        if not path.is_absolute() or not path.exists():
            unavailable(f"gcc has no {name}")
        found.append(str(path.resolve()))
    return found


def build(configuration, folder):
    """Compiles into the folder and lays the Python files beside it; the variables that a process needs to use it."""
    environment = dict(os.environ)
    if configuration == "clang":
        compiler = find_clang() or unavailable("there is no clang on PATH")
        cached = f"ccache {compiler}" if os.environ.get("CC", "").startswith("ccache ") else compiler
        environment |= {"CC": cached, "LDSHARED": f"{compiler} -shared", "CFLAGS": "-Wall -Wextra"}
        run_with = {}
    else:
        flags, names = SANITIZERS[configuration]
        preload = libraries(names)
        environment["ONAX_SANITIZE"] = flags
        run_with = {"LD_PRELOAD": " ".join(preload), "PYTHONMALLOC": "malloc"} | options()
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", f"{folder}/lib"]
    with open(folder / "build.log", "w") as log:
        done = subprocess.run(
            [*command, "--build-temp", f"{folder}/temp"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    if done.returncode:
        sys.exit(f"the build failed; {folder}/build.log ends so:\n{(folder / 'build.log').read_text()[-3000:]}")
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "pkg" / "onax", folder / "lib" / "onax", dirs_exist_ok=True, ignore=ignored)
    shutil.copytree(ROOT / "export", folder / "lib" / "onax" / "export", dirs_exist_ok=True, ignore=ignored)
    return run_with | {"PYTHONPATH": f"{folder}/lib"}


def options():
    """What the sanitizers read: where they stop, and which faults of other packages they leave out."""
    given = {
        # Python keeps objects for ever, and tests ask for more memory than there is.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"halt_on_error=1:print_stacktrace=1:suppressions={SUPPRESSIONS}/undefined.txt",
        "TSAN_OPTIONS": f"halt_on_error=1:suppressions={SUPPRESSIONS}/thread.txt",
    }
    return {name: f"{text}:{os.environ.get(name, '')}" for name, text in given.items()}


def main(configuration, *arguments):
    """Builds the configuration and runs pytest with it."""
    folder = ROOT / "build" / "native" / configuration
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | build(configuration, folder)
    tests = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", *arguments]
    sys.exit(subprocess.run(tests, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
