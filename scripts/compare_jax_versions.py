"""Writes docs/jax_versions.md: how the newest JAX differs from the reference, in the cases that the tests record.

    python scripts/compare_jax_versions.py PYTHON_OF_THE_NEWEST_JAX [--only TABLE ...]

The recorded answers are those of the reference; the same questions are asked of the other JAX (`make oracle-newest`).
All tables take some minutes; with --only the document has those that are named.
"""

import argparse
import gzip
import importlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))
if __name__ == "__main__":  # before onax is imported: shard_map_cases.py wants devices
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import numpy as np  # noqa: E402

import onax as jax  # noqa: E402
import oracle  # noqa: E402
import oracle_requests  # noqa: E402
import public_names  # noqa: E402
import recorded_versions  # noqa: E402

TARGET = ROOT / "docs" / "jax_versions.md"
CALL_TABLES = (
    "control_cases", "control_combinations", "control_rules", "shard_map_cases", "random_cases", "user_programs",
    "sharding_type_cases",
)  # fmt: skip
# Modules that record their answers when JAX's Python runs them -> the variable with each file that they write.
RECORDERS = {
    "numpy_calls": ("RECORDING", "SIGNATURES"),
    "lax_scipy_calls": ("RECORDING",),
    "result_types": ("RECORDING",),
}
EXAMPLES = 6
CLOSE = 64  # units of rounding by which two versions may differ: a chain of operations, each of 4


# ---- what differs between two answers: (kind, old, new), or None


def compare_texts(old, new):
    """Programs differ by the operations and parameters that one of them has more often; other texts as they are."""
    if "lambda" not in old:
        return None if old == new else ("text", old, new)
    words = [Counter(re.findall(r"\b[a-z_]\w{2,}=?", re.sub(r"<[^>]*>", "", text))) for text in (old, new)]
    gone, come = (" ".join(sorted(set(a - b))) for a, b in (words, words[::-1]))
    return ("printed programs", gone, come) if gone or come else None


def compare_arrays(old, new):
    """Two lists of (dtype, shape, bytes, weak type)."""
    if len(old) != len(new):
        return "number of results", str(len(old)), str(len(new))
    for (dtype, shape, data, weak), (dtype_2, shape_2, data_2, weak_2) in zip(old, new):
        for kind, a, b in (("dtype", dtype, dtype_2), ("shape", shape, shape_2), ("weak type", weak, weak_2)):
            if a != b:
                return kind, str(a), str(b)
        if data != data_2 and not are_close(*(as_numbers(dtype, d) for d in (data, data_2)), dtype):
            return "values", *(show(as_numbers(dtype, d)) for d in (data, data_2))
    return None


def as_numbers(dtype, data):
    """The elements, complex ones as pairs of floats."""
    values = np.frombuffer(data, np.dtype(getattr(jax.numpy, dtype, dtype)) if dtype != "float0" else bool)
    return values.view(f"f{values.itemsize // 2}") if values.dtype.kind == "c" else values


def show(values):
    return np.array2string(values[:4], precision=6)


def are_close(old, new, dtype):
    """Whether floats differ by rounding only, relative to the largest one; others must be equal."""
    if dtype == "float0" or old.dtype.kind in "biu":
        return np.array_equal(old, new)
    eps = float(jax.numpy.finfo(old.dtype).eps)
    old, new = old.astype(np.float64), new.astype(np.float64)
    size = np.max(np.abs(old), initial=0, where=np.isfinite(old))
    return np.allclose(old, new, rtol=0, atol=CLOSE * eps * size, equal_nan=True)


def compare(old, new):
    """Two answers of the oracle."""
    if "error" in old and "error" in new:
        same = old["error"] == new["error"]
        return None if same else ("class of error", *(f"{a['error']}: {first_line(a['message'])}" for a in (old, new)))
    if "error" in old:
        return "accepted now", f"{old['error']}: {first_line(old['message'])}", "a result"
    if "error" in new:
        return "refused now", "a result", f"{new['error']}: {first_line(new['message'])}"
    return compare_texts(old["ok"], new["ok"]) if isinstance(old["ok"], str) else compare_arrays(old["ok"], new["ok"])


