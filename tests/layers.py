"""How a numeric layer votes on a claim: its own numbers against the proved expression, and against every twin.

A check computes the printed left side by one or more routes of its own (autograd, a closed form, a conic solver) at a
drawn instance.  The right side is the derivation's expression, evaluated by `bridge`.  Every route must agree with
it at every instance, and must disagree with each twin at some instance: a route that a twin fools has no vote.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, Literal

import pytest
import sympy as sp
import torch
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from torch import Tensor

from derivations.calculus.variables import Kind, Variable, variables_of
from derivations.catalogue import Entry, entries
from derivations.claims import Evidence, Layer, Outcome
from derivations.documents import checks
from derivations.relations import AtLeast, Fails, Follows, Relation
from tests.bridge import Value, evaluate

PATIENCE = 8                                                 # rounds of draws for what should be refuted and is not yet
REFUTING_FACTOR = 10.0                                       # a twin must miss by ten times what a truth may miss by


@dataclass(frozen=True)
class Reading:
    """What a layer computed at one instance.

    Attributes:
        point: the value of every variable by its printed name; indices that are left out become axes.
        routes: the printed left side by each route, with one axis for each free index, by name.
        tolerance: the absolute error that the routes may have there, from `numerics.tolerances`.
        computed: which printed side the routes computed; the other one is the derivation's.
    """

    point: Mapping[str, Value]
    routes: Mapping[str, Tensor]
    tolerance: float
    computed: Literal["left", "right"] = "left"


Check = Callable[[Any], Reading]


@dataclass
class Vote:
    """A check in the making: what it has seen so far."""

    claim: str
    layer: Layer
    instances: int = 0
    worst: float = 0.0
    failure: str = ""
    killed: dict[str, set[str]] = field(default_factory=dict)


class Formula:
    """A relation's two sides, ready to be evaluated many times; of a disproof, what it disproves."""

    def __init__(self, relation: Relation) -> None:
        relation = relation.relation if isinstance(relation, Fails) else relation
        self.left, self.right = sp.sympify(relation.sides[0]), sp.sympify(relation.value)
        names = variables_of(sp.Tuple(self.left, self.right))
        self.names = [v.name for v in names]
        self.indices = [v for v in names if v.domain.kind is Kind.INDEX]
        self.ordered = isinstance(relation, AtLeast | Follows)
        self.strict = isinstance(relation, AtLeast) and relation.strict

    def axes(self, point: Mapping[str, Value]) -> list[Variable]:
        """The indices that a point leaves open."""
        return [v for v in self.indices if v.name not in point]


def misses(formula: Formula, reading: Reading, axes: Sequence[Variable]) -> dict[str, float]:
    """By how much each route misses the formula, in units of the tolerance; ≤ 1 is agreement."""
    derived = formula.left if reading.computed == "right" else formula.right
    expected = evaluate(derived, reading.point, axes)
    sign = -1.0 if reading.computed == "right" else 1.0
    found = {}
    for name, values in reading.routes.items():
        if values.shape != expected.shape:
            raise ValueError(f"{name}: shape {tuple(values.shape)} was computed, {tuple(expected.shape)} is the claim's")
        off = (sign * (expected - values.double().cpu()))[~expected.isnan()]
        off = off if formula.ordered else off.abs()
        if formula.strict:
            off = off + 2 * reading.tolerance                # more by the tolerance, not merely as much
        found[name] = float(off.nan_to_num(nan=torch.inf).max()) / reading.tolerance if off.numel() else 0.0
    return found


def consider(vote: Vote, printed: Formula, twins: Mapping[str, Formula], reading: Reading) -> None:
    """Hold one reading against the formula and its twins."""
    vote.instances += 1
    axes = printed.axes(reading.point)
    for route, miss in misses(printed, reading, axes).items():
        vote.worst = max(vote.worst, miss)
        if miss > 1 and not vote.failure:
            inputs = ", ".join(f"{name} = {_shown(reading.point[name])}" for name in printed.names if name in reading.point)
            vote.failure = f"{route} misses by {miss:.3g} tolerances" + (f" at {inputs}" if inputs else "")
    for name, twin in twins.items():
        for route, miss in misses(twin, reading, axes).items():
            if miss > REFUTING_FACTOR:
                vote.killed.setdefault(name, set()).add(route)


def _shown(value: Value) -> str:
    return str(value.tolist() if isinstance(value, Tensor) else value)


def poll(
    vote: Vote, printed: Formula, twins: Mapping[str, Formula], check: Check, strategy: Any, count: int, *,
    refuting: bool = False,
) -> None:
    """Let a check read `count` drawn instances, and more while something that is to be refuted is not.

    That is every twin by every route, and the printed statement itself if `refuting`; after `PATIENCE` rounds it lives.
    """
    routes: set[str] = set()

    def explore(instance: Any) -> None:
        reading = check(instance)
        routes.update(reading.routes)
        consider(vote, printed, twins, reading)

    for turn in range(PATIENCE):
        profile = settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
                           suppress_health_check=list(HealthCheck))
        seed(turn)(profile(given(strategy)(explore)))()
        if all(vote.killed.get(name) == routes for name in twins) and (vote.failure or not refuting):
            break
    vote.killed = {name: by for name, by in vote.killed.items() if by == routes}


