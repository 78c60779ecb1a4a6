"""A loaded ONNX model: a function of its weights and inputs."""

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import Any

import numpy as np

import onax.numpy as jnp
from onax._core.trace import Tracer, ensure_compile_time_eval
from onax._ground import lazy
from onax._ground.config import enable_x64
from onax._ground.errors import OperatorError
from onax._ground.source import api_boundary
from onax._native.array import make_array
from onax.onnx.boundary import GraphSignature
from onax.onnx.dynamic_slices import restore_dynamic_slices
from onax.onnx.evaluation import Evaluation, Scope
from onax.onnx.reading import read_model
from onax.onnx.sizes import as_numbers
from onax.onnx.static_values import static_names
from onax.onnx.weights import gather_weights


@api_boundary
def load(
    source: Any, *, params: Callable[[str, np.ndarray], bool] | None = None, straight_through: bool = False
) -> "Model":
    """Reads an ONNX model as a function that can be called, jitted, differentiated, batched and exported.

    Args:
        source: the path of a `.onnx` file, its bytes, or a ``ModelProto``.  Weights in a second file are mapped into
            memory, and must lie in the folder of the model or below.
        params: decides which constants of the model are its parameters: ``params(name, array)`` returns a bool.  By
            default these are the floating-point ones with at least one dimension that decide no shape.
        straight_through: whether gradients pass through QuantizeLinear followed by DequantizeLinear, as
            quantization-aware training needs them: that of the rounding is 1 inside of the range of the integers and 0
            outside, and scales get the gradient of learned step size quantization (Esser et al., 2020).  By default
            it is 0, as of any rounding.  Results are the same.

    Returns:
        A `Model`: ``model(model.params, *inputs)`` computes its outputs.

    Raises:
        ArtifactError: the file is missing, damaged or inconsistent.  Nothing in a file is executed or unpickled.

    Examples:
        >>> import onax, onax.numpy as jnp
        >>> blob = onax.export.export(jnp.tanh)(jnp.ones(3)).onnx_model_serialized
        >>> model = onax.onnx.load(blob)
        >>> model(model.params, jnp.zeros(3))
        Array([0., 0., 0.], dtype=float32)
    """
    return Model(gather_weights(restore_dynamic_slices(read_model(source))), params, straight_through)


def _is_parameter(name, array):
    return array.ndim > 0 and jnp.issubdtype(array.dtype, jnp.floating)


