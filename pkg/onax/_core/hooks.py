"""What compiled code calls of floors 1 and 2: most fields of `onax._native.hooks`."""

from onax._core import (
    api_functions,
    axes,
    explicit_axes,
    new_arrays,
    result_checks,
    rules,
    shards,
    structure_messages,
    trace,
    transfer_guards,
)
from onax._ground import source
from onax._ground.config import GUARDED
from onax._native.hooks import hooks

hooks.is_internal = source.is_internal
hooks.source_traceback = source.SourceTraceback
hooks.name_stack = source.NameStack.of

hooks.filter_traceback = source.filter_error
hooks.name_error = api_functions.name_error
hooks.unhashable_error = api_functions.unhashable_error

hooks.serialize_structure = structure_messages.serialize
hooks.deserialize_structure = structure_messages.deserialize

hooks.eval_trace = trace.eval_trace
hooks.stray_tracer = trace.raise_stray_tracer
hooks.checked_evaluation = result_checks.evaluate_checked
hooks.locate_error = result_checks.locate_error
hooks.guard_arguments = transfer_guards.report_operands
hooks.guard_options = GUARDED

new_arrays.install()

hooks.first_device = shards.first_device
hooks.array_sharding = shards.array_sharding
hooks.aval_sharding = shards.aval_sharding
hooks.type_sharding = explicit_axes.sharding_of_type
hooks.with_axis = explicit_axes.with_axis
hooks.without_axis = explicit_axes.without_axis
hooks.add_tangents = rules.add_tangents
hooks.dimensions_text = explicit_axes.dimensions_text
hooks.manual_axis_type = axes.manual_axis_type
hooks.cotangent_type = explicit_axes.cotangent_type
hooks.axes_text = explicit_axes.axes_text
