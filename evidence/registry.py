"""The register of votes: `confirms`, `observes` and the tables of votes add checks of claims, `load` imports the modules.

The votes on the claims of `derivations/documents/eot/section5_gradient.py` are in `evidence/eot/section5_gradient.py`; those
on a document outside the project are in the modules of its package `checks`.  A function votes where it is decorated; votes
by functions that are written elsewhere are the rows of their module's table:

    VOTES = [
        Sampled("inference.1", Layer.TORCH, objective, on=gaussian_problems()),
        Observed("inference.fn2", Layer.SOURCE, sequence_layers.keep_the_length),
    ]

A reprint has the votes of its original, but for those that it has of its own.
"""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

from hypothesis.strategies import SearchStrategy

from derivations import documents
from derivations.records.claims import Layer, Outcome
from derivations.records.documents import CHECKS, checks, location, outside
from derivations.register.catalogue import entries, ordered
from derivations.register.entry import Entry
from evidence.bridge import closed
from evidence.lookups import admit_sources
from evidence.readings import Reading

POLLED = (Layer.TORCH, Layer.PRIMAL)
"""The layers whose checks read drawn instances; what they and the source code of others show is observed too."""

TABLE = "VOTES"
"""The name of a module's table, a list of `Sampled` and `Observed`, each alone or in a sequence."""

T = TypeVar("T")
Check = Callable[[T], Reading]


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
class Case(Generic[T]):
    """A registered check: for the printed statement, and for its correction where there is one."""

    claim: str
    layer: Layer
    strategy: SearchStrategy[T]
    printed: Check[T]
    corrected: Check[T] | None
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


CASES: dict[Layer, dict[str, Case[Any]]] = {layer: {} for layer in Layer}
OBSERVATIONS: dict[str, dict[str, Observation]] = {}


@dataclass(frozen=True)
class Sampled(Generic[T]):
    """A check of one layer at drawn instances, of one or more claims with the same printed left side."""

    claims: str | tuple[str, ...]
    layer: Layer
    check: Check[T]
    on: SearchStrategy[T]
    count: int = 32
    corrected: Check[T] | None = None

    def register(self, module: str, line: int) -> None:
        """Add the check to the register.

        Raises ValueError for a layer without random instances, for a claim that already has a check of this layer, and for a
        check outside of the modules of votes on the claim's document, whose sources are inspected.
        """
        _require_polled(self.layer)
        for claim in _each(self.claims):
            document = claim.partition(".")[0]
            home = f"{document}.{CHECKS}" if document in outside() else f"evidence.{document}"
            if not f"{module}.".startswith(f"{home}."):
                raise ValueError(f"claim: expected a check of {claim} in a module of {home}, got one in {module}")
            if claim in CASES[self.layer]:
                raise ValueError(f"claim: {claim} already has a {self.layer} check")
            case = Case(claim, self.layer, self.on, self.check, self.corrected, self.count, module, line)
            CASES[self.layer][claim] = case


@dataclass(frozen=True)
class Observed:
    """An observation of one or more claims; `name` tells several of one claim and layer apart."""

    claims: str | tuple[str, ...]
    layer: Layer
    observe: Observe
    name: str = ""

    def register(self, module: str, line: int) -> None:
        """Add the observation to the register.

        Raises ValueError for the symbolic layer, for a claim that has an observation of this layer and name, and for a claim
        or a module of an outside document, for which nothing would check the observation.
        """
        _require_numeric(self.layer)
        key = f"{self.layer}-{self.name}" if self.name else str(self.layer)
        for claim in _each(self.claims):
            if any(name.partition(".")[0] in outside() for name in (claim, module)):
                raise ValueError(f"claim: expected a claim and a module that ship with the project, got {claim} in {module}")
            known = OBSERVATIONS.setdefault(claim, {})
            if key in known:
                raise ValueError(f"claim: {claim} already has an observation {key}")
            known[key] = Observation(claim, self.layer, self.name, self.observe, module, line)


def confirms(
    layer: Layer, *claims: str, on: SearchStrategy[T], count: int = 32, corrected: Check[T] | None = None
) -> Callable[[Check[T]], Check[T]]:
    """Register a function of the module as `Sampled`, whose errors it raises."""
    _require_polled(layer)

    def register(check: Check[T]) -> Check[T]:
        Sampled(claims, layer, check, on, count, corrected).register(*_place(check))
        return check

    return register


