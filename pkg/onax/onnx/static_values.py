"""Which values decide shapes or attributes, and must be known while a program is traced."""

from onax.onnx.offsets import followed, has_known_size
from onax.onnx.operators import find_operator


def static_names(file):
    """The names of inputs and constants of a model's graph on whose values shapes depend."""
    functions: dict = {}
    forms = followed(file.graph.nodes, file.graph.constants, {})
    return _of_nodes(file.graph.nodes, set(), file.opsets, file.functions, functions, forms)


def _of_nodes(nodes, needed, opsets, functions, known, forms):
    """The names among `needed` and before them that must be known, for nodes in order; walks backward."""
    for node in reversed(nodes):
        positions, typed = _static_positions(node, opsets, functions, known, forms)
        decisive = bool(needed.intersection(node.outputs))
        for graph in node.graphs.values():
            results = {value.name for value in graph.outputs} if decisive else set()
            within = followed(graph.nodes, graph.constants, forms)
            inner = _of_nodes(graph.nodes, results, opsets, functions, known, within)
            own = {value.name: i for i, value in enumerate(graph.inputs)}
            needed |= inner - own.keys() - graph.constants.keys()
            positions |= {own[name] for name in inner & own.keys() if own[name] < len(node.inputs)}
        if decisive:
            positions |= set(range(len(node.inputs))) - set(typed)
        needed |= {node.inputs[i] for i in positions if i < len(node.inputs) and node.inputs[i]}
    return needed


def _static_positions(node, opsets, functions, known, forms):
    """(positions of inputs that must be known, positions of those of which only the type is read)."""
    key = (node.domain, node.op_type, node.overload)
    function = functions.get(key)
    if function is not None:
        if key not in known:
            inside = followed(function.nodes, {}, {})
            names = _of_nodes(function.nodes, set(), function.opsets, functions, known, inside)
            known[key] = {i for i, name in enumerate(function.inputs) if name in names}
        return set(known[key]), ()
    found = find_operator(node.domain, node.op_type, opsets.get(node.domain, 0))
    if found is None:
        return set(), ()
    bounds = () if found.bounds and has_known_size(node, forms, found.bounds) else found.bounds
    return {*found.static_positions(node), *bounds}, found.typed