@dataclass(frozen=True)
class Case:
    """A registered check: for the printed statement, and for its correction where there is one."""

    claim: str
    layer: Layer
    strategy: Any
    printed: Check
    corrected: Check | None
    count: int
    module: str                                              # where it was registered


CASES: dict[Layer, dict[str, Case]] = {layer: {} for layer in Layer}


def confirms(layer: Layer, *claims: str, on: Any, count: int = 32, corrected: Check | None = None) -> Callable[[Check], Check]:
    """Register a check of one layer for one or more claims that print the same left side."""
    here = sys._getframe(1).f_globals["__name__"]

    def register(check: Check) -> Check:
        for claim in claims:
            if claim in CASES[layer]:
                raise ValueError(f"claim: {claim} already has a {layer} check")
            CASES[layer][claim] = Case(claim, layer, on, check, corrected, count, here)
        return check

    return register


def parameters(layer: Layer, package: ModuleType) -> list[Any]:
    """A layer's checks as pytest parameters whose id is the claim's.

    They are looked for in every module of its test package, and in the checks of documents outside the project.
    """
    entries()                                                # which loads the packages of those documents
    for found in (package, *map(importlib.import_module, checks())):
        for module in pkgutil.iter_modules(found.__path__):
            if not module.name.startswith("test_"):
                importlib.import_module(f"{found.__name__}.{module.name}")
    return [pytest.param(case, id=id, marks=pytest.mark.claim(id, layer)) for id, case in CASES[layer].items()]


def moved(instance: Any, device: str) -> Any:
    """An instance with its tensors on a device; plain numbers stay where they are."""
    return instance.to(device) if hasattr(instance, "to") else instance


def vote_on(case: Case, quick: bool = False, device: str = "cpu") -> Evidence:
    """Run one check and say what the layer found."""
    start = time.perf_counter()
    entry = entries()[case.claim]
    statement, correction = entry.printed(), entry.repaired()
    assert statement is not None, f"{case.claim} has no derivation to compare with"
    count = max(10, case.count // 4) if quick else case.count
    printed, repaired = Vote(case.claim, case.layer), Vote(case.claim, case.layer)
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    strategy = case.strategy.map(partial(moved, device=device))
    own = {} if correction else twins
    poll(printed, Formula(statement), own, case.printed, strategy, count, refuting=correction is not None)
    if case.corrected and correction:
        poll(repaired, Formula(correction), twins, case.corrected, strategy, count)
    return _evidence(entry, case, printed, repaired, time.perf_counter() - start, device)


def _evidence(entry: Entry, case: Case, printed: Vote, repaired: Vote, seconds: float, device: str) -> Evidence:
    outcome = Outcome.REFUTED if printed.failure else Outcome.HOLDS
    correction = None
    if case.corrected:
        correction = Outcome.REFUTED if repaired.failure else Outcome.HOLDS
    shown = repaired if case.corrected else printed
    count = printed.instances + repaired.instances
    scope = f"{count} drawn instances, worst error {shown.worst:.2g} of the tolerance, float64, {device}"
    killed = {**printed.killed, **repaired.killed}
    return Evidence(
        claim=case.claim,
        layer=case.layer,
        outcome=outcome,
        scope=scope,
        seconds=seconds,
        detail=repaired.failure or printed.failure,
        correction=correction,
        refuted_twins=tuple(name for name in entry.twins if name in killed),
        environment=device,
        error=None if shown.failure else shown.worst,
    )


def assert_sound(evidence: Evidence) -> None:
    """Fail, by the claim's name, unless the layer found what a proof or a disproof of the claim leads to expect."""
    entry = entries()[evidence.claim]
    alive = [name for name in entry.twins if name not in evidence.refuted_twins]
    assert not alive, f"{evidence.claim} ({evidence.layer}): twins alive: {alive}"
    if entry.repair is None:
        assert evidence.outcome is Outcome.HOLDS, f"{evidence.claim} ({evidence.layer}): {evidence.detail}"
    else:
        assert evidence.outcome is Outcome.REFUTED, f"{evidence.claim} ({evidence.layer}): the print is not refuted"
        assert evidence.correction in (None, Outcome.HOLDS), f"{evidence.claim} ({evidence.layer}): {evidence.detail}"


def float64(values: Any) -> Tensor:
    """Numbers as a float64 tensor; a bare Python float would become float32."""
    return torch.as_tensor(values, dtype=torch.float64)


def choose(**values: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A strategy of named values."""
    return st.fixed_dictionaries(values)
