"""What distributions share: parameters of one dtype, and values outside the support."""

import numpy as np
import pytest

from onax import numpy as jnp
from onax.scipy.stats import _common as common


@pytest.mark.parametrize(
    ("args", "options", "dtype", "weak"),
    [
        ((1, 2), {}, "float32", True),
        ((1.0, np.int8(2)), {}, "float32", True),
        ((jnp.float16(1), 2.0), {}, "float16", False),
        ((jnp.bfloat16(1), jnp.float16(1)), {}, "float32", False),
        ((jnp.asarray(1.0)[None], 2.0), {}, "float32", False),
        ((jnp.asarray(1.0)[None], 2.0), {"keeps_weak_type": True}, "float32", True),
        ((1j, 2), {"takes_complex": True}, "complex64", True),
    ],
)
def test_parameters(args, options, dtype, weak):
    promoted = common.promote_parameters("test", *args, **options)
    assert {(str(x.dtype), x.weak_type) for x in promoted} == {(dtype, weak)}


def test_complex_parameters():
    with pytest.raises(TypeError, match="test takes real numbers, got dtype complex64"):
        common.promote_parameters("test", 1j, 2)


def test_nan_is_outside_of_one_and_inside_of_the_other():
    x = jnp.array([-1.0, 2.0, np.nan])
    assert common.keep_inside(x > 0, x).tolist()[:2] == [-np.inf, 2]
    assert common.keep_inside(x > 0, x)[2] == -np.inf
    masked = common.mask_outside(x < 0, x, 0.0)
    assert masked.tolist()[:2] == [0, 2] and np.isnan(masked[2])
