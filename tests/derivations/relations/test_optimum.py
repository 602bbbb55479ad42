"""Minimizers: the rivals that are tried, incomplete proofs, and better rivals as witnesses."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import pytest
import sympy as sp
from flint import arb, fmpq

from derivations.calculus.admission import NotAdmittedError
from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.powers import bregman
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import index, interior, positive, scalar, simplex, size, vector
from derivations.domains import Nonnegative, Positive
from derivations.relations import AtLeast, Entry, UniqueMaximum, UniqueMinimum, UniquePlan, optimum
from derivations.relations.rivals import feasible_near, plans_near

m, n = size("m"), size("n")
j, l, i = index("j", m), index("l", m), index("i", n)  # noqa: E741
x, y, tau, z = scalar("x"), positive("y"), positive("tau"), scalar("z", Nonnegative)
s, u, r, S, t = vector("s", m), interior("u", m), simplex("r", m), vector("S", n, m), vector("t", n, kind=Positive)
one, two = sp.S.One, sp.Integer(2)
F = Fraction


def balls(*values: Fraction) -> list[arb]:
    return [arb(fmpq(value.numerator, value.denominator)) for value in values]


# ── rivals ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def moves(start: list[Fraction], shares: list[Fraction], pairs: list[tuple[int, int]]) -> list[list[Fraction]]:
    """Points in which each entry gives a share to another one."""
    points = []
    for share in shares:
        for giver, taker in pairs:
            points.append(
                [
                    entry * (1 - share) if at == giver else entry + share * start[giver] if at == taker else entry
                    for at, entry in enumerate(start)
                ]
            )
    return points


def test_rivals_of_two_entries() -> None:
    both, coarse = [(0, 1), (1, 0)], [F(1, 2), F(1, 8), F(1, 64)]
    tried = list(feasible_near(balls(F(1, 3), F(2, 3))))
    assert tried == [
        [1, 0],
        [0, 1],
        [F(1, 2), F(1, 2)],
        *moves([F(3, 8), F(5, 8)], coarse, both),
        *moves([F(21, 64), F(43, 64)], coarse, both),
        *moves([F(333333, 10**6), F(666667, 10**6)], coarse, both),
        *moves([F(333333333333333, 10**15), F(666666666666667, 10**15)], [F(1, 10**4), F(1, 10**8)], both),
    ]


def test_rivals_of_four_entries() -> None:
    start, every = [F(1, 8), F(1, 8), F(1, 4), F(1, 2)], list(permutations(range(4), 2))
    tried = list(feasible_near(balls(*start)))
    neighbours = [pair for pair in every if set(pair) not in ({0, 2}, {1, 3})]
    assert tried[:5] == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [F(1, 4)] * 4]
    assert tried[5:] == 3 * moves(start, [F(1, 2), F(1, 8), F(1, 64)], every) + moves(
        start, [F(1, 10**4), F(1, 10**8)], neighbours
    )


@pytest.mark.parametrize(
    ("entries", "count", "near"),
    [
        ([arb("nan"), arb(1)], 3, None),  # an undefined point has no neighbours
        ([arb(1), arb("nan")], 3, None),
        (balls(F(0), F(0)), 3, None),  # nor near no mass at all
        (balls(F(-1), F(2)), 25, [F(0), F(1)]),
        (balls(F(2), F(2)), 25, [F(3, 4), F(1, 4)]),  # mass 4 is made 1
        (balls(F(1)), 2, None),
        (balls(F(1, 10), F(0)), 25, [F(1, 2), F(1, 2)]),  # one eighth, and nothing else
        (balls(F(1, 4), F(1, 4), F(1, 2)), 3 + 1 + 9 * 6 + 2 * 6, None),  # of three, all are neighbours
    ],
    ids=str,
)
def test_rivals_of_a_point_outside_the_simplex(entries: list[arb], count: int, near: list[Fraction] | None) -> None:
    tried = list(feasible_near(entries))
    assert len(tried) == count
    assert all(sum(rival) == 1 and min(rival) >= 0 for rival in tried)
    assert near is None or near in tried[3:]


def test_rivals_of_a_plan_go_row_by_row() -> None:
    rows = [balls(F(1, 4), F(3, 4)), balls(F(1, 2), F(1, 2))]
    tried = list(plans_near(rows))
    assert tried[:3] == [[[1, 0], [1, 0]], [[0, 1], [0, 1]], [[F(1, 2)] * 2] * 2]
    assert [list(each) for each in zip(*tried, strict=True)] == [list(feasible_near(row)) for row in rows]
    assert len(list(plans_near([balls(F(1, 2), F(1, 2)), [arb("nan"), arb(1)]]))) == 3


# ── incomplete problems ─────────────────────────────────────────────────────────────────────────────────────────────


def to_u(p: Entry) -> sp.Expr:
    return tau * total(l, kl(p(l), u[l]))


def at_u(key: sp.Expr) -> sp.Expr:
    return u[key]


def uniform(key: sp.Expr) -> sp.Expr:
    return 1 / m


def minimum(
    candidate: Entry = at_u, objective: Callable[[Entry], sp.Expr] = to_u, factor: sp.Expr = tau, **more: object
) -> UniqueMinimum:
    return UniqueMinimum(objective, candidate, m, factor, **more)  # type: ignore[arg-type]


def spare(p: Entry) -> sp.Expr:
    return total(l, z * p(l))


PROVED = {
    "a divergence": minimum(),
    "and a constant": minimum(objective=lambda p: to_u(p) + x),
    "and a slack": minimum(objective=lambda p: to_u(p) + total(l, (r[l] + p(l)) * z), slack=lambda p: sp.S.Zero),
    "by α": minimum(lambda key: r[key], lambda p: total(l, bregman(p(l), r[l], two)), one, alpha=two),
    "whose sign shows in normal form": minimum(
        lambda key: u[key] * (y + 1) - u[key] * y, lambda p: to_u(p) * (y + 1) - to_u(p) * y
    ),
    "at a maximum": UniqueMaximum(lambda p: -to_u(p), at_u, m, tau),
    "a plan of one temperature": UniquePlan(lambda p: tau * total((i, l), kl(p(i, l), u[l])), lambda a, b: u[b], n, m, tau),
    "a plan whose factor is a number of Python": UniquePlan(
        lambda p: total((i, l), kl(p(i, l), u[l])), lambda a, b: u[b], n, m, 1
    ),
    "a vector of factors": UniquePlan(lambda p: total(i, t[i] * total(l, kl(p(i, l), u[l]))), lambda a, b: u[b], n, m, t),
    "row by row": UniquePlan(lambda p: total(i, t[i] * total(l, kl(p(i, l), u[l]))), lambda a, b: u[b], n, m, lambda a: t[a]),
}


@pytest.mark.parametrize("name", PROVED)
def test_is_proved(name: str) -> None:
    assert PROVED[name].explain() == ""
    assert PROVED[name].refute() is None


LACKING = {
    "another objective": (
        minimum(objective=lambda p: to_u(p) + total(l, s[l] * p(l))),
        "objective(rival) − objective(candidate) is not the divergence: they differ by ",
    ),
    "another factor": (
        minimum(factor=2 * tau),
        "objective(rival) − objective(candidate) is not the divergence: they differ by ",
    ),
    "a factor that may be 0": (minimum(factor=z, about=(z,)), "factor: expected > 0, no sign of z"),
    "a slack that may be negative": (minimum(slack=lambda p: -spare(p), about=(z,)), "slack: expected ≥ 0, no sign of "),
    "a slack that is not there": (
        minimum(slack=spare, about=(z,)),
        "objective(rival) − objective(candidate) is not the divergence",
    ),
    "a factor of another variable": (minimum(factor=positive("o")), "factor, slack: expected variables of the problem, got o"),
    "two masses": (minimum(lambda key: 2 * u[key]), "it is not shown that the candidate has total mass 1"),
    "no sign": (minimum(lambda key: u[key] + s[key] - total(l, s[l]) / m, lambda p: to_u(p)), None),
    "a candidate that may be 0": (minimum(lambda key: r[key], lambda p: total(l, (p(l) - r[l]) ** 2) * tau), None),
    "no rival": (minimum(objective=lambda p: x), "both sides are the same expression"),
    "a derivative by the rival": (
        minimum(objective=lambda p: to_u(p) + derivative(x**2 * p(1), x)),
        "objective: expected no derivative of what depends on the rival",
    ),
    "a plan whose factor depends on the column": (
        UniquePlan(lambda p: total((i, l), S[i, l] * p(i, l)), lambda a, b: u[b], n, m, lambda a: r[l] + tau),
        None,
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_incomplete_problems(name: str) -> None:
    problem, message = LACKING[name]
    assert problem.explain().startswith(message) if message else problem.explain()


def test_a_slack_is_added_to_the_divergence() -> None:
    problem, plain = minimum(slack=spare), minimum()
    assert normal(problem.gap) == normal(plain.gap) + z
    assert normal(problem.spare) == z  # as the rival has mass 1
    assert equal(plain.gap, tau * total(l, kl(plain.base[l], u[l])))


def test_a_derivative_beside_the_rival_is_allowed() -> None:
    assert minimum(objective=lambda p: to_u(p) + derivative(x**3, x)).explain() == ""
    assert minimum(objective=lambda p: to_u(p) + derivative(x * p(1), x)).counterexample() is None


def test_candidates_of_up_to_four_entries_are_tried() -> None:
    assert {point[m] for point in minimum().points()} == {1, 2, 3, 4}
    sizes = {(point[n], point[m]) for point in PROVED["row by row"].points()}
    assert {max(pair) for pair in sizes} == {1, 2, 3, 4}


def test_variables_of_hypotheses_are_variables_of_the_problem() -> None:
    assert x not in minimum().variables()
    assert x in minimum(given=(AtLeast(x, 0),)).variables()


def test_a_problem_is_general_if_its_sizes_are_symbols() -> None:
    half = lambda key: sp.Rational(1, 2)  # noqa: E731
    assert minimum().general()
    assert not UniqueMinimum(lambda p: p(1) ** 2 + p(2) ** 2, half, two, tau).general()  # type: ignore[arg-type]
    assert not minimum(objective=lambda p: to_u(p) + vector("fixed", two)[1]).general()
    assert not UniquePlan(lambda p: p(1, 1) ** 2, lambda a, b: sp.S.Half, n, two, tau).general()  # type: ignore[arg-type]


# ── witnesses ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_better_rival_is_shown() -> None:
    wrong = minimum(uniform, lambda p: total(l, s[l] * p(l)) + total(l, xlogx(p(l))) * 0, at={m: 2, s.label: [1, 2]})
    witness = wrong.refute()
    assert witness is not None
    assert (witness.left, witness.sign, witness.right) == ("1.50000000000", ">", "1.00000000000")
    assert witness.about == "the objective, q is better"
    highest = UniqueMaximum(lambda p: total(l, s[l] * p(l)), uniform, m, tau, at={m: 2, s.label: [1, 2]}).refute()
    assert highest is not None
    assert (highest.left, highest.sign, highest.right) == ("1.50000000000", "<", "2.00000000000")


def test_a_rival_that_is_as_good_is_shown() -> None:
    witness = minimum(uniform, lambda p: total(l, p(l) ** 0 * p(l)), at={m: 2}).refute()
    assert witness is not None
    assert witness.sign == "="
    tied = minimum(uniform, lambda p: total(l, s[l] * p(l)), at={m: 2, s.label: [1, 1]}).refute()
    assert tied is not None
    assert (tied.sign, tied.about) == ("=", "the objective, q is as good")


def test_the_candidate_itself_is_no_rival() -> None:
    assert minimum(uniform, lambda p: total(l, (p(l) - 1 / m) ** 2), one, alpha=two).refute() is None


def test_a_rival_must_be_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimum, "feasible_near", lambda entries: iter([[F(-1), F(2)]]))
    with pytest.raises(NotAdmittedError):
        minimum(uniform, lambda p: total(l, s[l] * p(l)), at={m: 2, s.label: [2, 1]}).refute()


def test_a_rival_where_the_objective_has_no_value_is_passed_over() -> None:
    problem = minimum(uniform, lambda p: -total(l, sp.log(p(l))), at={m: 2})
    assert problem.refute() is None


@pytest.mark.parametrize(
    ("candidate", "what", "sign", "right"),
    [
        (lambda key: 2 * u[key], "the candidate's total mass", "≠", "1.00000000000"),
        (lambda key: s[key], "an entry of the candidate", "<", "0"),
    ],
    ids=["mass", "sign"],
)
def test_a_candidate_outside_the_simplex_is_refuted(candidate: Entry, what: str, sign: str, right: str) -> None:
    witness = minimum(candidate, about=(s[1],), at={m: 2, s.label: [2, -1]}).refute()
    assert witness is not None
    assert (witness.about, witness.sign, witness.right) == (what, sign, right)


def test_a_tie_along_two_entries_is_enough() -> None:
    """Rival and candidate both have a third entry."""
    witness = minimum(objective=lambda p: (p(3) - sp.S.Half) ** 2, at={m: 3, u.label: [F(1, 4), F(1, 4), F(1, 2)]}).refute()
    assert witness is not None
    assert witness.about == "the objective, q is as good"


def test_a_wrong_plan_is_shown() -> None:
    at = {n: 2, m: 2, S.label: [[0, 0], [1, 2]]}
    costs = lambda p: total((i, l), S[i, l] * p(i, l))  # noqa: E731
    witness = UniquePlan(costs, lambda a, b: 1 / m, n, m, one, at=at).refute()
    assert witness is not None
    assert (witness.left, witness.sign, witness.right) == ("1.50000000000", ">", "1.00000000000")
    heavy = UniquePlan(costs, lambda a, b: 2 / m, n, m, one, at=at).refute()
    assert heavy is not None
    assert (heavy.left, heavy.about) == ("2.00000000000", "the mass of a row of the candidate")


def test_letters_that_an_author_uses_are_primed() -> None:
    clash = UniqueMinimum(lambda p: total(l, kl(p(l), u[l])) + scalar("q"), at_u, m, one)
    assert "q′" in str(clash)
    assert "q′′" in str(UniqueMinimum(lambda p: total(l, kl(p(l), u[l])) + scalar("q") + scalar("q′"), at_u, m, one))
    assert str(clash).startswith("u[j] is the only minimizer of ")
    assert str(PROVED["at a maximum"]).startswith("u[j] is the only maximizer of -tau*Σ_")