def first_line(text):
    return text.splitlines()[0][:120] if text else ""


# ---- the tables: each yields (case, what differs or None)


def family(other, name):
    """The samples of a family of primitives, evaluated."""
    known = oracle.load(name)
    with jax.enable_x64(True):
        for sample in oracle_requests.samples(name):
            request = oracle_requests.request_for(sample, "eager")
            if (key := oracle.key_of(request)) in known:
                yield repr(sample), compare(known[key], other.ask(request))


def calls(other, table):
    """The programs of a table of calls."""
    for case, answer in oracle.load(table).items():
        request = {"kind": "call", "module": str(TESTS / f"{table}.py"), "case": case}
        yield case, compare(answer, other.ask(request))


def programs(other):
    """The golden programs."""
    recorded = json.loads(gzip.decompress((TESTS / "golden" / "jaxprs.json.gz").read_bytes()))
    for case, lines in recorded.items():
        answer = other.ask({"kind": "jaxpr", "module": str(TESTS / "golden_cases.py"), "case": case})
        yield case, compare({"ok": "\n".join(lines)}, answer)


def read(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def recorder(executable, name):
    """The answers of a module that records them, made anew by the other JAX in a folder of their own."""
    files = [getattr(importlib.import_module(name), variable) for variable in RECORDERS[name]]
    with tempfile.TemporaryDirectory() as folder:
        made = [Path(folder) / path.name for path in files]
        lines = [f"module.{v} = pathlib.Path({str(p)!r})" for v, p in zip(RECORDERS[name], made)]
        program = [f"import pathlib, sys; sys.path.insert(0, {str(TESTS)!r})", f"import {name} as module", *lines]
        command = [executable, "-c", "\n".join([*program, "module.main()"])]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for old, new in zip(files, made):
            yield from compare_trees(read(old), read(new), ())


def signatures(executable):
    """The parameters of the public functions of jnp, its linalg and nn."""
    program = f"import json, sys; sys.path.insert(0, {str(TESTS)!r}); import jax, numpy_calls as module"
    command = [executable, "-c", f"{program}; print(json.dumps(module.signatures(jax)))"]
    made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return compare_trees(read(importlib.import_module("numpy_calls").SIGNATURES), made, ())


def compare_trees(old, new, path):
    """Leaf by leaf: (path, what differs); what is missing on one side is a difference."""
    if isinstance(old, dict) and isinstance(new, dict) and "dtype" not in old:
        for key in old.keys() | new.keys():
            if key not in new or key not in old:
                kind = "gone" if key in old else "new"
                yield " ".join((*path, key)), (kind, *("there" if key in side else "not there" for side in (old, new)))
            else:
                yield from compare_trees(old[key], new[key], (*path, key))
    else:
        yield " ".join(path), compare_leaves(old, new)


def compare_leaves(old, new):
    if isinstance(old, str) and isinstance(new, str):
        errors = [text.startswith("!!") for text in (old, new)]
        if any(errors):
            kinds = {(True, True): "class of error", (True, False): "accepted now", (False, True): "refused now"}
            same = all(errors) and old.split(":")[0] == new.split(":")[0]
            return None if same else (kinds[tuple(errors)], first_line(old), first_line(new))
        return compare_texts(old, new)
    if isinstance(old, str) != isinstance(new, str):
        kind = "accepted now" if isinstance(old, str) else "refused now"
        return kind, *(first_line(side) if isinstance(side, str) else "a result" for side in (old, new))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next((d for a, b in zip(old, new) if (d := compare_leaves(a, b)) is not None), None)
    if isinstance(old, dict) and isinstance(new, dict) and "data" in old:
        for field in ("dtype", "shape", "weak"):
            if old[field] != new[field]:
                return field, str(old[field]), str(new[field])
        a, b = (list(map(float, side["data"])) for side in (old, new))
        size = max((abs(v) for v in a if math.isfinite(v)), default=0)
        is_same = np.allclose(a, b, rtol=0, atol=CLOSE * 1.2e-7 * size, equal_nan=True)
        return None if is_same else ("values", str(a[:4]), str(b[:4]))
    return None if old == new else ("parameters and defaults", json.dumps(old), json.dumps(new))


def tables(executable, other):
    """name -> its cases, for all tables."""
    families = [p.stem for p in sorted((TESTS / "laws" / "samples").glob("*.py"))]
    of_reference = [f for f in families if oracle_requests.version_for(f) == recorded_versions.REFERENCE]
    found = {"printed programs": lambda: programs(other)}
    found |= {table: lambda t=table: calls(other, t) for table in CALL_TABLES}
    found |= {f"samples of {name}": lambda n=name: family(other, n) for name in of_reference}
    found["signatures"] = lambda: signatures(executable)
    return found | {name: lambda n=name: recorder(executable, n) for name in RECORDERS}


# ---- the document

HEADER = """# JAX {old} and JAX {new}

Generated by `scripts/compare_jax_versions.py`; do not edit. onax agrees with JAX {old}. These tables, whose answers
the tests have recorded from it, were asked of JAX {new} too; this is what differs. Floats count as equal within
rounding; errors, if their classes are. Of two printed programs, the operations and parameters are listed that one of
them has more often.

| table | cases | differ |
| --- | - | - |
"""


def cell(text):
    """A text in a table's cell."""
    shortened = text if len(text) < 300 else f"{text[:300]} ..."
    return " ".join(shortened.split()).replace("|", "\\|") or "–"


def split_program(kind, old, new):
    """One difference for each word by which two programs differ; any other difference as it is."""
    if kind != "printed programs":
        return [(kind, old, new)]
    return [*((kind, word, "") for word in old.split()), *((kind, "", word) for word in new.split())]


def differences_text(found):
    """A section for each kind of difference; cases with the same difference are one row."""
    groups = {}
    for table, cases in found.items():
        for case, difference in cases:
            if difference is not None:
                for kind, *change in split_program(*difference):
                    groups.setdefault(kind, {}).setdefault(tuple(change), []).append(f"{table}: {case}")
    parts = []
    for kind, rows in sorted(groups.items()):
        parts.append(f"\n## {kind.capitalize()}\n\n| cases | before | now | such as |\n| - | --- | --- | --- |\n")
        for (old, new), cases in sorted(rows.items(), key=lambda row: (-len(row[1]), row[0])):
            shown = "; ".join(sorted(cases)[: EXAMPLES if len(rows) < 8 else 2])
            parts.append(f"| {len(cases)} | {cell(old)} | {cell(new)} | {cell(shown)} |\n")
    return "".join(parts)


def names_text():
    """The public names that one version alone has."""
    versions = public_names.recorded()
    old, new = versions[recorded_versions.REFERENCE], versions[recorded_versions.NEWEST]
    lines = ["\n## Public names\n\n| module | gone | new |\n| --- | --- | --- |\n"]
    for module in sorted(old.keys() | new.keys()):
        a, b = (set(side.get(module, ())) for side in (old, new))
        if a != b:
            cells = (", ".join(f"`{n}`" for n in sorted(side)) or "–" for side in (a - b, b - a))
            lines.append(f"| `{module}` | {' | '.join(cells)} |\n")
    return "".join(lines)


def text(found):
    """The whole document."""
    rows = [f"| {table} | {len(cases)} | {sum(d is not None for _, d in cases)} |\n" for table, cases in found.items()]
    head = HEADER.format(old=recorded_versions.REFERENCE, new=recorded_versions.NEWEST)
    return f"{head}{''.join(rows)}{differences_text(found)}{names_text()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="the Python that has the newest JAX")
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="tables to ask about; the document has these alone")
    options = parser.parse_args()
    other = oracle.Oracle(options.python)
    if other.version != recorded_versions.NEWEST:
        sys.exit(f"{options.python} has JAX {other.version}; JAX {recorded_versions.NEWEST} is asked for")
    found = {}
    for name, cases in tables(options.python, other).items():
        if options.only is None or name in options.only:
            found[name] = list(cases())
            print(f"{name}: {sum(d is not None for _, d in found[name])} of {len(found[name])} differ", flush=True)
    TARGET.write_text(text(found))


if __name__ == "__main__":
    main()
