"""A CUDA device that is not there: ONNX Runtime's own CUDA provider runs on libraries that only move memory.

    fake_cuda.install()     before anything loads CUDA; the process then has two devices of platform "gpu"
    fake_cuda.counts()      copies to the device, to the host and on it, kernels launched, allocations, ...

Everything between a program and the device is the real thing: the provider as it was released, which nodes it takes,
its allocators, its copies, its I/O binding and its graphs.  The host cannot touch device memory (`fake_cudart.c` says
how).  Kernels do nothing: this tells where values are and what moves them, never what arithmetic gives.

It needs Linux, a C compiler, `nm`, and onnxruntime-gpu; `missing()` says which of them there is not.
"""

import ctypes
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from onax._ground.onnx_runtime import find_runtime

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[1] / "build" / "fake_cuda"
COUNTS = (
    "to_device", "to_host", "on_device", "launches", "graph_launches", "allocated", "freed", "bytes_to_device",
    "bytes_to_host", "synchronized",
)  # fmt: skip

# Libraries that the provider loads by name once it needs them, with the beginning of their functions' names.
_LOADED_LATE = {"libcudnn.so.9": "cudnn", "libcufft.so.12": "cufft"}
_ORDER = ("libcudart", "libcublasLt", "libcublas.", "libcurand", "libcuda.", "libcudnn", "libcufft")


def provider_path():
    """The path of the CUDA provider's library."""
    return Path(find_runtime().library).with_name("libonnxruntime_providers_cuda.so")


def missing():
    """Why there can be no such device here; None if there can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "it needs Linux on x86-64"
    if not provider_path().exists():
        return "onnxruntime-gpu is not installed"
    tools = [tool for tool in ("cc", "nm") if shutil.which(tool) is None]
    return f"there is no {tools[0]}" if tools else None


def _functions_by_library(provider):
    """{library: functions that the provider takes from it}."""
    command = ["nm", "-D", "--undefined-only", str(provider)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for name, library in re.findall(r" U (\w+)@(libcu\w+\.so\.\d+)", text):
        found.setdefault(library, []).append(name)
    found["libcuda.so.1"] = re.findall(r" U (cu[A-Z]\w+)\n", text)
    found["libcurand.so.10"] = []
    data = provider.read_bytes()
    for library, prefix in _LOADED_LATE.items():
        names = re.findall(rb"(?<=\0)" + prefix.encode() + rb"[A-Z][A-Za-z_0-9]+(?=\0)", data)
        found[library] = sorted({name.decode() for name in names})
    return found


def _stub(name):
    """The definition of a function of which nothing is known but its name: it succeeds."""
    if "Create" in name:
        return f"int {name}(void **p) {{ if ((size_t)p > 65536) *p = calloc(1, 4096); return 0; }}"
    if re.search(r"(ErrorString|StatusName|StatusString)$", name):
        return f'const char *{name}(int error) {{ return "a library that is not there"; }}'
    if name == "cudnnGetVersion":
        return f"size_t {name}(void) {{ return 91200; }}"
    return f"int {name}(void) {{ return 0; }}"


def build(folder=BUILT):
    """Builds the libraries into a folder, unless they are there for this provider; returns their paths."""
    provider = provider_path()
    state = f"{find_runtime().version} {provider.stat().st_size} {(HERE / 'fake_cudart.c').read_text()}"
    marker = folder / "built"
    if not marker.exists() or marker.read_text() != state:
        folder.mkdir(parents=True, exist_ok=True)
        for library, names in _functions_by_library(provider).items():
            _compile(folder, library, names)
        marker.write_text(state)
    found = [path for path in folder.iterdir() if re.search(r"\.so\.\d+$", path.name)]
    return sorted(found, key=lambda path: next(i for i, name in enumerate(_ORDER) if path.name.startswith(name)))


def _compile(folder, library, names):
    source = (HERE / "fake_cudart.c").read_text() if "cudart" in library else "#include <stdlib.h>\n"
    defined = set(re.findall(r"^[a-z].*?(\w+)\(", source, re.MULTILINE))
    text = source + "\n".join(_stub(name) for name in names if name not in defined) + "\n"
    path, versions = folder / f"{library}.c", folder / f"{library}.map"
    path.write_text(text)
    versions.write_text(f"{library} {{ global: *; }};\n")  # the provider asks for functions by version
    options = [f"-Wl,-soname,{library}"] + ([f"-Wl,--version-script={versions}"] if names else [])
    partial = folder / f"{library}.partial"
    command = ["cc", "-w", "-O1", "-shared", "-fPIC", *options, "-o", str(partial), str(path)]
    subprocess.run(command, check=True)
    partial.rename(folder / library)


_runtime = None


def load():
    """Loads the libraries into this process, once.  RuntimeError if there can be none here."""
    global _runtime
    if _runtime is None:
        reason = missing()
        if reason:
            raise RuntimeError(f"There is no CUDA device to pretend: {reason}")
        loaded = [ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL) for path in build()]
        _runtime = loaded[0]


def install():
    """Loads the libraries and has onax find two devices of platform "gpu"."""
    from onax._ground import devices

    load()
    devices.cuda_models = lambda root="/": ["a device that is not there"] * 2


def counts():
    """What happened on the device so far: {name: number}."""
    numbers = (ctypes.c_long * len(COUNTS)).in_dll(_runtime, "fake_counts")
    return dict(zip(COUNTS, numbers))
