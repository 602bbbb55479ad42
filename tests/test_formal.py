"""References between the Rocq library and the Python sources, checked without Rocq."""

import re
from collections.abc import Iterable
from pathlib import Path

from derivations.register.catalogue import entries

ROOT = Path(__file__).parents[1]
THEORIES = sorted((ROOT / "formal" / "theories").glob("*.v"))


def stated(source: str) -> set[str]:
    """The names of the theorems of a Rocq source."""
    return set(re.findall(r"^(?:Theorem|Lemma) (\w+)", source, re.M))


def missing(lines: Iterable[str], theorems: set[str]) -> list[str]:
    """The theorems that trailing comments name and that do not exist."""
    named = [name for line in lines if "# formal: " in line for name in line.split("# formal: ")[1].split(", ")]
    return [name for name in named if name.strip() not in theorems]


def test_rules_that_lines_name_are_theorems() -> None:
    theorems = stated((ROOT / "formal" / "theories" / "Rules.v").read_text())
    lines = [line for path in (ROOT / "derivations").rglob("*.py") for line in path.read_text().splitlines()]
    assert missing(lines, theorems) == []
    assert missing(["x = 1  # formal: rule_delta_colapse"], theorems) == ["rule_delta_colapse"]
    named = {name for line in lines if "# formal: " in line for name in line.split("# formal: ")[1].split(", ")}
    assert {name for name in theorems if name.startswith("rule_")} == named


def test_theorems_are_about_claims_of_the_catalogue() -> None:
    for path in THEORIES:
        for ids in re.findall(r"\(\* claim: ([^*]+) \*\)", path.read_text()):
            assert set(ids.split(", ")) <= set(entries()), f"{path.name}: expected ids of claims, got {ids}"


def test_nothing_is_admitted_or_assumed_and_every_file_is_built() -> None:
    project = (ROOT / "formal" / "_CoqProject").read_text().splitlines()
    for path in THEORIES:
        source = path.read_text()
        assert not re.search(r"\b(?:Admitted|admit|Abort|Axiom|Parameter|Conjecture)\b", source), path.name
        assert source.count("\n") < 400, path.name
        assert f"theories/{path.name}" in project
