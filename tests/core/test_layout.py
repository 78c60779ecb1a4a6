"""Formats of arrays, and of what is put on devices."""

import pytest

import onax
import onax.numpy as jnp
from onax.experimental.layout import Format, Layout

PLACE = onax.sharding.SingleDeviceSharding(onax.devices()[0])
X = jnp.arange(6.0).reshape(2, 3)


def test_arrays_are_row_major():
    assert X.format == Format(Layout((0, 1), ()), PLACE)
    assert jnp.float32(1).format.layout.major_to_minor == ()
    assert not hasattr(onax.Array, "format")


@pytest.mark.parametrize("form", [Format(Layout((0, 1)), PLACE), Format(None, PLACE), X.format])
@pytest.mark.parametrize("jitted", [False, True])
def test_device_put_takes_formats(form, jitted):
    put = lambda x: onax.device_put(x, form)
    out = (onax.jit(put) if jitted else put)(X)
    assert out.tolist() == X.tolist() and out.sharding == PLACE
    assert onax.device_put({"a": X}, {"a": form})["a"].committed
    assert not onax.device_put(X, Format()).committed


@pytest.mark.parametrize(
    "form, error, text",
    [
        (Format(Layout((1, 0)), PLACE), NotImplementedError, "row by row"),
        (Format(Layout((0,)), PLACE), ValueError, "rank of the value should match"),
        (Format(Layout.AUTO), ValueError, "should be concrete"),
    ],
)
def test_refused(form, error, text):
    with pytest.raises(error, match=text):
        onax.device_put(X, form)
