"""What `onax.explain` returns: the steps of a compiled program, where and how long each runs; as text, HTML, JSON."""

from dataclasses import asdict, dataclass, field

from onax._pages import render_page

MOST_ROWS = 40  # of the table as text: the longest steps


@dataclass(slots=True)
class Step:
    """One instruction, node or call of a compiled program.

    Attributes:
      where: "tape" (an instruction of onax's), "runtime" (a node of ONNX Runtime), "native" (a node whose kernel is
        compiled code of onax), "Python" (a call of Python code) or "devices" (a collective: its bytes are those that
        one device receives).
      operation: the name of the instruction or operator.
      equations: (primitive, source location) of each equation that the step computes.
      location: the source location as text, `file:line:column (function)`; empty if unknown.
      depth: 0, and 1 more for each loop or branch around the step.
      runs: how often the step runs in one call, on average; None if it was not measured.
      seconds: its time in one call (the least of those measured) without the steps inside it; None if not measured.
      bytes: read and written in one run of the step.
      reason: why it does not run where it would be quicker; empty if it does.
      remedy: what the user can do about that.
    """

    where: str
    operation: str
    equations: list
    location: str
    depth: int = 0
    runs: float | None = None
    seconds: float | None = None
    bytes: int = 0
    reason: str = ""
    remedy: str = ""


@dataclass(slots=True)
class Explanation:
    """Where a compiled function spends its time.  Printing it gives a table, `to_json()` a dictionary for tools.

    Attributes:
      name: of the function.
      runner: "tape" (the whole program is one tape), "session" (ONNX Runtime runs a graph),
        "devices" (several devices run a program each; the steps are what they exchange), or "nothing" (no result
        needs computing).
      calls: how many calls were measured; 0 if none.
      seconds: the time of one call, the least of those; None if none was measured.
      steps: the Steps in the order of the program; those inside a loop or branch follow it.
    """

    name: str
    runner: str
    calls: int = 0
    seconds: float | None = None
    steps: list = field(default_factory=list)

    def share(self, step):
        """The step's share of the time of all steps, between 0 and 1; None if it was not measured."""
        total = sum([s.seconds or 0.0 for s in self.steps])
        return None if step.seconds is None or not total else step.seconds / total

    def to_json(self):
        """A dictionary of plain values, which `json.dumps` takes."""
        steps = [{**asdict(s), "share": self.share(s)} for s in self.steps]
        return {
            "name": self.name,
            "runner": self.runner,
            "calls": self.calls,
            "seconds": self.seconds,
            "steps": steps,
        }

    def __str__(self):
        rows = [_HEADER, *[self._row(s) for s in self._shown()]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER) - 1)]
        lines = [self._title(), ""]
        for row in rows:
            cells = [cell.rjust(w) if i < _RIGHT else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))]
            lines.append("  ".join([*cells, row[-1]]).rstrip())
        hidden = len(self.steps) - len(rows) + 1
        if hidden:
            lines.append(f"({hidden} shorter steps are not shown; to_json() has all)")
        return "\n".join([*lines, *self._advice()])

    __repr__ = __str__

    def summary(self, rows=3):
        """Text in a few lines: the time of a call, the longest steps, and at most as many reasons with the ways out."""
        longest = sorted(self.steps, key=lambda s: -(s.seconds or 0))[:rows]
        lines = [f"{self._row(s)[0]:>7}  {s.where}: {_computes(s)}  {s.location}".rstrip() for s in longest]
        return "\n".join([self._title(), *lines, *self._advice()[1 : rows + 1]])

    def _repr_html_(self):
        rows = [(self._row(s), f"{100 * (self.share(s) or 0):.1f}") for s in self._shown()]
        return render_page(
            "explanation.html", title=self._title(), header=_HEADER, rows=rows, advice=self._advice()[1:], right=_RIGHT
        )

    def _title(self):
        how = {
            "tape": "one tape, without a session of ONNX Runtime",
            "session": "a session of ONNX Runtime",
            "devices": "a program on each device, of which the table shows what they exchange",
        }
        way = how.get(self.runner, "nothing is computed")
        if self.seconds is None:
            return f"{self.name}: {way}; not measured"
        return f"{self.name}: {way}; {format_seconds(self.seconds)} a call (least of {self.calls})"

    def _shown(self):
        if len(self.steps) <= MOST_ROWS:
            return self.steps
        longest = sorted(self.steps, key=lambda s: -(s.seconds or 0))[:MOST_ROWS]
        chosen = set(map(id, longest))
        return [s for s in self.steps if id(s) in chosen]

    def _row(self, step):
        share = self.share(step)
        return (
            "" if share is None else f"{100 * share:.1f} %",
            "" if step.seconds is None else format_seconds(step.seconds),
            "" if step.runs is None else f"{step.runs:.6g}",
            format_bytes(step.bytes),
            step.where,
            "  " * step.depth + _computes(step),
            step.location,
        )

    def _advice(self):
        found = {(s.reason, s.remedy, s.location) for s in self.steps if s.reason}
        lines = []
        for s in sorted((s for s in self.steps if s.reason), key=lambda s: -(s.seconds or 0)):
            key = s.reason, s.remedy, s.location
            if key in found:
                found.remove(key)
                where = f" ({s.location})" if s.location else ""
                lines.append(f"{_computes(s)}{where}: {s.reason}. {s.remedy}".rstrip())
        return ["", *lines] if lines else []


_HEADER = ("share", "time", "runs", "bytes", "where", "computes", "line")
_RIGHT = 4  # columns that are numbers
_MOST_NAMES = 6


def _computes(step):
    names = [name for name, _ in step.equations]
    if not names or names == [step.operation]:
        return step.operation
    more = [f"... ({len(names)} equations)"] if len(names) > _MOST_NAMES else []
    return f"{step.operation}: {' '.join(names[:_MOST_NAMES] + more)}"


def format_seconds(seconds):
    """A duration with three digits and a unit: `12.3 us`."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def format_bytes(size):
    """A number of bytes with three digits and a unit: `1.5 MB`."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"
