"""Options.  Each row of one table defines an attribute, a context manager, a name for `update`, an environment
variable.

    row = (name, type, default, help, in_key)
      name     as in JAX; also read from the environment under the same name in capitals (JAX_ENABLE_X64)
      type     bool, int, float, str, or a tuple of allowed strings (None among them when None is allowed)
      in_key   the value changes results: it occupies bits of the option word, the one integer in a jit key

Precedence: a `with` block of this thread, then `config.update`, then the environment, then the default.

`onax._native.context` holds the word, which has a global part and a part of the thread.  A value that is not a few bits
itself (a device, a seed) gets the next free number, and the word holds that number.
"""

import functools
import os
import sys
from _thread import _local
from dataclasses import dataclass
from typing import Any

from onax._ground import logs
from onax._ground.lazy import absl_app, absl_flags
from onax._native import context
from onax._native.api_boundary import api_boundary

ANY = object()  # the type of a row that takes any value

_PRECISIONS = (
    None, "default", "high", "highest", "bfloat16", "tensorfloat32", "float32", "ANY_F8_ANY_F8_F32",
    "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY", "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32",
    "BF16_BF16_BF16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9", "TF32_TF32_F32",
    "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
)  # fmt: skip
_GUARDS = (None, "allow", "log", "disallow", "log_explicit", "disallow_explicit")
_MANY = 8  # bits for the number of a value that is numbered when it is first set, unless the row says how many


class Row:
    """One option; `shift` and `width` place it in the option word when it is part of the key."""

    __slots__ = (
        "check", "default", "env", "help", "mask", "mirror", "name", "numbers", "on_update", "shift", "type", "value",
        "values",
    )  # fmt: skip

    def __init__(self, name, type_, default, help_):
        self.name = name
        self.type = type_
        self.default = default
        self.help = help_
        self.env = name.upper()
        self.value = default  # the global value
        self.check = None
        self.on_update = None
        self.mirror = None  # (set for all threads, swap in this thread) of compiled code that reads the value
        self.shift = None
        self.mask = 0
        self.values = None
        self.numbers = None

    def validated(self, value):
        """Converts a value to its stored form; ValueError or TypeError for a value that the row does not accept."""
        kind = self.type
        if self.check is not None:
            return self.check(value)
        if kind is ANY:
            return value
        if type(kind) is tuple:
            if isinstance(value, (str, bool, int, float, type(None))) and value in kind:
                return value
            allowed = [item for item in kind if item is not None]
            raise self._refusal(f"new enum value must be {'None or ' if None in kind else ''}in {allowed}", value)
        if kind is bool:
            return bool(value) if value is not None else self.default
        if value is None:
            return self.default
        if kind is float and type(value) is int:
            return float(value)
        if not isinstance(value, kind) or isinstance(value, bool):
            what = "string" if kind is str else kind.__name__
            raise self._refusal(f"new {what} config value must be None or of type {kind.__name__}", value)
        return value

    def _refusal(self, wanted, value):
        return ValueError(f"{wanted}, got {value} of type {type(value)}.\nThe option is {self.name}.")

    def number(self, value):
        """The number that represents the value in the option word."""
        if self.type is bool:
            return int(value)
        number = self.numbers.get(value)
        if number is None:
            number = len(self.values)
            if number > self.mask:
                raise RuntimeError(f"more than {self.mask} different values were given to {self.name}")
            self.numbers[value] = number
            self.values.append(value)
        return number

    def from_environment(self):
        """Reads the value from the environment; the default if there is none."""
        text = os.environ.get(self.env)
        if text is None:
            return self.default
        if self.type is bool:
            return _parse_bool(text, self.env)
        if self.type in (int, float):
            return self.type(text)
        if type(self.type) is tuple and text not in self.type:
            raise ValueError(f'Invalid value "{text}" for JAX flag {self.name}; allowed are {list(self.type)}.')
        return text


