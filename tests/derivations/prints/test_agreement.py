"""Each way in which a printed formula can agree with a step of a derivation, and the nearest ones in which it must not."""

from dataclasses import replace

import pytest
import sympy as sp

from derivations import (
    AtLeast,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    index,
    interior,
    positive,
    scalar,
    simplex,
    size,
    total,
    vector,
    xlogx,
)
from derivations.prints import tables
from derivations.prints.agreement import check, defines_otherwise
from derivations.prints.matching import Match, by_the_table, shown
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.records.prints import Check, Standing
from derivations.relations import Differs, Relation, StrictUnlessEqual, UniqueMinimum, UniquePlan

TABLE = Notation(
    {
        "m": "size",
        "j, k": "index m",
        "x, y, z, v": "real",
        r"\tau, c": "positive",
        "s, u": "vector m",
        "p": "simplex m",
        "a, b": "positive vector m",
        r"\ell": "= x + y",
        r"\pi_j": r"= e^{s_j/\tau} / \sum_k e^{s_k/\tau}",
    },
    {r"\tau": "tau"},
)
KNOWN = tables.known_names(TABLE)

m, n = size("m"), size("n")
i, S = index("i", n), vector("S", n, m)
j, k = index("j", m), index("k", m)
x, y, z, v, tau, c = scalar("x"), scalar("y"), scalar("z"), scalar("v"), positive("tau"), positive("c")
s, u, p, w = vector("s", m), vector("u", m), simplex("p", m), interior("w", m)
LENGTH, OTHER = sp.sqrt(total(j, s[j] ** 2)), sp.sqrt(total(j, u[j] ** 2))


def check_of(latex: str, *steps: Relation, defines: bool = False, before: str | None = None) -> Check:
    return check(latex, TABLE, KNOWN, steps, defines=defines, before=before)


def pi(key: sp.Expr) -> sp.Expr:
    return sp.exp(s[key] / tau) / total(k, sp.exp(s[k] / tau))


def entropic(q: object) -> sp.Expr:
    return total(k, tau * xlogx(q(k)) - q(k) * s[k])  # type: ignore[operator]


def negated(q: object) -> sp.Expr:
    return total(k, tau * xlogx(q(k)) + q(k) * s[k])  # type: ignore[operator]


SOLVED = UniqueMinimum(entropic, pi, m, tau)
PLANNED = UniquePlan(
    lambda q: total((i, k), tau * xlogx(q(i, k)) - q(i, k) * S[i, k]),
    lambda i, k: sp.exp(S[i, k] / tau) / total(j, sp.exp(S[i, j] / tau)),
    n,
    m,
    tau,
)
POTENTIAL = tau * sp.log(total(k, sp.exp(s[k] / tau)))
MINIMUM = r"\arg\min_{p\in\Delta^{m-1}} \{\tau \sum_k p_k \log p_k - \sum_k p_k s_k\}"
LEAST = MINIMUM.replace(r"\arg", "")
AGREES, DIFFERS, APART, UNREAD = Standing
X1 = Fails(Equation(x, 0, at={x: 1}))

