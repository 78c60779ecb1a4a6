"""The version that programs see is that of the metadata beside it, and of the recorded answers."""

import importlib.metadata

from onax.interop import versions
from onax.interop.install import FOLDER


def test_the_version():
    found = {d.name: d.version for d in importlib.metadata.distributions(path=[FOLDER])}
    assert found == {"jax": versions.JAX, "jaxlib": versions.JAX}
    assert ".".join(map(str, versions.JAX_INFO)) == versions.JAX
