"""Packages imported on first use: slow ones, optional ones, and `onax.export` for the compiler.

This is the only place where an import is deferred.  `import onax` loads none of them.
"""

import os
import sys
from importlib import import_module

from onax._ground.errors import BackendError


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
            module = import_module(self._name)
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
scipy_fft = LazyModule("scipy.fft", "scipy")
opt_einsum = LazyModule("opt_einsum", "opt_einsum")
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

# --- ONNX Runtime: which one is installed -------------------------------------------------------------------

ORT_DISTRIBUTIONS = (
    "onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino", "onnxruntime-rocm",
    "onnxruntime-migraphx", "onnxruntime-qnn", "onnxruntime-training", "onnxruntime-silicon",
)  # fmt: skip
_LIBRARY = {"win32": "onnxruntime.dll", "darwin": "libonnxruntime.{version}.dylib"}
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

    Raises ImportError when there is none, or when several were installed over each other (they share one
    folder, and which library a process gets is then chance).
    """
    global _found
    if _found is not None:
        return _found
    installed = []
    for name in ORT_DISTRIBUTIONS:
        try:
            installed.append(metadata.distribution(name))
        except metadata.PackageNotFoundError:
            continue
    if not installed:
        raise ImportError("onax needs ONNX Runtime: pip install onnxruntime")
    if len(installed) > 1:
        names = [d.metadata["Name"] for d in installed]
        raise ImportError(
            f"Several distributions of ONNX Runtime are installed over each other ({', '.join(names)}): "
            f"run `pip uninstall -y {' '.join(names)}`, then `pip install {names[-1]}`."
        )
    _found = _describe(installed[0])
    return _found


def _describe(distribution):
    """Version, library and providers of an installed distribution."""
    version = distribution.version
    template = _LIBRARY.get(sys.platform, "libonnxruntime.so.{version}")
    wanted = template.format(version=version)
    library, names = None, set()
    for path in distribution.files or ():
        names.add(path.name)
        if path.name == wanted:
            library = str(distribution.locate_file(path))
    if library is None:
        raise ImportError(
            f"{distribution.metadata['Name']} {version} is installed, but its library {wanted} is not: "
            f"reinstall it (pip install --force-reinstall {distribution.metadata['Name']})."
        )
    providers = ["CPUExecutionProvider"]
    if any("onnxruntime_providers_cuda" in name for name in names):
        providers.insert(0, "CUDAExecutionProvider")
    return RuntimeInstallation(distribution.metadata["Name"], version, library, tuple(providers))


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
