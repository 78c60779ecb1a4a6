"""Stands in for CUDA where there is none, so that the proof's own logic can be tried: proves nothing about a device.

Two devices that call themselves CUDA's are added, sessions asked of the CUDA provider are opened on the CPU, and the
devices' memory is the host's.  Values are right, as opposed to those of `fake_cuda.py`, which has the provider itself.
"""

from types import SimpleNamespace

from onax._ground import devices
from onax._ground.devices import Backend, Device


def install():
    """Adds two made-up devices to this process and opens their sessions on the CPU."""
    import onax as jax
    from onax._compile import sessions
    from onax._native import ort

    jax.devices()
    made_up = Backend("gpu", [Device("gpu", i, "stand-in") for i in range(2)])
    devices._backends = {**devices.backends(), "gpu": made_up}
    memory, session = sessions.DeviceMemory, ort.Session

    def open_on_the_cpu(model, inputs, outputs, *, options, **rest):
        options = {name: value for name, value in options.items() if not name.startswith("provider")}
        return session(model, inputs, outputs, options=options, **rest)

    sessions.ort = SimpleNamespace(Session=open_on_the_cpu, Fault=ort.Fault)
    sessions.DeviceMemory = lambda provider, device_id, session: memory("cpu", device_id, session)
