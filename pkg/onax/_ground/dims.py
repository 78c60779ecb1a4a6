"""Dimensions, which are ints or `SymbolicDim`s, and the arithmetic that shape rules use.

The module has three parts: `SymbolicScope` (variables and the constraints on them), the functions that shape rules use
besides + - *, and the parser of the text form ("b, 2*t + 1").
"""

import operator
import re
from typing import Any

from onax._ground.errors import InconclusiveDimensionOperation
from onax._ground.polynomials import (
    INFINITY,
    OPERATIONS,
    SymbolicDim,
    exact_quotient,
    extremum,
    interval,
    monomial_facts,
    monomial_interval,
    monomial_is,
    recompute,
    variable,
)
from onax._ground.polynomials import free_variables as free_variables
from onax._ground.source import summarize, user_location


class SymbolicScope:
    """A scope of symbolic dimensions and of the constraints on them.

    Equal names in one scope are the same variable; dimensions of different scopes cannot be combined.

    Args:
      constraints_str: texts such as "a >= 2", "a + b <= 10", "a == 2*b"; default none.

    Examples:
      >>> scope = onax.export.SymbolicScope(("a >= 2",))
      >>> onax.export.symbolic_shape("a, 2*a", scope=scope)
      (a, 2*a)
    """

    def __init__(self, constraints_str=()):
        if isinstance(constraints_str, str):
            raise ValueError(f"The symbolic constraints should be a sequence of strings. Got {constraints_str!r}")
        self._location = user_location()
        self._texts = []
        self._rules = {}  # monomial -> (its coefficient, replacement)
        self._inequalities = []  # terms of expressions that are >= 0
        self._equalities = []  # expressions that are 0, as they were before a rule rewrote them
        self._bounds = {}
        for text in constraints_str:
            self._add(text)

    def _add(self, text):
        if not isinstance(text, str):
            raise ValueError(f"SymbolicScope constraint must be a string: got {text!r}")
        match = re.search(r"==|>=|<=", text)
        if match is None:
            raise ValueError("Constraint parsing error: must contain one of '==' or '>=' or '<='")
        left = _parse_one(text[: match.start()].strip(), self)
        right = _parse_one(text[match.end() :].strip(), self)
        self._texts.append(text)
        self._take_in(match.group(), left, right, text)
        self._bounds.clear()

    def _take_in(self, relation, left, right, text):
        """Records that `left relation right` holds."""
        self._bounds.clear()
        difference = left - right
        if relation == "==":
            if not isinstance(difference, SymbolicDim):
                if difference != 0:
                    raise ValueError(f"Unsatisfiable explicit constraint: {text}")
                return
            self._replace(left, right, difference)
            return
        if relation == "<=":
            difference = -difference
        if not isinstance(difference, SymbolicDim):
            if difference < 0:
                raise ValueError(f"Unsatisfiable explicit constraint: {text}")
            return
        if interval(difference)[1] < 0:
            raise ValueError(f"Unsatisfiable constraint: {text}")
        self._inequalities.append(difference)

    def _replace(self, left, right, difference):
        """Records an equality as a rule that rewrites its left side, or else as two inequalities."""
        if not isinstance(left, SymbolicDim) or len(left._terms) != 1:
            self._inequalities += [difference, -difference]
            return
        ((monomial, coefficient),) = left._terms.items()
        low, high = monomial_interval(monomial, self)  # its bounds hold for its replacement
        low, high = sorted((low * coefficient, high * coefficient))
        if not isinstance(right, SymbolicDim) and not low <= right <= high:
            raise ValueError(f"Unsatisfiable constraint: {left} == {right}")
        if coefficient != 1:  # the rule rewrites multiples alone
            self._equalities.append(difference)
        self._rules[monomial] = coefficient, right
        facts = [right - low] if low > -INFINITY else []
        facts += [high - right] if high < INFINITY else []
        facts += monomial_facts(monomial)
        self._inequalities += [e for e in facts if isinstance(e, SymbolicDim)]
        self._inequalities = [e for e in (recompute(i, self) for i in self._inequalities) if isinstance(e, SymbolicDim)]
        if monomial_is(monomial, "mod") and coefficient == 1 and right == 0:  # a multiple: n == d * (n // d)
            n, d = monomial[0][0].operands
            whole = d * floor_div(n, d)
            if isinstance(whole - n, SymbolicDim):
                self._replace(whole, n, whole - n)

    def __str__(self):
        head = f"{id(self)} created at {summarize(self._location)}"
        if self._texts:
            head += " with constraints:\n" + "\n".join(f"  {text}" for text in self._texts)
        return head

    __repr__ = __str__

    @property
    def constraints(self):
        """The constraints as they were written."""
        return tuple(self._texts)


