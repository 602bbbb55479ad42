"""The command `kernel` in this process, with answers of Rocq that are planted: what it prints, and its exit status."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

from derivations import AtLeast, Equation, Fails, positive
from derivations.records.claims import Layer, Outcome, Verdict
from derivations.records.seals import About, Seal, SealOutcome
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.relations import Relation
from derivations.rocq import command, layer
from derivations.rocq.checking import Checked
from derivations.rocq.export import Theorem
from derivations.rocq.layer import Findings
from derivations.rocq.library import MissingError

x, y = positive("x"), positive("y")
SEALS = {
    "eot.46": [Seal("eot_46", About.PRINT, SealOutcome.ACCEPTED, "eot_46.v:9", (), 1.5)],
    "eot.59": [Seal("eot_59", About.PRINT, SealOutcome.INCONCLUSIVE, "", (), 30.0, "a goal is left")],
}


@pytest.fixture(autouse=True)
def no_rocq(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is none, and no claim is examined."""
    monkeypatch.setattr(layer, "version", lambda: "8.16.1")
    monkeypatch.setattr(command, "built", lambda: None)
    monkeypatch.setattr(command.baseline, "load", dict)


def answers(monkeypatch: pytest.MonkeyPatch, findings: Findings) -> list[Sequence[str]]:
    """Let Rocq have these findings; the list will hold the claims that it is asked about."""
    asked: list[Sequence[str]] = []

    def check(ids: Sequence[str], workers: int, progress: Any) -> Findings:
        asked.append(ids)
        return findings

    monkeypatch.setattr(command, "check", check)
    return asked


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(command.kernel, arguments)


def test_an_unknown_claim_is_a_usage_error() -> None:
    result = invoke("eot.46", "eot.4600")
    assert result.exit_code == 2
    assert "expected a claim or a document, got eot.4600;" in result.output


def test_a_missing_rocq_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*_: Any, **__: Any) -> Findings:
        raise MissingError("kernel: Rocq is not installed")

    monkeypatch.setattr(command, "check", check)
    result = invoke("eot.46")
    assert (result.exit_code, result.output) == (0, "kernel: Rocq is not installed\n")


def test_claims_are_counted_and_a_single_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the theorems of a claim that is alone, and without those of many."""
    asked = answers(monkeypatch, Findings(SEALS))
    result = invoke("eot.46", "eot.59")
    assert result.exit_code == 0
    assert set(asked.pop()) == set(SEALS)
    assert "eot: 1 accepted, 1 inconclusive\n" in result.output
    assert "kernel: Rocq 8.16.1 accepts theorems about 1 claims (0 theorems by hand)\n" in result.output
    assert "eot_46.v" not in result.output
    asked = answers(monkeypatch, Findings({"eot.46": SEALS["eot.46"]}))
    result = invoke("eot.46")
    assert asked == [["eot.46"]]
    assert "accepted  eot.46  eot_46 eot_46.v:9 (1.5 s)\n" in result.output


def test_a_document_is_all_of_its_claims_and_nothing_is_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answers(monkeypatch, Findings())
    assert invoke("geometric").exit_code == invoke().exit_code == 0
    own, everything = asked
    assert own
    assert all(id.startswith("geometric.") for id in own)
    assert list(own) == [id for id in everything if id.startswith("geometric.")]
    assert len(everything) > len(own)


def test_an_alarm_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, Findings(SEALS, ["eot.46: an alarm"]))
    result = invoke("eot.46")
    assert result.exit_code == 1
    assert "FAILED  eot.46: an alarm\n" in result.output


def test_a_theorem_of_what_we_refute_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    refuted = SimpleNamespace(verdict=Verdict.REFUTED, layers={Layer.SYMBOLIC: Outcome.REFUTED})
    monkeypatch.setattr(command.baseline, "load", lambda: {"eot.46": refuted})
    answers(monkeypatch, Findings(SEALS))
    result = invoke("eot.46", "eot.59")
    assert result.exit_code == 1
    assert "1 accepted by Rocq, refuted by us: eot.46\n" in result.output
    assert "FAILED  eot.46: a theorem is accepted by Rocq, refuted by us\n" in result.output


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_one_line_on_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    command._progress(7)
    command._progress(8)
    assert capsys.readouterr() == ("", "\r7 theorems\r8 theorems" if terminal else "")


# ── mutants ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the theorems that Rocq is asked about: each claim has any number, and Rocq accepts the second of eot.46."""
    asked: list[str] = []

    def theorems(entry: Entry) -> Iterator[tuple[Theorem, str]]:
        return ((Theorem(f"{entry.id} {n}", "", "", {}), f"mutant {n}") for n in count(1))

    def checked(made: Iterable[Theorem], library: Any, workers: int, progress: Any) -> dict[str, Checked]:
        asked.extend(each.name for each in made)
        return {name: Checked(name == "eot.46 2", 0.0) for name in asked}

    monkeypatch.setattr(command, "wrong_theorems", theorems)
    monkeypatch.setattr(command, "checked", checked)
    accepted = {id: [SEALS["eot.46"][0]] for id in ("eot.46", "eot.58", "eot.60")}
    answers(monkeypatch, Findings({**accepted, "eot.59": SEALS["eot.59"]}))
    return asked


