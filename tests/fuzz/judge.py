"""Compare the kernel's answers about a statement with an independent evaluation."""

import random
import signal
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from derivations.records import rendering
from derivations.relations import Relation
from tests.fuzz.expressions import Outcome, answer_of, check_expressions, check_path, note_refusal, point_text
from tests.fuzz.nodes import Node
from tests.fuzz.sample import draw, outside
from tests.fuzz.truth import claims_of, holds, meant, open_names

POINTS = 8  # for a proved statement


class TimeoutReachedError(BaseException):
    """Raised on timeout; it is no Exception, so that no handler in the tested code catches it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutReachedError in the main thread after that much processor time."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutReachedError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def judge(node: Node, seconds: float = 20.0, points: int = POINTS, ask: bool = True) -> Outcome:
    """Build, prove, refute, evaluate, compare; with `ask` False only the kernel's own computations are judged."""
    text = str(node)
    outcome = Outcome(text, "refused")
    step = "build"
    try:
        with time_limit(seconds):
            try:
                relation = node.build()
                step = "normal and balls"
                claims = claims_of(relation)
                check_expressions(claims, outcome, _rng(text))
                answered = check_path(relation, outcome, _rng(text))
                if not ask:
                    outcome.verdict = "computed" if answered else "undecided"
                    return outcome
                step = "prove"
                proved = answer_of(relation.prove, outcome, step)
                step = "refute"
                refuted = answer_of(lambda: _refutation(relation), outcome, step)
            except ValueError as refusal:
                note_refusal(refusal, outcome, step)
                return outcome
            outcome.verdict = "proved" if proved else "refuted" if refuted else "undecided" if proved is not None else "refused"
            step = "evaluation"
            if proved and refuted:
                outcome.contradictions.append(("proved and refuted", f"{refuted[0]}"))
            if proved:
                _check_proof(relation, outcome, _rng(text), points)
            if refuted:
                _check_refutation(relation, refuted[1], outcome)
    except TimeoutReachedError:
        outcome.verdict = "timeout"
    except Exception as error:
        outcome.contradictions.append((f"{step}: {type(error).__name__}", str(error)[:200]))
    return outcome


def _rng(text: str) -> random.Random:
    return random.Random(zlib.crc32(text.encode()))


def _refutation(relation: Relation) -> tuple[str, dict[Any, Any]] | None:
    counterexample = relation.counterexample()
    return None if counterexample is None else (rendering.witness(counterexample.witness), dict(counterexample.point))


def _check_proof(relation: Relation, outcome: Outcome, rng: random.Random, points: int) -> None:
    names = open_names(relation)
    admitted = 0
    for turn in range(4 * points):
        point = draw(names, rng, largest=(3, 7, 3, 12)[turn % 4])  # the kernel's own sample ends at 7
        if point is None or meant(relation, point, rng) is not True:
            continue
        admitted += 1
        if admitted > points:
            return
        truth, why = holds(relation, point, rng)
        if truth is False:
            kind = "proved and undefined" if why == "undefined" else "proved and false"
            outcome.contradictions.append((kind, f"{why} at {point_text(point)}"))
            return


def _check_refutation(relation: Relation, point: dict[Any, Any], outcome: Outcome) -> None:
    if (reason := outside(point)) is not None:
        outcome.contradictions.append(("witness outside of the domain", reason))
        return
    if meant(relation, point, random.Random(0)) is False:
        outcome.contradictions.append(("witness that breaks a hypothesis", f"at {point_text(point)}"))
        return
    truth, why = holds(relation, point, random.Random(0))
    if truth is True:
        outcome.contradictions.append(("refuted and true", f"{why} at {point_text(point)}"))
    elif why == "undefined":
        outcome.contradictions.append(("refuted where nothing is defined", f"at {point_text(point)}"))
