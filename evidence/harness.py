"""Votes of a numeric layer on a claim: its numbers are compared with the proved expression and with every twin.

A check computes the printed left side at a random instance by one or more independent routes (autograd, a closed form, a
conic solver).  The right side is the derivation's expression, evaluated by `bridge`.  Every route must agree with it at
every instance, and must disagree with each twin at some instance: a route that cannot refute a twin has no vote.

One rule applies to prints and twins: a deviation of at most one tolerance is agreement, one of more than
`REFUTING_FACTOR` tolerances is a refutation, and anything between is inconclusive.
"""

import math
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace
from torch import Tensor

from derivations.calculus.quick import shortcuts
from derivations.records.claims import DECISIVE_OUTCOMES, Evidence, Layer, Outcome
from derivations.records.claims import Kind as ClaimKind
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.relations import Relation
from evidence.admission import NotAReadingError, Scale, admit, admit_tolerance, holds_given, size_of
from evidence.bridge import Value, closed
from evidence.power import Mutations
from evidence.readings import REFUTING_FACTOR, Comparison, Formula, Miss, Reading, compare, distinct, standing_for
from evidence.registry import CASES, Case, Check, Finding, Observation, Run
from evidence.rounds import Rounds

MAX_ROUNDS = 8  # of draws, after which a twin counts as not refuted
MIN_INSTANCES = 5  # at least two must differ if the claim has variables


@dataclass
class Vote:
    """The running totals of one check over the instances evaluated so far.

    Attributes:
        instances: readings at which something was compared.
        compared: positions that were compared; `incomparable` are those where the formula or a route was not finite.
        discarded: draws that the strategy or the check threw away.
        worst: the largest deviation from the print, in tolerances; `tightest` is the smallest gap of an inequality.
        failure: where the print was refuted, and `doubt` where it was neither refuted nor agreed with.
        killed: the routes that refuted each twin.
        ranges: of the values of each variable.
        sizes: the numbers of keys, features, … that the statement speaks of.
        scales: whether numbers could have been refuted, where the derived side is not 0 (True) and where it is.
        drawing: whether the instances are drawn at random rather than given.
    """

    claim: str
    layer: Layer
    instances: int = 0
    compared: int = 0
    incomparable: int = 0
    discarded: int = 0
    worst: float = 0.0
    tightest: float = math.inf
    failure: str = ""
    doubt: str = ""
    killed: dict[str, set[str]] = field(default_factory=dict)
    drawing: bool = False
    routes: frozenset[str] = frozenset()
    seen: set[tuple[object, ...]] = field(default_factory=set)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    sizes: frozenset[str] = frozenset()
    scales: dict[bool, Scale] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """The outcome that follows from all readings."""
        if self.failure:
            return Outcome.REFUTED
        if not self.instances:
            return Outcome.VACUOUS
        return Outcome.INCONCLUSIVE if self.why_not else Outcome.HOLDS

    @property
    def why_not(self) -> str:
        """Why the vote does not support the claim; empty if it does."""
        if self.failure or self.doubt:
            return self.failure or self.doubt
        if not self.instances:
            return "nothing could be compared"
        if self.discarded > self.instances:
            drawn = self.discarded + self.instances
            return f"expected at most half of the draws to be discarded, got {self.discarded} of {drawn}"
        if self.drawing and self.ranges and (self.instances < MIN_INSTANCES or len(self.seen) < 2):
            return f"expected at least 2 different instances of {MIN_INSTANCES}, got {len(self.seen)} of {self.instances}"
        if always_one := [name for name in sorted(self.sizes) if self.ranges[name][1] < 2]:
            return f"expected a size of at least 2 at some instance, got {', '.join(always_one)} = 1 at every one"
        # The scale is taken from instances with a nonzero derived side; only if there is none, from the inputs.
        return self.scales[True in self.scales].why_not

    @property
    def refuted(self) -> tuple[str, ...]:
        """The twins that every route refuted."""
        return tuple(name for name, by in self.killed.items() if by == self.routes)

    @property
    def drawn(self) -> str:
        """The range of values drawn for each variable, as text."""
        ranges = (f"{name} {low:.3g}…{high:.3g}" for name, (low, high) in self.ranges.items())
        return f"drawn: {', '.join(ranges)}" if self.ranges else ""

    def scope(self) -> str:
        """The number of comparisons and their errors, in words."""
        parts = [f"{self.instances} drawn instances", f"{self.compared} numbers compared"]
        parts += [f"{self.incomparable} not comparable"] if self.incomparable else []
        parts += [f"{self.discarded} draws discarded"] if self.discarded else []
        parts += [f"worst error {self.worst:.2g} of the tolerance"]
        if math.isfinite(self.tightest):
            parts += [f"gap never smaller than {self.tightest:.2g} of the larger side"]
        return ", ".join(parts)


