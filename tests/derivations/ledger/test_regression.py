"""The comparison with the baseline: each class of difference is planted, and reported as that class."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from msgspec.structs import replace as updated

from derivations.calculus.variables import positive, scalar
from derivations.domains import Domain, Index, Interior, Nonnegative, Positive, Real, Simplex
from derivations.judge.canonical import canonical
from derivations.ledger import baseline as remembered
from derivations.ledger import ledger
from derivations.ledger.baseline import Kept, snapshot
from derivations.ledger.differences import Aspect, Change
from derivations.ledger.messages import aspect
from derivations.ledger.messages import comparison as text_of
from derivations.ledger.regression import agree, compare, contains
from derivations.prints.claims import correction_of, print_of
from derivations.records.base import to_json
from derivations.records.claims import Evidence, Layer, Outcome, Severity, Statement, Verdict
from derivations.records.normal_form import Declared
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import Equation, Relation
from tests.registers import register

IDS = [
    "eot.59",
    "eot.s7.fisher-scaled",
    "deciphering.s3.convex-combination",
    "eot.124",
    "eot.s2.gibbs",
    "deciphering.s4.minimizer",
    "deciphering.s0.closed-form",
    "deciphering.s0.justification",
]
JACOBIAN, CORRECTED, SILENT = IDS[0], IDS[1], IDS[-1]

assert entries()[CORRECTED].correction
OF_A_PART = updated(entries()[CORRECTED].correction, replaces="a multiple of the print")  # type: ignore[type-var]

Row = dict[str, Any]


def written(changed: dict[str, Entry], ids: list[str], *more: Evidence) -> Row:
    """The ledger of these claims, some of them changed, with the torch layer's vote on the Jacobian."""
    catalogue = {**entries(), **changed}
    evidence = [beside_print(catalogue[id], catalogue) for id in ids]
    vote = Evidence(JACOBIAN, Layer.TORCH, Outcome.HOLDS, "drawn", error=0.02, refuted_twins=tuple(catalogue[JACOBIAN].twins))
    with pytest.MonkeyPatch.context() as patch:
        register(patch, *catalogue.values())
        built = ledger.build([*evidence, *(e for e in more or (vote,) if e.claim in ids)], ids, {})
    assembled = ledger.assemble([{**row, "complete": True} for row in built["claims"]], {"asked": ids, "complete": True})
    return json.loads(json.dumps(assembled))  # type: ignore[no-any-return]


def beside_print(entry: Entry, catalogue: Mapping[str, Entry]) -> Evidence:
    """The symbolic layer's evidence, with the comparison of the prints, which it lacks for a changed claim."""
    return updated(examine(entry).evidence, print=print_of(entry, catalogue), print_repair=correction_of(entry, catalogue))


@pytest.fixture(scope="module")
def before() -> dict[str, Kept]:
    return snapshot(written({}, IDS))


def baseline_with(before: Mapping[str, Kept], id: str, **fields: Any) -> dict[str, Kept]:
    """The baseline with one claim changed."""
    return {**before, id: updated(before[id], **fields)}


def rewritten(id: str, change: Callable[[Relation], Relation], **fields: Any) -> dict[str, Entry]:
    """A claim with a changed last step."""
    old = entries()[id]
    assert old.derivation is not None

    def derivation() -> Iterator[Relation]:
        steps = list(old.derivation())  # type: ignore[misc]
        last = steps[-1]
        yield from steps[:-1]
        yield last.rebuilt(change) if last.disproved else change(last)

    return {id: replace(old, derivation=derivation, **fields)}


def scaled(by: sp.Expr) -> Callable[[Relation], Relation]:
    """Both sides times a factor, which keeps the statement true."""

    def change(relation: Relation) -> Relation:
        assert isinstance(relation, Equation)
        return replace(relation, left=by * relation.left, right=by * relation.right)

    return change


def renamed(relation: Relation) -> Relation:
    """√((x²+1)²) instead of x² + 1 on the right side, which the kernel does not simplify."""
    assert isinstance(relation, Equation)
    x = positive("tau")
    return replace(relation, right=relation.right * sp.sqrt(x**4 + 2 * x**2 + 1) / (x**2 + 1))


