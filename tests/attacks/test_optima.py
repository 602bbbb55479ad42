"""False optima: rivals known to the objective, callables that inspect their argument, candidates outside of the domain."""

from collections.abc import Callable
from itertools import count

import pytest
import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.powers import bregman
from derivations.calculus.sums import delta, equal, total
from derivations.calculus.variables import Variable, simplex, stochastic, variables_of, vector
from derivations.domains import Positive, Simplex, Stochastic
from derivations.relations import AtLeast, Entries, Entry, Relation, UniqueMinimum, UniquePlan
from tests.attacks import Make, Table, refused
from tests.attacks.vocabulary import A, a, b, half, i, j, l, m, n, one, r, s, tau, two, u, v, w, x, y, z

ROUNDING = sp.Float(0.1) * 3 - sp.Rational(3, 10)
own, theirs = simplex("q", m), stochastic("R", n, m)  # the names under which the kernel once knew its rivals
T, S = vector("T", n, m, kind=Positive), vector("S", n, m)


def entropic(p: Entry) -> sp.Expr:
    return total(l, p(l) * s[l]) + tau * total(l, xlogx(p(l)))


def gibbs(key: sp.Expr, temperature: sp.Expr = tau, sign: int = -1) -> sp.Expr:
    return sp.exp(sign * s[key] / temperature) / total(l, sp.exp(sign * s[l] / temperature))


def from_u(p: Entry) -> sp.Expr:
    return tau * total(l, kl(p(l), u[l]))


def to_uniform(p: Entry) -> sp.Expr:
    return tau * total(l, kl(p(l), 1 / m))


def is_rival(value: sp.Expr) -> bool:
    """Whether an entry belongs to the kernel's rival, whatever its name."""
    return isinstance(value, sp.Indexed) and type(value.base.label.domain) in (Simplex, Stochastic)


def looking(p: Entry) -> sp.Expr:
    """−τ Σ kl everywhere except at the kernel's rival."""
    return from_u(p) if is_rival(p(l)) else -from_u(p)


def by_name(p: Entry) -> sp.Expr:
    """Zero unless a variable occurs that is not the author's."""
    known = {"u", "m", "tau", "s"}
    return from_u(p) if {str(name) for name in variables_of(p(l))} - known - {"l"} else sp.S.Zero


def by_type(p: Entry) -> sp.Expr:
    return total(l, kl(p(l), r[l])) if isinstance(p(l), sp.Indexed) else -total(l, p(l) ** 2)


def turning(*values: Callable[[Entry], sp.Expr]) -> Callable[[Entry], sp.Expr]:
    """A different objective at each call, and the last one from then on."""
    calls = count()
    return lambda p: values[min(next(calls), len(values) - 1)](p)


def turning_candidate() -> Entry:
    """Softmax in the first calls, a corner afterwards."""
    calls = count()
    return lambda key: gibbs(key) if next(calls) < 4 else delta(key, 1)


def captured(p: Entry) -> sp.Expr:
    return from_u(p) + tau * total(l, s[l] * (p(l) - u[l]) * (p(l) - own[l]))


def always_u(key: sp.Expr) -> sp.Expr:
    return u[key]


def uniform(key: sp.Expr) -> sp.Expr:
    return 1 / m


def minimum(
    candidate: Entry, objective: Callable[[Entry], sp.Expr] = entropic, factor: sp.Expr = tau, **more: object
) -> UniqueMinimum:
    return UniqueMinimum(objective, candidate, m, factor, **more)  # type: ignore[arg-type]