def _parse_bool(text, env):
    """Converts the text of a truth value from the environment to a bool."""
    word = text.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return True
    if word in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"invalid truth value {text!r} for environment {env!r}")


_rows = {}
_used_bits = 0
_global_word = 0
_thread = _local()


def environment_variables():
    """The names of the variables that are read as options."""
    return {row.env for row in _rows.values()}


def add_row(name, type_, default, help_, *, in_key=False, bits=_MANY, check=None, on_update=None):
    """Adds a row; its initial value comes from the environment."""
    global _used_bits
    row = Row(name, type_, default, help_)
    row.check = check
    row.on_update = on_update
    if in_key:
        if type_ is bool:
            width = 1
        elif type(type_) is tuple:
            width = max(1, (len(type_) - 1).bit_length())
            row.values = list(type_)
        else:
            width = bits
            row.values = [default]
        if row.values is not None:
            row.numbers = {value: i for i, value in enumerate(row.values)}
        row.shift = _used_bits
        row.mask = (1 << width) - 1
        _used_bits += width
        if _used_bits > 63:
            raise RuntimeError("the option word is full")
    _rows[name] = row
    _set_global(row, row.validated(row.from_environment()))
    return row


def _set_global(row, value):
    """Stores a value for all threads."""
    global _global_word
    row.value = value
    if row.mirror is not None:
        row.mirror[0](value)
    if row.shift is not None:
        _global_word = (_global_word & ~(row.mask << row.shift)) | (row.number(value) << row.shift)
        context.set_global_word(_global_word)


def read_row(row):
    """The value in force in this thread."""
    if row.shift is None:
        return _thread.__dict__.get(row.name, row.value)
    number = (context.option_word() >> row.shift) & row.mask
    return bool(number) if row.type is bool else row.values[number]


def find_row(name):
    """The row of an option, for the module that implements the option."""
    return _rows[name]


def differing_options(word, other):
    """(name, value in `word`, value in `other`) of each option in which two option words differ."""
    for row in _rows.values():
        if row.shift is not None:
            numbers = [(w >> row.shift) & row.mask for w in (word, other)]
            if numbers[0] != numbers[1]:
                now, before = (bool(n) if row.type is bool else row.values[n] for n in numbers)
                yield row.name, now, before


def _set_bits(own, mask, value):
    """Sets some bits of this thread's word, and whether it overrides them, as in (mask, value)."""
    now_mask, now_value = context.swap_thread_word(0, 0)
    context.swap_thread_word((now_mask & ~own) | (mask & own), (now_value & ~own) | (value & own))


class _Scope:
    """One `with` block in which an option has another value; also usable as a decorator."""

    __slots__ = ("_mirrored", "_previous", "_row", "_value")

    def __init__(self, row, value):
        self._row = row
        self._value = value
        self._previous = []
        self._mirrored = []

    def __enter__(self):
        row = self._row
        if row.mirror is not None:
            self._mirrored.append(row.mirror[1](self._value))
        if row.shift is None:
            self._previous.append(_thread.__dict__.get(row.name, _thread))
            _thread.__dict__[row.name] = self._value
        else:
            own = row.mask << row.shift
            number = row.number(self._value)
            mask, value = context.swap_thread_word(0, 0)
            self._previous.append((mask, value))
            context.swap_thread_word(mask | own, (value & ~own) | (number << row.shift))

    def __exit__(self, *_):
        row, previous = self._row, self._previous.pop()
        if row.mirror is not None:
            row.mirror[1](self._mirrored.pop())
        if row.shift is not None:
            _set_bits(row.mask << row.shift, *previous)
        elif previous is _thread:
            del _thread.__dict__[row.name]
        else:
            _thread.__dict__[row.name] = previous

    def _renewed(self):
        return _Scope(self._row, self._value)

    def __call__(self, function):
        def scoped(*args, **kwargs):
            with self._renewed():  # a new scope, because other threads may be inside one, too
                return function(*args, **kwargs)

        return functools.update_wrapper(scoped, function)


