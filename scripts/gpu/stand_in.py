"""Stands in for CUDA where there is none, so that the proof's own logic can be tried: proves nothing about a device.

Two devices that call themselves CUDA's are added, and sessions asked of the CUDA provider are opened on the CPU.
"""

from onax._ground import devices, lazy
from onax._ground.devices import Backend, Device


def install():
    """Adds two made-up devices to this process and opens their sessions on the CPU."""
    import onax as jax
    import onax.export
    from onax._native import ort

    jax.jit(lambda x: x @ x)(jax.numpy.ones((2, 2)))  # loads the compiled modules, which look for the class at import
    made_up = Backend("gpu", [Device("gpu", i, "stand-in") for i in range(2)])
    devices._backends = {**devices.backends(), "gpu": made_up}

    session = ort.Session

    def open_on_the_cpu(model, inputs, outputs, *, initializers=None, options=None):
        kept = {k: v for k, v in (options or {}).items() if not k.startswith("provider")}
        return session(model, inputs, outputs, initializers=initializers, options=kept)

    ort.Session = lazy.ort.Session = open_on_the_cpu
