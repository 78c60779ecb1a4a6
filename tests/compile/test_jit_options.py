"""The options of jit: checked against the function's parameters, normalised, compared."""

import pytest

import onax as jax
from onax import jit
from onax._compile.jit_options import hashable, jit_options

DEFAULTS = dict.fromkeys(
    (
        *("static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "keep_unused", "inline"),
        *("device", "backend", "in_shardings", "out_shardings", "compiler_options"),
    )
)


def options(fun, **given):
    return jit_options(fun, {**DEFAULTS, **given})


ERRORS = [
    (lambda: jit(lambda x: 0, static_argnums=5), ValueError, r"static_argnums=\(5,\), but only accepts 1 positional"),
    (lambda: jit(lambda x: 0, static_argnums=-3), ValueError, r"static_argnums=\(-3,\), but only accepts 1"),
    (lambda: jit(lambda x: 0, static_argnames="z"), ValueError, r"invalid argnames \{'z'\} in static_argnames"),
    (lambda: jit(lambda x: 0, static_argnames=3), TypeError, "'int' object is not iterable"),
    (lambda: jit(lambda x: 0, static_argnums="z"), TypeError, "'str' object cannot be interpreted"),
    (lambda: jit(lambda x: 0, static_argnums=0, donate_argnums=0), ValueError, "cannot intersect"),
    (lambda: jit(lambda x: 0, donate_argnums=1), ValueError, r"donate_argnums=\(1,\), but only accepts 1 positional"),
    (lambda: jit(lambda x: 0, donate_argnames="z"), ValueError, r"invalid argnames \{'z'\} in donate_argnames"),
    (lambda: jit(lambda x: 0, static_argnames="x", donate_argnames="x"), ValueError, "cannot intersect"),
    (lambda: jit(kinds, static_argnames="a"), ValueError, r"argnames \{'a'\} in static_argnames. These are positional"),
    (
        lambda: jit(kinds, donate_argnames="rest"),
        ValueError,
        r"\{'rest'\} in donate_argnames. These are positional-only",
    ),
    (
        lambda: jit(Unsigned(), donate_argnames="x"),
        ValueError,
        "Getting the signature of function .* failed. Pass donate",
    ),
    (lambda: options(three, device=jax.devices()[0], backend="cpu"), ValueError, "both a device and a backend"),
    (lambda: options(three, device="cpu"), TypeError, "device must be a Device, got 'cpu'"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def three(x, y, z):
    return x


def kinds(a, /, b, *rest, **more):
    return b


class Unsigned:
    __signature__ = property(lambda self: 3 / "a")

    def __call__(self, x):
        return x


def test_names_that_functions_take_by_keyword_are_accepted():
    assert options(kinds, static_argnames=("b", "anything")).static_argnames == ("b", "anything")
    assert jit(Unsigned(), donate_argnums=0, static_argnames="y")(3) == 3
    assert options(kinds, static_argnums=0).static_argnums == (0,) and jit(abs, static_argnums=0)(-3) == 3


@pytest.mark.parametrize(
    "given", [{"static_argnums": 1}, {"static_argnames": "y"}, {"static_argnums": -2}, {"static_argnums": [1]}]
)
def test_positions_and_names_are_the_same_option(given):
    found = options(three, **given)
    assert found.static_argnames == ("y",) and {n % 3 for n in found.static_argnums} == {1}


def test_any_position_and_any_name_are_accepted_where_the_function_takes_them():
    assert options(lambda *args, **kwargs: 0, static_argnums=7, static_argnames="z").static_argnames == ("z",)


def test_a_backend_is_its_first_device():
    assert options(three, backend="cpu").device is jax.devices("cpu")[0]


def test_keys_are_equal_for_equal_options():
    assert (
        options(three, compiler_options={"optimization": 0}).key
        == options(three, compiler_options={"optimization": 0}).key
    )
    changes = [
        {},
        {"static_argnums": 1},
        {"keep_unused": True},
        {"inline": True},
        {"backend": "cpu"},
        {"donate_argnums": 0},
    ]
    assert len({options(three, **change).key for change in changes}) == len(changes)


def test_what_has_no_hash_is_compared_by_identity():
    one = [{"a": set()}]
    assert hashable(one) == hashable(one) != hashable([{"a": set()}])
    assert hashable({"a": 1}) == hashable({"a": 1}) and hashable(None) is None


def one_device():
    return jax.sharding.SingleDeviceSharding(jax.devices()[0])


@pytest.mark.parametrize("name", ["in_shardings", "out_shardings"])
def test_shardings_are_checked(name):
    for value in (3, "a", jax.devices()[0]):
        with pytest.raises(TypeError, match=f"^{name} leaf specifications are expected to be PartitionSpec instances"):
            options(lambda x: x, **{name: value})
    with pytest.raises(ValueError, match=f"is specified on jit, then {name} should not be specified"):
        options(lambda x: x, backend="cpu", **{name: one_device()})
    assert getattr(options(lambda x: x, **{name: (one_device(), None)}), name)[1] is None


@pytest.mark.parametrize(
    "shardings, text",
    [
        (lambda s: (s, s), "wrong length: got a tuple or list of length 2 for an args tuple of length 1"),
        (
            lambda s: {"a": s},
            "is not a tuple: got <class 'dict'> instead. Given the corresponding argument being passed",
        ),
    ],
)
def test_in_shardings_are_a_prefix_of_the_arguments(shardings, text):
    with pytest.raises(ValueError, match=text):
        jit(lambda x: x, in_shardings=shardings(one_device()))({"a": 1.0})
