"""The command line: `python scripts/divergence_report.py [--backends ...] [--format ...] [-o FILE] [--only ...]`.

Exit codes: 0 every backend is as documented (or departs only as in the baseline); 1 a backend departs, or the three
versions of a function given with --fn differ; 2 the command fails.
"""

import json
import sys

import numpy as np

import onax
from onax._divergence import report, runners, user_function, writers
from onax._divergence.families import FAMILIES, NAMES
from onax._ground import lazy
from onax._ground.errors import ExportError
from onax.export.artifact import write_atomically
from onax.export.report import random_array
from onax.export.specs import parse_spec
from onax.export.targets import check_fits, find_function

EXIT_DEPARTS, EXIT_FAILED = 1, 2
FORMATS = ("text", "markdown", "json", "html")
DEFAULT_BACKENDS = "eager,jit,onnx-cpu,onnx-cuda"


def _parser():
    parser = lazy.argparse.ArgumentParser(
        prog="divergence_report.py",
        description="Run each case live with NumPy and on each backend, and report where they differ.",
        epilog="Exit codes: 0 all as documented; 1 a backend departs; 2 the command fails.",
    )
    option = parser.add_argument
    option(
        "--backends",
        default=DEFAULT_BACKENDS,
        metavar="A,B",
        help=f"backends, of {DEFAULT_BACKENDS} (default: all available ones)",
    )
    option("--format", choices=FORMATS, default="text", help="format of the report (default: text)")
    option("-o", "--output", metavar="FILE", help="write to a file (default: standard output)")
    option("--only", metavar="FAMILIES", help=f"families, of {', '.join(NAMES)}")
    option("--fail-on-new", metavar="BASELINE", help="fail only on departures that this JSON report does not contain")
    option("--fn", metavar="TARGET", help="compare your own function: path/to/file.py:function or module:function")
    option("--numpy", metavar="TARGET", help="the NumPy version of --fn (default: itself, with numpy for onax.numpy)")
    option(
        "--arg", action="append", default=[], metavar="SPEC", help="type of the next argument of --fn, such as f32[3,4]"
    )
    option(
        "--example", metavar="FILE", help="take the arguments of --fn from an .npz file (arr_0, arr_1, ... or by name)"
    )
    option("--seed", type=int, default=0, help="seed of the random arguments (default 0)")
    return parser


class _Refused(Exception):
    """The command cannot be carried out; the text says why."""


def _choose_backends(text, default):
    """(backends that can run here, {name: why it cannot run}); raises _Refused for an unknown name."""
    names = [n.strip() for n in text.split(",") if n.strip()]
    unknown = [n for n in names if n not in runners.BACKENDS]
    if unknown or not names:
        known = ", ".join(runners.BACKENDS)
        raise _Refused(f"--backends: there is no backend {', '.join(unknown) or repr(text)}; there are {known}")
    result, missing = [], {}
    for name in names:
        backend = runners.BACKENDS[name]()
        reason = backend.missing()
        if reason is None:
            result.append(backend)
        elif default:
            missing[name] = reason
        else:
            raise _Refused(f"--backends: {name} cannot be used here. {reason}")
    return result, missing


def _choose_families(text):
    if text is None:
        return FAMILIES
    names = [n.strip() for n in text.split(",") if n.strip()]
    chosen = [f for f in FAMILIES if any(_is_meant(w, f) for w in names)]
    unknown = [w for w in names if not any(_is_meant(w, f) for f in FAMILIES)]
    if unknown or not chosen:
        raise _Refused(f"--only: there is no family {', '.join(unknown) or repr(text)}; there are {', '.join(NAMES)}")
    return chosen


def _is_meant(word, family):
    """Whether --only means a family by a word: its name, or the first part of it (oob: oob-reads and oob-writes)."""
    return family.name == word or family.name.startswith(word + "-")


def make_report(backends=DEFAULT_BACKENDS, only=None, progress=None):
    """Runs the chosen families on the chosen backends; see `--backends` and `--only`."""
    available, missing = _choose_backends(backends, backends == DEFAULT_BACKENDS)
    with np.errstate(all="ignore"):
        families = [report.run_family(f, available, progress) for f in _choose_families(only)]
    versions = {b.name: f"{b.title}: {b.version()}" for b in available}
    return report.Report(onax.__version__, versions, missing, families)


