"""Calls of C functions as operations, under the names of jax.ffi.

A function is compiled with the header `onax/ffi.h` in `include_dir()`, or with XLA's headers for its typed foreign
function interface, registered by `register_ffi_target`, and called by `ffi_call`: eagerly, in compiled programs and
under `vmap`, with arrays in the memory of the CPU.
"""

import ctypes
import os
from typing import Any, NoReturn

from onax._control.ffi_call import (
    ffi_call,
    register_ffi_target,
    register_ffi_target_as_batch_partitionable,
    register_ffi_type,
    register_ffi_type_id,
)
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.unavailable import unavailable as _unavailable


def pycapsule(funcptr: Any) -> Any:
    """Returns a capsule around a C function, for `register_ffi_target`.

    Args:
      funcptr: a function that ctypes loaded.

    Returns:
      A PyCapsule.

    Examples:
      >>> import ctypes
      >>> type(onax.ffi.pycapsule(ctypes.pythonapi.Py_IsInitialized)).__name__
      'PyCapsule'
    """
    destructor = ctypes.CFUNCTYPE(None, ctypes.py_object)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, destructor)
    return make(funcptr, None, destructor(0))


def include_dir() -> str:
    """Returns the folder with the header `onax/ffi.h`, for the compiler's option -I.

    JAX's folder contains XLA's headers in C++; handlers compiled with those run here too.

    Returns:
      A str.

    Examples:
      >>> import os
      >>> os.path.exists(onax.ffi.include_dir() + "/onax/ffi.h")
      True
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


def ffi_lowering(
    call_target_name: str,
    *,
    operand_layouts: Any = None,
    result_layouts: Any = None,
    backend_config: Any = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> NoReturn:
    """Raises NotImplementedError: a rule that lowers to MLIR has no meaning here.

    Args:
      call_target_name: a str.
      operand_layouts: layouts of the operands.
      result_layouts: layouts of the results.
      backend_config: options of the target.
      skip_ffi_layout_processing: a bool.
      lowering_args: further options.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.ffi.ffi_lowering("target")
      Traceback (most recent call last):
          ...
      NotImplementedError: ffi_lowering('target'): onax lowers to ONNX and has no ...
    """
    raise NotImplementedError(
        f"ffi_lowering({call_target_name!r}): onax lowers to ONNX and has no MLIR; call the target with "
        "ffi_call(name, result_types), which works in every function"
    )


def build_ffi_lowering_function(
    call_target_name: str,
    *,
    operand_layouts: Any = None,
    result_layouts: Any = None,
    backend_config: Any = None,
    skip_ffi_layout_processing: bool = False,
    **lowering_args: Any,
) -> NoReturn:
    """Raises NotImplementedError, as `ffi_lowering` does.

    Args:
      call_target_name: a str.
      operand_layouts: layouts of the operands.
      result_layouts: layouts of the results.
      backend_config: options of the target.
      skip_ffi_layout_processing: a bool.
      lowering_args: further options.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.ffi.build_ffi_lowering_function("target")
      Traceback (most recent call last):
          ...
      NotImplementedError: ffi_lowering('target'): onax lowers to ONNX and has no ...
    """
    ffi_lowering(call_target_name)


__getattr__ = _unavailable(__name__, {"abstract_token": "a target takes and returns arrays alone; none takes a token"})

__all__ = [
    "build_ffi_lowering_function",
    "ffi_call",
    "ffi_lowering",
    "include_dir",
    "pycapsule",
    "register_ffi_target",
    "register_ffi_target_as_batch_partitionable",
    "register_ffi_type",
    "register_ffi_type_id",
]

_wrap_api_functions(globals(), __name__)
