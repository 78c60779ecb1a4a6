"""Public names of JAX that have no meaning here: access raises an error that says why."""


class UnavailableName(AttributeError, NotImplementedError):
    """What access to such a name raises; its `reason` says why.

    As an AttributeError it makes `hasattr` and `from ... import` answer as usual.
    """

    def __init__(self, module, name, reason):
        super().__init__(f"{module}.{name} is not available: {reason}", name=name)
        self.reason = reason


def unavailable(module, reasons):
    """Returns the `__getattr__` of a module without some of JAX's names.

    Args:
      module: the module's name.
      reasons: dict from names, separated by blanks, to the reason why they are not there.

    Returns:
      A function of a name; it raises UnavailableName, or AttributeError for a name that JAX does not have either.
    """
    reason_of = {name: reason for names, reason in reasons.items() for name in names.split()}

    def __getattr__(name):
        if name in reason_of:
            raise UnavailableName(module, name, reason_of[name])
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)

    return __getattr__
