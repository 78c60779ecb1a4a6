"""The public names of onax.export for type checkers, which are imported on first access."""

from onax.export.api import Exported as Exported
from onax.export.api import default_export_platform as default_export_platform
from onax.export.api import deserialize as deserialize
from onax.export.api import export as export
from onax.export.api import load as load
from onax.export.api import save as save
from onax.export.artifact import register_namedtuple_serialization as register_namedtuple_serialization
from onax.export.artifact import register_pytree_node_serialization as register_pytree_node_serialization
from onax.export.platforms import DisabledSafetyCheck as DisabledSafetyCheck
from onax.export.platforms import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from onax.export.platforms import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from onax.export.shapes import SymbolicScope as SymbolicScope
from onax.export.shapes import is_symbolic_dim as is_symbolic_dim
from onax.export.shapes import symbolic_args_specs as symbolic_args_specs
from onax.export.shapes import symbolic_dim_bounds as symbolic_dim_bounds
from onax.export.shapes import symbolic_shape as symbolic_shape
