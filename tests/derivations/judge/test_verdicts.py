"""The rule that computes verdicts, branch by branch: conditions that earn a verdict, and others."""

from typing import Any

import pytest
from msgspec.structs import replace

from derivations.judge.verdicts import WORST_FIRST_VERDICTS, contradicts, judge, survivors, worst
from derivations.records import rendering
from derivations.records.base import Record
from derivations.records.claims import (
    FAULT_VERDICTS,
    SUPPORTING_VERDICTS,
    Cause,
    CauseKind,
    Claim,
    Correction,
    Evidence,
    Judgement,
    Kind,
    Layer,
    Outcome,
    Severity,
    Statement,
    Step,
    Survivor,
    Twin,
    Verdict,
    Witness,
)
from derivations.records.normal_form import Canonical, Declared, Form, Premise, Sample, Sign

TWINS = ("the sign", "the factor")
REPAIR = Correction(Statement("x", "x is x."), Severity.SLIP)
UNDER = Correction(Statement("x", "x is x."), Severity.HYPOTHESIS, "x > 0")
WITNESS = Witness({"m": 2}, "1", "≠", "2")
SILENT = [o for o in Outcome if o not in (Outcome.HOLDS, Outcome.REFUTED)]


def claim(kind: Kind = Kind.IDENTITY, twins: tuple[str, ...] = TWINS, correction: Correction | None = None) -> Claim:
    return Claim("eot.0", kind, "t", Statement("x", "x."), twins=tuple(map(Twin, twins)), correction=correction)


def vote(layer: Layer, outcome: Outcome, **more: Any) -> Evidence:
    return Evidence("eot.0", layer, outcome, f"scope of {layer}", **{"refuted_twins": TWINS, "detail": "why", **more})


def proof(**more: Any) -> Evidence:
    return vote(Layer.SYMBOLIC, Outcome.HOLDS, **{"general": True, **more})


def disproof(**more: Any) -> Evidence:
    return vote(Layer.SYMBOLIC, Outcome.REFUTED, **{"general": True, "witness": WITNESS, **more})


torch_holds, primal_holds = vote(Layer.TORCH, Outcome.HOLDS), vote(Layer.PRIMAL, Outcome.HOLDS)
torch_refutes = vote(Layer.TORCH, Outcome.REFUTED)
mended = disproof(correction=Outcome.HOLDS)

EARNED = {
    "proved": (claim(), [proof()], Verdict.PROVED),
    "proved and confirmed": (claim(), [proof(), torch_holds, primal_holds], Verdict.PROVED),
    "proved, others silent": (claim(), [proof(), vote(Layer.TORCH, Outcome.TIMEOUT, refuted_twins=())], Verdict.PROVED),
    "proved for three keys": (claim(), [proof(general=False)], Verdict.CONFIRMED),
    "confirmed": (claim(), [torch_holds], Verdict.CONFIRMED),
    "confirmed, no proof": (claim(), [vote(Layer.SYMBOLIC, Outcome.INCONCLUSIVE), primal_holds], Verdict.CONFIRMED),
    "confirmed, however general": (claim(), [vote(Layer.TORCH, Outcome.HOLDS, general=True)], Verdict.CONFIRMED),
    "a definition that nobody decided": (
        claim(Kind.DEFINITION),
        [vote(Layer.SYMBOLIC, Outcome.INCONCLUSIVE), torch_holds],
        Verdict.CONFIRMED,
    ),
    "definition": (claim(Kind.DEFINITION), [proof()], Verdict.DEFINITION),
    "definition without twins": (claim(Kind.DEFINITION, ()), [proof(refuted_twins=())], Verdict.DEFINITION),
    "measured, in agreement": (claim(Kind.EMPIRICAL), [torch_holds], Verdict.MEASURED),
    "an empirical claim, refuted at a point": (
        claim(Kind.EMPIRICAL),
        [vote(Layer.TORCH, Outcome.REFUTED, witness=WITNESS)],
        Verdict.REFUTED,
    ),
    "checked": (claim(Kind.EXTERNAL), [vote(Layer.SOURCE, Outcome.HOLDS)], Verdict.CHECKED),
    "external, but only computed": (claim(Kind.EXTERNAL), [torch_holds], Verdict.CONFIRMED),
    "not external": (claim(), [vote(Layer.SOURCE, Outcome.HOLDS)], Verdict.CONFIRMED),
    "refuted": (claim(), [disproof()], Verdict.REFUTED),
    "refuted by two": (claim(), [torch_refutes, disproof()], Verdict.REFUTED),
    "refuted, repair not proved": (claim(correction=REPAIR), [disproof(correction=Outcome.INCONCLUSIVE)], Verdict.REFUTED),
    "refuted, repair for three keys": (
        claim(correction=REPAIR),
        [disproof(correction=Outcome.HOLDS, general=False)],
        Verdict.REFUTED,
    ),
    "refuted, repair not declared": (claim(), [mended], Verdict.REFUTED),
    "refuted, repair not symbolic": (
        claim(correction=REPAIR),
        [disproof(), vote(Layer.TORCH, Outcome.REFUTED, correction=Outcome.HOLDS, general=True)],
        Verdict.REFUTED,
    ),
    "refuted, a derivation at fault": (claim(), [disproof(faults=("step 1 does not hold",))], Verdict.REFUTED),
    "refuted, repair at fault": (
        claim(correction=REPAIR),
        [disproof(correction=Outcome.HOLDS, faults=("another left side",))],
        Verdict.REFUTED,
    ),
    "a false definition": (claim(Kind.DEFINITION), [disproof()], Verdict.REFUTED),
    "corrected": (claim(correction=REPAIR), [mended], Verdict.CORRECTED),
    "proved-under": (claim(correction=UNDER), [mended], Verdict.PROVED_UNDER),
}

