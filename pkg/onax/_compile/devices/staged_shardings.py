"""The shardings of a call that is compiled ahead of time: of its arguments, as they were given, and of its results.

Arguments are arrays, or ShapeDtypeStructs that state a sharding; `in_shardings` of jit goes before both.
"""

from dataclasses import dataclass

from onax._compile.devices.call_shardings import shardings_of_leaves, stated_of_arguments
from onax._compile.placement import (
    check_devices_of_program,
    check_shardings,
    mesh_of_call,
    shardings_of_results,
    staged_arguments,
)
from onax._core.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding
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
    def first_device(self):
        """The first device of the mesh."""
        return (*self.arguments, *self.results)[0].mesh.devices.flat[0]

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
        asked = stated_of_arguments(call)
        given = [s if isinstance(s, NamedSharding) else g for s, g in zip(asked, given)]
        placed = [s or own for s, own in zip(asked, placed)]
    if options.out_shardings is not None:
        stated = shardings_of_leaves(options, staged.out_tree)
    results_on = stated if options.device is None else (SingleDeviceSharding(options.device),)
    check_devices_of_program(staged.jaxpr, call, placed, results_on, mesh_of_call(options))
    results = shardings_of_results(staged.jaxpr, given, (), stated)
    if results is None:
        return None
    mesh = results[0].mesh if results else next(s.mesh for s in given if s is not None)
    everywhere = NamedSharding(mesh, PartitionSpec())
    return StagedShardings([everywhere if s is None else s for s in given], [s is not None for s in given], results)


def _given(x):
    """The NamedSharding of an argument, or None."""
    if isinstance(x, ShapeDtypeStruct) or getattr(x, "_shards", None) is not None:
        return x.sharding if isinstance(x.sharding, NamedSharding) else None
    return None
