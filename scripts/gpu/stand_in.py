"""Stands in for CUDA where there is none, so that the proof's own logic can be tried: proves nothing about a device.

Two devices that call themselves CUDA's are added, and sessions asked of the CUDA provider are opened on the CPU.
"""

from onax._ground import devices
from onax._ground.devices import Backend, Device


def install():
    """Adds two made-up devices to this process and opens their sessions on the CPU."""
    import onax as jax
    from onax._compile import sessions

    jax.devices()
    made_up = Backend("gpu", [Device("gpu", i, "stand-in") for i in range(2)])
    devices._backends = {**devices.backends(), "gpu": made_up}
    open_session = sessions.open_session

    def open_on_the_cpu(graph, name, settings):
        return open_session(graph, name, {k: v for k, v in settings.items() if not k.startswith("provider")})

    sessions.open_session = open_on_the_cpu
