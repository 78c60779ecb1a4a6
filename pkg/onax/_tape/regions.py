"""Finding what runs in one pass over memory: elementwise equations and folds become equations of `fused_p`.

    equations that can join -> levels -> regions -> a program in which each region is one equation

*Levels.*  An equation that cannot join is a barrier.  The level of a value is the largest number of barriers on a path
to it; equations of one level never wait for each other through a barrier, so any of them may form one equation.
*Regions.*  Within a level, all equations over few elements form one region: what they cost is the node, not the work.
Equations over many elements join those of the same shape that they exchange values with.  Elementwise results are never
smaller than operands, so what is cut between a small region and a large one always points from small to large.
*Folds* (reductions of trailing axes) run over their operand's elements, and what they give is *narrow*: who reads it is
in the same region, over the same rows, or one level on.
*Does it pay?*  A region of one equation stays as it is, unless it reads slices or broadcasts, which need no copies
then.  Large regions share no node, so none keeps another's values alive; a value between two equations of a region is
never stored.
*Later.*  A large region whose results one region of a higher level alone reads joins that one, unless this keeps more
memory in use.
*Order.*  A region stands where its last equation stood, or earlier where somebody waits for it.

Views (broadcasts, slices, axes of length 1) are read through where they feed a region, and stay outside for other
readers.  What is computed from constants alone stays outside too: the lowering folds it.
"""

import functools
from math import prod
from operator import itemgetter

from onax._control.block_code import Code, Unfit, codes, counters, folds, views
from onax._control.fused import assemble, dense_strides, drop_unit_axes, fused_p
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from onax._core.lists import insert_bounded
from onax._ground import dims
from onax._native.tape import TYPES
from onax._prims.creation import iota_p
from onax._prims.elementwise_pow import pow_p
from onax._prims.shaping import broadcast_in_dim_p
from onax._prims.slicing import slice_p
from onax._tape.half_reductions import reduce_halves
from onax._tape.index_expressions import absorb_index_arithmetic
from onax._tape.products import exchange_operands
from onax._tape.result_order import make_results_early

SMALL = 4096  # elements below which a node's own cost outweighs its work
FOLDED_BYTES = 1024  # constants up to this size are folded by the lowering
LONGEST = 512  # equations of a region over few elements: equal pieces of a long program share their code
LONGEST_LARGE = 16384  # of one over many elements, where what pieces hand on goes through memory
UNKNOWN_SIZE = 1 << 62
_FUSED = "regions are equations"


@functools.lru_cache(4096)
def elements(shape):
    """How many elements a value of a shape has; UNKNOWN_SIZE with symbolic dimensions."""
    return prod(shape) if dims.is_constant_shape(shape) else UNKNOWN_SIZE


def fuse(jaxpr):
    """The ClosedJaxpr with regions as equations; its own calls are inlined, and it has no dead code."""
    if len(jaxpr.eqns) < 2 or _FUSED in jaxpr.cache:
        return jaxpr
    jaxpr = absorb_index_arithmetic(exchange_operands(reduce_halves(jaxpr)))
    return make_results_early(_Regions(jaxpr).rebuilt())


def mark_fused(jaxpr):
    """States that a program is a part of one whose regions are equations already."""
    jaxpr.cache[_FUSED] = True


def has_regions(jaxpr):
    """Whether `mark_fused` stated that of a program."""
    return _FUSED in jaxpr.cache


# ---- what can join

_known_to_join: dict = {}  # (primitive, dtypes, parameters) -> bool


def joins(eqn):
    """Whether an equation can be part of a program over blocks."""
    if eqn.primitive not in codes or eqn.effects or len(eqn.outvars) != 1:
        return False
    out = eqn.outvars[0].aval
    if out.dtype not in TYPES or not 0 < elements(out.shape) < UNKNOWN_SIZE:
        return False
    if eqn.primitive in folds:
        if not _folds_rows(eqn):
            return False
        key = eqn.primitive, out.dtype, eqn.invars[0].aval.dtype
    elif eqn.primitive is pow_p:
        exponent = str(eqn.invars[1]) if type(eqn.invars[1]) is Literal else ""
        key = pow_p, exponent, out.dtype, *[x.aval.dtype for x in eqn.invars]
    else:
        key = eqn.primitive, out.dtype, *[x.aval.dtype for x in eqn.invars], *eqn.params.items()
    has_code = _known_to_join.get(key)
    if has_code is None:
        has_code = insert_bounded(_known_to_join, key, _has_code(eqn))
    return has_code


def _folds_rows(eqn):
    """Whether a reduction makes one element of several that lie side by side."""
    x, axes = eqn.invars[0].aval, eqn.params["axes"]
    if not 0 < elements(x.shape) < UNKNOWN_SIZE:
        return False
    long = [i in axes for i, d in enumerate(x.shape) if d != 1]
    return any(long) and long == sorted(long)


