"""Arrays in memory: making, fields, Python's protocols, exchange, operator slots."""

import copy
import gc
import operator
import pickle
import sys
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest

from native_arrays import KEY, arr, keys
from onax._core.facts import ELEMENTWISE
from onax._ground import config
from onax._native import context
from onax._native.array import Array, ArrayImpl, from_user, install_method, make_array
from onax._native.array_sources import from_dlpack_buffer, make_sharded
from onax._native.avals import ShapedArray
from onax._native.dispatch import NEVER, Primitive, set_same_rank_options
from onax._native.hooks import hooks


@pytest.fixture
def x64():
    """64-bit dtypes on, in this thread."""
    previous = context.swap_thread_word(context.X64_BIT, context.X64_BIT)
    yield
    context.swap_thread_word(*previous)


@pytest.fixture
def x32():
    """64-bit dtypes off, in this thread."""
    previous = context.swap_thread_word(context.X64_BIT, 0)
    yield
    context.swap_thread_word(*previous)


# ---- making --------------------------------------------------------------------------------------------------------


def test_no_memory_is_shared_with_users():
    mine = np.zeros(4, np.float32)
    for value in (mine, mine[::2], mine.view(np.ndarray)):
        x = from_user(value)
        mine[0] = 7
        assert x.tolist()[0] == 0
        mine[0] = 0


# ---- fields --------------------------------------------------------------------------------------------------------


def test_fields():
    x = make_array(np.ones((2, 3), np.float32), weak_type=True, device="there", committed=True)
    assert x.aval == ShapedArray((2, 3), np.float32, True)
    assert x.aval is x.aval
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, len(x)) == ((2, 3), 2, 6, 4, 24, 2)
    assert (x.weak_type, x.committed, x._committed, x._device, x.device) == (True, True, True, "there", "there")
    assert x.devices() == {"there"}
    assert x.on_device_size_in_bytes() == 24
    assert x.is_fully_addressable and x.is_fully_replicated and x.is_ready()
    assert x.block_until_ready() is x
    assert x.addressable_data(0) is x
    assert isinstance(x, Array)


def test_new_arrays_lie_on_the_default_device():
    before = context.swap_default_device("elsewhere")
    try:
        assert arr([1]).device == "elsewhere"
        assert make_array(np.ones(1), device="here").device == "here"
    finally:
        context.swap_default_device(before)


def test_extended_dtype():
    x = keys((2, 2))
    assert (x.shape, x.ndim, x.dtype, x.nbytes) == ((2, 2), 2, KEY, 32)
    assert x.aval == ShapedArray((2, 2), KEY)
    assert repr(keys(())) == "Array((), dtype=key<fry>) overlaying:\n[0 1]"
    assert x._value.dtype == KEY.storage
    assert repr(x[1]) == "Array((2,), dtype=key<fry>) overlaying:\n[[4 5]\n [6 7]]"


def test_sharded():
    whole = np.arange(4, dtype=np.float32)
    x = make_sharded(whole, [("d0", whole[:2]), ("d1", whole[2:])], "spread")
    assert x.device == x.sharding == "spread"
    assert x.addressable_data(1).tolist() == [2.0, 3.0]
    assert x.addressable_data(1).device == "d1"
    assert [device for device, _ in x._shards] == ["d0", "d1"]


def test_deleted():
    x = arr([1.0, 2.0], np.float32)
    x.delete()
    assert x.is_deleted()
    assert x.shape == (2,) and x.aval == ShapedArray((2,), np.float32)
    for use in (repr, np.asarray, len, float, list):
        with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[2\]"):
            use(x)


# ---- Python's protocols --------------------------------------------------------------------------------------------


def test_arrays_refuse_to_be_written():
    x = arr([1, 2, 3])
    with pytest.raises(TypeError, match=r"immutable.*x\.at\[idx\]\.set\(y\)"):
        x[0] = 1
    with pytest.raises(TypeError, match="immutable"):
        del x[0]
    with pytest.raises(AttributeError):
        x.shape = (3, 1)
    with pytest.raises(TypeError, match="made by functions"):
        ArrayImpl()


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("x", [arr([1.0, 2.0], np.float32), from_user(3), arr([1, 2], ml_dtypes.bfloat16)])
def test_copies(again, x):
    y = again(x)
    assert y is not x and y.aval == x.aval and y.tolist() == x.tolist()
    with pytest.raises(ValueError):
        np.asarray(y)[...] = 0


