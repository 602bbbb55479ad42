"""Rocq itself, where it is installed, accepts true theorems and no planted error."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path

import pytest

from derivations.records.seals import SealOutcome
from derivations.register.catalogue import entries
from derivations.rocq import checking, toplevel
from derivations.rocq.checking import assumed, checked, foreign, opened
from derivations.rocq.command import wrong_theorems
from derivations.rocq.export import HEADER, Theorem, theorem
from derivations.rocq.layer import check
from derivations.rocq.library import Library, MissingError, built

pytestmark = pytest.mark.skipif(not shutil.which("coqc"), reason="Rocq is not installed")

CLAIMS = ("eot.59", "eot.58", "eot.46")


@pytest.fixture(scope="module")
def library() -> Library:
    """The compiled library, kept between runs; without mathcomp-analysis the tests are skipped."""
    try:
        return built()
    except MissingError as why:
        pytest.skip(str(why))


def exported(id: str) -> Theorem:
    """The theorem of a claim."""
    relation = entries()[id].repaired() or entries()[id].printed()
    assert relation is not None
    return theorem(id, relation)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store for answers, empty at first."""
    return tmp_path_factory.mktemp("answers")


def test_claims_are_accepted(library: Library, store: Path) -> None:
    """The Jacobian and the score gradient, with no axioms beyond those of mathcomp-analysis."""
    answers = checked([exported(id) for id in CLAIMS], library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers


def test_sums_are_exchanged_with_their_factors_in_order_or_as_they_were(library: Library, store: Path) -> None:
    """The first proof needs the factors of exchanged sums reordered, the second in the original order."""
    made = [exported(id) for id in ("beyond.pass-certificate", "deciphering.s5.general-covariance")]
    answers = checked(made, library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers


def test_planted_errors_are_not_accepted(library: Library, store: Path) -> None:
    """A wrong sign, an Admitted, an axiom of its own, and another theorem's proof."""
    made = exported("eot.59")
    sign = replace(made, name="sign", statement=made.statement.replace("eot_59", "sign").replace(") = (((-", ") = (((0 +"))
    admitted = replace(made, name="admitted", statement="Theorem admitted : False", proof="Admitted.")
    axiom = Theorem("axiom", "Axiom mine : False.\nTheorem axiom : False.", "exact: mine.", {})
    other = replace(made, name="other", statement=made.statement.replace("eot_59", "other"), proof=exported("eot.58").proof)
    answers = checked([sign, admitted, axiom, other], library, 1, store)
    assert not any(answer.accepted for answer in answers.values()), answers


def test_an_axiom_of_the_session_is_counted(library: Library, store: Path) -> None:
    """An axiom declared before the theorem is among its assumptions and leads to its refusal."""
    with opened(library, ["From AttentionProofs Require Import Script.", "Axiom mine : False."]) as rocq:
        assert rocq.prove("Theorem bad : False.\nProof.\nexact: mine.\nQed.").accepted
        answer = rocq.say("Print Assumptions bad.")
    assert foreign(assumed(answer)) == ["mine"]


def test_an_axiom_of_the_standard_library_refuses_its_theorem_only(library: Library, store: Path) -> None:
    """Planted: excluded middle from another library; other theorems in the same file are accepted."""
    source = "From Coq Require Import Classical_Prop.\nTheorem middle : forall P : Prop, P \\/ ~ P."
    middle, sound = Theorem("middle", source, "exact: classic.", {}), exported("eot.59")
    answers = checked([middle, sound], library, 1, store)
    assert answers[sound.name].accepted
    assert answers["middle"].detail == "it rests on the axiom classic"


@pytest.mark.parametrize(("slow", "accepted"), [("exact: I.", False), ("Qed.", True)])
def test_a_theorem_in_time_but_for_its_last_sentence_is_proved(library: Library, slow: str, accepted: bool) -> None:
    """The time limit is reached before a sentence, or after the kernel has accepted everything."""
    with opened(library, ["From AttentionProofs Require Import Script."]) as rocq, pytest.MonkeyPatch.context() as patched:
        spoken: list[str] = []
        patched.setattr(rocq, "_write", lambda sentence, write=rocq._write: (spoken.append(sentence), write(sentence)))
        patched.setattr(rocq, "cpu", lambda: 9.0 if slow in spoken else 0.0)
        patched.setattr(toplevel, "BETWEEN", 60.0)
        answer = rocq.prove("Theorem it : True.\nProof.\nexact: I.\nQed.", 5)
    assert answer.accepted is accepted
    assert accepted or answer.error.startswith("not finished in 5 s of the processor: exact: I.")


def test_a_sentence_is_interrupted_at_the_limit(library: Library) -> None:
    """A tactic and a check by the kernel that do not end are interrupted; the same Rocq continues, one answer a sentence."""
    doubling = "(fix f n := if n is m.+1 then (f m + f m)%N else 0%N) 80 = 0%N"
    with opened(library, ["From AttentionProofs Require Import Script."]) as rocq:
        for statement, proof, endless in (
            ("True", "do 1000000000 idtac.\nexact: I.", "do 1000000000 idtac."),
            (doubling, "exact_no_check (erefl 0%N).", "Qed."),
        ):
            answer = rocq.prove(f"Theorem it : {statement}.\nProof.\n{proof}\nQed.", 0.5)
            assert not answer.accepted
            assert answer.error.startswith(f"not finished in 0 s of the processor: {endless}")
            assert 0.5 < answer.seconds < 5
        assert rocq.prove("Theorem it : True.\nProof.\nexact: I.\nQed.", 5).accepted
        assert "it : True" in rocq.say("Check it.").replace("\n", " ").replace("     ", "")


def test_an_interrupt_that_comes_too_late_shifts_no_answer(library: Library) -> None:
    """A sentence ends just before it is interrupted: the answer to the interrupt is not taken for that to the next."""
    with opened(library, ["From AttentionProofs Require Import Script."]) as rocq:
        read, first = rocq._read, iter([True])

        def slow(until: float = inf) -> str:
            if next(first, False):
                time.sleep(1)
                raise TimeoutError
            return read(until)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(rocq, "_read", slow)
            assert rocq.say("Check 10.", 5).strip().startswith("10")
        assert [rocq.say(f"Check {n}.").strip()[:2] for n in (11, 12)] == ["11", "12"]


def test_a_rocq_that_ignores_an_interrupt_is_replaced(library: Library, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last theorem is not accepted; those that it had proved before are proved again by another process."""
    sound = Theorem("sound", "Theorem sound : True.", "exact: (I : True) (* which is longer *).", {})
    endless = Theorem("endless", "Theorem endless : True.", "do 1000000000 idtac.", {})
    signalled = subprocess.Popen.send_signal
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda process, n: n == signal.SIGINT or signalled(process, n))
    monkeypatch.setattr(toplevel, "GRACE", 0.0)
    monkeypatch.setattr(checking, "PER_THEOREM", 0.5)
    answers = checked([sound, endless], library, 1, store)
    assert answers["sound"].accepted
    assert not answers["endless"].accepted
    assert answers["endless"].detail.startswith("coqtop: expected an answer in ")


def test_only_identities_of_polynomials_are_closed_by_computation(library: Library) -> None:
    """Planted: another coefficient, a wrong sign, a division by a possible 0, another argument of a function."""
    sound = (
        "(x + y) ^+ 2 = x ^+ 2 + 2%:R * x * y + y ^+ 2",
        "m%:R * x + 0 = x * m%:R * 1",
        "x^-1 * y - expR x = - expR x + y * x^-1",
    )
    wrong = ("(x + y) ^+ 2 = x ^+ 2 + 3%:R * x * y + y ^+ 2", "x - y = y - x", "x / x = 1", "expR x * y = x * expR y")

    def source(identity: str) -> str:
        return f"Theorem it : forall (R : realType) (m : nat) (x y : R), {identity}.\nProof.\nmove=> R m x y; identity.\nQed."

    with opened(library, HEADER.strip().splitlines()) as rocq:
        for identity in wrong:
            assert not rocq.prove(source(identity)).accepted, identity
        for number, identity in enumerate(sound):
            answer = rocq.prove(source(identity).replace("it :", f"it{number} :"))
            assert answer.accepted, answer.error


def test_signs_of_differences_of_exponentials_are_proved(library: Library, store: Path) -> None:
    """A gap that is a sum of 1 − e^−x, and one of e^x − e^−y, for x and y that are not negative; and a square of |x|."""
    made = [exported(id) for id in ("beyond.cold-mass", "beyond.top-mass", "beyond.jacobian-total")]
    answers = checked(made, library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers


def rechecked(folder: Path, options: Sequence[str], modules: Iterable[str]) -> str:
    """The output of the independent checker for compiled objects."""
    chosen = [part for name in modules for part in ("-norec", name)]
    done = subprocess.run(
        ["coqchk", "-silent", "-o", *options, *chosen], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-600:]
    return done.stdout + done.stderr


def test_the_checker_finds_no_axiom_in_the_library(library: Library) -> None:
    """The compiled objects are checked again independently; nothing in them is assumed."""
    answer = rechecked(library.folder, library.options, [f"AttentionProofs.{name}" for name in library.seconds])
    assert "* Axioms:" in answer
    assert "AttentionProofs." not in answer.split("* Axioms:", 1)[1]
    assert answer.count("<none>") == 3


def test_the_checker_finds_a_planted_axiom(tmp_path: Path) -> None:
    """Planted: a compiled object with an axiom of its own."""
    (tmp_path / "Planted.v").write_text("Axiom mine : False.\n")
    subprocess.run(["coqc", "-q", "-R", ".", "Planting", "Planted.v"], cwd=tmp_path, check=True)
    assert "Planting.Planted.mine" in rechecked(tmp_path, ["-R", ".", "Planting"], ["Planting.Planted"])


def test_mutants_are_not_accepted(library: Library, store: Path) -> None:
    """One-edit mutants that are refuted at an exact point; `python -m derivations kernel --mutants 200` tries more."""
    wrong = [made for id in CLAIMS[:2] for made, _ in islice(wrong_theorems(entries()[id]), 4)]
    assert len(wrong) >= 6
    assert not any(answer.accepted for answer in checked(wrong, library, 1, store).values())


def test_plans_positions_and_expansions_are_proved_and_their_twins_are_not(library: Library, store: Path) -> None:
    """For each kind of statement the relation is accepted, and none of its wrong twins is."""
    ids = ("transport.lem1", "deciphering.19", "deciphering.sA.little-o")
    answers = checked([exported(id) for id in ids], library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers
    wrong = [theorem(f"{id}.twin{n}", make()) for id in ids for n, make in enumerate(entries()[id].twins.values())]
    assert len(wrong) >= 2 * len(ids)
    assert not any(answer.accepted for answer in checked(wrong, library, 1, store).values())


def test_slack_variables_and_absolute_values_are_proved_and_their_twins_are_not(library: Library, store: Path) -> None:
    """A product with a slack variable is 0, (p − μ)₊ is p, and |x| is 2 x₊ − x; no wrong twin is accepted."""
    ids = ("eot.24", "eot.s4.sparsemax-sparse", "deciphering.s9.regular-attention", "beyond.cocoercive-prior")
    answers = checked([exported(id) for id in ids], library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers
    wrong = [theorem(f"{id}.twin{n}", make()) for id in ids[:3] for n, make in enumerate(entries()[id].twins.values())]
    assert len(wrong) >= 6
    assert not any(answer.accepted for answer in checked(wrong, library, 1, store).values())


def test_slopes_of_linear_functions_and_of_sums_with_constants_are_proved(library: Library, store: Path) -> None:
    """Slopes that type classes would find by themselves, and one of a sum that begins with two constants."""
    answers = checked([exported(id) for id in ("eot.142", "deciphering.37")], library, 1, store)
    assert all(answer.accepted for answer in answers.values()), answers


def test_the_layer_seals_a_claim(library: Library) -> None:
    """A seal names theorem, file and line, and its assumptions."""
    findings = check(["eot.59"], 1)
    own = [seal for seal in findings.seals["eot.59"] if seal.outcome is SealOutcome.ACCEPTED]
    assert own
    assert all(seal.where.rsplit(":", 1)[1].isdigit() for seal in own)
    assert not [alarm for alarm in findings.alarms if "does not compile" not in alarm]
