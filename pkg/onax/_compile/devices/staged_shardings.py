"""The shardings of a call that is compiled ahead of time: of its arguments, as they were given, and of its results.

Arguments are arrays, or ShapeDtypeStructs that state a sharding; `in_shardings` of jit goes before both.  Shardings
over an AbstractMesh are over the devices that something else states; if nothing does, `compile` is told the devices.
"""

from dataclasses import dataclass, replace

import numpy as np

from onax._compile.devices.call_shardings import shardings_of_leaves, stated_of_arguments
from onax._compile.placement import (
    check_devices_of_program,
    check_shardings,
    mesh_of_call,
    shardings_of_results,
    staged_arguments,
)
from onax._core.meshes import AbstractMesh, Mesh, concrete_mesh
from onax._core.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding, over_devices
from onax._core.trace import as_array
from onax._transforms.abstract import ShapeDtypeStruct
from onax._transforms.transfer import device_put


@dataclass(frozen=True, slots=True)
class StagedShardings:
    """The shardings of a call on the devices of a mesh.

    Attributes:
      arguments: the NamedSharding of each argument leaf; replicated over the mesh where none was given.
      given: for each argument leaf whether its sharding was given; a call puts the others where they belong.
      results: the NamedSharding of each result leaf.
    """

    arguments: list
    given: list
    results: list

    @property
    def devices(self):
        """The devices of the mesh, in their order; None while no devices are known."""
        mesh = (*self.arguments, *self.results)[0].mesh
        return None if isinstance(mesh, AbstractMesh) else tuple(mesh.devices.flat)

    @property
    def first_device(self):
        """The first device of the mesh; None while no devices are known."""
        return None if self.devices is None else self.devices[0]

    def over(self, devices):
        """The same shardings over these devices; raises ValueError where a mesh is of another size."""
        over = lambda shardings: [_over(s, devices) for s in shardings]
        return replace(self, arguments=over(self.arguments), results=over(self.results))

    def place_arguments(self, leaves, arg_names):
        """The leaves with the shardings compiled for; raises ValueError for one committed to another sharding."""
        required = [s if given else None for s, given in zip(self.arguments, self.given)]
        check_shardings(leaves, required, arg_names)
        return [device_put(as_array(x), sharding) for x, sharding in zip(leaves, self.arguments)]


def of_call(call, staged):
    """The StagedShardings of a call, or None if everything is on one device."""
    options = call.options
    placed = [] if options.device is not None else staged_arguments(call)
    given, stated = [_given(x) for x in call.leaves], ()
    if options.in_shardings is not None:
        asked = stated_of_arguments(call, abstract=True)
        given = [s if isinstance(s, NamedSharding) else g for s, g in zip(asked, given)]
        placed = [s or own for s, own in zip(asked, placed)]
    if options.out_shardings is not None:
        stated = shardings_of_leaves(options, staged.out_tree, abstract=True)
    results_on = stated if options.device is None else (SingleDeviceSharding(options.device),)
    check_devices_of_program(staged.jaxpr, call, placed, results_on, mesh_of_call(options))
    given, stated = _over_known_devices(given), _over_known_devices(stated, given)
    results = shardings_of_results(staged.jaxpr, given, (), stated)
    if results is None:
        return None
    mesh = results[0].mesh if results else next(s.mesh for s in given if s is not None)
    everywhere = NamedSharding(mesh, PartitionSpec())
    return StagedShardings([everywhere if s is None else s for s in given], [s is not None for s in given], results)


def _over(sharding, devices):
    """A sharding over an AbstractMesh as one over these devices."""
    size = sharding.mesh.size
    if size != len(devices):
        raise ValueError(
            f"The size of abstract mesh {size} in {sharding} must match the length of device assignment: {len(devices)}"
        )
    return over_devices(sharding, Mesh(np.array(devices, object), ("devices",)))


def _over_known_devices(shardings, others=()):
    """Shardings, or Nones, of which those over an AbstractMesh get the devices of another one or of the mesh in
    context, if there are any."""
    meshes = [s.mesh for s in (*shardings, *others) if isinstance(s, NamedSharding)]
    known = next((mesh for mesh in meshes if isinstance(mesh, Mesh)), concrete_mesh())
    if known.empty:
        return shardings
    for mesh in meshes:
        if isinstance(mesh, AbstractMesh) and mesh.size != known.size:
            raise ValueError(f"AbstractMesh size: {mesh.size} does not match the device assignment size: {known.size}")
    return [over_devices(s, known) for s in shardings]


def _given(x):
    """The NamedSharding of an argument, or None."""
    if isinstance(x, ShapeDtypeStruct) or getattr(x, "_shards", None) is not None:
        return x.sharding if isinstance(x.sharding, NamedSharding) else None
    return None