class Option:
    """The context manager of an option: `with enable_x64(): ...`; `.value` is the value in force."""

    def __init__(self, row):
        self._row = row
        self.__doc__ = row.help

    @property
    def value(self):
        """The value in force in this thread."""
        return read_row(self._row)

    @api_boundary
    def __call__(self, new_val=ANY):
        if new_val is ANY:
            if self._row.type is not bool:
                name = self._row.name.removeprefix("jax_")
                raise TypeError(
                    f"Context manager for {name} config option requires an argument representing the new value for the "
                    "config option."
                )
            new_val = True
        return _Scope(self._row, self._row.validated(new_val))

    def __repr__(self):
        return f"<option {self._row.name} = {self.value!r}>"


@dataclass(slots=True, eq=False, repr=False)
class _Scopes:
    """Several `with` blocks as one; also usable as a decorator."""

    _scopes: list

    def __enter__(self):
        for scope in self._scopes:
            scope.__enter__()

    def __exit__(self, *error):
        for scope in reversed(self._scopes):
            scope.__exit__(*error)

    def _renewed(self):
        return _Scopes([scope._renewed() for scope in self._scopes])

    __call__ = _Scope.__call__


class TransferGuard(Option):
    """The context manager of the transfer guard of one direction."""

    @api_boundary
    def __call__(self, new_val=ANY):
        scopes = [super().__call__(new_val)]
        if scopes[0]._value not in (None, "allow"):
            guard_state.used = True
            scopes.append(_Scope(_guarded, True))
        return _Scopes(scopes)


class DisableJit(Option):
    """The context manager `disable_jit`, whose argument has a name of its own."""

    @api_boundary
    def __call__(self, disable=True):
        return _Scope(self._row, self._row.validated(disable))


def _define_flag(row):
    """Defines absl's flag for an option, once."""
    if row.name in absl_flags.FLAGS:
        return
    if row.type is bool:
        absl_flags.DEFINE_bool(row.name, row.value, row.help)
    elif row.type is int:
        absl_flags.DEFINE_integer(row.name, row.value, row.help)
    elif row.type is float:
        absl_flags.DEFINE_float(row.name, row.value, row.help)
    elif type(row.type) is tuple:
        absl_flags.DEFINE_enum(row.name, row.value, [v for v in row.type if v is not None], row.help)
    elif row.type is not frozenset:  # axis names are no texts
        absl_flags.DEFINE_string(row.name, None if row.type is ANY else row.value, row.help)


class Config:
    """All options, as attributes and through `update`; `onax.config` is the only instance."""

    __slots__ = ()

    def update(self, name, value):
        """Sets an option for all threads.  Raises AttributeError for an unknown name."""
        row = _find(name)
        if row is None:
            raise AttributeError(f"Unrecognized config option: {name}")
        value = row.validated(value)
        if row.on_update is not None:
            row.on_update(value)
        _set_global(row, value)

    def read(self, name):
        """The value of an option that has no context manager, or of any other by its name."""
        row = _find(name)
        if row is None:
            raise AttributeError(f"Unrecognized config option: {name}")
        return read_row(row)

    def __getattr__(self, name):
        row = _find(name)
        if row is None:
            raise AttributeError(f"'Config' object has no attribute '{name}'")
        return read_row(row)

    def __setattr__(self, name, value):
        raise AttributeError(f"options are set by config.update({name!r}, {value!r})")

    @property
    def x64_enabled(self):
        """Whether 64-bit dtypes are on."""
        return bool(context.option_word() & X64)

    @property
    def values(self):
        """Every option and its value in this thread, as a new dictionary."""
        return {name: read_row(row) for name, row in sorted(_all_rows().items())}

    def config_with_absl(self):
        """Defines a command-line flag of absl for each option; they take effect when absl's `app.run` has parsed."""
        for row in _all_rows().values():
            _define_flag(row)
        absl_app.call_after_init(lambda: self.complete_absl_config(absl_flags))

    def complete_absl_config(self, flags):
        """Sets options from the flags that absl has parsed."""
        for name in _all_rows():
            flag = flags.FLAGS[name] if name in flags.FLAGS else None
            if flag is not None and flag.present:
                self.update(name, flag.value)

    def parse_flags_with_absl(self):
        """Sets options from this process's command line, without an absl application; other arguments are ignored."""
        for row in _all_rows().values():
            _define_flag(row)
        absl_flags.FLAGS(sys.argv, known_only=True)
        self.complete_absl_config(absl_flags)

    def __dir__(self):
        return [*object.__dir__(self), *_all_rows()]

    def __repr__(self):
        return "\n".join(f"{name}: {value!r}" for name, value in self.values.items())