def test_a_pickled_array_has_a_dtype_that_is_enabled_where_it_is_read():
    with config.enable_x64():
        wide = [pickle.dumps(from_user(np.array(x))) for x in (4.0, [1, 2])]
        assert [pickle.loads(data).dtype.name for data in wide] == ["float64", "int64"]
    assert [pickle.loads(data).dtype.name for data in wide] == ["float32", "int32"]


def test_weak_references_and_collection():
    x = arr([1.0])
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


# ---- indexing ------------------------------------------------------------------------------------------------------

GRID = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "index",
    [0, -1, slice(1, None), slice(None, None, -1), None, Ellipsis, (), (0, 1), (0, 1, 2), (..., 0),
     (slice(None), None, 2), (1, ..., slice(0, 3, 2))],
)  # fmt: skip
def test_basic_indices_are_taken_natively(index):
    part = make_array(GRID.copy(), weak_type=True)[index]
    assert isinstance(part, ArrayImpl) and part.weak_type
    assert np.array_equal(np.asarray(part), GRID[index])
    assert part.shape == GRID[index].shape


def test_integer_arrays_of_rank_zero_are_indices():
    x = make_array(GRID.copy())
    for i in (0, 1, -1):
        assert x[from_user(i)].tolist() == GRID[i].tolist()
    assert x[1, from_user(2)].tolist() == GRID[1, 2].tolist()


@pytest.mark.parametrize("index", [5, True, [0], np.array([0]), 1.0, "a", from_user(5), from_user(True), (0, 0, 0, 0)])
def test_other_indices_go_to_the_general_path(index, table):
    assert make_array(GRID.copy())[index] == "getitem"


def test_buffers_of_another_dtype_are_refused():
    with pytest.raises(TypeError, match="buffer of dtype float64 for an array of dtype float32"):
        make_array(np.ones(1), np.dtype("float32"))


def test_iteration():
    parts = list(make_array(GRID.copy()))
    assert [p.shape for p in parts] == [(3, 4), (3, 4)]
    assert all(type(p) is ArrayImpl and p.ndim == 0 for p in arr([1, 2]))
    assert next(reversed(arr([1, 2]))).item() == 2


def test_a_small_part_does_not_keep_the_whole_alive():
    whole = np.zeros(100_000, np.float32)
    gone = weakref.ref(whole)
    part = make_array(whole)[5]
    del whole
    assert gone() is None and part.item() == 0


# ---- operators -----------------------------------------------------------------------------------------------------


def same_dtype(x, y):
    if x.dtype != y.dtype:
        raise TypeError(f"test_add got {x.dtype} and {y.dtype}")
    return x if x.ndim else y


@pytest.fixture
def table(monkeypatch):
    """An operator table that records (name, operands)."""
    calls = []

    def recorder(name):
        def function(*operands):
            calls.append((name, *operands))
            return name

        return function

    names = [name for name, _ in BINARY] + [name for name, _ in UNARY] + ["getitem"]
    monkeypatch.setattr(hooks, "operators", {name: recorder(name) for name in names})
    monkeypatch.setattr(hooks, "operator_primitives", {})
    return calls


BINARY = [
    ("add", operator.add), ("sub", operator.sub), ("mul", operator.mul), ("truediv", operator.truediv),
    ("floordiv", operator.floordiv), ("mod", operator.mod), ("divmod", divmod), ("pow", operator.pow),
    ("matmul", operator.matmul), ("and", operator.and_), ("or", operator.or_), ("xor", operator.xor),
    ("lshift", operator.lshift), ("rshift", operator.rshift), ("eq", operator.eq), ("ne", operator.ne),
    ("lt", operator.lt), ("le", operator.le), ("gt", operator.gt), ("ge", operator.ge),
]  # fmt: skip
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
UNARY = [("neg", operator.neg), ("pos", operator.pos), ("abs", abs), ("invert", operator.invert)]


@pytest.mark.parametrize("name, op", BINARY)
def test_binary_operators_reach_the_table(name, op, table):
    x = arr([1, 2])
    for other in (arr([3, 4]), 2, 2.5, True, 1j, np.float32(2), np.ones(2)):
        assert op(x, other) == name
        assert table[-1] == (name, x, other) or table[-1][2] is other
        if not isinstance(other, Array):
            expected = MIRRORED.get(name, name)
            assert op(other, x) == expected
            first, second = table[-1][1:]
            assert (second is x) if expected == name and name not in MIRRORED else (first is x)


@pytest.mark.parametrize("name, op", BINARY)
def test_operands_that_are_no_arrays(name, op, table):
    x = arr([1, 2])
    for other in ([1, 2], (1, 2), {1}, {1: 2}):
        for left, right in ((x, other), (other, x)):
            with pytest.raises(TypeError):
                op(left, right)
    for other in (None, "a", object()):
        if name in ("eq", "ne"):
            assert op(x, other) is (name == "ne")
        elif not (name == "mod" and other == "a"):
            with pytest.raises(TypeError):
                op(x, other)
    assert not table


