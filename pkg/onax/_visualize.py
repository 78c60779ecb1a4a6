"""visualize(): the jaxpr or the ONNX graph of a function, drawn.

The picture is described in Graphviz's language (boxes for operations, clusters for programs inside programs, the place
in the source as tooltip) and laid out by Graphviz's `dot`, which the package pygraphviz brings along.
"""

import math
import re
from typing import NamedTuple

import numpy as np

from onax._compile.jit import jit
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.printing import print_eqn
from onax._ground import lazy, source
from onax._pages import render_page
from onax._transforms.abstract import make_jaxpr

MOST_NODES = 4000  # beyond that nobody can read the picture, and its layout takes minutes

_INPUT, _OUTPUT, _CONSTANT, _INSIDE = "#dbeafe", "#dcfce7", "#f3f4f6", "#fafafa"
_FILLS = {"control": "#fde68a", "contraction": "#fecaca", "movement": "#e9d5ff", "reduction": "#bfdbfe"}
_GROUPS = {
    "control": "jit scan while cond custom_jvp_call custom_vjp_call remat2 If Loop Scan",
    "contraction": "dot_general conv_general_dilated MatMul Gemm Conv Einsum",
    "movement": "reshape transpose broadcast_in_dim squeeze slice concatenate pad rev gather scatter dynamic_slice "
    "dynamic_update_slice expand_dims split stack unstack iota Reshape Transpose Expand Squeeze Unsqueeze Slice Concat "
    "Gather GatherND ScatterND ScatterElements Pad Split Tile Identity",
    "reduction": "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or argmax argmin cumsum sort "
    "ReduceSum ReduceMax ReduceMin ReduceProd ReduceMean ArgMax ArgMin CumSum TopK Softmax",
}
_FILL_OF = {name: _FILLS[group] for group, names in _GROUPS.items() for name in names.split()}