config = Config()

# --- rows of the key; the first six have fixed bits, read directly by hot code ------------------------------
_x64 = add_row("jax_enable_x64", bool, False, "64-bit dtypes are available; else they become 32-bit ones.", in_key=True)
_promotion = add_row(
    "jax_numpy_dtype_promotion", ("standard", "strict"), "standard",
    "How dtypes promote: by the lattice, or only weak types ('strict').", in_key=True,
)  # fmt: skip
_disable_jit = add_row("jax_disable_jit", bool, False, "jit and control flow run operation by operation.", in_key=True)
_debug_nans = add_row("jax_debug_nans", bool, False, "A NaN in a result raises FloatingPointError.", in_key=True)
_debug_infs = add_row("jax_debug_infs", bool, False, "An infinity in a result raises FloatingPointError.", in_key=True)
_leaks = add_row("jax_check_tracer_leaks", bool, False, "A tracer that outlives its trace raises.", in_key=True)

X64 = 1
STRICT_PROMOTION = 2
DISABLE_JIT = 4
DEBUG_NANS = 8
DEBUG_INFS = 16
CHECK_TRACER_LEAKS = 32

_rank = add_row(
    "jax_numpy_rank_promotion", ("allow", "warn", "raise"), "allow",
    "What happens when operands of unequal rank broadcast.", in_key=True,
)  # fmt: skip
_precision = add_row(
    "jax_default_matmul_precision",
    _PRECISIONS,
    None,
    "Precision of dot products that state none.",
    in_key=True,
)
_checks = add_row("jax_enable_checks", bool, False, "Jaxprs are checked after each transformation.", in_key=True)
_key_reuse = add_row("jax_debug_key_reuse", bool, False, "Consuming a random key twice raises.", in_key=True)
KEY_REUSE = 1 << _key_reuse.shift
_custom_prng = add_row("jax_enable_custom_prng", bool, False, "PRNGKey gives typed key arrays.", in_key=True)
_prng_impl = add_row(
    "jax_default_prng_impl",
    ("threefry2x32", "threefry4x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32"), "threefry2x32",
    "The generator behind new random keys.", in_key=True,
)  # fmt: skip
_partitionable = add_row(
    "jax_threefry_partitionable",
    bool,
    True,
    "Random bits of an element do not depend on the others.",
    in_key=True,
)
_gumbel = add_row("jax_high_dynamic_range_gumbel", bool, False, "Gumbel samples use more bits.", in_key=True)
_softmax = add_row("jax_softmax_custom_jvp", bool, False, "softmax has a derivative rule of its own.", in_key=True)
_f16 = add_row("jax_allow_f16_reductions", bool, True, "Sums of float16 and bfloat16 are allowed in lax.", in_key=True)
_no_tracing = add_row("jax_no_tracing", bool, False, "Tracing a function anew for jit raises.")
_static_indices = add_row("jax_check_static_indices", bool, False, "Out-of-bounds static indices raise.", in_key=True)
CHECK_STATIC_INDICES = 1 << _static_indices.shift
_seed_offset = add_row("jax_random_seed_offset", int, 0, "Added to every seed.", in_key=True)
_direct = add_row(
    "onax_direct_tapes", bool, True, "Small compiled programs run without a session of ONNX Runtime.", in_key=True
)
_separate = add_row(
    "onax_separate_devices", bool, False, "Virtual CPU devices run a program each instead of one for all.", in_key=True
)


