"""onax beside real JAX: eager operations, jitted calls, first calls (tracing and compiling), steady state, import.

    python scripts/benchmark.py [--rounds 3] [--groups call compile] [--jax PYTHON ...] [--no-explain] [--markdown]
                                [--json FILE]

The cases are in scripts/benchmarks, a module for each subject.

Each library runs in processes of its own, in turn (onax, JAX, onax, JAX, ...), with the same number of threads; each
figure is the median over the rounds of the minimum within a round. Only ratios have a meaning on a shared machine.
`--jax` names Pythons that have real JAX, of one version or of several; without it the one of ONAX_ORACLE_PYTHON or
.venv-oracle (`make oracle`) is taken; without any only onax's figures are printed. Ratios are JAX's time over onax's:
above 1 onax is quicker. `--json` also writes all figures to a file; the site draws those of `docs/benchmarks`.
Below the tables `onax.explain` says of each workload slower than the newest JAX where its time
goes; `--no-explain` leaves that out.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
from pathlib import Path

from benchmarks.groups import GROUPS
from tqdm import tqdm

SCRIPTS = Path(__file__).resolve().parent


def oracle_pythons():
    """The Pythons that have real JAX, as far as they are there: that of ONAX_ORACLE_PYTHON, or of .venv-oracle."""
    named = os.environ.get("ONAX_ORACLE_PYTHON")
    candidate = Path(named) if named else SCRIPTS.parent / ".venv-oracle" / "bin" / "python"
    return [str(candidate)] if candidate.exists() else []


def run_worker(python, module, groups, explain=()):
    """What one worker process printed; if cases to explain are named, it explains them and times nothing."""
    command = [python, "-m", "benchmarks.worker", module, "--groups", *groups]
    command += ["--explain", *explain] if explain else []
    done = subprocess.run(command, capture_output=True, text=True, cwd=SCRIPTS)
    if done.returncode:
        sys.exit(f"{module} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def measured(libraries, groups, rounds):
    """[(name with version, {group: {case: microseconds}})] of (module, Python) pairs, which run in turn."""
    turns = tqdm([*libraries] * rounds, "processes of the libraries in turn", disable=None)
    answers = [run_worker(python, module, groups) for module, python in turns]
    for first, (module, _) in enumerate(libraries):
        found = answers[first :: len(libraries)]
        medians = {
            group: {name: statistics.median(one["figures"][group][name] for one in found) for name in cases}
            for group, cases in found[0]["figures"].items()
        }
        yield f"{'JAX' if module == 'jax' else module} {found[0]['version']}", medians


def shown(microseconds):
    """Microseconds with a fitting unit."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} us"


def table(mine, others):
    """The lines of the table of one group, and below them the mean and the least of the ratios of each JAX."""
    ratios = [{name: theirs[name] / us for name, us in mine.items()} for theirs in others]
    for name, us in mine.items():
        pairs = (f"{shown(theirs[name]):>14}{ratio[name]:>8.2f}" for theirs, ratio in zip(others, ratios))
        yield f"{name:56}{shown(us):>12}{''.join(pairs)}"
    for what, summary in (("geometric mean", statistics.geometric_mean), ("minimum", min)):
        if ratios and len(mine) > 1:
            yield f"{'= ' + what:68}" + "".join(f"{summary(ratio.values()):>22.2f}" for ratio in ratios)


def markdown(title, mine, libraries):
    """The lines of the table of one group in Markdown; `libraries`: [(name, figures of the group)] of each JAX."""
    yield "| " + " | ".join([title, "onax", *[cell for name, _ in libraries for cell in (name, "ratio")]]) + " |"
    yield "| --- " * (2 + 2 * len(libraries)) + "|"
    for name, us in mine.items():
        cells = [cell for _, theirs in libraries for cell in (shown(theirs[name]), f"{theirs[name] / us:.2f}")]
        yield "| " + " | ".join([name.replace("|", "\\|"), shown(us), *cells]) + " |"


