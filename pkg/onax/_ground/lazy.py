"""Packages imported on first use: slow ones, optional ones, and `onax.export` for the compiler.

This is the only place where an import is deferred.  `import onax` loads none of them.
"""

import os
import re
import sys
from importlib import import_module

from onax._ground.errors import BackendError


def _import(name):
    """A module, and the packages around it whole: another thread may still be importing these, and may by then have
    finished this module alone (the driver of lowerings comes before the lowerings)."""
    for i, letter in enumerate(name):
        if letter == ".":
            import_module(name[:i])
    return import_module(name)


class LazyModule:
    """Stands for a module; the first attribute read imports it.

    If it is not installed, that raises ImportError naming the package to install.
    """

    def __init__(self, name, package=None):
        self.__dict__["_name"] = name
        self.__dict__["_package"] = package

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute != "__version__":
            raise AttributeError(attribute)
        try:
            module = _import(self._name)
        except ModuleNotFoundError as error:
            if self._package is None or error.name is None or not self._name.startswith(error.name):
                raise
            raise ImportError(f"this needs the package {self._package}: pip install {self._package}") from error
        value = getattr(module, attribute)
        self.__dict__[attribute] = value
        return value

    def __repr__(self):
        state = "loaded" if self._name in sys.modules else "not loaded yet"
        return f"<module {self._name!r}, {state}>"


onnx = LazyModule("onnx", "onnx")
onnx_checker = LazyModule("onnx.checker", "onnx")
onnx_shape_inference = LazyModule("onnx.shape_inference", "onnx")
onnx_helper = LazyModule("onnx.helper", "onnx")
onnx_numpy_helper = LazyModule("onnx.numpy_helper", "onnx")
protobuf_message = LazyModule("google.protobuf.message", "protobuf")
importlib_util = LazyModule("importlib.util")
argparse = LazyModule("argparse")
difflib = LazyModule("difflib")
absl_app = LazyModule("absl.app", "absl-py")
absl_flags = LazyModule("absl.flags", "absl-py")
scipy_special = LazyModule("scipy.special", "scipy")
scipy_linalg = LazyModule("scipy.linalg", "scipy")
scipy_linalg_lapack = LazyModule("scipy.linalg.lapack", "scipy")
scipy_linalg_blas = LazyModule("scipy.linalg.blas", "scipy")
scipy_fft = LazyModule("scipy.fft", "scipy")
scipy_signal_windows = LazyModule("scipy.signal.windows", "scipy")
opt_einsum = LazyModule("opt_einsum", "opt_einsum")
mpmath = LazyModule("mpmath", "mpmath")
jinja2 = LazyModule("jinja2", "jinja2")
pygraphviz = LazyModule("pygraphviz", "pygraphviz")
safetensors = LazyModule("safetensors", "safetensors")
safetensors_numpy = LazyModule("safetensors.numpy", "safetensors")
onnx_reference = LazyModule("onnx.reference", "onnx")
zipfile = LazyModule("zipfile")
io = LazyModule("io")
metadata = LazyModule("importlib.metadata")
inspect = LazyModule("inspect")
dataclasses = LazyModule("dataclasses")
traceback = LazyModule("traceback")
linecache = LazyModule("linecache")
export_api = LazyModule("onax.export.api")
export_driver = LazyModule("onax.export.lower.driver")
export_proto = LazyModule("onax.export.graph.proto")
export_graph = LazyModule("onax.export.graph.value")
ort = LazyModule("onax._native.ort")
regions = LazyModule("onax._compile.regions")

# --- ONNX Runtime: which one is installed ---------------------------------------------------------------------------

_LIBRARY = {"win32": "onnxruntime.dll", "darwin": "libonnxruntime.{version}.dylib"}
_INSTALLED = re.compile(r"(onnxruntime(?:_\w+)?)-([^-]+)\.dist-info")
_found = None


class RuntimeInstallation:
    """The installed ONNX Runtime: `distribution` name, `version`, `library` path, `providers` by the files there."""

    __slots__ = ("distribution", "library", "providers", "version")

    def __init__(self, distribution, version, library, providers):
        self.distribution = distribution
        self.version = version
        self.library = library
        self.providers = providers


def find_runtime():
    """The one installed ONNX Runtime, found without importing it; remembered.

    Raises ImportError when there is none, or when several were installed over each other (they share one folder, and
    which library a process gets is then chance).
    """
    global _found
    if _found is None:
        spec = importlib_util.find_spec("onnxruntime")
        if spec is None or not spec.submodule_search_locations:
            raise ImportError("onax needs ONNX Runtime: pip install onnxruntime")
        _found = _describe(spec.submodule_search_locations[0])
    return _found


def _describe(folder):
    """The installation whose package stands in a folder.  Reads names of files only: metadata would take 30 ms."""
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


def attach_runtime():
    """Loads ONNX Runtime's library into this process once; `ONAX_NUM_THREADS` sets the size of its thread pool.

    Raises ImportError if it is not installed, BackendError in the runtime's words if it cannot be loaded.
    """
    if ort.attached() is None:
        found = find_runtime()
        try:
            ort.attach(found.library, int(os.environ.get("ONAX_NUM_THREADS", "0")))
        except RuntimeError as error:
            raise BackendError(f"ONNX Runtime could not be attached. {error}") from error