class Model:
    """A function read from an ONNX file: ``model(params, *inputs, key=None, training=False)``.

    A file that onax exported is called with the arguments of the exported function, after the parameters, and returns
    its results.  Any other returns its output, or a tuple of its outputs.  Inputs are given in order or by name.
    An optional input may be None or left out.  Values have the dtypes that the file declares, 64-bit ones too.  Nodes
    that draw random numbers use `key`; with `training`, dropout drops and batch normalization uses the batch's
    statistics.

    Attributes:
      params: dict from name to Array, the weights: initializers and Constant nodes, those in branches and bodies of
        loops included.  Constants that share their place in a second file are one parameter, under the first of their
        names.
      constants: dict from name to ndarray, what is part of the function.
      inputs, outputs: tuples with the name, dtype and shape of each; a dimension is a size, a name, or None.
      static_inputs: names of the inputs whose values decide shapes; under jit they must be static arguments.
      metadata: dict of the texts in the file: its metadata entries, and producer_name, producer_version, domain and
        doc_string where it has them.

    Args:
      file: the model that was read; `onax.onnx.load` makes it from a path.
      is_parameter: a function (name, array) -> bool that decides which constants are parameters; default None, the
        floating-point ones with an axis that decide no shape.
      straight_through: whether gradients pass through quantization; default False.

    Examples:
      >>> model = onax.onnx.load(onax.export.export(lambda x: 2 * x)(jnp.ones(3)).serialize())
      >>> model(model.params, jnp.ones(3))
      Array([2., 2., 2.], dtype=float32)
    """

    def __init__(self, file, is_parameter=None, straight_through=False):
        self._file = file
        self._straight_through = straight_through
        self.metadata = dict(file.metadata)
        static = static_names(file)
        constants = file.graph.constants
        choose = is_parameter or _is_parameter
        chosen = [name for name, a in constants.items() if a.dtype != object and name not in static and choose(name, a)]
        self._tied = _tied_names(chosen, constants)
        self.params = {name: make_array(_aligned(constants[name])) for name in chosen if name not in self._tied}
        self.constants = {name: array for name, array in constants.items() if name not in {*self.params, *self._tied}}
        self.inputs = tuple(value for value in file.graph.inputs if value.name not in constants)
        self.outputs = file.graph.outputs
        self.static_inputs = tuple(value.name for value in self.inputs if value.name in static)
        self._signature = GraphSignature.read(self.metadata, self.inputs, self.outputs)
        self.__name__ = file.graph.name or "onnx_model"
        if self._signature is None:
            self.__signature__ = _signature_of(self.inputs)

    def __repr__(self):
        shown = ", ".join(f"{value.name}: {_describe(value)}" for value in self.inputs)
        results = ", ".join(f"{value.name}: {_describe(value)}" for value in self.outputs)
        return f"<onax.onnx.Model {self.__name__!r} ({shown}) -> ({results}), {len(self.params)} parameters>"

    @api_boundary
    def __call__(self, params: Mapping[str, Any], /, *args: Any, **kwargs: Any) -> Any:
        names = [value.name for value in self.inputs]
        options = {name: kwargs.pop(name) for name in ("key", "training") if name in kwargs and name not in names}
        return self.apply(params, args, kwargs, **options)

    @api_boundary
    def apply(
        self,
        params: Mapping[str, Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        key: Any = None,
        training: bool = False,
    ) -> Any:
        """As a call, for models that have inputs named key or training: their values are in `args` or `kwargs`.

        Args:
            params: dict with the arrays of `self.params`, or others in their place.
            args, kwargs: inputs in order, and by name.
            key: for nodes that draw random numbers.
            training: whether dropout drops and batch normalization uses the batch's statistics.

        Returns:
            The model's output, or a tuple of its outputs; the exported function's results, if onax wrote the file.

        Raises:
            OperatorError: a node cannot be evaluated.
            TypeError, ValueError: the inputs do not fit those that the model declares.
        """
        kwargs = kwargs or {}
        if not isinstance(params, Mapping):
            raise TypeError(
                f"the first argument is the dict of weights: model(model.params, ...); got {type(params).__name__}"
            )
        if self._signature is not None:
            given, tree = self._signature.arguments(args, kwargs)
        else:
            given, tree = self._by_name(args, kwargs), None
        with enable_x64(True):
            arguments = self._convert(given)
            results = self._evaluate(params, arguments, key, training)
        if tree is not None:
            return self._signature.results(results, tree)
        return results[0] if len(results) == 1 else tuple(results)

    def _by_name(self, args, kwargs):
        """The value of each input, in order."""
        names = [value.name for value in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"the model takes {len(names)} inputs ({', '.join(names)}); {len(args)} were given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"the model has no input {name!r}; its inputs are {', '.join(names)}")
            if name in given:
                raise TypeError(f"the model got several values for its input {name!r}")
            given[name] = value
        given.update((value.name, None) for value in self.inputs if value.optional and value.name not in given)
        if missing := [name for name in names if name not in given]:
            raise TypeError(f"the model needs a value for its inputs {', '.join(missing)}")
        return [given[name] for name in names]

    def _convert(self, given):
        """Inputs as arrays of the declared dtypes; TypeError or ValueError if they do not fit the declaration."""
        sizes: dict = {}
        result = []
        for value, x in zip(self.inputs, given):
            if value.dtype is None:
                raise OperatorError(f"the input {value.name!r} is not a tensor; onax has no sequences of arrays")
            if value.dtype.kind == "O":
                raise OperatorError(f"the input {value.name!r} holds strings; onax has no arrays of strings")
            if x is None and value.optional:
                result.append(None)
                continue
            x = _convert_input(value, x)
            _check_shape(value, np.shape(x), sizes)
            result.append(x)
        return result

    def _evaluate(self, params, arguments, key, training):
        """The outputs of the graph."""
        if unknown := params.keys() - self.params.keys() - self.constants.keys():
            raise ValueError(f"the model has no parameters {', '.join(sorted(unknown))}")
        if missing := self.params.keys() - params.keys():
            raise ValueError(f"the parameters {', '.join(sorted(missing))} are missing")
        graph = self._file.graph
        values = {**self.constants, **params, **{name: params[first] for name, first in self._tied.items()}}
        values.update(zip([value.name for value in self.inputs], arguments))
        scope = Scope(ChainMap(values), self._file.opsets, {})
        results = [value.name for value in graph.outputs]
        evaluation = Evaluation(self._file.functions, key, training, self._straight_through)
        evaluation.run_nodes(graph.nodes, scope, results)
        if empty := [name for name in results if values[name] is None]:
            raise OperatorError(f"the output {empty[0]!r} is an optional value that is not there; results are arrays")
        return [jnp.asarray(as_numbers(values[name])) for name in results]


def _signature_of(inputs):
    """The signature of a model's call, by which `jit` and `export` find the names of arguments.

    Inputs whose names are none that Python has for arguments are given in order, or in a dictionary with two stars.
    """
    kinds = lazy.inspect.Parameter
    names = [value.name for value in inputs]
    plain = all(name.isidentifier() and not iskeyword(name) for name in names) and "params" not in names
    parameters = [kinds("params", kinds.POSITIONAL_ONLY)]
    if plain:
        rest = [value.optional for value in inputs]
        first = rest.index(True) if True in rest else len(rest)
        for i, name in enumerate(names):
            default = None if i >= first else kinds.empty
            parameters.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=default))
        options = {"key": None, "training": False}
        parameters += [kinds(n, kinds.KEYWORD_ONLY, default=d) for n, d in options.items() if n not in names]
    else:
        parameters += [kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)]
    return lazy.inspect.Signature(parameters)


