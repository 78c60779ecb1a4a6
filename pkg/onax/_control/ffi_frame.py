"""Calls of C functions that follow the typed foreign function interface of XLA, version 0.3, with host arrays.

A handler takes one pointer, to a call frame: buffers of arguments and results, attributes, and a table of functions
that it may call back.  The structures here have the layout of XLA's (`include/onax/ffi.h` declares it in C), so that
libraries compiled for JAX run unchanged.
"""

import ctypes
import itertools
import os
import threading
from ctypes import CFUNCTYPE, POINTER, c_int, c_int32, c_int64, c_size_t, c_uint32
from ctypes import c_char_p as c_text
from ctypes import c_void_p as c_address
from dataclasses import dataclass, field

import numpy as np

from onax._ground.errors import JaxRuntimeError

MAJOR, MINOR = 0, 3
EXECUTE = 3
STAGES = ("instantiate", "prepare", "initialize", "execute")
CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
    "UNAUTHENTICATED"
).split()
ELEMENT_TYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float16": 10, "float32": 11, "float64": 12, "complex64": 15, "bfloat16": 16, "complex128": 18,
    "float8_e5m2": 19, "float8_e4m3fn": 20, "int4": 21, "uint4": 22, "float8_e4m3b11fnuz": 23,
    "float8_e5m2fnuz": 24, "float8_e4m3fnuz": 25, "int2": 26, "uint2": 27, "float8_e4m3": 28, "float8_e3m4": 29,
    "float4_e2m1fn": 32, "float8_e8m0fnu": 33,
}  # fmt: skip


def _structure(name, *fields, sized=True):
    """A structure; sized ones begin with their size and a list of extensions, as most of the interface do."""
    head = [("struct_size", c_size_t), ("extensions", c_address)] if sized else []
    return type(name, (ctypes.Structure,), {"_fields_": [*head, *fields]})


Version = _structure("Version", ("major", c_int), ("minor", c_int))
Buffer = _structure("Buffer", ("dtype", c_int), ("data", c_address), ("rank", c_int64), ("dims", POINTER(c_int64)))
Text = _structure("Text", ("data", c_text), ("size", c_size_t), sized=False)
Scalar = _structure("Scalar", ("dtype", c_int), ("value", c_address), sized=False)
Array = _structure("Array", ("dtype", c_int), ("size", c_size_t), ("data", c_address), sized=False)
Buffers = _structure("Buffers", ("size", c_int64), ("types", POINTER(c_int)), ("items", POINTER(c_address)))
Attributes = _structure(
    "Attributes",
    ("size", c_int64),
    ("types", POINTER(c_int)),
    ("names", POINTER(POINTER(Text))),
    ("items", POINTER(c_address)),
)
Frame = _structure(
    "Frame",
    ("api", c_address),
    ("context", c_address),
    ("stage", c_int),
    ("args", Buffers),
    ("rets", Buffers),
    ("attrs", Attributes),
    ("future", c_address),
)
Extension = _structure("Extension", ("struct_size", c_size_t), ("type", c_int), ("next", c_address), sized=False)
Metadata = _structure(
    "Metadata",
    ("struct_size", c_size_t),
    ("version", Version),
    ("traits", c_uint32),
    ("state_type", c_int64),
    sized=False,
)
MetadataExtension = _structure("MetadataExtension", ("base", Extension), ("metadata", POINTER(Metadata)), sized=False)
HANDLER = CFUNCTYPE(c_address, POINTER(Frame))
FRAME_SIZE = Frame.future.offset  # as XLA counts it: without the last field

# ---- the functions that a handler may call

ErrorArgs = _structure("ErrorArgs", ("message", c_text), ("code", c_int))
MessageArgs = _structure("MessageArgs", ("error", c_address), ("message", c_text))
HandleArgs = _structure("HandleArgs", ("handle", c_address), ("error", c_address))
Bundle = _structure("Bundle", *((stage, c_address) for stage in STAGES), sized=False)
RegisterArgs = _structure("RegisterArgs", ("name", Text), ("platform", Text), ("bundle", Bundle), ("traits", c_uint32))
TypeArgs = _structure("TypeArgs", ("name", Text), ("type_id", POINTER(c_int64)), ("info", c_address))
ContextArgs = _structure("ContextArgs", ("context", c_address), ("type_id", POINTER(c_int64)), ("data", c_address))
StateArgs = _structure(
    "StateArgs", ("context", c_address), ("stage", c_int), ("type_id", POINTER(c_int64)), ("state", c_address)
)
StreamArgs = _structure("StreamArgs", ("context", c_address), ("stream", c_address))
AllocateArgs = _structure(
    "AllocateArgs", ("context", c_address), ("size", c_size_t), ("alignment", c_size_t), ("data", c_address)
)
FreeArgs = _structure("FreeArgs", ("context", c_address), ("size", c_size_t), ("data", c_address))
TASK = CFUNCTYPE(None, c_address)
TaskArgs = _structure("TaskArgs", ("context", c_address), ("task", TASK), ("data", c_address))
ThreadsArgs = _structure("ThreadsArgs", ("context", c_address), ("number", POINTER(c_int64)))
RunArgs = _structure("RunArgs", ("context", c_address), ("run_id", c_int64))
OrdinalArgs = _structure("OrdinalArgs", ("context", c_address), ("ordinal", c_int32))


