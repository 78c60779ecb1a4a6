"""Examines the installation: `python -m onax.doctor` says what is there, what is in the way, and the way out.

    python -m onax.doctor          one line a finding; status 1 if something keeps onax from working
    python -m onax.doctor --json   the same as JSON

A bug report should contain what it prints.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import sys
import sysconfig
from dataclasses import asdict, dataclass

import numpy as np

import onax
from onax._ground import config, cuda_libraries, devices, onnx_runtime

MARKS = {"ok": "  ", "note": "- ", "problem": "! "}
THREADS = ("ONAX_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
OWN_VARIABLES = frozenset(
    "ONAX_NUM_THREADS ONAX_DUMP_PASSES ONAX_FULL_TRACEBACK ONAX_TRACEBACK_FILTERING ONAX_MACHINE_CODE "
    "ONAX_ORACLE_PYTHON".split()
)


@dataclass(slots=True, frozen=True)
class Finding:
    """What was examined, a verdict ("ok", "note" or "problem"), what was found, and the way out if there is one."""

    subject: str
    verdict: str
    text: str
    remedy: str = ""


def _numbers(version):
    """The leading numbers of a version, to compare."""
    return tuple(int(part) for part in re.match(r"\d+(?:\.\d+)*", version)[0].split("."))


def _requirements():
    """Names and least versions of the packages that onax needs on this machine, from its metadata."""
    needed = []
    for line in importlib.metadata.requires("onax") or ():
        match = re.match(r"([A-Za-z0-9_.-]+)\s*>=\s*([\d.]+)\s*(?:;(.*))?$", line)
        if match and "extra" not in (match[3] or "") and "onnxruntime" not in match[1]:
            needed.append((match[1], match[2]))
    return needed


def packages():
    """Python and the packages that onax needs, with their versions."""
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        text = "free-threaded Python is not supported: importing onax turns the global lock on again"
        yield Finding("threading", "note", text, "use the ordinary build of Python")
    yield Finding("onax", "ok", f"{onax.__version__} ({os.path.dirname(onax.__file__)})")
    for name, least in _requirements():
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, "problem", "is not installed", f"pip install '{name}>={least}'")
            continue
        if _numbers(version) < _numbers(least):
            yield Finding(name, "problem", f"{version} is older than {least}", f"pip install -U '{name}>={least}'")
        else:
            yield Finding(name, "ok", version)


def runtime():
    """ONNX Runtime: the installed distribution, and whether its library can be loaded."""
    try:
        found = onnx_runtime.find_runtime()
        onnx_runtime.attach_runtime()
    except (ImportError, onax.errors.BackendError) as error:
        lines = str(error).splitlines()
        yield Finding("ONNX Runtime", "problem", lines[0], "pip install --force-reinstall onnxruntime")
        return
    yield Finding("ONNX Runtime", "ok", f"{found.distribution} {found.version}, {found.library}")


def trial():
    """Whether an operation, a compiled program that runs in a session, and a gradient give the right numbers."""
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    expected = np.tanh(x) @ np.tanh(x).T

    def product(x):
        return onax.numpy.tanh(x) @ onax.numpy.tanh(x).T

    try:
        results = product(onax.numpy.asarray(x)), onax.jit(product)(x)
        gradient = onax.jit(onax.grad(lambda x: onax.numpy.sum(x * x)))(x)
    except (onax.errors.OnaxError, ImportError, RuntimeError) as error:
        yield Finding("trial", "problem", f"{type(error).__name__}: {error}", "")
        return
    right = all(np.allclose(result, expected, atol=1e-5) for result in results) and np.allclose(gradient, 2 * x)
    if right:
        yield Finding("trial", "ok", "an operation, a compiled program and a gradient give the right numbers")
    else:
        yield Finding("trial", "problem", f"wrong numbers: {results}, {gradient}", "report it with this output")


def _blas_of(package):
    """The BLAS that a package was built with, from its configuration."""
    built = package.__config__.show(mode="dicts")["Build Dependencies"]["blas"]
    return f"{built.get('name')} {built.get('version')}"


def blas():
    """The BLAS libraries of NumPy and SciPy: products and factorizations run in them."""
    yield Finding("BLAS of numpy", "ok", _blas_of(np))
    if importlib.util.find_spec("scipy") is not None:
        yield Finding("BLAS of scipy", "ok", _blas_of(importlib.import_module("scipy")))


def _allowed_cores():
    """How many cores this process may use: its affinity, and the quota of a container (None if there is none)."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = None
    if os.path.exists("/sys/fs/cgroup/cpu.max"):
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            limit, period = file.read().split()
        quota = None if limit == "max" else int(limit) / int(period)
    return affinity, quota