def _has_code(eqn):
    """Whether there are operations over blocks for an equation."""
    code = Code()
    try:
        operands = [_register(code, x) for x in eqn.invars]
        codes[eqn.primitive](code, eqn.outvars[0].aval.dtype, *operands, **eqn.params)
    except Unfit:
        return False
    return True


def _register(code, x):
    return code.constant(x.val, x.aval.dtype) if type(x) is Literal else code.register(x.aval.dtype)


def is_view(eqn):
    """Whether an equation only changes how elements are found."""
    view = views.get(eqn.primitive)
    if view is None or eqn.outvars[0].aval.dtype not in TYPES or len(eqn.invars) > 1:
        return False
    shape = eqn.invars[0].aval.shape
    if elements(shape) == UNKNOWN_SIZE or elements(eqn.outvars[0].aval.shape) == UNKNOWN_SIZE:
        return False
    return view(0, dense_strides(shape), eqn) is not None


def counts(eqn):
    """Whether elements follow from their positions alone."""
    return eqn.primitive in counters and eqn.outvars[0].aval.dtype in TYPES and eqn.outvars[0].aval.dtype != bool


def _is_folded(eqn):
    """Whether the lowering computes an equation over constants, or only says where they are, as it builds the graph."""
    if eqn.primitive not in codes:
        return True
    return all(elements(v.aval.shape) * v.aval.dtype.itemsize <= FOLDED_BYTES for v in eqn.outvars)


def is_small(eqn):
    return all(elements(v.aval.shape) < SMALL for v in eqn.outvars)


def _size(eqn):
    return elements(_ground(eqn).shape)


def _key(eqn):
    """The positions an equation runs over."""
    return drop_unit_axes(_ground(eqn).shape)


def _ground(eqn):
    return (eqn.invars[0] if eqn.primitive in folds else eqn.outvars[0]).aval


def _bytes_of(variables):
    return sum([elements(v.aval.shape) * v.aval.dtype.itemsize for v in variables])


_place_of = itemgetter(0)


class _Region:
    """Equations that become one, with their places in the program; `key`: the positions of the largest, if large."""

    __slots__ = ("eqns", "key")

    def __init__(self, key=None):
        self.eqns = []
        self.key = key

    @property
    def last(self):
        """The place of the last of them."""
        return self.eqns[-1][0]

    def pieces(self, longest):
        """Regions of bounded length, one after the other, with their equations in the order of the program."""
        self.eqns.sort(key=_place_of)
        if len(self.eqns) <= longest:
            return [self]
        pieces = []
        for start in range(0, len(self.eqns), longest):
            pieces.append(_Region(self.key))
            pieces[-1].eqns = self.eqns[start : start + longest]
        return pieces