CASES = [
    # equations: side by side, in either order and with either sign
    (r"x = y + z", [Equation(x, y + z)], AGREES, "the statement (step 1), both sides, in normal form"),
    (r"y + z = x", [Equation(x, y + z)], AGREES, "both sides"),
    (r"-x = -y - z", [Equation(x, y + z)], AGREES, "both sides"),
    (r"-y - z = -x", [Equation(x, y + z)], AGREES, "both sides"),
    (r"x = y + z", [Equation(x, y + z), Equation(x, z)], AGREES, "step 1, both sides"),
    (r"x = y - z", [Equation(x, y + z)], DIFFERS, "one side is that of the derivation, the other is not"),
    (r"-x = y + z", [Equation(x, y + z)], DIFFERS, " ≠ "),
    (r"e^x = \tau e^y", [Equation(x, y + sp.log(tau))], AGREES, "the logarithms of both sides"),
    (r"e^x = 2 \tau e^y", [Equation(x, y + sp.log(tau))], DIFFERS, "as read, it fails"),
    (r"x - y = z", [Equation(x, y + z)], AGREES, "the difference of the sides, in normal form"),
    (r"x - y = z", [Equation(tau * x, tau * y + tau * z)], AGREES, "the difference of the sides, in normal form"),
    (r"x - y = z", [Equation(v * x, v * y + v * z)], DIFFERS, "as read, it fails"),
    (r"y + z - x = 0", [Equation(x, y + z)], AGREES, "the difference of the sides, in normal form"),
    (r"x \sum_k p_k = y", [Equation(x, y)], AGREES, "both sides"),
    (r"x - y = -z", [Equation(x, y + z)], DIFFERS, "as read, it fails"),
    (r"x z = y \tau", [Equation(x / tau, y / z)], AGREES, "the ratio of the sides, in normal form"),
    (r"x \tau = y z", [Equation(x / tau, y / z)], DIFFERS, "as read, it fails"),
    (r"x = y", [Equation(x, y), Equation(x, y)], AGREES, "the statement (step 2)"),
    (r"x = 1", [Equation(x, 1)], AGREES, "both sides"),
    (r"1 = 1", [Equation(total(j, p[j]), 1)], APART, "the table makes"),
    (r"\sum_k p_k = 1", [Equation(total(j, p[j]), 1)], AGREES, "both sides"),
    (r"\sum_k p_k = 1", [Equation(total(j, pi(j)), 1)], AGREES, "proved as read"),
    # inequalities: the difference, up to a positive factor, or that of squared lengths
    (r"x \ge y", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"y \le x", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"x - y \ge 0", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"\tau^2 x \ge \tau^2 y", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"x/\tau^2 \ge y/\tau^2", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"\tau x \ge \tau y", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"x/\tau \ge y/\tau", [AtLeast(x, y)], AGREES, "the difference of the sides, in normal form"),
    (r"\tau^3 x \ge \tau^3 y", [AtLeast(x, y)], APART, "no step states it"),
    (r"y \ge x", [AtLeast(x, y)], DIFFERS, "fails"),
    (r"x > y", [AtLeast(x, y)], DIFFERS, "fails"),
    (r"x > y", [AtLeast(x, y, strict=True)], AGREES, "the difference of the sides, in normal form"),
    (r"x \ge y", [AtLeast(x, y, strict=True)], AGREES, "the difference of the sides, in normal form"),
    (r"\|s\| \ge \|u\|", [AtLeast(LENGTH, OTHER)], AGREES, "the difference of the sides, in normal form"),
    (r"\|s\| \ge \|u\|", [AtLeast(LENGTH**2, OTHER**2)], AGREES, "the difference of their squares"),
    (r"\tau\|s\| \ge \|u\|", [AtLeast(tau**2 * LENGTH**2, OTHER**2)], AGREES, "the difference of their squares"),
    (r"x \|s\| \ge \|u\|", [AtLeast(x**2 * LENGTH**2, OTHER**2)], DIFFERS, "as read, it fails"),
    (r"x \ge y", [AtLeast(x**2, y**2)], DIFFERS, "as read, it fails"),
    (r"x \ne y", [Differs(x, y)], AGREES, ""),
    (r"x \ne y", [Equation(x, y)], APART, ""),
    (r"x = y", [Differs(x, y)], APART, ""),
    (r"x \ge 2 z", [AtLeast(x, z)], DIFFERS, "one side is that of the derivation"),
    (r"2 z \ge x", [AtLeast(x, z)], DIFFERS, "as read, it fails"),
    (r"2 z \le x", [AtLeast(x, z)], DIFFERS, "one side is that of the derivation"),
    # limits
    (r"\lim_{x\to 0} x y = 0", [Limit(x * y, x, sp.S.Zero, sp.S.Zero)], AGREES, "both sides"),
    (r"\lim_{v\to 0} v y = 0", [Limit(x * y, x, sp.S.Zero, sp.S.Zero)], AGREES, "proved as read"),
    (r"\lim_{x\to 0} (x + y)^2 = y^2", [Limit(x**2 + 2 * x * y + y**2, x, sp.S.Zero, y**2)], AGREES, "both sides"),
    (r"\lim_{x\to \infty} x y = 0", [Limit(x * y, x, sp.S.Zero, sp.S.Zero)], APART, ""),
    (r"\lim_{x\to 0} x y = y", [Limit(x * y, x, sp.S.Zero, sp.S.Zero)], APART, ""),
    (r"\lim_{x\to 0} 2 x y = 0", [Limit(x * y, x, sp.S.Zero, sp.S.Zero)], AGREES, "proved as read"),
    (r"\lim_{\tau\to\infty} \frac{1}{\tau} = 0", [Equation(x, y)], AGREES, "proved as read"),
    # problems
    (rf"\pi = {MINIMUM}", [SOLVED], AGREES, "both sides"),
    (rf"\pi = {MINIMUM}", [PLANNED], APART, ""),
    (rf"\pi_j = {MINIMUM}", [SOLVED], AGREES, "both sides"),
    (rf"\pi = {MINIMUM}".replace("- ", "+ "), [SOLVED], DIFFERS, "the objective differs"),
    (rf"p = {MINIMUM}", [SOLVED], DIFFERS, "the solution or value differs"),
    (rf"-\tau\log\sum_k e^{{s_k/\tau}} = {LEAST}", [SOLVED], AGREES, "the optimal value"),
    (rf"\tau\log\sum_k e^{{s_k/\tau}} = {LEAST}", [SOLVED], DIFFERS, "the solution or value differs"),
    (rf"-\tau\log\sum_k e^{{s_k/\tau}} = {LEAST.replace('- ', '+ ')}", [SOLVED], DIFFERS, "the objective differs"),
    (
        rf"-\tau\log\sum_k e^{{s_k/\tau}} = {LEAST}",
        [AtLeast(entropic(lambda i: p[i]), -POTENTIAL)],
        AGREES,
        "the difference of the sides, in normal form",
    ),
    (rf"-\tau\log\sum_k e^{{s_k/\tau}} = {LEAST}", [AtLeast(entropic(lambda i: p[i]), POTENTIAL)], APART, ""),
    (rf"\pi = {MINIMUM}".replace("- ", "+ "), [Fails(UniqueMinimum(negated, pi, m, tau))], AGREES, "both sides"),
    (rf"-\tau\log\sum_k e^{{s_k/\tau}} = {LEAST}", [AtLeast(entropic(lambda i: w[i]), -POTENTIAL)], APART, ""),
    # logarithms of what may be negative are none
    (r"\tau = x", [Equation(sp.log(tau), sp.log(x))], DIFFERS, "as read, it fails"),
    (r"x = \tau", [Equation(sp.log(x), sp.log(tau))], DIFFERS, "as read, it fails"),
    (r"x = \tau", [Equation(sp.log(x) - sp.log(tau), z)], DIFFERS, "as read, it fails"),
    (r"\tau = x", [Equation(sp.log(tau) - sp.log(x), z)], DIFFERS, "as read, it fails"),
    # unknowns
    (r"1 = 1 + x", [Equation(1, x)], DIFFERS, "as read, it fails"),
    (r"x = x + 1", [Equation(total(j, p[j]), 1)], APART, "no step states it"),
    (r"x = 2 y", [Equation(tau * x - 2 * tau * y, z)], AGREES, "left − right is a side, in normal form"),
    (r"x y = 0", [Equation(x * y, z)], AGREES, "left − right is a side, in normal form"),
    (r"e^x = \tau", [Equation((sp.log(tau) - x) * z, 0)], AGREES, "log left − log right is a side, in normal form"),
    (r"x = 2 y", [Equation((2 * y - x) * z, 0)], AGREES, "left − right is a side, in normal form"),
    (r"x = 2 y", [Equation((x - 2 * y) * z, 0)], AGREES, "left − right is a side, in normal form"),
    (r"x = 2 y", [Equation(tau * (x - 2 * y), z)], AGREES, "left − right is a side, in normal form"),
    (r"x = 2 y", [Equation((x + 2 * y) * z, 0)], DIFFERS, "as read, it fails"),
    (r"e^x = \tau", [Equation(x - sp.log(tau), z)], AGREES, "log left − log right is a side, in normal form"),
    (r"e^x = \tau", [Equation(x + sp.log(tau), z)], DIFFERS, "as read, it fails"),
    (r"x = 2 y", [Equation(x, 3 * y), Equation((x - 2 * y) * z, 0)], DIFFERS, "one side is that of the derivation"),
    (r"x - 2 y = 0", [Equation(x - 2 * y, v), Equation((x - 2 * y) * z, 0)], AGREES, "left − right is a side, in normal form"),
    (r"x - 2 y = 0", [Equation(x - 2 * y, v), Equation((x - 2 * y) * z, v)], AGREES, "left − right is a side, in normal form"),
    (r"\sqrt{x^2 + 2 x y + y^2} = |x + y|", [Equation(v, 2 * z)], APART, "no step states it"),
    # disproofs and implications
    (r"x = 0", [X1], AGREES, ""),
    (r"x = 0", [X1, Equation(y, z)], DIFFERS, "step 1 disproves it"),
    (r"x + y = y + x", [X1], APART, ""),
    (r"x = y \implies x + z = y + z", [Follows((Equation(x, y),), Equation(x + z, y + z), (1,))], AGREES, ""),
    (r"x = z \implies x + z = y + z", [Follows((Equation(x, y),), Equation(x + z, y + z), (1,))], APART, ""),
    (r"x = y, x = z \implies v = 2 z", [Equation(x, y), Equation(v, 2 * z)], APART, ""),
    (r"x = y, x = z \implies v = 2 z", [Equation(x, y), Equation(x, z), Equation(v, 2 * z)], AGREES, ""),
    (r"x = x \implies v = 2 z", [Equation(v, 2 * z)], AGREES, ""),
    # several links
    (
        r"x = y = z",
        [Equation(x, y), Equation(y, z)],
        AGREES,
        "link 1: step 1, both sides, in normal form; link 2: the statement",
    ),
    (r"x = y = z", [Equation(x, y)], APART, "link 2: "),
    (r"x = y, y = z", [Equation(x, y), Equation(y, z)], AGREES, "link 2: "),
]


