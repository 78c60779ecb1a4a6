"""The one record of what compiled code calls in Python.

`hooks` has a field for each function that compiled code needs of the floors above it (`hooks.pxd` says what each is
given and gives back).  `onax._core.hooks` assigns those of floors 1 and 2, `onax._compile` the placement of sharded
results, `onax.numpy` the operators; `import onax` ends with `hooks.check_complete()`.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

OPERATOR_NAMES = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift",
    "rshift", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem", "iter",
)

_OP_SYMBOLS = ("+", "-", "*", "/", "//", "%", "divmod()", "** or pow()", "@", "&", "|", "^", "<<", ">>")


cdef int refuse_container(int op, object x, object other, bint swapped) except -1:
    left, right = (other, x) if swapped else (x, other)
    symbol = _OP_SYMBOLS[op] if op < EQ else ("==", "!=", "<", "<=", ">", ">=")[op - EQ]
    raise TypeError(
        f"unsupported operand type(s) for {symbol}: {type(left).__name__!r} and {type(right).__name__!r}"
    )


cdef int _check_names(table) except -1:
    unknown = set(table).difference(OPERATOR_NAMES)
    if unknown:
        raise ValueError(f"no operator is called {min(unknown)!r}; there are {', '.join(OPERATOR_NAMES)}")
    return 0


cdef class Hooks:
    """The functions of higher floors that compiled code calls.  A field is None until it is assigned."""

    def __cinit__(self):
        self._operators, self._operator_primitives = {}, {}

    @property
    def operators(self):
        """{name: function}.  Reflected operators call the same function with operands swapped."""
        return dict(self._operators)

    @operators.setter
    def operators(self, table):
        _check_names(table)
        self._operators = dict(table)
        for i, name in enumerate(OPERATOR_NAMES):
            self.functions[i] = PyDict_GetItem(self._operators, name)

    @property
    def operator_primitives(self):
        """{name: (primitive, kinds)}: the primitive that an operator is on operands of one dtype of these kinds.

        `kinds` are letters of np.dtype.kind; V stands for the dtypes of ml_dtypes.
        """
        return dict(self._operator_primitives)

    @operator_primitives.setter
    def operator_primitives(self, table):
        _check_names(table)
        self._operator_primitives = {name: (primitive, kinds) for name, (primitive, kinds) in table.items()}
        for i, name in enumerate(OPERATOR_NAMES):
            primitive, kinds = self._operator_primitives.get(name, (None, ""))
            self.primitives[i] = NULL if primitive is None else <PyObject *>primitive
            self.kinds[i] = 0
            for kind in kinds:
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
