"""Run many statements, sequentially or in several processes, and count their outcomes."""

import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from sympy.core.cache import clear_cache

from tests.fuzz.judge import Outcome, judge
from tests.fuzz.nodes import Node
from tests.fuzz.shrink import shrink
from tests.fuzz.statements import statement

CHUNK = 40  # statements of one task


@dataclass(frozen=True)
class Contradiction:
    """Two contradictory answers, for the smallest statement that has them."""

    number: str
    kind: str
    repro: str
    detail: str

    def __str__(self) -> str:
        return f"[{self.number}] {self.kind}: {self.repro}   # {self.detail}"


@dataclass
class Tally:
    """Counts of statements by kind and verdict, the contradictions, and the slow statements."""

    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    contradictions: list[Contradiction] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of judged statements."""
        return self.verdicts.total()

    def share(self, verdict: str) -> float:
        """The share of a verdict."""
        return sum(n for (_, own), n in self.verdicts.items() if own == verdict) / max(1, self.count)

    def add(self, other: "Tally") -> None:
        """Add another tally."""
        self.verdicts += other.verdicts
        self.contradictions += other.contradictions
        self.slow += other.slow


def examine(
    numbers: Iterable[str],
    seconds: float = 20.0,
    until: float = float("inf"),
    minimal: bool = True,
    kinds: Collection[str] = (),
) -> Tally:
    """Judge the statements of these seeds, until a moment of `time.monotonic`."""
    tally = Tally()
    for number in numbers:
        if time.monotonic() > until:
            break
        kind, node = statement(number, kinds)
        outcome = outcome_of(kind, node, seconds)
        tally.verdicts[kind, outcome.verdict] += 1
        if outcome.verdict == "timeout":
            tally.slow.append(f"[{number}] {outcome.text}")
        for problem, detail in outcome.contradictions[:1]:
            small = node
            if minimal:
                small = shrink(
                    node, lambda one, kind=kind, problem=problem: problem in _problems(outcome_of(kind, one, seconds))
                )
                again = outcome_of(kind, small, seconds).contradictions
                detail = next((text for name, text in again if name == problem), detail)
            tally.contradictions.append(Contradiction(number, problem, str(small), detail))
    return tally


def outcome_of(kind: str, node: Node, seconds: float) -> Outcome:
    """Return the outcome; for kinds that make no claim, only computed values are judged."""
    return judge(node, seconds, ask=not kind.startswith("computed"))


def _problems(outcome: Outcome) -> set[str]:
    return {problem for problem, _ in outcome.contradictions}


def _task(work: tuple[list[str], float, float]) -> Tally:
    numbers, seconds, until = work
    tally = examine(numbers, seconds, until)
    clear_cache()
    return tally


def _quiet() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and stops all


def campaign(seed: int, workers: int, seconds: float, until: float, first: int = 0) -> Iterator[Tally]:
    """The tallies of one chunk after another until a moment of `time.monotonic`, from `workers` processes."""

    def tasks() -> Iterator[tuple[list[str], float, float]]:
        start = first
        while time.monotonic() < until:
            yield [f"{seed}:{number}" for number in range(start, start + CHUNK)], seconds, until
            start += CHUNK

    if workers == 1:
        yield from map(_task, tasks())
        return
    with multiprocessing.get_context("spawn").Pool(workers, _quiet, maxtasksperchild=10) as pool:
        waiting = []
        for task in tasks():
            waiting.append(pool.apply_async(_task, (task,)))
            while len(waiting) >= workers + 1:
                yield waiting.pop(0).get()
        for result in waiting:
            yield result.get()