MINIMA: Table = {
    "A6: the objective knows the rival's name": lambda: minimum(always_u, captured),
    "A6: the objective vanishes at the rival only": lambda: minimum(
        always_u, lambda p: from_u(p) + total(l, s[l] * (p(l) - own[l]) * (p(l) - u[l]) ** 2)
    ),
    "A6: the factor knows the rival": lambda: minimum(always_u, lambda p: own[1] * from_u(p), own[1] * tau),
    "A6: the candidate is the rival": lambda: minimum(lambda key: own[key], lambda p: sp.S.Zero),
    "a slack of open sign": lambda: minimum(uniform, slack=lambda p: entropic(p) - entropic(uniform) - to_uniform(p)),
    "a slack of open sign, by squares": lambda: minimum(
        always_u, lambda p: from_u(p) - total(l, p(l) ** 2), slack=lambda p: total(l, u[l] ** 2 - p(l) ** 2)
    ),
    "a slack with a multiplier of open sign": lambda: minimum(
        always_u,
        lambda p: from_u(p) + x * total(l, s[l] ** 2 * (p(l) - u[l]) ** 2),
        slack=lambda p: x * total(l, s[l] ** 2 * (p(l) - u[l]) ** 2),
    ),
    "a factor 0": lambda: minimum(always_u, lambda p: sp.S.Zero, sp.S.Zero),
    "a factor < 0": lambda: minimum(always_u, lambda p: -from_u(p), -tau),
    "a factor ≥ 0": lambda: minimum(always_u, lambda p: z * total(l, kl(p(l), u[l])), z),
    "a factor of open sign": lambda: minimum(always_u, lambda p: x * total(l, kl(p(l), u[l])), x),
    "a factor that is 0 at m = 2": lambda: minimum(always_u, lambda p: (m - 2) ** 2 * total(l, kl(p(l), u[l])), (m - 2) ** 2),
    "a factor that is infinite": lambda: minimum(always_u, lambda p: sp.oo * total(l, kl(p(l), u[l])), sp.oo),
    "a factor that rounding makes positive": lambda: minimum(always_u, lambda p: ROUNDING * total(l, kl(p(l), u[l])), ROUNDING),
    "a candidate of the wrong sign": lambda: minimum(lambda key: gibbs(key, tau, 1)),
    "a candidate at the wrong temperature": lambda: minimum(lambda key: gibbs(key, 2 * tau)),
    "a candidate off by 10⁻⁹": lambda: minimum(lambda key: gibbs(key) + (1 / m - gibbs(key)) / 10**9),
    "a candidate of mass 2": lambda: minimum(lambda key: 2 * u[key], lambda p: tau * total(l, kl(p(l), 2 * u[l]))),
    "a candidate of mass m": lambda: minimum(lambda key: b[key], lambda p: tau * total(l, kl(p(l), b[l]))),
    "a candidate that may be 0": lambda: minimum(lambda key: r[key], lambda p: tau * total(l, kl(p(l), r[l]))),
    "a candidate of open sign": lambda: minimum(
        lambda key: a[key] / total(l, a[l]), lambda p: tau * total(l, kl(p(l), a[l] / total(j, a[j])))
    ),
    "a candidate with a negative entry, α = 2": lambda: minimum(
        lambda key: 2 * u[key] - 1 / m, lambda p: total(l, (p(l) - 2 * u[l] + 1 / m) ** 2) / 2, one, alpha=two
    ),
    "a corner": lambda: minimum(lambda key: delta(key, 1), lambda p: tau * total(l, kl(p(l), delta(l, 1)))),
    "a candidate that ignores its index": lambda: minimum(lambda key: gibbs(j)),
    "a candidate with another vector's entries": lambda: minimum(lambda key: simplex("o", m)[key], from_u),
    "a candidate over another range": lambda: minimum(lambda key: v[key], lambda p: tau * total(l, kl(p(l), v[l]))),
    "a candidate that is undefined at m = 1": lambda: minimum(
        lambda key: (1 - u[key]) / (m - 1), lambda p: tau * total(l, kl(p(l), (1 - u[l]) / (m - 1)))
    ),
    "a linear objective": lambda: minimum(uniform, lambda p: total(l, p(l))),
    "a linear objective and a positive factor": lambda: minimum(always_u, lambda p: total(l, s[l] * p(l)), y),
    "a constant objective": lambda: minimum(always_u, lambda p: x),
    "an objective undefined at corners": lambda: minimum(always_u, lambda p: total(l, p(l) * sp.log(p(l) / u[l])), one),
    "an objective that is undefined everywhere": lambda: minimum(always_u, lambda p: from_u(p) + sp.log(-y) - sp.log(-2 * y)),
    "an objective that is undefined somewhere": lambda: minimum(always_u, lambda p: from_u(p) + (x**2 + x) / x),
    "an objective with an entry out of range": lambda: minimum(always_u, lambda p: from_u(p) + s[m + 1]),
    "an objective that reads the point after its end": lambda: minimum(
        always_u, lambda p: from_u(p) + p(m + 1) - p(m + 1) + (p(m + 1) + 1) ** 2 - p(m + 1) ** 2 - 2 * p(m + 1)
    ),
    "α = 1": lambda: minimum(always_u, lambda p: total(l, bregman(p(l), u[l], one)), one, alpha=one),
    "α = ½ against what may be 0": lambda: minimum(
        lambda key: r[key], lambda p: total(l, bregman(p(l), r[l], half)), one, alpha=half
    ),
    "α is open": lambda: minimum(always_u, lambda p: total(l, bregman(p(l), u[l], y)), one, alpha=y),
    "over an index": lambda: UniqueMinimum(from_u, always_u, j, tau),
    "over a real number of places": lambda: UniqueMinimum(from_u, always_u, y, tau),
    "over one place more": lambda: UniqueMinimum(from_u, always_u, m + 1, tau),  # type: ignore[arg-type]
    "over nothing": lambda: UniqueMinimum(from_u, always_u, sp.S.Zero, tau),  # type: ignore[arg-type]
    "over another size": lambda: UniqueMinimum(from_u, always_u, n, tau),
}


