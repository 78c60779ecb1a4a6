"""Transfer guards: values that the user's program brings to a device, and moves from one device to another.

Values of NumPy and Python come from the host when they become operands of an operation or arguments of a jitted
function; `array`, indices and fill values do so too.  An array without a device of its own that meets one committed
elsewhere moves from device to device.  `device_put` is explicit, everything else implicit.  Reading an array never is
a transfer, as on JAX's CPU backend.  The checks run only while a guard is in force (`GUARDED`).
"""

import inspect
import sys
from typing import Any

import numpy as np

from onax._core.result_checks import add_checked_evaluation
from onax._core.sharding import Sharding, SingleDeviceSharding
from onax._core.shards import first_device
from onax._core.trace import typeof
from onax._ground import logs, source
from onax._ground.config import (
    GUARDED,
    guard_transfers,
    transfer_guard_device_to_device,
    transfer_guard_host_to_device,
)
from onax._ground.devices import Device
from onax._ground.errors import JaxRuntimeError
from onax._native.array import Array, ArrayImpl
from onax._native.context import get_default_device, get_trace, option_word
from onax._native.tree import tree_leaves

_HOST_VALUES = (bool, int, float, complex, np.ndarray, np.generic)
_MECHANISM = (__name__, "onax._core.result_checks")  # modules whose frames lie between an operation and its caller


_MAKERS = ("onax.numpy._creation", "onax.numpy._scalar_types", "onax.numpy._ranges", "onax.lax._creation")
_INDEXERS = ("onax.numpy._indexing", "onax.numpy._at")


def transfer_guard(new_val: str | None) -> Any:
    """Watches implicit transfers between host and devices, and between devices, inside of a `with` block.

    Args:
      new_val: "allow", "log", "disallow", or "log_explicit", "disallow_explicit", which watch `device_put` too.

    Returns:
      A context manager.

    Raises:
      ValueError: another level.

    Examples:
      >>> with onax.transfer_guard("disallow"):
      ...     onax.device_put(1.0)
      Array(1., dtype=float32, weak_type=True)
    """
    return guard_transfers(new_val)


def is_guarded():
    """Whether transfers of this thread are checked: a guard is in force, and no transformation runs."""
    return bool(option_word() & GUARDED) and get_trace() is None


def _report(option, direction, text, explicit=False):
    """Lets, logs or refuses a transfer, as the guard of its direction says."""
    level = option.value or "allow"
    if level == "allow" or (explicit and not level.endswith("_explicit")):
        return
    if level.startswith("log"):
        logs.logger("onax").warning("%s transfer: %s", direction, text)
    else:
        raise JaxRuntimeError(f"INVALID_ARGUMENT: Disallowed {direction} transfer: {text}")


def _sharding_of(place):
    """The sharding that a device, a sharding or None, the default device, means."""
    if isinstance(place, Sharding):
        return place
    return SingleDeviceSharding(place if isinstance(place, Device) else get_default_device() or first_device())


def report_from_host(value, place=None, explicit=False):
    """Reports that a value of NumPy or Python goes to a device or sharding; None: the default device."""
    text = f"aval={typeof(value)!r}, dst_sharding={_sharding_of(place)!r}"
    _report(transfer_guard_host_to_device, "host-to-device", text, explicit)


def report_move(array, place, explicit=False):
    """Reports that an array goes to a device or sharding, unless it lies there."""
    target = _sharding_of(place)
    if array.sharding.is_equivalent_to(target, array.ndim):
        return
    here = "" if explicit or not isinstance(target, SingleDeviceSharding) else f"sharding={array.sharding!r}, "
    text = f"aval={array.aval!r}, {here}dst_sharding={target!r}"
    _report(transfer_guard_device_to_device, "device-to-device", text, explicit)


def report_put(value, place):
    """Reports an explicit transfer, that of a `device_put` which the user's program calls."""
    if not is_guarded():
        return
    outer = _library_frames()[1]
    if outer is None or outer.f_code.co_name != "device_put":
        return
    if type(value) is not ArrayImpl:
        if isinstance(value, _HOST_VALUES):
            report_from_host(value, place, explicit=True)
    elif place is not None and not value.sharding.is_equivalent_to(_sharding_of(place), value.ndim):
        if len(value.sharding.device_set) > 1:
            _report_put_of_shards(value, _sharding_of(place))
        else:
            report_move(value, place, explicit=True)


