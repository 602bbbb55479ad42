"""One-edit versions of a side: all of them, in the order in which they are tried, each with what was edited."""

from collections.abc import Sequence

import pytest

from derivations.papers import edits
from derivations.papers.edits import versions
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import spelled

SIDES: list[tuple[str, Sequence[str], list[str]]] = [
    (
        r"x",
        ["x"],
        [
            r"the other sign: - x",
            r"the square of x: x^{2}",
            r"1/x for x: \frac{1}{x}",
            r"multiplied by x: x x",
            r"divided by x: 1",
        ],
    ),
    (
        r"x - 2",
        ["x"],
        [
            r"the other sign: - x + 2",
            r"the other sign of x: - x - 2",
            r"the other sign of 2: x + 2",
            r"without x: - 2",
            r"without 2: x",
            r"the square of x: x^{2} - 2",
            r"1/x for x: \frac{1}{x} - 2",
            r"3 for 2: x - 3",
            r"1 for 2: x - 1",
            r"multiplied by x: x x - x 2",
            r"x multiplied by x: x x - 2",
            r"2 multiplied by x: x - x 2",
            r"divided by x: 1 - \frac{1}{x} 2",
            r"x divided by x: 1 - 2",
            r"2 divided by x: x - \frac{1}{x} 2",
        ],
    ),
    (r"1", [], [r"the other sign: - 1", r"2 for 1: 2"]),
    (
        r"x y",
        [],
        [r"the other sign: - x y", r"without x: y", r"without y: x", r"the square of x: x^{2} y", r"the square of y: x y^{2}"],
    ),
    (
        r"x / y",
        ["x"],
        [
            r"the other sign: - x / y",
            r"the square of x: x^{2} / y",
            r"1/x for x: \frac{1}{x} / y",
            r"the square of y: x / y^{2}",
            r"multiplied by x: x x / y",
            r"divided by x: \frac{1}{x} x / y",
        ],
    ),
    (
        r"f(y)",
        [],
        [
            r"the other sign: - f (y)",
            r"the square of f: f^{2} (y)",
            r"the other sign of y: f (- y)",
            r"the square of (y): f (y)^{2}",
            r"the square of y: f (y^{2})",
        ],
    ),
    (
        r"\frac{1}{y} z",
        [],
        [
            r"the other sign: - \frac{1}{y} z",
            r"without \frac{1}{y}: z",
            r"without z: \frac{1}{y}",
            r"y for 1/y: y z",
            r"1/y² for 1/y: \frac{1}{y^{2}} z",
            r"1/√y for 1/y: \frac{1}{\sqrt{y}} z",
            r"2 for 1: \frac{2}{y} z",
            r"the square of z: \frac{1}{y} z^{2}",
        ],
    ),
    (
        r"\frac{z}{y}",
        [],
        [r"the other sign: - \frac{z}{y}", r"the square of z: \frac{z^{2}}{y}", r"the square of y: \frac{z}{y^{2}}"],
    ),
    (
        r"\mathrm{KL}(p \| q)",
        [],
        [
            r"the other sign: - \mathrm{KL} (p\|q)",
            r"the square of \mathrm{KL}: \mathrm{KL}^{2} (p\|q)",
            r"the square of (p\|q): \mathrm{KL} (p\|q)^{2}",
            r"p and q in the other order: \mathrm{KL} (q\|p)",
            r"the square of p: \mathrm{KL} (p^{2}\|q)",
            r"the square of q: \mathrm{KL} (p\|q^{2})",
        ],
    ),
    (
        r"s_i^3",
        [],
        [
            r"the other sign: - s_{i}^{3}",
            r"without the power 3: s_{i}",
            r"the power 2 for 3: s_{i}^{2}",
            r"the power 4 for 3: s_{i}^{4}",
        ],
    ),
    (
        r"s_i s_j",
        [],
        [
            r"the other sign: - s_{i} s_{j}",
            r"the square of s_{i}: s_{i}^{2} s_{j}",
            r"j for i: s_{j} s_{j}",
            r"the square of s_{j}: s_{i} s_{j}^{2}",
            r"i for j: s_{i} s_{i}",
        ],
    ),
    (r"\sum_i s_i", [], [r"the other sign: - \sum_{i} s_{i}", r"the square of s_{i}: \sum_{i} s_{i}^{2}"]),
    (
        r"A^\top z",
        [],
        [
            r"the other sign: - A^{\top} z",
            r"without z: A^{\top}",
            r"A for its transpose: A z",
            r"the square of z: A^{\top} z^{2}",
        ],
    ),
    (r"\sqrt{z}", [], [r"the other sign: - \sqrt{z}", r"z for its root: z", r"the square of z: \sqrt{z^{2}}"]),
    (r"e^{-z}", [], [r"the other sign: - e^{- z}", r"the other sign of z: e^{z}", r"the square of z: e^{- z^{2}}"]),
    (
        r"p_i (1 - p_j)",
        [],
        [
            r"the other sign: - p_{i} (1 - p_{j})",
            r"the square of p_{i}: p_{i}^{2} (1 - p_{j})",
            r"j for i: p_{j} (1 - p_{j})",
            r"the square of (1 - p_{j}): p_{i} (1 - p_{j})^{2}",
            r"the other sign of 1: p_{i} (- 1 - p_{j})",
            r"the other sign of p_{j}: p_{i} (1 + p_{j})",
            r"without 1: p_{i} (- p_{j})",
            r"without p_{j}: p_{i} (1)",
            r"the other sign of 1 - p_{j}: p_{i} (- 1 + p_{j})",
            r"2 for 1: p_{i} (2 - p_{j})",
            r"the square of p_{j}: p_{i} (1 - p_{j}^{2})",
            r"i for j: p_{i} (1 - p_{i})",
        ],
    ),
    (
        r"f'^2",
        ["f"],
        [
            r"the other sign: - f'^{2}",
            r"without the power 2: f'",
            r"the power 3 for 2: f'^{3}",
            r"1/f for f: \frac{1}{f}'^{2}",
            r"multiplied by f: f f'^{2}",
            r"divided by f: \frac{1}{f} f'^{2}",
        ],
    ),
    (
        r"2 \cdot z",
        [],
        [r"the other sign: - 2 \cdot z", r"3 for 2: 3 \cdot z", r"1 for 2: 1 \cdot z", r"the square of z: 2 \cdot z^{2}"],
    ),
    (r"K_{ij}", [], [r"the other sign: - K_{i j}", r"the square of K_{i j}: K_{i j}^{2}"]),
    (
        r"x^2",
        ["x"],
        [
            r"the other sign: - x^{2}",
            r"without the power 2: x",
            r"the power 3 for 2: x^{3}",
            r"1/x for x: \frac{1}{x}^{2}",
            r"multiplied by x: x x^{2}",
            r"divided by x: \frac{1}{x} x^{2}",
        ],
    ),
    (r"\log x", [], [r"the other sign: - \log x", r"without \log: x", r"without x: \log", r"the square of x: \log x^{2}"]),
    (
        r"(x, y)",
        [],
        [
            r"the other sign: - (x,y)",
            r"the square of (x,y): (x,y)^{2}",
            r"the square of x: (x^{2},y)",
            r"the square of y: (x,y^{2})",
        ],
    ),
]


@pytest.mark.parametrize(("latex", "scalars", "expected"), SIDES)
def test_every_edit_of_a_side(latex: str, scalars: Sequence[str], expected: list[str]) -> None:
    assert [f"{name}: {spelled(node)}" for name, node in versions(parse(latex), scalars)] == expected


def test_edits_inside_of_a_long_side_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MOST", 2)
    assert [name for name, _ in versions(parse("x y"), ["x"])] == [
        "the other sign",
        "without x",
        "without y",
        "multiplied by x",
    ]
