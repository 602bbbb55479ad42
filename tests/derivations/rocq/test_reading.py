"""What a statement says as text, by Rocq's rules: what binds closer, positions from 0 on, and what has no value."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from derivations.rocq.readback import _rivals, parts
from derivations.rocq.reading import Reader, real

SCOPE: dict[str, Any] = {
    "x": arb(3),
    "y": arb(-2),
    "i": 0,
    "j": 1,
    "m": 2,
    "s": [arb(5), arb(7)],
    "K": [[arb(1), arb(2)], [arb(3), arb(4)]],
}


def value(text: str) -> Any:
    reader = Reader(text)
    found = real(reader.expression()(SCOPE))
    assert reader.at == len(reader.tokens)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y * x", -3),
        ("x - y - x", 2),
        ("x / y / x", -0.5),
        ("- x * y", 6),
        ("x ^+ 2 * y", -18),
        ("- x ^+ 2", -9),
        ("x^-1 * x", 1),
        ("(x + y)^-1", 1),
        ("0^-1", 0),
        ("x / 0", 0),
        ("2%:R * x", 6),
        ("(2%:R)^-1", 0.5),
        ("m%:R", 2),
        ("i.+1%:R", 1),
        ("j.+1%:R", 2),
        ("s i", 5),
        ("s j * x", 21),
        ("K i j", 2),
        ("(K j i : R)", 3),
        ("`|y| * x", 6),
        ("ln y", 0),
        ("ln (x^-1 * x)", 0),
        ("root (y)", 0),
        ("root (2%:R + 2%:R)", 2),
        ("expR 0", 1),
        ("plus y", 0),
        ("plus (- y)", 2),
        ("dlt i j", 0),
        ("dlt i i", 1),
        ("s (offset m j i)", 5),
        ("\\Sum_(k < m) s k * x + x", 39),
        ("\\Sum_(k < 2) k.+1%:R", 3),
        ("\\Sum_(k < m) \\Sum_(l < m) K k l", 10),
        ("(x + x) `^ (2%:R)", 36),
        ("xlogx 0", 0),
        ("kl x x", 0),
        ("derive1 (fun u : R => u ^+ 2 * x) x", 18),
        ("derive1 (fun u => y) x", 0),
        ("derive1 (fun u => derive1 (fun v => u * v ^+ 2) u) x", 12),
        ("derive1 (fun u => \\Sum_(k < m) (upd s j u) k ^+ 2) (s j)", 14),
        ("derive1 (fun u => (upd2 K i j u) i j * x) x", 3),
        ("derive1 (fun u => (upd2 K i j u) j i) x", 0),
    ],
)
def test_the_value_of_a_text(text: str, expected: float) -> None:
    assert abs(value(text) - expected) < 1e-12


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("x = x", True),
        ("x = y", False),
        ("x != y", True),
        ("x != x", False),
        ("y < x", True),
        ("x < x", False),
        ("x < y", False),
        ("y <= x", True),
        ("x <= x", True),
        ("x <= y", False),
        ("expR x = expR x", None),
        ("expR x <= expR x", None),
        ("expR x < expR x", None),
        ("expR x != expR x", None),
    ],
)
def test_whether_a_comparison_holds(text: str, holds: bool | None) -> None:
    assert Reader(text).comparison()(SCOPE) is holds


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x +", "got ''"),
        ("(x", r"expected \), got ''"),
        ("x # y", "expected a statement, got ' # y'"),
        ("", "got ''"),
        ("(fun u => u", r"expected \), got ''"),
        ("\\Sum_(k > m) x", "expected a statement"),
        ("`|x", r"expected \|, got ''"),
    ],
)
def test_a_text_that_ends_too_early_or_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Reader(text).expression()


def test_there_is_no_entry_before_the_first() -> None:
    """Python would count from the end."""
    with pytest.raises(IndexError, match="expected a position from 0 on, got -1"):
        Reader("s p").expression()({**SCOPE, "p": -1})


@pytest.mark.parametrize("sizes", [(1,), (4,), (2, 3), (4, 2)])
def test_rivals_are_distributions_that_differ(sizes: tuple[int, ...]) -> None:
    *rows, size = sizes
    for each in _rivals(*sizes):
        for row in each if rows else [each]:
            assert len(row) == size
            assert sum(row) == 1
            assert min(row) >= 0
    if size > 1:
        assert len({str(each) for each in _rivals(*sizes)}) == 3
        assert [Fraction(0), Fraction(1)] in [each[0] if rows else each for each in _rivals(*rows, 2)]


def test_binders_and_conclusion_of_a_theorem() -> None:
    assert parts("Theorem it : forall (R : realType) (f : R -> (R -> R)) (f_gt0 : forall i1, 0 < f i1),\n  f = f.") == (
        [("R", "realType"), ("f", "R -> (R -> R)"), ("f_gt0", "forall i1, 0 < f i1")],
        "f = f",
    )