def reasoned(relation: Relation) -> Relation:
    return replace(relation, reason="because")


def classes(changed: dict[str, Entry], before: dict[str, Kept], ids: list[str], *votes: Evidence) -> dict[str, Change]:
    return compare(written(changed, ids, *votes), before).classes


def torch(**changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "claim": JACOBIAN,
        "layer": Layer.TORCH,
        "outcome": Outcome.HOLDS,
        "scope": "drawn",
        "error": 0.02,
        "refuted_twins": tuple(entries()[JACOBIAN].twins),
    }
    return Evidence(**(fields | changes))


# ── nothing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_run_is_as_the_first(before: dict[str, Kept]) -> None:
    comparison = compare(written({}, IDS), before)
    assert not comparison.differences
    assert not comparison.failed
    assert (comparison.compared, comparison.unchanged, comparison.absent) == (len(IDS), len(IDS), 0)


def test_every_kind_of_statement_is_remembered(before: dict[str, Kept]) -> None:
    for id in IDS[:-1]:
        canonical = before[id].canonical
        assert canonical is not None
        assert re.fullmatch("[0-9a-f]{16}", canonical.left)
        assert len(canonical.values) == 3
        digits = [
            len(re.sub(r"\D", "", value)) for sample in canonical.values for value in (sample.left, sample.right) if value
        ]
        assert max(digits) >= 30 or id == "eot.124", id  # whose values are 0
    repaired = before[CORRECTED].canonical_repair
    assert repaired is not None
    assert repaired.values
    assert before[SILENT].canonical is None


# ── the classes ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "changed",
    [
        {JACOBIAN: replace(entries()[JACOBIAN], title="Another title")},
        {
            JACOBIAN: replace(
                entries()[JACOBIAN], latex=entries()[JACOBIAN].latex.replace(r"\tfrac1\tau p_k", r"p_k\tfrac1\tau")
            )
        },
        {JACOBIAN: replace(entries()[JACOBIAN], statement="Another sentence.")},
        {JACOBIAN: replace(entries()[JACOBIAN], hypotheses=("a positive τ",))},
        rewritten(JACOBIAN, reasoned),
    ],
    ids=["title", "latex that agrees", "statement", "wording of a hypothesis", "reason"],
)
def test_text_only(changed: dict[str, Entry], before: dict[str, Kept]) -> None:
    comparison = compare(written(changed, IDS), before)
    assert comparison.classes == {JACOBIAN: Change.TEXT}
    assert not comparison.failed
    assert f"text only: 1 claim\n  {JACOBIAN}" in text_of(comparison)


@pytest.mark.parametrize("id", [JACOBIAN, SILENT])
@pytest.mark.parametrize("latex", ["x", r"p_k = p_k + 1", r"\text{something else}"])
def test_a_changed_formula_that_does_not_agree_is_no_text_only(id: str, latex: str, before: dict[str, Kept]) -> None:
    comparison = compare(written({id: replace(entries()[id], latex=latex)}, IDS), before)
    assert comparison.classes == {id: Change.SCOPE}
    assert comparison.failed
    assert f"latex, which is not compared with the relation\n      before {entries()[id].latex}" in text_of(comparison)


def test_a_changed_formula_of_a_correction(before: dict[str, Kept]) -> None:
    entry = entries()[CORRECTED]
    assert entry.correction is not None
    other = updated(entry.correction, statement=Statement(r"\text{another}", "What is true."))
    assert classes({CORRECTED: replace(entry, correction=other)}, before, IDS) == {CORRECTED: Change.SCOPE}
    reworded = updated(entry.correction, statement=Statement(entry.correction.statement.latex, "Other words."))
    assert classes({CORRECTED: replace(entry, correction=reworded)}, before, IDS) == {CORRECTED: Change.TEXT}


