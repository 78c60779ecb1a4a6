"""Primitives: fields, binding, evaluation."""

import warnings

import ml_dtypes
import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax
from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE
from onax._native import context, dispatch
from onax._native.array import Array, ArrayImpl, from_user, make_array
from onax._native.array_sources import make_sharded
from onax._native.avals import OpaqueDType, ShapedArray
from onax._native.dispatch import ALL, FIRST, NEVER, Primitive, evaluate
from onax._native.hooks import hooks


class Key(OpaqueDType):
    """A stand-in for the dtype of random keys."""

    name = "key<fry>"
    itemsize = 8
    storage = np.dtype("V8")

    def __repr__(self):
        return self.name


KEY = Key()


class Device:
    """A stand-in for a device."""

    platform = "cpu"

    def __init__(self, id):
        self.id = id


def arr(value, dtype=None, **placement):
    return make_array(np.array(value, dtype), **placement)


def checked(*operands, **params):
    """An abstract rule in words: one dtype, equal shapes but for rank 0."""
    if len({str(x.dtype) for x in operands}) > 1:
        raise TypeError(f"dtypes differ: {', '.join(str(x) for x in operands)}")
    shapes = {x.shape for x in operands if x.ndim}
    if len(shapes) > 1:
        raise TypeError(f"shapes differ: {', '.join(str(x) for x in operands)}")
    return ShapedArray(next(iter(shapes), ()), operands[0].dtype, all(x.weak_type for x in operands))


def floats_only(x, **params):
    if x.dtype.kind != "f":
        raise TypeError(f"sine does not accept dtype {x.dtype}")
    return x


def make(name="test_op", kernel=np.add, abstract_eval=checked, facts=(ELEMENTWISE,), **fields):
    return Primitive(name, kernel=kernel, abstract_eval=abstract_eval, facts=facts, **fields)


# ---- the object ----------------------------------------------------------------------------------------------------


def test_fields_are_writable():
    p = Primitive("test_op")
    assert (p.name, p.multiple_results, p.weak, p.facts) == ("test_op", False, ALL, frozenset())
    assert repr(p) == "test_op" and not p.call_primitive
    for field in ("kernel", "impl", "abstract_eval", "jvp", "transpose", "batch", "linearize", "partial_eval", "dce",
                  "pretty"):  # fmt: skip
        assert getattr(p, field) is None
        setattr(p, field, len)
        assert getattr(p, field) is len
    p.facts = [DATA_MOVEMENT]
    assert p.facts == {DATA_MOVEMENT}
    p.note = "anything"
    with pytest.raises(ValueError, match="weak is ALL"):
        p.weak = "sometimes"
    with pytest.raises(TypeError, match="cannot be pickled"):
        p.__reduce__()


def test_decorators():
    p = Primitive("test_op")

    @p.def_impl
    def impl(x):
        return x

    @p.def_abstract_eval
    def rule(x):
        return x

    assert p.impl is impl and p.abstract_eval is rule and not p.is_effectful_abstract_eval
    assert p.abstract(1) == (1, frozenset())
    p.def_effectful_abstract_eval(lambda x: (x, {"effect"}))
    assert p.is_effectful_abstract_eval and p.abstract(1) == (1, {"effect"})


def test_subclasses_in_python():
    class Pair(Primitive):
        multiple_results = True

        def bind(self, *args, **params):
            return ["bound", *super().bind(*args, **params)]

    p = Pair("test_pair", kernel=lambda x: (x, x), abstract_eval=lambda x: [x, x])
    out = p.bind(arr([1, 2]))
    assert out[0] == "bound" and all(isinstance(x, ArrayImpl) for x in out[1:]) and len(out) == 3
    assert p.get_bind_params({"a": 1}) == {"a": 1}


# ---- evaluation ----------------------------------------------------------------------------------------------------