def _tied_names(names, constants):
    """{name: the first name} of constants whose elements are the same memory, as those at one place of a file are."""
    firsts, tied = {}, {}
    for name in names:
        array = constants[name]
        place = array.__array_interface__["data"][0], array.shape, array.dtype
        first = firsts.setdefault(place, name) if array.size else name
        if first != name:
            tied[name] = first
    return tied


def _aligned(array):
    """The array; a copy if its elements do not lie at multiples of their size, as they may in a file."""
    return np.asarray(array) if array.flags.aligned and array.flags.c_contiguous else np.array(array)


def _describe(value):
    dims = "?" if value.shape is None else ",".join("?" if size is None else str(size) for size in value.shape)
    return f"{value.dtype.name if value.dtype is not None else 'no tensor'}[{dims}]"


def _convert_input(value, x):
    if not isinstance(x, Tracer):
        with ensure_compile_time_eval():  # known values stay known while a program is traced
            return _checked_dtype(value, jnp.asarray(_as_array(value, x)))
    return _checked_dtype(value, x)


def _as_array(value, x):
    return np.asarray(x, value.dtype) if isinstance(x, (list, tuple, bool, int, float, complex)) else x


def _checked_dtype(value, x):
    """x in the declared dtype; TypeError if that would lose its kind."""
    if x.dtype == value.dtype:
        return x
    if not np.can_cast(x.dtype, value.dtype, "same_kind") and not getattr(x, "weak_type", False):
        raise TypeError(f"the input {value.name!r} has the dtype {value.dtype.name}; {x.dtype.name} was given")
    return x.astype(value.dtype)


def _check_shape(value, shape, sizes):
    """Checks a shape against the declared one; `sizes` has what named dimensions stand for."""
    if value.shape is None:
        return
    fits = len(shape) == len(value.shape)
    for declared, size in zip(value.shape, shape):
        expected = sizes.setdefault(declared, size) if isinstance(declared, str) else declared
        fits = fits and (expected is None or expected == size)
    if not fits:
        known = ", ".join(f"{name}={size}" for name, size in sizes.items())
        raise ValueError(
            f"the input {value.name!r} is {_describe(value)}{f' with {known}' if known else ''}; "
            f"an array of shape {tuple(shape)} was given"
        )