@pytest.mark.parametrize(("latex", "steps", "standing", "reason"), CASES)
def test_a_formula_beside_the_steps_of_a_derivation(latex: str, steps: list[Relation], standing: Standing, reason: str) -> None:
    checked = check_of(latex, *steps)
    assert (checked.standing, reason in checked.reason) == (standing, True), checked.reason


# ── chains with a disproof, and links that nobody states ─────────────────────────────────────────────────────────────

FALSE = Fails(Equation(x, y, at={x: 1, y: 0}))


def test_after_a_disproof_the_rest_of_the_chain_is_not_compared() -> None:
    """Where x = y fails, x = y = z does, whatever is said of z; a statement beside it is compared."""
    chain = check_of(r"x = y = z", Equation(y, 2 * z), FALSE)
    assert (chain.standing, "not compared, as the formula fails already" in chain.reason) == (AGREES, True)
    longer = check_of(r"x = y = z = v", Equation(y, 2 * z), Equation(z, 2 * v), FALSE)
    assert longer.reason.count("not compared, as the formula fails already") == 2
    assert check_of(r"z = x = y", Equation(2 * z, x), FALSE).standing is DIFFERS  # before the disproof
    assert check_of(r"x = y,\quad v = z = c", Equation(v, 2 * z), FALSE).standing is DIFFERS  # in a chain of its own
    assert check_of(r"x = y,\quad v = z", Equation(v, 2 * z), FALSE).standing is DIFFERS  # beside it
    agreeing = check_of(r"x = y = z", Equation(y, z), FALSE)
    assert (agreeing.standing, "not compared" in agreeing.reason) == (AGREES, False)
    assert check_of(r"x = y = z, \quad v = z", Equation(y, z), Equation(v, 2 * z), FALSE).standing is DIFFERS
    assert check_of(r"x = y = z", FALSE).standing is APART
    assert check_of(r"x = y = z", Equation(y, 2 * z), replace(FALSE.relation)).standing is DIFFERS  # nothing is disproved