def threads():
    """Cores and the sizes of the pools of threads."""
    affinity, quota = _allowed_cores()
    text = f"{os.cpu_count()} cores, {affinity} of them for this process"
    if quota is not None and quota < affinity and "ONAX_NUM_THREADS" not in os.environ:
        text += f", of which the container may use {quota:g}"
        remedy = f"set ONAX_NUM_THREADS={max(1, int(quota))} and OMP_NUM_THREADS to the same"
        yield Finding("threads", "note", text + "; threads that wait for each other lose their turns", remedy)
    else:
        yield Finding("threads", "ok", text)
    for name in THREADS:
        if name in os.environ:
            yield Finding(name, "note", os.environ[name], f"unset {name} to use every core")
    if sys.platform == "linux":
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            flags = set(re.findall(r"\w+", (re.search(r"^flags\s*:(.*)$", file.read(), re.M) or ["", ""])[1]))
        sets = [name for name in ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16") if name in flags]
        yield Finding("instructions", "ok", f"{platform.machine()}: {', '.join(sets) or 'the base set'}")


def cuda():
    """CUDA devices that the driver lists, and whether the runtime can use them."""
    models = devices.cuda_models() if sys.platform == "linux" else []
    if not models:
        yield Finding("CUDA", "ok", "no device")
        return
    usable = [str(device) for device in onax.devices("gpu")] if "gpu" in devices.backends() else []
    if not usable:
        remedy = "pip uninstall -y onnxruntime; pip install 'onnxruntime-gpu[cuda,cudnn]'; check CUDA_VISIBLE_DEVICES"
        yield Finding("CUDA", "problem", f"the driver lists {', '.join(models)}, but onax sees none", remedy)
        return
    yield Finding("CUDA", "ok", f"{', '.join(models)}: {', '.join(usable)}")
    for refused in cuda_libraries.load_cuda_libraries():
        yield Finding("CUDA libraries", "problem", refused, "pip install 'onnxruntime-gpu[cuda,cudnn]'")


def mpi():
    """What several processes need."""
    if importlib.util.find_spec("mpi4py") is None:
        yield Finding("MPI", "ok", "mpi4py is not installed: one process (pip install 'onax[mpi]' for several)")
    elif shutil.which("mpiexec") is None:
        yield Finding("MPI", "note", "mpi4py is installed, but mpiexec is not on PATH", "pip install mpich")
    else:
        yield Finding("MPI", "ok", f"mpi4py {importlib.metadata.version('mpi4py')}, {shutil.which('mpiexec')}")


def conflicts():
    """Packages and variables that change what a program gets."""
    real = importlib.util.find_spec("jaxlib")
    if real is not None and not (real.origin or "").startswith(os.path.dirname(onax.__file__)):
        text = f"real JAX is installed too ({os.path.dirname(real.origin)}): `import jax` gives it"
        yield Finding("jax", "note", text, "`python -m onax program.py` lets `import jax` give onax")
    known = config.environment_variables() | OWN_VARIABLES
    for name in sorted(os.environ):
        if name.startswith(("JAX_", "ONAX_")) and name not in THREADS:
            if name in known:
                yield Finding(name, "note", os.environ[name], f"unset {name} for the default")
            else:
                yield Finding(name, "note", f"{os.environ[name]}: onax reads no variable of this name", f"unset {name}")


EXAMINATIONS = (packages, runtime, trial, blas, threads, cuda, mpi, conflicts)


def examine():
    """All findings, in order; each examination goes on when an earlier one finds a problem."""
    return [finding for examination in EXAMINATIONS for finding in examination()]


def main(arguments):
    """Prints the findings; 1 if there is a problem, else 0."""
    parser = argparse.ArgumentParser(prog="python -m onax.doctor", description="Examines the installation of onax.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    as_json, findings = parser.parse_args(arguments).json, examine()
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    for finding in findings if not as_json else ():
        print(f"{MARKS[finding.verdict]}{finding.subject}: {finding.text}")
        if finding.remedy:
            print(f"    {finding.remedy}")
    return int(any(finding.verdict == "problem" for finding in findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
