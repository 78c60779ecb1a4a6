"""Modules of scripts/, which import one another by their names."""

import contextlib
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
NAMES = {
    "": (
        "benchmark",
        "benchmarks",
        "measure_kernels",
        "profile_eager",
        "record_oracle",
        "typecheck",
        "wheel",
        "python_versions",
    ),
    "gpu": ("recording", "report", "environment", "workloads", "timing", "correctness", "stand_in", "run"),
    "demo": ("data", "model", "trained", "train", "replay", "draw", "pretrain", "finetune", "run_finetuned"),
}


@contextlib.contextmanager
def imported(folder, *names):
    """Yields the modules with these names, imported anew; afterwards no module of the folder is imported."""
    path = list(sys.path)
    sys.path.insert(0, str(SCRIPTS / folder))
    forget(folder)
    try:
        yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path[:] = path
        forget(folder)


def forget(folder):
    """Takes the modules of a folder out of those that are imported."""
    for name in list(sys.modules):
        if name.partition(".")[0] in NAMES[folder]:
            del sys.modules[name]


def benchmark_cases(module, function, package):
    """The cases of a module of scripts/benchmarks for a package; their names differ."""
    with imported("", f"benchmarks.{module}") as modules:
        cases = list(getattr(getattr(modules, f"benchmarks.{module}"), function)(package))
    assert len({case.name for case in cases}) == len(cases)
    return cases