class Handles:
    """Objects of Python that C code holds by number."""

    def __init__(self):
        self._objects = {}
        self._numbers = itertools.count(1)

    def add(self, value):
        """The number of a value, which is not 0."""
        number = next(self._numbers)
        self._objects[number] = value
        return number

    def __getitem__(self, number):
        return self._objects[number]

    def pop(self, number):
        """Removes and returns the value of a number."""
        return self._objects.pop(number)


@dataclass(slots=True)
class Future:
    """The end of a call that goes on after its handler has returned."""

    done: threading.Event = field(default_factory=threading.Event)
    error: tuple | None = None


@dataclass(slots=True)
class Context:
    """What one call, or the calls that share a state, have beside their frame."""

    run_id: int = 0
    states: dict = field(default_factory=dict)  # stage -> (number of the type, address)
    memory: dict = field(default_factory=dict)  # address -> the array that owns it


errors, futures, contexts = Handles(), Handles(), Handles()
type_numbers = {}  # name of a registered type -> its number
registered_by_handlers = []  # (name, platform, {stage: address}) that libraries registered by the function table
_runs = itertools.count(1)


def _fail(code, message):
    """The number of a new error; its bytes are what C code reads."""
    return errors.add((code, message, message.encode()))


def _create_error(args):
    return _fail(CODES[args.contents.code], args.contents.message.decode())


def _error_message(args):
    args.contents.message = errors[args.contents.error][2]


def _destroy_error(args):
    errors.pop(args.contents.handle)


def _register_handler(args):
    given = args.contents
    stages = {stage: getattr(given.bundle, stage) for stage in STAGES if getattr(given.bundle, stage)}
    registered_by_handlers.append((_text(given.name), _text(given.platform), stages))


def _text(span):
    return ctypes.string_at(span.data, span.size).decode()


def _stream(args):
    return _fail("UNIMPLEMENTED", "there are no streams: arrays are in the memory of the CPU")


def _register_type(args):
    given = args.contents
    number = type_numbers.setdefault(_text(given.name), len(type_numbers) + 1)
    given.type_id[0] = number


def _context_get(args):
    return _fail("NOT_FOUND", "a call has no values of a user's types: there is no XLA execution context")


def _state_set(args):
    given = args.contents
    contexts[given.context].states[given.stage] = (given.type_id[0], given.state)


def _state_get(args):
    given = args.contents
    number, state = contexts[given.context].states.get(given.stage, (None, None))
    if number != given.type_id[0]:
        return _fail("NOT_FOUND", f"no state of this type was set in the stage {STAGES[given.stage]}")
    given.state = state


def _allocate(args):
    given = args.contents
    space = np.empty(given.size + given.alignment, np.uint8)
    start = space.ctypes.data
    given.data = start + -start % max(given.alignment, 1)
    contexts[given.context].memory[given.data] = space


def _free(args):
    del contexts[args.contents.context].memory[args.contents.data]


def _schedule(args):
    args.contents.task(args.contents.data)


def _threads(args):
    args.contents.number[0] = os.cpu_count() or 1


def _create_future(args):
    args.contents.handle = futures.add(Future())


def _future_available(args):
    futures[args.contents.handle].done.set()


def _future_failed(args):
    future = futures[args.contents.handle]
    future.error = errors.pop(args.contents.error)[:2]
    future.done.set()


def _run_id(args):
    args.contents.run_id = contexts[args.contents.context].run_id


def _ordinal(args):
    args.contents.ordinal = 0


_TABLE = (
    (_create_error, ErrorArgs), (_error_message, MessageArgs), (_destroy_error, HandleArgs),
    (_register_handler, RegisterArgs), (_stream, StreamArgs), (_register_type, TypeArgs),
    (_context_get, ContextArgs), (_state_set, StateArgs), (_state_get, StateArgs), (_allocate, AllocateArgs),
    (_free, FreeArgs), (_schedule, TaskArgs), (_threads, ThreadsArgs), (_create_future, HandleArgs),
    (_future_available, HandleArgs), (_future_failed, HandleArgs), (_run_id, RunArgs), (_ordinal, OrdinalArgs),
)  # fmt: skip
Api = _structure("Api", ("version", Version), ("reserved", c_address), ("functions", c_address * len(_TABLE)))


def _make_api():
    """The table of functions, and the objects that keep its entries alive."""
    kept = [CFUNCTYPE(c_address, POINTER(kind))(function) for function, kind in _TABLE]
    addresses = (c_address * len(kept))(*(ctypes.cast(f, c_address).value for f in kept))
    version = Version(ctypes.sizeof(Version), None, MAJOR, MINOR)
    return Api(ctypes.sizeof(Api), None, version, None, addresses), kept