def _axis_names(value):
    if not isinstance(value, (set, frozenset)):
        raise TypeError(f"Expected axis name(s) as set or frozenset, got {value} of type {type(value)}")
    return frozenset(value)


_no_collectives = add_row(
    "jax_no_collectives", frozenset, frozenset(), "Collectives over these axes raise.", in_key=True, check=_axis_names
)
_explicit_x64 = add_row(
    "jax_explicit_x64_dtypes", ("allow", "warn", "error", "strict"), "warn",
    "What a request for a 64-bit dtype does while 64-bit dtypes are off.",
)  # fmt: skip

# --- rows outside the key -----------------------------------------------------------------------------------
_log_compiles = add_row("jax_log_compiles", bool, False, "Compilations are logged as warnings.")
_misses = add_row("jax_explain_cache_misses", bool, False, "Each compilation says what differs from earlier ones.")
_legacy = add_row("jax_legacy_prng_key", ("allow", "warn", "error"), "allow", "What uint32 arrays as keys do.")
_captured = add_row("jax_captured_constants_warn_bytes", int, 2_000_000_000, "Larger captured constants warn.")
_guards = [
    add_row("jax_transfer_guard" + suffix, _GUARDS, None, "What transfers between host and device do.")
    for suffix in ("_host_to_device", "_device_to_device", "_device_to_host", "")
]
_guarded = add_row("onax_guarded_transfers", bool, False, "A transfer guard may be in force.", in_key=True)
GUARDED = 1 << _guarded.shift  # not part of the key of jitted calls, which check their arguments


@dataclass(slots=True)
class _GuardState:
    used: bool = False  # whether a guard was ever set: a test quicker than that of the option word


guard_state = _GuardState()


def _set_guards(rows, level):
    """Sets transfer guards for all threads."""
    for row in rows:
        _set_global(row, level)
    on = any(row.value not in (None, "allow") for row in _guards[:3])
    guard_state.used = guard_state.used or on
    _set_global(_guarded, on)


for _row in _guards[:3]:
    _row.on_update = functools.partial(_set_guards, (_row,))
    _row.on_update(_row.value)
_guards[3].on_update = functools.partial(_set_guards, _guards)
if _guards[3].value is not None:
    _guards[3].on_update(_guards[3].value)
