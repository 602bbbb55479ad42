"""The symbolic layer's evidence on derivations, corrections and twins."""

from collections.abc import Sequence

import pytest
import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, scalar, size, vector
from derivations.judge import symbolic
from derivations.judge.examination import run
from derivations.judge.mutants import Fate, Trial
from derivations.judge.symbolic import evidence_of
from derivations.records.claims import Evidence, Outcome
from derivations.records.theorems import SQUEEZE
from derivations.relations import AtLeast, Equation, Fails, Follows, Relation

m = size("m")
l = index("l", m)  # noqa: E741
x, y, t = scalar("x"), scalar("y"), positive("t")
a, three = vector("a", m), vector("o", sp.Integer(3))

SQUARE, FALSE = Equation((x + y) ** 2, x**2 + 2 * x * y + y**2), Equation((x + y) ** 2, x**2 + y**2)
OTHER, MINUS = Equation((x + y) ** 2, x**2 - 2 * x * y + y**2), Equation((x - y) ** 2, x**2 - 2 * x * y + y**2)
FIXED = Equation((three[1] + x) ** 2, three[1] ** 2 + 2 * three[1] * x + x**2)
LEFT = sp.sqrt((x**2 + y**2) ** 2 * t**2)
OPEN = Equation(LEFT, t * sp.sqrt(x**4 + 2 * x**2 * y**2 + y**4))
ABOVE = AtLeast(x, y)


def examined(*steps: Relation, repair: Sequence[Relation] = (), replaces: str | None = None, **twins: Relation) -> Evidence:
    """The evidence of an examination without errors."""
    made = tuple((name, lambda twin=twin: twin) for name, twin in twins.items())
    repaired = run(lambda: iter(repair), tuple) if repair else None
    evidence, errors = evidence_of(run(lambda: iter(steps), tuple), repaired, made, replaces)
    assert not errors
    return evidence


def test_the_last_step_is_the_statement() -> None:
    evidence = examined(FIXED, FIXED, SQUARE)
    assert (evidence.outcome, evidence.detail, evidence.general) == (Outcome.HOLDS, "3 steps", True)
    assert evidence.canonical is not None
    assert (evidence.canonical.left, evidence.scope) == ("x**2 + 2*x*y + y**2", "all x real, y real")
    assert not examined(SQUARE, SQUARE, FIXED).general
    assert (evidence.correction, evidence.repair, evidence.canonical_repair) == (None, (), None)
    assert len(evidence.derivation) == 3


def test_the_last_step_of_a_correction_is_the_correction() -> None:
    evidence = examined(MINUS, MINUS, Fails(FALSE), repair=(FIXED, FIXED, SQUARE), a=OTHER)
    assert (evidence.outcome, evidence.correction, evidence.faults) == (Outcome.REFUTED, Outcome.HOLDS, ())
    assert evidence.canonical is not None
    assert evidence.canonical_repair is not None
    assert (evidence.canonical.right, evidence.canonical_repair.right) == ("x**2 + y**2", "x**2 + 2*x*y + y**2")
    assert evidence.scope.startswith("one exact point: x = ")
    assert evidence.general
    assert len(evidence.repair) == 3
    assert evidence.power == 1
    assert evidence.mutants > 3


def test_the_fault_of_a_correction_is_shown() -> None:
    assert examined(SQUARE, repair=(SQUARE,)).faults[0] == "correction: a statement that holds must not have one"
    assert examined(Fails(FALSE), repair=(MINUS, FALSE)).faults[0].startswith("the correction: step 2 does not hold: ")
    undecided = examined(Fails(FALSE), repair=(SQUARE, OPEN), replaces="all of it")
    assert undecided.faults[0].startswith("the correction: not decided: ")
    assert (undecided.correction, len(undecided.faults)) == (Outcome.INCONCLUSIVE, 1)
    assert "not about the print's left side" in examined(Fails(FALSE), repair=(MINUS,)).faults[0]
    assert not examined(Fails(FALSE), repair=(MINUS,), replaces="the sign").faults


