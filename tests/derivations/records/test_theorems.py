"""Quoted theorems are objects with a statement and a source, and every reason that names one quotes it."""

import ast
import re
from pathlib import Path

import pytest

from derivations.records import theorems
from derivations.records.documents import DOCUMENTS
from derivations.records.theorems import Theorem

ROOT = Path(__file__).parents[3] / "derivations" / "documents"
NAMED = re.compile(
    r"\bcompact\b|\bSlater\b|limit point|log M is analytic|has a maximizer|sum is continuous|never falls|"
    r"one subgradient|f\*\* = f|interior maximizer|taken term by term|closed, for it is"
)
QUOTED = [value for value in vars(theorems).values() if isinstance(value, Theorem)]


@pytest.mark.parametrize("field", ["name", "statement", "source"])
@pytest.mark.parametrize("value", ["", "  ", None, 3])
def test_a_theorem_states_itself_completely(field: str, value: object) -> None:
    words = {"name": "a", "statement": "b", "source": "c"}
    with pytest.raises(ValueError, match=f"^{field}: expected words"):
        Theorem(**{**words, field: value})  # type: ignore[arg-type]


def test_names_are_distinct_and_sources_are_sources() -> None:
    assert len({theorem.name for theorem in QUOTED}) == len(QUOTED) > 15
    for theorem in QUOTED:
        assert theorem.statement.endswith(".")
        assert re.search(r"\(\d{4}\)", theorem.source), theorem


def silent(source: str) -> list[str]:
    """The reasons that name a theorem in a call that quotes none."""
    silent_reasons = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        arguments = {keyword.arg: keyword.value for keyword in call.keywords}
        reason = arguments.get("reason")
        if isinstance(reason, ast.Constant) and NAMED.search(str(reason.value)) and "quotes" not in arguments:
            silent_reasons.append(str(reason.value))
    return silent_reasons


def test_a_reason_that_names_a_theorem_quotes_it() -> None:
    sources = {path.name: path.read_text(encoding="utf-8") for name in DOCUMENTS for path in (ROOT / name).glob("*.py")}
    assert len(sources) > 50
    assert {name: reasons for name, source in sources.items() if (reasons := silent(source))} == {}


def test_a_reason_without_its_quote_is_detected() -> None:
    assert silent('f(x, reason="bounded, so compact")') == ["bounded, so compact"]
    assert not silent('f(x, reason="bounded, so compact", quotes=(HEINE_BOREL,))')
    assert not silent('f(x, reason="the sum of two")')
