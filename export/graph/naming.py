"""Names of nodes and intermediate values: the user's functions that lead to an operation, and the operator.

    block/attention/MatMul_2      the third MatMul of `attention`, which `block` calls, which the exported one calls

Within a `named_scope`, which libraries of layers enter with the names of modules, the names of scopes stand in place of
those of the functions around it.

Names follow from the program alone, so they are the same in every export of it.
"""

from onax._ground.source import TRANSPOSE, Scope
from onax.export.graph.passes import bodies


def code_of(fun):
    """The code object of a function, a method, a partial application or a callable object; None if it has none."""
    for attribute in ("__wrapped__", "func", "__func__"):
        while (inner := getattr(fun, attribute, None)) is not None:
            fun = inner
    if hasattr(fun, "__code__"):
        return fun.__code__
    return getattr(type(fun).__call__, "__code__", None) if callable(fun) else None


def _function_name(code):
    """The name of a function for a scope; None for a lambda, a comprehension or a module."""
    name = code.co_qualname.rpartition(".")[2]
    return name if name.isidentifier() else None


def scope_of(record, code):
    """The names of the functions from the one with this code, itself left out, down to a source location."""
    if not record:
        return ()
    chain = [record.code]
    for caller in record.callers or ():
        if chain[-1] is code:
            break
        chain.append(caller.code)
    # Beyond the callers that the record knows, or through a cached program, the way is unknown: the innermost remains.
    inner = chain[:-1] if chain[-1] is code else chain[:1]
    parts = record.scopes
    if TRANSPOSE in parts:  # before it are the scopes around the backward pass, then those of the forward pass
        parts = parts[len(parts) - parts[::-1].index(TRANSPOSE) :]
    parts = [part for part in parts if type(part) is Scope]
    scopes = [part.name for part in parts]
    if parts and parts[-1].code in inner:
        inner = inner[: inner.index(parts[-1].code)]
    names = [name for name in map(_function_name, reversed(inner)) if name is not None]
    names = [*scopes, *[name for name in names if not (scopes and name.startswith("__"))]]
    return ("backward", *names) if record.backward else tuple(names)


class _Namer:
    """Gives out names, each once."""

    def __init__(self, taken, code):
        self.taken = set(taken)
        self.code = code
        self.counts = {}

    def fresh(self, node):
        stem = "/".join((*scope_of(node.location, self.code), node.op_type))
        while True:
            n = self.counts.get(stem, -1) + 1
            self.counts[stem] = n
            name = f"{stem}_{n}" if n else stem
            if name not in self.taken:
                self.taken.add(name)
                return name

    def visit(self, graph, kept):
        """Names the nodes of a graph and of its subgraphs, and their results except those with these ids."""
        for node in graph.nodes:
            node.name = self.fresh(node)
            for i, value in enumerate(node.outputs):
                if id(value) not in kept:
                    value.name = node.name if len(node.outputs) == 1 else f"{node.name}.{i}"
            for body in bodies(node):
                self.visit(body, kept)


def name_nodes(graph, code):
    """Names all nodes of a finished graph; `code` is the code object of the exported function, or None."""
    model = graph.model
    taken = {*model.names, *model.promised, *graph.initializers}
    _Namer(taken, code).visit(graph, {id(v) for v in graph.outputs})