@pytest.mark.parametrize("id", [JACOBIAN, CORRECTED])
def test_equivalent_rewrite(id: str, before: dict[str, Kept]) -> None:
    change = rewritten(id, renamed)
    changed = canonical(change[id].printed())  # type: ignore[arg-type]
    row = written({}, [id])
    assert changed.right != row["claims"][0]["canonical"]["right"]
    row["claims"][0]["canonical"] |= {"right": changed.right, "values": to_json(changed.values)}
    comparison = compare(row, {id: before[id]})
    assert comparison.classes == {id: Change.REWRITE}
    assert not comparison.failed


def test_another_way_of_writing_is_seen_through(before: dict[str, Kept]) -> None:
    """The steps differ as text and agree in normal form."""
    comparison = compare(written(rewritten(JACOBIAN, lambda r: replace(r, right=sp.expand(r.right))), IDS), before)  # type: ignore[call-arg]
    assert comparison.classes == {JACOBIAN: Change.REWRITE}
    assert [(each.aspect, each.subject) for each in comparison.differences] == [(Aspect.STEPS, "derivation")]


@pytest.mark.parametrize(("factor", "expected"), [(1, Change.REWRITE), (2, Change.VALUE)])
def test_a_removed_variable_takes_its_value_from_the_baseline(factor: int, expected: Change, before: dict[str, Kept]) -> None:
    extra = scalar("x")
    one = sp.sqrt(extra**4 + 2 * extra**2 + 1) / (extra**2 + 1)
    wider = rewritten(JACOBIAN, lambda r: replace(r, right=factor * one * r.right))[JACOBIAN].printed()  # type: ignore[call-arg]
    assert wider is not None
    statement = remembered.hashed(canonical(wider))
    baseline = baseline_with(before, JACOBIAN, canonical=statement)
    assert "x" in statement.values[0].at
    assert compare(written({}, [JACOBIAN]), baseline).classes == {JACOBIAN: expected}


@pytest.mark.parametrize(
    ("changed", "votes", "what"),
    [
        ({JACOBIAN: replace(entries()[JACOBIAN], twins=dict(list(entries()[JACOBIAN].twins.items())[1:]))}, (), "twin"),
        ({}, (torch(outcome=Outcome.INCONCLUSIVE),), "torch layer"),
        ({}, (torch(error=0.5),), "error"),
        ({JACOBIAN: replace(entries()[JACOBIAN], hypotheses=("τ > 0", "m > 1"))}, (), "hypotheses"),
    ],
    ids=["a twin is gone", "a layer is silent", "the error grew", "a hypothesis more"],
)
def test_a_loss_of_scope_or_strength(
    changed: dict[str, Entry], votes: tuple[Evidence, ...], what: str, before: dict[str, Kept]
) -> None:
    comparison = compare(written(changed, IDS, *votes), before)
    assert comparison.classes == {JACOBIAN: Change.SCOPE}
    assert any(what in aspect(each) for each in comparison.differences)
    assert comparison.failed


def test_a_missing_layer_is_a_loss(before: dict[str, Kept]) -> None:
    other = updated(torch(), claim="eot.1")
    comparison = compare(written({}, [JACOBIAN], other), before)
    left = next(each for each in comparison.differences if each.claim == JACOBIAN)
    assert (left.aspect, left.subject, left.before, left.after) == (Aspect.LAYER, "torch", "holds", "does not vote")
    assert comparison.classes[JACOBIAN] is Change.SCOPE