def test_a_disproof_has_to_be_that_of_a_link() -> None:
    other = check_of(r"y = z", Equation(y, z), FALSE)
    assert (other.standing, other.reason) == (APART, "the disproved statement is none of its links")


def test_agreement_in_normal_form_is_that_of_all_pairs() -> None:
    assert Match("it", ((x, x), (y, y))).normal
    assert not Match("it", ((x, x), (x, y))).normal


def test_a_disproof_shows_what_it_disproves() -> None:
    assert shown(Fails(SOLVED)) == shown(SOLVED)


def test_an_inequality_under_a_premise_need_not_hold_without_it() -> None:
    under = Follows((AtLeast(x, y + tau),), AtLeast(2 * x, 2 * y), (2,), slack=2 * tau)
    assert under.prove()
    assert check_of(r"x \ge y", under).standing is APART
    assert check_of(r"x \ge y", AtLeast(2 * x, 2 * y)).standing is DIFFERS


def test_after_a_condition_on_unknowns_nothing_differs() -> None:
    """x = 2y is a condition, under which the next link holds for some values only."""
    assert check_of(r"x = 2 y,\quad v = z", Equation(v, 3 * z), Equation((x - 2 * y) * z, 0)).standing is APART
    assert check_of(r"v = z,\quad x = 2 y", Equation(v, 3 * z), Equation((x - 2 * y) * z, 0)).standing is DIFFERS