# operands, dtype, weak, value of their sum
SUMS = [
    ((arr([1, 2], np.int32), arr([3, 4], np.int32)), "int32", False, [4, 6]),
    ((arr([1, 2], np.int32), np.array([3, 4])), "int32", False, [4, 6]),
    ((np.array([1, 2]), np.array([3, 4])), "int32", False, [4, 6]),
    ((np.int32(1), arr(2, np.int32)), "int32", False, 3),
    ((1, 2), "int32", True, 3),
    ((1.5, 2.0), "float32", True, 3.5),
    ((1.5, arr([1.0], np.float32)), "float32", False, [2.5]),
    ((1j, 2j), "complex64", True, 3j),
    ((arr([1], ml_dtypes.bfloat16), arr(2, ml_dtypes.bfloat16)), "bfloat16", False, [3]),
    ((arr(1.0, np.float16), arr(2.0, np.float16)), "float16", False, 3),
    ((from_user(1), from_user(2)), "int32", True, 3),
]


@pytest.mark.parametrize("operands, dtype, weak, value", SUMS)
def test_evaluation_of_every_kind_of_operand(operands, dtype, weak, value):
    p = make()
    for _ in range(2):  # the first time through the check, then without it
        out = p.bind(*operands)
        assert type(out) is ArrayImpl
        assert (out.dtype.name, out.weak_type, out.tolist()) == (dtype, weak, value)
    assert evaluate(p, list(operands), {}).tolist() == value


def test_the_check_runs_once_for_each_dtype():
    runs = []

    def rule(*operands):
        runs.append(tuple(str(x.dtype) for x in operands))
        return checked(*operands)

    p = make(abstract_eval=rule)
    for dtype in (np.float32, np.int8, ml_dtypes.bfloat16):
        for shape in ((2,), (3, 4), ()):
            p.bind(arr(np.ones(shape), dtype), arr(np.ones(shape), dtype))
    assert runs == [("float32",) * 2, ("int8",) * 2, ("bfloat16",) * 2]


def test_mixtures_of_dtypes_are_remembered_too():
    runs = []
    p = make(kernel=np.where, abstract_eval=lambda c, x, y: runs.append(1) or x)
    for _ in range(3):
        p.bind(arr([True, False]), arr([1, 2], np.int32), arr([3, 4], np.int32))
    p.bind(arr(True), arr([1.0], np.float32), arr([3.0], np.float32))
    assert len(runs) == 2


# operands that the rule refuses although the kernel would compute something
REFUSED = [
    ((arr([1.0], np.float32), arr([1], np.int32)), "dtypes differ: float32.1., int32.1."),
    ((arr([1.0], np.float32), arr([1.0, 2.0], np.float32)), "shapes differ"),
    ((arr([[1.0]], np.float32), arr([1.0], np.float32)), "shapes differ"),
    ((arr(1.0, np.float32), 1), "dtypes differ"),
]


@pytest.mark.parametrize("operands, text", REFUSED)
def test_errors_are_those_of_the_abstract_rule(operands, text):
    p = make()
    p.bind(arr([1.0], np.float32), arr([1.0], np.float32))
    for _ in range(2):
        with pytest.raises(TypeError, match=text):
            p.bind(*operands)


def test_a_kernel_never_sees_a_dtype_that_the_rule_refuses():
    sine = make(kernel=np.sin, abstract_eval=floats_only)
    assert sine.bind(arr([0.0], np.float32)).tolist() == [0.0]
    with pytest.raises(TypeError, match="sine does not accept dtype int32"):
        sine.bind(arr([0], np.int32))
    with pytest.raises(TypeError, match="sine does not accept dtype int32"):
        sine.bind(0)


@pytest.mark.parametrize("rule, several", [
    (lambda x: [x], False), (lambda x: (x,), False), (lambda x: x, True), (lambda x: None, True),
])  # fmt: skip
def test_a_rule_gives_a_list_of_types_for_several_results_alone(rule, several):
    p = Primitive("test_op", multiple_results=several, kernel=np.sin, abstract_eval=rule)
    with pytest.raises(
        ValueError, match=r"test_op.abstract_eval\(\) method should return a tuple or a list iff test_op.m"
    ):
        p.abstract(ShapedArray((3,), np.dtype(np.float32)))


