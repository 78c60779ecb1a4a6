"""Renews the recorded answers of real JAX that the tests replay.

    python scripts/record_oracle.py [--only FAMILY ...] [--again]

Needs the oracle's Python (`make oracle`, or ONAX_ORACLE_PYTHON).  Writes tests/oracle_recordings/*.json.gz and
tests/golden/jaxprs.json.gz, of the tables that want the version of JAX that the oracle has: most want 0.10.2, those
with a JAX_VERSION the newest (`make oracle-newest`).  Samples whose answer is recorded already are not asked again,
unless with --again.
"""

import argparse
import gzip
import importlib
import json
import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path.insert(0, str(TESTS))
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")  # shard_map_cases.py wants devices

import onax as jax  # noqa: E402
import oracle  # noqa: E402
import oracle_requests  # noqa: E402
import recorded_versions  # noqa: E402

CALL_TABLES = (
    "control_cases", "control_combinations", "control_rules", "shard_map_cases", "random_cases", "user_programs",
    "newer_cases", "sharding_type_cases",
)  # fmt: skip
GOLDEN = TESTS / "golden" / "jaxprs.json.gz"


def record_family(family, again):
    """Asks about every sample of a family; returns the number of answers."""
    known, answers = {} if again else oracle.load(family), {}
    with jax.enable_x64(True):
        samples = oracle_requests.samples(family)
        for sample in samples:
            for mode in oracle_requests.modes_of(sample):
                request = oracle_requests.request_for(sample, mode)
                key = oracle.key_of(request)
                answer = known[key] if key in known else oracle.live().ask(request)
                if "error" in answer:
                    print(f"  {sample!r} {mode}: {answer['error']}: {answer['message'].splitlines()[0][:120]}")
                answers[key] = answer
    oracle.save(family, answers, oracle.live().version)
    return len(answers)


def record_calls(table):
    """Asks for the results of every program of a table of calls; returns their number."""
    cases = importlib.import_module(table).cases(jax)
    request = {"kind": "call", "module": str(TESTS / f"{table}.py")}
    answers = {name: oracle.live().ask({**request, "case": name}) for name in cases}
    for name, answer in answers.items():
        if "error" in answer:
            print(f"  {name}: {answer['error']}: {answer['message'].splitlines()[0][:120]}")
    oracle.save(table, answers, oracle.live().version)
    return len(answers)


def record_jaxprs():
    """Asks for the text of every golden program."""
    cases = importlib.import_module("golden_cases").cases(jax)
    request = {"kind": "jaxpr", "module": str(TESTS / "golden_cases.py")}
    texts = {}
    for name in cases:
        answer = oracle.live().ask({**request, "case": name})
        if "error" in answer:
            sys.exit(f"{name}: {answer['error']}: {answer['message']}")
        texts[name] = answer["ok"].splitlines()
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_bytes(gzip.compress(json.dumps(texts).encode(), mtime=0))
    recorded_versions.note(GOLDEN, oracle.live().version)
    return len(texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="families to renew; `jaxprs` for the golden programs")
    parser.add_argument("--again", action="store_true", help="ask about everything anew")
    options = parser.parse_args()
    wanted = options.only
    if oracle.python() is None:
        sys.exit("real JAX is not there: `make oracle`, or set ONAX_ORACLE_PYTHON")
    version = oracle.live().version
    print(f"JAX {version}")
    families = sorted(p.stem for p in (TESTS / "laws" / "samples").glob("*.py"))
    for family in families:
        if (wanted is None or family in wanted) and oracle_requests.version_for(family) == version:
            print(f"{family}: {record_family(family, options.again)} answers")
    for table in CALL_TABLES:
        of_version = oracle.version_for(importlib.import_module(table)) == version
        if (wanted is None or table in wanted) and of_version:
            print(f"{table}: {record_calls(table)} answers")
    if (wanted is None or "jaxprs" in wanted) and version == recorded_versions.REFERENCE:
        print(f"jaxprs: {record_jaxprs()}")


if __name__ == "__main__":
    main()
