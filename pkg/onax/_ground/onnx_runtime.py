"""ONNX Runtime: which distribution is installed, and loading its library into the process."""

import os
import re
import sys
from dataclasses import dataclass

from onax._ground import lazy
from onax._ground.errors import BackendError
from onax._native import ort

_LIBRARY = {"win32": "onnxruntime.dll", "darwin": "libonnxruntime.{version}.dylib"}
_INSTALLED = re.compile(r"(onnxruntime(?:_\w+)?)-([^-]+)\.dist-info")
_found = None


@dataclass(slots=True, frozen=True)
class RuntimeInstallation:
    """The installed ONNX Runtime: the name of its distribution, its version, the path of its library, its providers."""

    distribution: str
    version: str
    library: str
    providers: tuple


def find_runtime():
    """The one installed ONNX Runtime, located without importing it; cached.

    Raises ImportError when there is none, or when several were installed over each other (they share one folder, and
    which library a process gets is then chance).
    """
    global _found
    if _found is None:
        spec = lazy.importlib_util.find_spec("onnxruntime")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("onax needs ONNX Runtime: pip install onnxruntime")
        _found = _describe(spec.submodule_search_locations[0])
    return _found


def _describe(folder):
    """The installation whose package is in a folder.  Reads names of files only: metadata would take 30 ms."""
    matches = [_INSTALLED.fullmatch(name) for name in sorted(os.listdir(os.path.dirname(folder)))]
    installed = [(m.group(1).replace("_", "-"), m.group(2)) for m in matches if m]
    if not installed:
        raise ImportError(f"ONNX Runtime in {folder} was not installed by pip, so that its version is not known")
    if len(installed) > 1:
        names = " ".join(name for name, _ in installed)
        raise ImportError(
            f"Several distributions of ONNX Runtime are installed over each other: run `pip uninstall -y {names}`, "
            f"then `pip install {installed[-1][0]}`."
        )
    ((name, version),) = installed
    files = os.listdir(os.path.join(folder, "capi"))
    library = _LIBRARY.get(sys.platform, "libonnxruntime.so.{version}").format(version=version)
    if library not in files:
        raise ImportError(
            f"{name} {version} is installed, but its library {library} is not: pip install --force-reinstall {name}"
        )
    cuda = any("onnxruntime_providers_cuda" in file for file in files)
    providers = (("CUDAExecutionProvider",) if cuda else ()) + ("CPUExecutionProvider",)
    return RuntimeInstallation(name, version, os.path.join(folder, "capi", library), providers)


def _thread_count():
    """How many threads the runtime's pool has; 0: one for each core, each bound to its own.

    A process that is confined to some cores gets no more threads than these: one that waits for another would keep it
    from running.
    """
    wanted = os.environ.get("ONAX_NUM_THREADS")
    if wanted is not None:
        return int(wanted)
    if sys.platform != "linux":
        return 0
    allowed = len(os.sched_getaffinity(0))
    return allowed if allowed < (os.cpu_count() or 1) else 0


def attach_runtime():
    """Loads ONNX Runtime's library into this process once; `ONAX_NUM_THREADS` sets the size of its thread pool.

    Raises ImportError if it is not installed, BackendError with the loader's message if it cannot be loaded.
    """
    if ort.attached() is None:
        runtime = find_runtime()
        try:
            ort.attach(runtime.library, _thread_count())
        except RuntimeError as error:
            raise BackendError(f"ONNX Runtime could not be attached. {error}") from error