def compare_reading(
    vote: Vote, printed: Formula, twins: Mapping[str, Formula], reading: Reading, mutations: Mutations | None = None
) -> None:
    """Compare one reading with the formula, its twins and its mutants, and update the vote.

    Raises NotAReadingError for a reading that is not valid evidence for the claim.
    """
    admit(vote.claim, printed, twins, reading)
    if vote.routes and vote.routes != set(reading.routes):
        raise NotAReadingError(
            f"{vote.claim}: routes: expected {', '.join(sorted(vote.routes))} at every instance, "
            f"got {', '.join(sorted(reading.routes))}"
        )
    vote.routes = frozenset(reading.routes)
    axes = printed.axes(reading.point)
    comparisons = compare(printed, reading, axes)
    admit_tolerance(vote.claim, reading.tolerance, max(c.largest for c in comparisons.values()))
    if all(c.compared for c in comparisons.values()):
        vote.instances += 1
        _record_instance(vote, printed, reading)
        _record_scale(vote, printed, reading, comparisons.values())
    for route, comparison in comparisons.items():
        _record_comparison(vote, printed, reading, route, comparison)
    for name, twin in twins.items():
        if vote.killed.get(name, frozenset()) != vote.routes and holds_given(twin, reading.point):
            against = compare(twin, standing_for(twin, printed, reading, axes), axes).items()
            dead = {route for route, c in against if not c.incomparable and c.miss > REFUTING_FACTOR}
            if dead:
                vote.killed.setdefault(name, set()).update(dead)
    if mutations and all(c.miss <= 1 and not c.incomparable for c in comparisons.values()):
        mutations.face(printed, reading, vote.routes)


def _record_comparison(vote: Vote, printed: Formula, reading: Reading, route: str, comparison: Comparison) -> None:
    """Add a route's comparison to the totals, and record its first refutation or doubt."""
    vote.compared += comparison.compared
    vote.incomparable += comparison.incomparable
    vote.worst = max(vote.worst, comparison.miss)
    if printed.ordered:
        vote.tightest = min(vote.tightest, comparison.gap)
    inputs = ", ".join(f"{name} = {_shown(reading.point[name])}" for name in printed.names if name in reading.point)
    location = f" at {inputs}" if inputs else ""
    deviation = f"{route} misses by {comparison.miss:.3g} tolerances{_both(comparison.worst)}{location}"
    if comparison.miss > REFUTING_FACTOR:
        vote.failure = vote.failure or deviation
    elif comparison.miss > 1:
        vote.doubt = vote.doubt or f"{deviation}; at most 1 is agreement and more than {REFUTING_FACTOR:g} a refutation"
    if comparison.incomparable:
        vote.doubt = vote.doubt or f"{route} or the formula is not finite at {comparison.incomparable} positions{location}"


def _both(worst: Miss | None) -> str:
    """Render both values at the position of the largest deviation."""
    if worst is None:
        return ""
    where = f" at position {', '.join(map(str, worst.position))}" if worst.position else ""
    return f": computed {worst.computed:.12g}, derived {worst.derived:.12g}{where}"


def _record_instance(vote: Vote, printed: Formula, reading: Reading) -> None:
    """Record the instance's values of the statement's variables, and update their ranges."""
    values = {
        v.name: torch.as_tensor(reading.point[v.name], dtype=torch.float64).flatten().tolist()
        for v in printed.variables
        if v.name in reading.point
    }
    vote.seen.add(tuple(map(tuple, values.values())))
    vote.sizes = frozenset(v.name for v in printed.variables if v.domain.is_size)
    for name, numbers in values.items():
        low, high = vote.ranges.get(name, (math.inf, -math.inf))
        vote.ranges[name] = min(low, *numbers), max(high, *numbers)