@pytest.mark.parametrize("name, op", UNARY)
def test_unary_operators_reach_the_table(name, op, table):
    x = arr([1, 2])
    assert op(x) == name
    assert table == [(name, x)] or table[-1][1] is x


class Wrapper:
    """An object that says which array it is."""

    def __init__(self, x):
        self.x = x

    def __jax_array__(self):
        return self.x


def test_objects_with_jax_array(table):
    x, y = arr([1]), arr([2])
    assert x + Wrapper(y) == "add"
    assert table[-1][2] is y
    assert Wrapper(y) + x == "add"
    assert table[-1][1] is y and table[-1][2] is x


def test_pow_takes_no_modulus(table):
    with pytest.raises(TypeError, match="modulus"):
        pow(arr([2]), 2, 3)


def test_unknown_operator_name():
    with pytest.raises(ValueError, match="no operator is called 'plus'"):
        hooks.operators = {"plus": operator.add}


@pytest.fixture
def fast(table):
    """The operators + and < as primitives on the fast path, known to accept float32, int32, int8 and bfloat16."""
    add = Primitive("test_fast_add", kernel=np.add, abstract_eval=same_dtype, facts={ELEMENTWISE})
    less = Primitive("test_fast_lt", kernel=np.less, abstract_eval=same_dtype, facts={ELEMENTWISE}, weak=NEVER)
    for dtype in (np.float32, np.int32, np.int8, ml_dtypes.bfloat16):
        add.bind(arr([1], dtype), arr([1], dtype))
        less.bind(arr([1], dtype), arr([1], dtype))
    hooks.operator_primitives = {"add": (add, "iufV"), "lt": (less, "iufV"), "gt": (less, "")}
    return table


# left, right (dtype, value or plain scalar), dtype, weak of the result
FAST = [
    (("float32", [1.0, 2.0]), ("float32", [3.0, 4.0]), "float32", False),
    (("float32", [1.0, 2.0]), ("float32", 3.0), "float32", False),
    (("float32", [1.0, 2.0]), 2.5, "float32", False),
    (("float32", [1.0, 2.0]), 2, "float32", False),
    (2.5, ("float32", [1.0, 2.0]), "float32", False),
    (("int32", [1, 2]), 2, "int32", False),
    (("int8", [1, 2]), 200, "int8", False),
    (("bfloat16", [1, 2]), ("bfloat16", [1, 2]), "bfloat16", False),
    (("bfloat16", [1, 2]), 2.5, "bfloat16", False),
    (3, ("bfloat16", [1, 2]), "bfloat16", False),
    (("float32", [1.0, 2.0]), np.array([3.0, 4.0]), "float32", False),
    (np.array([3, 4]), ("int32", [1, 2]), "int32", False),
    (np.float64(3), ("float32", [1.0, 2.0]), "float32", False),
]


@pytest.mark.parametrize("left, right, dtype, weak", FAST)
def test_fast_operators(left, right, dtype, weak, fast):
    def operand(x):
        return arr(x[1], ml_dtypes.bfloat16 if x[0] == "bfloat16" else x[0]) if isinstance(x, tuple) else x

    x, y = operand(left), operand(right)
    out = x + y
    assert not fast, "the general path was taken"
    assert (out.dtype.name, out.weak_type) == (dtype, weak)
    numbers = [np.asarray(v).astype(out.dtype) for v in (x, y)]
    assert np.array_equal(np.asarray(out), numbers[0] + numbers[1])


def test_fast_results_are_weak_only_if_both_are(fast):
    weak, strong = from_user(1.0), arr(1.0, np.float32)
    assert (weak + weak).weak_type and (weak + 2.0).weak_type and (2 + weak).weak_type
    assert not (weak + strong).weak_type and not (weak < weak).weak_type
    assert (weak < 2.0).dtype == np.bool_
    assert not fast


# operands for which the fast path must step aside
ASIDE = [
    (arr([1], np.int32), 2.5),
    (arr([1.0], np.float32), True),
    (arr([1.0], np.float32), 1j),
    (arr([1.0], np.float32), arr([1], np.int32)),
    (arr([1.0, 2.0, 3.0], np.float32), arr([1.0, 2.0], np.float32)),
    (arr([1.0], np.float16), 1e5),
    (arr([1], ml_dtypes.int4), 1.0),
    (arr([1.0], np.float32), np.arange(1)),
    (arr([True]), arr([True])),
    (keys((1,)), keys((1,))),
]


