"""An exported theorem states its relation, and reading it back detects errors."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import sympy as sp

from derivations import (
    AtLeast,
    Equation,
    Follows,
    ForAll,
    delta,
    derivative,
    index,
    interior,
    kl,
    positive,
    scalar,
    simplex,
    size,
    total,
    vector,
    xlogx,
)
from derivations.calculus import variables
from derivations.domains import Stochastic
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.relations import Relation
from derivations.rocq import export, exports
from derivations.rocq.export import Theorem, theorem
from derivations.rocq.polynomials import alpha
from derivations.rocq.readback import disagreement, parts
from derivations.rocq.statements import opened
from derivations.rocq.terms import Names, NotExportedError, Term, indices, renamed, written

m = size("m")
j, k = index("j", m), index("k", m)
s, q, tau = vector("s", m), simplex("q", m), positive("tau")
WITHIN = ForAll(AtLeast(tau**2, (s[j] - s[k]) ** 2), (j, k))
VARIANCE = total(j, q[j] * s[j] ** 2) - total(j, q[j] * s[j]) ** 2
SPREAD = Follows((WITHIN,), AtLeast(tau**2 / 2, VARIANCE), (q[j] * q[k] / 2,), given=(WITHIN, AtLeast(tau, VARIANCE)))

SOUND = [
    Equation(total(j, q[j] * (s[j] + tau)), total(j, q[j] * s[j]) + tau),
    Equation(derivative(total(j, s[j] ** 2 / tau), s[k]), 2 * s[k] / tau),
    Equation(total(k, delta(k, j) * s[k]), s[j]),
    AtLeast(total(j, kl(q[j], tau)), 0),
    Equation(total(j, xlogx(q[j]) * tau), tau * total(j, xlogx(q[j]))),
    Equation(sp.log(1 / sp.sqrt(2 * sp.pi * tau)), -sp.log(2 * sp.pi * tau) / 2),
    SPREAD,
]


def changed(made: Theorem, old: str, new: str) -> Theorem:
    """The theorem with one part of its statement replaced; the old part must occur."""
    head, conclusion = made.statement.split(",\n")
    assert old in conclusion, conclusion
    return replace(made, statement=f"{head},\n{conclusion.replace(old, new, 1)}")


@pytest.mark.parametrize("relation", SOUND, ids=str)
def test_an_exported_statement_equals_its_relation(relation: Relation) -> None:
    """Statement and relation have the same values at exact points, ties and zeros among them."""
    assert disagreement(theorem("sound", relation), relation) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" : R) = (tau + ", " : R) = (tau - "),
        ("(s x1)) * (q x1)", "(s x1)) * (s x1)"),
        (" : R) = (tau", " : R) = ((tau * tau)"),
        ("((\\Sum_", "((- \\Sum_"),
        ("\\Sum_(x1 < m) ((q", "\\Sum_(x1 < m) (- (q"),
    ],
)
def test_a_wrong_sign_or_name_is_detected(old: str, new: str) -> None:
    """Planted: an exported statement that differs in one place disagrees with its relation."""
    assert disagreement(changed(theorem("planted", SOUND[0]), old, new), SOUND[0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("given1 : forall i1 i2, ((((s i1) + (- (s i2)))", "given1 : forall i1 i2, (((s i1) + ((s i2)))"),
        ("premise1 : forall i1 i2, ((((s i1)", "premise1 : forall i1 i2, ((((s i2)"),
        (": R) <= (tau ^+ 2)) (given2", ": R) < (tau ^+ 2)) (given2"),
        ("<= tau)", "<= (2%:R * tau))"),
    ],
)
def test_a_wrong_hypothesis_is_detected(old: str, new: str) -> None:
    """Planted: a hypothesis or a premise that differs from the relation's."""
    made = theorem("planted", SPREAD)
    assert old in made.statement
    with suppress(ValueError):  # with different signs
        assert disagreement(replace(made, statement=made.statement.replace(old, new, 1)), SPREAD)


