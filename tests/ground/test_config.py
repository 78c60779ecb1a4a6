"""Options: precedence, threads, the option word, texts of errors."""

import subprocess
import sys
import threading

import pytest

import onax as jax
from onax._ground import config as options
from onax._ground.config import config
from onax._native import context


def test_precedence_and_nesting():
    assert config.jax_enable_x64 is False
    with options.enable_x64():
        assert config.x64_enabled and context.option_word() & options.X64
        with options.enable_x64(False), options.numpy_dtype_promotion("strict"):
            assert not config.jax_enable_x64 and config.jax_numpy_dtype_promotion == "strict"
            assert context.option_word() & options.STRICT_PROMOTION
        assert config.jax_enable_x64 and config.jax_numpy_dtype_promotion == "standard"
    assert config.jax_enable_x64 is False


def test_update_is_global_and_blocks_are_local():
    seen = {}

    def look():
        seen["x64"], seen["log"] = config.jax_enable_x64, config.jax_log_compiles

    with options.enable_x64(), options.log_compiles():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == {"x64": False, "log": False}
    config.update("jax_enable_x64", True)
    try:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert seen["x64"] is True
        with options.enable_x64(False):
            assert not config.jax_enable_x64
    finally:
        config.update("jax_enable_x64", False)


def test_blocks_end_with_exceptions_and_decorate():
    with pytest.raises(KeyError):
        with options.debug_nans():
            raise KeyError
    assert not config.jax_debug_nans

    @options.debug_nans(True)
    def inside():
        return config.jax_debug_nans

    assert inside() and not config.jax_debug_nans


@pytest.mark.parametrize("name", ["jax_foo", ""])
def test_unknown_option(name):
    with pytest.raises(AttributeError, match=f"Unrecognized config option: {name}"):
        config.update(name, 1)
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = config.jax_foo


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("jax_numpy_rank_promotion", "bad", r"new enum value must be in \['allow', 'warn', 'raise'\], got bad"),
        ("jax_default_matmul_precision", "x", "new enum value must be None or in"),
        (
            "jax_tracer_error_num_traceback_frames",
            "many",
            "^new int config value must be None or of type int, got many",
        ),
        (
            "jax_compilation_cache_dir",
            3,
            "^new string config value must be None or of type str, got 3 of type <class 'int'>",
        ),
        ("jax_default_device", 3, "must be passed either a Device object"),
    ],
)
def test_bad_values(name, value, message):
    import onax._ground.devices  # noqa: F401 - adds the row of the default device

    before = config.read(name)
    with pytest.raises(ValueError, match=message):
        config.update(name, value)
    assert config.read(name) == before


def test_every_row_reads_writes_and_keeps_its_bits():
    for name, value in config.values.items():
        config.update(name, value)
        assert config.read(name) == value
    used = 0
    for name in config.values:
        row = options.find_row(name)
        if row.shift is not None:
            assert not used & (row.mask << row.shift)
            used |= row.mask << row.shift
    assert used < 1 << 63


def test_an_int_is_a_float():
    name = "jax_persistent_cache_min_compile_time_secs"
    before = getattr(config, name)
    try:
        config.update(name, 0)
        assert (type(getattr(config, name)), getattr(config, name)) == (float, 0.0)
    finally:
        config.update(name, before)


def test_numbered_values():
    with options.default_matmul_precision("F32_F32_F32"):
        assert config.jax_default_matmul_precision == "F32_F32_F32"
        word = context.option_word()
    assert word != context.option_word() and config.jax_default_matmul_precision is None


@pytest.mark.parametrize(
    "env, code, wanted",
    [
        ({"JAX_ENABLE_X64": "1"}, "config.jax_enable_x64", "True"),
        ({"JAX_NUMPY_RANK_PROMOTION": "warn"}, "config.jax_numpy_rank_promotion", "warn"),
        ({"JAX_ENABLE_X64": "foo"}, "0", "ValueError: invalid truth value 'foo' for environment 'JAX_ENABLE_X64'"),
        ({"JAX_NUMPY_DTYPE_PROMOTION": "foo"}, "0", 'ValueError: Invalid value "foo" for JAX flag'),
    ],
)
def test_environment(env, code, wanted, monkeypatch):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    program = f"from onax._ground.config import config; print({code})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert wanted in (done.stdout + done.stderr)


@pytest.mark.parametrize(
    "call, arguments, wanted",
    [
        ("parse_flags_with_absl", ["--jax_enable_x64", "--other=3"], "True"),
        ("parse_flags_with_absl", ["--other=3"], "False"),
        ("config_with_absl", ["--jax_enable_x64=True"], "True"),
    ],
)
def test_flags(call, arguments, wanted):
    pytest.importorskip("absl")
    program = f"from onax._ground.config import config; config.{call}()\n" + (
        "print(config.jax_enable_x64)"
        if call.startswith("parse")
        else "from absl import app; app.run(lambda argv: print(config.jax_enable_x64))"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.stdout == f"{wanted}\n", done.stderr


def test_options_without_effect_are_there_when_asked_for():
    for name, value in (("jax_pgle_profiling_runs", 3), ("jax_compiler_enable_remat_pass", True)):
        assert getattr(config, name) == value and name in config.values
    config.update("jax_cpu_collectives_implementation", "mpi")
    assert config.jax_cpu_collectives_implementation == "mpi"
    config.update("jax_cpu_collectives_implementation", "gloo")


def test_options_are_not_assigned():
    with pytest.raises(AttributeError, match="options are set by"):
        config.jax_enable_x64 = True


def test_the_argument_of_disable_jit_has_a_name_of_its_own():
    with options.disable_jit(disable=True):
        assert options.disable_jit.value
        with options.disable_jit(disable=False):
            assert not options.disable_jit.value
        with options.disable_jit():
            assert options.disable_jit.value
    assert not options.disable_jit.value


def test_a_user_context_is_part_of_the_key_of_programs():
    scale, other = jax.make_user_context(default_value=1), jax.make_user_context()
    traces = []

    @jax.jit
    def f(x):
        traces.append(scale.value)
        return x * scale.value

    assert scale.value == 1 and other.value is None and f(3) == 3
    with scale(2):
        assert scale.value == 2 and f(3) == 6
        with other("a"), scale(5):
            assert (scale.value, other.value) == (5, "a") and f(3) == 15
        assert f(3) == 6
    assert f(3) == 3 and traces == [1, 2, 5]
    scale.set_global(7)
    with other("a"):
        assert (scale.get_global(), scale.value) == (7, 7) and f(3) == 21
    with scale(2):
        assert (scale.get_global(), scale.value, f(3)) == (7, 2, 6)
    scale.set_global(1)
    assert scale.get_global() == 1 and f(3) == 3 and traces == [1, 2, 5, 7]
    with pytest.raises(TypeError, match="unhashable"):
        scale([])
    with pytest.raises(ValueError, match="make_user_context"):
        config.update("onax_user_contexts", "a")