def costs(p: Entries) -> sp.Expr:
    return total((i, j), p(i, j) * S[i, j]) + tau * total((i, j), xlogx(p(i, j)))


def rows(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return sp.exp(-S[x, y] / tau) / total(l, sp.exp(-S[x, l] / tau))


def even(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    return 1 / m


def to_even(p: Entries) -> sp.Expr:
    return tau * total((i, j), kl(p(i, j), 1 / m))


def plan(
    candidate: Entries,
    objective: Callable[[Entries], sp.Expr] = costs,
    factor: sp.Expr = tau,
    over: tuple[Variable, Variable] = (n, m),
) -> UniquePlan:
    return UniquePlan(objective, candidate, *over, factor)


def plans(*objectives: Callable[[Entries], sp.Expr]) -> Callable[[Entries], sp.Expr]:
    calls = count()
    return lambda p: objectives[min(next(calls), len(objectives) - 1)](p)


PLANS: Table = {
    "A6: a plan's objective knows the rival": lambda: plan(
        even, lambda p: to_even(p) + total((i, j), S[i, j] * (p(i, j) - 1 / m) * (p(i, j) - theirs[i, j]))
    ),
    "a plan with the wrong sign": lambda: plan(lambda x, y: sp.exp(S[x, y]) / total(l, sp.exp(S[x, l]))),
    "a plan with the columns normalized": lambda: plan(lambda x, y: sp.exp(-S[x, y] / tau) / total(i, sp.exp(-S[i, y] / tau))),
    "a plan that is constant along the rows' index": lambda: plan(lambda x, y: rows(i, y)),
    "a plan over sizes exchanged": lambda: plan(rows, costs, tau, (m, n)),
    "a plan of mass 2 in each row": lambda: plan(lambda x, y: 2 / m, lambda p: tau * total((i, j), kl(p(i, j), 2 / m))),
    "a plan whose rows sum to 1 on average": lambda: plan(
        lambda x, y: n * v[x] / m, lambda p: tau * total((i, j), kl(p(i, j), n * v[i] / m))
    ),
    "a plan that may be 0": lambda: plan(lambda x, y: theirs[x, y], lambda p: tau * total((i, j), kl(p(i, j), theirs[i, j]))),
    "a stochastic plan that may be 0": lambda: plan(
        lambda x, y: stochastic("O", n, m)[x, y], lambda p: tau * total((i, j), kl(p(i, j), stochastic("O", n, m)[i, j]))
    ),
    "a plan with a factor 0": lambda: plan(even, lambda p: sp.S.Zero, sp.S.Zero),
    "a plan with a factor that may be 0": lambda: plan(even, lambda p: z * total((i, j), kl(p(i, j), 1 / m)), z),
    "a plan with a factor (n − 2)²": lambda: plan(
        even, lambda p: (n - 2) ** 2 * total((i, j), kl(p(i, j), 1 / m)), (n - 2) ** 2
    ),
    "a plan with a factor that depends on the row": lambda: plan(
        even, lambda p: total((i, j), vector("d", n)[i] * kl(p(i, j), 1 / m)), vector("d", n)[i]
    ),
    "a plan with a factor that is > 0 by a hypothesis about one place": lambda: UniquePlan(
        lambda p: sp.Sum(s[j], (j, 1, m)) * total((i, l), kl(p(i, l), 1 / m)),
        even,
        n,
        m,
        sp.Sum(s[j], (j, 1, m)),
        given=(AtLeast(s[j], 0, strict=True),),
    ),
    "a plan for a linear cost": lambda: plan(even, lambda p: total((i, j), p(i, j) * S[i, j])),
    "a plan off by 10⁻⁹": lambda: plan(lambda x, y: rows(x, y) + (1 / m - rows(x, y)) / 10**9),
    "a plan of the weights, not normalized": lambda: plan(
        lambda x, y: T[x, y], lambda p: tau * total((i, j), kl(p(i, j), T[i, j]))
    ),
    "a plan of open sign": lambda: plan(lambda x, y: A[x, y] / total(l, A[x, l])),
    "a plan's objective is undefined somewhere": lambda: plan(even, lambda p: to_even(p) + (w**2 + w) / w),
    "a plan over a range of indices": lambda: UniquePlan(to_even, even, i, m, tau),
}

LOOKING: dict[str, tuple[Make, Make]] = {
    "the objective looks at its argument's kind": (lambda: minimum(always_u, looking), lambda: minimum(always_u, from_u)),
    "the objective looks at its argument's variables": (lambda: minimum(always_u, by_name), lambda: minimum(always_u, from_u)),
    "the objective compares its argument with the candidate": (
        lambda: minimum(always_u, lambda p: 2 * tau if p(l) == u[l] else from_u(p)),
        lambda: minimum(always_u, from_u),
    ),
    "the objective is itself at formulas, and the gap at vectors": (
        lambda: minimum(uniform, lambda p: entropic(uniform) + to_uniform(p) if is_rival(p(l)) else entropic(p)),
        lambda: minimum(uniform, lambda p: entropic(uniform) + to_uniform(p)),
    ),
    "the objective is itself where sizes occur": (
        lambda: minimum(
            uniform, lambda p: entropic(p) if p(l).has(m) and not is_rival(p(l)) else entropic(uniform) + to_uniform(p)
        ),
        lambda: minimum(uniform, lambda p: entropic(uniform) + to_uniform(p)),
    ),
    "the objective answers the first call, and then nothing": (
        lambda: minimum(always_u, turning(from_u, lambda p: sp.S.Zero)),
        lambda: minimum(always_u, from_u),
    ),
    "the objective answers two calls, and then with the opposite": (
        lambda: minimum(always_u, turning(from_u, from_u, lambda p: -from_u(p))),
        lambda: minimum(always_u, from_u),
    ),
    "the candidate changes from call to call": (lambda: minimum(turning_candidate()), lambda: minimum(gibbs)),
    "a plan's objective looks at its argument": (
        lambda: plan(even, lambda p: to_even(p) if is_rival(p(i, j)) else -total((i, j), kl(p(i, j), 1 / m))),
        lambda: plan(even, to_even),
    ),
    "a plan's objective changes from call to call": (
        lambda: plan(even, plans(to_even, lambda p: sp.S.Zero, lambda p: -to_even(p))),
        lambda: plan(even, to_even),
    ),
    "the objective changes from call to call": (
        lambda: minimum(always_u, turning(lambda p: from_u(p) - from_u(p), from_u, lambda p: sp.S.Zero, lambda p: -from_u(p))),
        lambda: minimum(always_u, lambda p: sp.S.Zero),
    ),
    "the objective looks at its argument's type": (
        lambda: minimum(gibbs, by_type),
        lambda: minimum(always_u, lambda p: total(l, kl(p(l), r[l]))),
    ),
    "the slack looks at its argument": (
        lambda: minimum(
            uniform, slack=lambda p: sp.S.Zero if is_rival(p(l)) else entropic(p) - entropic(uniform) - to_uniform(p)
        ),
        lambda: minimum(uniform),
    ),
}

ATTACKS = MINIMA | PLANS


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


@pytest.mark.parametrize("name", LOOKING)
def test_a_function_that_looks_gains_nothing(name: str) -> None:
    """The proved statement, if any, equals the printed one, which an honest author would have written."""
    hostile, honest = (make() for make in LOOKING[name])
    if hostile.prove():
        assert honest.prove()
        assert str(hostile) == str(honest)
        assert _same_sides(hostile, honest)


def _same_sides(one: Relation, other: Relation) -> bool:
    return all(equal(a, b) for a, b in zip(one.sides, other.sides, strict=True))


def test_a_bound_index_outside_of_its_sum_is_named() -> None:
    bound = total(l, s[l]).bound_symbols[0]
    candidate = sp.exp(-s[bound]) / sp.Sum(sp.exp(-s[bound]), (bound, 1, m))
    open_ended = minimum(lambda key: candidate)
    assert "is no name of a variable" in open_ended.explain()
    open_ended.counterexample()  # finds out without an error
