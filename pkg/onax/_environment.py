"""Describes the environment for bug reports."""

import platform
import sys

import numpy as np

from onax import __version__
from onax._ground.devices import devices, process_count
from onax._ground.onnx_runtime import find_runtime


def print_environment_info(return_string: bool = False) -> str | None:
    """Prints the versions of onax, ONNX Runtime, NumPy and Python, the devices and the machine.

    Args:
      return_string: True: returns the text instead; default False.

    Returns:
      None, or a str.

    Examples:
      >>> "onax" in onax.print_environment_info(return_string=True)
      True
    """
    all_devices, runtime = devices(), find_runtime()
    text = "\n".join(
        [
            f"onax:   {__version__}",
            f"{runtime.distribution}: {runtime.version} ({', '.join(runtime.providers)})",
            f"numpy:  {np.__version__}",
            f"python: {sys.version}",
            f"device info: {all_devices[0].device_kind}-{len(all_devices)}, {len(all_devices)} local devices",
            f"process_count: {process_count()}",
            f"platform: {platform.uname()}",
        ]
    )
    if return_string:
        return text
    print(text)
    return None