def _write(text, output):
    if output is None:
        sys.stdout.write(text)
        return
    try:
        write_atomically(output, text.encode())
    except ExportError as error:
        raise _Refused(str(error)) from None


def _baseline(path):
    """The departures of an earlier JSON report."""
    try:
        with open(path, encoding="utf-8") as file:
            return set(json.load(file)["departures"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _Refused(f"--fail-on-new: {path} is not a report in JSON ({error})") from None


def _report_command(options):
    known = _baseline(options.fail_on_new) if options.fail_on_new else set()
    shown = options.output is not None and sys.stderr.isatty()
    done = [0]

    def progress():
        done[0] += 1
        if shown and done[0] % 50 == 0:
            print(f"\r{done[0]} cases", end="", file=sys.stderr, flush=True)

    made = make_report(options.backends, options.only, progress)
    if shown:
        print("\r", end="", file=sys.stderr)
    if options.format == "text":
        text = writers.to_text(made, colour=options.output is None and sys.stdout.isatty())
    else:
        text = {"markdown": writers.to_markdown, "json": writers.to_json, "html": writers.to_html}[options.format](made)
    _write(text, options.output)
    departures = writers.to_data(made)["departures"]
    new = [d for d in departures if d not in known]
    if options.fail_on_new:
        for line in new:
            print(f"new: {line}", file=sys.stderr)
    return EXIT_DEPARTS if new else 0


# --- a function of the user's -------------------------------------------------------------------------------------


def _function_command(options):
    if options.format not in ("text", "json"):
        raise _Refused("--fn writes text or json")
    function = find_function(options.fn)
    numpy_function = find_function(options.numpy) if options.numpy else None
    arguments = _arguments(options)
    check_fits(function, arguments, {})
    comparison = user_function.compare_function(function, arguments, numpy_function)
    as_json = options.format == "json"
    _write(_comparison_json(comparison) if as_json else _comparison_text(comparison), options.output)
    return EXIT_DEPARTS if comparison.differs else 0


def _arguments(options):
    """NumPy arguments: from the example file, or random ones of the given types."""
    if options.example:
        try:
            with np.load(options.example, allow_pickle=False) as stored:
                return tuple(stored[name] for name in stored.files)
        except (OSError, ValueError) as error:
            raise _Refused(f"--example: {options.example} cannot be read ({error})") from None
    rng = np.random.default_rng(options.seed)
    specs = [parse_spec(text) for text in options.arg]
    return tuple(onax.tree.map(lambda s: np.asarray(random_array(rng, s.shape, s.dtype)), spec) for spec in specs)


def _comparison_text(comparison):
    lines = [f"{comparison.name}: NumPy, onax eager and the exported model side by side"]
    for name, error in comparison.errors.items():
        lines.append(f"  {name} raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    for leaf in comparison.leaves:
        kinds = ", ".join(f"{name} {x.dtype.name}{list(x.shape)}" for name, x in leaf.outcomes.items())
        lines.append(f"  {leaf.path}: {kinds}")
        lines += [f"    {remark}" for remark in leaf.remarks] or ["    agree"]
    if comparison.reasons:
        lines.append("why:")
        lines += [f"  {reason}" for reason in comparison.reasons]
    return "\n".join(lines) + "\n"


def _comparison_json(comparison):
    data = {
        "function": comparison.name,
        "parted": comparison.differs,
        "errors": {name: f"{type(error).__name__}: {error}" for name, error in comparison.errors.items()},
        "results": [
            {
                "path": leaf.path,
                "types": {name: [x.dtype.name, list(x.shape)] for name, x in leaf.outcomes.items()},
                "remarks": leaf.remarks,
            }
            for leaf in comparison.leaves
        ],
        "reasons": comparison.reasons,
    }
    return json.dumps(data, indent=1) + "\n"


def main(argv=None):
    """Runs the command line; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        return _function_command(options) if options.fn else _report_command(options)
    except (_Refused, ExportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_FAILED