@pytest.mark.parametrize(("old", "new"), [("pi", "tau"), ("(root ", "(ln "), ("pi", "2%:R")])
def test_a_wrong_constant_is_detected(old: str, new: str) -> None:
    """Planted: another number instead of π, another function instead of a root."""
    assert disagreement(changed(theorem("planted", SOUND[5]), old, new), SOUND[5])


@pytest.mark.parametrize(
    ("id", "old", "new"),
    [
        ("transport.lem1", "eps^-1", "eps"),
        ("transport.lem1", "(xlogx (R_ i_1 j_1))", "(R_ i_1 j_1)"),
        ("deciphering.19", "(offset n i j)", "(offset n j i)"),
        ("deciphering.43", "agrees 2", "agrees 1"),
        ("deciphering.43", "(ln (", "(expR ("),
        ("deciphering.43", "(1 / 2%:R)", "(1 / 3%:R)"),
    ],
)
def test_a_wrong_plan_position_or_expansion_is_detected(id: str, old: str, new: str) -> None:
    """Planted: errors in a plan's candidate or objective, a difference's position, an expansion's order or a side."""
    relation = entries()[id].printed()
    assert relation is not None
    made = theorem(id, relation)
    assert disagreement(made, relation) == ""
    assert disagreement(changed(made, old, new), relation)


def test_a_wrong_sign_in_the_jacobian_is_detected() -> None:
    """Planted: the Jacobian of softmax with an additional sign."""
    relation = entries()["eot.59"].printed()
    assert relation is not None
    made = theorem("eot.59", relation)
    assert disagreement(made, relation) == ""
    assert "the statement says" in disagreement(changed(made, ") = (((-", ") = (((0 +"), relation)


def test_a_false_hypothesis_is_detected() -> None:
    """Planted: a hypothesis that the domain does not satisfy makes the theorem weaker than the claim."""
    made = theorem("planted", SOUND[0])
    wrong = replace(made, statement=made.statement.replace("forall i1, 0 <= q i1", "forall i1, 1 <= q i1"))
    assert "hypothesis" in disagreement(wrong, SOUND[0])


def test_an_inequality_turned_round_is_refused() -> None:
    """Planted: < for <=."""
    made = theorem("planted", SOUND[3])
    with pytest.raises(ValueError, match="expected one statement with <="):
        disagreement(changed(made, "<= (\\Sum", "< (\\Sum"), SOUND[3])


def test_the_part_that_cannot_be_exported_is_named() -> None:
    """The message contains the part that cannot be exported."""
    with pytest.raises(NotExportedError, match="a power of a base that may be 0"):
        theorem("none", Equation(total(j, q[j] ** tau), tau))


def test_a_unit_vector_is_not_exported() -> None:
    with pytest.raises(NotExportedError, match="the length of e"):
        theorem("none", Equation(total(j, variables.unit("e", m)[j] ** 2), 1))


def test_positivity_is_a_hypothesis() -> None:
    """Domains become hypotheses: sizes, signs, masses and indices that differ."""
    other = index("k", m, other_than=(j,))
    binders, _ = parts(theorem("domains", Equation(total(k, q[k]) * delta(j, other) + tau, tau)).statement)
    assert {"m_gt0", "tau_gt0", "q_ge0", "q_mass", "k_j"} <= {name for name, _ in binders}


def test_rows_columns_and_slack_are_hypotheses() -> None:
    """Of a plan both sums, of a stochastic matrix its rows, of a multiplier that it is 0 where the point is positive."""
    n, a, r = size("n"), simplex("a", size("n")), interior("r", m)
    plan, rows = variables.coupling("P", a, q), vector("K", n, m, kind=Stochastic)
    slack = variables.complementary("c", q)
    i = index("i", n)
    binders = dict(parts(theorem("domains", Equation(plan[i, j] * rows[i, j] + slack[j] + r[j], 0)).statement)[0])
    assert {name: binders[name] for name in ("P_rows", "P_columns", "K_rows", "c_slack", "r_gt0", "r_mass")} == {
        "P_rows": "forall i1, \\Sum_(i2 < m) P i1 i2 = a i1",
        "P_columns": "forall i2, \\Sum_(i1 < n) P i1 i2 = q i2",
        "K_rows": "forall i1, \\Sum_(i2 < m) K i1 i2 = 1",
        "c_slack": "forall i1, c i1 * q i1 = 0",
        "r_gt0": "forall i1, 0 < r i1",
        "r_mass": "\\Sum_(i1 < m) r i1 = 1",
    }
    assert "c_columns" not in binders
    facts = opened(Equation(plan[i, j] * rows[i, j], 0), Names()).facts
    assert facts.marginals == {("P", 1): ("a", "P_rows"), ("P", 0): ("q", "P_columns"), ("K", 1): ("", "K_rows")}
    assert facts.masses == {"a": "a_mass", "q": "q_mass"}
    assert facts.positive == frozenset()
    assert opened(Equation(r[j] * tau * plan[i, j], 0), Names()).facts.positive == {"r", "tau"}


