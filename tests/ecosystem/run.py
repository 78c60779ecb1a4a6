"""Runs programs over libraries of the JAX ecosystem through `python -m onax` and compares their results with JAX's.

    python tests/ecosystem/run.py resolve JAXPYTHON            pins the libraries of an environment with JAX
    python tests/ecosystem/run.py record JAXPYTHON [NAME ...]  records JAX's results
    python tests/ecosystem/run.py test [NAME ...]              runs the programs and compares
           [--beside JAXPYTHON]                                times each program under JAX too, right before

`test` runs each program in a process of its own, with a time limit; a process that crashes is a failure.  A run of all
programs writes outcomes.json, from which `make tables` makes the table of docs/coverage.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from comparison import difference

HERE = Path(__file__).resolve().parent
ANSWERS, OUTCOMES, REQUIREMENTS = HERE / "answers.json", HERE / "outcomes.json", HERE / "requirements.txt"
LIMIT = 600  # seconds for a program; the slowest takes about a minute


def programs(names):
    """The paths of the programs with these names, or of all."""
    paths = sorted((HERE / "programs").glob("*.py"))
    if unknown := set(names) - {path.stem for path in paths}:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}")
    return [path for path in paths if not names or path.stem in names]


def execute(command, path):
    """(results or None, seconds, what the process wrote to its standard error) of a program's process."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        start = time.perf_counter()
        try:
            process = subprocess.run(
                [*command, HERE / "execute.py", path, out],
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return None, LIMIT, f"it took more than {LIMIT} s"
        seconds = time.perf_counter() - start
        if process.returncode or not out.exists():
            return None, seconds, f"{process.stderr}\nexit code {process.returncode}"
        return json.loads(out.read_text()), seconds, process.stderr


def record(python, names):
    """Writes JAX's results of the programs into answers.json."""
    answers = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    failures = 0
    for path in programs(names):
        results, seconds, error = execute([python], path)
        if results is None:
            failures += 1
            print(f"{path.stem}: FAILED\n{error}")
            continue
        print(f"{path.stem}: {len(results)} results, {seconds:.1f} s", flush=True)
        answers[path.stem] = results
        existing = {path.stem for path in programs(())}
        lines = ",\n".join(f"{json.dumps(n)}: {json.dumps(answers[n])}" for n in sorted(answers) if n in existing)
        ANSWERS.write_text(f"{{\n{lines}\n}}\n")
    return failures


def test(names, beside):
    """Runs the programs under onax; returns the number of those that fail."""
    answers, outcomes, failures = json.loads(ANSWERS.read_text()), {}, 0
    for path in programs(names):
        under_jax = execute([beside], path)[1] if beside else None
        results, seconds, error = execute([sys.executable, "-m", "onax"], path)
        if path.stem not in answers:
            sys.exit(f"{path.stem} has no recorded results: run.py record JAXPYTHON {path.stem}")
        problem = error if results is None else difference(path, answers[path.stem], results)
        outcomes[path.stem] = {"passed": not problem}
        failures += bool(problem)
        timing = f"{seconds:.1f} s" + (f", JAX {under_jax:.1f} s" if under_jax is not None else "")
        print(f"{path.stem}: {'FAILED' if problem else 'ok'} ({timing})", *([problem] if problem else []), flush=True)
    print(f"\n{len(outcomes) - failures} passed, {failures} failed")
    if not names:
        OUTCOMES.write_text(json.dumps(outcomes, indent=1, sort_keys=True) + "\n")
    return failures


RESOLVE = """
import importlib.metadata, sys
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

versions, extras_of = {"jax": None, "jaxlib": None}, {}

def visit(name, extras):
    name = canonicalize_name(name)
    if name in versions and (versions[name] is None or extras <= extras_of[name]):
        return
    distribution = importlib.metadata.distribution(name)
    versions[name] = distribution.version
    extras = extras_of[name] = extras_of.get(name, set()) | extras
    for requirement in map(Requirement, distribution.requires or ()):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in extras | {""}):
            visit(requirement.name, requirement.extras)

for name in sys.argv[1:]:
    visit(name, set())
print(*(f"{name}=={version}" for name, version in sorted(versions.items()) if version), sep="\\n")
"""


def libraries():
    """The names of the libraries."""
    lines = (HERE / "libraries.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def resolve(python):
    """Pins the libraries and what they need, without JAX itself, as an environment has them."""
    pinned = subprocess.run([python, "-c", RESOLVE, *libraries()], check=True, capture_output=True, text=True).stdout
    REQUIREMENTS.write_text(f"# Written by `run.py resolve`; installed with --no-deps.\n{pinned}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("resolve").add_argument("python")
    recorder, tester = commands.add_parser("record"), commands.add_parser("test")
    recorder.add_argument("python")
    for command in (recorder, tester):
        command.add_argument("names", nargs="*")
    tester.add_argument("--beside")
    options = parser.parse_args()
    if options.command == "resolve":
        return resolve(options.python)
    if options.command == "record":
        return record(options.python, options.names)
    return test(options.names, options.beside)


if __name__ == "__main__":
    sys.exit(bool(main()))
