"""The report as text for a terminal, as Markdown for the documentation, as JSON for machines, as an HTML page."""

import json
import textwrap
from dataclasses import dataclass

from onax._divergence.report import DEPARTS
from onax._pages import render_page

WIDTH = 100
EXAMPLES = 6  # shown of each family
_COLOURS = {"bold": "\033[1m", "red": "\033[31m", "green": "\033[32m", "dim": "\033[2m"}
_RESET = "\033[0m"


def examples(outcome, count):
    """The rows that represent a family: rows where NumPy differs, each title once, spread over the family."""
    chosen, titles = [], set()
    for row in outcome.rows:
        head = row.title.split(",")[0]
        if row.diverges and (head not in titles or len(outcome.rows) <= count):
            titles.add(head)
            chosen.append(row)
    chosen = chosen or outcome.rows
    step = max(len(chosen) / count, 1)
    return [chosen[int(i * step)] for i in range(min(count, len(chosen)))]


# --- text ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class _Painter:
    colour: bool

    def __call__(self, style, text):
        return f"{_COLOURS[style]}{text}{_RESET}" if self.colour else text


def to_text(report, colour=False):
    """The report as lines of at most 100 columns."""
    paint, lines = _Painter(colour), [f"onax {report.onax_version}: where it differs from NumPy"]
    lines += [f"  {name:10} {text}" for name, text in report.backends.items()]
    for name, reason in report.missing.items():
        lines += _wrap(f"  {name:10} not run: {reason}")
    for outcome in report.families:
        lines += ["", *_family_text(outcome, paint)]
    departures = report.departures()
    lines.append("")
    if departures:
        lines.append(paint("red", f"{len(departures)} results depart from the documented rules."))
    else:
        total = sum(len(f.rows) for f in report.families)
        backends = ", ".join(report.backends)
        lines.append(paint("green", f"All {total} cases are as documented on {backends}."))
    return "\n".join(lines) + "\n"


def _wrap(text, indent="             "):
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, drop_whitespace=True, break_long_words=True)


def _family_text(outcome, paint):
    family, rows = outcome.family, outcome.rows
    differing = sum(row.diverges for row in rows)
    departures = outcome.departures()
    lines = [paint("bold", f"{family.title} ({family.name})")]
    lines += _wrap(f"  rule  {family.rule}", "        ")
    lines += _wrap(f"  safe  {family.safe}", "        ")
    if outcome.missing:
        return [*lines, *_wrap(f"  not run: {outcome.missing}", "        ")]
    verdict = paint("red", f"{len(departures)} departures") if departures else paint("green", "all as documented")
    lines.append(f"  {len(rows)} cases, NumPy differs in {differing}: {verdict}")
    for row in examples(outcome, EXAMPLES):
        lines += _row_text(row, paint, family.measured)
    for row, name in departures:
        result = row.results[name]
        lines += [paint("red", line) for line in _wrap(f"  DEPARTS {name}: {row.key}", "    ")]
        lines += _wrap(f"    {row.example} gives {result.text}, documented {row.documented}", "      ")
        if result.outcome.message:
            lines += _wrap(f"    {result.outcome.message}", "      ")
    return lines


def _row_text(row, paint, measured):
    head = f"{row.title} [{row.dtype}]"
    if row.example:
        head += f" of {row.example}"
    body = f"NumPy {row.numpy}; onax {row.documented}"
    if measured:
        body = "; ".join([f"NumPy {row.numpy}", *(f"{name} {r.text}" for name, r in row.results.items())])
    return [*_wrap(f"    {head}", "      "), *(paint("dim", line) for line in _wrap(f"      {body}", "      "))]


# --- Markdown -----------------------------------------------------------------------------------------------------