_filtering = add_row(
    "jax_traceback_filtering",
    ("off", "tracebackhide", "remove_frames", "quiet_remove_frames", "auto"), "auto",
    "How frames inside onax are left out of tracebacks.",
)  # fmt: skip
_frames = add_row("jax_tracer_error_num_traceback_frames", int, 5, "Frames shown for a leaked tracer.")
_cpu_devices = add_row("jax_num_cpu_devices", int, -1, "Number of virtual CPU devices; -1 means one.")
_platforms = add_row("jax_platforms", str, None, "Platforms to use, separated by commas; the first is the default.")
add_row("jax_platform_name", str, "", "The default platform; older form of jax_platforms.")
_cache_dir = add_row("jax_compilation_cache_dir", str, None, "Folder of compiled programs that persist between runs.")
_cache = add_row("jax_enable_compilation_cache", bool, True, "Whether that folder is used.")
add_row("jax_persistent_cache_min_compile_time_secs", float, 1.0, "Cheaper compilations are not stored.")
add_row("jax_persistent_cache_min_entry_size_bytes", int, 0, "Smaller programs are not stored.")
add_row("jax_dump_ir_to", str, "", "Folder into which programs are written that are compiled.")
add_row("jax_dump_ir_modes", str, "stablehlo", "Their forms, of jaxpr and eqn_count_pprof, separated by commas.")
_level = add_row("jax_logging_level", logs.LEVELS, "NOTSET", "Level of the logger `onax`.", on_update=logs.set_level)
add_row("jax_log_checkpoint_residuals", bool, False, "What checkpoint stores is logged as warnings.")
_logs = add_row("jax_debug_log_modules", str, "", "Loggers that write everything.", on_update=logs.write_all_of)
logs.configure(_level.value, _logs.value)
add_row("jax_pprint_use_color", bool, True, "Jaxprs are printed in colour on a terminal.")
add_row("jax_no_execution", bool, False, "Running a compiled program raises.", in_key=True)
# Options without effect, accepted so that programs for JAX run unchanged.  A row is made when it is first looked up.
_INERT = {
    "check_vma": (bool, False),
    "eager_constant_folding": (bool, False),
    "jax2tf_associative_scan_reductions": (bool, False),
    "jax2tf_default_native_serialization": (bool, True),
    "jax_array_garbage_collection_guard": ((None, "allow", "log", "fatal"), None),
    "jax_auto_pcast": (bool, True),
    "jax_backend_target": (str, ""),
    "jax_bcoo_cusparse_lowering": (bool, False),
    "jax_captured_constants_report_frames": (int, 0),
    "jax_check_proxy_envs": (bool, True),
    "jax_compilation_cache_check_contents": (bool, False),
    "jax_compilation_cache_expect_pgle": (bool, False),
    "jax_compilation_cache_include_metadata_in_key": (bool, False),
    "jax_compilation_cache_max_size": (int, -1),
    "jax_compiler_detailed_logging_min_ops": (int, 10),
    "jax_compiler_enable_remat_pass": (bool, True),
    "jax_cpu_collectives_implementation": (str, "gloo"),
    "jax_cpu_enable_async_dispatch": (bool, True),
    "jax_cpu_get_global_topology_timeout_minutes": (int, 5),
    "jax_cpu_get_local_topology_timeout_minutes": (int, 2),
    "jax_cross_host_transfer_socket_address": (str, ""),
    "jax_cross_host_transfer_timeout_seconds": (ANY, None),
    "jax_cross_host_transfer_transfer_size": (ANY, None),
    "jax_cross_host_transport_addresses": (str, ""),
    "jax_cuda_visible_devices": (str, "all"),
    "jax_custom_vjp3": (bool, False),
    "jax_debug_leaked_clients_on_clear_backends": (bool, False),
    "jax_disable_bwd_checks": (bool, False),
    "jax_disable_most_optimizations": (bool, False),
    "jax_disable_vmap_shmap_error": (bool, False),
    "jax_disallow_mesh_context_manager": (bool, False),
    "jax_distributed_debug": (bool, False),
    "jax_embedded_constants_max_bytes": (int, 32),
    "jax_enable_pgle": (bool, False),
    "jax_enable_preemption_service": (bool, True),
    "jax_enable_recoverability": (bool, False),
    "jax_error_checking_behavior_divide": (str, "ignore"),
    "jax_error_checking_behavior_nan": (str, "ignore"),
    "jax_error_checking_behavior_oob": (str, "ignore"),
    "jax_exec_time_optimization_effort": (float, 0.0),
    "jax_experimental_unsafe_xla_runtime_errors": (bool, False),
    "jax_export_calling_convention_version": (int, 10),
    "jax_export_ignore_forward_compatibility": (bool, False),
    "jax_force_dcn_cross_host_transfers": (bool, False),
    "jax_hlo_source_file_canonicalization_regex": (ANY, None),
    "jax_include_debug_info_in_dumps": (bool, True),
    "jax_include_full_tracebacks_in_locations": (bool, True),
    "jax_memory_fitting_effort": (float, 0.0),
    "jax_memory_fitting_level": (str, "O2"),
    "jax_mock_gpu_topology": (str, ""),
    "jax_mosaic_allow_hlo": (bool, False),
    "jax_mutable_array_checks": (bool, True),
    "jax_oneapi_visible_devices": (str, "all"),
    "jax_optimization_level": (str, "UNKNOWN"),
    "jax_pallas_enable_debug_checks": (bool, False),
    "jax_pallas_poison_buffers": (bool, False),
    "jax_pallas_use_mosaic_gpu": (bool, True),
    "jax_pallas_verbose_errors": (bool, False),
    "jax_persistent_cache_enable_xla_caches": (str, ""),
    "jax_pgle_aggregation_percentile": (int, 90),
    "jax_pgle_profiling_runs": (int, 3),
    "jax_pjrt_client_create_options": (ANY, None),
    "jax_ragged_dot_use_gpu_pallas_triton_lowering": (bool, False),
    "jax_ragged_dot_use_ragged_dot_instruction": (bool, True),
    "jax_raise_persistent_cache_errors": (bool, False),
    "jax_refs_to_pins": (bool, False),
    "jax_remat3": (bool, False),
    "jax_remove_custom_partitioning_ptr_from_cache_key": (bool, False),
    "jax_remove_size_one_mesh_axis_from_type": (bool, False),
    "jax_rocm_visible_devices": (str, "all"),
    "jax_scan3": (bool, False),
    "jax_send_traceback_to_runtime": (str, "off"),
    "jax_serialization_version": (int, 0),
    "jax_share_binary_between_hosts": (bool, False),
    "jax_share_binary_between_hosts_timeout_ms": (int, 1_200_000),
    "jax_sort_devices_by_process_index": (bool, True),
    "jax_source_url_schema": (ANY, None),
    "jax_thread_guard": (bool, False),
    "jax_threefry_gpu_kernel_lowering": (bool, False),
    "jax_traceback_in_locations_limit": (int, 100),
    "jax_use_direct_linearize": (bool, True),
    "jax_use_emit_pipeline_primitive": (bool, False),
    "jax_use_magma": (str, "auto"),
    "jax_use_shardy_partitioner": (bool, True),
    "jax_use_simplified_jaxpr_constants": (bool, False),
    "jax_xla_backend": (str, ""),
    "jax_xla_profile_version": (int, 0),
    "mock_num_gpu_processes": (int, 0),
}


