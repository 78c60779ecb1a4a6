"""Loggers, and the options that say which of them log in full.

`onax.dispatch` tells what is traced and how long steps take, `onax.compile` what is compiled, `onax.callback` which
functions of the user's failed, `onax.checkpoint` what checkpoint stores, `onax` anything else.  In programs written for
JAX they have the names of JAX's loggers, which such programs configure.
"""

from onax._ground.lazy import logging

LEVELS = (None, "NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_JAX_NAMES = {
    "onax": "jax",
    "onax.callback": "jax._src.callback",
    "onax.checkpoint": "jax._src.ad_checkpoint",
    "onax.dispatch": "jax._src.dispatch",
    "onax.compile": "jax._src.interpreters.pxla",
}
_names = {}
_settings = {"level": None, "modules": ""}
_changed = []  # (logger, its level before)
_handlers = []


def logger(name):
    """The logger that is called `name` in onax."""
    return logging.getLogger(_names.get(name, name))


def speak_for_jax():
    """Gives loggers the names of JAX's."""
    _names.update(_JAX_NAMES)
    _apply()


def set_level(level):
    """Makes the logger `onax` and those below it write messages of this level and above to stderr."""
    _settings["level"] = level
    _apply()


def write_all_of(names):
    """Makes the loggers with these names, separated by commas, and those below them write all messages to stderr.

    Those of the call before are as they were again.
    """
    _settings["modules"] = names
    _apply()


def configure(level, names):
    """`set_level` and `write_all_of`."""
    _settings.update(level=level, modules=names)
    _apply()


def _apply():
    """Brings the loggers into the state that the settings ask for."""
    for changed, level in reversed(_changed):
        changed.removeHandler(_handler())
        changed.setLevel(level)
    _changed.clear()
    level = _settings["level"]
    has_level = level not in (None, "NOTSET")
    if has_level:
        _change(logger("onax"), level, True)
    for name in (_settings["modules"] or "").split(","):
        if name:
            found = logging.getLogger(name)
            # What a logger below `onax` writes reaches the handler of `onax` too: one of its own would write it twice.
            _change(found, "DEBUG", not (has_level and _is_below(found, logger("onax"))))


def _is_below(candidate, root):
    return candidate is root or candidate.name.startswith(root.name + ".")


def _change(changed, level, writes):
    _changed.append((changed, changed.level))
    if writes:
        changed.addHandler(_handler())
    changed.setLevel(level)


def _handler():
    if not _handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("{levelname}:{asctime}:{name}:{lineno}: {message}", style="{"))
        _handlers.append(handler)
    return _handlers[0]
