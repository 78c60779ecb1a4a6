"""Lowerings of reductions of complex numbers by halving, in log2(n) steps."""

from onax._ground import dims as dim_rules
from onax._ground.errors import LoweringError
from onax._prims import elementwise
from onax._prims import reductions as prims
from onax._prims.creation import full
from onax._prims.shaping import reshape, transpose
from onax._prims.slicing import concatenate, slice_in_dim
from onax.export.lower.registry import Decomposition, lowers_components


def _halving(name, combine, neutral):
    """The decomposition of a reduction by an associative function of two operands."""

    def reduction(x, *, axes, **_):
        axes = tuple(sorted(axes))
        if not axes:
            return x
        rest = [i for i in range(x.ndim) if i not in axes]
        shape = tuple(x.shape[i] for i in rest)
        n = dim_rules.prod([x.shape[i] for i in axes])
        if not dim_rules.is_constant(n):
            raise LoweringError(
                f"{name} of {n} complex numbers has no ONNX form: give the axes that it reduces known sizes."
            )
        if n == 0:
            return full(shape, neutral(x.dtype), x.dtype)
        x = reshape(transpose(x, (*axes, *rest)), (n, *shape))
        while n > 1:
            half = n // 2
            joined = combine(slice_in_dim(x, 0, half), slice_in_dim(x, half, 2 * half))
            x = joined if n % 2 == 0 else concatenate([joined, slice_in_dim(x, n - 1, n)], 0)
            n = half + n % 2
        return reshape(x, shape)

    return Decomposition(reduction)


lowers_components(prims.reduce_prod_p)(_halving("reduce_prod", elementwise.mul, lambda dtype: 1))
lowers_components(prims.reduce_max_p)(_halving("reduce_max", elementwise.max, prims.lowest))
lowers_components(prims.reduce_min_p)(_halving("reduce_min", elementwise.min, prims.highest))
