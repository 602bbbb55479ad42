"""The command `mutants`: which mutants survive, and which votes are weak."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from derivations.calculus.variables import scalar
from derivations.judge.mutants import WEAK, Fate, Trial
from derivations.ledger import ledger
from derivations.relations import Equation
from derivations.run import power as mutation
from derivations.run.power import mutants, table, trials, votes, weak
from tests.registers import register

TRIALS = {
    "eot.1": (Trial("a sign", Fate.REFUTED, "at x = 1"), Trial("a factor", Fate.EQUIVALENT, "the same")),
    "eot.2": (
        Trial("an index", Fate.UNDECIDED, "x = 2*x"),
        Trial("a power", Fate.REFUTED, "at x = 2"),
        Trial("a term", Fate.REFUTED, "at x = 3"),
    ),
    "geometric.1": (),
}


@pytest.fixture
def _register(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    register(monkeypatch, *(SimpleNamespace(id=id) for id in TRIALS), documents=("eot", "geometric"))
    monkeypatch.setattr(mutation, "trials", lambda entry: TRIALS[entry.id])
    monkeypatch.setattr(ledger, "read", lambda path: json.loads(path.read_text()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(mutants, arguments)


def vote(layer: str, power: float | None, *alive: str) -> dict[str, Any]:
    return {"layer": layer, "power": power, "mutants": 4, "alive": list(alive)}


LEDGER = [
    {"id": "eot.1", "evidence": [vote("symbolic", 0.0), vote("torch", 1.0), vote("primal", WEAK)]},
    {"id": "eot.2", "evidence": [vote("torch", 0.5, "a sign", "a power"), vote("torch", None), {"layer": "source"}]},
    {"id": "geometric.1", "evidence": [vote("torch", 0.25, "a term")]},
]
WEAK_VOTES = [
    "50% of 4  eot.2 (torch) does not refute: a sign; a power",
    "25% of 4  geometric.1 (torch) does not refute: a term",
]


@pytest.mark.usefixtures("_register")
def test_of_several_claims_the_undecided_mutants_are_listed() -> None:
    result = run()
    assert result.exit_code == 0
    assert not result.stderr.strip()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if line.startswith("│")]
    order = [str(fate) for fate in Fate]
    assert [(row[0], {order[n]: row[n + 1] for n in range(len(order)) if row[n + 1] != "0"}, row[-1]) for row in rows] == [
        ("eot", {"refuted": "3", "equivalent": "1", "undecided": "1"}, "75.00%"),
        ("geometric", {}, ""),
        ("all", {"refuted": "3", "equivalent": "1", "undecided": "1"}, "75.00%"),
    ]
    assert result.stdout.splitlines()[-1] == "undecided  eot.2  an index: x = 2*x"


@pytest.mark.usefixtures("_register")
def test_the_bar_of_progress_is_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    result = run()
    assert "mutants" in result.stderr
    assert "mutants" not in result.stdout


@pytest.mark.usefixtures("_register")
def test_of_one_claim_all_that_are_not_refuted_are_listed() -> None:
    assert run("eot.1").stdout.splitlines()[-1] == "equivalent  eot.1  a factor: the same"
    assert "the same" not in run("eot").stdout
    assert "eot" not in run("geometric").stdout


@pytest.mark.usefixtures("_register")
def test_the_votes_of_a_ledger_follow_the_table(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text(json.dumps({"claims": LEDGER}))
    assert run().stdout.splitlines()[-3:] == [f"primal: 1 votes, median power {WEAK:.0%}, lowest {WEAK:.0%}", *WEAK_VOTES]
    assert run("geometric").stdout.splitlines()[-2:] == ["torch: 1 votes, median power 25%, lowest 25%", WEAK_VOTES[1]]
    (tmp_path / "other.json").write_text(json.dumps({"claims": LEDGER[:1]}))
    assert "does not refute" not in run("--json", "other.json").stdout


@pytest.mark.usefixtures("_register")
def test_an_unknown_claim_is_named() -> None:
    result = run("eot.1", "eot.9")
    assert result.exit_code == 2
    assert "ID: expected a claim or a document, got eot.9; did you mean eot.2 or eot.1 or eot?" in result.stderr


def test_weak_votes_are_those_of_numeric_layers_below_the_limit() -> None:
    assert [(id, e["power"]) for id, e in weak(LEDGER)] == [("eot.2", 0.5), ("geometric.1", 0.25)]


def test_the_votes_of_a_selection() -> None:
    assert votes(LEDGER, {"eot.1", "eot.2"}).splitlines() == [
        "torch: 2 votes, median power 75%, lowest 50%",
        f"primal: 1 votes, median power {WEAK:.0%}, lowest {WEAK:.0%}",
        WEAK_VOTES[0],
    ]
    assert votes(LEDGER, set()) == ""


def test_a_table_names_each_document_once() -> None:
    shown = table(TRIALS)
    assert [str(column.header) for column in shown.columns] == ["document", *map(str, Fate), "refuted of those not equivalent"]
    assert list(shown.columns[0].cells) == ["eot", "geometric", "all"]


def test_only_claims_that_assert_something_have_mutants() -> None:
    """Of the last step, or of that of the correction; the points of the twins are tried first."""
    x = scalar("x")
    steps = {
        "derivation": lambda: iter([Equation(x, 2 * x), Equation(2 * x, x + x)]),
        "repair": lambda: iter([Equation(3 * x, x + 2 * x)]),
    }

    def found(*, twins: bool = True, **derivations: Any) -> set[str]:
        own = {"derivation": None, "repair": None, **derivations}
        entry: Any = SimpleNamespace(twins={"a twin": lambda: Equation(x, x, at={x: 5})} if twins else {}, **own)
        return {trial.name for trial in trials(entry)}

    assert found() == found(derivation=lambda: iter(())) == found(derivation=steps["derivation"], twins=False) == set()
    of_the_print, of_the_correction = found(derivation=steps["derivation"]), found(**steps)
    assert of_the_print
    assert of_the_correction == found(repair=steps["repair"]) != of_the_print