def test_a_failing_kernel_is_explained_by_the_rule_or_speaks_itself():
    def rule(x, *, n):
        if n == 0:
            raise ValueError("n must not be 0")
        return x

    def kernel(x, *, n):
        raise ZeroDivisionError("kernel's own words")

    p = make(kernel=kernel, abstract_eval=rule, facts=())
    with pytest.raises(ZeroDivisionError, match="kernel's own words"):
        p.bind(arr([1.0]), n=1)
    with pytest.raises(ValueError, match="n must not be 0"):
        p.bind(arr([1.0]), n=0)
    p.abstract_eval = None
    with pytest.raises(ZeroDivisionError):
        p.bind(1.0, n=0)


def test_no_rule_no_evaluation():
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'test_op' not implemented"):
        Primitive("test_op").bind(1)
    with pytest.raises(NotImplementedError, match="Abstract evaluation for 'test_op' not implemented"):
        Primitive("test_op").abstract()


@pytest.mark.parametrize("bad", ["a", None, [1], object()])
def test_operands_that_are_no_arrays(bad):
    with pytest.raises(TypeError, match=r"argument to test_op as .* passed to test_op at position 1"):
        make().bind(arr([1]), bad)


def test_objects_with_jax_array():
    class Wrapper:
        def __init__(self, x):
            self.x = x

        def __jax_array__(self):
            return self.x

    assert make().bind(Wrapper(arr([1], np.int32)), 2).tolist() == [3]
    with pytest.raises(TypeError, match="passed to test_op at position 1"):
        make().bind(1, Wrapper("text"))


def test_kernels_by_dtype():
    p = make(kernel={np.dtype("float32"): np.add, np.dtype("int32"): np.subtract})
    for _ in range(2):
        assert p.bind(arr(3.0, np.float32), arr(1.0, np.float32)).item() == 4.0
        assert p.bind(3, 1).item() == 2
        with pytest.raises(TypeError, match="no kernel for dtype int8"):
            p.bind(arr(3, np.int8), arr(1, np.int8))


def test_params_reach_the_kernel():
    p = make(kernel=lambda x, *, permutation: x.transpose(permutation), abstract_eval=lambda x, **_: x, facts=())
    for _ in range(2):
        assert p.bind(arr([[1, 2, 3]]), permutation=(1, 0)).shape == (3, 1)


def test_no_operands():
    p = make(kernel=lambda *, n: np.arange(n, dtype=np.int32), abstract_eval=lambda *, n: None, facts=())
    out = p.bind(n=3)
    assert out.tolist() == [0, 1, 2] and not out.weak_type


def test_several_results():
    p = make(kernel=lambda x: (x + 1, x > 1), abstract_eval=lambda x: [x, x], multiple_results=True, facts=())
    for operand in (1.0, from_user(1.0)):
        first, second = p.bind(operand)
        assert (first.dtype.name, first.weak_type) == ("float32", True)
        assert (second.dtype.name, second.weak_type) == ("bool", True)


WEAK = [
    (ALL, True, True, True), (ALL, True, False, False), (NEVER, True, True, False), (FIRST, True, False, True),
    (FIRST, False, True, False), (lambda flags, params: flags[1], False, True, True),
]  # fmt: skip


@pytest.mark.parametrize("rule, first, second, expected", WEAK)
def test_weak_results(rule, first, second, expected):
    p = make(weak=rule)
    for _ in range(2):
        out = p.bind(arr(1.0, np.float32, weak_type=first), arr(2.0, np.float32, weak_type=second))
        assert out.weak_type is expected