def _record_scale(vote: Vote, printed: Formula, reading: Reading, comparisons: Collection[Comparison]) -> None:
    """Record whether the tolerance was small enough, relative to the compared numbers, for a refutation to be possible."""
    sized = any(c.derived for c in comparisons)
    size = min(c.largest for c in comparisons) if sized else size_of(printed, reading.point)
    vote.scales.setdefault(sized, Scale()).weigh(reading.tolerance, size)


def _shown(value: Value) -> str:
    return str(value.tolist() if isinstance(value, Tensor) else value)


def compare_rounds(
    vote: Vote,
    printed: Formula,
    twins: Mapping[str, Formula],
    rounds: Rounds,
    *,
    refuting: bool = False,
    mutations: Mutations | None = None,
) -> None:
    """Compare the readings of rounds of a check, of at least one, until every twin is refuted.

    Every route must refute every twin and, if `refuting`, the printed statement; the search ends after `MAX_ROUNDS` rounds.
    Raises NotAReadingError if no instance can be drawn, ValueError if a twin uses a variable's name for another variable.
    """
    for name, twin in twins.items():
        distinct([*printed.variables, *twin.variables], f"{vote.claim}: the twin {name!r}")

    vote.drawing = True
    for turn in range(MAX_ROUNDS):
        with closed():  # neither the strategy nor the check may evaluate derivations
            readings = rounds.of(turn, vote.claim)
        if not readings:
            raise NotAReadingError(
                f"{vote.claim}: on: expected a strategy with instances that are kept, got {rounds.strategy!r}"
            )
        for reading in readings:
            compare_reading(vote, printed, twins, reading, mutations)
        vote.discarded += rounds.discarded[turn]
        if set(vote.refuted) >= set(twins) and (vote.failure or not refuting):
            break


def to_device(instance: Any, device: str) -> Any:
    """Return an instance with its tensors on a device; plain numbers are returned unchanged."""
    return instance.to(device) if hasattr(instance, "to") else instance


def hold(
    claim: str,
    layer: Layer,
    readings: Iterable[Reading],
    *,
    corrected: bool = False,
    twins: bool = True,
    statement: Relation | None = None,
) -> Vote:
    """Compare given readings with the printed statement of a claim, or with its correction, and with its twins.

    A claim without a derivation has no statement, so that `statement` must be given.  Raises ValueError if there is no
    statement, or if one is given although the claim derives one.
    """
    entry = entries()[claim]
    derived = entry.repaired() if corrected else entry.printed()
    if derived and statement:
        raise ValueError(f"statement: expected none, since {claim} has a derivation, got {statement}")
    statement = statement or derived
    if statement is None:
        raise ValueError(f"claim: expected one with a {'correction' if corrected else 'derivation'}, got {claim}")
    vote, wrong = Vote(claim, layer), {name: Formula(make()) for name, make in entry.twins.items()} if twins else {}
    for reading in readings:
        compare_reading(vote, Formula(statement), wrong, reading)
    return vote


def finding(vote: Vote, scope: str, detail: str = "", device: str = "cpu") -> Finding:
    """Return the finding that summarizes a vote on given readings."""
    return Finding(
        vote.outcome,
        f"{scope}, worst error {vote.worst:.2g} of the tolerance",
        vote.why_not or detail,
        vote.worst,
        vote.refuted,
        device=device,
    )


def observe(observation: Observation, run: Run) -> Evidence:
    """Make one observation and return it as evidence, with its claim, layer and duration."""
    start = time.perf_counter()
    finding = observation.observe(observation.claim, run)
    return Evidence(
        claim=observation.claim,
        layer=observation.layer,
        outcome=finding.outcome,
        scope=finding.scope,
        seconds=time.perf_counter() - start,
        detail=finding.detail,
        correction=finding.correction,
        refuted_twins=finding.refuted_twins,
        environment=finding.device,
        error=finding.error,
        where=observation.where,
    )


@lru_cache(maxsize=128)  # claims that share a check are near each other
def _rounds(check: Check[Any], strategy: SearchStrategy[Any], count: int, device: str) -> Rounds:
    return Rounds(check, _placed(strategy, device), count)


@cache
def _placed(strategy: SearchStrategy[Any], device: str) -> SearchStrategy[Any]:
    """The strategy with its instances on a device; the same object for all checks, so that they share what is drawn."""
    with closed():
        return strategy.map(partial(to_device, device=device))