# --- functions for shape rules -------------------------------------------------------------------------------


def is_constant(d):
    """Whether the dimension is an integer."""
    return not isinstance(d, SymbolicDim)


def is_constant_shape(shape):
    """Whether all dimensions are integers."""
    for d in shape:
        if isinstance(d, SymbolicDim):
            return False
    return True


def is_dim(d):
    """Whether the value can be a dimension: an integer or a symbolic dimension."""
    if isinstance(d, SymbolicDim):
        return True
    try:
        operator.index(d)
    except TypeError:
        return False
    return True


def prod(shape):
    """The product of dimensions; 1 for none."""
    total = 1
    for d in shape:
        total = total * d
    return total


size = prod


def equal(a, b):
    """Whether two dimensions are equal for all values of the variables."""
    return a == b


def equal_shapes(a, b):
    """Whether two shapes have equal rank and equal dimensions."""
    return len(a) == len(b) and all(x == y for x, y in zip(a, b))


def _scope_of(*dims):
    for d in dims:
        if isinstance(d, SymbolicDim):
            return d.scope
    return None


def max_dim(d1: Any, d2: Any) -> Any:
    """Returns the larger of two dimensions.

    Args:
      d1: an int or a symbolic dimension.
      d2: likewise.

    Returns:
      An int, or a symbolic dimension if it depends on the variables.

    Examples:
      >>> onax.core.max_dim(2, 3)
      3
    """
    scope = _scope_of(d1, d2)
    return max(d1, d2) if scope is None else extremum("max", d1, d2, scope)


def min_dim(d1: Any, d2: Any) -> Any:
    """Returns the smaller of two dimensions.

    Args:
      d1: an int or a symbolic dimension.
      d2: likewise.

    Returns:
      An int, or a symbolic dimension if it depends on the variables.

    Examples:
      >>> onax.core.min_dim(2, 3)
      2
    """
    scope = _scope_of(d1, d2)
    return min(d1, d2) if scope is None else extremum("min", d1, d2, scope)


def broadcast_dim(sizes):
    """The size of an axis that operands with these sizes broadcast to: the one size other than 1; None for several."""
    size = 1
    for d in sizes:
        if type(d) is int and d == 1:
            continue
        if type(size) is int and size == 1:
            size = d
        elif not equal(d, size):
            return None
    return size


def non_negative(d):
    """The dimension, or 0 where it would be negative."""
    return max_dim(d, 0)


def floor_div(a, b):
    """Floor of a / b."""
    return a // b