def test_floating_point_warnings_are_silent():
    p = make(kernel=np.divide)
    one, zero = arr([1.0], np.float32), arr([0.0], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert p.bind(one, zero).tolist() == [np.inf]
        assert p.bind(np.ones(1), np.zeros(1)).tolist() == [np.inf]
        assert from_user(np.array([1e300])).tolist() == [np.inf]


# ---- memory --------------------------------------------------------------------------------------------------------


def same(x):
    return x


@pytest.mark.parametrize("kernel", [same, lambda x: x[::2], lambda x: x.reshape(2, 2), lambda x: x.T])
def test_results_share_no_memory_with_users(kernel):
    mine = np.zeros(4, np.float32)
    out = make(kernel=kernel, abstract_eval=same, facts=()).bind(mine)
    mine[:] = 7
    assert np.all(np.asarray(out) == 0)


def test_results_may_share_memory_with_arrays():
    x = arr([1.0, 2.0], np.float32)
    out = make(kernel=same, abstract_eval=same, facts=()).bind(x)
    assert out.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()


def test_kernels_cannot_write_to_their_operands():
    def kernel(x):
        x[0] = 9
        return x

    with pytest.raises(ValueError, match="read-only"):
        make(kernel=kernel, abstract_eval=same, facts=()).bind(arr([1.0]))


# ---- extended dtypes -----------------------------------------------------------------------------------------------


def test_extended_dtypes_pass_through_data_movement():
    storage = np.arange(4, dtype=np.uint32).view("V8")
    x = make_array(storage, KEY)
    flip = make(kernel=lambda x: x[::-1], abstract_eval=same, facts=(DATA_MOVEMENT,))
    for _ in range(2):
        out = flip.bind(x)
        assert out.dtype is KEY and out.shape == (2,) and not out.weak_type
    wrap = make(kernel=lambda x: x.view("V8")[..., 0], abstract_eval=lambda x: ShapedArray((2,), KEY), facts=())
    words = arr([[0, 1], [2, 3]], np.uint32)
    for _ in range(2):
        assert wrap.bind(words).dtype is KEY
    unwrap = make(kernel=lambda x: x.view(np.uint32), abstract_eval=lambda x: ShapedArray((4,), np.uint32), facts=())
    assert unwrap.bind(x).dtype == np.uint32


# ---- devices -------------------------------------------------------------------------------------------------------

ONE, TWO = Device(0), Device(1)


def test_results_follow_committed_operands():
    p = make()
    there = arr([1.0], np.float32, device=TWO, committed=True)
    for other in (arr([1.0], np.float32), np.ones(1), there):
        out = p.bind(there, other)
        assert out.device is TWO and out.committed
    assert not p.bind(1.0, 2.0).committed


def test_operands_committed_to_different_devices():
    x, y = (arr([1.0], np.float32, device=d, committed=True) for d in (ONE, TWO))
    expected = (
        "Received incompatible devices for jitted computation. Got argument x of test_op with shape float32[1] and "
        "with device ids [0] on platform CPU and argument y of test_op with shape float32[1] and with device ids "
        "[1] on platform CPU"
    )
    p = make()
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            p.bind(x, y)
        assert str(caught.value) == expected
        p.bind(x, x)


def test_sharded_operands_go_to_the_handler():
    whole = np.ones(2, np.float32)
    x = make_sharded(whole, [(ONE, whole[:1]), (TWO, whole[1:])], "spread")
    assert make().bind(x, x).tolist() == [2.0, 2.0]


# ---- traces --------------------------------------------------------------------------------------------------------


class Recorder:
    """A trace that gives back what it is given, and notes whether it was current."""

    was_current = False

    def process_primitive(self, primitive, args, params):
        self.was_current = context.get_trace() is self
        return primitive, args, params


class Traced(Array):
    """A tracer that outlived its trace."""


def test_the_current_trace_gets_the_operation():
    p = make()
    trace = Recorder()
    previous = context.swap_trace(trace)
    try:
        assert p.bind(1, 2.0, n=3) == (p, (1, 2.0), {"n": 3})
        assert evaluate(p, (1, 2), {}).tolist() == 3
    finally:
        context.swap_trace(previous)
    assert p.bind_with_trace(trace, (1,), {}) == (p, (1,), {})
    assert trace.was_current and context.get_trace() is None
    assert p.bind_with_trace(None, (1, 2), {}).tolist() == 3


def test_impl_goes_before_the_kernel_and_gets_arrays():
    p = make()
    p.impl = lambda *args, **params: (args, params)
    args, params = p.bind(1, np.ones(2), "anything", n=3)
    assert [type(a) for a in args] == [ArrayImpl, ArrayImpl, str]
    assert params == {"n": 3} and args[0].weak_type and not args[1].weak_type


def test_stray_tracers(monkeypatch):
    class Stray(Exception):
        pass

    def handler(primitive, x):
        raise Stray(primitive.name)

    monkeypatch.setattr(hooks, "stray_tracer", handler)
    with pytest.raises(Stray, match="test_op"):
        make().bind(Traced(), 1)


def test_evaluation_is_checked_while_an_option_is_on(monkeypatch):
    bit = 1 << 40
    seen = []

    def evaluation(primitive, operands, params):
        out = dispatch.evaluate_unchecked(primitive, operands, params)
        seen.append((primitive, operands, params, out))
        return out

    monkeypatch.setattr(hooks, "checked_options", bit)
    monkeypatch.setattr(hooks, "checked_evaluation", evaluation)
    p = make()
    p.bind(1.0, 2.0)
    previous = context.swap_thread_word(bit, bit)
    try:
        out = p.bind(1.0, 2.0)
    finally:
        context.swap_thread_word(*previous)
    assert seen == [(p, (1.0, 2.0), {}, out)] and seen[0][3] is out


# ---- result types are remembered ----


def counting(result=None):
    """An abstract_eval that keeps the calls it got."""
    calls = []

    def abstract_eval(x, **params):
        calls.append(params)
        return x if result is None else result(x)

    return abstract_eval, calls


@pytest.mark.parametrize("params", [{}, {"axes": (0,)}, {"y": 2, "dtype": np.dtype(np.int8)}])
def test_abstract_asks_the_rule_once_for_types_and_params(params):
    rule, calls = counting()
    p = Primitive("test_known", abstract_eval=rule)
    for shape in ((2,), (2,), (3,)):
        aval = ShapedArray(shape, np.float32)
        assert p.abstract(aval, **params) == (aval, frozenset())
    assert len(calls) == 2
    p.abstract(aval, other=1)
    assert len(calls) == 3


@pytest.mark.parametrize(
    "fields, params, result",
    [
        ({"multiple_results": True}, {}, lambda x: [x]),
        ({}, {"value": np.zeros(2)}, None),
        ({}, {"value": [1]}, None),
    ],
)
def test_abstract_asks_again_for_several_results_and_params_without_a_hash(fields, params, result):
    rule, calls = counting(result)
    p = Primitive("test_unknown", abstract_eval=rule, **fields)
    for _ in range(2):
        p.abstract(ShapedArray((2,), np.float32), **params)
    assert len(calls) == 2


def test_abstract_forgets_when_a_rule_is_assigned_and_keeps_no_errors():
    aval = ShapedArray((2,), np.float32)
    p = Primitive("test_forgotten", abstract_eval=lambda x: x)
    assert p.abstract(aval)[0] is aval
    p.abstract_eval = lambda x: x.update(dtype=np.dtype(np.int32))
    assert p.abstract(aval)[0].dtype == np.int32

    def refuse(x):
        raise TypeError("not this")

    p.abstract_eval = refuse
    for _ in range(2):
        with pytest.raises(TypeError, match="not this"):
            p.abstract(aval)


def test_what_one_operand_proves_says_nothing_of_two():
    """A slice of a float scalar needs no index; its dtype must not let a float index pass afterwards."""
    one = jnp.float32(1.0)
    lax.dynamic_slice_p.bind(one, slice_sizes=())
    with pytest.raises(TypeError, match="index"):
        lax.dynamic_slice_p.bind(jnp.ones(3), jnp.float32(0.5), slice_sizes=(1,))


def test_a_subclass_defines_rules_as_methods():
    effect = object()

    class Scale(Primitive):
        def impl(self, x, *, factor):
            return [x * factor] if self.multiple_results else x * factor

        def abstract_eval(self, x, *, factor):
            return ([x] if self.multiple_results else x), {effect}

    class ScaleAll(Scale):
        multiple_results = True

    one, several = Scale("one"), ScaleAll("several")
    x = make_array(np.arange(3.0, dtype=np.float32))
    assert one.bind(x, factor=2).tolist() == [0, 2, 4] and several.bind(x, factor=2)[0].tolist() == [0, 2, 4]
    assert one.abstract(x.aval, factor=2) == (x.aval, {effect}) and several.abstract(x.aval, factor=2)[0] == [x.aval]
    assert one.is_effectful_abstract_eval
    given = Scale("given", impl=lambda x, *, factor: x, abstract_eval=lambda x, *, factor: x)
    assert given.bind(x, factor=2) is x and given.abstract(x.aval, factor=2) == (x.aval, frozenset())
    one.def_abstract_eval(lambda x, *, factor: x)
    assert one.abstract(x.aval, factor=2) == (x.aval, frozenset())
