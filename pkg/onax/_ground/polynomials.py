"""Symbolic dimensions as polynomials in normal form, and bounds on their values.

    SymbolicDim   {monomial: coefficient}, terms in descending order
      monomial    ((atom, power), ...), atoms in descending order; () for the constant term
      Atom        a variable, or one of floordiv, mod, max, min applied to dimensions

A constant expression is an int, never a SymbolicDim.  Variables are at least 1.  Equality compares normal forms and
always has an answer; order comparisons are decided by bounds, and raise `InconclusiveDimensionOperation` if the bounds
do not decide them.  Shape rules use `onax._ground.dims`, which is built on this module.
"""

import math
import operator
from functools import reduce

import numpy as np

from onax._ground.dtypes import register_weak_scalar_type
from onax._ground.errors import InconclusiveDimensionOperation

INFINITY = math.inf


class Atom:
    """An indivisible factor: a variable (no operands) or an operation on dimensions.

    Keys of atoms, monomials and dimensions begin with their sizes, in which numbers of variables, operations and powers
    add up: large terms come first.
    """

    __slots__ = ("_hash", "key", "operands", "operation")

    def __init__(self, operation, operands=()):
        self.operation = operation
        self.operands = operands
        keys = tuple(_order_key(d) for d in operands)
        self.key = (1 + sum(key[0] for key in keys), operation, keys)
        self._hash = hash((operation, operands))

    def __eq__(self, other):
        return self is other or (
            type(other) is Atom and self.operation == other.operation and self.operands == other.operands
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        operands = [f"- {-d}" if type(d) is int and d < 0 else str(d) for d in self.operands]
        return f"{self.operation}({', '.join(operands)})" if operands else self.operation


def _order_key(d):
    """The sort key of a total order of dimensions, which does not depend on their values."""
    return d._key if isinstance(d, SymbolicDim) else _dim_key({(): d})


def _monomial_key(monomial):
    return sum(1 + power * atom.key[0] for atom, power in monomial), tuple(
        (atom.key, power) for atom, power in monomial
    )


def _dim_key(terms):
    keys = tuple((_monomial_key(m), c) for m, c in terms.items())
    return sum(1 + abs(c) * key[0] for key, c in keys), keys


class SymbolicDim:
    """A symbolic dimension; made by `parse_dims` and by arithmetic, never called by users."""

    __slots__ = ("_hash", "_key", "_terms", "scope")

    def __init__(self, terms, scope):
        self._terms = terms
        self.scope = scope
        self._key = _dim_key(terms)
        self._hash = hash((self._key, id(scope)))

    __array_ufunc__ = None  # NumPy's operators then call the methods of this class

    def __jax_array__(self):
        """Converts the dimension to an integer array of shape (); possible only while staging."""
        return _dim_to_array(self)

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
            factors = [str(atom) if power == 1 else f"{atom}^{power}" for atom, power in reversed(monomial)]
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
        """The terms of the other operand, or None if it is not a dimension."""
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
            return _apply_to_arrays(operator.add if sign > 0 else operator.sub, self, other)
        total = dict(self._terms)
        for monomial, coefficient in terms.items():
            total[monomial] = total.get(monomial, 0) + sign * coefficient
        return _normalize(total, self.scope)

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

    def __truediv__(self, other):
        return _apply_to_arrays(operator.truediv, self, other)

    def __rtruediv__(self, other):
        return _apply_to_arrays(operator.truediv, other, self)

    def __rpow__(self, other):
        return _apply_to_arrays(operator.pow, other, self)

    def __mul__(self, other):
        terms = self._lifted(other)
        if terms is None:
            return _apply_to_arrays(operator.mul, self, other)
        total = {}
        for m1, c1 in self._terms.items():
            for m2, c2 in terms.items():
                monomial = _multiply_monomials(m1, m2)
                total[monomial] = total.get(monomial, 0) + c1 * c2
        return _normalize(total, self.scope)

    __rmul__ = __mul__

    def __pow__(self, power):
        if not isinstance(power, int) or power < 0:
            return _apply_to_arrays(operator.pow, self, power)
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
        divisor = _uncertain_divisor(difference)
        if divisor is not None:
            raise InconclusiveDimensionOperation(f"Possible division by 0 in division by {divisor}")
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
        return True  # equality always has an answer, and a SymbolicDim never equals 0

    def __int__(self):
        raise InconclusiveDimensionOperation(f"Symbolic dimension '{self}' used in a context that requires a constant")

    # --- for users of the expression ---

    @property
    def variables(self):
        """The names of the variables in it, as a frozenset."""
        return free_variables(self)

    @property
    def terms(self):
        """The pairs (monomial, coefficient) in order; a monomial is a tuple of (atom, power)."""
        return tuple(self._terms.items())


register_weak_scalar_type(SymbolicDim, int)


def _dim_to_array(d):
    raise RuntimeError("onax._prims.slicing is not loaded")  # onax._prims.slicing replaces this function


def set_dim_to_array(function):
    """Sets the function that converts a dimension to an array; the module that defines the primitive calls it."""
    global _dim_to_array
    _dim_to_array = function


def _apply_to_arrays(apply, a, b):
    """Applies an operation to a dimension as an array and an operand that is a float or a NumPy number or array.

    Returns NotImplemented for arrays and tracers, whose own operators handle dimensions.
    """
    for x in (a, b):
        if not isinstance(x, (SymbolicDim, int, float, complex, np.ndarray, np.generic)):
            return NotImplemented
    return apply(*(_dim_to_array(x) if isinstance(x, SymbolicDim) else x for x in (a, b)))


# --- normal form --------------------------------------------------------------------------------------------


def _multiply_monomials(m1, m2):
    """The product of two monomials."""
    if not m1 or not m2:
        return m1 or m2
    powers = dict(m1)
    for atom, power in m2:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key, reverse=True))


