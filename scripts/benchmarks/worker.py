"""Times groups of cases: `python -m benchmarks.worker PACKAGE --groups GROUP ... [--explain CASE ...]`.

Prints one JSON object.  With `--explain` nothing is timed: the package, onax, says where these cases spend their time.
"""

import argparse
import importlib
import itertools
import json
import sys
import time


def timed(jax, cases):
    """Name of each case -> microseconds; the names go to the standard error too, where a failure shows the last one."""
    figures = {}
    for case in cases:
        print(case.name, file=sys.stderr)
        figures[case.name] = case.time(jax)
    return figures


def explained(onax, cases, names):
    """Name of each case with one of these names -> text that says where it spends its time."""
    return {case.name: case.explain(onax) for case in cases if case.name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package")
    parser.add_argument("--groups", nargs="*", default=[])
    parser.add_argument("--explain", nargs="+", metavar="CASE")
    options = parser.parse_args()
    started = time.perf_counter()
    jax = importlib.import_module(options.package)
    answer = {"version": jax.__version__, "figures": {"import": {"import": (time.perf_counter() - started) * 1e6}}}
    groups = importlib.import_module("benchmarks.groups").GROUPS  # its imports are no part of that time
    if options.explain is None:
        answer["figures"] |= {name: timed(jax, groups[name](jax)) for name in options.groups}
    else:
        cases = itertools.chain.from_iterable(groups[name](jax) for name in options.groups)
        answer["explanations"] = explained(jax, cases, options.explain)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
