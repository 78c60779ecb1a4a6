"""Python functions that run beside the devices of a program, under the names of jax.experimental.colocated_python.

There is one process, whose devices are the CPU's: such a function runs here, with arrays, at each call.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.meshes import Mesh
from onax._core.trace import Tracer, as_array, typeof
from onax._ground import devices as _devices
from onax._ground.devices import Device
from onax._ground.typing import AnyFunction, Class
from onax._native.tree import tree_leaves, tree_map, tree_structure
from onax._transforms.transfer import device_put


def colocated_cpu_devices(devices_or_mesh: Sequence[Device] | Mesh) -> Sequence[Device] | Mesh:
    """Returns the CPU devices beside devices.

    Args:
      devices_or_mesh: Devices, or a Mesh.

    Returns:
      A list or tuple of Devices as the argument is, or a Mesh; CPU devices stand for themselves.

    Examples:
      >>> from onax.experimental import colocated_python
      >>> colocated_python.colocated_cpu_devices(onax.devices()) == onax.devices()
      True
    """
    if isinstance(devices_or_mesh, Mesh):
        return devices_or_mesh
    cpus = _devices.devices("cpu")
    found = [d if d.platform == "cpu" else cpus[d.id % len(cpus)] for d in devices_or_mesh]
    return found if isinstance(devices_or_mesh, list) else tuple(found)


def colocated_python(fun: AnyFunction) -> Callable[..., Any]:
    """Returns a function that runs beside its arguments' devices.

    Its method `specialize` fixes the types of arguments and results, and the devices.

    Args:
      fun: a function of trees of arrays that returns one.

    Returns:
      A function; within transformations it raises NotImplementedError.

    Examples:
      >>> from onax.experimental import colocated_python
      >>> colocated_python.colocated_python(lambda x: x + 1)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    return _specialize(fun, {})


def colocated_python_class(cls: Class) -> Class:
    """Returns the class: its objects live in this process, where their methods run.

    Args:
      cls: a class.

    Returns:
      A class.

    Examples:
      >>> from onax.experimental import colocated_python
      >>> @colocated_python.colocated_python_class
      ... class Counter:
      ...     def count(self):
      ...         return 1
      >>> Counter().count()
      1
    """
    return cls


def _specialize(fun, specialization):
    @functools.wraps(fun)
    def call(*args, **kwargs):
        leaves = tree_leaves((args, kwargs))
        if any(isinstance(x, Tracer) for x in leaves):
            raise NotImplementedError(
                f"colocated_python: {fun.__name__} is called within a transformation; use pure_callback or io_callback"
            )
        if not leaves and specialization.get("devices") is None:
            raise ValueError(
                "No devices found. colocated_python function without input arguments must be first specialized with "
                "devices."
            )
        _check("argument", specialization.get("in_specs"), (args, kwargs))
        result = tree_map(as_array, fun(*tree_map(as_array, args), **tree_map(as_array, kwargs)))
        out_specs_fn = specialization.get("out_specs_fn")
        if out_specs_fn is not None:
            _check("result", out_specs_fn(*args, **kwargs), result)
        devices = specialization.get("devices")
        return result if devices is None else tree_map(lambda x: _beside(x, devices), result)

    def specialize(in_specs=None, out_specs_fn=None, devices=None):
        """The function for arguments and results of these types, which runs beside these devices."""
        given = {"in_specs": in_specs, "out_specs_fn": out_specs_fn, "devices": devices}
        twice = [name for name, value in given.items() if value is not None and name in specialization]
        if twice:
            raise ValueError(f"{', '.join(twice)} already specified: a function is specialized once")
        return _specialize(fun, {**specialization, **{name: v for name, v in given.items() if v is not None}})

    call.specialize = specialize
    return call


def _beside(x, devices):
    """A result that lies on these devices; another one is put on the first."""
    return x if x.committed and x.devices() <= set(devices) else device_put(x, devices[0])


def _check(what, specs, values):
    """ValueError unless the values have the structure and the types of the specifications."""
    if specs is None:
        return
    if tree_structure(specs) != tree_structure(values):
        raise ValueError(f"the {what}s have structure {tree_structure(values)}, specified {tree_structure(specs)}")
    for spec, value in zip(tree_leaves(specs), tree_leaves(values)):
        aval = typeof(value)
        if (tuple(spec.shape), spec.dtype) != (aval.shape, aval.dtype):
            raise ValueError(f"a {what} of type {aval.str_short()}, specified {spec}")


__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]

_wrap_api_functions(globals(), __name__)
