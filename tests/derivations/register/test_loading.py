"""Modules are imported with the place of what is wrong in them, in printed order, and claims rest on claims without circles."""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from derivations.register.loading import check_interpreter, imported, printed_place, unsupported


class Claim(NamedTuple):
    """What `unsupported` asks of a claim."""

    id: str
    needs: tuple[str, ...] = ()
    part_of: str | None = None


def register(*claims: Claim) -> dict[str, Claim]:
    return {claim.id: claim for claim in claims}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import math\nx = 1 / 0\n", r"ZeroDivisionError: division by zero \(.*paper_{n}\.py:2\)"),
        ("raise ValueError('claim: expected an id')\n", r"^claim: expected an id \(.*paper_{n}\.py:1\)"),
        ("def f():\n    int('x')\nf()\n", r"invalid literal .*paper_{n}\.py:2\)"),
        ("import json\njson.loads('{{')\n", r"Expecting .*paper_{n}\.py:2\)"),  # raised in another file
        ("x = (\n", r"SyntaxError: .* \(paper_{n}\)$"),  # of which no line was executed
    ],
)
def test_a_failed_import_names_the_line(text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"paper_{abs(hash(text)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(text.replace("{{", "{"))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=why.replace("paper_{n}", name)):
        imported(name)
    assert name not in sys.modules


@pytest.mark.parametrize(("level", "refused"), [(0, False), (1, True), (2, True)])
def test_assertions_have_to_be_evaluated(level: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=level))
    with pytest.raises(ValueError, match=r"^python: -O and PYTHONOPTIMIZE are not allowed") if refused else nullcontext():
        check_interpreter()


def test_an_import_returns_the_name() -> None:
    assert imported("derivations.register.loading") == "derivations.register.loading"


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ([Claim("a.1")], ""),
        ([Claim("a.1", ("a.2", "a.3")), Claim("a.2", ("a.3",)), Claim("a.3")], ""),
        ([Claim("a.1", ("a.2",))], "needs: expected ids of claims for a.1, got a.2"),
        ([Claim("a.1", ("a.2",)), Claim("a.2", ("a.3",))], ""),  # which concerns a.2
        ([Claim("a.1", ("a.2", "a.9")), Claim("a.2", ("a.1",))], "needs: expected ids of claims for a.1, got a.9"),
        ([Claim("a.1", ("a.1",))], "needs: circular: a.1 → a.1"),
        ([Claim("a.1", ("a.2",)), Claim("a.2", ("a.1",))], "needs: circular: a.1 → a.2 → a.1"),
        ([Claim("a.1", ("a.2",)), Claim("a.2", ("a.3",)), Claim("a.3", ("a.2",))], ""),  # which concerns a.2 and a.3
        ([Claim("a.1", ("a.2", "a.3")), Claim("a.2"), Claim("a.3", ("a.2", "a.1"))], "needs: circular: a.1 → a.3 → a.1"),
        ([Claim("a.1", part_of="a.2"), Claim("a.2")], ""),
        ([Claim("a.1", part_of="a.2")], "part_of: expected the id of a claim that is not itself a part, for a.1, got a.2"),
        ([Claim("a.1", part_of="a.1")], "part_of: expected the id of a claim that is not itself a part, for a.1, got a.1"),
        (
            [Claim("a.1", part_of="a.2"), Claim("a.2", part_of="a.3"), Claim("a.3")],
            "part_of: expected the id of a claim that is not itself a part, for a.1, got a.2",
        ),
        ([Claim("a.1", part_of="b.2"), Claim("b.2")], "part_of: expected an id of the same document for a.1, got b.2"),
    ],
)
def test_what_a_claim_may_rest_on(claims: list[Claim], why: str) -> None:
    assert unsupported(claims[0], register(*claims)) == why


def test_claims_that_many_rest_on_are_asked_once() -> None:
    """With two ways to each claim there are 2⁶⁰ from the last to the first."""
    levels = [Claim(f"a.{n}{side}", (f"a.{n - 1}x", f"a.{n - 1}y") if n else ()) for n in range(60) for side in "xy"]
    assert unsupported(levels[-1], register(*levels)) == ""


def test_sections_come_in_printed_order_before_appendices() -> None:
    modules = [
        "appendix_a",
        "words",
        "section10_end",
        "section2_more",
        "introduction",
        "appendix_b",
        "section1_start",
        "section2_first",
    ]
    assert sorted(modules, key=printed_place) == [
        "introduction",
        "words",
        "section1_start",
        "section2_first",
        "section2_more",
        "section10_end",
        "appendix_a",
        "appendix_b",
    ]
