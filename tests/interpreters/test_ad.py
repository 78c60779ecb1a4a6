"""Rules of derivatives that libraries give to their primitives."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.core import ShapedArray
from onax.extend.core import Primitive
from onax.interpreters import ad


def primitive(name, function):
    p = Primitive(name)
    p.def_impl(lambda *args, **params: np.asarray(function(*map(np.asarray, args), **params)))
    p.def_abstract_eval(lambda x, *_, **__: ShapedArray(x.shape, x.dtype))
    return p


def test_linear_primitives():
    double = primitive("test_ad_double", lambda x: 2 * x)
    ad.deflinear(double, lambda ct: [double.bind(ct)])
    assert jax.jvp(double.bind, (3.0,), (1.0,))[1] == 2 and jax.grad(double.bind)(3.0) == 2
    scale = primitive("test_ad_scale", lambda x, k: k * x)
    ad.deflinear2(scale, lambda ct, x, k: [scale.bind(ct, k), ct])
    assert ad.get_primitive_transpose(scale) is ad.primitive_transposes[scale]


def test_bilinear_primitives():
    product = primitive("test_ad_product", lambda x, y: x * y)
    ad.defbilinear(product, lambda ct, x, y: product.bind(ct, y), lambda ct, x, y: product.bind(x, ct))
    assert jax.grad(product.bind, (0, 1))(3.0, 5.0) == (5, 3)
    assert jax.jit(jax.grad(lambda x: product.bind(x, x)))(3.0) == 6


def test_derivatives_by_operands_and_by_results():
    cube = primitive("test_ad_cube", lambda x, y: x**3 + y)
    ad.defjvp(cube, lambda t, x, y: 3 * t * x * x, None)
    assert jax.grad(cube.bind)(2.0, 1.0) == 12 and jax.grad(cube.bind, 1)(2.0, 1.0) == 0
    exponential = primitive("test_ad_exp", np.exp)
    ad.defjvp2(exponential, lambda t, y, x: t * y)
    np.testing.assert_allclose(jax.grad(exponential.bind)(1.5), np.exp(1.5), rtol=1e-6)


def test_primitives_of_several_results_have_a_rule_of_all():
    p = primitive("test_ad_several", lambda x: x)
    p.multiple_results = True
    with pytest.raises(TypeError, match=r"primitive_jvps\[test_ad_several\]"):
        ad.defjvp(p, lambda t, x: t)
    with pytest.raises(NotImplementedError, match="Transpose rule"):
        ad.get_primitive_transpose(p)


def test_tangents():
    assert ad.add_jaxvals(jnp.ones(2), jnp.ones(2)).tolist() == [2, 2]
    zero = ad.Zero(ShapedArray((2,), np.dtype("float32")))
    assert ad.add_tangents(zero, 3.0) == 3
    assert ad.instantiate_zeros(zero).tolist() == ad.zeros_like_aval(zero.aval).tolist() == [0, 0]
    assert ad.is_undefined_primal(ad.UndefinedPrimal(zero.aval)) and not ad.is_undefined_primal(zero)
