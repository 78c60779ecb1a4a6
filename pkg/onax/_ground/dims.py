"""Dimensions: a dimension is an int or a `SymbolicDim`; the arithmetic of every shape rule stands here.

    SymbolicDim   a polynomial in normal form: {monomial: coefficient}, terms in descending order
      monomial    ((atom, power), ...), atoms in descending order; () for the constant term
      Atom        a variable, or one of floordiv, mod, max, min applied to dimensions

An expression that comes out constant is an int, never a SymbolicDim.  Variables are at least 1.  Equality is equality
of normal forms and always has an answer; an order comparison is answered from bounds, and raises
`InconclusiveDimensionOperation` when those do not settle it.  A `SymbolicScope` holds the constraints: inequalities
sharpen bounds; an equality replaces its left side, if that is one term, by its right side.
"""

import math
import operator
import re
from functools import reduce

from onax._ground.dtypes import register_weak_scalar_type
from onax._ground.errors import InconclusiveDimensionOperation
from onax._ground.source import summarize, user_location

_INFINITY = math.inf


class Atom:
    """An indivisible factor: a variable (no operands) or an operation on dimensions."""

    __slots__ = ("_hash", "key", "operands", "operation")

    def __init__(self, operation, operands=()):
        self.operation = operation
        self.operands = operands
        if operands:
            # operations stand before variables; among themselves by name, then by operands
            self.key = (1, operation, tuple(_order_key(d) for d in operands))
        else:
            self.key = (0, operation, ())
        self._hash = hash((operation, operands))

    def __eq__(self, other):
        return self is other or (
            type(other) is Atom and self.operation == other.operation and self.operands == other.operands
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return f"{self.operation}({', '.join(map(str, self.operands))})" if self.operands else self.operation


def _order_key(d):
    """A total order of dimensions that has nothing to do with their values."""
    return d._key if isinstance(d, SymbolicDim) else (((), d),)


def _monomial_key(monomial):
    return tuple((atom.key, power) for atom, power in monomial)


class SymbolicScope:
    """Variables that mean the same, and the constraints on them, written as `"a >= 2"`, `"a + b <= 10"`, `"a == 2*b"`.

    Dimensions of two scopes do not mix.
    """

    def __init__(self, constraints_str=()):
        if isinstance(constraints_str, str):
            raise ValueError(
                f"The symbolic constraints should be a sequence of strings. Got {constraints_str!r}"
            )
        self._location = user_location()
        self._texts = []
        self._rules = {}  # monomial -> (divisor coefficient, replacement)
        self._inequalities = []  # terms of expressions that are >= 0
        self._bounds = {}
        for text in constraints_str:
            self._add(text)

    def _add(self, text):
        match = re.search(r"==|>=|<=", text)
        if match is None:
            raise ValueError("Constraint parsing error: must contain one of '==' or '>=' or '<='")
        left = _parse_one(text[: match.start()].strip(), self)
        right = _parse_one(text[match.end() :].strip(), self)
        self._texts.append(text)
        self._bounds.clear()
        difference = left - right
        if match.group() == "==":
            if not isinstance(difference, SymbolicDim):
                if difference != 0:
                    raise ValueError(f"Unsatisfiable constraint: {text}")
                return
            self._replace(left, right, difference)
            return
        if match.group() == "<=":
            difference = -difference
        if not isinstance(difference, SymbolicDim):
            if difference < 0:
                raise ValueError(f"Unsatisfiable constraint: {text}")
            return
        if difference._interval()[1] < 0:
            raise ValueError(f"Unsatisfiable constraint: {text}")
        self._inequalities.append(difference)

    def _replace(self, left, right, difference):
        """Takes in an equality: its left side is rewritten where it occurs, or both inequalities are noted."""
        if isinstance(left, SymbolicDim) and len(left._terms) == 1:
            ((monomial, coefficient),) = left._terms.items()
            if coefficient == 1:
                atom, power = monomial[0]
                if len(monomial) == 1 and power == 1 and atom.operation == "mod" and right == 0:
                    # a multiple: what is known is n == d * (n // d)
                    n, d = atom.operands
                    self._inequalities.append(d * floor_div(n, d) - n)
                self._rules[monomial] = right
                # the left side's own bounds hold for what replaces it
                low, high = _monomial_interval(monomial, self, ())
                if isinstance(right, SymbolicDim):
                    if low > -_INFINITY:
                        self._inequalities.append(right - low)
                    if high < _INFINITY:
                        self._inequalities.append(high - right)
                    for inequality in _atom_facts(atom) if len(monomial) == 1 and power == 1 else ():
                        if isinstance(inequality, SymbolicDim):
                            self._inequalities.append(inequality)
                elif not low <= right <= high:
                    raise ValueError(f"Unsatisfiable constraint: {left} == {right}")
                self._inequalities = [
                    e for e in (_rebuilt(i, self) for i in self._inequalities) if isinstance(e, SymbolicDim)
                ]
                return
        self._inequalities += [difference, -difference]

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


class SymbolicDim:
    """A symbolic dimension; made by `parse_dims` and by arithmetic, never called by users."""

    __slots__ = ("_hash", "_key", "_terms", "scope")

    def __init__(self, terms, scope):
        self._terms = terms
        self.scope = scope
        self._key = tuple((_monomial_key(m), c) for m, c in terms.items())
        self._hash = hash((self._key, id(scope)))

    # --- identity and text ---

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        if self is other:
            return True
        return isinstance(other, SymbolicDim) and self.scope is other.scope and self._key == other._key

    def __str__(self):
        parts = []
        for monomial, coefficient in self._terms.items():
            factors = [str(atom) if power == 1 else f"{atom}^{power}" for atom, power in monomial]
            size = abs(coefficient)
            if size != 1 or not factors:
                factors.insert(0, str(size))
            sign = "- " if coefficient < 0 else ("+ " if parts else "")
            parts.append(sign + "*".join(factors))
        return " ".join(parts)

    __repr__ = __str__

    def __reduce__(self):
        raise TypeError(f"a symbolic dimension ({self}) belongs to its scope and cannot be pickled")

    # --- arithmetic ---

    def _lifted(self, other):
        """The other operand's terms, or None if it is no dimension."""
        if isinstance(other, SymbolicDim):
            if other.scope is not self.scope:
                raise ValueError(
                    "Invalid mixing of symbolic scopes for linear combination.\n"
                    f"Expected  scope {self.scope}\nand found for '{other}' scope {other.scope}"
                )
            return other._terms
        if isinstance(other, float):
            return None
        try:
            value = operator.index(other)
        except TypeError:
            return None
        return {(): value} if value else {}

    def _linear(self, other, sign):
        terms = self._lifted(other)
        if terms is None:
            return NotImplemented
        total = dict(self._terms)
        for monomial, coefficient in terms.items():
            total[monomial] = total.get(monomial, 0) + sign * coefficient
        return _normal(total, self.scope)

    def __add__(self, other):
        return self._linear(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._linear(other, -1)

    def __neg__(self):
        return SymbolicDim({m: -c for m, c in self._terms.items()}, self.scope)

    def __pos__(self):
        return self

    def __rsub__(self, other):
        return (-self)._linear(other, 1)

    def __mul__(self, other):
        terms = self._lifted(other)
        if terms is None:
            return NotImplemented
        total = {}
        for m1, c1 in self._terms.items():
            for m2, c2 in terms.items():
                monomial = _times(m1, m2)
                total[monomial] = total.get(monomial, 0) + c1 * c2
        return _normal(total, self.scope)

    __rmul__ = __mul__

    def __pow__(self, power):
        if not isinstance(power, int) or power < 0:
            return NotImplemented
        return reduce(operator.mul, [self] * power, 1)

    def __floordiv__(self, other):
        return NotImplemented if self._lifted(other) is None else _divide(self, other, self.scope)

    def __rfloordiv__(self, other):
        return NotImplemented if self._lifted(other) is None else _divide(other, self, self.scope)

    def __mod__(self, other):
        return NotImplemented if self._lifted(other) is None else _remainder(self, other, self.scope)

    def __rmod__(self, other):
        return NotImplemented if self._lifted(other) is None else _remainder(other, self, self.scope)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    # --- comparison ---

    def _compare(self, other, sign, strict, symbol):
        if self._lifted(other) is None:
            return NotImplemented
        difference = (self - other) * sign - strict
        low, high = interval(difference)
        if low >= 0:
            return True
        if high < 0:
            return False
        constraints = f"\nUsing symbolic scope {self.scope}" if self.scope._texts else ""
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension comparison '{self}' {symbol} '{other}' is inconclusive.{constraints}"
        )

    def __ge__(self, other):
        return self._compare(other, 1, 0, ">=")

    def __gt__(self, other):
        return self._compare(other, 1, 1, ">")

    def __le__(self, other):
        return self._compare(other, -1, 0, "<=")

    def __lt__(self, other):
        return self._compare(other, -1, 1, "<")

    def __bool__(self):
        return True  # equality has an answer, and this is not the number 0

    def __int__(self):
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension '{self}' used in a context that requires a constant"
        )

    # --- for users of the expression ---

    def _interval(self):
        return interval(self)

    @property
    def variables(self):
        """The names of the variables in it, as a frozenset."""
        return free_variables(self)

    @property
    def terms(self):
        """The pairs (monomial, coefficient) in order; a monomial is a tuple of (atom, power)."""
        return tuple(self._terms.items())


