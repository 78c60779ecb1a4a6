"""The libraries of CUDA that pip installs, which the system's loader does not find by itself.

ONNX Runtime's CUDA provider names its libraries without a folder (libcublas.so.13, libcudnn.so.9, ...).  Packages such
as nvidia-cublas keep them in `nvidia/*/lib` below site-packages, where the loader does not look; a library that is
loaded already is found by its name.
"""

import functools
import os
import re

from onax._ground import lazy

# In this order: a library comes after those that it needs.
NAMES = ("cudart", "nvJitLink", "nvrtc", "cublasLt", "cublas", "curand", "cufft", "cudnn")


def find_cuda_libraries(folders):
    """Paths of CUDA's libraries in `*/lib` below these folders, in the order of loading."""
    paths_of = {name: [] for name in NAMES}
    for folder in folders:
        for package in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            libraries = os.path.join(folder, package, "lib")
            for file in sorted(os.listdir(libraries)) if os.path.isdir(libraries) else ():
                match = re.fullmatch(r"lib(\w+)\.so\.\d+", file)
                if match and match.group(1) in paths_of:
                    paths_of[match.group(1)].append(os.path.join(libraries, file))
    return [path for name in NAMES for path in paths_of[name]]


@functools.cache
def load_cuda_libraries():
    """Loads the libraries that pip installed into this process, once.

    Returns a list with one text per library that could not be loaded; empty where there are no such packages.
    """
    spec = lazy.importlib_util.find_spec("nvidia")
    refused = []
    for path in find_cuda_libraries(spec.submodule_search_locations or ()) if spec is not None else ():
        try:
            lazy.ctypes.CDLL(path, mode=lazy.ctypes.RTLD_GLOBAL)
        except OSError as error:
            refused.append(str(error))
    return refused