def test_a_twin_that_a_layer_no_longer_refutes_is_a_loss(before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    name = row["claims"][0]["twins"][0]["name"]
    row["claims"][0]["twins"][0]["refuted_by"] = ["symbolic"]
    comparison = compare(row, {JACOBIAN: before[JACOBIAN]})
    assert comparison.classes == {JACOBIAN: Change.SCOPE}
    assert (comparison.differences[0].aspect, comparison.differences[0].subject) == (Aspect.KILLERS, name)
    assert (comparison.differences[0].before, comparison.differences[0].after) == ("symbolic, torch", "symbolic")


@pytest.mark.parametrize(("field", "value"), [("form", {"sign": "at least"}), ("variables", {"tau": {"kind": "interior"}})])
def test_a_weaker_relation_and_a_narrower_domain_are_losses(field: str, value: Any, before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    canonical = row["claims"][0]["canonical"]
    canonical[field] = {**canonical[field], **value}
    assert compare(row, {JACOBIAN: before[JACOBIAN]}).classes == {JACOBIAN: Change.SCOPE}


def test_sizes_that_are_fixed_are_a_loss(before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    for e in row["claims"][0]["evidence"]:
        e["general"] = False
    assert compare(row, {JACOBIAN: before[JACOBIAN]}).classes == {JACOBIAN: Change.SCOPE}


@pytest.mark.parametrize(
    "changed",
    [rewritten(JACOBIAN, scaled(sp.Integer(2))), rewritten(CORRECTED, scaled(sp.Rational(1, 3)), correction=OF_A_PART)],
    ids=["proved", "corrected"],
)
def test_value_changed(changed: dict[str, Entry], before: dict[str, Kept]) -> None:
    comparison = compare(written(changed, IDS), before)
    assert comparison.classes == dict.fromkeys(changed, Change.VALUE)
    assert comparison.failed
    changed_value = next(each for each in comparison.differences if each.change is Change.VALUE)
    assert changed_value.before in text_of(comparison)
    assert changed_value.after in text_of(comparison)


def test_a_changed_correction_is_a_changed_value(before: dict[str, Kept]) -> None:
    old = entries()[CORRECTED]

    def repair() -> Iterator[Relation]:
        for step in old.repair():  # type: ignore[misc]
            yield scaled(sp.Integer(3))(step)

    comparison = compare(written({CORRECTED: replace(old, repair=repair, correction=OF_A_PART)}, IDS), before)
    assert comparison.classes == {CORRECTED: Change.VALUE}
    assert any((each.aspect, each.subject, each.repair) == (Aspect.SIDE_VALUE, "left", True) for each in comparison.differences)


def test_where_values_tell_nothing_another_statement_is_another_value() -> None:
    zero = "eot.124"
    baseline = snapshot(written({}, [zero]))
    statement = baseline[zero].canonical
    assert statement is not None
    assert {(each.left, each.right) for each in statement.values} == {("0", "0")}
    assert not compare(written({}, [zero]), baseline).differences
    *steps, (_, reason) = baseline[zero].derivation
    steps = (*steps, ("another statement about 0", reason))
    comparison = compare(written({}, [zero]), baseline_with(baseline, zero, derivation=steps))
    assert comparison.classes == {zero: Change.VALUE}
    assert "before" in text_of(comparison)


def test_a_side_without_a_value_is_a_changed_value(before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    row["claims"][0]["canonical"]["values"] = []
    comparison = compare(row, {JACOBIAN: before[JACOBIAN]}, lambda *_: None)
    assert comparison.classes == {JACOBIAN: Change.VALUE}
    assert {each.after for each in comparison.differences} == {"not finite at every point"}


def test_a_variable_that_occurs_only_in_the_text_is_not_lost_silently(before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    statement = before[JACOBIAN].canonical
    assert statement is not None
    wider = updated(statement, variables={**statement.variables, "level": Declared("real")})
    comparison = compare(row, baseline_with(before, JACOBIAN, canonical=wider))
    assert comparison.classes == {JACOBIAN: Change.SCOPE}
    assert [(each.aspect, each.subject) for each in comparison.differences] == [(Aspect.VARIABLE, "level")]


def test_only_the_steps_that_differ_are_shown(before: dict[str, Kept]) -> None:
    baseline = baseline_with(before, JACOBIAN, derivation=(("a = a", "first"), *before[JACOBIAN].derivation))
    comparison = compare(written({}, [JACOBIAN]), baseline)
    assert comparison.classes == {JACOBIAN: Change.REWRITE}
    assert (comparison.differences[0].before, comparison.differences[0].after) == ("1. a = a  — first", "none of these steps")


def test_verdict_changed(before: dict[str, Kept]) -> None:
    comparison = compare(written({}, IDS, torch(outcome=Outcome.REFUTED)), before)
    assert comparison.classes == {JACOBIAN: Change.VERDICT}
    assert ("proved", "open") in [(each.before, each.after) for each in comparison.differences]
    better = baseline_with(before, JACOBIAN, verdict=Verdict.OPEN)
    assert compare(written({}, IDS), better).classes == {JACOBIAN: Change.VERDICT}
    comparison = compare(written({}, IDS), baseline_with(before, CORRECTED, severity=Severity.FATAL))
    assert comparison.classes == {CORRECTED: Change.VERDICT}
    assert [(each.before, each.after) for each in comparison.differences] == [("corrected (fatal)", "corrected (slip)")]


def test_claim_added(before: dict[str, Kept]) -> None:
    comparison = compare(written({}, [*IDS, "eot.46"]), before)
    assert comparison.classes == {"eot.46": Change.MEMBERSHIP}
    assert comparison.failed
    assert "claim removed/added: 1 claim\n  eot.46\n    added\n      after" in text_of(comparison)


@pytest.mark.parametrize("ids", [["eot"], ["eot.59"], ["eot.46", "eot.59"]])
def test_claim_removed(ids: list[str], before: dict[str, Kept]) -> None:
    row = written({}, IDS[1:])
    row["environment"]["asked"] = ids
    comparison = compare(row, before)
    assert comparison.classes == {JACOBIAN: Change.MEMBERSHIP}
    assert [(each.aspect, each.after) for each in comparison.differences] == [(Aspect.REMOVED, "")]
    assert comparison.failed


def test_claims_outside_of_the_selection_are_not_missed(before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    row["environment"]["asked"] = [JACOBIAN]
    comparison = compare(row, before)
    assert not comparison.failed
    assert comparison.absent == len(IDS) - 1
    assert f"{len(IDS) - 1} of the baseline's claims were not in this run" in text_of(comparison)


def test_the_worst_class_counts_and_all_differences_are_shown(before: dict[str, Kept]) -> None:
    changed = rewritten(JACOBIAN, scaled(sp.Integer(2)), title="Another title")
    comparison = compare(written(changed, IDS, torch(error=0.9)), before)
    assert comparison.classes == {JACOBIAN: Change.VALUE}
    assert {each.change for each in comparison.differences} == {Change.VALUE, Change.SCOPE, Change.TEXT}
    assert "title  (text only)" in text_of(comparison)


# ── stability ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("error", [0.0002, 0.02, 0.05, 0.099, 0.19])
def test_an_error_may_move_by_less_than_an_order_of_magnitude(error: float, before: dict[str, Kept]) -> None:
    assert not classes({}, before, IDS, torch(error=error))


def test_values_agree_up_to_their_last_digits() -> None:
    assert agree("0.123456789012345678901234567890", "0.123456789012345678901234567891")
    assert not agree("0.123456789012345678901234567890", "0.123456789012345678901234568890")
    assert not agree("0", "0.0000000001")
    assert not agree("oo", "1")
    assert agree("oo", "oo")


def domain(kind: type[Domain], *shape: str, other_than: tuple[str, ...] = ()) -> Declared:
    return Declared(kind.name, shape, other_than=other_than)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        (domain(Real, "m"), domain(Positive, "m"), True),
        (domain(Simplex, "m"), domain(Interior, "m"), True),
        (domain(Positive, "m"), domain(Nonnegative, "m"), False),
        (domain(Real, "m"), domain(Positive, "n"), False),
        (domain(Index, "m"), domain(Index, "m", other_than=("j",)), True),
        (domain(Index, "m", other_than=("j",)), domain(Index, "m"), False),
        (domain(Index, "m", other_than=("j",)), domain(Index, "n", other_than=("j", "k")), False),
        (Declared("coupling", ("m", "n"), ("p", "q")), Declared("coupling", ("m", "n"), ("p", "r")), False),
    ],
)
def test_domains(wide: Declared, narrow: Declared, expected: bool) -> None:
    assert contains(wide, narrow) is expected