UNEARNED = {
    "no evidence": (claim(), [], "no layer spoke"),
    "error": (claim(), [proof(), vote(Layer.TORCH, Outcome.ERROR)], "torch failed: why"),
    "error, refuted": (claim(), [disproof(), vote(Layer.PRIMAL, Outcome.ERROR)], "primal failed"),
    "contradiction": (claim(), [proof(), torch_refutes], "contradict"),
    "contradiction, corrections": (
        claim(correction=REPAIR),
        [mended, vote(Layer.TORCH, Outcome.REFUTED, correction=Outcome.REFUTED)],
        "contradict",
    ),
    "contradiction of a layer without power": (
        claim(),
        [proof(), vote(Layer.TORCH, Outcome.REFUTED, refuted_twins=())],
        "contradict",
    ),
    "measured, in disagreement": (claim(Kind.EMPIRICAL), [torch_refutes], "measured, in disagreement: why"),
    "measured, in half agreement": (claim(Kind.EMPIRICAL), [torch_refutes, primal_holds], "contradict"),
    "vacuous, but confirmed": (claim(), [vote(Layer.SYMBOLIC, Outcome.VACUOUS), torch_holds], "symbolic: vacuous"),
    "ill-defined, but confirmed": (
        claim(),
        [vote(Layer.SYMBOLIC, Outcome.INCONCLUSIVE, faults=("x may be 0",)), torch_holds],
        "symbolic: x may be 0",
    ),
    "a derivation at fault, but confirmed": (
        claim(),
        [proof(faults=("the twin repeats the claim",)), torch_holds],
        "symbolic: the twin repeats the claim",
    ),
    "a vote at fault": (
        claim(),
        [proof(), vote(Layer.TORCH, Outcome.HOLDS, faults=("nothing was compared",))],
        "torch: nothing was compared",
    ),
    "a vacuous definition": (claim(Kind.DEFINITION), [vote(Layer.SYMBOLIC, Outcome.VACUOUS), torch_holds], "vacuous"),
    "confirmed without power": (
        claim(),
        [vote(Layer.SYMBOLIC, Outcome.INCONCLUSIVE), vote(Layer.TORCH, Outcome.HOLDS, refuted_twins=TWINS[:1])],
        "inconclusive",
    ),
    "no witness": (claim(), [torch_refutes], "without an exact witness"),
    "no witness, repaired": (claim(correction=REPAIR), [disproof(witness=None, correction=Outcome.HOLDS)], "witness"),
    "no witness of an external fact": (claim(Kind.EXTERNAL), [vote(Layer.SOURCE, Outcome.REFUTED)], "witness"),
    "a living twin": (claim(), [proof(refuted_twins=TWINS[:1])], "symbolic: holds"),
    "a living twin in another layer": (
        claim(),
        [proof(), vote(Layer.TORCH, Outcome.HOLDS, refuted_twins=TWINS[1:])],
        "twins alive: torch: the sign",
    ),
    "a living twin, refuted": (claim(), [disproof(refuted_twins=TWINS[:1])], "symbolic: refuted"),
    "a living twin, measured": (claim(Kind.EMPIRICAL), [vote(Layer.TORCH, Outcome.HOLDS, refuted_twins=())], "torch: holds"),
    "a living twin of a definition": (claim(Kind.DEFINITION), [proof(refuted_twins=())], "symbolic: holds"),
}


