"""ONNX Runtime's own CUDA provider, on a device that is not there: what it copies, and what it does not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROBES = ROOT / "tests" / "fake_cuda_probes.py"


def _missing():
    """Why there can be no such device here, or None."""
    sys.path.insert(0, str(ROOT / "scripts" / "gpu"))
    try:
        import fake_cuda

        return fake_cuda.missing()
    finally:
        sys.path.pop(0)


pytestmark = pytest.mark.skipif(_missing() is not None, reason=str(_missing()))


@pytest.fixture(scope="module")
def found():
    done = subprocess.run([sys.executable, str(PROBES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_a_call_copies_its_argument_once_and_its_result_when_it_is_read(found):
    binding = found["binding"]
    assert binding["first"] == {"to_device": 1, "bytes_to_device": 48, "on_device": 1}
    assert binding["second"] == {"on_device": 1}  # which is what Reshape does there
    assert binding["shape"] == {} == binding["read again"]
    assert binding["read"] == {"to_host": 1, "bytes_to_host": 48}
    assert binding["right"] and binding["no elements"] == [[0, 3], [2]]


def test_without_io_binding_every_call_copies_both(found):
    copied = found["binding"]["without binding"]
    assert copied.pop("on_device") == 1
    assert copied == {"to_device": 1, "bytes_to_device": 48, "to_host": 1, "bytes_to_host": 48}


def test_a_call_has_ended_when_it_returns(found):
    assert found["binding"]["waited"] >= 1


def test_training_steps_copy_nothing(found):
    steps = found["chain"]
    assert steps.pop("launches") >= 10 * 4
    assert not {"to_device", "to_host"} & set(steps), steps


def test_devices_have_memories_of_their_own(found):
    assert found["devices"]["move"] == {
        "to_host": 1,
        "to_device": 1,
        "bytes_to_host": 48,
        "bytes_to_device": 48,
        "on_device": 1,
    }
    assert found["devices"]["right"] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_calls_reuse_memory(found):
    assert found["memory"] == {"allocated": 0, "freed": 0}


def test_other_libraries_share_the_memory_of_a_device(found):
    exchange = found["exchange"]
    assert exchange["device"] == [2, 1] and exchange["same memory"] and exchange["streams"] == [1]
    assert exchange["placed"] == "cuda:1" and exchange["committed"]
    assert exchange["imported"] == {} and exchange["copied"] == {"on_device": 1}
    assert exchange["computed"] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert exchange["host"] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert exchange["refused"] == ["ValueError", "BufferError"]


def test_the_interface_of_cuda_arrays(found):
    exchange = found["exchange"]
    wanted = {"shape": [3, 4], "typestr": "<f4", "strides": None, "stream": None, "version": 3}
    assert exchange["interface"] == wanted and exchange["pointer"]
    assert exchange["taken"].pop("synchronized") >= 2  # the producer's stream, and the copy
    assert exchange["taken"] == {"on_device": 1} and exchange["taken right"]


def test_donated_memory_is_reused_by_the_next_result(found):
    assert found["donation"] == {"places": 2, "allocated": 0, "deleted": True}


def test_a_recorded_program_is_replayed(found):
    recorded = found["cuda_graph"]
    assert recorded["replayed"] == {"graph_launches": 1, "on_device": 2}  # its argument and its result are copied
    assert recorded["other memory"]
    on_host, control_flow, option = recorded["refused"]
    assert "needs all values on the device" in on_host or "have not been partitioned" in on_host
    assert "control flow" in control_flow and "the option cuda_graph" in option


def test_options_of_the_provider_hold_together(found):
    assert found["provider_options"] == {"use_tf32": "0", "device_id": "1", "gpu_mem_limit": "12345"}


def test_the_table_of_kernels_agrees_with_what_the_provider_loads(found):
    kept = found["kept_on_the_host"]
    assert {name: pair for name, pair in kept.items() if pair[0] != pair[1]} == {}
    assert kept["tanh"] == [True, True] and kept["arctan"] == [False, False]


def test_bodies_of_loops_touch_no_memory_of_the_device(found):
    assert found["control_flow"] == [[3, 3], [3, 3], [3], [3], [3]]
