"""Partial evaluation where a policy says what is stored: how `checkpoint` takes programs apart, inner ones too.

    split_by_policy   a program as two: what known arguments determine, and the rest, which computes again what is not
                      stored

A value of the program is unknown, or known; a known one is at hand in the second program if it is computed again there.
One that is known and wanted there, but is not at hand, is stored: a residual.  A primitive whose parameters are
programs has a rule in `policy_rules`:

    rule(saves, unknown, at_hand, eqn) -> (known equation or None, second equation or None,
                                           which results are unknown, which are at hand, residuals)

`saves(eqn)` is the policy.
"""

from onax._core import jaxpr as core
from onax._core.lists import reject, select
from onax._core.rewrite import close

policy_rules = {}  # primitive -> rule; each stands beside its primitive


def split_by_policy(jaxpr, unknown, saves, keep_unknown=(), at_hand=None, all_at_hand=False):
    """(known, second, which results are unknown, which are at hand, types of the residuals) of a closed program.

    `known` maps the known arguments to (the known results, residuals); `second` maps (residuals, the arguments at hand)
    to the results at hand.  `at_hand`: a flag an argument, all if not given.  `keep_unknown`: a flag a result: leave it
    to `second`.  `all_at_hand`: `second` gives every result.
    """
    at_hand = [True] * len(jaxpr.invars) if at_hand is None else at_hand
    state = dict.fromkeys(jaxpr.constvars, (False, True))
    state.update(zip(jaxpr.invars, zip(unknown, at_hand)))
    read = lambda atom: (False, True) if type(atom) is core.Literal else state[atom]
    known, second, residuals = [], [], {}

    def take(atoms):
        residuals.update((a, None) for a in atoms if not read(a)[1])

    for eqn in jaxpr.eqns:
        unknown_in, at_hand_in = zip(*map(read, eqn.invars)) if eqn.invars else ((), ())
        rule = policy_rules.get(eqn.primitive)
        if rule is not None:
            first, again, unknown_out, at_hand_out, stored = rule(saves, unknown_in, at_hand_in, eqn)
            known.extend([] if first is None else [first])
            second.extend([] if again is None else [again])
            residuals.update(dict.fromkeys(stored))
            state.update(zip(eqn.outvars, zip(unknown_out, at_hand_out)))
            continue
        stored = not any(unknown_in) and not eqn.effects and saves(eqn)  # effects happen again
        if not any(unknown_in):
            known.append(eqn)
        if not stored:
            take(eqn.invars)
            second.append(eqn)
        state.update((v, (any(unknown_in), not stored)) for v in eqn.outvars)
    flags = [read(a) for a in jaxpr.outvars]
    keep_unknown = keep_unknown or [False] * len(flags)
    unknown_out = [is_unknown or keep for (is_unknown, _), keep in zip(flags, keep_unknown)]
    at_hand_out = [there or keep or all_at_hand for (_, there), keep in zip(flags, keep_unknown)]
    take(a for a, there in zip(jaxpr.outvars, at_hand_out) if there)
    stored = list(residuals)
    first = close(jaxpr, reject(jaxpr.invars, unknown), [*reject(jaxpr.outvars, unknown_out), *stored], known)
    again = close(jaxpr, [*stored, *select(jaxpr.invars, at_hand)], select(jaxpr.outvars, at_hand_out), second)
    return first, again, unknown_out, at_hand_out, [v.aval for v in stored]


def not_at_hand(eqn, at_hand):
    """The operands of an equation that would have to be stored for the second program."""
    return [a for a, there in zip(eqn.invars, at_hand) if not there and type(a) is not core.Literal]


def call_rule(with_program, name="jaxpr"):
    """The rule of a primitive that carries out the program of that name on its operands: both parts are calls of it.

    `with_program(params, program, again)` gives the parameters of a part.
    """

    def rule(saves, unknown, at_hand, eqn):
        found = split_by_policy(eqn.params[name], unknown, saves, at_hand=at_hand)
        known, second, unknown_out, at_hand_out, avals = found
        stored = [core.Var(a) for a in avals]
        first = eqn.replace(
            invars=reject(eqn.invars, unknown),
            outvars=[*reject(eqn.outvars, unknown_out), *stored],
            params=with_program(eqn.params, known, False),
            effects=known.effects,
        )
        again = eqn.replace(
            invars=[*stored, *select(eqn.invars, at_hand)],
            outvars=select(eqn.outvars, at_hand_out),
            params=with_program(eqn.params, second, True),
            effects=second.effects,
        )
        return first, again, unknown_out, at_hand_out, stored

    return rule