def ceil_div(a, b):
    """Ceiling of a / b."""
    return -((-a) // b)


def stride_dim(d, window, stride):
    """The number of windows of this width that fit into d at this stride: max((d - window) // stride + 1, 0)."""
    if is_constant(d) and is_constant(window):
        return (d - window) // stride + 1 if d >= window else 0
    return non_negative(floor_div(d - window, stride) + 1)


def dilate_dim(d, dilation):
    """The size of d elements with dilation - 1 holes between neighbours; 0 stays 0."""
    if is_constant(d):
        return 0 if d == 0 else 1 + dilation * (d - 1)
    if dilation == 1:
        return d
    return non_negative(1 + dilation * (d - 1))


def definitely_at_least(a, b):
    """Whether a >= b for all values of the variables; False also if this cannot be decided."""
    return interval(a - b)[0] >= 0


def definitely_empty(shape):
    """Whether some dimension is the integer 0."""
    return any(not isinstance(d, SymbolicDim) and d == 0 for d in shape)


def divide_sizes(a, b):
    """The dimension q with prod(a) == q * prod(b); raises InconclusiveDimensionOperation if there is none."""
    n, d = prod(a), prod(b)
    if is_constant(d) and d == 0:
        if is_constant(n) and n == 0:
            return 0
        raise InconclusiveDimensionOperation(f"Cannot divide evenly the sizes of shapes {a} and {b}.")
    if is_constant(n) and is_constant(d):
        if n % d:
            raise InconclusiveDimensionOperation(f"Cannot divide evenly the sizes of shapes {a} and {b}.")
        return n // d
    result = exact_quotient(n, d)
    if result is None:
        raise InconclusiveDimensionOperation(f"Cannot divide evenly the sizes of shapes {a} and {b}.")
    return result


def has_size(shape, size):
    """Whether all dimensions are non-negative ints whose product is `size`."""
    product = 1
    for n in shape:
        if type(n) is not int or n < 0:
            return False
        product *= n
    return product == size


def remaining_size(have, shape, total, rest):
    """The dimension for which `shape` has -1, total / rest; raises InconclusiveDimensionOperation if there is none."""
    length = -(total // -rest)  # which JAX computes: constraints may be about it
    if not equal(length * rest, total):
        raise InconclusiveDimensionOperation(
            f"Cannot divide evenly the sizes of shapes {have} and {shape}. The remainder {total % -rest} should be 0."
        )
    return length


def as_dim(d):
    """The dimension as an int or SymbolicDim; raises TypeError for anything else."""
    return d if isinstance(d, SymbolicDim) else operator.index(d)


_EVALUATORS = {"floordiv": operator.floordiv, "mod": operator.mod, "max": max_dim, "min": min_dim}


def evaluate(d, env):
    """The dimension's value where `env` maps names of variables to values (ints, or anything with their operators)."""
    if not isinstance(d, SymbolicDim):
        return d
    total = 0
    for monomial, coefficient in d._terms.items():
        product = coefficient
        for atom, power in monomial:
            if atom.operands:
                factor = _EVALUATORS[atom.operation](*(evaluate(o, env) for o in atom.operands))
            else:
                factor = env[atom.operation]
            for _ in range(power):
                product = product * factor
        total = total + product
    return total


def evaluate_shape(shape, env):
    """The shape's values, as a tuple."""
    return tuple(evaluate(d, env) for d in shape)


# --- the text form ------------------------------------------------------------------------------------------

_TOKEN = r"\s*(?:(?P<name>[A-Za-z]\w*)|(?P<number>\d+(?:\.\d*)?)|(?P<op>\*\*|//|\.\.\.|[-+*^%(),_])|(?P<bad>\S))"
_KINDS = {
    "+": "PLUS", "-": "MINUS", "*": "STAR", "^": "CIRCUMFLEX", "//": "DOUBLESLASH", "%": "PERCENT", "(": "LPAR",
    ")": "RPAR", ",": "COMMA", "...": "ELLIPSIS", "_": "NAME", "**": "DOUBLESTAR",
}  # fmt: skip


class DimSyntaxError(ValueError):
    """A syntax error in the text of a shape, with its `reason` and `position`."""

    def __init__(self, message, reason, position):
        super().__init__(message)
        self.reason = reason
        self.position = position


class _Parser:
    """Parses `a, 2*b + 1, floordiv(c, 2), _, ...`; also accepts //, % and parentheses, which JAX does not."""

    def __init__(self, text, scope, like=None):
        self.text = text
        self.scope = scope
        self.like = like
        self.dims = []
        self.tokens = []
        for match in re.finditer(_TOKEN, text):
            kind = match.lastgroup
            if kind is not None:
                self.tokens.append((kind, match.group(kind), match.start(kind)))
        self.tokens.append(("end", "", len(text)))
        self.index = 0
        self.after = False

    @property
    def token(self):
        return self.tokens[self.index]

    def at(self, *texts):
        kind, text, _ = self.token
        return kind == "op" and text in texts

    def take(self):
        self.index += 1
        return self.tokens[self.index - 1]

    def fail(self, reason):
        position = self.token[2]
        parsed, remaining = self.text[:position], self.text[position:]
        if self.token[0] == "end":  # JAX's tokenizer puts the end on a line of its own
            parsed = remaining = ""
        number = len(self.dims) - self.after  # an error right after a dimension is counted to that dimension
        raise DimSyntaxError(
            f"syntax error in symbolic shape {self.text!r} in dimension {number}: {reason}. "
            f"Parsed '{parsed}', remaining '{remaining}'.",
            reason,
            position,
        )

    def fail_expecting(self, *kinds):
        kind, text, _ = self.token
        token_name = {"end": "ENDMARKER", "name": "NAME", "number": "NUMBER", "bad": "ERRORTOKEN"}.get(kind)
        self.fail(f"expecting one of {{{', '.join(kinds)}}} but found {token_name or _KINDS.get(text, text)}")

    def shape(self):
        """All dimensions up to the end, with or without parentheses around them."""
        closing = False
        if self.at("("):
            depth, last = 0, None
            for i, (kind, text, _) in enumerate(self.tokens):
                depth += (kind == "op" and text == "(") - (kind == "op" and text == ")")
                if depth == 0:
                    last = i
                    break
            closing = last is not None and last == len(self.tokens) - 2
            if closing:
                self.take()
        while not (self.token[0] == "end" or (closing and self.at(")"))):
            self.after = False
            was_rest = self.at("...")
            self.dimension()
            self.after = True
            if self.at(",") and not was_rest:
                self.take()
            elif not (self.token[0] == "end" or (closing and self.at(")"))):
                self.after = not was_rest and not self.at(")")
                self.fail_expecting("STAR" if self.after else "RPAR" if closing else "ENDMARKER")
        return tuple(self.dims)

    def dimension(self):
        if self.at("...", "_"):
            placeholder, done = self.token[1], len(self.dims)
            if self.like is None:
                self.fail("spec contains ... but no 'like' shape was given")
            if len(self.like) < done + (placeholder == "_"):
                self.fail(
                    f"cannot resolve placeholder '{placeholder}' because we parsed {done} already and 'like' shape has "
                    f"only {len(self.like)} dimensions"
                )
            if placeholder == "_":
                self.take()
                self.dims.append(self.from_like(done))
            else:
                self.dims += [self.from_like(i) for i in range(done, len(self.like))]
                self.take()
        else:
            size, i = self.expression(), len(self.dims)
            known = self.like[i] if self.like is not None and i < len(self.like) else size
            if type(size) is int and size != known:
                self.fail(f"different size {size} for known dimension; like={self.like}")
            self.dims.append(size)

    def from_like(self, index):
        d = self.like[index]
        if d is None:
            self.fail(f"unexpected placeholder for unknown dimension; like={self.like}")
        return d

    def expression(self):
        negative = self.at("+", "-") and self.take()[1] == "-"
        total = self.term()
        if negative:
            total = -total
        while self.at("+", "-"):
            _, sign, _ = self.take()
            term = self.term()
            total = total + term if sign == "+" else total - term
        return total

    def term(self):
        product = self.power()
        while self.at("*", "//", "%"):
            _, symbol, _ = self.take()
            negative = self.at("-") and bool(self.take())
            factor = self.power()
            if negative:
                factor = -factor
            if symbol == "*":
                product = product * factor
            else:
                product = product // factor if symbol == "//" else product % factor
        return product

    def power(self):
        base = self.factor()
        if self.at("^"):
            self.take()
            if self.token[0] != "number":
                self.fail_expecting("NUMBER")
            return base ** self.integer()
        return base

    def integer(self):
        if "." in self.token[1]:
            self.fail(f"expecting integer, found {self.token[1]}")
        return int(self.take()[1])

    def factor(self):
        kind, text, _ = self.token
        if kind == "number":
            return self.integer()
        if self.at("-"):
            self.take()
            if self.token[0] != "number":
                self.fail_expecting("NUMBER")
            return -self.integer()
        if kind == "name":
            if text in ("floordiv", "mod", "max", "min"):
                return self.call()
            self.take()
            return variable(text, self.scope)
        if self.at("("):
            self.take()
            inner = self.expression()
            self.closing()
            return inner
        self.fail_expecting("NAME", "MINUS", "NUMBER")

    def call(self):
        _, name, _ = self.take()
        if not self.at("("):
            self.fail_expecting("LPAR")
        self.take()
        a = self.expression()
        if not self.at(","):
            self.fail_expecting("COMMA")
        self.take()
        b = self.expression()
        self.closing()
        if is_constant(a) and is_constant(b):
            return _EVALUATORS[name](a, b)
        return OPERATIONS[name](a, b, self.scope)

    def closing(self):
        if not self.at(")"):
            self.fail_expecting("RPAR")
        self.take()


def _parse_one(text, scope):
    parser = _Parser(text, scope)
    d = parser.expression()
    if parser.token[0] != "end":
        parser.fail_expecting("STAR")
    return d


def parse_dims(text, scope=None, like=None):
    """Parses dimensions such as "b, 2*t + 1, 3" to a tuple; `_` and `...` take the dimensions of `like`.

    Raises DimSyntaxError (a ValueError), which holds the position of the error.
    """
    return _Parser(text, SymbolicScope() if scope is None else scope, like).shape()
