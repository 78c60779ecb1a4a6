"""The structures of XLA's foreign function interface, and a library compiled with XLA's own headers."""

import ctypes
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import oracle
from onax._control import ffi_frame
from onax._ground.errors import JaxRuntimeError
from oracle import TESTS

# Runs under onax and under JAX: prints what calls of the targets in ffi_states.cc return.
PROGRAM = """
import ctypes, importlib, json, sys
import numpy as np
jax = importlib.import_module(sys.argv[1])
jax.devices()
lib = ctypes.CDLL(sys.argv[2])
lib.FactorsTypeId.restype = lib.FactorsTypeInfo.restype = ctypes.c_void_p
capsule = jax.ffi.pycapsule
jax.ffi.register_ffi_type(
    "factors", {"type_id": capsule(lib.FactorsTypeId()), "type_info": capsule(lib.FactorsTypeInfo())}
)
jax.ffi.register_ffi_target(
    "multiply", {"instantiate": capsule(lib.MakeFactors), "execute": capsule(lib.MultiplyByFactors)}
)
jax.ffi.register_ffi_target("later", capsule(lib.AnswerLater))
x, given = np.arange(3, dtype=np.float32), {"word": "abc", "more": np.arange(3, dtype=np.int32)}
multiply = jax.ffi.ffi_call("multiply", jax.ShapeDtypeStruct((3,), np.float32))
answers = [
    multiply(x, factor=2, **given).tolist(),
    jax.jit(lambda x: multiply(x, factor=np.int64(4), **given))(x).tolist(),
    jax.ffi.ffi_call("later", jax.ShapeDtypeStruct((1,), np.float32))(x).tolist(),
]
for attributes in ({"factor": -1, **given}, {"factor": 2}):
    try:
        multiply(x, **attributes)
    except jax.errors.JaxRuntimeError as error:
        answers.append(str(error).split("See onax.errors")[0].strip())
print(json.dumps(answers))
"""
COMPILER = shutil.which("c++")


@pytest.mark.skipif(oracle.python() is None or COMPILER is None, reason="needs real JAX and a C++ compiler")
def test_libraries_compiled_for_jax(tmp_path):
    find = "import jax; print(jax.ffi.include_dir())"
    headers = subprocess.run([oracle.python(), "-c", find], check=True, capture_output=True, text=True).stdout.strip()
    library, program = tmp_path / "states.so", tmp_path / "program.py"
    source = TESTS / "ffi_states.cc"
    subprocess.run([COMPILER, "-w", "-std=c++17", "-shared", "-fPIC", "-I", headers, source, "-o", library], check=True)
    program.write_text(PROGRAM)
    answers = [
        subprocess.run([python, program, name, library], check=True, capture_output=True, text=True).stdout
        for python, name in ((sys.executable, "onax"), (oracle.python(), "jax"))
    ]
    ours, theirs = map(json.loads, answers)
    assert ours[:3] == [[6, 8, 10], [6, 10, 14], [7]]
    assert ours[3] == "INVALID_ARGUMENT: the factor is negative"
    assert ours == theirs


def test_sizes_are_those_of_the_interface():
    sizes = [ctypes.sizeof(s) for s in (ffi_frame.Buffer, ffi_frame.Buffers, ffi_frame.Attributes, ffi_frame.Api)]
    assert sizes == [48, 40, 48, 192] and ffi_frame.FRAME_SIZE == 168  # as a handler under JAX 0.10.2 sees them


def handler(function):
    """(address, what keeps it alive) of a Python function as a handler."""
    made = ffi_frame.HANDLER(function)
    return ctypes.cast(made, ctypes.c_void_p).value, made


def function_of(frame, index, kind):
    """A function of the table that a handler gets."""
    api = ctypes.cast(frame.contents.api, ctypes.POINTER(ffi_frame.Api)).contents
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(kind))(api.functions[index])


def test_functions_that_a_handler_may_call():
    seen = {}

    def body(frame):
        context = frame.contents.context
        space = ffi_frame.AllocateArgs(0, None, context, 100, 64, None)
        assert not function_of(frame, 9, ffi_frame.AllocateArgs)(ctypes.byref(space))
        seen["aligned"] = space.data % 64 == 0
        freed = ffi_frame.FreeArgs(0, None, context, 100, space.data)
        assert not function_of(frame, 10, ffi_frame.FreeArgs)(ctypes.byref(freed))
        number = ctypes.c_int64()
        threads = ffi_frame.ThreadsArgs(0, None, context, ctypes.pointer(number))
        function_of(frame, 12, ffi_frame.ThreadsArgs)(ctypes.byref(threads))
        seen["threads"] = number.value
        task = ffi_frame.TASK(lambda data: seen.update(task=data))
        function_of(frame, 11, ffi_frame.TaskArgs)(ctypes.byref(ffi_frame.TaskArgs(0, None, context, task, 5)))
        run, ordinal = ffi_frame.RunArgs(0, None, context), ffi_frame.OrdinalArgs(0, None, context, 9)
        function_of(frame, 16, ffi_frame.RunArgs)(ctypes.byref(run))
        function_of(frame, 17, ffi_frame.OrdinalArgs)(ctypes.byref(ordinal))
        seen["run"], seen["ordinal"] = run.run_id, ordinal.ordinal
        stream = ffi_frame.StreamArgs(0, None, context, None)
        return function_of(frame, 4, ffi_frame.StreamArgs)(ctypes.byref(stream))

    address, kept = handler(body)
    context = ffi_frame.new_context()
    with pytest.raises(JaxRuntimeError, match="UNIMPLEMENTED: there are no streams"):
        ffi_frame.call_stage(address, ffi_frame.EXECUTE, context)
    left = ffi_frame.contexts.pop(context)
    assert seen["aligned"] and seen["threads"] > 0 and seen["task"] == 5 and seen["ordinal"] == 0
    assert seen["run"] == left.run_id and not left.memory and kept


def test_futures_that_fail():
    def body(frame):
        future = ffi_frame.HandleArgs()
        function_of(frame, 13, ffi_frame.HandleArgs)(ctypes.byref(future))
        failed = function_of(frame, 0, ffi_frame.ErrorArgs)(ctypes.byref(ffi_frame.ErrorArgs(0, None, b"late", 13)))
        message = ffi_frame.MessageArgs(0, None, failed)
        function_of(frame, 1, ffi_frame.MessageArgs)(ctypes.byref(message))
        assert message.message == b"late"
        ended = ffi_frame.HandleArgs(0, None, future.handle, failed)
        function_of(frame, 15, ffi_frame.HandleArgs)(ctypes.byref(ended))
        frame.contents.future = future.handle
        return None

    address, kept = handler(body)
    with pytest.raises(JaxRuntimeError, match="INTERNAL: late"):
        ffi_frame.call_stage(address, ffi_frame.EXECUTE, ffi_frame.new_context())
    assert kept


def test_dtypes_without_a_number():
    with pytest.raises(NotImplementedError, match="no arrays of dtype"):
        ffi_frame.element_type(np.dtype("U3"))
