"""The door between `jit` and the compiler, which is imported when a function is compiled for the first time.

The compiler would make `import onax` take 40 % longer (measured in processor time), and many programs never compile.
These are the only imports of onax within functions (`tests/test_architecture.py` knows this module); behind them all
imports are plain.
"""

import functools


@functools.cache
def compiler():
    """The module that compiles: `onax._compile.first_call`, which imports the pipeline and `onax.export.lower`."""
    from onax._compile import first_call

    return first_call


@functools.cache
def multi_device():
    """The package for values on several devices, `onax._compile.devices`; programs of one device never import it."""
    from onax._compile import devices

    return devices
