"""Loggers, and the options that say which of them log in full.

`onax.dispatch` tells what is traced and how long steps take, `onax.compile` what is compiled, `onax.callback` which
functions of the user's failed, `onax.checkpoint` what checkpoint stores, `onax` anything else.  In programs written for
JAX they have the names of JAX's loggers, which such programs configure.
"""

from onax._ground.lazy import logging

_JAX_NAMES = {
    "onax": "jax",
    "onax.callback": "jax._src.callback",
    "onax.checkpoint": "jax._src.ad_checkpoint",
    "onax.dispatch": "jax._src.dispatch",
    "onax.compile": "jax._src.interpreters.pxla",
}
_names = {}
_changed = []  # (logger, its level before)
_handlers = []


def logger(name):
    """The logger that is called `name` in onax."""
    return logging.getLogger(_names.get(name, name))


def speak_for_jax():
    """Gives loggers the names of JAX's."""
    _names.update(_JAX_NAMES)


def write_all_of(names):
    """Makes the loggers with these names, separated by commas, and those below them write all messages to stderr.

    Those of the call before are as they were again.
    """
    for changed, level in _changed:
        changed.removeHandler(_handlers[0])
        changed.setLevel(level)
    _changed.clear()
    for name in (names or "").split(","):
        if name:
            found = logging.getLogger(name)
            _changed.append((found, found.level))
            found.addHandler(_handler())
            found.setLevel("DEBUG")


def _handler():
    if not _handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("{levelname}:{asctime}:{name}:{lineno}: {message}", style="{"))
        _handlers.append(handler)
    return _handlers[0]