@pytest.mark.parametrize("name", EARNED)
def test_earned(name: str) -> None:
    kind_given, evidence, verdict = EARNED[name]
    judgement = judge(kind_given, evidence)
    assert judgement.verdict is verdict
    assert rendering.cause(judgement.cause)
    assert (judgement.severity is not None) == (verdict in FAULT_VERDICTS)
    assert judge(kind_given, evidence[::-1]).verdict is verdict


@pytest.mark.parametrize("name", UNEARNED)
def test_not_earned(name: str) -> None:
    kind_given, evidence, reason = UNEARNED[name]
    judgement = judge(kind_given, evidence)
    assert judgement.verdict is Verdict.OPEN
    assert reason in rendering.cause(judgement.cause)
    assert judge(kind_given, evidence[::-1]).verdict is Verdict.OPEN


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("outcome", SILENT)
def test_silence_is_never_a_pass(outcome: Outcome, kind: Kind) -> None:
    evidence = [vote(layer, outcome, general=True, witness=WITNESS, correction=outcome) for layer in Layer]
    assert judge(claim(kind, correction=REPAIR), evidence).verdict is Verdict.OPEN


@pytest.mark.parametrize("outcome", [o for o in SILENT if o is not Outcome.ERROR])
def test_silence_has_a_reason(outcome: Outcome) -> None:
    cause = judge(claim(), [silent := vote(Layer.PRIMAL, outcome)]).cause
    assert cause == Cause(CauseKind.SILENCE, (silent,))
    assert rendering.cause(cause) == f"primal: {outcome} (why)"
    without = judge(claim(), [vote(Layer.PRIMAL, outcome, detail="")]).cause
    assert rendering.cause(without) == f"primal: {outcome} (scope of primal)"


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.DEFINITION, Kind.EMPIRICAL)])
def test_an_assertion_needs_two_twins(kind: Kind, count: int) -> None:
    few = claim(kind, TWINS[:count])
    for evidence in ([proof(), torch_holds], [disproof()], [mended, torch_refutes], [vote(Layer.SOURCE, Outcome.HOLDS)]):
        judgement = judge(few, evidence)
        assert judgement.verdict is Verdict.OPEN
        assert judgement.cause == Cause(CauseKind.FEW_TWINS, twins=count)


def test_a_definition_that_is_not_proved_needs_two_twins() -> None:
    undecided, heard = vote(Layer.SYMBOLIC, Outcome.INCONCLUSIVE), vote(Layer.TORCH, Outcome.HOLDS)
    one = judge(claim(Kind.DEFINITION, TWINS[:1]), [undecided, heard])
    assert (one.verdict, one.cause) == (Verdict.OPEN, Cause(CauseKind.UNCONFIRMED, (undecided,)))
    assert judge(claim(Kind.DEFINITION), [undecided, heard]).verdict is Verdict.CONFIRMED


def test_a_contradiction_names_its_layers() -> None:
    silent = vote(Layer.PRIMAL, Outcome.TIMEOUT)
    assert judge(claim(), [proof(), silent, torch_refutes]).cause == Cause(CauseKind.CONTRADICTION, (proof(), torch_refutes))


def test_one_layer_is_enough_for_a_repair_and_for_a_source() -> None:
    assert judge(claim(correction=REPAIR), [mended, torch_refutes]).verdict is Verdict.CORRECTED
    assert judge(claim(Kind.EXTERNAL), [vote(Layer.SOURCE, Outcome.HOLDS), torch_holds]).verdict is Verdict.CHECKED


