"""The kernel's answers about single expressions: normal forms, signs, definedness, balls, limits and expansions."""

import random
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from derivations.calculus import balls, sums
from derivations.calculus.defined import strangers, undefined
from derivations.calculus.germs import Germs
from derivations.calculus.signs import nonnegative, nonzero, strictly_positive
from derivations.relations import Equation, Expansion, Limit, Relation
from derivations.relations.limit import _ends
from tests.fuzz.arithmetic import Number, UncertainError, UndefinedError, contains, differ, sign
from tests.fuzz.evaluate import UnsupportedError, evaluate, shown
from tests.fuzz.sample import draw, names_of
from tests.fuzz.truth import holds, open_names

SPOTS = 3  # points for each expression


@dataclass
class Outcome:
    """The verdict on one statement (`proved`, `refuted`, `undecided`, `refused` or `timeout`) and all contradictions."""

    text: str
    verdict: str
    contradictions: list[tuple[str, str]] = field(default_factory=list)


def answer_of(question: Any, outcome: Outcome, step: str) -> Any:
    """Return the answer, or None if the kernel refuses with a clear message."""
    try:
        return question()
    except ValueError as refusal:
        note_refusal(refusal, outcome, step)
        return None


def note_refusal(refusal: ValueError, outcome: Outcome, step: str) -> None:
    """The kernel's own refusals name an argument first; anything else comes from inside SymPy."""
    head, colon, rest = str(refusal).partition(":")
    if not colon or not rest.strip() or len(head) > 40 or "\n" in head:
        outcome.contradictions.append((f"{step}: {type(refusal).__name__} without a clear message", str(refusal)[:200]))


def check_expressions(claims: list[sp.Expr], outcome: Outcome, rng: random.Random) -> None:
    """Check that the normal form keeps the value, signs and conditions are right, and the ball contains the value."""
    for expr in claims:
        names = names_of([expr])
        normal = answer_of(lambda expr=expr: sums.normal(expr), outcome, "normal")
        granted = _signs(expr) | (_signs(normal) if normal is not None else set())
        defined = not any(strangers(expr)) and answer_of(lambda expr=expr: undefined(expr), outcome, "undefined") == []
        for _ in range(SPOTS):
            point = draw(names, rng, largest=5)
            if point is None:
                continue
            value = _value(expr, point)
            problem = _problem(expr, normal, granted, defined, value, {**point, **_missing(normal, point, rng)})
            if problem is not None:
                outcome.contradictions.append((problem[0], f"{problem[1]} at {point_text(point)}"))
                return
            _check_ball(expr, point, value, outcome)


def _signs(expr: sp.Expr) -> set[str]:
    """The signs that the kernel proves for an expression wherever it is defined."""
    tests = {"nonnegative": nonnegative, "positive": strictly_positive, "nonzero": nonzero}
    return {name for name, granted in tests.items() if granted(expr)}


def _problem(
    expr: sp.Expr, normal: sp.Expr | None, granted: set[str], defined: bool, value: Number | str, point: dict[Any, Any]
) -> tuple[str, str] | None:
    if value == "undefined" and defined:
        return "defined everywhere and undefined", f"{expr}"
    if isinstance(value, str):
        return None
    if normal is not None:
        other = _value(normal, point)
        if not isinstance(other, str) and differ(value, other):
            return "normal form", f"{expr} = {shown(value)}, normal form {normal} = {shown(other)}"
    try:
        side = sign(value)
    except UncertainError:
        return None
    wrong = granted & ({"nonnegative", "positive"} if side < 0 else {"positive", "nonzero"} if side == 0 else set())
    return ("sign", f"{expr} is granted {', '.join(sorted(wrong))} and is {shown(value)}") if wrong else None


def check_path(relation: Relation, outcome: Outcome, rng: random.Random) -> bool:
    """Check the results that the kernel computes by itself: a limit, the coefficients of an expansion, equality.

    The answer is whether it computes anything.
    """
    own = _own_answer(relation, outcome)
    names = open_names(own) if own is not None else []
    for _ in range(SPOTS if own is not None else 0):
        point = draw(names, rng, largest=4)
        if point is None:
            continue
        truth, why = holds(own, point, rng)
        if truth is False and why != "undefined":
            outcome.contradictions.append(("computed and false", f"{own}: {why} at {point_text(point)}"))
            break
    return own is not None


def _own_answer(relation: Relation, outcome: Outcome) -> Relation | None:
    """The true statement of this kind according to the kernel."""
    if isinstance(relation, Equation):
        return relation if sums_equal(relation, outcome) else None
    if relation.given or not isinstance(relation, Limit | Expansion):
        return None
    try:
        if isinstance(relation, Expansion):
            series = [left for left, _ in relation.expanded]
            value = sp.Add(*[c * relation.variable**k for k, c in enumerate(series)])
            return Expansion(relation.left, value, relation.variable, relation.order)
        if isinstance(relation.variable, sp.Indexed):
            return None
        ends = _ends(relation.moving, sp.sympify(relation.to))
        value, *others = [Germs({relation.moving: end}).limit(relation.path) for end in ends]
        return Limit(relation.expr, relation.variable, relation.to, value) if all(other == value for other in others) else None
    except ValueError:
        return None


def sums_equal(relation: Equation, outcome: Outcome) -> bool:
    """Whether the normal forms of both sides are equal, wherever both are defined."""
    return answer_of(lambda: sums.equal(*relation.sides), outcome, "equal") is True


def _missing(expr: sp.Expr | None, point: dict[Any, Any], rng: random.Random) -> dict[Any, Any]:
    """Variables that occur in the normal form only, such as marginals."""
    missing = [name for name in names_of([expr]) if name not in point] if expr is not None else []
    return draw(missing, rng) or {} if missing else {}


def _value(expr: sp.Expr, point: dict[Any, Any]) -> Number | str:
    """The value, or the reason why there is none."""
    for bits in (200, 700):
        try:
            return evaluate(expr, point, bits)
        except UndefinedError:
            return "undefined"
        except UncertainError:
            continue
        except UnsupportedError:
            return "unsupported"
    return "uncertain"


def _check_ball(expr: sp.Expr, point: dict[Any, Any], value: Number | str, outcome: Outcome) -> None:
    try:
        ball = balls.enclose(expr, point)
    except ValueError as refusal:
        note_refusal(refusal, outcome, "ball")
        return
    except IndexError:
        if value != "undefined":
            outcome.contradictions.append(("ball: IndexError", f"{expr} at {point_text(point)}"))
        return
    if not ball.is_finite():
        return
    if value == "undefined":
        outcome.contradictions.append(("ball where nothing is defined", f"{expr} in {ball} at {point_text(point)}"))
    elif not isinstance(value, str) and not contains(_parts(ball.mid()), _parts(ball.rad()), value):
        outcome.contradictions.append(("ball", f"{expr} = {shown(value)}, ball {ball} at {point_text(point)}"))


def _parts(ball: Any) -> tuple[int, int]:
    mantissa, exponent = ball.man_exp()
    return int(mantissa), int(exponent)


def point_text(point: dict[Any, Any]) -> str:
    """The point as a dictionary, on one line."""
    return "{" + ", ".join(f"{name.name}: {_text(value)}" for name, value in point.items()) + "}"


def _text(value: Any) -> str:
    return "[" + ", ".join(map(_text, value)) + "]" if isinstance(value, list) else str(value)
