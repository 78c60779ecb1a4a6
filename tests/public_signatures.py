"""The parameters of JAX's public functions and classes, recorded: names, kinds and defaults.

Run by the Python that has real JAX, this file records those of its version:

    .venv-oracle/bin/python tests/public_signatures.py
"""

import inspect
import json
from pathlib import Path

import public_names
import recorded_versions

RECORDING = Path(__file__).resolve().parent / "golden" / "public_signatures.json"
PLAIN = (bool, int, float, str, type(None))  # defaults that are compared; of the others it counts that there is one


def parameters(value):
    """[[name, kind, default], ...] of a callable; None where Python does not know them."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return [[p.name, str(p.kind.description), _default(p.default)] for p in signature.parameters.values()]


def _default(value):
    """The text of a default: "" for none, "..." for one that is no plain value."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, tuple) and all(isinstance(x, PLAIN) for x in value):
        return repr(value)
    return repr(value) if type(value) in PLAIN else "..."


def is_callable(value):
    return callable(value) and not isinstance(value, (type, Exception))


def signatures(package):
    """path of JAX's -> parameters, for each public function that the package has."""
    found = {}
    for module, listed in public_names.recorded()[recorded_versions.REFERENCE].items():
        for name in listed:
            value = public_names.find(package, f"{module}.{name}")
            if is_callable(value) and (taken := parameters(value)) is not None:
                found[f"{module}.{name}"] = taken
    return found


def compiled(package):
    """The paths of public functions that have the methods of a jitted one."""
    listed = public_names.recorded()[recorded_versions.REFERENCE].items()
    paths = [f"{module}.{name}" for module, names in listed for name in names]
    return [p for p in paths if is_callable(f := public_names.find(package, p)) and hasattr(f, "clear_cache")]


def recorded():
    """{"signatures": path -> parameters, "compiled": paths}"""
    return json.loads(RECORDING.read_text())


def main():
    """Records the signatures of the JAX at hand."""
    import jax

    table = {"compiled": compiled(jax), "signatures": signatures(jax)}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(table["signatures"].items())]
    text = ",\n".join(lines)
    RECORDING.write_text(f'{{"compiled": {json.dumps(table["compiled"])},\n"signatures": {{\n{text}\n}}}}\n')
    recorded_versions.note(RECORDING, jax.__version__)
    print(f"JAX {jax.__version__}: {len(lines)} signatures")


if __name__ == "__main__":
    main()
