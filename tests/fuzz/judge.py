"""What the kernel says of a statement, held against the independent evaluation of the same statement."""

from __future__ import annotations

import random
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import sympy as sp

from derivations.calculus import balls, sums
from derivations.relations import Relation
from tests.fuzz.arithmetic import Number, UncertainError, UndefinedError, contains, differ
from tests.fuzz.evaluate import UnsupportedError, evaluate, shown
from tests.fuzz.nodes import Node
from tests.fuzz.sample import draw, names_of, outside
from tests.fuzz.truth import claims_of, holds, meant, open_names

POINTS = 8  # for a proved statement
SPOTS = 3  # for the normal form and the balls


class TimeoutReachedError(BaseException):
    """Too long; no Exception, so that no handler on the way swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutReachedError in the main thread after so much processor time."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutReachedError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Outcome:
    """What became of one statement: `proved`, `refuted`, `undecided`, `refused` or `timeout`, and what contradicts what."""

    text: str
    verdict: str
    contradictions: list[tuple[str, str]] = field(default_factory=list)


def judge(node: Node, seconds: float = 20.0, points: int = POINTS) -> Outcome:
    """Build, prove, refute, evaluate, compare."""
    text = str(node)
    outcome = Outcome(text, "refused")
    step = "build"
    try:
        with time_limit(seconds):
            try:
                relation = node.build()
                step = "normal and balls"
                claims = claims_of(relation)
                _check_expressions(claims, outcome, _rng(text))
                step = "prove"
                proved = _asked(relation.prove, outcome, step)
                step = "refute"
                refuted = _asked(lambda: _refutation(relation), outcome, step)
            except ValueError as refusal:
                _note_refusal(refusal, outcome, step)
                return outcome
            outcome.verdict = "proved" if proved else "refuted" if refuted else "undecided" if proved is not None else "refused"
            step = "evaluation"
            if proved and refuted:
                outcome.contradictions.append(("proved and refuted", f"{refuted[0]}"))
            if proved:
                _check_proof(relation, outcome, _rng(text), points)
            if refuted and refuted[1] is not None:
                _check_refutation(relation, refuted[1], outcome)
    except TimeoutReachedError:
        outcome.verdict = "timeout"
    except (UnsupportedError, RecursionError) as error:
        outcome.contradictions.append((f"{step}: {type(error).__name__}", str(error)[:200]))
    except Exception as error:
        outcome.contradictions.append((f"{step}: {type(error).__name__}", str(error)[:200]))
    return outcome


def _rng(text: str) -> random.Random:
    return random.Random(zlib.crc32(text.encode()))


def _asked(question: Any, outcome: Outcome, step: str) -> Any:
    """The answer; None where it is refused with a clear message."""
    try:
        return question()
    except ValueError as refusal:
        _note_refusal(refusal, outcome, step)
        return None


def _note_refusal(refusal: ValueError, outcome: Outcome, step: str) -> None:
    """The kernel's own refusals name an argument first; anything else comes from inside SymPy."""
    head, colon, rest = str(refusal).partition(":")
    if not colon or not rest.strip() or len(head) > 40 or "\n" in head:
        outcome.contradictions.append((f"{step}: {type(refusal).__name__} without a clear message", str(refusal)[:200]))


def _refutation(relation: Relation) -> tuple[str, dict[Any, Any] | None] | None:
    counterexample = getattr(relation, "counterexample", None)
    if counterexample is None:
        witness = relation.refute()
        return None if witness is None else (witness.text, None)
    found = counterexample()
    return None if found is None else (found.witness.text, dict(found.point))


def _check_expressions(claims: list[sp.Expr], outcome: Outcome, rng: random.Random) -> None:
    """The normal form keeps the value, and the ball contains it."""
    for expr in claims:
        names = names_of([expr])
        normal = _asked(lambda expr=expr: sums.normal(expr), outcome, "normal")
        for _ in range(SPOTS):
            point = draw(names, rng, largest=5)
            if point is None:
                continue
            value = _value(expr, point)
            if normal is not None and not isinstance(value, str):
                other = _value(normal, {**point, **_missing(normal, point, rng)})
                if not isinstance(other, str) and differ(value, other):
                    found = f"{expr} = {shown(value)}, normal form {normal} = {shown(other)} at {_shown(point)}"
                    outcome.contradictions.append(("normal form", found))
                    return
            _check_ball(expr, point, value, outcome)


def _missing(expr: sp.Expr, point: dict[Any, Any], rng: random.Random) -> dict[Any, Any]:
    """Variables that the normal form has and the expression has not: marginals and the like."""
    missing = [name for name in names_of([expr]) if name not in point]
    return draw(missing, rng) or {} if missing else {}


def _value(expr: sp.Expr, point: dict[Any, Any]) -> Number | str:
    """The value, or why there is none."""
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
        _note_refusal(refusal, outcome, "ball")
        return
    except IndexError:
        if value != "undefined":
            outcome.contradictions.append(("ball: IndexError", f"{expr} at {_shown(point)}"))
        return
    if not ball.is_finite():
        return
    if value == "undefined":
        outcome.contradictions.append(("ball where nothing is defined", f"{expr} in {ball} at {_shown(point)}"))
    elif not isinstance(value, str) and not contains(_parts(ball.mid()), _parts(ball.rad()), value):
        outcome.contradictions.append(("ball", f"{expr} = {shown(value)}, ball {ball} at {_shown(point)}"))


def _parts(ball: Any) -> tuple[int, int]:
    mantissa, exponent = ball.man_exp()
    return int(mantissa), int(exponent)


def _shown(point: dict[Any, Any]) -> str:
    return "{" + ", ".join(f"{name.name}: {_text(value)}" for name, value in point.items()) + "}"


def _text(value: Any) -> str:
    return "[" + ", ".join(map(_text, value)) + "]" if isinstance(value, list) else str(value)


def _check_proof(relation: Relation, outcome: Outcome, rng: random.Random, points: int) -> None:
    names = open_names(relation)
    admitted = 0
    for turn in range(4 * points):
        point = draw(names, rng, largest=7 if turn % 2 else 3)
        if point is None or meant(relation, point, rng) is not True:
            continue
        admitted += 1
        if admitted > points:
            return
        truth, why = holds(relation, point, rng)
        if truth is False:
            kind = "proved and undefined" if why == "undefined" else "proved and false"
            outcome.contradictions.append((kind, f"{why} at {_shown(point)}"))
            return


def _check_refutation(relation: Relation, point: dict[Any, Any], outcome: Outcome) -> None:
    if (reason := outside(point)) is not None:
        outcome.contradictions.append(("witness outside of the domain", reason))
        return
    if meant(relation, point, random.Random(0)) is False:
        outcome.contradictions.append(("witness that breaks a hypothesis", f"at {_shown(point)}"))
        return
    truth, why = holds(relation, point, random.Random(0))
    if truth is True:
        outcome.contradictions.append(("refuted and true", f"{why} at {_shown(point)}"))
    elif why == "undefined":
        outcome.contradictions.append(("refuted where nothing is defined", f"at {_shown(point)}"))
