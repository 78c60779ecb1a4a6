"""Makes the page of measurements: charts and tables of what `scripts/benchmark.py --json` wrote to docs/benchmarks."""

import json
import re
import statistics
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LEFT_OUT = ("import",)  # groups of one case
SLOWEST = 15  # rows of the table
COLOURS = ("#2f6fdf", "#c26a1b")


def read(folder):
    """The records of a folder, the oldest first; ValueError for a file in another format."""
    records = []
    for path in sorted(Path(folder).glob("*.json")):
        record = json.loads(path.read_text())
        if record.get("format") != 1:
            raise ValueError(f"{path.name} is not in format 1 of scripts/benchmark.py --json")
        records.append(record)
    return sorted(records, key=lambda record: record["date"])


def version(name):
    """The numbers in a library's name, which compare as versions do."""
    return [int(part) for part in re.findall(r"\d+", name)]


def newest_jax(record):
    """The figures of the newest JAX in a record."""
    return max(record["libraries"][1:], key=lambda library: version(library["name"]))


def ratios(record):
    """{group: {case: time of the newest JAX / time of onax}} of the groups with more than one case."""
    mine, theirs = record["libraries"][0]["figures"], newest_jax(record)["figures"]
    return {
        group: {case: theirs[group][case] / us for case, us in cases.items()}
        for group, cases in mine.items()
        if group not in LEFT_OUT
    }


def draw_latest(found, path):
    """Each case's ratio, sorted, a panel for each group."""
    columns = min(3, len(found))
    rows = -(-len(found) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(9, 2.6 * rows), squeeze=False, sharey=True)
    for panel in axes.flat[len(found) :]:
        panel.axis("off")
    for panel, (group, cases) in zip(axes.flat, found.items()):
        values = sorted(cases.values())
        colours = [COLOURS[value < 1] for value in values]
        panel.scatter(range(len(values)), values, s=9, c=colours)
        panel.axhline(1, color="grey", lw=0.8)
        panel.set(title=f"{group}: {statistics.geometric_mean(values):.2f}", yscale="log", xticks=[])
    for panel in axes[:, 0]:
        panel.set_ylabel("JAX / onax")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def draw_history(records, path):
    """The geometric mean of each group's ratios over the records."""
    figure, axes = plt.subplots(figsize=(9, 3.5))
    found = [ratios(record) for record in records]
    for group in dict.fromkeys(name for one in found for name in one):
        points = [
            (record["date"], statistics.geometric_mean(one[group].values()))
            for record, one in zip(records, found)
            if group in one
        ]
        axes.plot(*zip(*points), marker="o", label=group)
    axes.axhline(1, color="grey", lw=0.8)
    axes.set(yscale="log", ylabel="geometric mean of JAX / onax")
    axes.legend(fontsize=8, ncols=2)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def shown(microseconds):
    """Microseconds with a fitting unit."""
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= factor:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.3g} µs"


def slowest_rows(record):
    """The lines of a table of the cases with the least ratios."""
    mine, theirs = record["libraries"][0], newest_jax(record)
    rows = sorted((r, group, case) for group, cases in ratios(record).items() for case, r in cases.items())
    lines = [f"| case | group | {mine['name']} | {theirs['name']} | ratio |", "| --- | --- | --- | --- | --- |"]
    for ratio, group, case in rows[:SLOWEST]:
        times = [shown(library["figures"][group][case]) for library in (mine, theirs)]
        lines.append(f"| {case.replace('|', chr(92) + '|')} | {group} | {' | '.join(times)} | {ratio:.2f} |")
    return lines


def page(records):
    """The page in Markdown."""
    latest = records[-1]
    names = ", ".join(library["name"] for library in latest["libraries"])
    machine = latest["machine"]
    lines = [
        "# Measurements",
        "",
        f"Drawn from the files in `docs/benchmarks`, which `scripts/benchmark.py --json` writes. The newest is of "
        f"{latest['date']}: {names}, Python {latest['python']}, {machine['cores']} cores of {machine['processor']}. A "
        f"point is one case; above 1 onax is quicker than {newest_jax(latest)['name']}.",
        "",
        "![the ratio of each case](benchmarks-latest.svg)",
        "",
    ]
    if len(records) > 1:
        lines += ["## Over time", "", "![means of the groups over time](benchmarks-history.svg)", ""]
    lines += [f"## The {SLOWEST} cases with the least ratios", "", *slowest_rows(latest), ""]
    lines += ["What they have in common is said in [performance](../performance.md).", ""]
    return "\n".join(lines)


def write(source, folder):
    """Writes the page and its pictures to a folder; ValueError without a record."""
    records = read(source)
    if not records:
        raise ValueError(f"there is no record in {source}")
    matplotlib.rcParams["svg.hashsalt"] = "onax"  # the same identifiers in each run
    draw_latest(ratios(records[-1]), folder / "benchmarks-latest.svg")
    if len(records) > 1:
        draw_history(records, folder / "benchmarks-history.svg")
    (folder / "benchmarks.md").write_text(page(records))
