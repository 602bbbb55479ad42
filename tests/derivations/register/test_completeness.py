"""Every printed number of a finished chapter has exactly one claim, and every claim can be judged."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from derivations.records.claims import Kind
from derivations.records.documents import DOCUMENTS
from derivations.register.catalogue import entries
from derivations.register.entry import Entry

ROOT = Path(__file__).parents[3]

FINISHED = {
    "deciphering": [
        *range(1, 48),
        "thm1",
        "thm2",
        "prop1",
        *(f"fn{n}" for n in range(1, 12)),
        *(f"fig{n}" for n in range(1, 9)),
        "tab1",
    ],
    "inference": [*range(1, 24), "thm1", "thm2", "cor1", *(f"{kind}{n}" for kind in ("fig", "fn") for n in range(1, 4))],
    "eot": [
        *range(1, 150),
        "def3.1",
        "def3.2",
        "thm3.3",
        "rem3.4",
        "rem3.5",
        "prop4.1",
        "prop4.2",
        "prop4.3",
        "prop4.4",
        "tab1",
        "def5.1",
        "thm5.2",
        "rem5.3",
        "def6.1",
        "lem6.2",
        "thm6.3",
        "rem6.4",
        "rem6.5",
        "def7.1",
        "def7.2",
        "thm7.3",
        "rem7.4",
        "cor7.5",
        "rem7.6",
        "defA.1",
        "defA.2",
        "defA.3",
        "defA.4",
        "defA.5",
        "thmA.6",
        "thmA.7",
        "defB.1",
        "defB.2",
        "thmB.3",
        "lemB.4",
        "remB.5",
    ],
    "geometric": [*range(1, 8)],
    "transport": [
        "lem1",
        "thm1",
        *(
            f"listing.{name}"
            for name in (
                "sinkhorn",
                "sinkhorn_divergence",
                "AttentionAsOT",
                "sinkhorn_attention",
                "compute_attention_ot_divergence",
                "LinearAttentionAsOT",
                "analyze_attention_temperature",
                "OTAttentionExperiment",
                "OptimalTransportAttention",
                "run_ot_attention_experiment",
            )
        ),
    ],
}


@pytest.mark.parametrize("document", FINISHED)
def test_every_printed_number_has_a_claim(document: str) -> None:
    missing = [f"{document}.{number}" for number in FINISHED[document] if f"{document}.{number}" not in entries()]
    assert not missing


def test_no_number_has_two_claims() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "derivations").rglob("*.py"))
    named = re.findall(r'^(?:@claim|reprint)\(\s*"([^"]+)"', source, flags=re.MULTILINE)
    assert sorted(named) == sorted(entries())


@pytest.mark.parametrize("entry", entries().values(), ids=lambda entry: entry.id)
def test_claim_is_well_formed(entry: Entry) -> None:
    claim = entry.claim
    assert claim.document in DOCUMENTS
    number = r"\d+|(def|thm|rem|prop|lem|cor)\w+(\.\d+)?|(tab|fn|fig)\d+"
    printed = rf"(?!beyond)[a-z]+\.({number}|s[\dA-Z]+\.[a-z0-9-]+|listing\.\w+(\.[a-z0-9-]+)?)"
    assert re.fullmatch(rf"{printed}|beyond\.[a-z0-9-]+", claim.id)
    assert claim.title
    assert claim.statement.latex
    assert claim.statement.text.endswith(".")
    assert set(claim.needs) <= set(entries()) - {claim.id}


@pytest.mark.parametrize("entry", [e for e in entries().values() if not e.undecidable], ids=lambda entry: entry.id)
def test_asserting_claim_has_two_twins(entry: Entry) -> None:
    assert len(entry.twins) >= 2 or entry.kind in (Kind.DEFINITION, Kind.EMPIRICAL)


def source(entry: Entry) -> Entry | None:
    """The claim of another document whose derivation a reprint uses."""
    others = [entries()[id] for id in entry.needs if not id.startswith(f"{entry.claim.document}.")]
    same = (entry.derivation, entry.undecidable, entry.twins)
    return next((of for of in others if (of.derivation, of.undecidable, of.twins) == same), None)


def borrowed_numbers(entry: Entry, of: Entry) -> list[str]:
    """Texts that a reprint copies although they contain a number of the other document."""

    def words(e: Entry) -> list[str]:
        repaired = [e.correction.statement.text, e.correction.statement.latex] if e.correction else []
        return [e.title, e.statement, *e.hypotheses, *repaired]

    number = re.compile(r"\(\d+\)|(Theorem|[Ss]ection|Figure|[Ff]ootnote) \d")
    return [text for text in words(entry) if text in words(of) and number.search(text)]


def test_reprint_names_no_number_of_another_document() -> None:
    pairs = [(entry, of) for entry in entries().values() if (of := source(entry))]
    assert len(pairs) > 50
    assert not {entry.id: numbers for entry, of in pairs if (numbers := borrowed_numbers(entry, of))}


def test_a_borrowed_number_is_detected() -> None:
    of = Entry("eot.1", Kind.IDENTITY, "t", "x", ("by Theorem 2",), (), None, "It is (3) that says so.")
    assert borrowed_numbers(replace(of, id="inference.1"), of) == ["It is (3) that says so.", "by Theorem 2"]
    assert not borrowed_numbers(replace(of, statement="It is (5) that says so.", hypotheses=()), of)


def test_dependencies_are_acyclic() -> None:
    done: set[str] = set()

    def visit(id: str, path: tuple[str, ...]) -> None:
        assert id not in path, f"a circle: {' → '.join((*path, id))}"
        if id not in done:
            for needed in entries()[id].needs:
                visit(needed, (*path, id))
            done.add(id)

    for id in entries():
        visit(id, ())


def test_derivations_rely_on_nothing_that_fails_silently() -> None:
    """The sources contain no `simplify(...) != 0`, no MatrixSymbol and no matrix inverse by SymPy."""
    for path in (ROOT / "derivations").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            assert name not in ("MatrixSymbol", "Inverse", "equals"), f"{path.name} uses {name}"
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq):
                assert "simplify" not in ast.dump(node.left), f"{path.name} concludes from simplify(…) != …"