register_weak_scalar_type(SymbolicDim, int)

# --- normal form --------------------------------------------------------------------------------------------------


def _times(m1, m2):
    """The product of two monomials."""
    if not m1 or not m2:
        return m1 or m2
    powers = dict(m1)
    for atom, power in m2:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key, reverse=True))


def _contains(monomial, part):
    """The monomial divided by part, or None if part does not divide it."""
    powers = dict(monomial)
    for atom, power in part:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)


def _normal(terms, scope):
    """The dimension with these terms: rules applied, zero terms dropped, in order; an int if it is constant."""
    if scope._rules:
        terms = _rewritten(terms, scope)
    kept = [(m, c) for m, c in terms.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    kept.sort(key=lambda item: _monomial_key(item[0]), reverse=True)
    return SymbolicDim(dict(kept), scope)


def _rewritten(terms, scope):
    """The terms after replacing every occurrence of a rule's left side."""
    for _ in range(100):  # a rule whose right side contains its left side would never end
        for monomial, coefficient in terms.items():
            for left, right in scope._rules.items():
                rest = _contains(monomial, left) if coefficient else None
                if rest is not None:
                    break
            else:
                continue
            break
        else:
            return terms
        terms = dict(terms)
        del terms[monomial]
        for m, c in right._terms.items() if isinstance(right, SymbolicDim) else (((), right),):
            product = _times(m, rest)
            terms[product] = terms.get(product, 0) + c * coefficient
    raise ValueError(f"the constraints of scope {scope} rewrite one another without end")


def _rebuilt(d, scope):
    """The dimension computed anew, so that rules added later apply inside operations too."""
    total = 0
    for monomial, coefficient in d._terms.items():
        product = coefficient
        for atom, power in monomial:
            operands = tuple(_rebuilt(o, scope) if isinstance(o, SymbolicDim) else o for o in atom.operands)
            factor = (
                _OPERATIONS[atom.operation](*operands, scope)
                if operands
                else _variable(atom.operation, scope)
            )
            product = product * factor**power
        total = total + product
    return total


def _variable(name, scope):
    return _normal({((Atom(name), 1),): 1}, scope)


def _operation(name, operands, scope):
    return _normal({((Atom(name, operands), 1),): 1}, scope)


def _terms_of(d):
    return d._terms if isinstance(d, SymbolicDim) else {(): d}


def _divide(n, d, scope):
    """Floor of n / d: what d divides exactly comes out, the rest stays under floordiv."""
    if not isinstance(d, SymbolicDim) and d == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    exact = _exact_quotient(n, d)
    if exact is not None:
        return exact
    if isinstance(d, SymbolicDim):
        return _operation("floordiv", (n, d), scope)
    outside, inside = {}, {}
    for monomial, coefficient in n._terms.items():
        quotient, rest = divmod(coefficient, d)
        if not monomial:
            continue
        if rest == 0:
            outside[monomial] = quotient
        else:
            inside[monomial] = coefficient
    constant = n._terms.get((), 0)
    if not inside:
        return _normal({**outside, (): constant // d}, scope)
    common = math.gcd(d, *inside.values())
    if common > 1 and (outside or constant % common == 0 or d > 0):
        # floor((g*x + c) / (g*k)) = floor((x + floor(c / g)) / k)
        inside = {m: c // common for m, c in inside.items()}
        numerator = _normal({**inside, (): constant // common}, scope)
        return _normal(outside, scope) + _divide(numerator, d // common, scope)
    if outside:
        return _normal(outside, scope) + _divide(_normal({**inside, (): constant}, scope), d, scope)
    return _operation("floordiv", (n, d), scope)


def _exact_quotient(n, d):
    """n / d by long division if there is no remainder, else None."""
    quotient, rest = 0, n
    (lead, lead_coefficient), *_ = _terms_of(d).items()
    for _ in range(32):
        if not isinstance(rest, SymbolicDim):
            if rest == 0:
                return quotient
            if isinstance(d, SymbolicDim) or rest % d:
                return None
            return quotient + rest // d
        (monomial, coefficient), *_ = rest._terms.items()
        part = _contains(monomial, lead)
        if part is None or coefficient % lead_coefficient:
            return None
        step = _normal({part: coefficient // lead_coefficient}, rest.scope)
        quotient = quotient + step
        rest = rest - step * d
    return None


def _remainder(n, d, scope):
    """n - d * floor(n / d), with multiples of d taken out of n."""
    if not isinstance(d, SymbolicDim):
        if d == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        if isinstance(n, SymbolicDim):
            n = _normal({m: c - d * (c // d) for m, c in n._terms.items()}, scope)
        if not isinstance(n, SymbolicDim):
            return n % d
    elif _exact_quotient(n, d) is not None:
        return 0
    low, high = interval(n)
    d_low, d_high = interval(d)
    if d_low > 0 and low >= 0 and (high < d_low or interval(d - n)[0] > 0):
        return n
    return _operation("mod", (n, d), scope)


def _extremum(name, a, b, scope):
    """max or min, decided where bounds decide."""
    low, high = interval(a - b)
    if low >= 0:
        return a if name == "max" else b
    if high <= 0:
        return b if name == "max" else a
    return _operation(name, (a, b), scope)


_OPERATIONS = {
    "floordiv": _divide,
    "mod": _remainder,
    "max": lambda a, b, scope: _extremum("max", a, b, scope),
    "min": lambda a, b, scope: _extremum("min", a, b, scope),
}

# --- bounds -------------------------------------------------------------------------------------------------------

_DEPTH = 3  # how many facts are combined; each step takes one term away


def interval(d):
    """Bounds (low, high) of a dimension over all allowed values; infinite where unknown.  Sound, not always tight."""
    if not isinstance(d, SymbolicDim):
        return d, d
    known = d.scope._bounds.get(d._key)
    if known is None:
        d.scope._bounds[d._key] = _naive_interval(d, ())  # for recursion through facts
        low = _lower(d, _DEPTH)
        high = -_lower(-d, _DEPTH)
        known = d.scope._bounds[d._key] = (low, high)
        if low > high:
            raise ValueError(f"Unsatisfiable constraint: {', '.join(d.scope._texts)}")
    return known


def _lower(d, depth):
    """A lower bound: the naive one, or better after taking away nonnegative multiples of known facts."""
    if not isinstance(d, SymbolicDim):
        return d
    best = _naive_interval(d, ())[0]
    if depth == 0:
        return best
    for fact in _facts(d):
        for monomial, coefficient in fact._terms.items():
            own = d._terms.get(monomial, 0)
            if not monomial or own * coefficient <= 0:
                continue
            common = math.gcd(own, coefficient)
            scale, times = abs(coefficient) // common, abs(own) // common
            candidate = _lower(d * scale - fact * times, depth - 1)
            if candidate > -_INFINITY:
                best = max(best, -(-candidate // scale))
    return best


def _facts(d):
    """Expressions known to be nonnegative that may say something about d."""
    facts = list(d.scope._inequalities)
    for monomial in d._terms:
        for atom, _ in monomial:
            if atom.operands:
                facts += [f for f in _atom_facts(atom) if isinstance(f, SymbolicDim)]
    return facts


def _atom_facts(atom):
    """What the meaning of an operation says, as expressions that are nonnegative."""
    if not atom.operands:
        return ()
    a, b = atom.operands
    scope = a.scope if isinstance(a, SymbolicDim) else b.scope
    own = SymbolicDim({((atom, 1),): 1}, scope)
    if atom.operation == "max":
        return own - a, own - b
    if atom.operation == "min":
        return a - own, b - own
    if interval(b)[0] <= 0:
        return ()
    if atom.operation == "floordiv":
        return a - b * own, b * own + b - 1 - a
    return (b - 1 - own, *((a - own,) if interval(a)[0] >= 0 else ()))


def _naive_interval(d, _):
    """Bounds by interval arithmetic, each term by itself."""
    low = high = 0
    for monomial, coefficient in d._terms.items():
        bounds = _monomial_interval(monomial, d.scope, ())
        if coefficient < 0:
            bounds = bounds[::-1]
        low += coefficient * bounds[0]
        high += coefficient * bounds[1]
    return low, high


def _monomial_interval(monomial, scope, _):
    """Bounds of a product of atoms."""
    low = high = 1
    for atom, power in monomial:
        a, b = _atom_interval(atom)
        for _ in range(power):
            corners = [_product(x, y) for x in (low, high) for y in (a, b)]
            low, high = min(corners), max(corners)
        if power % 2 == 0 and len(monomial) == 1:
            low = max(low, 0)
    return low, high


def _product(x, y):
    return 0 if x == 0 or y == 0 else x * y


def _atom_interval(atom):
    """Bounds of a variable or of an operation's value."""
    if not atom.operands:
        return 1, _INFINITY
    (a_low, a_high), (b_low, b_high) = (interval(d) for d in atom.operands)
    if atom.operation == "max":
        return max(a_low, b_low), max(a_high, b_high)
    if atom.operation == "min":
        return min(a_low, b_low), min(a_high, b_high)
    if atom.operation == "mod":
        if b_low > 0:
            return 0, (b_high - 1 if a_low < 0 else min(b_high - 1, a_high))
        return (b_low + 1, 0) if b_high < 0 else (-_INFINITY, _INFINITY)
    if b_low <= 0 <= b_high:
        return -_INFINITY, _INFINITY
    corners = [_quotient(x, y) for x in (a_low, a_high) for y in (b_low, b_high)]
    return min(corners), max(corners)


def _quotient(x, y):
    """Floor of x / y where either may be infinite."""
    if abs(y) == _INFINITY:
        if abs(x) == _INFINITY:
            return x if y > 0 else -x
        return 0 if x == 0 or (x > 0) == (y > 0) else -1
    if abs(x) == _INFINITY:
        return x if y > 0 else -x
    return x // y


# --- what shape rules use -----------------------------------------------------------------------------------------


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
    """Whether the value can stand in a shape: an integer or a symbolic dimension."""
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


def max_dim(a, b):
    """The larger of two dimensions, symbolic where it depends on the values."""
    scope = _scope_of(a, b)
    return max(a, b) if scope is None else _extremum("max", a, b, scope)


def min_dim(a, b):
    """The smaller of two dimensions, symbolic where it depends on the values."""
    scope = _scope_of(a, b)
    return min(a, b) if scope is None else _extremum("min", a, b, scope)


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
    """How many windows of this width fit into d at this stride: (d - window) // stride + 1, not below 0."""
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
    """Whether a >= b for all values; False also when that is not known."""
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
    found = _exact_quotient(n, d)
    if found is None:
        raise InconclusiveDimensionOperation(f"Cannot divide evenly the sizes of shapes {a} and {b}.")
    return found


def as_dim(d):
    """The dimension as an int or SymbolicDim; raises TypeError for anything else."""
    return d if isinstance(d, SymbolicDim) else operator.index(d)


def free_variables(d):
    """Names of the variables in a dimension."""
    if not isinstance(d, SymbolicDim):
        return frozenset()
    names = set()
    for monomial in d._terms:
        for atom, _ in monomial:
            if atom.operands:
                for operand in atom.operands:
                    names |= free_variables(operand)
            else:
                names.add(atom.operation)
    return frozenset(names)


_EVALUATORS = {"floordiv": operator.floordiv, "mod": operator.mod, "max": max, "min": min}


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


# --- the text form ------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z]\w*)|(?P<number>\d+(?:\.\d*)?)|(?P<op>\*\*|//|\.\.\.|[-+*^%(),_])|(?P<bad>\S))"
)
_KINDS = {
    "+": "PLUS", "-": "MINUS", "*": "STAR", "^": "CIRCUMFLEX", "//": "DOUBLESLASH", "%": "PERCENT", "(": "LPAR",
    ")": "RPAR", ",": "COMMA", "...": "ELLIPSIS", "_": "NAME", "**": "DOUBLESTAR",
}  # fmt: skip


class DimSyntaxError(ValueError):
    """A shape text that cannot be read; `position` is where."""

    def __init__(self, message, text, position):
        super().__init__(message)
        self.text = text
        self.position = position


class _Parser:
    """Reads `a, 2*b + 1, floordiv(c, 2), _, ...`; also takes //, % and parentheses, which JAX does not."""

    def __init__(self, text, scope, like=None):
        self.text = text
        self.scope = scope
        self.like = like
        self.dims = []
        self.tokens = []
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind is not None:
                self.tokens.append((kind, match.group(kind), match.start(kind)))
        self.tokens.append(("end", "", len(text)))
        self.index = 0

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
        raise DimSyntaxError(
            f"syntax error in symbolic shape {self.text!r} in dimension {len(self.dims)}: {reason}. "
            f"Parsed {self.text[:position]!r}, remaining {self.text[position:]!r}.",
            self.text,
            position,
        )

    def fail_expecting(self, *kinds):
        kind, text, _ = self.token
        found = {"end": "ENDMARKER", "name": "NAME", "number": "NUMBER", "bad": "ERRORTOKEN"}.get(kind)
        self.fail(f"expecting one of {{{', '.join(kinds)}}} but found {found or _KINDS[text]}")

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
            self.dimension()
            if self.at(","):
                self.take()
            elif not (self.token[0] == "end" or (closing and self.at(")"))):
                self.fail_expecting("STAR", "COMMA", "ENDMARKER")
        return tuple(self.dims)

    def dimension(self):
        if self.at("..."):
            if self.like is None:
                self.fail("spec contains ... but no 'like' shape was given")
            rest = sum(1 for kind, text, _ in self.tokens[self.index + 1 :] if text == ",")
            if rest or self.tokens[self.index + 1][0] not in ("end", "op"):
                self.fail("'...' must stand at the end")
            self.take()
            self.dims += [self.from_like(i) for i in range(len(self.dims), len(self.like))]
        elif self.at("_"):
            if self.like is None:
                self.fail("spec contains '_' but no 'like' shape was given")
            if len(self.dims) >= len(self.like):
                self.fail(f"the 'like' shape {self.like} has only {len(self.like)} dimensions")
            self.take()
            self.dims.append(self.from_like(len(self.dims)))
        else:
            self.dims.append(self.expression())

    def from_like(self, index):
        d = self.like[index]
        if d is None:
            self.fail("the 'like' shape has no dimension here")
        return d

    def expression(self):
        negative = self.at("-") and bool(self.take())
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
        if kind == "name":
            if text in ("floordiv", "mod", "max", "min"):
                return self.call()
            self.take()
            return _variable(text, self.scope)
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
        return _OPERATIONS[name](a, b, self.scope)

    def closing(self):
        if not self.at(")"):
            self.fail_expecting("RPAR")
        self.take()


def _parse_one(text, scope):
    parser = _Parser(text, scope)
    d = parser.expression()
    if parser.token[0] != "end":
        parser.fail_expecting("STAR", "ENDMARKER")
    return d


def parse_dims(text, scope=None, like=None):
    """The dimensions that `text` writes, such as "b, 2*t + 1, 3", as a tuple; `_` and `...` take those of `like`.

    Raises DimSyntaxError (a ValueError), which knows the position of the fault.
    """
    return _Parser(text, SymbolicScope() if scope is None else scope, like).shape()