def _divide_monomial(monomial, part):
    """The monomial divided by part, or None if part does not divide it."""
    powers = dict(monomial)
    for atom, power in part:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, power) for atom, power in powers.items() if power)


def _normalize(terms, scope):
    """Makes a dimension from terms: applies rules, drops zero terms, sorts; returns an int if it is constant."""
    if scope._rules:
        terms = _rewrite(terms, scope)
    nonzero = [(m, c) for m, c in terms.items() if c]
    if not nonzero:
        return 0
    if len(nonzero) == 1 and not nonzero[0][0]:
        return nonzero[0][1]
    nonzero.sort(key=lambda item: _monomial_key(item[0]), reverse=True)
    return SymbolicDim(dict(nonzero), scope)


def _first_match(terms, rules):
    """The first term that contains a rule's left side: its monomial, its quotient by it (number and monomial), and the
    rule's right side."""
    for monomial, coefficient in terms.items():
        for left, (own, right) in rules.items():
            rest = _divide_monomial(monomial, left) if coefficient and coefficient % own == 0 else None
            if rest is not None:
                return monomial, coefficient // own, rest, right
    return None


def _rewrite(terms, scope):
    """The terms after replacing every occurrence of a rule's left side."""
    for _ in range(100):  # stops at rules that rewrite one another forever
        match = _first_match(terms, scope._rules)
        if match is None:
            return terms
        monomial, coefficient, rest, right = match
        terms = dict(terms)
        del terms[monomial]
        for m, c in right._terms.items() if isinstance(right, SymbolicDim) else (((), right),):
            product = _multiply_monomials(m, rest)
            terms[product] = terms.get(product, 0) + c * coefficient
    raise ValueError(f"the constraints of scope {scope} rewrite one another without end")


def recompute(d, scope):
    """Recomputes a dimension, so that rules that were added later apply inside operations, too."""
    total = 0
    for monomial, coefficient in d._terms.items():
        product = coefficient
        for atom, power in monomial:
            operands = tuple(recompute(o, scope) if isinstance(o, SymbolicDim) else o for o in atom.operands)
            factor = OPERATIONS[atom.operation](*operands, scope) if operands else variable(atom.operation, scope)
            product = product * factor**power
        total = total + product
    return total


def variable(name, scope):
    return _normalize({((Atom(name), 1),): 1}, scope)


def _operation(name, operands, scope):
    return _normalize({((Atom(name, operands), 1),): 1}, scope)


def _terms_of(d):
    return d._terms if isinstance(d, SymbolicDim) else {(): d}


def _divide(n, d, scope):
    """Floor of n / d."""
    parts = _whole_division(n, d)
    return _operation("floordiv", (n, d), scope) if parts is None else parts[0]


def _remainder(n, d, scope):
    """n - d * floor(n / d)."""
    parts = _whole_division(n, d)
    return _operation("mod", (n, d), scope) if parts is None else parts[1]


def _whole_division(n, d):
    """Quotient and remainder if d divides all of n, or all but the constant term if d is an integer; else None."""
    if isinstance(d, SymbolicDim):
        exact = exact_quotient(n, d)
        return None if exact is None else (exact, 0)
    if d == 0:
        raise ZeroDivisionError("integer division or modulo by zero")
    remainder = _terms_of(n).get((), 0) % d
    exact = exact_quotient(n - remainder, d)
    return None if exact is None else (exact, remainder)


