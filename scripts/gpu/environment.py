"""What the proof runs on: the device, the driver, versions; and why there is no device where there is none."""

import platform
import shutil
import subprocess
import sys
from importlib import metadata

PACKAGES = ("onax", "numpy", "onnx", "onnxruntime-gpu", "onnxruntime", "scipy", "ml_dtypes")
LIBRARIES = (
    "nvidia-cublas", "nvidia-cublas-cu12", "nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12", "nvidia-cudnn-cu12",
    "nvidia-cudnn-cu13", "nvidia-cufft", "nvidia-cufft-cu12", "nvidia-curand", "nvidia-curand-cu12",
)  # fmt: skip


def _versions(names):
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _nvidia_smi(query):
    """The first device's answers to a query of nvidia-smi, or None where there is no such program or driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    command = [program, f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    lines = done.stdout.strip().splitlines()
    return [cell.strip() for cell in lines[0].split(",")] if done.returncode == 0 and lines else None


def device_memory_used():
    """Bytes of the first device's memory in use, or None."""
    found = _nvidia_smi("memory.used")
    return int(float(found[0]) * 2**20) if found and found[0].replace(".", "").isdigit() else None


def describe():
    """Device, driver, versions as a dictionary; "missing" says why no program can run on a CUDA device, or is None."""
    device = _nvidia_smi("name,driver_version,memory.total,compute_cap")
    found = {
        "device": device[0] if device else None,
        "driver": device[1] if device else None,
        "memory": f"{device[2]} MiB" if device else None,
        "compute capability": device[3] if device else None,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": _versions(PACKAGES),
        "libraries": _versions(LIBRARIES),
    }
    return found | {"missing": _missing()}


_PROBE = """
import onax as jax
if not [d for d in jax.devices() + jax.local_devices() if d.platform == "gpu"]:
    try:
        jax.devices("gpu")
    except RuntimeError as error:
        raise SystemExit(str(error))
try:
    jax.jit(lambda x: x + 1, compiler_options={"provider": "cuda"})(1.0)
except jax.errors.BackendError as error:
    raise SystemExit(str(error).splitlines()[0])
"""


def _missing():
    """Why no program can run on a CUDA device, or None; asked in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, cwd="/", check=False)
    return None if done.returncode == 0 else (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