# --- contexts of the user ----


def _pairs(value):
    if type(value) is not tuple:
        raise ValueError("onax_user_contexts is set by the contexts of make_user_context alone")
    return value


_user_contexts = add_row(
    "onax_user_contexts", ANY, (), "Values of contexts of make_user_context.", in_key=True, bits=11, check=_pairs
)  # the mesh in context is among them
USER_CONTEXTS = _user_contexts.mask << _user_contexts.shift  # the bits that are set where one has a value


@dataclass(slots=True, eq=False)
class UserContext:
    """A value of the user's that is part of the key of compiled programs; `value` is the one in force."""

    default: object

    @property
    def value(self):
        """The value of the innermost `with` block of this thread, else the default."""
        return dict(read_row(_user_contexts)).get(self, self.default)

    def get_global(self):
        """The value outside of `with` blocks."""
        return dict(_user_contexts.value).get(self, self.default)

    def set_global(self, value):
        """Sets the value outside of `with` blocks, which must be hashable, for all threads."""
        pairs = _with_pair(_user_contexts.value, self, value)
        _set_global(_user_contexts, tuple(pair for pair in pairs if pair != (self, self.default)))
        self.swap_local(value)

    def swap_local(self, value):
        """Sets the value, which must be hashable, in this thread from now on; returns the one before."""
        previous = self.value
        _set_thread_pairs(_with_pair(read_row(_user_contexts), self, value))
        return previous

    def __call__(self, new_val):
        """A context in which `value` is `new_val`, which must be hashable."""
        return _UserScope(self, new_val)


def _with_pair(pairs, user_context, value):
    """The pairs of contexts and values, with another value for one context; a default that holds has no pair."""
    hash(value)
    others = [pair for pair in pairs if pair[0] is not user_context]
    if value == user_context.default == user_context.get_global():
        return tuple(others)
    return tuple(sorted([*others, (user_context, value)], key=lambda pair: id(pair[0])))


