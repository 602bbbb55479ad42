"""Each mutant differs from the statement in one position, and only a certified point or a proof decides its fate."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations.calculus.balls import Point
from derivations.calculus.edits import Edit, edits
from derivations.calculus.functions import derivative, xlogx
from derivations.calculus.sums import alike, delta, total
from derivations.calculus.variables import complementary, coupling, index, interior, positive, scalar, simplex, size, vector
from derivations.judge.mutants import (
    MOST,
    STRICT,
    Fate,
    Mutant,
    Trial,
    _defined,
    _equivalent,
    _far_apart,
    _more,
    _named,
    _searched,
    _some,
    _spread,
    _tied,
    _weaker,
    fate,
    mutants,
    near,
    power,
    sample,
    tried,
)
from derivations.register.catalogue import entries
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    UniqueMinimum,
    UniquePlan,
)
from derivations.relations.further import failure
from derivations.run.power import table, trials

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m)
x, tau, t = scalar("x"), positive("tau"), positive("t")
s, u, p = vector("s", m), vector("u", m), simplex("p", m)


def softmax(i: sp.Expr) -> sp.Expr:
    return sp.exp(s[i] / tau) / total(l, sp.exp(s[l] / tau))


MEAN = total(l, softmax(l) * u[l])
GRADIENT = softmax(j) * (u[j] - MEAN) / tau
STATEMENT = Equation(derivative(tau * MEAN, s[j]), tau * GRADIENT)


def sorts(expr: sp.Expr) -> set[str]:
    return {edit.sort for edit in edits(expr, [m, tau, j, k])}


@pytest.mark.parametrize(
    ("expr", "sort", "name"),
    [
        (x + tau, "sign", "the sign of all of it"),
        (x + tau, "factor", "twice as much"),
        (s[j] / tau, "scalar", "tau² for tau throughout"),
        (s[j] / tau, "size", "divided by m"),
        (s[j] * u[k], "index", "j and k are exchanged"),
        (s[j] * u[k], "index", "k for j in s[j]"),
        (total(l, s[l]) * u[j], "bound", "no sum over l, but j, in Σ_l(s[l])"),
        (total(l, s[l]), "mean", "a mean over l for Σ_l(s[l])"),
        (u[j] - total(l, u[l]), "term", "-Σ_l(u[l]) is lost"),
        (u[j] - total(l, u[l]), "sign", "the sign of u[j]"),
        (x**2 + 1, "exponent", "x is not squared"),
        (1 / tau + x, "exponent", "the exponent -2 for -1 of tau"),
        (sp.exp(x) + 1, "function", "x for exp(x)"),
        (sp.exp(tau) + 1, "function", "log(tau) for exp(tau)"),
        (sp.log(tau) + 1, "function", "exp for log in log(tau)"),
        (xlogx(p[j]), "function", "exp for log in xlogx(p[j])"),
        (delta(j, k) - s[j], "delta", "δ[j,k] is 1"),
        (s[j] / tau + 1, "lost", "tau is lost once"),
        (sp.S.Zero, "constant", "1 for 0"),
        (sp.oo, "constant", "0 for oo"),
    ],
)
def test_each_sort_of_edit(expr: sp.Expr, sort: str, name: str) -> None:
    assert (sort, name) in {(edit.sort, edit.name) for edit in edits(expr, [m, tau, j, k])}


def test_an_index_is_only_replaced_by_one_of_its_range() -> None:
    other = index("i", n)
    assert not [edit for edit in edits(s[j], [m, n, j, other]) if edit.sort in ("index", "bound")]


def test_mutants_differ_from_the_statement_and_from_each_other() -> None:
    all_mutants = mutants(STATEMENT)
    written = [STATEMENT.right, *(mutant.edited for mutant in all_mutants)]
    assert len(all_mutants) == MOST
    assert len({mutant.name for mutant in all_mutants}) == MOST
    assert not [(a, b) for i, a in enumerate(written) for b in written[i + 1 :] if alike(a, b)]
    assert len({edit.sort for edit in edits(STATEMENT.right, STATEMENT.variables())}) >= 8


def test_mutants_are_the_same_each_time() -> None:
    again = mutants.__wrapped__(STATEMENT)
    assert [mutant.name for mutant in again] == [mutant.name for mutant in mutants(STATEMENT)]


def test_a_true_statement_refutes_all_that_is_not_equal() -> None:
    fates = tried(STATEMENT)
    assert STATEMENT.prove()
    assert power(fates) == 1
    assert {trial.fate for trial in fates} <= {Fate.REFUTED, Fate.EQUIVALENT}
    assert all(trial.detail for trial in fates)


def test_an_equal_mutant_is_proved_and_not_counted() -> None:
    symmetric = Equation(total(l, u[l]) * s[j] * s[k], s[j] * s[k] * total(l, u[l]) * 1, about=(s[j],))
    swapped = next(mutant for mutant in mutants(symmetric, "right", 40) if mutant.name == "k for j in s[j]")
    assert fate(symmetric, swapped).fate is Fate.REFUTED
    same = Mutant("the same", Equation(symmetric.left, s[k] * total(l, u[l]) * s[j]), s[k] * total(l, u[l]) * s[j])
    assert fate(symmetric, same) == Trial("the same", Fate.EQUIVALENT, "the same in normal form")
    assert power([fate(symmetric, same)]) is None


def test_mutants_undefined_everywhere_are_not_counted() -> None:
    nowhere = Mutant("nowhere", Equation(x, sp.log(-1 - x**2), about=(x,)), sp.log(-1 - x**2))
    assert fate(Equation(x, x, about=(x,)), nowhere).fate is Fate.UNDEFINED


def test_an_undecided_mutant_lowers_the_power() -> None:
    assert power([Trial("a", Fate.REFUTED), Trial("b", Fate.UNDECIDED), Trial("c", Fate.EQUIVALENT)]) == 0.5
    assert power([]) is None


# ── inequalities ────────────────────────────────────────────────────────────────────────────────────────────────────


SQUARES = AtLeast(t**2 + tau**2, 2 * t * tau, because=(t - tau) ** 2)


def test_an_inequality_is_only_made_stronger() -> None:
    assert not {"the sign of all of it", "half as much"} & {mutant.name for mutant in mutants(SQUARES)}
    assert power(tried(SQUARES)) == 1


def test_equality_refutes_strictness() -> None:
    strict = mutants(SQUARES)[-1]
    assert strict.name == STRICT
    assert fate(SQUARES, strict).fate is Fate.REFUTED
    apart = AtLeast(x**2 + 1, 0, because=x**2 + 1)
    assert fate(apart, mutants(apart)[-1]) == Trial(STRICT, Fate.EQUIVALENT, "provable too")


def test_equality_of_irrational_numbers_refutes_strictness() -> None:
    log_sum = AtLeast(sp.log(total(l, sp.exp(s[l]))), total(l, p[l] * s[l]) - total(l, xlogx(p[l])))
    strict = next(mutant for mutant in mutants(log_sum) if mutant.name == STRICT)
    result = fate(log_sum, strict)
    assert result.fate is Fate.REFUTED
    assert "m = 1" in result.detail


def test_a_tight_point_is_searched_for() -> None:
    right = 2 * t * tau + sp.Rational(1, 10**9)
    assert fate(SQUARES, Mutant("a little more", AtLeast(t**2 + tau**2, right), right)).fate is Fate.REFUTED


def test_weaker_bounds_are_proved() -> None:
    half = Mutant("half", AtLeast(tau**2, tau**2 / 2), tau**2 / 2)
    assert fate(AtLeast(tau**2, tau**2, because=sp.S.Zero), half).fate is Fate.EQUIVALENT


def test_a_conclusion_that_is_no_combination_of_its_premises_is_not_proved() -> None:
    """The mutant may hold at every sample point and be another form of the combination of its premises."""
    premise, far = AtLeast(x, t), sp.Rational(1, 10**9)

    def concluded(right: sp.Expr) -> Follows:
        return Follows((premise,), AtLeast(2 * x, right), (sp.S(2),), about=(tau,))

    statement, shifted, written = concluded(2 * t), 2 * t - far, (t + 1) ** 2 - t**2 - 1
    assert statement.prove()
    assert fate(statement, Mutant("shifted", concluded(shifted), shifted)).detail == "weaker"
    assert fate(statement, Mutant("in other words", concluded(written), written)).fate is Fate.EQUIVALENT
    left_out = 2 * t - (x - t) ** 2 * tau
    assert not concluded(left_out).prove()
    assert fate(statement, Mutant("a square is lost", concluded(left_out), left_out)).fate is not Fate.REFUTED


def test_the_left_side_is_edited_if_the_right_one_is_computed() -> None:
    all_mutants = mutants(SQUARES, "left")
    assert all_mutants
    assert all(mutant.relation.sides[1] == SQUARES.right for mutant in all_mutants)
    assert {fate(SQUARES, mutant).fate for mutant in all_mutants} <= {Fate.REFUTED, Fate.EQUIVALENT}


# ── other statements ────────────────────────────────────────────────────────────────────────────────────────────────


b = interior("b", m)
row = index("i", n)
S = vector("S", n, m)


def entropic(q: object) -> sp.Expr:
    return total(l, tau * xlogx(q(l)) - q(l) * s[l])  # type: ignore[operator]


@pytest.mark.parametrize(
    "relation",
    [
        Limit(t * x / (1 + t), t, sp.oo, x),
        Limit(1 / t, t, sp.S.Zero, sp.oo),
        Expansion(sp.exp(t * x), 1 + t * x, t, 1),
        UniqueMinimum(entropic, softmax, m, tau),
        UniquePlan(
            lambda q: total((row, l), tau * xlogx(q(row, l)) - q(row, l) * S[row, l]),
            lambda i, j: sp.exp(S[i, j] / tau) / total(l, sp.exp(S[i, l] / tau)),
            n,
            m,
            tau,
        ),
        Follows((AtLeast(x, tau),), AtLeast(2 * x, 2 * tau), (sp.Integer(2),)),
    ],
    ids=lambda relation: type(relation).__name__,
)
def test_every_sort_of_statement_has_mutants_that_die(relation: Relation) -> None:
    fates = tried(relation)
    assert fates
    assert power(fates) == 1


@pytest.mark.parametrize("relation", [Differs(tau, -tau), Fails(Differs(x, x + 1))])
def test_a_statement_without_a_derived_side_has_no_mutants(relation: Relation) -> None:
    assert mutants(relation) == ()


def test_masses_and_multipliers_stay_in_their_domains() -> None:
    mu = complementary("mu", p)
    a, c = simplex("a", m), simplex("c", n)
    plan = coupling("P", a, c)
    for relation in (AtLeast(p[j], p[j] - mu[j], because=mu[j]), AtLeast(a[j], plan[j, row])):
        for trial in tried(relation):  # raises NotAdmittedError for a point outside
            assert trial.fate in Fate


def test_mutants_of_a_claim_and_their_table() -> None:
    by_claim = {"eot.46": trials(entries()["eot.46"])}
    assert power(by_claim["eot.46"]) == 1
    shown = table(by_claim)
    assert shown.row_count == 2
    assert trials(next(entry for entry in entries().values() if not entry.twins)) == ()


# ── one by one ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("choices", "order"), [("", ""), ("a", "a"), ("ab", "ab"), ("abcdefg", "agdbcef")])
def test_distant_edits_come_first(choices: str, order: str) -> None:
    assert "".join(_far_apart(list(choices))) == order  # type: ignore[arg-type, misc]


def test_edits_of_each_sort_take_turns() -> None:
    choices = [Edit(sort, name, (), x) for sort, name in ("a1", "a2", "b1", "a3", "c1", "c2")]
    assert [edit.sort + edit.name for edit in _spread(choices)] == ["a1", "b1", "c1", "a3", "c2", "a2"]


def test_names_differ() -> None:
    assert [name for name, _ in _named([("a", x), ("b", x), ("a", t)])] == ["a (1)", "b", "a (2)"]


def test_of_many_points_the_middle_and_the_ends_are_tried() -> None:
    points: list[Point] = [{x: n} for n in range(5)]
    assert [[point[x] for point in _some(points[:n])] for n in (5, 2, 1, 0)] == [[2, 0, 4], [1, 0], [0], []]


def test_points_near_those_of_the_author() -> None:
    relation = Follows((AtLeast(x, tau),), AtLeast(2 * x, 2 * tau), (sp.Integer(2),))
    assert list(near(relation, [{}, {t: 1}])) == []
    neighbours = list(near(relation, [{x: 1}, {x: 5, tau: 3}]))
    assert {(point[x], point[tau]) for point in neighbours if point[x] == 5} == {(5, 3)}
    assert all(point[tau] <= point[x] == 1 for point in neighbours if point[x] != 5)
    assert 1 < sum(point[x] == 1 for point in neighbours) <= 12
    assert len(list(near(AtLeast(x, t), [{x: 3}]))) == 12


def test_points_come_from_the_middle_to_the_corners_with_few_indices_each() -> None:
    points = sample(Equation(s[j] * s[k], x))
    entries_drawn = {id(point[s.label]) for point in points}
    assert all(sum(id(point[s.label]) == one for point in points) <= 3 for one in entries_drawn)
    assert points[0][x] != 0
    implied = Follows((AtLeast(x, tau),), AtLeast(2 * x, 2 * tau), (sp.Integer(2),))
    assert all(point[x] >= point[tau] for point in sample(implied))


CROSS = AtLeast(t**2 + x**2, 2 * t * x, because=(t - x) ** 2, about=(tau,))
TANGENT = AtLeast(x**2, 2 * t * x - t**2, because=(x - t) ** 2)


@pytest.mark.parametrize(
    ("relation", "new", "reason"),
    [
        (CROSS, 2 * t * x - tau, "weaker"),
        (CROSS, -(x**2), "provable too"),
        (CROSS, t * x, "weaker: a share of what is at most something ≥ 0"),
        (AtLeast(m * (t**2 + x**2), 2 * m * t * x), 2 * t * x, "weaker: a share of what is at most something ≥ 0"),
        (TANGENT, 4 * t * x - 4 * t**2, "the statement itself for another t"),
        (TANGENT, 2 * t**2 * x - t**4, "the statement itself for another t"),
        (TANGENT, 6 * t * x - 9 * t**2, ""),
        (TANGENT, 2 * x / t - 1 / t**2, ""),
        (CROSS, 3 * t * x, ""),
        (CROSS, t * x * 4, ""),
        (AtLeast(x**2 + t - t, 2 * tau * x - tau**2, given=(AtLeast(tau, 1),)), 4 * tau * x - 4 * tau**2, ""),
    ],
    ids=str,
)
def test_how_an_edited_right_side_follows(relation: Relation, new: sp.Expr, reason: str) -> None:
    assert _weaker(relation, relation.sides[1], new) == reason


def test_a_larger_left_side_is_weaker() -> None:
    assert _more(CROSS, CROSS.left, CROSS.left + tau) == "weaker"
    assert _more(CROSS, CROSS.left, CROSS.left - tau) == ""
    larger = Mutant("more", AtLeast(CROSS.left + tau, CROSS.right), CROSS.left + tau, "left")
    assert fate(CROSS, larger) == Trial("more", Fate.EQUIVALENT, "weaker")


def test_a_strictly_positive_gap_makes_strictness_equivalent() -> None:
    stricter = [AtLeast(x, t, because=because).stricter() for because in (x**2 + 1, x**2, None)]
    assert stricter == [AtLeast(x, t, because=because, strict=True) for because in (x**2 + 1, None, None)]
    assert AtLeast(x, t, strict=True).stricter() is None
    assert Equation(x, t).stricter() is None


def test_both_sides_must_be_defined() -> None:
    point: Point = {x: 0, t: 2}
    assert _defined(Equation(x, t), point)
    assert not _defined(Equation(1 / x, t), point)
    assert not _defined(Equation(t, sp.log(x)), point)
    assert _defined(Limit(1 / x, t, sp.oo, x), point)
    assert _defined(Equation(sp.oo, t), point)
    assert not _defined(Limit(t, t, sp.oo, 1 / x), point)


def test_an_equality_at_small_sizes_is_detected() -> None:
    strict = AtLeast(total(l, s[l] ** 2), 0, strict=True)
    starts: list[Point] = [{m: 2, s.label: [1, 1]}, {m: 1, s.label: [1]}, {m: 1, s.label: [0]}]
    assert _tied(strict, starts) == "at {'m': 1, 's': (0,)}: both sides are 0"
    assert _tied(strict, starts[:2]) == ""
    assert _tied(AtLeast(sp.log(t - 1), sp.log(t - 1), strict=True), [{t: 1}]) == ""


def test_a_mutant_that_nothing_decides_is_undecided() -> None:
    hard = AtLeast(x**4 + t**4 + 1, x * t - sp.Rational(1, 2))
    result = fate(AtLeast(x**4 + t**4 + 1, -1), Mutant("hard", hard, hard.right))
    assert (result.fate, result.detail) == (Fate.UNDECIDED, str(hard))


def test_the_search_descends_to_a_failure_where_the_hypotheses_hold() -> None:
    more = AtLeast(t**2 + tau**2, 2 * t * tau + sp.Rational(1, 10**6))
    assert _searched(more, [{t: 5, tau: 1}]).startswith("at t = ")
    apart_ = replace(more, given=(AtLeast(t, 2), AtLeast(1, tau)))
    assert _searched(apart_, [{t: 5, tau: 1}]) == ""


def test_only_strictness_is_proved_by_the_old_proof() -> None:
    apart = AtLeast(x**2 + 1, 0, because=x**2 + 1)
    assert _equivalent(apart, Mutant("more", AtLeast(x**2 + 1, 2), sp.Integer(2))) == ""
    assert _equivalent(apart, Mutant(STRICT, replace(apart, strict=True, because=None), sp.S.Zero)) == "provable too"
    unproved = AtLeast(t + x**2, 0)
    assert _equivalent(unproved, Mutant(STRICT, replace(unproved, strict=True), sp.S.Zero)) == "provable too"
    assert _equivalent(SQUARES, Mutant(STRICT, replace(SQUARES, strict=True, because=None), SQUARES.right)) == ""


def test_a_failure_outside_of_the_domains_is_none() -> None:
    false = AtLeast(tau, 2, strict=True)
    assert failure(false, {tau: 1}) is not None
    assert failure(false, {tau: 3}) is None
    with pytest.raises(ValueError, match="tau"):
        failure(false, {tau: -1})


def test_a_limit_in_other_words_is_proved_too() -> None:
    written = Limit(2 * t / (1 + t**2), t, sp.oo, 0)
    assert _equivalent(Limit(1 / (1 + t), t, sp.oo, 0), Mutant("other", written, written.expr, "left")) == "provable too"