def to_markdown(report):
    """The report as a document, without the numbers that depend on the machine."""
    lines = [
        "# Where onax differs from NumPy",
        "",
        "`scripts/divergence_report.py --format markdown` wrote this file and ran every case live; do not edit it. The "
        "rules are those of JAX on accelerators; every backend must follow them.",
        "",
        "| family | cases | NumPy differs | " + " | ".join(report.backends) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in report.backends) + " |",
    ]
    for outcome in report.families:
        differing = "-" if outcome.family.measured else sum(row.diverges for row in outcome.rows)
        verdicts = [_backend_verdict(outcome, name) for name in report.backends]
        lines.append(
            f"| [{outcome.family.title}](#{_anchor(outcome.family.title)}) | {len(outcome.rows)} | {differing} | "
            + " | ".join(verdicts)
            + " |"
        )
    for outcome in report.families:
        lines += ["", f"## {outcome.family.title}", "", f"**Rule.** {outcome.family.rule}", "",
                  f"**Safe.** {outcome.family.safe}", ""]  # fmt: skip
        lines += _markdown_table(outcome) if outcome.family.table else _markdown_rows(outcome)
    return "\n".join(lines) + "\n"


def _backend_verdict(outcome, name):
    if outcome.missing:
        return "not run"
    count = sum(r.results[name].verdict == DEPARTS for r in outcome.rows)
    return f"{count} depart" if count else "as documented"


def _anchor(title):
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def _escape(text):
    return text.replace("|", "\\|")


def _markdown_rows(outcome):
    if outcome.family.measured:
        return [f"{len(outcome.rows)} cases: " + ", ".join(sorted({f"`{row.title}`" for row in outcome.rows})) + "."]
    lines = ["| case | dtype | arguments | NumPy | onax |", "| --- | --- | --- | --- | --- |"]
    for row in examples(outcome, 2 * EXAMPLES):
        cells = (row.title, row.dtype, row.example, row.numpy, row.documented)
        lines.append("| " + " | ".join(f"`{_escape(c)}`" if c else "" for c in cells) + " |")
    return lines


def _table(outcome):
    """(names of rows, names of columns, {(row, column): Row}) of a family whose cases fill a table."""
    cells = {row.cell[:2]: row for row in outcome.rows}
    return list(dict.fromkeys(r for r, _ in cells)), list(dict.fromkeys(c for _, c in cells)), cells


def _markdown_table(outcome):
    rows, columns, cells = _table(outcome)
    lines = [f"Rows: {outcome.family.table[0]}; columns: {outcome.family.table[1]}. {_TABLES[outcome.family.name]}", "",
             "| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]  # fmt: skip
    for r in rows:
        texts = [cells[r, c].cell[2] if (r, c) in cells else "" for c in columns]
        lines.append(f"| **{r}** | " + " | ".join(texts) + " |")
    return lines


_TABLES = {
    "casts": "A number counts the boundary values at which NumPy's result differed when this file was written.",
    "promotion": "A cell is empty where NumPy's result is the same.",
    "weak-types": "The dtype of the sum.",
}


# --- JSON ---------------------------------------------------------------------------------------------------------


def to_data(report):
    """The report as plain dictionaries and lists."""
    return {
        "format": 1,
        "onax": report.onax_version,
        "backends": report.backends,
        "missing": report.missing,
        "departures": [f"{name}: {row.key}" for _, row, name in report.departures()],
        "families": [_family_data(outcome) for outcome in report.families],
    }


def _family_data(outcome):
    family = outcome.family
    return {
        "name": family.name,
        "title": family.title,
        "rule": family.rule,
        "safe": family.safe,
        "table": list(family.table) if family.table else None,
        "missing": outcome.missing,
        "cases": [_row_data(row) for row in outcome.rows],
    }


def _row_data(row):
    return {
        "key": row.key,
        "title": row.title,
        "dtype": row.dtype,
        "shape": row.shape,
        "arguments": row.example,
        "numpy": row.numpy,
        "documented": row.documented,
        "diverges": row.diverges,
        "cell": list(row.cell) if row.cell else None,
        "results": {name: {"text": r.text, "verdict": r.verdict} for name, r in row.results.items()},
    }


def to_json(report):
    """The report as JSON, which `--fail-on-new` reads and the page contains."""
    return json.dumps(to_data(report), indent=1) + "\n"


# --- HTML ---------------------------------------------------------------------------------------------------------


def to_html(report):
    """The report as one page with filters and heat maps; it contains data, style and script."""
    return render_page("divergence_report.html", report=to_data(report))