def test_a_link_that_the_table_makes_trivial_is_passed_over_in_a_chain_only() -> None:
    step = Equation(x + y, 2 * z)
    assert check_of(r"\ell = x + y = 2 z", step).standing is AGREES
    assert check_of(r"\ell = x + y", Equation(x, z)).standing is APART
    both = check_of(r"\ell = x + y = y + x", Equation(x, z))
    assert (both.standing, both.reason) == (APART, "the table makes all sides equal, and no step shows the definition")


def test_a_formula_that_cannot_be_read_says_why() -> None:
    unread = check_of(r"x = \xi", Equation(x, y))
    assert (unread.standing, unread.reading) == (UNREAD, "")
    assert r"\xi" in unread.reason
    assert check_of(r"x = y = z", Equation(x, y)).reading == "x = y; y = z"


# ── definitions ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("latex", "step", "standing", "reason"),
    [
        (r"\ell = x + y", Equation(sp.exp(x + y), z), AGREES, "the statement (step 1), what it defines"),
        (r"\ell = x + y", Equation(x + y + z, v), AGREES, "what it defines"),
        (r"\ell = x + y", Equation(x + z, v), APART, "no step shows the definition"),
        (r"\ell = x - y", Equation(x - y, z), DIFFERS, "it differs from the table's definition: at x = "),
        (r"x + y \ge z^2", Equation(sp.exp(x + y), v + z**2), AGREES, "its sides are shown in step 1"),
        (r"x + y \ge z^2", Equation(sp.exp(x + y), v + z), APART, ""),
        (r"x + y \ge 0", Equation(sp.exp(x + y), v), AGREES, "its sides are shown in step 1"),
        (r"\sum_k a_k s_k \ge \sum_k b_k", Equation(total(k, vector("a", m)[k] * s[k]), x), APART, ""),
        (r"x = \min_{p\in\Delta^{m-1}} \{\sum_k p_k s_k\}", Equation(total(k, s[k]) / m, x), AGREES, "what it defines"),
        (r"x = \min_{p\in\Delta^{m-1}} \{\sum_k p_k s_k\}", Equation(total(k, s[k]), x), APART, ""),
    ],
)
def test_a_definition_is_shown_by_a_step(latex: str, step: Relation, standing: Standing, reason: str) -> None:
    checked = check_of(latex, step, defines=True)
    assert (checked.standing, reason in checked.reason) == (standing, True), checked.reason


@pytest.mark.parametrize(
    ("latex", "step", "shown"),
    [
        (r"e^{s_j/\tau}", Equation(total(k, sp.exp(s[k] / tau)), x), True),
        (r"e^{u_j/\tau}", Equation(total(k, sp.exp(s[k] / tau)), x), False),
        (r"x y", Equation(x * y * z, v), True),
        (r"x v", Equation(x * y * z, v), False),
        (r"x + z", Equation(x + y + z, v), True),
    ],
)
def test_an_expression_by_itself_is_a_part_of_a_step(latex: str, step: Relation, shown: bool) -> None:
    assert (check_of(latex, step).standing is AGREES) == shown


