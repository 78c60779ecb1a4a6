"""The table of ONNX's operators: what each means, as a function of arrays, by domain, name and version.

Each file of this package with the name of a family of `export/lower/` holds the operators of that family.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onax._ground.errors import OperatorError
from onax._ground.typing import Function

_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Operator:
    """What an operator means from one version of its domain on.

    `function(call, *inputs)` returns the output or a tuple of them; inputs that are left out are None.  The inputs at
    the positions `static` (a tuple, or a function of the node) are passed as NumPy arrays: they decide shapes or
    attributes.  Of those at the positions
    `typed` only shape and dtype are read.  `bounds` are the positions of a first and a last index whose difference
    decides a size: they are NumPy arrays where they are known, and `call.difference` says what their difference is.
    """

    function: Callable
    since: int
    static: tuple[int, ...] | Callable
    holds_graphs: bool = False
    typed: tuple[int, ...] = ()
    bounds: tuple[int, ...] = ()

    def static_positions(self, node):
        """The positions of the inputs of a node that decide shapes or attributes."""
        return self.static(node) if callable(self.static) else self.static


_operators: dict = {}  # (domain, name) -> its Operators by version


def operator(*names, since=1, domain="", static=(), holds_graphs=False, typed=(), bounds=()):
    """Decorates the function of an operator, under each of its names."""

    def enter(function):
        for name in names:
            versions = _operators.setdefault((domain, name), [])
            versions[:] = [version for version in versions if version.since != since]
            versions.append(
                Operator(
                    function,
                    since,
                    static if callable(static) else tuple(static),
                    holds_graphs,
                    tuple(typed),
                    tuple(bounds),
                )
            )
            versions.sort(key=lambda version: version.since)
        return function

    return enter


def find_operator(domain, name, version):
    """The Operator for a version of its domain; None if there is none."""
    versions = _operators.get((domain, name), ())
    index = bisect_right([known.since for known in versions], version)
    return versions[index - 1] if index else None


def register(
    domain: str, op_type: str, *, since: int = 1, static: Sequence[int] = ()
) -> Callable[[Function], Function]:
    """Decorates a function that says what an operator of a user's own means; models loaded later can hold it.

    Args:
        domain: the operator's domain, such as ``"com.example"``; ``""`` for ONNX's own operators.
        op_type: the operator's name.
        since: the first version of the domain that the function is for.
        static: positions of the inputs that decide shapes; the function gets them as NumPy arrays.

    Returns:
        A decorator of ``function(call, *inputs)``, which returns the output or a tuple of the outputs.  Inputs are
        arrays, or None where the node leaves them out.  ``call.get(name, default)`` reads an attribute and ``call.key``
        is a key for random numbers.

    Examples:
        >>> import onax, onax.numpy as jnp
        >>> @onax.onnx.register("com.example", "ScaledShift")
        ... def scaled_shift(call, x, shift):
        ...     return x * call.get("scale", 1.0) + shift
    """
    return operator(op_type, since=since, domain=domain, static=static)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A node while it is evaluated: its attributes, the version of its domain, and what evaluates graphs it holds."""

    node: object
    version: int
    attributes: dict
    evaluation: object
    scope: object

    def get(self, name, default=None):
        """An attribute; `default` if the node does not have it."""
        return self.attributes.get(name, default)

    def __getitem__(self, name):
        value = self.attributes.get(name, _REQUIRED)
        if value is _REQUIRED:
            raise OperatorError(f"{self.node} has no attribute {name!r}, which the operator needs")
        return value

    def outputs(self, index):
        """Whether the node has an output at this position."""
        return index < len(self.node.outputs) and self.node.outputs[index] != ""

    @property
    def output_count(self):
        """The number of outputs of the node."""
        return len(self.node.outputs)

    @property
    def key(self):
        """A key for random numbers, another one for each node."""
        return self.evaluation.next_key(self.node, self.get("seed"))

    @property
    def training(self):
        """Whether nodes behave as in training: the argument of the model's call."""
        return self.evaluation.training

    @property
    def straight_through(self):
        """Whether gradients pass through quantization: the argument of `load`."""
        return self.evaluation.straight_through

    def run_graph(self, name, *arguments):
        """The outputs of a graph that the node holds as an attribute."""
        return self.evaluation.run(self[name], arguments, self.scope)

    def difference(self, start, end):
        """end - start of two vectors of integers, as a list; OperatorError where it is not known under a trace."""
        result = self.evaluation.offsets.difference(start, end)
        if result is None:
            self.refuse(
                "the size of its result depends on values that are not known while the program is traced: compute the "
                "end as the start plus a known size, pass the inputs in model.static_inputs as static arguments of jit "
                "(static_argnames), or call the model without jit"
            )
        return result

    def refuse(self, reason):
        """Raises OperatorError with the reason."""
        raise OperatorError(f"{self.node} cannot be evaluated: {reason}")
