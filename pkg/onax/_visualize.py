"""visualize(): a drawing of the jaxpr or of the ONNX graph of a function.

A drawing is written in DOT, the language of Graphviz: a box for each operation, a cluster for each program inside a
program, the user's line as the tooltip of a box.  Graphviz's program `dot`, which the package pygraphviz contains,
computes the layout and writes SVG.
"""

import contextlib
import html
import math
import re
from dataclasses import dataclass
from typing import Any

from onax._compile.jit import jit
from onax._control.checkpoint import remat_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_vjp_call_p
from onax._control.jit_call import jit_p
from onax._control.scan_rules import scan_p
from onax._control.while_loop import while_p
from onax._core.jaxpr import Literal
from onax._core.printing import print_eqn
from onax._core.programs import called_program, held_programs
from onax._core.slots import Slot
from onax._ground import lazy, source
from onax._ground.typing import AnyFunction, PathLike
from onax._pages import render_page
from onax._prims import creation, padding, reductions, shaping, slicing
from onax._prims.conv import conv_general_dilated_p
from onax._prims.cumulative import cumsum_p
from onax._prims.dot import dot_general_p
from onax._prims.indexing import gather_p, scatter_p
from onax._prims.sorting import sort_p
from onax._prims.stacking import stack_p, unstack_p
from onax._transforms.abstract import make_jaxpr
from onax.export.graph.value import Graph

MAX_NODES = 4000  # nobody can read a larger picture, and its layout takes minutes
MAX_SHOWN_CONSTANT = 8  # constants with more elements are shown by their type

_INPUT, _OUTPUT, _CONSTANT, _CLUSTER, _PLAIN = "#dbeafe", "#dcfce7", "#f3f4f6", "#fafafa", "white"
_FILLS = {"control": "#fde68a", "contraction": "#fecaca", "movement": "#e9d5ff", "reduction": "#bfdbfe"}
_OPERATORS = {  # group -> ONNX operators
    "control": "If Loop Scan",
    "contraction": "MatMul Gemm Conv Einsum",
    "movement": "Reshape Transpose Expand Squeeze Unsqueeze Slice Concat Gather GatherND ScatterND ScatterElements Pad "
    "Split Tile Identity",
    "reduction": "ReduceSum ReduceMax ReduceMin ReduceProd ReduceMean ArgMax ArgMin CumSum TopK Softmax",
}
_FILL_OF = {operator: _FILLS[group] for group, operators in _OPERATORS.items() for operator in operators.split()}

groups = Slot(
    "drawing_group", "name of the group that gives the colour", "Drawings show a white box.", "onax._visualize"
)
groups.rule(jit_p, scan_p, while_p, cond_p, custom_jvp_call_p, custom_vjp_call_p, remat_p)("control")
groups.rule(dot_general_p, conv_general_dilated_p)("contraction")
groups.rule(
    shaping.reshape_p, shaping.transpose_p, shaping.broadcast_in_dim_p, shaping.squeeze_p, shaping.rev_p,
    creation.iota_p, slicing.slice_p, slicing.concatenate_p, padding.pad_p, slicing.split_p, slicing.dynamic_slice_p,
    slicing.dynamic_update_slice_p, gather_p, scatter_p, stack_p, unstack_p,
)("movement")  # fmt: skip
groups.rule(
    shaping.reduce_sum_p, reductions.reduce_max_p, reductions.reduce_min_p, reductions.reduce_prod_p,
    reductions.reduce_and_p, reductions.reduce_or_p, reductions.argmax_p, reductions.argmin_p, cumsum_p, sort_p,
)("reduction")  # fmt: skip