class _Regions:
    """The regions of one program, and the program rebuilt with them."""

    def __init__(self, jaxpr):
        self.jaxpr = jaxpr
        self.makers = {}  # variable -> (place, equation) that makes it
        self.views = {}  # variable -> the equation that views another
        self.region_of = {}  # place of an equation -> _Region
        self.counters = {}  # variable -> the equation that counts positions
        self.narrow = set()  # variables that have fewer elements than their region's positions
        self._find()
        self._join_only_readers()
        self._choose()

    # ---- levels and regions

    def _find(self):
        known = set(self.jaxpr.constvars)
        levels, groups = {}, {}
        for place, eqn in enumerate(self.jaxpr.eqns):
            level, is_known = 0, bool(eqn.invars) or eqn.primitive is iota_p
            for x in eqn.invars:
                if type(x) is not Literal:
                    is_known = is_known and x in known
                    level = max(level, levels.get(x, 0))
            for v in eqn.outvars:
                self.makers[v] = place, eqn
            if is_view(eqn) and not self._leaves_region(eqn, levels, level):
                self.views[eqn.outvars[0]] = eqn
                if is_known:
                    known.update(eqn.outvars)
            elif counts(eqn) and SMALL <= _size(eqn) < UNKNOWN_SIZE:
                self.counters[eqn.outvars[0]] = eqn
            elif is_known and _is_folded(eqn):
                known.update(eqn.outvars)
            elif joins(eqn):
                level = self._join(groups, levels, level, place, eqn)
            else:
                level += 1
            for v in eqn.outvars:
                levels[v] = level

    def _join(self, groups, levels, level, place, eqn):
        """Puts an equation into the region of its operands, or of all the small equations of its level: which it tells.

        One that reads what is narrow is in that region, or a level on.
        """
        sources, region, key = (), None, _key(eqn)
        if self.narrow:
            sources = [r for r in [self._narrows(x, levels, level) for x in eqn.invars] if r is not None]
        if sources:
            region = sources[0]
            if any(r.key != region.key or r.key[: len(key)] != key for r in sources):
                level, region = level + 1, None
            else:
                region = self._merged(sources, region.key)
        if region is None and _size(eqn) < SMALL:
            region = groups.get(level)
            if region is None:
                region = groups[level] = _Region()
        elif region is None or key == region.key:
            neighbours = [self._neighbour(x, eqn, levels, level) for x in eqn.invars]
            region = self._merged([r for r in (region, *neighbours) if r is not None], key)
        if region.key is not None and drop_unit_axes(eqn.outvars[0].aval.shape) != region.key:
            self.narrow.add(eqn.outvars[0])
        region.eqns.append((place, eqn))
        self.region_of[place] = region
        return level

    def _narrows(self, x, levels, level):
        """The region of this level that an operand is narrow in, if any."""
        x = self._base(x)
        if type(x) is Literal or x not in self.narrow or levels[x] != level:
            return None
        return self.region_of[self.makers[x][0]]

    def _neighbour(self, x, eqn, levels, level):
        """The region that makes an operand, if this equation may be in it: same level, same positions."""
        x = self._base(x)
        if type(x) is Literal or x not in self.makers or levels[x] != level:
            return None
        place, maker = self.makers[x]
        return self.region_of.get(place) if _size(maker) >= SMALL and _key(maker) == _key(eqn) else None

    def _merged(self, regions, key):
        """One region of several; a new one of none."""
        if not regions:
            return _Region(key)
        first = max(regions, key=lambda r: len(r.eqns))
        for other in regions:
            if other is not first:
                for place, _ in other.eqns:
                    self.region_of[place] = first
                first.eqns += other.eqns
                other.eqns = []
        return first

    def _base(self, x):
        """The variable that holds the elements of one that is a view."""
        while type(x) is not Literal and x in self.views:
            x = self.views[x].invars[0]
        return x

    def _leaves_region(self, eqn, levels, level):
        """Whether a part is cut from a large value of a region of this level, which it thus comes after."""
        if eqn.primitive is not slice_p or elements(eqn.invars[0].aval.shape) < SMALL:
            return False
        base = self._base(eqn.invars[0])
        return base in self.makers and self.makers[base][0] in self.region_of and levels[base] == level

    def _join_only_readers(self):
        """Has each large region be a part of the one that alone reads what it makes, over the same positions.

        So it is computed later, unless more memory is in use meanwhile: by what it reads than by its results.
        """
        readers = self._readers()
        for place in sorted(self.region_of, reverse=True):
            region = self.region_of[place]
            if region.key is None or region.last != place:
                continue
            mine = {p for p, _ in region.eqns}
            results = [eqn.outvars[0] for _, eqn in region.eqns if readers.get(eqn.outvars[0], set()) - mine]
            others = {self.region_of.get(p) for v in results for p in readers[v] - mine}
            if len(others) != 1 or not self.narrow.isdisjoint(eqn.outvars[0] for _, eqn in region.eqns):
                continue
            only = others.pop()
            if only is None or only.key != region.key:
                continue
            if self._kept_bytes(region, readers, only.last) > _bytes_of(results):
                continue
            for p in mine:
                self.region_of[p] = only
            only.eqns[:0] = region.eqns

    def _readers(self):
        """variable -> the places of the equations that read it, views looked through; -1: it is a result."""
        readers = {x: {-1} for x in map(self._base, self.jaxpr.outvars) if type(x) is not Literal}
        for place, eqn in enumerate(self.jaxpr.eqns):
            if not eqn.outvars or eqn.outvars[0] not in self.views:
                for x in map(self._base, eqn.invars):
                    if type(x) is not Literal:
                        readers.setdefault(x, set()).add(place)
        return readers

    def _kept_bytes(self, region, readers, until):
        """The bytes of what a region reads that nobody would read any more at the place `until`."""
        made = {eqn.outvars[0] for _, eqn in region.eqns}
        bases = [self._base(x) for _, eqn in region.eqns for x in eqn.invars]
        inputs = {x for x in bases if type(x) is not Literal} - made
        return _bytes_of([x for x in inputs if x in self.makers and -1 not in readers[x] and max(readers[x]) < until])

    # ---- what becomes of them

    def _choose(self):
        """Makes the equations of the regions that pay; `self.fused`: place of a member -> (last place, equation)."""
        regions = {id(r): r for r in self.region_of.values()}
        pieces = [piece for r in regions.values() for piece in r.pieces(LONGEST if r.key is None else LONGEST_LARGE)]
        self.region_of = {}
        self.fused = {}
        while pieces:
            pieces = [r for r in pieces if len(r.eqns) > 1 or self._saves_copies(r)]
            self.region_of.update([(place, r) for r in pieces for place, _ in r.eqns])
            read, halves = self._read_outside(), []
            for region in pieces:
                try:
                    eqn = self._equation(region, read)
                except ValueError:  # it needs more registers than a program has
                    halves += region.pieces((len(region.eqns) + 1) // 2)
                    continue
                if eqn is not None:
                    self.fused.update(dict.fromkeys([place for place, _ in region.eqns], (region.last, eqn)))
            pieces = halves

    def _saves_copies(self, region):
        """Whether equations over many elements read parts of other values, or values that are repeated."""
        if region.key is None:
            return False
        operands = [x for _, eqn in region.eqns for x in eqn.invars if type(x) is not Literal]
        return any(x in self.views and self.views[x].primitive in (slice_p, broadcast_in_dim_p) for x in operands)

    def _read_outside(self):
        """The variables that somebody other than their own region's equations reads, views looked through."""
        read = {x for x in map(self._base, self.jaxpr.outvars) if type(x) is not Literal}
        for place, eqn in enumerate(self.jaxpr.eqns):
            if eqn.outvars and eqn.outvars[0] in self.views:
                continue
            mine = self.region_of.get(place)
            for x in eqn.invars:
                x = self._base(x)
                if type(x) is Literal or x not in self.makers:
                    continue
                if mine is None or self.region_of.get(self.makers[x][0]) is not mine:
                    read.add(x)
        return read

    def _equation(self, region, read):
        """The equation of a region, or None if it reads or gives nothing; ValueError if its program is too large."""
        eqns, inputs, made = [], {}, set()
        for _, eqn in region.eqns:
            for x in eqn.invars:
                self._read_inside(x, eqns, inputs, made)
            eqns.append(eqn)
            made.add(eqn.outvars[0])
        outputs = [eqn.outvars[0] for _, eqn in region.eqns if eqn.outvars[0] in read]
        if not inputs or not outputs:
            return None
        inner = ClosedJaxpr(Jaxpr([], inputs, outputs, eqns, no_effects, self.jaxpr.debug_info))
        assemble(inner)
        place = region.eqns[0][1].source_info
        return JaxprEqn(list(inputs), outputs, fused_p, {"jaxpr": inner}, no_effects, place)

    def _read_inside(self, x, eqns, inputs, made):
        """Makes an operand known in a region: as an input, or through the views that lead to it."""
        if type(x) is Literal or x in made or x in inputs:
            return
        if x in self.counters:
            eqns.append(self.counters[x])
            made.add(x)
            return
        view = self.views.get(x)
        if view is None:
            inputs[x] = None
            return
        self._read_inside(view.invars[0], eqns, inputs, made)
        eqns.append(view)
        made.add(x)

    # ---- the program

    def rebuilt(self):
        """The ClosedJaxpr with the regions as equations."""
        if not self.fused:
            return self.jaxpr
        old = self.jaxpr
        eqns = _Order(self).eqns
        new = Jaxpr(old.constvars, old.invars, old.outvars, eqns, old.effects, old.debug_info)
        return ClosedJaxpr(new, old.consts)


class _Order:
    """The equations in an order in which each stands after what it reads; views only where somebody reads them."""

    def __init__(self, regions):
        self.regions = regions
        self.eqns = []
        self.done = set()
        self.effect_before = _effects_before(regions.jaxpr.eqns)
        for place, eqn in enumerate(regions.jaxpr.eqns):
            is_emitted_when_read = any(v in regions.views or v in regions.counters for v in eqn.outvars)
            if regions.fused.get(place, (place,))[0] == place and not is_emitted_when_read:
                self._emit(place)
        for x in regions.jaxpr.outvars:
            if type(x) is not Literal and x in regions.makers:
                self._emit(regions.makers[x][0])

    def _item(self, place):
        """(place that stands for it, equation) of what is emitted for an equation."""
        return self.regions.fused.get(place) or (place, self.regions.jaxpr.eqns[place])

    def _emit(self, place):
        stack = [place]
        while stack:
            place, eqn = self._item(stack[-1])
            if place in self.done:
                stack.pop()
                continue
            missing = [p for p in self._before(place, eqn) if self._item(p)[0] not in self.done]
            if missing:
                stack.extend(missing)
            else:
                self.done.add(place)
                self.eqns.append(eqn)
                stack.pop()

    def _before(self, place, eqn):
        makers = self.regions.makers
        before = [makers[x][0] for x in eqn.invars if type(x) is not Literal and x in makers]
        earlier = self.effect_before.get(place)
        return before if earlier is None else [*before, earlier]


def _effects_before(eqns):
    """place of an equation with effects -> place of the one before it: their order stays."""
    before, last = {}, None
    for place, eqn in enumerate(eqns):
        if eqn.effects:
            if last is not None:
                before[place] = last
            last = place
    return before
