"""The baseline: one file per document and one line per claim, read strictly, and changed only by an explicit command."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from msgspec.structs import replace

from derivations.calculus.variables import scalar
from derivations.judge.canonical import canonical
from derivations.ledger import baseline as remembered
from derivations.ledger import regression
from derivations.ledger.baseline import Kept, snapshot
from derivations.ledger.regression import compare
from derivations.records.base import to_json
from derivations.records.claims import FAULT_VERDICTS, Layer, Outcome, Step, Verdict, Witness
from derivations.records.documents import DOCUMENTS
from derivations.register.catalogue import entries
from derivations.relations import AtLeast, Follows
from tests.derivations.ledger.test_ledger import built, evidence
from tests.derivations.ledger.test_regression import IDS, JACOBIAN, rewritten, scaled, written

X = scalar("x")


@pytest.fixture(scope="module")
def before() -> dict[str, Kept]:
    return snapshot(written({}, IDS))


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, Kept]) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(remembered.as_text(before))
    monkeypatch.setattr(remembered, "baselines", lambda: dict.fromkeys(DOCUMENTS, path))
    monkeypatch.delenv("CI", raising=False)
    return path


def test_accepted_results_become_the_baseline(baseline: Path) -> None:
    row = written(rewritten(JACOBIAN, scaled(sp.Integer(2))), [*IDS, "eot.46"])
    assert compare(row, remembered.load()).failed
    regression.accept(row)
    assert not compare(row, remembered.load()).differences
    assert [path.name for path in baseline.parent.iterdir()] == ["baseline.json"]


def test_accepting_part_of_the_claims_leaves_the_others(baseline: Path, before: dict[str, Kept]) -> None:
    row = written({}, [JACOBIAN])
    regression.accept(row)
    assert remembered.load() == before
    row["environment"]["asked"] = ["deciphering"]
    regression.accept(row)
    assert list(remembered.load()) == [id for id in entries() if id in IDS and id.startswith("eot.")]


def test_a_claim_that_changed_is_one_line_that_changed(baseline: Path) -> None:
    regression.accept(written({}, IDS))
    lines = baseline.read_text().splitlines()
    regression.accept(written(rewritten(JACOBIAN, scaled(sp.Integer(2)), title="Another title"), [JACOBIAN]))
    changed = [new for old, new in zip(lines, baseline.read_text().splitlines(), strict=True) if old != new]
    assert [line.partition(":")[0] for line in changed] == [f'"{JACOBIAN}"']
    assert len(lines) == len(IDS) + 2


def test_nothing_is_accepted_in_ci(baseline: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, Kept]) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(ValueError, match=r"^accept: no baseline is changed in CI"):
        regression.accept(written({}, [JACOBIAN]))
    assert remembered.load() == before


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("", False), ("0", False), ("False", False)])
def test_values_of_the_ci_variable(value: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", value)
    assert regression.in_ci() is expected


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_has_its_own_file_with_one_line_a_claim(document: str) -> None:
    path = remembered.baselines()[document]
    lines = path.read_text(encoding="utf-8").splitlines()
    own = [id for id in entries() if id.startswith(f"{document}.")]
    assert (lines[0], lines[-1]) == ("{", "}")
    assert [json.loads(line.split(":", 1)[0]) for line in lines[1:-1]] == own
    baseline = remembered.load()
    assert remembered.as_text({id: baseline[id] for id in own}) == path.read_text(encoding="utf-8")


def test_the_baseline_files_are_marked_as_generated() -> None:
    attributes = (Path(__file__).parents[3] / ".gitattributes").read_text(encoding="utf-8")
    assert "derivations/documents/*/baseline.json linguist-generated" in attributes.splitlines()


def test_several_votes_of_a_layer_are_stored_as_the_worst() -> None:
    steps = (Step("a = b", "first", True, given=("x ≥ 0",)), Step("b = c", "then", True, given=("y ≥ 0", "z ≥ 0")))
    votes = [
        evidence(layer=Layer.TORCH, power=power, error=error, general=False)
        for power, error in ((0.95, 0.1), (0.123456, 0.03456), (None, None))
    ]
    silent = evidence(layer=Layer.SOURCE, outcome=Outcome.NOT_APPLICABLE, detail="no source", general=False)
    row = built(evidence(power=0.5, derivation=steps, given=("y ≥ 0",)), *votes, silent)
    entry = snapshot(row)["eot.59"]
    assert entry.powers == {"torch": 0.1235}
    assert entry.errors == {"torch": 0.1}
    assert entry.layers == {"symbolic": "holds", "torch": "holds", "source": "n/a"}
    assert entry.general
    assert (entry.given, entry.disproved_given) == (("y ≥ 0",), ())
    assert entry.text.left_open == "no source"
    assert entry.derivation == (("a = b", "first"), ("b = c", "then"))
    refuted = built(evidence(outcome=Outcome.REFUTED, witness=Witness({}, "0", "≠", "1"), derivation=steps))
    assert snapshot(refuted)["eot.59"].disproved_given == ("y ≥ 0", "z ≥ 0")


def test_normal_forms_are_remembered_as_hashes() -> None:
    relation = Follows((AtLeast(X, 1),), AtLeast(2 * X, 2), (sp.Integer(2),))
    form = canonical(relation)
    form_kept = snapshot(built(evidence(canonical=form)))["eot.59"].canonical

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    assert form_kept
    assert (form_kept.left, form_kept.right, form_kept.values) == (digest("2*x"), digest("2"), form.values)
    (premise,) = form_kept.form.given
    assert (premise.left, premise.right) == (digest("x"), digest("1"))
    assert snapshot(built(evidence()))["eot.59"].canonical is None


RANKS = (
    {Verdict.OPEN},
    {Verdict.MEASURED, Verdict.CHECKED, Verdict.CONFIRMED, Verdict.REFUTED},
    {Verdict.DEFINITION, Verdict.CORRECTED, Verdict.PROVED_UNDER},
    {Verdict.PROVED},
)


@pytest.mark.parametrize("was", Verdict)
@pytest.mark.parametrize("now", Verdict)
def test_a_verdict_that_is_weaker_or_of_the_other_side_is_a_loss(was: Verdict, now: Verdict) -> None:
    row = built(evidence())
    baseline = snapshot(row)
    row["claims"][0]["verdict"] = now
    losses = remembered.worsened(row, {"eot.59": replace(baseline["eot.59"], verdict=was)})
    old, new = (next(n for n, rank in enumerate(RANKS) if verdict in rank) for verdict in (was, now))
    sides = {was in FAULT_VERDICTS, now in FAULT_VERDICTS}
    assert bool(losses) is (new < old or (len(sides) == 2 and Verdict.OPEN not in (was, now)))


KEPT = to_json(remembered.load()["eot.59"])


@pytest.mark.parametrize(
    ("stored", "named"),
    [
        ([], "expected object, got array"),
        ({"eot.59": 3}, "eot.59: expected object, got int"),
        ({"eot.59": KEPT | {"verdict": "excellent"}}, "eot.59: verdict: expected a known word, got 'excellent'"),
        ({"eot.59": KEPT | {"layers": {"oracle": "holds"}}}, "expected a known word, got 'oracle'"),
        ({"eot.59": {"verdict": "proved"}}, "eot.59: missing field severity"),
        ({"eot.59": KEPT | {"severity": "dire"}}, "eot.59: severity: expected a known word, got 'dire'"),
        ({"eot.59": KEPT | {"status": "proved"}}, "eot.59: expected known fields, got status"),
        ({"geometric.59": KEPT}, "expected claims of its own documents, got geometric.59"),
    ],
)
def test_a_baseline_holds_verdicts(stored: Any, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(stored))
    monkeypatch.setattr(remembered, "baselines", lambda: {"eot": path})
    with pytest.raises(ValueError, match=r"^baseline: .*baseline\.json") as refused:
        remembered.load()
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({}, False),
        ({"verdict": Verdict.OPEN}, True),
        ({"layers": {Layer.SYMBOLIC: Outcome.HOLDS, Layer.TORCH: Outcome.VACUOUS}}, True),
        ({"layers": {Layer.SYMBOLIC: Outcome.HOLDS, Layer.SOURCE: Outcome.NOT_APPLICABLE}}, False),
        ({"twins": {"a": (Layer.SYMBOLIC,), "b": ()}}, True),
        ({"twins": {"a": (Layer.SYMBOLIC, Layer.TORCH)}}, False),
        ({"layers": {Layer.SYMBOLIC: Outcome.REFUTED, Layer.TORCH: Outcome.HOLDS}, "twins": {"a": (Layer.TORCH,)}}, True),
    ],
)
def test_an_already_accepted_problem_may_be_accepted_again(fields: dict[str, Any], bad: bool) -> None:
    entry = replace(snapshot(built(evidence()))["eot.59"], twins={"a": (Layer.SYMBOLIC,)})
    assert remembered._is_bad(replace(entry, **fields)) is bad