def test_four_mutants_of_each_accepted_claim_are_tried(wrong: list[str]) -> None:
    """Of no other claim, and no more than so many altogether; one that is accepted is a failure."""
    result = invoke("--mutants", "100")
    assert sorted(wrong) == [f"{id} {n}" for id in ("eot.46", "eot.58", "eot.60") for n in (1, 2, 3, 4)]
    assert result.exit_code == 1
    assert "kernel: 12 refuted mutants exported, 1 accepted\n" in result.output
    assert "FAILED  eot.46 2: Rocq accepts what is refuted: mutant 2\n" in result.output


def test_no_more_mutants_are_tried_than_were_asked_for(wrong: list[str]) -> None:
    result = invoke("--mutants", "6")
    assert len(wrong) == 6
    assert len({name.split()[0] for name in wrong}) == 2
    assert "kernel: 6 refuted mutants exported, " in result.output


def test_claims_are_drawn_and_the_rest_is_not_mutated(wrong: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw is always the same, and not the first claims of the catalogue."""
    ids = list(entries())[:40]
    answers(monkeypatch, Findings(dict.fromkeys(ids, SEALS["eot.46"])))
    theorems, mutated = command.wrong_theorems, []

    def counted(entry: Entry) -> Iterator[tuple[Theorem, str]]:
        mutated.append(entry.id)
        return theorems(entry)

    monkeypatch.setattr(command, "wrong_theorems", counted)
    invoke("--mutants", "8")
    assert len(mutated) == 2
    assert mutated != ids[:2]
    invoke("--mutants", "8")
    assert mutated[2:] == mutated[:2]


def of(*steps: Relation, twins: int = 0) -> list[tuple[str, str]]:
    """The names of wrong theorems of a claim with these steps, and what each is."""
    entry = SimpleNamespace(
        id="it",
        derivation=lambda: iter(steps),
        repair=None,
        twins={str(n): lambda: Equation(x, -x, at={x: 1, y: 1}) for n in range(twins)},
    )
    return [(made.name, text) for made, text in command.wrong_theorems(cast(Entry, entry))]


def test_a_refuted_print_is_the_last_step_and_not_one_before_it() -> None:
    true, refuted = Equation(x + x, 2 * x), Fails(Equation(x, 2 * x, at={x: 1}))
    assert of(true, refuted) == of(true, true, refuted) == [("it_wrong0", "the print of it")]
    assert of(refuted, true) == of(refuted, refuted, true) == []


def test_mutants_are_those_of_a_last_statement_with_twins_that_are_refuted() -> None:
    true = AtLeast(x**2 + y**2, 2 * x * y)
    made = of(true, twins=1)
    assert len(made) > 1
    assert of(Equation(x, x), Equation(y, y), true, twins=1) == made
    assert of(true) == []
