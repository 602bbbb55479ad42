"""Unproved premises: conclusions used as premises, circles, proofs of something else."""

from collections.abc import Callable

import pytest
import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import positive
from derivations.records import rendering
from derivations.records.claims import SUPPORTING_VERDICTS, Verdict
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Fails, Follows, Limit
from tests.attacks import Table, refused
from tests.attacks.entries import HONEST, disbelieved, entry, verdict_on
from tests.attacks.vocabulary import K3, a, b, half, j, l, m, one, r, t, two, u, w, x, y, z
from tests.registers import register

LIE = AtLeast(x, 0)
DOUBLED = AtLeast(2 * x, 0)
TRUTH = AtLeast(x**2 + y, 0)
SHIFTED = AtLeast(x**2 + 2 * y, 0)


def follows(premise: AtLeast, conclusion: AtLeast, weight: sp.Expr = one, slack: sp.Expr = sp.S.Zero) -> Follows:
    return Follows((premise,), conclusion, (weight,), slack)


KERNEL: Table = {
    "Part 4: a premise implies itself": lambda: follows(LIE, LIE),
    "a premise implies itself, as written otherwise": lambda: follows(AtLeast(0, -x), LIE),
    "no premise": lambda: Follows((), LIE, ()),
    "no premise, and the slack is all": lambda: Follows((), LIE, (), x),
    "a weight < 0": lambda: follows(LIE, AtLeast(-x, 0), -one),
    "a weight of open sign": lambda: follows(AtLeast(x**2, 0), AtLeast(x**2 * w, 0), w),
    "a weight that another variable makes positive": lambda: follows(TRUTH, AtLeast(x, 0), positive("x")),
    "a weight < 0 at small sizes": lambda: follows(AtLeast(x**2, 0), AtLeast((m - 2) * x**2, 0), m - 2),
    "a slack < 0": lambda: follows(TRUTH, AtLeast(x**2 + y - z - 1, 0), one, -z - 1),
    "a slack of open sign": lambda: follows(TRUTH, AtLeast(x**2 + y + x, 0), one, x),
    "a slack of imaginary roots": lambda: follows(
        AtLeast(x**2, 0), AtLeast(x**2 + x, 0), one, total(l, sp.sqrt(x)) ** 2 / m**2
    ),
    "a slack that may be undefined": lambda: follows(AtLeast(x**2, 0), AtLeast(x**2 + 1 / z, 0), one, 1 / z),
    "another conclusion": lambda: follows(TRUTH, AtLeast(x**2 + y, 1)),
    "another conclusion, hidden at small sizes": lambda: follows(TRUTH, AtLeast(x**2 + y, K3)),
    "strict from ≥": lambda: follows(AtLeast(x**2, 0), AtLeast(2 * x**2, 0, strict=True), two),
    "strict from a weight that may be 0": lambda: follows(AtLeast(y, 0, strict=True), AtLeast(z * y, 0, strict=True), z),
    "strict from a slack that may be 0": lambda: follows(AtLeast(x**2, 0), AtLeast(x**2 + z, 0, strict=True), one, z),
    "more weights than premises": lambda: Follows((TRUTH,), SHIFTED, (one, one), y),
    "fewer weights than premises": lambda: Follows((TRUTH, TRUTH), SHIFTED, (one,), y),
    "a weight that is infinite": lambda: follows(AtLeast(z, 0), AtLeast(z * sp.oo, 0), sp.oo),
    "a weight that is a float": lambda: follows(TRUTH, AtLeast((x**2 + y) * sp.Float(0.1) * 3, 0), sp.Rational(3, 10)),
    "premises that contradict each other": lambda: Follows((AtLeast(x, 1), AtLeast(-1, x)), AtLeast(-2, 0), (one, one)),
    "premises that contradict the domain": lambda: follows(AtLeast(-1, y), AtLeast(-2, 2 * y), two),
    "a premise that no simplex meets": lambda: follows(AtLeast(r[j], 2), AtLeast(2 * r[j], 4), two),
    "a premise that is undefined": lambda: follows(AtLeast(sp.log(-y), 0), AtLeast(2 * sp.log(-y), 0), two),
    "a premise at every place from one place": lambda: follows(AtLeast(a[j], 0), AtLeast(total(l, a[l]), 0), m),
    "a premise in the mean from the total": lambda: follows(
        AtLeast(total(l, a[l]), 0), AtLeast(total(l, u[l] * a[l]), 0), 1 / m
    ),
    "a premise that is no inequality": lambda: Follows((Equation(x, -1),), AtLeast(x, -1), (one,)),  # type: ignore[arg-type]
    "a premise that is a disproof": lambda: Follows((Fails(LIE),), LIE, (one,)),  # type: ignore[arg-type]
    "a premise that is a limit": lambda: Follows((Limit(1 / t, t, sp.oo, sp.S.Zero),), AtLeast(x, 0), (one,)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", KERNEL)
def test_is_not_proved(name: str) -> None:
    assert refused(KERNEL[name])


LOW = 1 + x + x**3 / 6  # below exp(x), which no rule proves

UNVOUCHED: dict[str, Callable[[], Entry]] = {
    "Part 4: F because of F": lambda: entry(follows(LIE, LIE)),
    "F because of 2F": lambda: entry(follows(DOUBLED, LIE, half)),
    "F because of 2F because of F": lambda: entry(follows(LIE, DOUBLED, two), follows(DOUBLED, LIE, half)),
    "F because of 2F because of 4F, given nothing": lambda: entry(
        follows(AtLeast(4 * x, 0), DOUBLED, half), follows(DOUBLED, LIE, half)
    ),
    "a later step vouches": lambda: entry(
        follows(AtLeast(x**2, 0), AtLeast(2 * x**2, 0), two), AtLeast(x**2, 0), AtLeast(x**2 + y, 0)
    ),
    "a disproof vouches": lambda: entry(Fails(LIE), follows(LIE, DOUBLED, two)),
    "an undecided step vouches": lambda: entry(
        AtLeast(sp.exp(x), LOW), follows(AtLeast(sp.exp(x), LOW), AtLeast(2 * sp.exp(x), 2 * LOW), two)
    ),
    "a step of another domain vouches": lambda: entry(AtLeast(positive("x"), 0), follows(LIE, DOUBLED, two)),
    "a step of another sense vouches": lambda: entry(
        AtLeast(0, -(x**2)), follows(AtLeast(-(x**2), 0), AtLeast(-2 * x**2, 0), two)
    ),
    "a step that is not strict vouches for one that is": lambda: entry(
        AtLeast(x**2, 0), follows(AtLeast(x**2, 0, strict=True), AtLeast(2 * x**2, 0, strict=True), two)
    ),
    "a step for one place vouches for all": lambda: entry(
        AtLeast(total(l, b[l]), 0), follows(AtLeast(total(l, a[l]), 0), AtLeast(2 * total(l, a[l]), 0), two)
    ),
    "a hypothesis in words vouches": lambda: entry(follows(LIE, DOUBLED, two), hypotheses=("x ≥ 0",)),
    "a claim that is not named vouches": lambda: entry(follows(TRUTH, SHIFTED, one, y)),
}


@pytest.mark.parametrize("name", UNVOUCHED)
def test_a_premise_without_proof_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, entry(TRUTH, id="eot.1", twins={}))
    assert disbelieved(UNVOUCHED[name])


def test_control_an_earlier_step_vouches() -> None:
    assert verdict_on(entry(TRUTH, follows(TRUTH, SHIFTED, one, y))).verdict is Verdict.PROVED


SUPPORT: dict[str, tuple[list[Entry], Entry]] = {
    "an unknown claim": ([], entry(follows(TRUTH, SHIFTED, one, y), needs=("eot.nowhere",))),
    "an unknown claim, though nothing is used": ([], entry(HONEST, needs=("eot.nowhere",))),
    "itself": ([], entry(HONEST, needs=("eot.0",))),
    "a circle of two": (
        [entry(follows(LIE, DOUBLED, two), id="eot.1", needs=("eot.0",))],
        entry(follows(DOUBLED, LIE, half), needs=("eot.1",)),
    ),
    "a circle of three": (
        [
            entry(follows(LIE, DOUBLED, two), id="eot.1", needs=("eot.2",)),
            entry(follows(AtLeast(4 * x, 0), LIE, half**2), id="eot.2", needs=("eot.0",)),
        ],
        entry(follows(DOUBLED, AtLeast(4 * x, 0), two), needs=("eot.1",)),
    ),
    "a claim that is refuted": ([entry(Fails(LIE), id="eot.1")], entry(follows(LIE, DOUBLED, two), needs=("eot.1",))),
    "a claim that is false": ([entry(LIE, id="eot.1")], entry(follows(LIE, DOUBLED, two), needs=("eot.1",))),
    "a claim that is open": (
        [entry(AtLeast(sp.exp(x), LOW), id="eot.1")],
        entry(follows(AtLeast(sp.exp(x), LOW), AtLeast(2 * sp.exp(x), 2 * LOW), two), needs=("eot.1",)),
    ),
    "a claim's corrected print": (
        [entry(Fails(LIE), id="eot.1", repair=(AtLeast(x, -sp.Abs(x)),))],
        entry(follows(LIE, DOUBLED, two), needs=("eot.1",)),
    ),
    "a claim of a claim": (
        [entry(TRUTH, id="eot.2"), entry(AtLeast(x**2, 0), id="eot.1", needs=("eot.2",))],
        entry(follows(TRUTH, SHIFTED, one, y), needs=("eot.1",)),
    ),
    "a claim that proves less": (
        [entry(AtLeast(x**2, -1), id="eot.1")],
        entry(follows(AtLeast(x**2, y), AtLeast(2 * x**2, 2 * y), two), needs=("eot.1",)),
    ),
    "a claim about another variable": (
        [entry(AtLeast(positive("x"), 0), id="eot.1")],
        entry(follows(LIE, DOUBLED, two), needs=("eot.1",)),
    ),
    "a claim whose twins are its statement": (
        [entry(HONEST, id="eot.1", twins={"x": lambda: LIE, "2x": lambda: DOUBLED})],
        entry(follows(LIE, DOUBLED, two), needs=("eot.1",)),
    ),
    "a claim with nothing but words": ([entry(id="eot.1")], entry(follows(TRUTH, SHIFTED, one, y), needs=("eot.1",))),
}


@pytest.mark.parametrize("name", SUPPORT)
def test_a_claim_does_not_vouch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others, claim = SUPPORT[name]
    register(monkeypatch, *others, claim)
    assert disbelieved(lambda: claim)


def test_control_a_needed_claim_vouches(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = entry(follows(TRUTH, SHIFTED, one, y), needs=("eot.1",))
    register(monkeypatch, entry(TRUTH, id="eot.1"), claim)
    assert verdict_on(claim).verdict is Verdict.PROVED


GIVEN: dict[str, Callable[[], Entry]] = {
    "a hypothesis of the conclusion": lambda: entry(Follows((LIE,), AtLeast(2 * x, 0, given=(LIE,)), (two,))),
    "a hypothesis of the step": lambda: entry(Follows((LIE,), DOUBLED, (two,), given=(LIE,))),
    "a hypothesis of an earlier step": lambda: entry(AtLeast(x, 0, given=(AtLeast(x, 1),)), follows(LIE, DOUBLED, two)),
    "a hypothesis of the premise": lambda: entry(
        AtLeast(x, 0, given=(AtLeast(x, 1),)), follows(AtLeast(x, 0, given=(AtLeast(x, 1),)), DOUBLED, two)
    ),
    "a hypothesis two steps before": lambda: entry(
        AtLeast(x, 0, given=(AtLeast(x, 1),)), follows(LIE, DOUBLED, two), follows(DOUBLED, AtLeast(4 * x, 0), two)
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_hypotheses_are_in_the_scope(name: str) -> None:
    """Without its hypothesis the conclusion is false, so it is not green unless the scope states the hypothesis."""
    claim = GIVEN[name]()
    judgement, evidence = verdict_on(claim), examine(claim).evidence
    assert judgement.verdict not in SUPPORTING_VERDICTS or (evidence.given and "given" in rendering.cause(judgement.cause))


def test_hypotheses_of_a_needed_claim_are_in_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = entry(follows(LIE, DOUBLED, two), needs=("eot.1",))
    register(monkeypatch, entry(AtLeast(x, 0, given=(AtLeast(x, 1),)), id="eot.1"), claim)
    judgement, evidence = verdict_on(claim), examine(claim).evidence
    assert judgement.verdict not in SUPPORTING_VERDICTS or (evidence.given and "given" in rendering.cause(judgement.cause))


def nowhere(*, needed: bool = False) -> list[Entry]:
    """x ≥ 0 is proved for x ≥ 1, and used for x ≤ 1/2, where it may hold but is not proved."""
    proof, use = AtLeast(x, 0, given=(AtLeast(x, 1),)), Follows((LIE,), DOUBLED, (two,), given=(AtLeast(half, x),))
    if needed:
        return [entry(proof, id="eot.1"), entry(use, needs=("eot.1",))]
    return [entry(proof, use)]


@pytest.mark.parametrize("needed", [False, True])
def test_hypotheses_of_two_steps_that_contradict_each_other(needed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = nowhere(needed=needed)
    register(monkeypatch, *made)
    assert disbelieved(lambda: made[-1])
