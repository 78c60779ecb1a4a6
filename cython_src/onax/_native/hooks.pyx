"""The one record of what compiled code calls in Python.

`hooks` has a field for each function that compiled code needs of the floors above it (`hooks.pxd` says what each is
given and gives back).  `onax._core.hooks` assigns those of floors 1 and 2, `onax._compile` the placement of sharded
results, `onax.numpy` the operators; `import onax` ends with `hooks.check_complete()`.
"""

OPERATOR_NAMES = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift",
    "rshift", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem", "iter",
)
_KINDS = "biufcV"   # V: the dtypes of ml_dtypes


cdef tuple _by_operator(dict table):
    """The values of a dictionary by name, in the order of the operators; None for names that are missing."""
    unknown = table.keys() - set(OPERATOR_NAMES)
    if unknown:
        raise ValueError(f"no operator is called {min(unknown)!r}; there are {', '.join(OPERATOR_NAMES)}")
    return tuple([table.get(name) for name in OPERATOR_NAMES])


cdef class Hooks:
    """The functions of higher floors that compiled code calls.  A field is None until it is assigned."""

    def __cinit__(self):
        self.functions = self.primitives = (None,) * OPS

    @property
    def operators(self):
        """{name: function}.  Reflected operators call the same function with operands swapped."""
        return {name: f for name, f in zip(OPERATOR_NAMES, self.functions) if f is not None}

    @operators.setter
    def operators(self, table):
        self.functions = _by_operator(table)

    @property
    def operator_primitives(self):
        """{name: (primitive, kinds)}: the primitive that an operator is when its operands have one dtype of these kinds.

        `kinds` are letters of np.dtype.kind; V stands for the dtypes of ml_dtypes.
        """
        found = {}
        for i, name in enumerate(OPERATOR_NAMES):
            if self.primitives[i] is not None:
                kinds = "".join([kind for kind in _KINDS if self.kinds[i] & kind_bit(ord(kind))])
                found[name] = (self.primitives[i], kinds)
        return found

    @operator_primitives.setter
    def operator_primitives(self, table):
        entries = _by_operator(table)
        self.primitives = tuple([None if entry is None else entry[0] for entry in entries])
        for i, entry in enumerate(entries):
            self.kinds[i] = 0
            for kind in "" if entry is None else entry[1]:
                self.kinds[i] |= kind_bit(ord(kind))

    def missing(self):
        """The names of fields that nobody has assigned."""
        fields = [name for name in dir(self) if not name.startswith("_") and not callable(getattr(Hooks, name))]
        return [name for name in fields if not getattr(self, name)]

    def check_complete(self):
        """Raises RuntimeError if a field was not assigned."""
        names = self.missing()
        if names:
            raise RuntimeError(f"onax was imported in part: nothing was assigned to the hooks {', '.join(names)}")


hooks = Hooks()             # a C variable, which compiled modules read ...
globals()["hooks"] = hooks  # ... and a name for Python
