"""jax.ffi's names: capsules, the folder of the header, what lowers to MLIR."""

import ctypes
import os

import pytest

from onax import ffi


def test_capsules_hold_the_address():
    function = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 3)
    capsule = ffi.pycapsule(function)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    assert get(capsule, None) == ctypes.cast(function, ctypes.c_void_p).value


def test_the_header_is_there():
    assert os.path.exists(os.path.join(ffi.include_dir(), "onax", "ffi.h"))


@pytest.mark.parametrize("make", [ffi.ffi_lowering, ffi.build_ffi_lowering_function])
def test_rules_for_mlir_are_refused(make):
    with pytest.raises(NotImplementedError, match="has no MLIR; call the target with ffi_call"):
        make("f")