class Drawing:
    """A drawing of a program; a notebook shows it as a picture.

    Attributes:
      dot: the text in Graphviz's language.
      title: the name of the function and what of it is drawn.
    """

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
        """An HTML page that contains the picture and loads nothing.  Raises ImportError without pygraphviz."""
        return render_page("drawing.html", title=self.title, svg=self.svg)

    def save(self, path):
        """Writes the drawing to a file, as SVG, HTML or DOT.

        Args:
          path: the name of the file; it ends with `.svg`, `.html` or `.dot`.

        Raises:
          ValueError: the name ends otherwise.
          ImportError: the package pygraphviz, which `.svg` and `.html` need, is not installed.
        """
        path = str(path)
        kind = path.rpartition(".")[2]
        if kind not in ("svg", "html", "dot"):
            raise ValueError(f"visualize: the name of the file must end with .svg, .html or .dot, got {path!r}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(getattr(self, kind))

    def _repr_html_(self):
        """What a notebook shows: the picture, or the text in Graphviz's language and why there is no picture."""
        try:
            return self.svg
        except ImportError as error:
            return f"<p>{html.escape(str(error))}</p><pre>{html.escape(self.dot)}</pre>"

    def __repr__(self):
        return f"<Drawing of {self.title}>"


def visualize(fun: AnyFunction, *args: Any, kind: str = "jaxpr", path: PathLike | None = None, **kwargs: Any) -> Any:
    """Returns a drawing of what `fun(*args, **kwargs)` computes.

    JAX has no such function.  The picture needs the package pygraphviz (`pip install onax[draw]`), which contains
    Graphviz; without it the drawing still has its text in Graphviz's language, `.dot`.

    Args:
      fun: a function of arrays and pytrees of arrays.
      *args, **kwargs: its arguments, as values or as `ShapeDtypeStruct` objects.
      kind: "jaxpr" draws the program as it is staged, with the programs inside it as clusters; the name of a pass of
        the compiler, such as "simplify", draws the program after that pass; "onnx" draws the graph it is lowered to.
      path: the name of a file to write: `.svg`, `.html` or `.dot`.  Nothing is written by default.

    Returns:
      A `Drawing`.  Boxes are operations, arrows are values labelled with their types, tooltips show the user's lines.

    Raises:
      ValueError: `kind` or the ending of `path` is none of those above, or the program has more than 4000 operations.
      ImportError: a picture is to be written, and the package pygraphviz is not installed.

    Examples:
      >>> onax.visualize(jnp.sin, 1.0)
      <Drawing of sin (jaxpr)>
    """
    name = getattr(fun, "__name__", type(fun).__name__)
    writer = _DotWriter()
    if kind == "jaxpr":
        _draw_jaxpr(writer, make_jaxpr(fun)(*args, **kwargs))
    elif kind == "onnx":
        _draw_lowered_graph(writer, jit(fun).lower(*args, **kwargs).graph)
    else:
        _draw_jaxpr(writer, _program_after_pass(jit(fun).lower(*args, **kwargs), kind))
    drawing = Drawing(writer.text(), f"{name} ({kind})")
    if path is not None:
        drawing.save(path)
    return drawing


def _program_after_pass(lowered, name):
    programs = dict(lowered.passes())
    if name not in programs:
        known = ", ".join(f'"{pass_name}"' for pass_name in programs)
        raise ValueError(f'visualize: kind must be "jaxpr", "onnx" or the name of a pass ({known}), got {name!r}')
    return programs[name]


def draw_model(model, title):
    """The Drawing of an `onnx.ModelProto`."""
    writer = _DotWriter()
    _draw_graph(writer, _read_proto(model.graph, {}))
    return Drawing(writer.text(), title)


# ---- text in Graphviz's language ---------------------------------------------------------------------------------


class _DotWriter:
    """Writes nodes, edges and clusters in Graphviz's language."""

    def __init__(self):
        self.lines = []
        self.edges = []  # they are outside all clusters: an edge inside one would draw its nodes into it
        self.count = 0
        self.depth = 1

    def write(self, line):
        """Adds a line, indented by the depth of the clusters around it."""
        self.lines.append("  " * self.depth + line)

    def box(self, label, tooltip, fill):
        """Adds a node for an operation; returns its name."""
        return self._node(label, tooltip, fill, "box", "rounded,filled")

    def ellipse(self, label, tooltip, fill):
        """Adds a node for a value; returns its name."""
        return self._node(label, tooltip, fill, "ellipse", "filled")

    def _node(self, label, tooltip, fill, shape, style):
        self.count += 1
        if self.count > MAX_NODES:
            raise ValueError(f"visualize: the program has more than {MAX_NODES} operations; draw a part of it")
        name = f"n{self.count}"
        self.write(
            f"{name} [label={_quote(label)}, tooltip={_quote(tooltip)}, shape={shape}, style={_quote(style)}, "
            f"fillcolor={_quote(fill)}];"
        )
        return name

    def edge(self, tail, head, label="", style="solid"):
        """Adds an edge; its label is the type of the value that flows along it."""
        self.edges.append(f"  {tail} -> {head} [label={_quote(label)}, tooltip={_quote(label)}, style={style}];")

    @contextlib.contextmanager
    def cluster(self, label, tooltip=""):
        """Within this context nodes are added to a new cluster."""
        self.count += 1
        self.write(f"subgraph cluster_{self.count} {{")
        self.depth += 1
        self.write(
            f'label={_quote(label)}; tooltip={_quote(tooltip or label)}; style="rounded,filled"; '
            f'fillcolor="{_CLUSTER}"; color="#9ca3af";'
        )
        yield
        self.depth -= 1
        self.write("}")

    def text(self):
        """All that was added, as one text."""
        head = [
            "digraph {",
            '  node [fontname="Helvetica", fontsize=11, margin="0.12,0.05", height=0.3, color="#6b7280"];',
            '  edge [fontname="Helvetica", fontsize=9, color="#6b7280", fontcolor="#4b5563", arrowsize=0.6];',
            '  graph [fontname="Helvetica", fontsize=11, ranksep=0.35, nodesep=0.25];',
        ]
        return "\n".join([*head, *self.lines, *self.edges, "}", ""])


def _quote(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _shorten(text, length=60):
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _label(name, constants, parameters):
    """The lines of an operation's box: its name, its constant operands, its parameters."""
    shown = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return "\n".join(part for part in (name, _shorten(" ".join(constants), 30), _shorten(shown, 48)) if part)


def _source_line(source_info):
    """The user's line as a further line of a tooltip; empty where it is not known."""
    return f"\n{source.summarize(source_info)}" if source_info else ""


def _type_text(aval):
    return aval.str_short(short_dtypes=True)


# ---- jaxprs ------------------------------------------------------------------------------------------------------


def _draw_jaxpr(writer, jaxpr):
    """Draws a whole program."""
    names = [name or f"argument {i}" for i, name in enumerate(jaxpr.debug_info.arg_names)]
    names += [f"argument {i}" for i in range(len(names), len(jaxpr.invars))]
    nodes = {}
    for name, var in zip(names, jaxpr.invars):
        nodes[var] = writer.ellipse(f"{name}\n{_type_text(var.aval)}", name, _INPUT)
    _draw_equations(writer, jaxpr, nodes)
    for i, atom in enumerate(jaxpr.outvars):
        name = "result" if len(jaxpr.outvars) == 1 else f"result {i}"
        result = writer.ellipse(f"{name}\n{_type_text(atom.aval)}", name, _OUTPUT)
        writer.edge(_node_of(writer, atom, nodes), result)


def _draw_equations(writer, jaxpr, nodes):
    """Draws the equations of a program; `nodes` maps each variable to the node that its value comes from."""
    for var in jaxpr.constvars:
        nodes[var] = writer.ellipse(f"constant\n{_type_text(var.aval)}", "constant", _CONSTANT)
    for eqn in jaxpr.eqns:
        program = called_program(eqn)
        if program is None:
            _draw_equation(writer, eqn, nodes)
        else:
            _draw_call(writer, eqn, program, nodes)


def _draw_call(writer, eqn, program, nodes):
    """Draws a call: a cluster, through which values flow."""
    label = " ".join(filter(None, (eqn.primitive.name, eqn.params.get("name"))))
    inner = {var: _node_of(writer, atom, nodes) for var, atom in zip(program.invars, eqn.invars)}
    with writer.cluster(label, label + _source_line(eqn.source_info)):
        _draw_equations(writer, program, inner)
        for var, atom in zip(eqn.outvars, program.outvars):
            nodes[var] = _node_of(writer, atom, inner)


def _draw_equation(writer, eqn, nodes):
    """Draws an equation: a box, and for each program that it holds a cluster tied to the box."""
    held = held_programs(eqn)
    literals = [str(atom.val) for atom in eqn.invars if type(atom) is Literal]
    parameters = {} if held else {key: value for key, value in eqn.params.items() if value is not None}
    tooltip = _shorten(print_eqn(eqn), 600) + _source_line(eqn.source_info)
    fill = _FILLS.get(groups.get(eqn.primitive), _PLAIN)
    box = writer.box(_label(eqn.primitive.name, literals, parameters), tooltip, fill)
    for atom in eqn.invars:
        if type(atom) is not Literal:
            writer.edge(nodes[atom], box, _type_text(atom.aval))
    nodes.update(dict.fromkeys(eqn.outvars, box))
    for program in held:
        _draw_held_program(writer, f"{eqn.primitive.name}: {program.label}", program.program, box)


def _draw_held_program(writer, label, program, box):
    """Draws a program that an equation holds: a cluster with arguments and results of its own, tied to the box."""
    with writer.cluster(label):
        nodes = {}
        for i, var in enumerate(program.invars):
            nodes[var] = writer.ellipse(f"{i}: {_type_text(var.aval)}", f"argument {i}", _INPUT)
        arguments = list(nodes.values())
        _draw_equations(writer, program, nodes)
        results = [
            writer.ellipse(f"{i}: {_type_text(atom.aval)}", f"result {i}", _OUTPUT)
            for i, atom in enumerate(program.outvars)
        ]
        for atom, result in zip(program.outvars, results):
            writer.edge(_node_of(writer, atom, nodes), result)
    for first in [*arguments, *results][:1]:
        writer.edge(box, first, style="dashed")


def _node_of(writer, atom, nodes):
    """The node that a value comes from; a literal gets a new one."""
    if type(atom) is Literal:
        return writer.ellipse(str(atom.val), f"{atom.val}: {_type_text(atom.aval)}", _CONSTANT)
    return nodes[atom]


# ---- ONNX graphs -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _OnnxValue:
    """A value of an ONNX graph; `constant` is its value as text, or None if it is computed."""

    name: str
    type: str
    constant: str | None = None


@dataclass(slots=True)
class _OnnxNode:
    """A node of an ONNX graph; `location` is the user's line as a further line of a tooltip."""

    name: str
    operator: str
    inputs: list
    outputs: list
    attributes: dict
    subgraphs: dict
    location: str


@dataclass(slots=True)
class _OnnxGraph:
    """What is drawn of an ONNX graph, whether it was lowered in this process or read from a file."""

    inputs: list
    outputs: list
    nodes: list


def _draw_lowered_graph(writer, graph):
    """Draws the graph of a lowered function; the lowering of a function that computes nothing has none."""
    if graph is None:
        writer.box("nothing left to compute", "", _PLAIN)
    else:
        _draw_graph(writer, _read_lowered(graph))


def _draw_graph(writer, graph):
    """Draws a whole ONNX graph."""
    nodes = {}
    for value in graph.inputs:
        nodes[value.name] = writer.ellipse(f"{value.name}\n{value.type}", "input", _INPUT)
    _draw_nodes(writer, graph, nodes)
    for value in graph.outputs:
        output = writer.ellipse(f"{value.name}\n{value.type}", "output", _OUTPUT)
        if value.name in nodes:
            writer.edge(nodes[value.name], output)


def _draw_nodes(writer, graph, nodes):
    """Draws the operations of a graph; `nodes` maps the name of each value to the node that it comes from."""
    for node in graph.nodes:
        constants = [value.constant for value in node.inputs if value.constant is not None]
        attributes = ", ".join(f"{key}={value}" for key, value in node.attributes.items())
        tooltip = f"{node.name}: {_shorten(attributes, 300)}{node.location}"
        fill = _FILL_OF.get(node.operator, _PLAIN)
        box = writer.box(_label(node.operator, constants, node.attributes), tooltip, fill)
        for value in node.inputs:
            if value.constant is None and value.name in nodes:
                writer.edge(nodes[value.name], box, value.type)
        for value in node.outputs:
            nodes[value.name] = box
        for key, subgraph in node.subgraphs.items():
            _draw_subgraph(writer, f"{node.operator}: {key}", subgraph, box, nodes)


def _draw_subgraph(writer, label, graph, box, nodes):
    """Draws a subgraph, which reads values of the graphs around it by their names."""
    with writer.cluster(label):
        inner = dict(nodes)
        ends = []
        for value in graph.inputs:
            inner[value.name] = writer.ellipse(value.type, value.name, _INPUT)
            ends.append(inner[value.name])
        _draw_nodes(writer, graph, inner)
        for value in graph.outputs:
            ends.append(writer.ellipse(value.type, value.name, _OUTPUT))
            if value.name in inner:
                writer.edge(inner[value.name], ends[-1])
    for first in ends[:1]:
        writer.edge(box, first, style="dashed")


def _operator(domain, op_type):
    return f"{domain}.{op_type}" if domain else op_type


def _constant_text(array, type_text):
    """A small constant as text, a larger one as its type."""
    if array is None or array.size > MAX_SHOWN_CONSTANT:
        return f"{type_text} constant"
    return str(array) if not array.ndim else f"[{', '.join(map(str, array.ravel()))}]"


# ---- graphs lowered in this process ------------------------------------------------------------------------------


def _read_lowered(graph):
    """An `onax.export.graph.value.Graph` as an _OnnxGraph."""
    inputs, outputs = map(_read_value, graph.inputs), map(_read_value, graph.outputs)
    return _OnnxGraph(list(inputs), list(outputs), [_read_node(node) for node in graph.nodes])


def _read_value(value):
    text = _type_text(value.aval)
    return _OnnxValue(value.name, text, None if value.const is None else _constant_text(value.const, text))


def _read_node(node):
    subgraphs = {key: _read_lowered(value) for key, value in node.attributes.items() if isinstance(value, Graph)}
    return _OnnxNode(
        name=node.name,
        operator=_operator(node.domain, node.op_type),
        inputs=[_read_value(value) for value in node.inputs if value is not None],
        outputs=[_read_value(value) for value in node.outputs],
        attributes={key: value for key, value in node.attributes.items() if key not in subgraphs},
        subgraphs=subgraphs,
        location=_source_line(node.location),
    )


# ---- models from files -------------------------------------------------------------------------------------------


def _read_proto(proto, outer):
    """An `onnx.GraphProto` as an _OnnxGraph; `outer` maps names to values of the graphs around it."""
    values = dict(outer)
    for info in (*proto.input, *proto.value_info, *proto.output):
        values[info.name] = _OnnxValue(info.name, _proto_type(info.type.tensor_type))
    for tensor in proto.initializer:
        values[tensor.name] = _read_tensor(tensor)
    nodes = [_read_node_proto(node, values) for node in proto.node]
    inputs, outputs = ([values[info.name] for info in side] for side in (proto.input, proto.output))
    return _OnnxGraph(inputs, outputs, nodes)


def _read_node_proto(node, values):
    attributes, subgraphs = {}, {}
    for attribute in node.attribute:
        if attribute.g.node or attribute.g.output:
            subgraphs[attribute.name] = _read_proto(attribute.g, values)
        else:
            attributes[attribute.name] = lazy.onnx_helper.get_attribute_value(attribute)
    inputs, outputs = (
        [values.setdefault(name, _OnnxValue(name, "")) for name in names if name]  # an omitted operand has no name
        for names in (node.input, node.output)
    )
    return _OnnxNode(
        name=node.name,
        operator=_operator(node.domain, node.op_type),
        inputs=inputs,
        outputs=outputs,
        attributes=attributes,
        subgraphs=subgraphs,
        location=f"\n{node.doc_string}" if node.doc_string else "",
    )


def _proto_type(tensor_type):
    dtype = lazy.onnx_helper.tensor_dtype_to_np_dtype(tensor_type.elem_type).name if tensor_type.elem_type else ""
    sizes = [d.dim_param or str(d.dim_value) for d in tensor_type.shape.dim]
    return f"{dtype}[{','.join(sizes)}]"


def _read_tensor(tensor):
    """A constant; the values of a large one, and of one in a second file, are not read."""
    type_text = f"{lazy.onnx_helper.tensor_dtype_to_np_dtype(tensor.data_type).name}{list(tensor.dims)}"
    unread = tensor.external_data or math.prod(tensor.dims) > MAX_SHOWN_CONSTANT
    array = None if unread else lazy.onnx_numpy_helper.to_array(tensor)
    return _OnnxValue(tensor.name, type_text, _constant_text(array, type_text))