def test_inherited_hypotheses_and_quotes_are_in_the_scope() -> None:
    step = Follows((ABOVE,), AtLeast(2 * x, 2 * y), (sp.Integer(2),), given=(ABOVE,), quotes=(SQUEEZE,))
    then = Follows((AtLeast(2 * x, 2 * y),), AtLeast(2 * x + 1, 2 * y), (sp.S.One,), slack=sp.S.One)
    evidence = examined(step, then)
    assert (evidence.scope, evidence.given) == ("all x real, y real, given x ≥ y, quoting squeeze", ("x ≥ y",))
    assert examined(step).scope == "all x real, y real, given x ≥ y, quoting squeeze"
    assert examined(SQUARE).scope == "all x real, y real"


def test_only_a_proof_with_twins_has_power() -> None:
    assert (examined(SQUARE, a=OTHER).power, examined(SQUARE).power) == (1, None)
    assert (examined(OPEN, a=Equation(LEFT, t)).power, examined(OPEN, a=Equation(LEFT, t)).mutants) == (None, 0)
    weak = examined(AtLeast(x**4 + 1, 0, because=x**4 + 1), a=AtLeast(0, x**4 + 1))
    assert len(weak.alive) == round(weak.mutants * (1 - (weak.power or 1)))
    assert examined(FIXED, FIXED, AtLeast(total(l, a[l] ** 2), 0), a=AtLeast(0, total(l, a[l] ** 2 + 1))).mutants


def test_an_undecided_twin_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    fates = [Trial(fate.name, fate) for fate in (Fate.REFUTED, Fate.UNDECIDED, Fate.EQUIVALENT, Fate.UNDEFINED)]
    monkeypatch.setattr(symbolic, "tried", lambda relation, hints: fates)
    evidence = examined(SQUARE, a=OTHER)
    assert (evidence.power, evidence.mutants, evidence.alive) == (0.5, 2, ("UNDECIDED",))


def test_twins_of_decided_statements_are_refuted_variants() -> None:
    evidence = examined(MINUS, MINUS, SQUARE, a=OTHER, b=SQUARE, c=OPEN, d=Equation(t, t + 1), e=OTHER)
    assert evidence.refuted_twins == ("a", "d", "e")
    assert [fault.partition(":")[0] for fault in evidence.faults] == [
        "the twin 'b' is not refuted",
        "the twin 'c' is not refuted",
        "the twin 'd' is no version of the claim",
        "the twin 'e' repeats the twin 'a'",
    ]
    assert examined(SQUARE, SQUARE, Fails(FALSE), a=FALSE, b=OTHER).faults == ("the twin 'a' repeats the claim",)


def test_twins_of_undecided_statements_may_live_unless_true() -> None:
    evidence = examined(
        MINUS,
        MINUS,
        OPEN,
        a=Equation(LEFT, LEFT),
        b=Equation(t * SQUARE.left, t * SQUARE.right),
        c=Equation(LEFT, t),
        d=OPEN,
        e=Equation(t, t + 1),
        f=OPEN,
        g=Equation(OPEN.right, LEFT),
    )
    assert evidence.outcome is Outcome.INCONCLUSIVE
    assert evidence.refuted_twins == ("c", "e")
    assert [fault.partition(":")[0] for fault in evidence.faults] == [
        "the twin 'a' is true",
        "the twin 'b' is true",
        "the twin 'b' repeats the twin 'a'",
        "the twin 'd' repeats the claim",
        "the twin 'f' repeats the claim",
        "the twin 'f' repeats the twin 'd'",
        "the twin 'g' repeats the claim",
        "the twin 'g' repeats the twin 'd'",
        "the twin 'g' repeats the twin 'f'",
        "the twin 'e' is no version of the claim",
    ]
    undecided = examined(MINUS, MINUS, OPEN, a=Equation(LEFT, t))
    assert undecided.faults == ()
    assert undecided.detail.startswith("not decided: no failure at ")
    assert undecided.detail.endswith(f"; {OPEN.explain()}")


@pytest.mark.parametrize("steps", [(SQUARE, OPEN, MINUS), (OPEN, MINUS)])
def test_a_step_before_that_is_not_decided_is_a_fault_and_no_excuse(steps: tuple[Relation, ...]) -> None:
    evidence = examined(*steps, a=OPEN, b=Equation((x - y) ** 2, x**2))
    assert [fault.partition(":")[0] for fault in evidence.faults] == [
        f"step {1 + steps.index(OPEN)} does not hold",
        "the twin 'a' is not refuted",
    ]
    assert evidence.detail == "; ".join(evidence.faults)
