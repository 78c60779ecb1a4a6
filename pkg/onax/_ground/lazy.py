"""Packages of others that are imported on first use, because they are slow or optional.

`import onax` loads none of them.  It never holds modules of onax: the compiler is reached through
`onax._compile.lazy_import`.
"""

import sys
from importlib import import_module


class LazyModule:
    """Stands for a module; the first attribute read imports it.

    If it is not installed, that raises ImportError naming the package to install.
    """

    def __init__(self, name, package=None):
        self.__dict__["_name"] = name
        self.__dict__["_package"] = package

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute not in ("__version__", "__file__", "__pyx_capi__"):
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
onnx_defs = LazyModule("onnx.defs", "onnx")
onnx_helper = LazyModule("onnx.helper", "onnx")
onnx_numpy_helper = LazyModule("onnx.numpy_helper", "onnx")
protobuf_message = LazyModule("google.protobuf.message", "protobuf")
importlib_util = LazyModule("importlib.util")
argparse = LazyModule("argparse")
difflib = LazyModule("difflib")
absl_app = LazyModule("absl.app", "absl-py")
absl_flags = LazyModule("absl.flags", "absl-py")
scipy_special = LazyModule("scipy.special", "scipy")
scipy_cython_special = LazyModule("scipy.special.cython_special", "scipy")
scipy_linalg_cython_lapack = LazyModule("scipy.linalg.cython_lapack", "scipy")
scipy_signal_windows = LazyModule("scipy.signal.windows", "scipy")
scipy_sparse = LazyModule("scipy.sparse", "scipy")
scipy_sparse_linalg = LazyModule("scipy.sparse.linalg", "scipy")
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
ctypes = LazyModule("ctypes")
inspect = LazyModule("inspect")
dataclasses = LazyModule("dataclasses")
traceback = LazyModule("traceback")
linecache = LazyModule("linecache")
logging = LazyModule("logging")
mpi = LazyModule("mpi4py.MPI", "mpi4py")