@pytest.mark.parametrize(
    "record",
    [
        Statement("", ""),
        REPAIR,
        WITNESS,
        Survivor(Layer.TORCH, ""),
        Cause(CauseKind.SUPPORT),
        torch_holds,
        Judgement(Verdict.OPEN, Cause(CauseKind.SUPPORT)),
        Step("", "", True),
        Canonical(Form(Sign.EQUAL), "", "", {}, ()),
        Form(Sign.EQUAL),
        Premise("", Form(Sign.EQUAL), ""),
        Sample({}, None, None),
        Declared("real"),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_cannot_be_changed(record: Record) -> None:
    with pytest.raises(AttributeError):
        setattr(record, record.__struct_fields__[0], None)


def test_evidence_alone_gives_no_verdict() -> None:
    silent = Evidence("eot.0", Layer.TORCH, Outcome.VACUOUS, "scope")
    assert not any(getattr(silent, name) for name in ("seconds", "detail", "general", "mutants", "refuted_twins", "faults"))
    assert Cause(CauseKind.SUPPORT) == Cause(CauseKind.SUPPORT, (), (), None, None, 0, (), None)
    assert not Step("x", "why", True).detail


def test_every_verdict_is_reached() -> None:
    assert {verdict for _, _, verdict in EARNED.values()} | {Verdict.OPEN} == set(Verdict)
    assert not SUPPORTING_VERDICTS & FAULT_VERDICTS
    assert set(Verdict) == SUPPORTING_VERDICTS | FAULT_VERDICTS | {Verdict.OPEN}


@pytest.mark.parametrize(
    ("correction", "severity", "reason"),
    [
        (None, Severity.FATAL, "at m = 2: 1 ≠ 2"),
        (REPAIR, Severity.SLIP, "at m = 2: 1 ≠ 2"),
        (UNDER, Severity.HYPOTHESIS, "x > 0; without it: at m = 2: 1 ≠ 2"),
    ],
)
def test_a_fault_has_its_severity_and_its_witness(correction: Correction | None, severity: Severity, reason: str) -> None:
    judgement = judge(claim(correction=correction), [mended])
    assert (judgement.severity, rendering.cause(judgement.cause)) == (severity, reason)


def test_survivors_are_named_by_voting_layer() -> None:
    blind, late = ((Layer.TORCH, Outcome.REFUTED), (Layer.PRIMAL, Outcome.TIMEOUT))
    evidence = [proof(), vote(*blind, refuted_twins=()), vote(*late, refuted_twins=())]
    assert survivors(claim(), evidence) == (Survivor(Layer.TORCH, "the sign"), Survivor(Layer.TORCH, "the factor"))
    assert judge(claim(), evidence[1:]).survivors == survivors(claim(), evidence)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ([proof(), torch_holds], False),
        ([disproof(), torch_refutes], False),
        ([proof(), vote(Layer.TORCH, Outcome.INCONCLUSIVE)], False),
        ([proof(), disproof()], True),
        ([proof(correction=Outcome.HOLDS), torch_holds, vote(Layer.PRIMAL, Outcome.HOLDS, correction=Outcome.REFUTED)], True),
        ([], False),
    ],
)
def test_contradiction(evidence: list[Evidence], expected: bool) -> None:
    assert contradicts(evidence) is expected


def judged(verdict: Verdict, severity: Severity | None = None) -> Judgement:
    return Judgement(verdict, Cause(CauseKind.SUPPORT, (vote(Layer.TORCH, Outcome.HOLDS, detail=verdict),)), severity)


def test_a_printed_id_shows_the_worst_of_its_parts() -> None:
    own, parts = judged(Verdict.PROVED), {"eot.1": judged(Verdict.DEFINITION), "eot.2": judged(Verdict.OPEN)}
    assert worst(own, {}) == (own, None)
    shown, part = worst(own, parts)
    assert (shown.verdict, part) == (Verdict.OPEN, "eot.2")
    assert shown.cause == replace(parts["eot.2"].cause, part="eot.2")
    assert rendering.cause(shown.cause) == "eot.2: torch: scope of torch"
    parts["eot.3"] = judged(Verdict.CORRECTED, Severity.SLIP)
    assert worst(own, parts)[1] == "eot.3"
    parts["eot.4"] = judged(Verdict.CORRECTED, Severity.FATAL)
    assert (worst(own, parts)[0].severity, worst(own, parts)[1]) == (Severity.FATAL, "eot.4")
    assert worst(judged(Verdict.REFUTED, Severity.FATAL), parts)[1] is None


def test_badness_orders_all_verdicts() -> None:
    assert sorted(WORST_FIRST_VERDICTS) == sorted(Verdict)
    assert set(WORST_FIRST_VERDICTS[:3]) == FAULT_VERDICTS
    assert WORST_FIRST_VERDICTS[3] is Verdict.OPEN


def test_a_living_twin_of_a_part_counts_for_the_whole_claim() -> None:
    alive = Survivor(Layer.TORCH, "the sign")
    parts = {"eot.1": Judgement(Verdict.OPEN, Cause(CauseKind.SURVIVORS, survivors=(alive,)), survivors=(alive,))}
    shown, _ = worst(judged(Verdict.PROVED), parts)
    assert shown.survivors == (replace(alive, part="eot.1"),)
    assert rendering.survivor(shown.survivors[0]) == "eot.1: torch: the sign"


def test_display_names_of_a_claim() -> None:
    named = Claim("eot.rem3.4", Kind.LISTING, "t", Statement("", ""))
    assert (named.document, named.number, named.asserts) == ("eot", "rem3.4", True)
    assert not claim(Kind.EMPIRICAL).asserts
    assert not claim(Kind.DEFINITION).asserts
