"""The public names of onax.experimental for type checkers; they are imported on first access."""

from onax._control.callbacks import io_callback as io_callback
from onax._ground.dtypes import primal_tangent_dtype as primal_tangent_dtype
from onax.experimental import checkify as checkify
from onax.experimental import jet as jet
from onax.experimental import layout as layout
from onax.experimental import mesh_utils as mesh_utils
from onax.experimental import multihost_utils as multihost_utils
from onax.experimental import ode as ode
from onax.experimental import pjit as pjit
from onax.experimental import rnn as rnn
from onax.experimental import shard_map as shard_map
from onax.experimental import sparse as sparse
from onax.experimental.hijax import EArray as EArray
from onax.experimental.hijax import cur_qdd as cur_qdd