_api, _kept = _make_api()

# ---- frames


def _sized(kind, *values):
    return kind(ctypes.sizeof(kind), None, *values)


def _pointer_array(structures):
    return (c_address * len(structures))(*(ctypes.addressof(s) for s in structures))


def element_type(dtype):
    """The interface's number for a dtype.  Raises NotImplementedError for dtypes without one."""
    if dtype.name not in ELEMENT_TYPES:
        raise NotImplementedError(f"ffi_call: the foreign function interface has no arrays of dtype {dtype.name}")
    return ELEMENT_TYPES[dtype.name]


def _buffers(arrays, shapes):
    """The Buffers of contiguous arrays; `shapes` are their logical shapes."""
    made = []
    for array, shape in zip(arrays, shapes):
        dims = (c_int64 * len(shape))(*shape)
        made.append(_sized(Buffer, element_type(array.dtype), array.ctypes.data, len(shape), dims))
    return _sized(Buffers, len(made), (c_int * len(made))(*(1,) * len(made)), _pointer_array(made)), made


def _attribute(name, value):
    """(kind, structure, what it needs alive) of an attribute's value."""
    if isinstance(value, bytes):
        return 4, Text(value, len(value)), ()
    if isinstance(value, str):
        return _attribute(name, value.encode())
    if isinstance(value, dict):
        attrs, kept = make_attributes(value)
        return 2, attrs, kept
    if isinstance(value, (bool, int, float)):
        value = {bool: np.bool_, int: np.int64, float: np.float64}[type(value)](value)
    if isinstance(value, np.generic) and (value.dtype.kind in "biuf" or value.dtype.name == "bfloat16"):
        data = np.array(value)
        return 3, Scalar(element_type(data.dtype), data.ctypes.data), (data,)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        data = np.asarray(value, order="C")
        return 1, Array(element_type(data.dtype), data.size, data.ctypes.data), (data,)
    raise TypeError(
        f"Unsupported attribute type for attribute: {name}: a target takes bool, int, float, str, bytes, real scalars "
        f"and numeric arrays of NumPy, and dictionaries of them; got {value!r}"
    )


def make_attributes(attributes):
    """(the Attributes of a dictionary, sorted by name, and what they need alive)."""
    items = [(name.encode(), *_attribute(name, attributes[name])) for name in sorted(attributes)]
    names = [Text(name, len(name)) for name, *_ in items]
    pointers = (POINTER(Text) * len(names))(*map(ctypes.pointer, names))
    kinds = (c_int * len(items))(*(kind for _, kind, _, _ in items))
    made = [structure for _, _, structure, _ in items]
    return _sized(Attributes, len(items), kinds, pointers, _pointer_array(made)), (items, names, made)


def call_stage(address, stage, context, args=(), shapes=(), rets=(), ret_shapes=(), attributes=None):
    """Calls a handler.

    Args:
      address: of the C function.
      stage: its number, in the order of STAGES.
      context: the number of a Context.
      args, rets: arrays, C-contiguous; rets are written.
      shapes, ret_shapes: their logical shapes.
      attributes: a dictionary.

    Raises:
      JaxRuntimeError: the handler returned an error.
    """
    given, kept = _buffers(args, shapes)
    results, kept_results = _buffers(rets, ret_shapes)
    attrs, kept_attrs = make_attributes(attributes or {})
    frame = Frame(FRAME_SIZE, None, ctypes.addressof(_api), context, stage, given, results, attrs, None)
    _check(HANDLER(address)(ctypes.byref(frame)))
    if frame.future:
        future = futures[frame.future]
        future.done.wait()
        futures.pop(frame.future)
        if future.error is not None:
            raise JaxRuntimeError(": ".join(future.error))
    del kept, kept_results, kept_attrs  # alive until here, as the frame points into them


def _check(error):
    if error:
        raise JaxRuntimeError(": ".join(errors.pop(error)[:2]))


def handler_version(address):
    """(major, minor) of the interface that a handler was compiled for, which it tells when asked."""
    metadata = Metadata(ctypes.sizeof(Metadata), _sized(Version, 0, 0), 0, 0)
    extension = MetadataExtension(Extension(ctypes.sizeof(MetadataExtension), 1, None), ctypes.pointer(metadata))
    frame = Frame(FRAME_SIZE, ctypes.addressof(extension), ctypes.addressof(_api))
    for part in (frame.args, frame.rets, frame.attrs):
        part.struct_size = ctypes.sizeof(part)
    frame.stage = EXECUTE
    _check(HANDLER(address)(ctypes.byref(frame)))
    return metadata.version.major, metadata.version.minor


def new_context(states=None):
    """The number of a new Context; `states` are shared with those of the stage that made them."""
    return contexts.add(Context(next(_runs), {} if states is None else states))