@pytest.mark.parametrize("x, y", ASIDE)
def test_general_path_where_promotion_is_needed_or_shapes_do_not_fit(x, y, fast):
    assert x + y == "add"
    assert fast[-1][1] is x


def test_general_path_where_placement_is_needed(fast):
    x, y = (arr([1.0], np.float32, device=name, committed=True) for name in "ab")
    assert x + y == "add"
    assert fast[-1][1] is x


@pytest.mark.parametrize(
    "shapes, result",
    [
        (((3,), (2, 3)), (2, 3)),
        (((2, 1), (1, 3)), (2, 3)),
        (((2, 1), (3,)), (2, 3)),
        (((), (2, 3)), (2, 3)),
        (((0, 1), (1, 3)), (0, 3)),
    ],
)
def test_operators_broadcast_at_once(shapes, result, fast):
    x, y = (arr(np.ones(shape), np.float32) for shape in shapes)
    x + x  # the dtype is known from now on
    count = len(fast)
    for out in (x + y, y + x):
        assert out.shape == result and (np.asarray(out) == 2).all()
    assert len(fast) == count


def test_unequal_ranks_are_no_plain_case_under_the_registered_options(fast):
    x, y = arr(np.ones(3), np.float32), arr(np.ones((2, 3)), np.float32)
    x + x
    options = set_same_rank_options(context.X64_BIT)
    previous = context.swap_thread_word(context.X64_BIT, context.X64_BIT)
    try:
        assert x + y == "add"
    finally:
        context.swap_thread_word(*previous)
        set_same_rank_options(options)


def test_python_ints_that_do_not_fit_go_to_the_function(fast, x32):
    """Which raises the OverflowError that names the argument."""
    for x in (arr([1], np.int32), arr([1.0], np.float32), arr([1], np.int8)):
        assert x + 2**31 == "add"
        assert fast[-1][0] == "add" and fast[-1][2] == 2**31


def test_results_follow_committed_operands(fast):
    x = arr([1.0], np.float32, device="there", committed=True)
    y = arr([1.0], np.float32)
    for out in (x + y, y + x, x + 1.0):
        assert (out.device, out.committed) == ("there", True)
    assert not (y + y).committed


def test_numpy_operands_give_arrays(table):
    x = arr([1.0], np.float32)
    assert np.float32(2) * x == "mul"
    assert np.ones(1) @ x == "matmul"
    assert (np.ones(1) < x) == "gt"
    assert type(np.add(np.ones(1), x)) is np.ndarray  # ufuncs themselves read arrays as NumPy's


def test_methods_are_installed_on_the_classes():
    install_method(Array, "test_method", lambda self: ("method", self.ndim))
    assert arr([1]).test_method() == ("method", 1)
    del Array.test_method
    assert not hasattr(arr([1]), "test_method")
    with pytest.raises(TypeError, match="installed on Array"):
        install_method(dict, "test_method", None)


class Stand(Array):
    """A stand-in for a tracer: a Python subclass."""

    def __init__(self, aval):
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    ndim = property(lambda self: self.aval.ndim)

    def __bool__(self):
        return True

    def __index__(self):
        return 3

    def __hash__(self):
        return 5


def test_subclasses_in_python(table):
    x = Stand(ShapedArray((2,), np.float32))
    assert isinstance(x, Array)
    assert bool(x) and operator.index(x) == 3 and hash(x) == 5 and len(x) == 2
    assert x + 1 == "add" and 1 + x == "add" and x[0] == "getitem"
    assert arr([1]) + x == "add" and table[-1][2] is x
    assert -x == "neg"


def test_threads(fast):
    x = arr(np.arange(10), np.float32)
    failures = []

    def work():
        for _ in range(2000):
            if (x + x)[3].item() != 6.0:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def resident():
    """Pages of memory in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def test_nothing_leaks(fast):
    x = arr(np.arange(10), np.float32)
    numpy_x = np.arange(10, dtype=np.float32)
    actions = [
        lambda: x + x, lambda: x + 2.0, lambda: 2 + x, lambda: x[2:5], lambda: x[3], lambda: x.aval,
        lambda: from_user(numpy_x), lambda: np.asarray(x), lambda: from_user(2.0), lambda: from_dlpack_buffer(x),
        lambda: ShapedArray((3, 4), np.float32), lambda: list(x), lambda: memoryview(x),
    ]  # fmt: skip
    for action in actions:
        action()
    before, nones = resident(), sys.getrefcount(None)
    for action in actions:
        for _ in range(3000):
            action()
    assert resident() - before < 64
    assert abs(sys.getrefcount(None) - nones) < 100