def markdown_summary(figures, others):
    """The lines of a table in Markdown of each group's ratios: their mean, the least, how many are below 1."""
    heads = [f"beside {name}: geometric mean | least | below 1" for name, _ in others]
    yield "| " + " | ".join(["", *heads]) + " |"
    yield "| --- " * (1 + 3 * len(others)) + "|"
    for group, mine in figures.items():
        cells = []
        for _, theirs in others:
            ratios = [theirs[group][name] / us for name, us in mine.items()]
            below = sum(ratio < 1 for ratio in ratios)
            cells += [f"{statistics.geometric_mean(ratios):.2f}", f"{min(ratios):.2f}", f"{below} of {len(ratios)}"]
        yield "| " + " | ".join([group, *cells]) + " |"


def record(libraries):
    """All figures as one dictionary; `libraries`: [(name with version, {group: {case: microseconds}})], onax first."""
    return {
        "format": 1,
        "date": datetime.date.today().isoformat(),
        "machine": {"processor": platform.machine(), "cores": len(os.sched_getaffinity(0))},
        "python": platform.python_version(),
        "unit": "us",
        "libraries": [{"name": name, "figures": figures} for name, figures in libraries],
    }


def write_record(libraries, path):
    """Writes `record(libraries)`; the file is never seen half written."""
    unfinished = Path(f"{path}.new")
    unfinished.write_text(json.dumps(record(libraries), indent=1) + "\n")
    unfinished.replace(path)


def slower(figures, others):
    """[(ratio, group, case)] of those in which onax is slower than the newest JAX, the slowest first."""
    _, newest = max(others, key=lambda pair: version(pair[0]))
    ratios = [(newest[group][name] / us, group, name) for group, cases in figures.items() for name, us in cases.items()]
    return sorted(row for row in ratios if row[0] < 1)


def version(name):
    """The version at the end of a library's name, as numbers, which compare as versions do."""
    return [int(part) for part in re.findall(r"\d+", name)]


def explanations(rows):
    """Lines that say of each row of `slower` where onax spends the time, and why it is slow, if that is known."""
    rows = [row for row in rows if row[1] in GROUPS]
    if not rows:
        return
    groups = list(dict.fromkeys(group for _, group, _ in rows))
    found = run_worker(sys.executable, "onax", groups, [name for *_, name in rows])["explanations"]
    yield "\nSlower than JAX, and what onax.explain says:"
    for ratio, _, name in rows:
        yield f"\n{ratio:.2f} {name}"
        yield textwrap.indent(found[name], "  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS))
    parser.add_argument("--jax", nargs="+", metavar="PYTHON", help="Pythons that have real JAX")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown, as in docs/performance.md")
    parser.add_argument("--no-explain", action="store_true", help="print nothing more about workloads slower than JAX")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to a file, as in docs/benchmarks")
    options = parser.parse_args()
    pythons = oracle_pythons() if options.jax is None else options.jax
    if not pythons:
        print("real JAX is not installed beside the project (make oracle): onax alone\n")
    pythons = [
        os.path.abspath(shutil.which(python) or parser.error(f"there is no Python {python}")) for python in pythons
    ]
    libraries = [("onax", sys.executable), *(("jax", os.path.abspath(python)) for python in pythons)]
    (mine, figures), *others = measured(libraries, options.groups, options.rounds)
    if options.json:
        write_record([(mine, figures), *others], options.json)
    if not options.markdown:
        print(f"{'':56}{mine:>12}" + "".join(f"{name:>14}{'ratio':>8}" for name, _ in others))
    elif others:
        print(*markdown_summary(figures, others), sep="\n")
    for group, cases in figures.items():
        theirs = [(name, found[group]) for name, found in others]
        if options.markdown:
            print("", *markdown(group, cases, theirs), sep="\n")
        else:
            print(*table(cases, [found for _, found in theirs]), sep="\n")
    if others and not options.no_explain:
        for line in explanations(slower(figures, others)):
            print(line)


if __name__ == "__main__":
    main()
