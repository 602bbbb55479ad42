"""The register of votes: `confirms` and `observes` add a check of a claim, `load` imports the modules that do so.

The votes on the claims of `derivations/documents/eot/section5_gradient.py` are in `evidence/eot/section5_gradient.py`; those
on a document outside the project are in the modules of its package `checks`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from derivations import documents
from derivations.records.claims import Layer, Outcome
from derivations.records.documents import CHECKS, checks, location, outside
from derivations.register.catalogue import entries
from evidence.bridge import closed
from evidence.lookups import admit_sources
from evidence.readings import Reading

POLLED = (Layer.TORCH, Layer.PRIMAL)
"""The layers whose checks read drawn instances; what they and the source code of others show is observed too."""

Check = Callable[[Any], Reading]


@dataclass(frozen=True)
class Run:
    """The options of a run: fewer instances if `quick`, the torch device, and a model to use instead of the default encoder."""

    quick: bool = False
    device: str = "cpu"
    model: str | None = None


@dataclass(frozen=True)
class Finding:
    """The result of one observation; the harness adds the claim, the layer and the duration.

    Attributes:
        error: the worst error in tolerances, where something was compared with a formula.
        refuted_twins: the names of the twins that it refuted.
        correction: what it found about the corrected statement, where there is one.
        device: where it was computed.
    """

    outcome: Outcome
    scope: str
    detail: str = ""
    error: float | None = None
    refuted_twins: tuple[str, ...] = ()
    correction: Outcome | None = None
    device: str = "cpu"


Observe = Callable[[str, Run], Finding]


@dataclass(frozen=True)
class Case:
    """A registered check: for the printed statement, and for its correction where there is one."""

    claim: str
    layer: Layer
    strategy: Any
    printed: Check
    corrected: Check | None
    count: int
    module: str  # where it was registered
    line: int
    automatic: bool = False  # generated from a formula for which no check was written

    @property
    def where(self) -> str:
        """The file and line where it was registered."""
        return location(self.module, self.line)


@dataclass(frozen=True)
class Observation:
    """A registered observation: of models, source code, experiments, or numbers in other dtypes."""

    claim: str
    layer: Layer
    name: str
    observe: Observe
    module: str
    line: int

    @property
    def where(self) -> str:
        """The file and line where it was registered."""
        return location(self.module, self.line)


CASES: dict[Layer, dict[str, Case]] = {layer: {} for layer in Layer}
OBSERVATIONS: dict[str, dict[str, Observation]] = {}


def confirms(layer: Layer, *claims: str, on: Any, count: int = 32, corrected: Check | None = None) -> Callable[[Check], Check]:
    """Register a check of one layer for one or more claims with the same printed left side.

    Raises ValueError for a layer without random instances, for a claim that already has a check of this layer, and for a
    claim or a module of an outside document unless the module is among the votes on that document, whose sources are inspected.
    """
    module, line = _caller()
    if layer not in POLLED:
        raise ValueError(f"layer: expected {' or '.join(POLLED)}, got {layer}")

    def register(check: Check) -> Check:
        for claim in claims:
            home = f"{claim.partition('.')[0]}.{CHECKS}"
            if _is_outside(claim, module) and not f"{module}.".startswith(f"{home}."):
                raise ValueError(f"claim: expected a check of {claim} in a module of {home}, got one in {module}")
            if claim in CASES[layer]:
                raise ValueError(f"claim: expected one without a {layer} check, got {claim}, which has one")
            CASES[layer][claim] = Case(claim, layer, on, check, corrected, count, module, line)
        return check

    return register


def observes(layer: Layer, *claims: str, name: str = "") -> Callable[[Observe], Observe]:
    """Register an observation for one or more claims; `name` tells several of one claim and layer apart.

    Raises ValueError for the symbolic layer, for a claim that has an observation of this layer and name, and for a claim or a
    module of an outside document, for which nothing would check the observation.
    """
    module, line = _caller()
    if layer is Layer.SYMBOLIC:
        raise ValueError(f"layer: expected a numeric layer, got {layer}, for which the derivation speaks")

    def register(observe: Observe) -> Observe:
        for claim in claims:
            if _is_outside(claim, module):
                raise ValueError(f"claim: expected a claim and a module that ship with the project, got {claim} in {module}")
            key = f"{layer}-{name}" if name else str(layer)
            known = OBSERVATIONS.setdefault(claim, {})
            if key in known:
                raise ValueError(f"claim: expected one without an observation {key}, got {claim}, which has one")
            known[key] = Observation(claim, layer, name, observe, module, line)
        return observe

    return register


def _is_outside(*names: str) -> bool:
    """Return whether one of some claims and modules belongs to a document that does not ship with the project."""
    return any(name.partition(".")[0] in outside() for name in names)


def _caller() -> tuple[str, int]:
    """Return the module and line of the code that registers, or that calls a function of a chapter which does."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_globals["__name__"].startswith("evidence.") and frame.f_back:
        frame = frame.f_back
    return frame.f_globals["__name__"], frame.f_lineno


def load(claims: Iterable[str] | None = None) -> None:
    """Import the votes on some claims, or on all.

    The sources of votes on outside documents are inspected before they are imported.  Raises LookUpError for a module that
    could look up the derivation it is compared with.
    """
    homes = {entry.module for id, entry in entries().items() if claims is None or id in claims}
    shipped = f"{documents.__name__}."
    chapters = sorted(f"evidence.{home.removeprefix(shipped)}" for home in homes if home.startswith(shipped))
    papers = {home.partition(".")[0] for home in homes}
    packages = [name for name in checks() if claims is None or name.removesuffix(f".{CHECKS}") in papers]
    for package in packages:
        admit_sources(package, outside()[package.removesuffix(f".{CHECKS}")] / CHECKS)
    with closed():
        for name in filter(importlib.util.find_spec, chapters):
            importlib.import_module(name)
        for package in packages:
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                if not module.name.startswith("test_"):
                    importlib.import_module(f"{package}.{module.name}")


def cases(layer: Layer) -> Iterator[Case]:
    """The loaded checks of a layer, in the order of the documents."""
    yield from (CASES[layer][id] for id in entries() if id in CASES[layer])


def observations() -> Iterator[Observation]:
    """The loaded observations, in the order of the documents."""
    yield from (each for id in entries() for each in OBSERVATIONS.get(id, {}).values())