def _report_put_of_shards(array, target):
    """Reports an explicit transfer of an array that lies on several devices.

    As in JAX a program moves it to its devices in another order, one of several copies stays where it is, equal shards
    go from device to device, and all else goes through the host.
    """
    source, shape = array.sharding, array.shape
    if target.device_set == source.device_set and target._ordered_devices() != source._ordered_devices():
        return
    if source.is_fully_replicated and target.device_set <= source.device_set and len(target.device_set) == 1:
        return
    if list(source.devices_indices_map(shape).values()) == list(target.devices_indices_map(shape).values()):
        text = f"aval={array.aval!r}, sharding={source!r}, dst_sharding={target!r}"
        _report(transfer_guard_device_to_device, "device-to-device", text, explicit=True)
    else:
        report_from_host(array, target, explicit=True)


def report_new_array(values, array):
    """Reports an implicit transfer of what the user's program makes an array of by a function of `_MAKERS`."""
    if is_guarded() and _calls_directly(_MAKERS) and not any(isinstance(x, Array) for x in tree_leaves(values)):
        converts = isinstance(values, (np.ndarray, np.generic)) and _calls_directly(("onax.numpy._scalar_types",))
        report_from_host(array, explicit=converts)


def report_argument(value):
    """Reports an implicit transfer of a value, if it is an argument of the function that the user called."""
    if is_guarded() and isinstance(value, _HOST_VALUES) and _is_argument(value, _library_frames()[1]):
        report_from_host(value)


def report_index(index):
    """Reports the implicit transfer of an index of numbers, or of the bounds of a slice, that the user writes."""
    if not is_guarded() or not _calls_directly(_INDEXERS):
        return
    for part in index if type(index) is tuple else (index,):
        if isinstance(part, slice):
            part = next((x for x in (part.start, part.stop) if isinstance(x, int)), None)
        if isinstance(part, _HOST_VALUES) and not isinstance(part, bool):
            report_from_host(np.asarray(part))
            return


def report_moves(arrays, places):
    """Reports the implicit transfers of a call's uncommitted arguments to where its results are stated to lie."""
    place = next((place for place in places if isinstance(place, Sharding)), None)
    if place is not None and is_guarded():
        for x in arrays:
            if type(x) is ArrayImpl and not x._committed and x.sharding.device_set != place.device_set:
                report_move(x, place)


def report_operands(operands, place=None):
    """Reports the implicit transfers of the user's values among the operands of one operation or jitted call."""
    if not is_guarded():
        return
    inner, outer = _library_frames()
    committed = next((x for x in operands if type(x) is ArrayImpl and x._committed), None)
    place = place if committed is None else committed.sharding
    if inner is not None and inner.f_globals.get("__name__") == "onax.numpy._ufuncs":  # it has converted scalars
        operands = *(x for x in operands if isinstance(x, Array)), *_arguments(inner)
    for x in operands:
        if isinstance(x, _HOST_VALUES):
            if _is_argument(x, outer):
                report_from_host(x, place)
        elif type(x) is ArrayImpl and place is not None and not x._committed and _is_argument(x, outer):
            if x.sharding.device_set != place.device_set:
                report_move(x, place)


def _library_frames():
    """The frames of onax's function that does something, and of the one that the user's program calls.

    They are None for an operation that the program carries out itself, and one frame for a function that does it.
    """
    frame, inner, outer = sys._getframe(1), None, None
    while frame is not None and source.is_internal(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") not in _MECHANISM:
            inner, outer = inner or frame, frame
        frame = frame.f_back
    return inner, outer


def _calls_directly(modules):
    """Whether the user's program calls a function of one of these modules, or none of onax's."""
    outer = _library_frames()[1]
    return outer is None or outer.f_globals.get("__name__") in modules


def _arguments(frame):
    """The arguments of the function that runs in a frame."""
    parameters = inspect.getargs(frame.f_code)
    values = [frame.f_locals[name] for name in parameters.args if name in frame.f_locals]
    return (*values, *frame.f_locals.get(parameters.varargs, ()))


def _is_argument(value, frame):
    """Whether a value is an argument, not a default, of the function that runs in a frame; True for None."""
    if frame is None:
        return True
    if not any(x is value or (type(x) in (tuple, list) and any(y is value for y in x)) for x in _arguments(frame)):
        return False
    function = inspect.unwrap(frame.f_globals.get(frame.f_code.co_name, _is_argument))
    defaults = getattr(function, "__defaults__", None) or ()
    return not any(x is value for x in (*defaults, *(getattr(function, "__kwdefaults__", None) or {}).values()))


def _evaluate(primitive, operands, params, evaluate):
    report_operands(operands)
    return evaluate(primitive, operands, params)


add_checked_evaluation(GUARDED, _evaluate)
