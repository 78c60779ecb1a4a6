"""Named axes, pmap, shard_map and shardings on eight devices: against real JAX's recorded results.

Everything runs twice: as one program of all devices, and as a program on each, as for devices that are machines of
their own.
"""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
import oracle
import shard_map_cases
from onax.export import export
from tolerance import assert_same_bits, assert_within, finfo, is_float
from virtual_devices import MODES, eight_devices, mesh

RECORDED = oracle.load("shard_map_cases")
# A case is a chain of at most sixteen operations, each within four units in the last place of its largest value.
CHAIN_ULPS = 64
CASES = {}
for _mode, _separate in MODES.items():
    with eight_devices(_separate):
        CASES[_mode] = shard_map_cases.cases(jax)
NAMES = list(CASES["one program"])
PROGRAMS = [name for name in NAMES if not name.startswith(("where", "printed"))]
PLACES = [name for name in NAMES if name.startswith("where")]
PRINTED = [name for name in NAMES if name.startswith("printed")]
VMAPPED = [name for name in PROGRAMS if "pmap" not in name and "shard_map" not in name]
EXPORTED = VMAPPED[::3] + ["pmap", "grad of pmap", "shard_map of a matrix product", "grad of shard_map, replicated"]


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


@pytest.fixture
def cases(request):
    """The cases over the devices of the mode; those over no devices are run in one mode only."""
    mode, name = request.node.callspec.params["devices"], request.node.callspec.params.get("name")
    if mode != "one program" and name in VMAPPED:
        pytest.skip("no devices in it")
    return CASES[mode]


def agree(got, name):
    answer = RECORDED.get(name)
    assert answer is not None, "not recorded: run `make record`"
    assert "ok" in answer, answer
    leaves = jax.tree_util.tree_leaves(got)
    assert len(leaves) == len(answer["ok"])
    for leaf, (dtype, shape, data, weak) in zip(leaves, answer["ok"]):
        want = np.frombuffer(data, np.dtype(getattr(jnp, dtype, dtype))).reshape(shape)
        assert getattr(leaf, "weak_type", weak) == weak, f"{name}: weak type {leaf.weak_type}, expected {weak}"
        leaf = np.asarray(leaf)
        if is_float(want.dtype):
            size = np.max(np.abs(want.astype(np.float64)), initial=0.0)
            assert_within(leaf, want, CHAIN_ULPS * float(finfo(want.dtype).eps) * size, name)
        else:
            assert_same_bits(leaf, want, name)


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_jax(cases, name, way):
    function, args = cases[name]
    agree((jax.jit(function) if way == "jit" else function)(*args), name)


@pytest.mark.parametrize("name", PLACES)
def test_lies_where_jax_puts_it(cases, name):
    function, args = cases[name]
    agree(function(*args), name)


@pytest.mark.parametrize("name", PRINTED)
def test_prints_as_jax(cases, name):
    function, args = cases[name]
    want = RECORDED[name]["ok"][0][2].decode()
    assert bytes(function(*args)).decode() == want


@pytest.mark.parametrize("name", EXPORTED)
def test_exported(cases, name):
    function, args = cases[name]
    exported = export(jax.jit(function))(*args)
    everywhere = jax.NamedSharding(mesh(x=exported.nr_devices), jax.P())  # as many devices as it was exported for
    agree(exported.call(*jax.device_put(args, everywhere)), name)
