"""Writes docs/gpu.md from what the proof found."""

import os

PEERS = {
    "onax-cuda": "onax, on the device",
    "onax-cuda-host": "onax, with transfers",
    "onax-cpu": "onax, CPU",
    "jax": "JAX",
    "torch": "PyTorch",
    "cupy": "CuPy",
}


REVIEW = "## Reviewed against the C API"  # this section of the document is written by hand


def write_report(path, found):
    """Replaces the document in one step, but for what stands behind the heading REVIEW."""
    kept = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            _, heading, review = file.read().partition(REVIEW)
        kept = f"\n{heading}{review}" if heading else ""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text(found) + kept)
    os.replace(temporary, path)


def text(found):
    """The whole document."""
    parts = ["# onax on CUDA\n\nWritten by `make gpu`; `gpu.json` beside it has every figure.\n"]
    if found["stand_in"]:
        parts.append("**Nothing was proven: a stand-in took the place of the device.**\n")
    parts += [_environment(found["environment"]), _stages(found["stages"])]
    if found["benchmark"]:
        parts.append(_benchmark(found["benchmark"]))
    parts.append(_failures(found["stages"]))
    return "\n".join(parts)


def _environment(facts):
    rows = [f"| {name} | {value} |" for name, value in facts.items() if isinstance(value, str) and name != "missing"]
    rows += [f"| {name} | {version} |" for kind in ("packages", "libraries") for name, version in facts[kind].items()]
    return "\n".join(["## Where\n", "| | |", "| --- | --- |", *rows, ""])


def _stages(stages):
    rows = []
    for name, results in stages.items():
        items = results["items"].values()
        counts = [sum(kind in item for item in items) for kind in ("passed", "failed", "skipped")]
        rows.append(f"| {name} | {' | '.join(map(str, counts))} | {'yes' if results['finished'] else 'no'} |")
    head = ["## Results\n", "| stage | passed | failed | skipped | finished |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


def _benchmark(peers):
    present = {p: r for p, r in peers.items() if "missing" not in r}
    names = list(dict.fromkeys(name for r in present.values() for name in r if name != "peak"))
    head = " | ".join(PEERS[p] for p in present)
    lines = ["## Times of a call\n", f"| | {head} |", f"| --- |{' --- |' * len(present)}"]
    for name in names:
        lines.append(f"| {name} | {' | '.join(_cell(r.get(name)) for r in present.values())} |")
    peaks = " | ".join(_megabytes(r.get("peak")) for r in present.values())
    lines += [f"| peak device memory | {peaks} |", ""]
    lines += [f"- {PEERS[p]}: not measured, {r['missing']}" for p, r in peers.items() if "missing" in r]
    return "\n".join([*lines, ""])


def _cell(figures):
    if figures is None:
        return ""
    if "failed" in figures:
        return "failed"
    speed = f", {figures['work'] / figures['seconds'] / 1e12:.1f} TFLOP/s" if figures.get("work") else ""
    return f"{_time(figures['seconds'])}{speed}"


def _time(seconds):
    for factor, unit in ((1, "s"), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _megabytes(size):
    return "" if size is None else f"{size / 2**20:.0f} MiB"


def _failures(stages):
    lines = ["## Failures\n"]
    for name, results in stages.items():
        for item, outcome in results["items"].items():
            if "failed" in outcome:
                lines.append(f"### {name}: {item}\n\n```\n{outcome['failed'].strip()[-1500:]}\n```\n")
    return "\n".join(lines if len(lines) > 1 else [*lines, "None.\n"])
