"""The lazy import of the compiler, when `jit` compiles a function for the first time.

Importing the compiler would make `import onax` take 40 % longer (measured in processor time), and many programs never
compile.
These are the only imports of onax inside functions (`tests/test_architecture.py` allows them in this module); the
compiler itself has ordinary imports.
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


@functools.cache
def measurement():
    """The module that measures compiled programs, `onax._compile.explain`, which few programs need."""
    from onax._compile import explain

    return explain


@functools.cache
def persistent_cache():
    """The module `onax._compile.persistent_cache`, if the user names a folder for it."""
    from onax._compile import persistent_cache as module

    return module


@functools.cache
def process_group():
    """The module that connects several processes, `onax._ground.process_group`."""
    from onax._ground import process_group as module

    return module
