"""What the print of a claim is compared with, and which formula a line that begins with a sign continues."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
import sympy as sp

from derivations import Equation, positive, scalar
from derivations.prints import claims
from derivations.prints.claims import OF_CONDITIONS, Kind, Stated, correction_of, is_formula, is_numbered, print_of
from derivations.reader.meaning.notation import Notation
from derivations.records.prints import Standing

x, y, z, tau = scalar("x"), scalar("y"), scalar("z"), positive("tau")
TABLE = Notation({"x, y, z": "real", r"\tau": "positive", r"\ell": "= x + y"}, {r"\tau": "tau"})


def stated(
    id: str,
    latex: str,
    *,
    module: str = "derivations.paper.one",
    derivation: Any = None,
    repair: Any = None,
    correction: str = "",
    kind: Kind = Kind.IDENTITY,
) -> Stated:
    repaired = SimpleNamespace(statement=SimpleNamespace(latex=correction)) if correction else None
    return cast(
        Stated,
        SimpleNamespace(
            id=id, kind=kind, latex=latex, module=module, derivation=derivation, repair=repair, correction=repaired
        ),
    )


@pytest.fixture(autouse=True)
def _paper(monkeypatch: pytest.MonkeyPatch) -> None:
    def notation(document: str, chapter: str, id: str) -> Notation | None:
        return TABLE if (document, chapter) == ("paper", "one") and id.startswith("paper.") else None

    monkeypatch.setattr(claims.tables, "notation", notation)
    monkeypatch.setattr(claims.tables, "general", lambda document, chapter, id: None)
    monkeypatch.setattr(claims, "written", lambda derivation: SimpleNamespace(relations=derivation))


def test_a_print_is_compared_with_its_derivation_and_a_correction_with_its_proof() -> None:
    entry = stated("paper.1", "x = z", derivation=[Equation(x, z)], repair=[Equation(x, y)], correction="x = y")
    for checked in (print_of(entry, {}), correction_of(entry, {})):
        assert checked is not None
        assert checked.standing is Standing.AGREES
    wrong = print_of(stated("paper.1", "x = 2 y", derivation=[Equation(x, y)]), {})
    assert wrong is not None
    assert wrong.standing is Standing.DIFFERS


def test_without_a_derivation_a_table_or_a_step_nothing_is_compared() -> None:
    assert print_of(stated("paper.1", "x = z"), {}) is None
    assert print_of(stated("other.1", "x = z", derivation=[Equation(x, z)]), {}) is None
    assert print_of(stated("paper.1", "x = z", derivation=[]), {}) is None
    assert correction_of(stated("paper.1", "x = z", repair=[Equation(x, y)]), {}) is None
    assert correction_of(stated("paper.1", "x = z", correction="x = y"), {}) is None


def test_only_a_definition_may_be_shown_in_a_part_of_a_step() -> None:
    step, latex = Equation(z, sp.exp(sp.expand((x + y) ** 2))), r"\ell^2 = x^2 + 2 x y + y^2"
    for kind, reason in ((Kind.DEFINITION, "what it defines"), (Kind.IDENTITY, "proved as read")):
        checked = print_of(stated("paper.1", latex, derivation=[step], kind=kind), {})
        assert checked is not None
        assert reason in checked.reason


def test_an_instance_of_a_definition_that_is_not_the_tables_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    general = Notation({"x, y, z": "real", r"\tau": "= x + y"})
    monkeypatch.setattr(claims.tables, "general", lambda document, chapter, id: general if chapter == "one" else None)
    wrong = print_of(stated("paper.1", r"\tau = x + z", derivation=[Equation(tau, x + z)]), {})
    assert wrong is not None
    assert wrong.reason.startswith("it differs from the table's definition")
    right = print_of(stated("paper.1", r"\tau = x + y", derivation=[Equation(tau, x + y)]), {})
    assert right is not None
    assert right.standing is Standing.AGREES


BEFORE = {
    each.id: each
    for each in (
        stated("paper.1", "x = 1"),
        stated("paper.s1.words", "y = 1"),
        stated("paper.s1.prose", r"z = 1 \text{ is large}"),
        stated("paper.2", "= 2"),
        stated("paper.s9.elsewhere", "z = 3", module="derivations.paper.two"),
        stated("paper.3", "= z"),
        stated("paper.4", "z = 4"),
    )
}


def test_a_line_that_begins_with_a_sign_continues_the_last_numbered_formula_of_its_section() -> None:
    assert claims._before(BEFORE["paper.3"], BEFORE) == "x = 1"
    assert claims._before(BEFORE["paper.1"], BEFORE) is None
    unnumbered = {id: each for id, each in BEFORE.items() if id != "paper.1"}
    assert claims._before(BEFORE["paper.3"], unnumbered) == "y = 1"
    derived = stated("paper.3", " = z", derivation=[Equation(y, z)])
    checked = print_of(derived, {**BEFORE, "paper.1": stated("paper.1", "y = x")})
    assert checked is not None
    assert checked.standing is Standing.AGREES


def test_which_claims_are_numbered_formulas() -> None:
    assert [is_numbered(id) for id in ("eot.4", "eot.s4.alibi", "eot.thm5.2", "eot.")] == [True, False, False, False]
    assert is_formula(rf"a \text{{{' '.join(word or ',' for word in OF_CONDITIONS)}}}")
    assert [
        is_formula(latex)
        for latex in (
            r"a = b \text{ for all } j",
            r"a = b \text{, if }",
            "a",
            r"f \text{ is convex}",
            r"a \text{ for every} \text{ large } b",
        )
    ] == [True, True, True, False, False]
