"""Topologies of the devices of this process."""

import pytest

import onax as jax
from onax.experimental import topologies


def test_this_process():
    topology = topologies.get_attached_topology()
    assert topology.devices == jax.devices()
    mesh = topologies.make_mesh(topology, (len(topology.devices),), ("x",))
    assert mesh.axis_names == ("x",) and mesh.devices.tolist() == jax.devices()
    with pytest.raises(NotImplementedError, match="compiled for the machine that runs them"):
        topologies.get_topology_desc("v5e:2x2", "tpu")
