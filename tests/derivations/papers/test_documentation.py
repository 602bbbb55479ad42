"""The manual on outside documents: every example in its tables is read as described."""

import re
from pathlib import Path

import pytest

from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read

PAGE = (Path(__file__).parents[3] / "docs" / "a_document_of_your_own.md").read_text(encoding="utf-8")
NOTATION = Notation(
    {
        "m, n": "size",
        "i, j, k, l": "index m",
        r"\tau": "positive",
        "s, u": "vector m",
        "q": "simplex m",
        "p_j": r"= e^{s_j/\tau} / \sum_l e^{s_l/\tau}",
        r"\phi(s)": r"= \tau \log \sum_l e^{s_l/\tau}",
    }
)
ROWS = re.findall(
    r"^\| [^|]+ \| ([^|]*`[A-Z]\w+`[^|]*|[^|`]+) \| `(.+)` \|$",
    PAGE.split("### Statement, relation, example")[1].split("##")[0],
    flags=re.MULTILINE,
)


def test_the_table_has_its_rows() -> None:
    assert len(ROWS) == 14


@pytest.mark.parametrize(("relation", "latex"), ROWS)
def test_an_example_is_read_and_proved(relation: str, latex: str) -> None:
    formula = read(latex.replace(r"\|", "|") if "KL" not in latex else latex, NOTATION)
    assert all(each.prove() for each in formula)
    named = re.findall(r"`([A-Z]\w+)`", relation)
    assert not named or {type(each).__name__ for each in formula} == set(named)


@pytest.mark.parametrize("line", re.findall(r'^\| `(".*?": r?".*?")`', PAGE, flags=re.MULTILINE))
def test_a_line_of_the_notation_is_understood(line: str) -> None:
    ((key, meaning),) = eval("{" + line.replace("\\\\", "\\") + "}").items()
    declared = Notation(
        {"m, n, d": "size", "z": "index m", r"\tau": "positive", "s": "vector m", "K": "matrix m d", **{key: meaning}}
        if key not in ("m", "s", r"\tau")
        else {"m": "size", key: meaning}
    )
    assert not declared.broken