def observes(layer: Layer, *claims: str, name: str = "") -> Callable[[Observe], Observe]:
    """Register a function of the module as `Observed`, whose errors it raises."""
    _require_numeric(layer)

    def register(observe: Observe) -> Observe:
        Observed(claims, layer, observe, name).register(*_place(observe))
        return observe

    return register


def _require_polled(layer: Layer) -> None:
    if layer not in POLLED:
        raise ValueError(f"layer: expected {' or '.join(POLLED)}, got {layer}")


def _require_numeric(layer: Layer) -> None:
    if layer is Layer.SYMBOLIC:
        raise ValueError(f"layer: the {layer} vote comes from the derivation; register a numeric layer")


def _each(claims: str | tuple[str, ...]) -> tuple[str, ...]:
    return (claims,) if isinstance(claims, str) else claims


def _place(function: object) -> tuple[str, int]:
    """The module and the line where a function is written."""
    if not isinstance(function, FunctionType):
        raise ValueError(f"vote: expected a function, got one of {type(function)}, which belongs into the table {TABLE}")
    return function.__globals__["__name__"], function.__code__.co_firstlineno


def load(claims: Iterable[str] | None = None) -> None:
    """Import the votes on some claims, or on all.

    The sources of votes on outside documents are inspected before they are imported.  Raises LookUpError for a module that
    could look up the derivation it is compared with.
    """
    chosen = [entries()[id] for id in (entries() if claims is None else ordered(claims))]
    homes = {each.module for entry in chosen for each in _lineage(entry)}
    shipped = f"{documents.__name__}."
    chapters = sorted(f"evidence.{home.removeprefix(shipped)}" for home in homes if home.startswith(shipped))
    papers = {home.partition(".")[0] for home in homes}
    packages = [name for name in checks() if claims is None or name.removesuffix(f".{CHECKS}") in papers]
    for package in packages:
        admit_sources(package, outside()[package.removesuffix(f".{CHECKS}")] / CHECKS)
    with closed():
        for name in filter(importlib.util.find_spec, chapters):
            read(importlib.import_module(name))
        for package in packages:
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                if not module.name.startswith("test_"):
                    read(importlib.import_module(f"{package}.{module.name}"))
    for entry in chosen:
        _inherit(entry)


def read(module: ModuleType) -> None:
    """Register the rows of a module's table, which a second reading finds no more."""
    if TABLE in vars(module):
        table = vars(module).pop(TABLE)
        for row, line in zip(table, _lines(module), strict=True):
            for vote in [row] if isinstance(row, Sampled | Observed) else row:
                vote.register(module.__name__, line)


def _lines(module: ModuleType) -> list[int]:
    """The lines of the rows of a module's table."""
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=rows)) if name == TABLE:
                if not any(isinstance(row, ast.Starred) for row in rows):
                    return [row.lineno for row in rows]
    raise ValueError(f"{TABLE}: expected a list in {module.__name__} with its rows written out, got none")


def _lineage(entry: Entry) -> Iterator[Entry]:
    """The claim, and the originals that it reprints, the nearest first."""
    yield entry
    if entry.original:
        yield from _lineage(entries()[entry.original])


def _inherit(entry: Entry) -> None:
    """Give a reprint the votes of its originals that it has none of its own for."""
    for original in _lineage(entry):
        for known in CASES.values():
            if case := known.get(original.id):
                known.setdefault(entry.id, replace(case, claim=entry.id))
        for key, seen in OBSERVATIONS.get(original.id, {}).items():
            OBSERVATIONS.setdefault(entry.id, {}).setdefault(key, replace(seen, claim=entry.id))


def cases(layer: Layer) -> Iterator[Case[Any]]:
    """The loaded checks of a layer, in the order of the documents."""
    yield from (CASES[layer][id] for id in ordered(CASES[layer]))


def observations() -> Iterator[Observation]:
    """The loaded observations, in the order of the documents."""
    yield from (each for id in ordered(OBSERVATIONS) for each in OBSERVATIONS[id].values())