def exact_quotient(n, d):
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
        part = _divide_monomial(monomial, lead)
        if part is None or coefficient % lead_coefficient:
            return None
        step = _normalize({part: coefficient // lead_coefficient}, rest.scope)
        quotient = quotient + step
        rest = rest - step * d
    return None


def extremum(name, a, b, scope):
    """max or min; one of the operands if bounds decide which."""
    low, high = interval(a - b)
    if low >= 0:
        return a if name == "max" else b
    if high <= 0:
        return b if name == "max" else a
    return _operation(name, (a, b), scope)


OPERATIONS = {
    "floordiv": _divide,
    "mod": _remainder,
    "max": lambda a, b, scope: extremum("max", a, b, scope),
    "min": lambda a, b, scope: extremum("min", a, b, scope),
}

# --- bounds -------------------------------------------------------------------------------------------------

_DEPTH = 4  # the largest number of facts that are combined; each one cancels a term


def interval(d):
    """Bounds (low, high) of a dimension over all allowed values; infinite if unknown; they need not be tight."""
    if not isinstance(d, SymbolicDim):
        return d, d
    known = d.scope._bounds.get(d._key)
    if known is None:
        d.scope._bounds[d._key] = _naive_interval(d)  # for recursion through facts
        low = _lower(d, _DEPTH)
        high = -_lower(-d, _DEPTH)
        known = d.scope._bounds[d._key] = (low, high)
        if low > high:
            raise ValueError(f"Unsatisfiable constraint: {', '.join(d.scope._texts)}")
    return known


def _lower(d, depth):
    """A lower bound: the naive one, or a better one after subtracting nonnegative multiples of known facts."""
    if not isinstance(d, SymbolicDim):
        return d
    best = _naive_interval(d)[0]
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
            if candidate > -INFINITY:
                best = max(best, -(-candidate // scale))
    for monomial, coefficient in d._terms.items():
        chosen = "max" if coefficient < 0 else "min"
        if monomial_is(monomial, chosen):
            rest = _normalize({m: c for m, c in d._terms.items() if m != monomial}, d.scope)
            cases = [_lower(rest + x * coefficient, depth - 1) for x in monomial[0][0].operands]  # it is one of them
            best = max(best, min(cases))
    return best


def _facts(d):
    """Expressions known to be nonnegative that may say something about d."""
    scope = d.scope
    facts = [*scope._inequalities, *scope._equalities, *[-e for e in scope._equalities]]
    for monomial in d._terms:
        for atom, _ in monomial:
            if atom.operands:
                facts += [f for f in atom_facts(atom) if isinstance(f, SymbolicDim)]
    return facts


def monomial_is(monomial, operation):
    """Whether a monomial is one call of an operation."""
    return len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].operation == operation


def monomial_facts(monomial):
    """Expressions that are nonnegative by the definition of an operation, if the monomial is one."""
    return atom_facts(monomial[0][0]) if len(monomial) == 1 and monomial[0][1] == 1 else ()


def atom_facts(atom):
    """Expressions that are nonnegative by the definition of the atom's operation."""
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


def _naive_interval(d):
    """Bounds by interval arithmetic, each term by itself; those of a factor alone follow from its operation."""
    low = high = 0
    terms = d._terms
    is_factor = len(terms) == 1 and next(iter(terms.values())) == 1
    for monomial, coefficient in terms.items():
        bounds = monomial_interval(monomial, d.scope, is_factor)
        if coefficient < 0:
            bounds = bounds[::-1]
        low += coefficient * bounds[0]
        high += coefficient * bounds[1]
    return low, high


def monomial_interval(monomial, scope, is_factor=True):
    """Bounds of a product of atoms; those of each factor follow from the facts too, unless it is alone."""
    low = high = 1
    is_factor = is_factor and len(monomial) == 1 and monomial[0][1] == 1
    for atom, power in monomial:
        a, b = _atom_interval(atom) if is_factor else interval(SymbolicDim({((atom, 1),): 1}, scope))
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
        return 1, INFINITY
    (a_low, a_high), (b_low, b_high) = (interval(d) for d in atom.operands)
    if atom.operation == "max":
        return max(a_low, b_low), max(a_high, b_high)
    if atom.operation == "min":
        return min(a_low, b_low), min(a_high, b_high)
    if atom.operation == "mod":
        if b_low > 0:
            return 0, (b_high - 1 if a_low < 0 else min(b_high - 1, a_high))
        return (b_low + 1, 0) if b_high < 0 else (-INFINITY, INFINITY)
    if b_low <= 0 <= b_high:
        return -INFINITY, INFINITY
    corners = [_quotient(x, y) for x in (a_low, a_high) for y in (b_low, b_high)]
    return min(corners), max(corners)


def _uncertain_divisor(d):
    """The first divisor of a floordiv in a dimension of which it is unknown whether it is 0, or None."""
    for monomial in d._terms:
        for atom, _ in monomial:
            if atom.operation == "floordiv" and atom.operands:
                low, high = interval(atom.operands[1])
                if low <= 0 <= high:
                    return atom.operands[1]
    return None


def _quotient(x, y):
    """Floor of x / y where either may be infinite."""
    if abs(y) == INFINITY:
        if abs(x) == INFINITY:
            return x if y > 0 else -x
        return 0 if x == 0 or (x > 0) == (y > 0) else -1
    if abs(x) == INFINITY:
        return x if y > 0 else -x
    return x // y


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
