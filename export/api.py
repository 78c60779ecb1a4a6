"""`export(fun)(*args)`: stages a function for argument types, lowers it to one ONNX model, and wraps the model.

export    stages the function, makes the solver of its dimension variables, lowers, names and encodes
Exported  the result: types, trees, names and the model; `call`, `save`, `serialize`
load      reads an Exported from a file, `deserialize` from bytes
"""

import base64
import functools
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onax._core.evaluate import jaxpr_as_fun
from onax._core.paths import equality_errors, keystr, skeleton, tree_leaves_with_path
from onax._core.refs import AbstractRef
from onax._core.rewrite import eliminate_dead_code
from onax._core.trace import Tracer, typeof
from onax._ground import dims as dim_rules
from onax._ground import lazy, onnx_runtime, source
from onax._ground.config import config
from onax._ground.dtypes import ExtendedDType, float0, primal_tangent_dtype
from onax._ground.errors import BackendError, ExportError
from onax._ground.typing import AnyFunction, PathLike
from onax._ground.util import first_duplicate, function_name
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.jit_function import JitFunction
from onax._native.ort import Session
from onax._native.tree import tree_flatten
from onax._prims.creation import full
from onax._transforms.abstract import ShapeDtypeStruct, stage
from onax._transforms.autodiff import vjp
from onax._transforms.discharge import discharge_refs
from onax.export import artifact, external, opsets, shapes, shardings
from onax.export import platforms as platform_checks
from onax.export.artifact import Leaf, Signature
from onax.export.calls import (
    StagedFunction,
    call_on_devices,
    check_dtype,
    differentiable_call,
    inline_exported_calls,
)
from onax.export.graph import proto
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.lower import driver
from onax.export.lower.narrow import widen
from onax.version import __version__


