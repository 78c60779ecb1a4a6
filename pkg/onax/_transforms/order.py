"""The order of what the rest of a program reads, when its known part is carried out.

JAX lists these values by a search from the results backward (the
sort of Autograd, Maclaurin et al., 2015); programs print alike if it is done here too.
"""

from onax._core import jaxpr as core


def reads_in_order(eqns, invars, outvars):
    """What equations and results read that is neither an argument nor a literal nor made by them, in JAX's order.

    A value of the known part counts as a node of its own wherever it is read.
    """
    made_by = {v: eqn for eqn in eqns for v in eqn.outvars}
    inputs = set(invars)
    ends = [*invars, *(a for a in outvars if type(a) is not core.Literal)]
    ends = [v if v in made_by or v in inputs else _Read(v) for v in ends]
    operands = {
        id(eqn): [a if a in made_by or a in inputs else _Read(a) for a in eqn.invars if type(a) is not core.Literal]
        for eqn in eqns
    }
    parents = lambda node: operands[id(made_by[node])] if node in made_by else ()
    children, stack = {}, list(ends)
    while stack:
        node = stack.pop()
        if node in children:
            children[node] += 1
        else:
            children[node] = 1
            stack.extend(parents(node))
    for node in ends:
        children[node] -= 1
    free, found = [node for node in dict.fromkeys(ends) if children[node] == 0], []
    while free:
        node = free.pop()
        found.append(node)
        for parent in parents(node):
            if children[parent] == 1:
                free.append(parent)
            else:
                children[parent] -= 1
    return list(dict.fromkeys(n.var for n in reversed(found) if type(n) is _Read))


class _Read:
    """One place where a value of the known part is read."""

    __slots__ = ("var",)

    def __init__(self, var):
        self.var = var
