"""What the words around an equation say of it: it is denied, asked or conjectured, or holds for some values only."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guessing import guess
from derivations.reader.meaning.notation import DENIED, QUALIFIED
from derivations.reader.tex.paper import read_paper

ONE = r"\begin{equation}x = 1\end{equation}"


def stance(text: str, folder: Path) -> str:
    """Whether the first equation of a text is denied or qualified; empty if it is asserted."""
    path = folder / "paper.tex"
    path.write_text(rf"\newtheorem{{guess}}[theorem]{{Conjecture}}\begin{{document}}{text}\end{{document}}", encoding="utf-8")
    guesses = guess(read_paper(path))
    return next((kind for table in guesses.local.values() for kind in (DENIED, QUALIFIED) if kind in table), "")


@pytest.mark.parametrize(
    "text",
    [
        f"One might expect that {ONE}, but it is not so.",
        f"This does not imply {ONE}",
        f"It is not true in general that {ONE}",
        f"It has been wrongly stated that {ONE}",
        f"In contrast to the claim of earlier work that {ONE} we find something else.",
        f"We conjecture, as others do, that {ONE}",
        rf"\begin{{guess}}Let $x > 0$. Then {ONE}\end{{guess}}",
        f"Suppose, for contradiction, that {ONE}",
        f"Does {ONE} hold?",
        rf"There is no $x$ with {ONE}",
        f"We would like to have {ONE}",
        f"The identity {ONE} does not hold.",
        f"We get {ONE} which is false.",
        f"We get {ONE} This does not hold for all scores.",
        f"We get {ONE} However, this is wrong.",
        f"The formula {ONE} found in many textbooks is incorrect.",
        f"A computation gives {ONE} which misses a factor.",
        f"We refute the claim {ONE}",
        rf"No $x$ satisfies {ONE}",
        f"It is not bounded by {ONE}",
    ],
)
def test_denied_equations(text: str, tmp_path: Path) -> None:
    assert stance(text, tmp_path) == DENIED


@pytest.mark.parametrize(
    ("between", "denied"),
    [
        ("", True),
        ("for the first three", True),
        ("for any of the first three", False),
        ("that for all of the first three", True),
        ("for all of the first three that", True),
        ("for that reason and for others", False),
        ("for the reason given above that implies", False),
    ],
)
def test_a_denial_is_of_what_is_near_it_or_behind_that(between: str, denied: bool, tmp_path: Path) -> None:
    assert (stance(f"It is not true {between} {ONE}", tmp_path) == DENIED) is denied


@pytest.mark.parametrize(
    "text",
    [
        f"There is a number such that {ONE}",
        rf"For some $x$ we have {ONE}",
        f"with equality if and only if {ONE}",
        f"The gap vanishes: {ONE} exactly when the scores are equal.",
        f"To first order, {ONE}",
        f"Dropping quadratic terms, {ONE}",
        f"With an error of order two, {ONE}",
        f"The following statements are equivalent: {ONE}",
        f"We fix $x$ so that {ONE}",
        rf"As $x \to 0$, {ONE}",
        f"We get {ONE} up to a constant.",
        f"Setting the derivative to zero gives {ONE}",
        f"Let $x$ satisfy {ONE}",
        f"If all scores are equal, {ONE}",
        r"If all vectors have one length, then \begin{equation}y = x^\top x\end{equation}",
        rf"If $x$ and $y$ are independent, then {ONE}",
        f"Suppose that the costs are symmetric. Then {ONE}",
        rf"We get {ONE} This holds whenever $y > 0$.",
        f"We get {ONE} with high probability.",
        f"It is enough that {ONE}",
        f"A vector is called balanced if {ONE}",
        rf"We get {ONE} on $\\{{0, 1\\}}$.",
        f"We get {ONE} by assumption.",
        f"Letting $x \\to 0$, {ONE}",
        rf"\begin{{assumption}} The costs satisfy {ONE}\end{{assumption}}",
    ],
)
def test_qualified_equations(text: str, tmp_path: Path) -> None:
    assert stance(text, tmp_path) == QUALIFIED


@pytest.mark.parametrize(
    "text",
    [
        f"Then {ONE}",
        f"This does not depend on the scores, since {ONE}",
        f"It is not hard to see that {ONE}",
        f"Unlike others, softmax satisfies {ONE}",
        f"The weights sum up to one, {ONE}",
        f"By the conjecture that was proved long ago in another paper of ours, {ONE}",
        f"The rows have sums {ONE} but the columns are not normalized.",
        f"One might expect more. Still, {ONE}",
        f"The first bound is {ONE} it is not attained by {ONE}",
        rf"Suppose from now on that $x$ is uniform, that is, $x = 1$. Then {ONE}",
    ],
)
def test_asserted_equations(text: str, tmp_path: Path) -> None:
    assert stance(text, tmp_path) == ""


def test_an_assumption_is_a_condition_of_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    for text, conditions in ((f"We assume that {ONE}", [(1, "x = 1")]), (f"We get {ONE} for large scores.", [])):
        path.write_text(rf"\begin{{document}}{text}\end{{document}}", encoding="utf-8")
        assert guess(read_paper(path)).restrictions == conditions


EXISTING = r"Let $x \in \mathbb{R}$. By the mean value theorem there exists $c \in (0, 1)$ such that "
FIRST, SECOND = (rf"\begin{{equation}} x = {number} c \end{{equation}}" for number in (2, 3))


@pytest.mark.parametrize(
    ("text", "qualified"),
    [
        (f"{EXISTING}{FIRST} It follows that {SECOND}", 2),
        (rf"由中值定理，存在$c \in (0, 1)$使得{FIRST} 即{SECOND}", 2),
        (rf"{EXISTING}{FIRST} Now let $c \in (0, 1)$. Then {SECOND}", 1),
        (rf"{EXISTING}{FIRST} \section{{Two}} Let $c > 0$. Then {SECOND}", 1),
        (rf"{EXISTING}{FIRST} Also, \begin{{equation}} x^2 \ge 0 \end{{equation}}", 1),
        (rf"Let $c \in (0, 1)$. Then {FIRST} {SECOND}", 0),
    ],
)
def test_what_follows_of_a_number_that_exists_holds_for_some_values(text: str, qualified: int, tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    path.write_text(rf"\begin{{document}}\section{{One}}{text}\end{{document}}", encoding="utf-8")
    assert sum(QUALIFIED in table for table in guess(read_paper(path)).local.values()) == qualified