@source.api_class
class Exported:
    """A function as an ONNX model; `onax.export.export` makes it.

      fun_name, source         its name and source location
      in_tree, out_tree        trees of ((args), {kwargs}) and of the result
      in_avals, out_avals      types of their leaves; dimensions may be symbolic
      in_names, out_names      names of the graph's inputs and outputs
      opset                    of the model
      onnx_model               the model as an onnx.ModelProto, metadata included

    Args:
      raw: the model's bytes.
      signature: the trees and types of arguments and results.
      solver: the symbolic dimensions.
      entries: the metadata, a dict of texts.
      opset: the ONNX opset.
      arrays: constants that the bytes only name.
      encode: writes a model over 2 GB with its constants elsewhere.
      get_vjp: makes the exported pullback.
      get_savings: says what higher opsets would save.
      program: the StagedFunction, of exports of this process.

    Examples:
      >>> exported = onax.export.export(lambda x: 2 * x)(jnp.ones(3))
      >>> exported.in_avals
      (ShapedArray(float32[3]),)
      >>> exported.call(jnp.ones(3))
      Array([2., 2., 2.], dtype=float32)
    """

    __slots__ = ("_arrays", "_bytes", "_dim_solver", "_encode", "_entries", "_get_savings", "_get_vjp", "_program",
                 "_session", "_signature", "opset")  # fmt: skip

    # what JAX's Exported says
    nr_devices = property(lambda self: shardings.device_count(self._entries))
    platforms = property(lambda self: tuple(self._entries.get(platform_checks.PLATFORMS, "cpu").split(",")))
    ordered_effects = ()
    unordered_effects = ()
    calling_convention_version = platform_checks.maximum_supported_calling_convention_version
    disabled_safety_checks = property(lambda self: platform_checks.disabled_checks(self._entries))
    uses_global_constants = property(lambda self: bool(self._dim_solver.variables))
    in_tree = property(lambda self: self._signature.in_tree)
    out_tree = property(lambda self: self._signature.out_tree)
    in_avals = property(lambda self: tuple(leaf.aval for leaf in self._signature.in_leaves))
    out_avals = property(lambda self: tuple(leaf.aval for leaf in self._signature.out_leaves))
    in_shardings_hlo = property(lambda self: (None,) * len(self.in_avals))
    out_shardings_hlo = property(lambda self: (None,) * len(self.out_avals))
    in_names = property(lambda self: tuple(leaf.name for leaf in self._signature.in_leaves))
    out_names = property(lambda self: tuple(leaf.name for leaf in self._signature.out_leaves))
    module_kept_var_idx = property(lambda self: tuple(range(len(self._signature.in_leaves))))

    fun_name = property(lambda self: self._entries.get("onax.function", "<unknown>"))
    source = property(lambda self: self._entries.get("onax.source", "<unknown>"))

    def __init__(
        self, raw, signature, solver, *, entries, opset, arrays=None, encode=None, get_vjp=None, get_savings=None,
        program=None,
    ):  # fmt: skip
        self._bytes = raw
        self._signature = signature
        self._dim_solver = solver
        self._session = None
        self._entries = entries
        self._arrays = arrays or {}  # constants that the bytes only name
        self._get_vjp = get_vjp
        self._get_savings = get_savings
        self._program = program
        self._encode = encode  # location -> (bytes without metadata, such constants), for a model over 2 GB
        self.opset = opset

    def opset_savings(self) -> list[Any]:
        """What higher opsets would save: a list of objects with `opset`, `removed` and `added`, which print as text.

        Empty for an artefact that was loaded: the file does not say what was exported.

        Examples:
          >>> import numpy as np, onax
          >>> x = onax.ShapeDtypeStruct((3,), np.float32)
          >>> for saving in onax.export.export(onax.numpy.signbit)(x).opset_savings():
          ...     print(saving.opset, saving.added)
          26 {'BitCast': 1}
        """
        return [] if self._get_savings is None else self._get_savings()

    @property
    def symbolic_dimensions(self) -> Sequence[str]:
        """Names of the symbolic dimensions' variables."""
        return self._dim_solver.variables

    @property
    def constraints(self) -> Sequence[str]:
        """Constraints on the symbolic dimensions, as texts."""
        return self._signature.constraints

    @property
    def onnx_model(self):
        """The model as an onnx.ModelProto."""
        return lazy.onnx.load_model_from_string(self._bytes)

    @property
    def onnx_model_serialized(self) -> bytes:
        """The model's bytes, as `save` writes them."""
        return self._bytes

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The artefact as bytes, for `deserialize`.

        vjp_order   how many orders of derivative the bytes hold: with 1, the loaded Exported has a `vjp`

        Raises ExportError for a model whose constants are stored in a second file.
        """
        if self._arrays:
            raise ExportError("the constants of this model are in a second file: store it with save(path)")
        if vjp_order <= 0 or not self.has_vjp():
            return bytearray(self._bytes)
        inner = base64.b64encode(self.vjp().serialize(vjp_order - 1)).decode()
        model = self.onnx_model
        del model.metadata_props[:]
        return bytearray(artifact.seal(model.SerializeToString(), {**self._entries, "onax.vjp": inner}))

    def has_vjp(self) -> bool:
        """Whether `vjp` is there: for exports of this process, and for artefacts that hold one."""
        return self._get_vjp is not None

    def vjp(self) -> "Exported":
        """The vector-Jacobian product as an Exported.

        Its arguments are the leaves of the arguments, then one cotangent per leaf of the result; it returns a tuple
        with one cotangent per argument.  Cotangents of integers have dtype float0.

        Raises ValueError if there is none, as in an artefact written by `serialize` with vjp_order=0.
        """
        if self._get_vjp is None:
            raise ValueError("No VJP is available")
        return self._get_vjp()

    def in_shardings_jax(self, mesh):
        """A NamedSharding on a mesh of the exported axes, or None, for each argument, as the function stated them.

        They are for `jit` and `device_put`, and `call` puts its arguments there: the model itself runs on one device.
        """
        return shardings.of_mesh(self._entries, "in", len(self.in_avals), mesh)

    def out_shardings_jax(self, mesh):
        """The same for each result."""
        return shardings.of_mesh(self._entries, "out", len(self.out_avals), mesh)

    def save(self, path: PathLike, *, external_data: bool | None = None, progress=None) -> None:
        """Writes the artefact atomically.

        external_data   True: constants over 1 kB go to a second file beside it, of the same name with `.data` appended;
                        None: only if the model is over 2 GB; False: such a model raises ExportError
        progress        called with the number of bytes that are written of the larger file, after each 16 MB at most

        Raises ExportError if a path cannot be written.
        """
        if external_data is False and self._arrays:
            raise ExportError("a model over 2 GB needs a second file: save it without external_data=False")
        if not external_data and not self._arrays:
            artifact.write_atomically(path, self._bytes, progress)
            return
        location = os.path.basename(os.fspath(path)) + external.SUFFIX
        raw, arrays = self._split_constants(location)
        sealed = artifact.seal(raw, {**self._entries, "onax.external": external.entry(arrays, location)})
        artifact.write_atomically(os.fspath(path) + external.SUFFIX, external.chunks(arrays), progress)
        artifact.write_atomically(path, sealed)

    def _split_constants(self, location):
        """(the model's bytes without metadata, {name: array} of the constants for the second file `location`)."""
        if self._encode is not None:
            return self._encode(location)
        model = self.onnx_model
        del model.metadata_props[:]
        arrays = external.relocate_constants(model, self._arrays, location)
        arrays = arrays or external.extract_constants(model, location)
        return model.SerializeToString(), arrays

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the model in ONNX Runtime on arguments of the exported structure, types and shapes.

        Inside `jit` the call is one equation of the program.

        Raises ValueError for other structures, dtypes or shapes, which names the argument, what was expected and what
        was passed; and on a platform that the export is not for.
        """
        leaves = self._arguments(args, kwargs)
        platform_checks.check_platform(self._entries, self.fun_name)
        if any(isinstance(x, Tracer) for x in leaves):
            return self.out_tree.unflatten(differentiable_call(self)(*leaves))
        return self.out_tree.unflatten(call_on_devices(self, shardings.devices_of(leaves), leaves))

    def _call_flat(self, leaves):
        arrays, sizes = [], []
        for value, leaf, label in zip(leaves, self._signature.in_leaves, self._dim_solver.labels):
            array = _to_buffer(value, leaf.aval, label)
            sizes.append(array.shape)
            arrays.append(artifact.to_boundary(array, leaf.aval))
        self._dim_solver.solve(sizes)
        if not self.out_avals:  # the runtime refuses models without outputs
            return []
        results = self._cached_session().run(arrays)
        return [_from_buffer(r, leaf.aval) for r, leaf in zip(results, self._signature.out_leaves)]

    __call__ = call

    def _arguments(self, args, kwargs):
        """The leaves of a call's arguments; ValueError unless their structure is the exported one."""
        leaves, tree = tree_flatten((args, kwargs))
        if tree == self.in_tree:
            return leaves
        # a class that was not registered for serialization is loaded as a record: compare key paths instead
        pairs = tree_leaves_with_path((args, kwargs))
        if [keystr(path) for path, _ in pairs] == [leaf.path for leaf in self._signature.in_leaves]:
            return leaves
        example = skeleton(self.in_tree)
        lines = []
        for path, there, here, why in equality_errors(example, (args, kwargs)):
            label = shapes.argument_label(path) if path else "the arguments"
            lines.append(f"   - {label}: {here} in the invocation and {there} when exported, {why}.")
        raise ValueError(
            "The invocation args and kwargs must have the same pytree structure as when the function "
            f"'{self.fun_name}' was exported, but they have the following structural differences:\n" + "\n".join(lines)
        )

    def _cached_session(self):
        if self._session is None:
            self._session = self.session()
        return self._session

    def session(self, options: Any = None) -> Any:
        """A new session of ONNX Runtime on the model; `options` are those of `_native.ort.Session`."""
        onnx_runtime.attach_runtime()
        ports = [
            [(leaf.name, *_port(leaf.aval)) for leaf in side]
            for side in (self._signature.in_leaves, self._signature.out_leaves)
        ]
        try:
            return Session(self._bytes, *ports, initializers=self._arrays, options=options)
        except RuntimeError as error:
            raise BackendError(f"ONNX Runtime refused the model of '{self.fun_name}'. {error}") from error

    def boundary_arguments(self, *args: Any, **kwargs: Any) -> list[np.ndarray]:
        """The arguments as the graph takes them: a list with one NumPy array per input."""
        leaves = self._signature.in_leaves
        return [
            artifact.to_boundary(_to_buffer(value, leaf.aval, label), leaf.aval)
            for value, leaf, label in zip(self._arguments(args, kwargs), leaves, self._dim_solver.labels)
        ]

    def results_of(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The flat results, in the dtypes of the signature, from the graph's outputs (one NumPy array per output)."""
        return [artifact.from_boundary(np.asarray(x), leaf.aval) for x, leaf in zip(arrays, self._signature.out_leaves)]

    def __repr__(self):
        return f"Exported(fun_name={self.fun_name}, ...)"


def _port(aval):
    """(element type, shape) of an input or output, as `Session` takes it."""
    shape, dtype = artifact.boundary_type(aval)
    return ELEMENT_TYPES[dtype], shape


def _to_buffer(value, aval, label):
    """An argument's buffer; ValueError if its dtype is not the exported one."""
    own = typeof(value)
    if aval.dtype == float0 == own.dtype:
        return np.zeros(own.shape, bool)
    check_dtype(own, aval, label)
    if isinstance(aval.dtype, ExtendedDType):
        return value._value
    return np.asarray(value, aval.dtype)


def _from_buffer(result, aval):
    """A result of the model as an array; one of dtype float0 is NumPy's, as in JAX."""
    array = artifact.from_boundary(result, aval)
    return array if aval.dtype == float0 else make_array(array, dtype=aval.dtype, weak_type=aval.weak_type)


# --- names --------------------------------------------------------------------------------------------------------


def _path_words(path):
    """The keys of a path as texts; characters that tools may not accept in names become `_`."""
    return [re.sub(r"[^\w-]+", "_", str(key.value)).strip("_") or "_" for key in path]


def _number_duplicates(names):
    """The names, where repeated ones get a numeric suffix."""
    seen, result = set(), []
    for name in names:
        candidate, n = name, 1
        while candidate in seen:
            n += 1
            candidate = f"{name}_{n}"
        seen.add(candidate)
        result.append(candidate)
    return result


def _parameter_names(fun, count):
    """Names of the first positional parameters; `args.i` where the signature has none."""
    try:
        parameters = list(lazy.inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = []
    for i in range(count):
        if i < len(parameters) and parameters[i].kind in (
            parameters[i].POSITIONAL_ONLY,
            parameters[i].POSITIONAL_OR_KEYWORD,
        ):
            names.append(parameters[i].name)
        else:
            extra = next((p for p in parameters if p.kind is p.VAR_POSITIONAL), None)
            first = next((j for j, p in enumerate(parameters) if p is extra), 0)
            names.append(f"{extra.name if extra else 'args'}.{i - first if extra else i}")
    return names


def argument_names(fun, args, kwargs, static=()):
    """A name for each leaf of the arguments: the parameter and the key path below it, as in `params.layers.0.w`.

    `args` and `kwargs` hold no static arguments; `static` are the positions that those had.
    """
    parameters = _parameter_names(fun, len(args) + len(static))
    parameters = [name for i, name in enumerate(parameters) if i not in static]
    names = []
    for (side, key, *rest), _ in tree_leaves_with_path((args, kwargs)):
        head = parameters[key.idx] if side.idx == 0 else _path_words([key])[0]
        names.append(".".join([head, *_path_words(rest)]))
    return _number_duplicates(names)


def result_names(result, taken):
    """A name for each leaf of a result: `out`, `out.0`, ...; leaves of a dictionary or record have their paths."""
    paths = [_path_words(path) for path, _ in tree_leaves_with_path(result)]
    if not isinstance(result, (tuple, list)) or hasattr(result, "_fields"):
        own = [".".join(path) for path in paths]
        if all(own) and not set(own) & set(taken):
            return _number_duplicates(own)
    names = [".".join(["out", *path]) for path in paths]
    return _number_duplicates([*taken, *names])[len(taken) :]


def _apply_given_names(given, names, what):
    """The names that the caller chose: `given` is a sequence of all names, or a dictionary from default names."""
    if given is None:
        return names
    if isinstance(given, dict):
        unknown = set(given) - set(names)
        if unknown:
            raise ExportError(f"there is no {what} named {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        return [given.get(name, name) for name in names]
    given = list(given)
    if len(given) != len(names):
        raise ExportError(f"{len(given)} {what} names were given for {len(names)}: {', '.join(names)}")
    return given


def _check_distinct(names):
    """ExportError if a name is repeated or is not a nonempty str."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise ExportError(f"{name!r} is not a valid name for an input or output")
    double = first_duplicate(names)
    if double is not None:
        raise ExportError(f"two inputs or outputs have the name {double!r}")


# --- export -------------------------------------------------------------------------------------------------------


@source.api_boundary
def export(
    fun: AnyFunction,
    *,
    opset: int | None = None,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[platform_checks.DisabledSafetyCheck] = (),
    input_names: Sequence[str] | Mapping[str, str] | None = None,
    output_names: Sequence[str] | Mapping[str, str] | None = None,
    exact: bool = False,
) -> Callable[..., Exported]:
    """Returns a function that takes arguments or their types (ShapeDtypeStruct) and exports `fun` for them.

    Args:
      fun: any traceable function, jitted or not.
      opset: the ONNX opset of the model, 18 to 26; by default the lowest from 21 on that has all operations of the
        function (`Exported.opset_savings` says what a higher one would save).
      input_names: names for all leaves of the arguments, or a dictionary from the default names.
      output_names: the same for the results.
      exact: True leaves formulas such as those of softmax and gelu formulas; by default they become the operator that
        has their meaning, whose kernels round results close to 0 more coarsely.
      platforms: the platforms for which `Exported.call` runs; default None, all.  The model itself runs wherever ONNX
        Runtime does.
      disabled_checks: the checks that `Exported.call` leaves out, DisabledSafetyChecks; default none.

    Returns:
      A function of arguments that returns an `Exported`.

    Raises:
      ExportError: the function cannot be exported, or not with these arguments.
      LoweringError: an operation has no ONNX form; the message lists every such operation.
      TypeError: `disabled_checks` holds something else than a DisabledSafetyCheck.
      NotImplementedError: arguments are donated, which some of several platforms do not do.
      ValueError: the option jax_export_calling_convention_version has a value that JAX does not support.

    Examples:
      >>> exported = onax.export.export(onax.jit(jnp.sin))(onax.ShapeDtypeStruct((3,), jnp.float32))
      >>> exported.out_avals
      (ShapedArray(float32[3]),)
    """
    if not callable(fun):
        raise ExportError(f"only functions can be exported, got {fun!r}")
    if opset is not None and opset not in opsets.OPSETS:
        first, last = opsets.OPSETS[0], opsets.OPSETS[-1]
        raise ExportError(f"opset {opset} is not supported: choose one from {first} to {last}")
    stated = platform_checks.entries_of(tuple(platforms or ()), tuple(disabled_checks))

    @source.api_boundary
    def export_for(*args, **kwargs):
        platform_checks.check_version()
        return _export(fun, args, kwargs, opset, input_names, output_names, exact, stated)

    return export_for


def _unwrap_jit(fun):
    """(the function without jit, its JitOptions or None, static_argnums, static_argnames)."""
    if not isinstance(fun, JitFunction):
        return fun, None, (), ()
    options = fun._options
    return fun.fun, options, options.static_argnums, options.static_argnames


def _without_refs(jaxpr):
    """The program with its mutable array references discharged.  Raises ExportError for references from outside."""
    outside = [*(v.aval for v in jaxpr.invars), *map(typeof, jaxpr.consts)]
    for aval in outside:
        if isinstance(aval, AbstractRef):
            raise ExportError(
                f"the function uses a mutable array reference of type {aval.str_short()} from outside, and a model has "
                "no state: take its value as an argument and return the new one"
            )
    return discharge_refs(jaxpr)


_NOTHING: dict[str, str] = {}


def _export(
    fun, args, kwargs, opset, input_names=None, output_names=None, exact=False, stated=_NOTHING,
    as_types=lambda avals, is_output: avals,
):  # fmt: skip
    """`as_types` says how the types of the staged program appear in the signature; `stated` are entries of metadata."""
    fun, options, static_argnums, static_argnames = _unwrap_jit(fun)
    platform_checks.check_donation(options, stated)
    shapes.check_one_scope(function_name(fun), tree_leaves_with_path((args, kwargs)))
    jaxpr, out_tree, in_tree = stage(fun, args, kwargs, static_argnums, static_argnames, traced_for="export")
    static = {n % len(args): args[n] for n in static_argnums if -len(args) <= n < len(args)}
    static_names = {name: x for name, x in kwargs.items() if name in static_argnames}
    args = tuple(x for i, x in enumerate(args) if i not in static)
    kwargs = {name: x for name, x in kwargs.items() if name not in static_names}
    jaxpr = inline_exported_calls(jaxpr)
    arguments, result = (args, kwargs), skeleton(out_tree)
    in_names = _apply_given_names(input_names, argument_names(fun, args, kwargs, static), "input")
    out_names = _apply_given_names(output_names, result_names(result, in_names), "output")
    _check_distinct((*in_names, *out_names))
    labels = [shapes.argument_label(path) for path, _ in tree_leaves_with_path(arguments)]
    solver = shapes.make_dim_solver(labels, [a.shape for a in jaxpr.in_avals])
    lower = functools.partial(
        driver.lower_jaxpr,
        widen(eliminate_dead_code(_without_refs(jaxpr), bodies=False)),
        target="portable",
        input_names=in_names,
        output_names=out_names,
        dim_solver=solver,
        collect_errors=True,
        recognize=not exact,
        named_after=fun,
        leave_out_prints=True,
    )
    program = StagedFunction(fun, static, static_names, in_tree, jaxpr, bool(solver.variables))
    asked, lower_at = opset, lambda n: lower(opset=n)
    graph, opset = opsets.lower_at_lowest(lower_at) if opset is None else (lower_at(opset), opset)
    _warn_of_silent_broadcasts(solver, in_names)
    _warn_of_left_out(graph)
    signature = Signature(
        in_tree,
        _leaves(in_names, arguments, as_types(jaxpr.in_avals, False)),
        out_tree,
        _leaves(out_names, result, as_types(jaxpr.out_avals, True)),
        solver.constraints,
        {"jax_enable_x64": config.jax_enable_x64, "jax_default_prng_impl": config.jax_default_prng_impl},
    )
    name = function_name(fun)
    entries = shardings.entry_of(options, args, kwargs, jaxpr, out_tree) | _entries_of(fun, signature) | stated
    before, wishes = opsets.count_operators(graph), frozenset(graph.model.wishes)
    kept = _entries_of_vjp(entries, jaxpr)
    later = {
        "get_vjp": lambda: _export_vjp(program, signature.in_leaves, asked, exact, kept),
        "get_savings": lambda: opsets.savings(before, wishes, lower_at),
        "program": program,
    }
    if sum(v.const.nbytes for v in graph.initializers.values()) < artifact.LIMIT - _HEADROOM:
        return Exported(artifact.seal(proto.to_model(graph, name=name), entries), signature, solver,
                        entries=entries, opset=opset, **later)  # fmt: skip
    encode = functools.partial(proto.to_parts, graph, external.THRESHOLD, name=name)
    raw, arrays = encode(external.SUFFIX)
    return Exported(raw, signature, solver, entries=entries, opset=opset, arrays=arrays, encode=encode, **later)


def _entries_of(fun, signature):
    """What the metadata of every model says, a dict of texts."""
    return {
        "onax.version": __version__,
        "onax.function": function_name(fun),
        "onax.source": source.function_location(fun, source.portable_path),
        "onax.signature": signature.to_json(),
    }


def _entries_of_vjp(entries, jaxpr):
    """What the metadata of a model says of its vector-Jacobian product."""
    kept = {name: entries[name] for name in platform_checks.ENTRIES if name in entries}
    return kept | shardings.entry_of_vjp(entries, len(jaxpr.in_avals), len(jaxpr.out_avals))


def _export_vjp(program, in_leaves, opset, exact, stated):
    """The Exported of a program's vector-Jacobian product; `in_leaves` are the arguments of the signature.

    The model takes and returns zeros of bool in the place of float0, for which ONNX has no type.
    """
    jaxpr, in_dtypes = program.jaxpr, [leaf.aval.dtype for leaf in in_leaves]
    count = len(jaxpr.in_avals)
    dtypes_in = [primal_tangent_dtype(a.dtype) for a in jaxpr.in_avals]
    dtypes_ct = [primal_tangent_dtype(a.dtype) for a in jaxpr.out_avals]

    def fun_vjp_jax(*args):
        function = jaxpr_as_fun(program.for_types(list(map(typeof, args[:count]))))
        inexact = [i for i, d in enumerate(dtypes_in) if d != float0]

        def of_inexact(*own):  # without values of dtype float0, of which there are none of symbolic shape
            whole = list(args[:count])
            for i, x in zip(inexact, own):
                whole[i] = x
            return [out for out, d in zip(function(*whole), dtypes_ct) if d != float0]

        pulled = vjp(of_inexact, *[args[i] for i in inexact])[1]
        found = dict(zip(inexact, pulled([ct for ct, d in zip(args[count:], dtypes_ct) if d != float0])))
        return tuple(found[i] if i in found else full(args[i].shape, False) for i in range(count))

    def as_types(avals, is_output):
        stated = dtypes_in if is_output else [*in_dtypes, *dtypes_ct]
        return [ShapedArray(a.shape, float0) if d == float0 else a for a, d in zip(avals, stated)]

    ports = [*((a.shape, a.dtype) for a in jaxpr.in_avals), *zip((a.shape for a in jaxpr.out_avals), dtypes_ct)]
    specs = [ShapeDtypeStruct(shape, bool if d == float0 else d) for shape, d in ports]
    return _export(fun_vjp_jax, specs, {}, opset, exact=exact, stated=stated, as_types=as_types)


_HEADROOM = 1 << 26  # bytes reserved for everything in a model but its constants


def _leaves(names, tree, avals):
    """A Leaf (name, path, type) for each leaf of the arguments or of the result."""
    return [Leaf(n, keystr(path), a) for n, (path, _), a in zip(names, tree_leaves_with_path(tree), avals)]


def _warn_of_silent_broadcasts(solver, names):
    """Warns of dimensions that several inputs share: plain ONNX Runtime does not compare them, and broadcasts a 1."""
    owners_of = {}
    for name, shape in zip(names, solver.shapes):
        for d in shape:
            if not dim_rules.is_constant(d):
                owners_of.setdefault(d, set()).add(name)
    shared = {d: owners for d, owners in owners_of.items() if len(owners) > 1}
    if shared:
        text = "; ".join(f"{d}: {', '.join(sorted(owners))}" for d, owners in shared.items())
        warnings.warn(
            f"ONNX cannot assert that dimensions agree ({text}). Calls through onax check it; plain ONNX Runtime "
            "broadcasts a size of 1.",
            stacklevel=4,
        )


def _warn_of_left_out(graph):
    for text in dict.fromkeys(graph.model.left_out):
        warnings.warn(text, stacklevel=4)


@source.api_boundary
def deserialize(blob: bytes | bytearray, verify: bool = True, *, path: PathLike | None = None) -> Exported:
    """Returns the exported function in the bytes that `serialize` or `save` wrote.

    Args:
      blob: bytes.
      verify: True (the default): the bytes are compared with their checksum.
      path: the file that the bytes come from: a second file with constants is looked for in its folder.  Default None.

    Returns:
      An Exported.

    Raises:
      ArtifactError: other bytes.

    Examples:
      >>> blob = onax.export.export(lambda x: 2 * x)(jnp.ones(3)).serialize()
      >>> onax.export.deserialize(blob).call(jnp.ones(3))
      Array([2., 2., 2.], dtype=float32)
    """
    raw = bytes(blob)
    model, entries = artifact.unseal(raw, verify)
    signature = Signature.from_json(entries.get("onax.signature", ""))
    for side, leaves, ports in (
        ("input", signature.in_leaves, model.graph.input),
        ("output", signature.out_leaves, model.graph.output),
    ):
        if [leaf.name for leaf in leaves] != [port.name for port in ports]:
            raise artifact.ArtifactError(f"the artefact's {side}s are not those of its signature")
    labels = [_argument_label(leaf.path) for leaf in signature.in_leaves]
    solver = shapes.make_dim_solver(labels, [leaf.aval.shape for leaf in signature.in_leaves])
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    arrays = external.arrays_of(model, path, entries.get("onax.external"), verify)
    names = (
        "onax.version",
        "onax.function",
        "onax.source",
        "onax.signature",
        shardings.ENTRY,
        *platform_checks.ENTRIES,
    )
    metadata = {name: entries[name] for name in names if name in entries}
    pulled = entries.get("onax.vjp")
    get_vjp = None if pulled is None else lambda: deserialize(base64.b64decode(pulled), verify)
    return Exported(raw, signature, solver, entries=metadata, opset=opset, arrays=arrays, get_vjp=get_vjp)


def _argument_label(path):
    """The name of an argument in messages, from the text of its path."""
    return ("args" if path.startswith("[0]") else "kwargs") + path[3:]


@source.api_boundary
def load(path: PathLike, verify: bool = True) -> Exported:
    """Returns the exported function in a file that `save` wrote.

    Args:
      path: the file.
      verify: True (the default): the bytes are compared with their checksum.

    Returns:
      An Exported.

    Raises:
      ArtifactError: the file is missing, damaged, of a newer format, or not written by onax.

    Examples:
      >>> import tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     onax.export.save(onax.export.export(lambda x: 2 * x)(jnp.ones(3)), folder + "/f.onnx")
      ...     f = onax.export.load(folder + "/f.onnx")
      >>> f.call(jnp.ones(3))
      Array([2., 2., 2.], dtype=float32)
    """
    try:
        return deserialize(artifact.read_file(path), verify, path=os.fspath(path))
    except artifact.ArtifactError as error:
        raise artifact.ArtifactError(f"{path}: {error}") from None


@source.api_boundary
def save(exported: Exported, path: PathLike, *, external_data: bool | None = None) -> None:
    """Writes an exported function to a file in one step.

    Args:
      exported: an Exported.
      path: the file.
      external_data: whether constants go to a second file; default None, if the model is over 2 GB.

    Returns:
      None.

    Examples:
      >>> import os, tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     onax.export.save(onax.export.export(lambda x: 2 * x)(jnp.ones(3)), folder + "/f.onnx")
      ...     print(os.listdir(folder))
      ['f.onnx']
    """
    exported.save(path, external_data=external_data)


def default_export_platform() -> str:
    """Returns the platform of exports; models run wherever ONNX Runtime does.

    Returns:
      "cpu".

    Examples:
      >>> onax.export.default_export_platform()
      'cpu'
    """
    return "cpu"