def test_a_sum_over_a_part_of_a_range_is_not_exported() -> None:
    """From 2 on, or up to another size."""
    for low, high in ((2, m), (1, size("n")), (2, size("n"))):
        with pytest.raises(NotExportedError, match="a sum over a part of a range"):
            theorem("none", Equation(sp.Sum(s[j], (j, low, high)), 0))


def test_an_export_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored is read again; of a claim without a relation it is stored that there is none."""
    monkeypatch.setattr(exports.incremental, "project", lambda: None)
    monkeypatch.setattr(exports, "content_of", lambda modules, sources: "of these modules")
    claims = {"eot.59": entries()["eot.59"]}
    ((id, made),) = exports.exports(claims, tmp_path / "store")
    relation = claims["eot.59"].printed()
    assert relation is not None
    expected = theorem("eot.59", relation)
    assert (id, made.wrong, made.not_exported) == ("eot.59", "", "")
    assert (made.theorem.statement, made.theorem.source) == (expected.statement, expected.source)
    monkeypatch.setattr(exports, "exported", lambda entry: pytest.fail("is made again"))
    assert list(exports.exports(claims, tmp_path / "store")) == [("eot.59", made)]
    monkeypatch.setattr(exports, "exported", lambda entry: None)
    assert list(exports.exports(claims, tmp_path / "other")) == []
    monkeypatch.setattr(exports, "exported", lambda entry: pytest.fail("is made again"))
    assert list(exports.exports(claims, tmp_path / "other")) == []


def test_the_rules_of_a_proof_are_tried_from_the_simplest() -> None:
    plain = [export.Rules(), export.Rules(settles=False)]
    squares = [export.Rules(squares=True), export.Rules(settles=False, squares=True)]
    assert export._rules("(x + y)") == plain
    assert export._rules("`|x|") == [*plain, *squares, export.Rules(halves=True)]
    assert export._rules("(plus x)") == [*plain, export.Rules(halves=True)]


def test_what_is_declared_has_its_own_name_and_not_an_index_that_a_sum_binds() -> None:
    """A real number called j, beside a sum over j in a hypothesis that is written before it is declared."""
    number = scalar("j")
    statement = opened(AtLeast(number, 0, given=(AtLeast(total(j, s[j]), tau),)), Names())
    assert ("j", "R") in statement.binders


def test_what_is_exported_of_a_claim() -> None:
    """The relation of its correction or of its print; none without either; the reason where there is no counterpart."""

    def of(printed: Relation | None, repaired: Relation | None = None) -> exports.Export | None:
        return exports.exported(cast(Entry, SimpleNamespace(id="it", printed=lambda: printed, repaired=lambda: repaired)))

    assert of(None) is None
    assert of(SOUND[0]) == of(SOUND[1], SOUND[0]) != of(SOUND[1])
    reason = of(Equation(total(j, q[j] ** tau), tau))
    assert reason is not None
    assert "a power of a base that may be 0" in reason.not_exported
    assert not reason.statement


def test_no_index_is_captured() -> None:
    """An index with the name of an inner bound index is not captured."""
    entry = ("entry", "T", ("x1", "j"))
    inner = renamed(("sum", "x1", "n", entry), {"j": "x1"})
    assert inner == ("sum", "x1_1", "n", ("entry", "T", ("x1_1", "x1")))
    assert alpha(("sum", "x1", "d", inner)) == ("sum", "x2", "d", ("sum", "x1", "n", ("entry", "T", ("x1", "x2"))))


def test_the_indices_of_a_term_are_those_that_no_sum_binds() -> None:
    """At a position, in δ, in an entry and in a difference."""
    assert indices(("position", "i")) == {"i"}
    assert indices(("dlt", "i", "j")) == {"i", "j"}
    assert indices(("band", "w", "n", "i", "j")) == {"i", "j"}
    assert indices(("sum", "i", "n", ("mul", ("entry", "K", ("i", "k")), ("dlt", "i", "j")))) == {"j", "k"}


def test_an_entry_is_replaced_everywhere() -> None:
    """In sums and powers, at the index that is there; entries of other vectors stay."""
    summand: Term = ("mul", ("entry", "q", ("k",)), ("entry", "r", ("k",)))
    square: Term = ("pow", ("entry", "q", ("j",)), 2)
    whole: Term = ("add", ("entry", "q", ("i",)), square, ("sum", "k", "n", summand), ("var", "x"))
    replaced = export._at(whole, "q", ("x",), ("entry", "s", ("x",)))
    assert written(replaced) == "((s i) + ((s j) ^+ 2) + (\\Sum_(k < n) ((s k) * (r k))) + x)"


def test_a_conclusion_follows_from_the_sum_of_its_premises_and_what_is_not_negative() -> None:
    """Each premise has its sign, its weight and its place in the gap."""
    above, below = AtLeast(s[j], tau), AtLeast(tau, s[k])
    both = Follows((above, below), AtLeast(s[j] + tau**2, s[k]), (1, 1), slack=tau**2)
    proof = theorem("both", both).proof
    assert "have sign1 : 0 <= ((s j) + (- tau)) by" in proof
    assert "have sign2 : 0 <= (tau + (- (s k))) by" in proof
    assert "= ((1 * ((s j) + (- tau))) + (1 * (tau + (- (s k)))) + (tau ^+ 2))." in proof
    one = theorem("one", Follows((above,), AtLeast(2 * s[j], 2 * tau), (2,))).proof
    assert "= (2%:R * ((s j) + (- tau)))." in one


def test_an_inequality_without_a_form_is_that_of_the_difference_of_its_sides() -> None:
    assert ": R) = ((s j) ^+ 2)." in theorem("square", AtLeast(s[j] ** 2 + tau, tau)).proof


def test_only_a_difference_of_positions_is_a_position_in_a_vector_of_differences() -> None:
    band = vector("B", 2 * m - 1)
    assert "(B (offset m k j))" in theorem("difference", Equation(band[m + j - k], tau)).statement
    for position in (j, m + j, m - k, m + j + k, m + 2 * j - k, m + 1 + j - k):
        with pytest.raises(NotExportedError, match="the position "):
            theorem("none", Equation(band[position], tau))


def test_no_more_sums_are_opened_than_a_sign_needs() -> None:
    """A doubled premise leaves its sums closed; a premise with joined sums opens the outer ones."""
    inner = total(j, q[j] * s[j])
    outer, square = total(k, q[k] * (s[k] - inner) ** 2), total(k, q[k] * inner)
    premise = AtLeast(outer, square)
    doubled = Follows((premise,), AtLeast(2 * outer, 2 * square), (2,))
    joined = Follows((premise,), AtLeast(total(k, q[k] * (s[k] - inner) ** 2 - q[k] * inner), 0), (1,))
    assert "have H1" not in theorem("doubled", doubled).proof
    assert "have H1" in theorem("joined", joined).proof


def test_a_proof_that_is_too_long_is_not_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs that Rocq would not finish are not exported."""
    monkeypatch.setattr(export, "LONGEST_PROOF", 10)
    with pytest.raises(NotExportedError, match="a proof of more than 10 letters"):
        theorem("long", SOUND[0])


def test_claims_with_equal_theorems_share_one_check() -> None:
    """The name of a theorem is not part of its content; its statement is."""
    one, other = theorem("one", SOUND[0]), theorem("other", SOUND[0])
    assert one.source != other.source
    assert one.content == other.content != theorem("one", SOUND[1]).content
