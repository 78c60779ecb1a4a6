"""The checker of random keys that are used twice; it has no functions of its own.

`onax.debug_key_reuse(True)`, or the option `jax_debug_key_reuse`, turns it on: a key that a function consumes a second
time raises `onax.errors.KeyReuseError`.
"""