@shortcuts()
def vote_on(case: Case[Any], quick: bool = False, device: str = "cpu") -> Evidence:
    """Run one check and return its evidence.

    Raises ValueError if the case is not the one registered for its claim and layer, or if the claim lacks the derivation or
    the correction that the check is compared with.
    """
    start = time.perf_counter()
    if CASES[case.layer].get(case.claim) != case:
        raise ValueError(f"case: expected the registered {case.layer} check of {case.claim}, got one of {case.module}")
    entry = entries()[case.claim]
    statement, correction = entry.printed(), entry.repaired()
    if statement is None:
        raise ValueError(f"claim: expected one with a derivation to compare with, got {case.claim}")
    if case.corrected and correction is None:
        raise ValueError(f"corrected: expected a claim with a correction, got {case.claim}")
    count = max(10, case.count // 4) if quick else case.count
    printed, repaired = Vote(case.claim, case.layer), Vote(case.claim, case.layer)
    twins = {name: Formula(make(), f"twin {name!r}") for name, make in entry.twins.items()}
    first = _rounds(case.printed, case.strategy, count, device)
    mutations = Mutations(correction or statement, [twin.relation.at for twin in twins.values()])
    if correction is None:
        compare_rounds(printed, Formula(statement), twins, first, mutations=mutations)
    else:
        compare_rounds(printed, Formula(statement), {}, first, refuting=True)
    if case.corrected and correction:
        second = _rounds(case.corrected, case.strategy, count, device)
        compare_rounds(repaired, Formula(correction, "correction"), twins, second, mutations=mutations)
    evidence = replace(
        _evidence(entry, case, printed, repaired, device), **mutations.verdict((repaired if correction else printed).routes)
    )
    evidence = replace(evidence, seconds=time.perf_counter() - start)
    return _or_silence(entry, evidence) if case.automatic else evidence


def _or_silence(entry: Entry, evidence: Evidence) -> Evidence:
    """Return the evidence of an automatic vote, as `not applicable` if it is undecided or does not refute every twin."""
    if evidence.outcome not in DECISIVE_OUTCOMES:
        return replace(evidence, outcome=Outcome.NOT_APPLICABLE)
    if alive := [name for name in entry.twins if name not in evidence.refuted_twins]:
        return replace(
            evidence,
            outcome=Outcome.NOT_APPLICABLE,
            correction=None,
            detail=f"no vote, since it does not refute the twins {', '.join(alive)}",
        )
    return evidence


def _evidence(entry: Entry, case: Case[Any], printed: Vote, repaired: Vote, device: str) -> Evidence:
    shown = repaired if case.corrected else printed
    scope = shown.scope()
    killed = {*printed.refuted, *repaired.refuted}
    return Evidence(
        claim=case.claim,
        layer=case.layer,
        outcome=printed.outcome,
        scope=f"{scope}, float64, {device}",
        detail=(repaired.why_not if case.corrected else "") or printed.why_not or shown.drawn,
        correction=repaired.outcome if case.corrected else None,
        refuted_twins=tuple(name for name in entry.twins if name in killed),
        environment=device,
        error=None if shown.failure else shown.worst,
        where=case.where,
    )


def assert_sound(evidence: Evidence) -> None:
    """Raise AssertionError, naming the claim, unless the evidence agrees with the claim's proof or disproof."""
    entry = entries()[evidence.claim]
    alive = [name for name in entry.twins if name not in evidence.refuted_twins]
    about = f"{evidence.claim} ({evidence.layer}, {evidence.where})"
    again = f"again: python -m derivations verify {evidence.claim}"
    if entry.kind is ClaimKind.EMPIRICAL:
        return  # a measurement may come out either way
    if entry.repair is None:
        assert evidence.outcome is Outcome.HOLDS, f"{about}: {evidence.outcome}: {evidence.detail}; {again}"
    else:
        assert evidence.outcome is Outcome.REFUTED, f"{about}: the print is not refuted: {evidence.detail}; {again}"
        assert evidence.correction in (None, Outcome.HOLDS), f"{about}: {evidence.correction}: {evidence.detail}; {again}"
    assert not alive, f"{about}: twins alive: {alive}; {again}"


def float64(values: Any) -> Tensor:
    """Return numbers as a float64 tensor; torch would turn a Python float into float32."""
    return torch.as_tensor(values, dtype=torch.float64)


def choose(**values: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for dictionaries with a strategy for each key."""
    return st.fixed_dictionaries(values)