def test_where_a_definition_is_not_that_of_the_table() -> None:
    assert defines_otherwise(r"\ell = x + y", TABLE) == ""
    assert defines_otherwise(r"= x + y", TABLE, before=r"\ell = x + y") == ""
    assert defines_otherwise(r"\ell = x + 2 y", TABLE).startswith("it differs from the table's definition: at x = ")
    assert defines_otherwise(r"\ell = x + y, \quad \ell = 2 x", TABLE) != ""
    assert defines_otherwise(r"x \ge y + \ell", TABLE) == ""


@pytest.mark.parametrize(
    ("premise", "implied"),
    [
        (r"\ell = x + y", True),
        (r"\ell = x + 2 y", False),
        (r"p_j \ge 0", True),
        (r"x \ge 0", False),
        (r"\tau > 0", True),
        (r"x \ne y", False),
        (r"(x + y)^2 = x^2 + 2 x y + y^2", True),
    ],
)
def test_which_premises_the_table_implies(premise: str, implied: bool) -> None:
    assert by_the_table(links(premise, TABLE)[0].assertion) is implied


def test_strictness_unless_equal_is_an_inequality() -> None:
    half = (sp.Rational(1, 2), sp.Rational(1, 2))
    convex = StrictUnlessEqual((x**2 + y**2) / 2, ((x + y) / 2) ** 2, x, y, (x + y) / 2, half, sp.Integer(2))
    assert check_of(r"\tfrac12 (x^2 + y^2) \ge (\tfrac{x+y}2)^2", convex).standing is AGREES
    assert check_of(r"\tfrac12 (x^2 + y^2) > (\tfrac{x+y}2)^2", convex).standing is AGREES


def test_an_expansion_as_read() -> None:
    assert check_of(r"e^\tau = 1 + \tau + o(\tau)", Equation(x, y)).reason == "proved as read; no step states both sides"
    assert check_of(r"e^\tau = 1 + \tau + o(\tau^2)", Equation(x, y)).standing is APART
    assert check_of(r"e^\tau = 1 + O(\tau)", Expansion(sp.exp(tau), 1, tau, 0)).reason.startswith("the statement (step 1)")
    step = Expansion(sp.exp(tau), 1 + tau, tau, 1)
    assert check_of(r"e^\tau = 1 + \tau + o(\tau)", step).reason.startswith("the statement (step 1), both sides up to")
    assert check_of(r"e^\tau = 1 + 2 \tau + o(\tau)", step).reason.startswith("a term of the expansion differs: at ")


def test_what_cannot_be_proved_is_not_implied_by_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(relation: Relation) -> bool:
        raise ValueError("no normal form")

    monkeypatch.setattr(AtLeast, "prove", fails)
    assert not by_the_table(AtLeast(tau, 0))
    assert check_of(r"\tau \ge -1", Equation(x, y)).standing is APART


@pytest.mark.parametrize(
    ("latex", "step", "condition"),
    [
        (r"\sum_j p_j/p_j = m", Equation(total(j, 1), m), "p[j] ≠ 0"),
        (r"\sum_j a_j/a_j = m", Equation(total(j, 1), m), ""),
        (r"x/x \ge 0", AtLeast(1, 0), "x ≠ 0"),
        (r"\sum_j s_j \frac{x}{x} \ge y", AtLeast(total(j, s[j]), y), "x ≠ 0"),
        (r"\frac{1}{1/x} = y", Equation(x, y), "x ≠ 0"),
        (r"\frac{1}{1/\tau} = y", Equation(tau, y), ""),
        (r"y + \log x - \log x = z", Equation(y, z), "x > 0"),
        (r"y + \log c - \log c = z", Equation(y, z), ""),
        (r"\sqrt{x}^2 = y", Equation(x, y), "x ≥ 0"),
        (r"e^{\log x} = y", Equation(x, y), "x > 0"),
        (r"x > 0 \implies e^{\log x} = y", Equation(x, y, given=(AtLeast(x, 0, strict=True),)), ""),
    ],
)
def test_a_print_agrees_only_where_it_has_a_value(latex: str, step: Relation, condition: str) -> None:
    """The step is about an expression from which the division, the logarithm or the root is gone."""
    found = check_of(latex, step)
    assert found.standing is (Standing.APART if condition else Standing.AGREES), found.reason
    assert f"it is not shown that {condition}," in found.reason or not condition
