"""Which meaning a symbol has in a claim: that of the claim, else of the chapter, else of the document."""

from types import SimpleNamespace

import pytest

from derivations.prints import tables
from derivations.reader.meaning.notation import Notation

MODULE = SimpleNamespace(
    SYMBOLS={"m": "size", "j, k": "index m", r"\tau": "positive as tau", "s": "vector m", "p_j": "= s_j", "f(x)": "= x"},
    CHAPTERS={"first": {"s": "simplex m as mass", "k": None}},
    CLAIMS={"paper.1": {r"\tau": "real", "f(x)": None}},
    INSTANCES={"paper.2": {"p_j": "= 1/m"}},
)


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "table", {"paper": MODULE}.get)
    monkeypatch.setattr(tables, "_notation", tables._notation.__wrapped__)


def lines(notation: Notation | None) -> dict[str, str]:
    assert notation is not None
    return dict(notation.declarations)


def test_a_document_without_a_table_has_no_meanings() -> None:
    assert tables.notation("other", "first", "other.1") is None
    assert tables.general("other", "first", "other.1") is None


def test_the_nearest_meaning_counts() -> None:
    document = {
        "m": "size",
        "j": "index m",
        "k": "index m",
        r"\tau": "positive",
        "s": "vector m",
        "p_j": "= s_j",
        "f(x)": "= x",
    }
    assert lines(tables.notation("paper", "last", "paper.3")) == document
    own = lines(tables.notation("paper", "first", "paper.1"))
    assert own == {"m": "size", "j": "index m", r"\tau": "real", "s": "simplex m", "p_j": "= s_j"}
    assert lines(tables.notation("paper", "first", "paper.3"))[r"\tau"] == "positive"


def test_an_instance_is_beside_the_definition_that_is_printed() -> None:
    assert lines(tables.notation("paper", "last", "paper.2"))["p_j"] == "= 1/m"
    assert lines(tables.general("paper", "last", "paper.2"))["p_j"] == "= s_j"
    assert tables.general("paper", "last", "paper.1") is None


def test_names_that_belong_to_a_symbol() -> None:
    notation = tables.notation("paper", "first", "paper.3")
    assert notation is not None
    assert dict(notation.names) == {r"\tau": "tau", "s": "mass"}
    known = tables.known_names(notation)
    assert {"tau", "mass", "m", "j"} <= known
    assert not {"s", r"\tau", "k"} & known


def test_one_name_has_one_meaning() -> None:
    MODULE.CLAIMS["paper.4"] = {"p_j": "= 1", "p_i": "= 2"}
    with pytest.raises(ValueError, match=r"^p_i in paper\.4: p is declared twice$"):
        tables.notation("paper", "first", "paper.4")
    MODULE.CHAPTERS["second"] = {"s_i": "= 2", "s_j": "= 1"}
    with pytest.raises(ValueError, match=r"^s_j in second: s is declared twice$"):
        tables.notation("paper", "second", "paper.3")
    MODULE.CHAPTERS["third"] = {"s": None, "s_j": "= 1"}  # another meaning in place of the document's
    assert lines(tables.notation("paper", "third", "paper.3"))["s_j"] == "= 1"
