"""Python functions that run beside the devices of a program, under the names of jax.experimental.colocated_python."""

from onax._ground.unavailable import unavailable as _unavailable
from onax.experimental.colocated_python import api
from onax.experimental.colocated_python.api import colocated_cpu_devices, colocated_python, colocated_python_class

__getattr__ = _unavailable(
    __name__,
    {
        "func func_backend obj obj_backend": "functions and objects live in this process, so that nothing keeps "
        "them for another one",
        "serialization": "functions run in this process, so that they are not serialized",
    },
)

__all__ = ["api", "colocated_cpu_devices", "colocated_python", "colocated_python_class"]
