"""Where sessions run: the provider option, and devices; CUDA where it is there, the runtime's words where it is not."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from made_up_cuda import made_up_cuda
from onax import lax
from onax._compile import sessions
from onax._ground.errors import JaxRuntimeError
from onax._native import ort
from onax.export.lower import driver
from onax.sharding import AxisType, Mesh, NamedSharding
from onax.sharding import PartitionSpec as P

HAS_GPU = jax.default_backend() == "gpu" or any(d.platform == "gpu" for d in jax.devices())
X = np.arange(12, dtype=np.float32).reshape(4, 3) / 4
no_gpu = pytest.mark.skipif(HAS_GPU, reason="there is a CUDA device")
WAY_OUT = "If CUDA cannot be used here: it needs onnxruntime-gpu, the CUDA and cuDNN libraries"


def run(**options):
    return jax.jit(lambda x: jnp.tanh(x) + 1, compiler_options=options)(jnp.arange(3.0))


@no_gpu
@pytest.mark.parametrize("given, name", [({}, "cuda:0"), ({"device_id": 3}, "cuda:3")])
def test_a_provider_that_cannot_be_loaded_is_an_error(given, name):
    with pytest.raises(jax.errors.BackendError, match=f"ONNX Runtime refused <lambda> on {name}: ") as raised:
        run(provider="cuda", provider_options=given)
    assert WAY_OUT in str(raised.value)
    assert re.search(r"Installed here: .*onnxruntime(-gpu)? \d+\.\d+", str(raised.value))
    np.testing.assert_allclose(np.asarray(run(provider="cpu")), np.tanh(np.arange(3)) + 1, rtol=1e-6)


def test_unknown_providers_and_options_are_errors():
    with pytest.raises(ValueError, match="unknown provider 'tpu'"):
        run(provider="tpu")
    with pytest.raises(JaxRuntimeError, match="INVALID_ARGUMENT: No such compile option: 'speed'"):
        run(speed=1)


@pytest.mark.parametrize(
    "options",
    [
        {"exec_time_optimization_effort": 0.0, "memory_fitting_effort": 0.5},
        {"optimization_level": 19, "memory_fitting_level": 9},
        {"xla_embed_ir_in_executable": True, "fdo_profile": b""},
    ],
)
def test_options_of_xla_say_nothing(options):
    np.testing.assert_array_equal(np.asarray(run(**options)), np.asarray(run()))


@no_gpu
def test_other_providers_get_no_nodes_of_ours():
    """They run on the CPU: a program that needs one is refused before the provider is asked for."""
    f = lambda x: jax.pure_callback(np.sin, x, x)
    assert jax.jit(f)(jnp.arange(3.0)).shape == (3,)
    with pytest.raises(jax.errors.LoweringError, match="it calls Python"):
        jax.jit(f, compiler_options={"provider": "cuda"})(jnp.arange(3.0))


# ---- devices that say they are CUDA's


@pytest.fixture
def four():
    with made_up_cuda(4) as found:
        yield found


@pytest.fixture
def opened(four, monkeypatch):
    """What sessions are opened with, as (provider, its options)."""
    asked, session = [], sessions.ort.Session

    def open_session(*args, options, **rest):
        asked.append((options.get("provider", "cpu"), options.get("provider_options")))
        assert not (options["operators"] and asked[-1][0] == "cuda")
        return session(*args, options=options, **rest)

    monkeypatch.setattr(sessions.ort, "Session", open_session)
    return asked


def on(number):
    return "cuda", {"use_tf32": 0, "device_id": number}


def test_a_program_runs_where_its_arguments_are(four, opened):
    f = jax.jit(lambda x: jnp.tanh(x) @ x.T)
    first = f(jax.device_put(X, four[2]))
    assert opened == [on(2)] and first.devices() == {four[2]} and first.committed
    f(jax.device_put(X + 1, four[2]))
    assert opened == [on(2)]
    second = f(jax.device_put(X, four[0]))
    assert opened == [on(2), on(0)] and second.devices() == {four[0]}
    assert f(X).devices() == {jax.devices("cpu")[0]} and opened[2:] in ([], [("cpu", None)])
    assert np.allclose(first, np.tanh(X) @ X.T, rtol=1e-5) and np.array_equal(first, second)


def test_a_program_runs_where_jit_is_told(four, opened):
    with pytest.warns(DeprecationWarning):
        told, by_backend = jax.jit(jnp.cumsum, device=four[1]), jax.jit(jnp.cumsum, backend="gpu")
    assert told(X).devices() == {four[1]} and by_backend(X).devices() == {four[0]}
    assert opened == [on(1), on(0)]


def test_a_program_runs_on_the_default_device(four, opened):
    f = jax.jit(jnp.cumsum)
    with jax.default_device(four[3]):
        assert f(X).devices() == {four[3]}
        assert np.array_equal(f.lower(X).compile()(X), np.cumsum(X))
    assert opened == [on(3), on(3)]
    f(X)
    assert opened[2:] in ([], [("cpu", None)])


def test_a_program_within_a_transformation_runs_where_its_arguments_are(four, opened):
    f = jax.jit(lambda x: jnp.sum(jnp.cumsum(x) ** 2))
    x = jax.device_put(X, four[1])
    assert np.allclose(jax.grad(f)(x), jax.grad(f)(X)) and on(1) in opened
    assert jax.vmap(f)(x).shape == (4,)
    assert {asked for asked, _ in opened} <= {"cuda", "cpu"} and on(0) not in opened


def test_a_program_over_devices_with_memory_of_their_own_is_partitioned(four, opened):
    sharding = NamedSharding(Mesh(np.array(four[1:3], dtype=object), ("x",)), P("x"))
    out = jax.jit(lambda x: jnp.tanh(x) @ jnp.ones((3, 3)))(jax.device_put(X, sharding))
    assert opened == [on(1), on(2)] and out.sharding == sharding
    assert np.allclose(out, np.tanh(X) @ np.ones((3, 3)), rtol=1e-5)


def test_options_that_name_a_provider_count(four, opened):
    jax.jit(jnp.cumsum, compiler_options={"provider": "cpu"})(jax.device_put(X, four[1]))
    jax.jit(jnp.cumsum, compiler_options={"provider_options": {"gpu_mem_limit": 1}})(jax.device_put(X, four[1]))
    assert opened == [("cpu", None), ("cuda", {"use_tf32": 0, "device_id": 1, "gpu_mem_limit": 1})]


@pytest.mark.parametrize(
    "precision, allowed", [(None, 0), ("highest", 0), ("float32", 0), ("tensorfloat32", 1), ("bfloat16", 1)]
)
def test_tf32_is_off_unless_the_precision_allows_it(four, opened, precision, allowed):
    f = jax.jit(lambda x: x @ x.T)
    with jax.default_matmul_precision(precision):
        f(jax.device_put(X, four[1]))
    assert opened == [("cuda", {"use_tf32": allowed, "device_id": 1})]


def test_a_provider_option_goes_before_the_precision(four, opened):
    jax.jit(jnp.cumsum, compiler_options={"provider_options": {"use_tf32": 1}})(jax.device_put(X, four[1]))
    assert opened == [("cuda", {"use_tf32": 1, "device_id": 1})]


def test_pmap_opens_a_session_on_each_device(four, opened, monkeypatch):
    lowered, lower = [], driver.lower_jaxpr
    monkeypatch.setattr(driver, "lower_jaxpr", lambda *args, **k: (lowered.append(1), lower(*args, **k))[1])
    f = jax.pmap(lambda x: jnp.cumsum(lax.psum(jnp.tanh(x) @ jnp.ones((3, 3)), "i")), axis_name="i", devices=four)
    out = f(X)
    assert sorted(opened, key=str) == [on(i) for i in range(4) for _ in range(2)]
    assert [s.device for s in out.addressable_shards] == four
    assert np.allclose(out, np.cumsum((np.tanh(X) @ np.ones((3, 3))).sum(0)), rtol=1e-5)
    f(X + 1)
    assert len(opened) == 8 and len(lowered) == 2


def test_shard_map_opens_sessions_on_the_devices_of_its_mesh(four, opened):
    mesh = Mesh(np.array(four, dtype=object).reshape(2, 2)[::-1], ("x", "y"), (AxisType.Auto,) * 2)
    f = jax.shard_map(
        lambda x: lax.all_gather(jnp.cumsum(x, 0), "x", tiled=True), mesh=mesh, in_specs=P("x"), out_specs=P("x")
    )
    out = jax.jit(lambda x: f(x) + 1)(X)
    assert {given["device_id"] for provider, given in opened if provider == "cuda"} == {0, 1, 2, 3}
    assert out.devices() == set(four) and out.shape == (8, 3)


def test_one_cuda_device_runs_the_whole_program(four, opened):
    f = jax.pmap(lambda x: lax.scan(lambda c, a: (c + lax.psum(a, "i"), c), 0.0, x), axis_name="i", devices=four[3:])
    f(X[:1])
    assert opened == [on(3)]


def test_calls_of_python_stay_on_the_host(four, opened):
    f = lambda x: lax.psum(jax.pure_callback(np.sin, x, jnp.cumsum(x), vmap_method="expand_dims"), "i")
    out = jax.pmap(f, axis_name="i", devices=four)(X)
    assert np.allclose(out[2], np.sin(np.cumsum(X, 1)).sum(0), rtol=1e-5) and on(0) in opened


HOSTED = {
    "qr": lambda x: jnp.linalg.qr(jnp.tanh(x).T @ x + jnp.eye(3))[1] * 2,
    "python": lambda x: jnp.tanh(jax.pure_callback(np.sin, x, jnp.tanh(x))) @ x.T,
    "python in a loop": lambda x: lax.scan(lambda c, a: (jax.pure_callback(np.sin, c, c + a), jnp.cumsum(c)), x[0], x),
    "python in a branch": lambda x: lax.cond(
        x[0, 0] > 9, jnp.cumsum, lambda a: jax.pure_callback(np.sin, a, a).ravel(), x
    ),
}


@pytest.mark.parametrize("name", HOSTED)
def test_what_onnx_cannot_say_is_carried_out_on_the_host(name, four, opened):
    f = HOSTED[name]
    want, _ = jax.tree_util.tree_flatten(jax.jit(f)(X))
    opened.clear()
    found, _ = jax.tree_util.tree_flatten(jax.jit(f)(jax.device_put(X, four[2])))
    assert opened and set(map(str, opened)) == {str(on(2))}
    for got, expected in zip(found, want, strict=True):
        assert got.devices() == {four[2]} and got.dtype == expected.dtype
        assert np.allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_messages_of_a_program_on_a_device(four, opened, capsys):
    def f(x):
        jax.debug.print("first {}", x.sum())
        y = jnp.cumsum(x)
        jax.debug.print("then {}", y[-1])
        return y * 2

    assert np.array_equal(jax.jit(f)(jax.device_put(X, four[1])), np.cumsum(X) * 2)
    assert capsys.readouterr().out == "first 16.5\nthen 16.5\n" and opened


def test_regions_whose_operations_onnx_cannot_say(four, opened):
    f = lambda x: jnp.abs(jnp.linalg.qr(jnp.outer(x, x) + lax.psum(jnp.eye(3), "i"))[1])
    out = jax.pmap(f, axis_name="i", devices=four)(X)
    assert np.allclose(out, jax.vmap(f, axis_name="i")(X), atol=1e-5)
    assert {given["device_id"] for _, given in opened} == {0, 1, 2, 3}


def test_a_device_that_fails_is_named_and_releases_the_others(four, monkeypatch):
    session = sessions.ort.Session

    def open_session(model, *args, options, **rest):
        number = options["provider_options"]["device_id"]
        made = session(model, *args, options=options, **rest)
        node = re.search(rb"[A-Za-z_0-9]*[Tt]anh[A-Za-z_0-9]*", model)[0].decode() if b"anh" in model else ""

        def fail(arrays):
            raise ort.Fault(f"running the node '{node}': out of memory")

        return fail if number in (1, 3) and node else made

    monkeypatch.setattr(sessions.ort, "Session", open_session)
    monkeypatch.setattr(sessions, "BoundSession", lambda session, memory, captured: session)
    f = lambda x: lax.psum(jnp.cumsum(x), "i") + lax.psum(jnp.tanh(x), "i")
    with pytest.raises(jax.errors.BackendError, match=r"failed while running .* on cuda:1: .*out of") as raised:
        jax.pmap(f, axis_name="i", devices=four)(X)
    assert WAY_OUT not in str(raised.value) and "test_sessions.py" in str(raised.value)


@no_gpu
@pytest.mark.parametrize(
    "place", [lambda f, d: jax.jit(f)(jax.device_put(X, d)), lambda f, d: jax.pmap(f, devices=[d])(X[None])]
)
def test_a_device_that_cannot_be_used_is_named(place):
    with made_up_cuda(2, usable=False) as devices:
        with pytest.raises(jax.errors.BackendError, match=re.escape("on cuda:1: ")) as raised:
            place(lambda x: jnp.tanh(x) @ x.T, devices[1])
        assert WAY_OUT in str(raised.value) and "jax.devices('cpu')[0]" in str(raised.value)


@pytest.mark.parametrize("step, segments", [(jnp.tanh, 1), (jnp.arctan, 2)])
def test_a_loop_whose_steps_would_copy_values_is_kept_on_the_host(four, opened, step, segments):
    def f(x):
        y = jnp.cumsum(x, 0) @ jnp.ones((3, 3))
        return jnp.tanh(lax.scan(lambda c, r: (step(c) + r, c), y[0], y)[1]) @ x.T

    out = jax.jit(f)(jax.device_put(X, four[1]))
    assert [asked for asked in opened if asked[0] == "cuda"] == [on(1)] * segments
    assert [n.op_type for n in jax.jit(f).lower(X).transfers()] == ["Atan"] * (segments - 1)
    assert np.allclose(out, jax.jit(f)(X), rtol=1e-4) and out.devices() == {four[1]}


# ---- CUDA itself


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="there is no CUDA device")
def test_cuda_runs_a_graph():
    np.testing.assert_allclose(
        np.asarray(run(provider="cuda", provider_options={"device_id": 0})), np.tanh(np.arange(3)) + 1, rtol=1e-5
    )


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="there is no CUDA device")
def test_cuda_runs_what_lies_there():
    x = jax.device_put(X, jax.devices("gpu")[-1])
    out = jax.jit(lambda x: jnp.tanh(x) @ x.T)(x)
    assert out.devices() == x.devices() and np.allclose(out, np.tanh(X) @ X.T, rtol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not HAS_GPU, reason="there is no CUDA device")
def test_cuda_devices_meet():
    found = jax.devices("gpu")
    x = np.arange(3.0 * len(found), dtype=np.float32).reshape(-1, 3)
    f = jax.pmap(lambda x: lax.scan(lambda c, a: (c + lax.psum(a, "i"), c), 0.0, jnp.tanh(x)), "i", devices=found)
    carry, _ = f(x)
    assert carry.devices() == set(found) and np.allclose(carry, np.tanh(x).sum(), rtol=1e-4)