class Drawing:
    """A picture: `svg`, `html` and `dot` are texts; notebooks show it; `save(path)` writes .svg, .html or .dot."""

    def __init__(self, dot, title):
        self.dot = dot
        self.title = title
        self._svg = None

    @property
    def svg(self):
        """The picture as SVG.  Raises ImportError without the package pygraphviz."""
        if self._svg is None:
            graph = lazy.pygraphviz.AGraph(string=self.dot)
            text = graph.draw(format="svg", prog="dot").decode()
            self._svg = text[text.index("<svg") :]
        return self._svg

    @property
    def html(self):
        """A page that holds the picture and needs nothing else."""
        return render_page("drawing.html", title=self.title, svg=self.svg)

    def save(self, path):
        """Writes the file in the format that its name ends with.  Raises ValueError for any other ending."""
        path = str(path)
        kind = path.rpartition(".")[2]
        if kind not in ("svg", "html", "dot"):
            raise ValueError(f"visualize: the name of the file must end with .svg, .html or .dot, got {path!r}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(getattr(self, kind))

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"<Drawing of {self.title}>"


def visualize(fun, *args, kind="jaxpr", path=None, **kwargs):
    """Draws what `fun(*args, **kwargs)` computes; arguments may be values or ShapeDtypeStructs.

    kind   "jaxpr": the program as staged, programs inside it as clusters; "onnx": the graph that it is lowered to
    path   a file to write: .svg, .html (a page of its own) or .dot

    Returns a Drawing.  Boxes show the line of the source as tooltip.  Needs the package pygraphviz (the extra `draw`),
    which brings Graphviz along; ImportError says so without it.  Raises ValueError for another kind, for programs of
    more than 4000 operations, and for other file names.  JAX has no such function.
    """
    if kind not in ("jaxpr", "onnx"):
        raise ValueError(f'visualize: kind must be "jaxpr" or "onnx", got {kind!r}')
    name = getattr(fun, "__name__", type(fun).__name__)
    picture = _Picture()
    if kind == "jaxpr":
        _draw_jaxpr(picture, make_jaxpr(fun)(*args, **kwargs))
    else:
        _draw_graph(picture, jit(fun).lower(*args, **kwargs).graph)
    drawing = Drawing(picture.text(), f"{name} ({kind})")
    if path is not None:
        drawing.save(path)
    return drawing


# ---- the description of a picture ----


class _Picture:
    """Lines of Graphviz's language."""

    def __init__(self):
        self.lines = []
        self.arrows = []  # outside all clusters: an arrow would draw its ends into the cluster it is stated in
        self.count = 0
        self.depth = 1

    def add(self, line):
        self.lines.append("  " * self.depth + line)

    def node(self, label, tooltip, fill, shape="box", style="rounded,filled"):
        """A box; gives its name."""
        self.count += 1
        if self.count > MOST_NODES:
            raise ValueError(f"visualize: the program has more than {MOST_NODES} operations; draw a part of it")
        name = f"n{self.count}"
        self.add(
            f"{name} [label={_quoted(label)}, tooltip={_quoted(tooltip)}, shape={shape}, style={_quoted(style)}, "
            f"fillcolor={_quoted(fill)}];"
        )
        return name

    def edge(self, tail, head, label="", style="solid"):
        """An arrow; its label is the type of what flows."""
        self.arrows.append(f"  {tail} -> {head} [label={_quoted(label)}, tooltip={_quoted(label)}, style={style}];")

    def open(self, label, tooltip=""):
        """Begins a cluster."""
        self.count += 1
        self.add(f"subgraph cluster_{self.count} {{")
        self.depth += 1
        self.add(
            f'label={_quoted(label)}; tooltip={_quoted(tooltip or label)}; style="rounded,filled"; '
            f'fillcolor="{_INSIDE}"; color="#9ca3af";'
        )

    def close(self):
        """Ends it."""
        self.depth -= 1
        self.add("}")

    def text(self):
        """The whole description."""
        head = [
            "digraph {",
            '  node [fontname="Helvetica", fontsize=11, margin="0.12,0.05", height=0.3, color="#6b7280"];',
            '  edge [fontname="Helvetica", fontsize=9, color="#6b7280", fontcolor="#4b5563", arrowsize=0.6];',
            '  graph [fontname="Helvetica", fontsize=11, ranksep=0.35, nodesep=0.25];',
        ]
        return "\n".join([*head, *self.lines, *self.arrows, "}", ""])


def _quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _short(text, most=60):
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _place(record):
    if not record:
        return ""
    return f"\n{record if isinstance(record, str) else source.summarize(record)}"


# ---- jaxprs ----


def _draw_jaxpr(picture, jaxpr):
    """The program with its arguments and results."""
    names = list(jaxpr.debug_info.arg_names)
    makers = {}
    for i, var in enumerate(jaxpr.invars):
        label = names[i] if i < len(names) and names[i] else f"argument {i}"
        makers[var] = picture.node(f"{label}\n{_type(var.aval)}", label, _INPUT, "ellipse", "filled")
    _draw_body(picture, jaxpr, makers)
    for i, atom in enumerate(jaxpr.outvars):
        label = "result" if len(jaxpr.outvars) == 1 else f"result {i}"
        out = picture.node(f"{label}\n{_type(atom.aval)}", label, _OUTPUT, "ellipse", "filled")
        picture.edge(_maker(picture, atom, makers), out)


def _draw_body(picture, jaxpr, makers):
    """The equations; `makers` says which box makes each variable."""
    for var in jaxpr.constvars:
        makers[var] = picture.node(f"constant\n{_type(var.aval)}", "constant", _CONSTANT, "ellipse", "filled")
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "jit":
            _draw_call(picture, eqn, makers)
        else:
            _draw_equation(picture, eqn, makers)


def _draw_call(picture, eqn, makers):
    """A call is a cluster through which values flow."""
    inner = eqn.params["jaxpr"]
    reached = {v: _maker(picture, a, makers) for v, a in zip(inner.invars, eqn.invars)}
    picture.open(f"jit {eqn.params['name']}", f"jit {eqn.params['name']}{_place(eqn.source_info)}")
    _draw_body(picture, inner, reached)
    for outer, atom in zip(eqn.outvars, inner.outvars):
        makers[outer] = _maker(picture, atom, reached)
    picture.close()


def _draw_equation(picture, eqn, makers):
    literals = [str(a.val) for a in eqn.invars if type(a) is Literal]
    inner = list(jaxprs_in_params(eqn.params))
    shown = {k: v for k, v in eqn.params.items() if v is not None and not any(j is v for j in inner)}
    details = _short(", ".join(f"{k}={v}" for k, v in shown.items()), 48) if not inner else ""
    label = "\n".join(part for part in (eqn.primitive.name, _short(" ".join(literals), 30), details) if part)
    tooltip = _short(print_eqn(eqn), 600) + _place(eqn.source_info)
    box = picture.node(label, tooltip, _FILL_OF.get(eqn.primitive.name, "white"))
    for atom in eqn.invars:
        if type(atom) is not Literal:
            picture.edge(makers[atom], box, _type(atom.aval))
    for var in eqn.outvars:
        makers[var] = box
    for name, program in _named_programs(eqn):
        _draw_inside(picture, f"{eqn.primitive.name}: {name}", program, box)


def _named_programs(eqn):
    for key, value in eqn.params.items():
        found = list(jaxprs_in_params({key: value}))
        for i, program in enumerate(found):
            yield (key if len(found) == 1 else f"{key}[{i}]"), program


def _draw_inside(picture, label, program, box):
    """A program among an equation's parameters: a cluster with arguments of its own, tied to the box."""
    picture.open(label)
    makers = {}
    for i, var in enumerate(program.invars):
        makers[var] = picture.node(f"{i}: {_type(var.aval)}", f"argument {i}", _INPUT, "ellipse", "filled")
    _draw_body(picture, program, makers)
    ends = [picture.node(f"{i}: {_type(a.aval)}", f"result {i}", _OUTPUT, "ellipse", "filled")
            for i, a in enumerate(program.outvars)]  # fmt: skip
    for atom, end in zip(program.outvars, ends):
        picture.edge(_maker(picture, atom, makers), end)
    picture.close()
    first = next(iter(makers.values()), None) or (ends[0] if ends else None)
    if first is not None:
        picture.edge(box, first, style="dashed")


def _maker(picture, atom, makers):
    """The box that a value comes from; literals get one of their own."""
    if type(atom) is Literal:
        return picture.node(str(atom.val), f"{atom.val}: {_type(atom.aval)}", _CONSTANT, "ellipse", "filled")
    return makers[atom]


def _type(aval):
    return aval.str_short(short_dtypes=True)


# ---- ONNX graphs ----


def _draw_graph(picture, graph):
    """The nodes of an ONNX graph; subgraphs are clusters."""
    if graph is None:
        picture.node("nothing left to compute", "", "white")
        return
    makers = {}
    for value in graph.inputs:
        makers[value.name] = picture.node(f"{value.name}\n{_type(value.aval)}", "input", _INPUT, "ellipse", "filled")
    _draw_nodes(picture, graph, makers)
    for value in graph.outputs:
        out = picture.node(f"{value.name}\n{_type(value.aval)}", "output", _OUTPUT, "ellipse", "filled")
        if value.name in makers:
            picture.edge(makers[value.name], out)


def _draw_nodes(picture, graph, makers):
    for node in graph.nodes:
        plain = {k: v for k, v in node.attributes.items() if not hasattr(v, "nodes")}
        known = [_constant(v) for v in node.inputs if v is not None and v.const is not None]
        details = _short(", ".join(f"{k}={v}" for k, v in plain.items()), 48)
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        label = "\n".join(part for part in (name, _short(" ".join(known), 30), details) if part)
        tooltip = f"{node.name}: {_short(', '.join(f'{k}={v}' for k, v in plain.items()), 300)}{_place(node.place)}"
        box = picture.node(label, tooltip, _FILL_OF.get(node.op_type, "white"))
        for value in node.inputs:
            if value is not None and value.const is None and value.name in makers:
                picture.edge(makers[value.name], box, _type(value.aval))
        for value in node.outputs:
            makers[value.name] = box
        for key, inner in node.attributes.items():
            if hasattr(inner, "nodes"):
                _draw_subgraph(picture, f"{node.op_type}: {key}", inner, box, makers)


def _draw_subgraph(picture, label, graph, box, makers):
    """A subgraph reads outer values by their names."""
    picture.open(label)
    reached = dict(makers)
    ends = []
    for value in graph.inputs:
        reached[value.name] = picture.node(_type(value.aval), value.name, _INPUT, "ellipse", "filled")
        ends.append(reached[value.name])
    _draw_nodes(picture, graph, reached)
    for value in graph.outputs:
        ends.append(picture.node(_type(value.aval), value.name, _OUTPUT, "ellipse", "filled"))
        if value.name in reached:
            picture.edge(reached[value.name], ends[-1])
    picture.close()
    if ends:
        picture.edge(box, ends[0], style="dashed")


def _constant(value):
    """A small constant as text."""
    if value.const.size > 8:
        return f"{_type(value.aval)} constant"
    return str(value.const) if not value.const.ndim else f"[{', '.join(map(str, value.const.ravel()))}]"


# ---- ONNX models from files ----


class _Value(NamedTuple):
    name: str
    aval: object
    const: object = None


class _Node(NamedTuple):
    name: str
    domain: str
    op_type: str
    inputs: list
    outputs: list
    attributes: dict
    place: str  # the doc_string, which says the user's line


class _Graph(NamedTuple):
    inputs: list
    outputs: list
    nodes: list


def draw_model(model, title):
    """The Drawing of an onnx.ModelProto."""
    picture = _Picture()
    _draw_graph(picture, _graph_of(model.graph, {}))
    return Drawing(picture.text(), title)


def _graph_of(proto, known):
    """A GraphProto as what `_draw_graph` reads; `known` are values of the graphs around it."""
    values = dict(known)
    for info in (*proto.input, *proto.value_info, *proto.output):
        values[info.name] = _Value(info.name, _aval_of(info))
    for tensor in proto.initializer:
        values[tensor.name] = _constant_of(tensor)
    nodes = [_node_of(node, values) for node in proto.node]
    ports = [[values[info.name] for info in side] for side in (proto.input, proto.output)]
    return _Graph(*ports, nodes)


def _node_of(node, values):
    attributes = {}
    for attribute in node.attribute:
        if attribute.g.node or attribute.g.output:
            attributes[attribute.name] = _graph_of(attribute.g, values)
        else:
            attributes[attribute.name] = lazy.onnx_helper.get_attribute_value(attribute)
    outputs = []
    for name in filter(None, node.output):
        outputs.append(values.setdefault(name, _Value(name, _ANY)))
    inputs = [values.setdefault(name, _Value(name, _ANY)) for name in node.input if name]
    return _Node(node.name, node.domain, node.op_type, inputs, outputs, attributes, node.doc_string)


class _Stated(NamedTuple):
    text: str

    def str_short(self, short_dtypes=True):
        return self.text


_ANY = _Stated("")


def _aval_of(info):
    tensor = info.type.tensor_type
    dtype = lazy.onnx_helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type else ""
    sizes = [d.dim_param or str(d.dim_value) for d in tensor.shape.dim]
    return _Stated(f"{dtype}[{','.join(sizes)}]")


def _constant_of(tensor):
    """A constant; large ones, and those in a second file, only by their type."""
    aval = _Stated(f"{lazy.onnx_helper.tensor_dtype_to_np_dtype(tensor.data_type).name}{list(tensor.dims)}")
    if tensor.external_data or math.prod(tensor.dims) > 8:
        return _Value(tensor.name, aval, np.broadcast_to(np.int8(0), (9,)))
    return _Value(tensor.name, aval, lazy.onnx_numpy_helper.to_array(tensor))
