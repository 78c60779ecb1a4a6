"""Scopes and their constraints, the functions of shape rules, the text form."""

import pytest

from onax._ground import dims
from onax._ground.errors import InconclusiveDimensionOperation

A, B = dims.parse_dims("a, b")


def scoped(*constraints):
    return dims.parse_dims("a, b", dims.SymbolicScope(constraints))


@pytest.mark.parametrize(
    "constraints, ask, answer",
    [
        (("a >= b",), lambda a, b: a >= b, True),
        (("a >= b",), lambda a, b: a - b >= 0, True),
        (("a >= b",), lambda a, b: max(a, b) == a, True),
        (("a >= b", "b >= 3"), lambda a, b: a >= 3, True),
        (("a + b <= 10",), lambda a, b: b <= 10, True),
        (("b <= 10",), lambda a, b: b <= 11, True),
        (("mod(a, 2) == 0",), lambda a, b: a % 2 == 0, True),
        (("mod(a, 2) == 0",), lambda a, b: 2 * (a // 2) >= a, True),
        (("a == 2*b",), lambda a, b: a % 2 == 0, True),
        ((), lambda a, b: dims.min_dim(a, 5) >= dims.min_dim(a, 2), True),
        ((), lambda a, b: dims.max_dim(0, a - 2) <= a, True),
        (("a >= 3",), lambda a, b: 1 + dims.max_dim(0, a - 2) <= a, True),
        (("a == 2*b",), lambda a, b: a >= 2, True),
        (("a == 4",), lambda a, b: a // 2 == 2, True),
        (("floordiv(a, 2) == b",), lambda a, b: a // 2 == b, True),
        (("floordiv(a, 2) == b",), lambda a, b: a >= 2, True),
        (("a*b == 12",), lambda a, b: a * b == 12, True),
        (("2*a >= 5", "3*a <= 10"), lambda a, b: 5 * a - 2 <= 13, True),
        (("2*a >= 5", "3*a <= 10"), lambda a, b: 5 * a - 2 >= 13, True),
        (("-2*a + -3*b >= -10",), lambda a, b: 2 * b - a <= 3, True),
        (("max(a, b) == 5", "min(a, b) == 3"), lambda a, b: a >= 3 and a <= 5, True),
        (("a >= c", "c >= d", "d >= e", "e >= b"), lambda a, b: a - b >= 0, True),
        (("mod(a, 4) == 0",), lambda a, b: 4 * (a // 4) == a and a * b == b * (a // 4) * 2 * 2, True),
        (("mod(a + mod(a, 2), -2) == 0",), lambda a, b: -2 * ((a + a % 2) // -2) == a + a % 2, True),
        (
            ("8*floordiv(a + mod(-1*a, 8), 8) == a + mod(-1*a, 8)",),
            lambda a, b: 8 * b * ((a + -a % 8) // 8) == b * (a + -a % 8),
            True,
        ),
        (("4*a == b",), lambda a, b: 5 * a >= b and 9 * a >= 2 * b and b >= 4 * a, True),
    ],
)
def test_constraints_decide(constraints, ask, answer):
    assert ask(*scoped(*constraints)) is answer


@pytest.mark.parametrize(
    "constraints, ask", [(("a >= b",), lambda a, b: a >= 2), (("a + b <= 10",), lambda a, b: a + b <= 9)]
)
def test_constraints_leave_open(constraints, ask):
    with pytest.raises(InconclusiveDimensionOperation, match="(?s)with constraints:.*" + constraints[0][0]):
        ask(*scoped(*constraints))


@pytest.mark.parametrize("text", ["a > b", "a = 1", "a"])
def test_constraints_need_a_relation(text):
    with pytest.raises(ValueError, match="must contain one of '==' or '>=' or '<='"):
        dims.SymbolicScope([text])


@pytest.mark.parametrize("text", ["a <= 0", "a == 0", "3 == 4", "a == a + 1"])
def test_impossible_constraints(text):
    with pytest.raises(ValueError, match="Unsatisfiable"):
        dims.SymbolicScope([text])


def test_one_text_is_no_sequence_of_constraints():
    with pytest.raises(ValueError, match="should be a sequence of strings"):
        dims.SymbolicScope("a >= 1")
    with pytest.raises(ValueError, match="SymbolicScope constraint must be a string: got 3"):
        dims.SymbolicScope([3])


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("a, b", "(a, b)"),
        ("(a, b)", "(a, b)"),
        ("", "()"),
        ("a,", "(a,)"),
        ("2*a + 1, 3", "(2*a + 1, 3)"),
        ("a^2", "(a^2,)"),
        ("floordiv(a, 2), mod(a, 2)", "(floordiv(a, 2), mod(a, 2))"),
        ("a//2, a%2, 2*(a+1)", "(floordiv(a, 2), mod(a, 2), 2*a + 2)"),
        ("max(a, b), min(3, 4)", "(max(a, b), 3)"),
        ("-a", "(- a,)"),
        ("+a", "(a,)"),
        ("mod(a, -3), floordiv(a, -2)", "(mod(a, - 3), floordiv(a, - 2))"),
        ("(a+1)*2, (b)", "(2*a + 2, b)"),
        ("-2 * a^2 * b + -1 * b^2*a", "(- a*b^2 - 2*a^2*b,)"),
    ],
)
def test_reading(text, wanted):
    assert str(dims.parse_dims(text)) == wanted


@pytest.mark.parametrize(
    "text, dimension, position",
    [("a+", 0, 2), ("a b", 0, 2), ("a, 2*", 1, 5), ("1.5", 0, 0), ("min(a)", 0, 5), ("a, (b", 1, 5), ("...", 0, 0)],
)
def test_reading_faults(text, dimension, position):
    with pytest.raises(dims.DimSyntaxError, match=f"in dimension {dimension}") as caught:
        dims.parse_dims(text)
    assert caught.value.position == position


def test_like():
    assert str(dims.parse_dims("a, ...", like=(None, 3, 4))) == "(a, 3, 4)"
    assert str(dims.parse_dims("_, a", like=(3, 4))) == "(3, a)"


ONLY = "cannot resolve placeholder '{}' because we parsed 2 already and 'like' shape has only {} dimensions"


@pytest.mark.parametrize(
    ("text", "like", "words"),
    [
        ("a, b, _", (4, 6), f"in dimension 2: {ONLY.format('_', 2)}. Parsed 'a, b, ', remaining '_'."),
        ("a, b, ...", (4,), f"in dimension 2: {ONLY.format('...', 1)}. Parsed 'a, b, ', remaining '...'."),
        ("a, _", (4, None), "unexpected placeholder for unknown dimension; like=(4, None). Parsed '', remaining ''."),
        ("a, ...", (4, None), "unexpected placeholder for unknown dimension; like=(4, None). Parsed 'a, ', remaining"),
        ("a, 3", (4, None), "in dimension 1: different size 3 for known dimension; like=(4, None)."),
        ("..., 3", (1, 2), "expecting one of {ENDMARKER} but found COMMA. Parsed '...', remaining ', 3'."),
        ("(..., 3)", (1, 2), "expecting one of {RPAR} but found COMMA."),
        ("a - - b", None, "expecting one of {NUMBER} but found NAME. Parsed 'a - - ', remaining 'b'."),
        ("a +", None, "expecting one of {NAME, MINUS, NUMBER} but found ENDMARKER. Parsed '', remaining ''."),
    ],
)
def test_faults_with_like(text, like, words):
    with pytest.raises(dims.DimSyntaxError) as caught:
        dims.parse_dims(text, like=like)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "value, text",
    [
        (dims.max_dim(A, B), "max(a, b)"),
        (dims.min_dim(A, 3), "min(a, 3)"),
        (dims.max_dim(A, 1), "a"),
        (dims.max_dim(2, 3), "3"),
        (dims.non_negative(A - 1), "a - 1"),
        (dims.non_negative(A - 3), "max(a - 3, 0)"),
        (dims.stride_dim(A, 1, 2), "floordiv(a - 1, 2) + 1"),
        (dims.stride_dim(7, 3, 2), "3"),
        (dims.stride_dim(2, 3, 2), "0"),
        (dims.dilate_dim(A, 2), "2*a - 1"),
        (dims.dilate_dim(0, 2), "0"),
        (dims.ceil_div(A, 2), "- floordiv(- a, 2)"),
        (dims.prod((A, 2, B)), "2*a*b"),
        (dims.divide_sizes((A, 4), (2,)), "2*a"),
        (dims.divide_sizes((A, B), (B,)), "a"),
    ],
)
def test_shape_arithmetic(value, text):
    assert str(value) == text


def test_uneven_division():
    for a, b in [((A,), (2,)), ((3,), (2,)), ((A,), (0,))]:
        with pytest.raises(InconclusiveDimensionOperation, match="Cannot divide evenly"):
            dims.divide_sizes(a, b)


def test_questions():
    assert dims.is_constant(3) and not dims.is_constant(A)
    assert dims.is_constant_shape((1, 2)) and not dims.is_constant_shape((1, A))
    assert dims.equal_shapes((A, 2), (A, 2)) and not dims.equal_shapes((A,), (B,)) and not dims.equal_shapes((1,), ())
    assert dims.definitely_empty((A, 0)) and not dims.definitely_empty((A,))
    assert dims.is_dim(3) and dims.is_dim(A) and not dims.is_dim(1.5)
    assert dims.free_variables(A * B + A // 2) == {"a", "b"}
    assert dims.evaluate_shape((A * 2, B - A, 5), {"a": 2, "b": 7}) == (4, 5, 5)
