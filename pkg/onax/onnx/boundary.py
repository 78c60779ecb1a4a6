"""The function behind a file that onax exported: its arguments and results as trees, complex numbers and keys."""

from dataclasses import dataclass

import onax.numpy as jnp
from onax import lax
from onax._core.paths import keystr, tree_flatten_with_path
from onax._ground import dtypes
from onax._ground.errors import ArtifactError
from onax.export.artifact import Signature
from onax.random import key_data, wrap_key_data


@dataclass(frozen=True, slots=True, eq=False)
class GraphSignature:
    """How an exported function's arguments become inputs of its graph, and outputs its results."""

    signature: Signature

    @classmethod
    def read(cls, metadata, inputs, outputs):
        """From a file's metadata; None if onax did not write it.  ArtifactError if it does not fit the graph."""
        text = metadata.get("onax.signature")
        if text is None:
            return None
        signature = Signature.from_json(text)
        for leaves, values in ((signature.in_leaves, inputs), (signature.out_leaves, outputs)):
            if [leaf.name for leaf in leaves] != [value.name for value in values]:
                raise ArtifactError("the inputs or outputs of this model are not those of its signature")
        return cls(signature)

    def arguments(self, args, kwargs):
        """(inputs of the graph, tree of the results) for arguments of the exported function."""
        pairs, _ = tree_flatten_with_path((args, kwargs))
        given = {keystr(path): leaf for path, leaf in pairs}
        expected = [leaf.path for leaf in self.signature.in_leaves]
        if sorted(given) != sorted(expected):
            raise ValueError(
                "the arguments do not have the structure of the exported function's: "
                f"expected {', '.join(expected) or 'none'}; got {', '.join(given) or 'none'}"
            )
        leaves = [_to_graph(given[leaf.path], leaf.aval) for leaf in self.signature.in_leaves]
        return leaves, self.signature.out_tree

    def results(self, values, tree):
        """The results of the exported function for outputs of the graph."""
        pairs = zip(values, self.signature.out_leaves)
        return tree.unflatten([_from_graph(value, leaf.aval) for value, leaf in pairs])


def _to_graph(x, aval):
    """A value as the graph takes it: complex numbers and keys are numbers with trailing axes."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return key_data(x)
    if dtypes.is_complex(aval.dtype):
        x = jnp.asarray(x)
        return jnp.stack([x.real, x.imag], -1)
    return x


def _from_graph(x, aval):
    """The inverse of `_to_graph`."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return wrap_key_data(x, impl=aval.dtype.impl_name if hasattr(aval.dtype, "impl_name") else None)
    if dtypes.is_complex(aval.dtype):
        return lax.complex(x[..., 0], x[..., 1])
    return x