def _set_thread_pairs(pairs):
    """Sets the pairs that hold in this thread; it overrides nothing if they are those of all threads."""
    row = _user_contexts
    own = row.mask << row.shift
    _set_bits(own, 0 if pairs == row.value else own, row.number(pairs) << row.shift)


class _UserScope:
    """One `with` block in which a UserContext has a value."""

    __slots__ = ("_context", "_previous", "_value")

    def __init__(self, context, value):
        hash(value)
        self._context = context
        self._value = value
        self._previous = []

    def __enter__(self):
        self._previous.append(self._context.swap_local(self._value))

    def __exit__(self, *error):
        self._context.swap_local(self._previous.pop())


@api_boundary
def make_user_context(default_value: Any = None) -> Any:
    """A context whose values are part of the key of compiled programs: in another value a function is compiled again.

    Args:
      default_value: the value outside of `with` blocks.

    Returns:
      A UserContext: `with context(value): ...` sets the value for this thread, `context.value` reads it.

    Raises:
      TypeError: a value that has no hash.

    Examples:
      >>> import onax as jax
      >>> scale = jax.make_user_context(default_value=1)
      >>> double = jax.jit(lambda x: x * scale.value)
      >>> with scale(2):
      ...     print(double(3))
      6
    """
    return UserContext(default_value)


def guard_transfers(level):
    """The context manager of the transfer guards of all directions."""
    return _Scopes([TransferGuard(row)(level) for row in (_guards[3], *_guards[:3])])


def is_strict():
    """Whether this thread is inside `onax.strict()`, which must check every computation."""
    return read_row(_explicit_x64) == "strict"


def compilation_cache_dir():
    """The folder of the persistent compilation cache, or None if there is none or it is off."""
    return (read_row(_cache_dir) or None) if read_row(_cache) else None


def runs_tapes_directly():
    """Whether compiled programs that are one small tape run without a session."""
    return read_row(_direct)


def _find(name):
    """The row of an option, or None."""
    result = _rows.get(name)
    if result is None and name in _INERT:
        result = add_row(name, *_INERT[name], "Accepted for JAX programs; no effect.")
    return result


def _all_rows():
    """All rows by name, including those that are made when they are looked up."""
    for name in _INERT:
        _find(name)
    return _rows


enable_x64 = Option(_x64)
numpy_dtype_promotion = Option(_promotion)
disable_jit = DisableJit(_disable_jit)
debug_nans = Option(_debug_nans)
debug_infs = Option(_debug_infs)
check_tracer_leaks = checking_leaks = Option(_leaks)
numpy_rank_promotion = Option(_rank)
default_matmul_precision = Option(_precision)
enable_checks = Option(_checks)
debug_key_reuse = Option(_key_reuse)
enable_custom_prng = Option(_custom_prng)
default_prng_impl = Option(_prng_impl)
threefry_partitionable = Option(_partitionable)
softmax_custom_jvp = Option(_softmax)
allow_f16_reductions = Option(_f16)
no_tracing = Option(_no_tracing)
log_compiles = Option(_log_compiles)
explain_cache_misses = Option(_misses)
legacy_prng_key = Option(_legacy)
explicit_x64_dtypes = Option(_explicit_x64)
transfer_guard_host_to_device, transfer_guard_device_to_device, transfer_guard_device_to_host = map(
    TransferGuard, _guards[:3]
)
traceback_filtering = Option(_filtering)
direct_tapes = Option(_direct)
separate_devices = Option(_separate)
no_execution = Option(_rows["jax_no_execution"])
array_garbage_collection_guard = Option(_find("jax_array_garbage_collection_guard"))
auto_pcast = Option(_find("jax_auto_pcast"))
jax2tf_associative_scan_reductions = Option(_find("jax2tf_associative_scan_reductions"))
remove_size_one_mesh_axis_from_type = Option(_find("jax_remove_size_one_mesh_axis_from_type"))
thread_guard = Option(_find("jax_thread_guard"))
no_collectives = Option(_no_collectives)
