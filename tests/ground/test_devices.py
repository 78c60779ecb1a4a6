"""Devices: names, virtual ones, memories, the default one, errors in JAX's words."""

import pickle
import subprocess
import sys

import pytest

from onax._ground import devices
from onax._ground.config import config
from onax._ground.errors import JaxRuntimeError

FIRST = devices.devices()[0]


def test_first_device():
    assert (repr(FIRST), str(FIRST), FIRST.platform, FIRST.device_kind) == ("CpuDevice(id=0)", "cpu:0", "cpu", "cpu")
    assert (FIRST.id, FIRST.process_index, FIRST.host_id, FIRST.local_hardware_id) == (0, 0, 0, 0)
    assert pickle.loads(pickle.dumps(FIRST)) is FIRST and FIRST.client.devices()[0] is FIRST
    assert FIRST in {FIRST} and FIRST == devices.devices("cpu")[0]


def test_memories():
    assert repr(FIRST.default_memory()) == "CPU_DEVICE_0" and FIRST.default_memory().kind == "device"
    assert [m.kind for m in FIRST.addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
    assert str(FIRST.default_memory()) == "CpuDeviceMemory(id=0, process_index=0, client=cpu)"
    assert FIRST.memory("pinned_host").addressable_by_devices() == [FIRST]
    with pytest.raises(JaxRuntimeError, match="Got memory kind: foo"):
        FIRST.memory("foo")


def test_counts():
    n = len(devices.devices())
    assert devices.device_count() == devices.local_device_count() == n >= 1
    assert devices.process_index() == 0 and devices.process_count() == 1 and devices.process_indices() == [0]
    assert devices.default_backend() == "cpu" and devices.local_devices(backend="cpu") == devices.devices("cpu")
    with pytest.raises(ValueError, match="Unknown process_index 1"):
        devices.local_devices(process_index=1)


def test_unknown_platform():
    with pytest.raises(RuntimeError, match="Unknown backend fruit"):
        devices.devices("fruit")


@pytest.mark.parametrize("value", [FIRST, "cpu"])
def test_default_device(value):
    with devices.default_device(value):
        assert devices.current_default() is FIRST and config.jax_default_device == value
    assert config.jax_default_device is None and devices.current_default() is FIRST


VIRTUAL = "from onax._ground import devices, config; {set}; print(devices.devices()[-1], devices.device_count())"


@pytest.mark.parametrize(
    "env, set_, wanted",
    [
        ({}, "0", "cpu:0 1"),
        ({"JAX_NUM_CPU_DEVICES": "4"}, "0", "cpu:3 4"),
        ({"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}, "0", "cpu:7 8"),
        ({}, "config.config.update('jax_num_cpu_devices', 3)", "cpu:2 3"),
        ({}, "devices.devices(), config.config.update('jax_num_cpu_devices', 3)", "before backends are initialized"),
        ({"JAX_PLATFORMS": "tpu"}, "0", "Unable to initialize backend 'tpu'"),
    ],
)
def test_virtual_devices(env, set_, wanted, monkeypatch):
    for name in ("JAX_NUM_CPU_DEVICES", "XLA_FLAGS", "JAX_PLATFORMS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", VIRTUAL.format(set=set_)], capture_output=True, text=True)
    assert wanted in done.stdout + done.stderr


def testcuda_models(tmp_path):
    assert devices.cuda_models(tmp_path) == []
    (tmp_path / "dev").mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "null"):
        (tmp_path / "dev" / name).touch()
    assert devices.cuda_models(tmp_path) == ["NVIDIA GPU", "NVIDIA GPU"]
    folder = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0"
    folder.mkdir(parents=True)
    (folder / "information").write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n")
    assert devices.cuda_models(tmp_path) == ["NVIDIA H200"]


def test_cuda_devices(monkeypatch):
    provided = type("Runtime", (), {"providers": ("CUDAExecutionProvider", "CPUExecutionProvider")})
    monkeypatch.setattr(devices, "cuda_models", lambda: ["A", "B", "C"])
    monkeypatch.setattr(devices, "find_runtime", lambda: provided)
    monkeypatch.setattr(devices.sys, "platform", "linux")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = devices._cuda_devices()
    assert [(repr(d), str(d), d.platform, d.device_kind) for d in found[:1]] == [
        ("CudaDevice(id=0)", "cuda:0", "gpu", "A")
    ]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0")
    assert [(d.id, d.device_kind) for d in devices._cuda_devices()] == [(0, "C"), (1, "A")]
    monkeypatch.setattr(provided, "providers", ("CPUExecutionProvider",))
    assert devices._cuda_devices() == []


@pytest.mark.parametrize(
    "value, wanted",
    [
        ("2,0", ["C", "A"]),
        ("", []),
        ("-1,0", []),
        ("1,7,0", ["B"]),
        ("GPU-8932f937, 1", ["NVIDIA GPU", "B"]),
        ("MIG-GPU-8932f937/1/2", ["NVIDIA GPU"]),
    ],
)
def test_devices_that_cuda_shows(value, wanted, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert devices._visible_models(["A", "B", "C"]) == wanted


def test_cuda_devices_are_machines_of_their_own():
    assert (
        devices.Device("gpu", 1)._separate and not FIRST._separate and devices.Device("cpu", 1, separate=True)._separate
    )
