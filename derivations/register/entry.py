"""One claim of the register: its record, its derivation, its twins and its correction, frozen as its chapter is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any

from derivations.judge.examination import Derivation, written
from derivations.records.claims import Claim, Correction, Kind, Severity, Statement, Twin
from derivations.records.documents import location
from derivations.register.wording import check_words, is_worded
from derivations.relations import Relation


@dataclass
class Entry:
    """One claim with its derivation, its twins and its correction; frozen once all claims are loaded.

    `grounds` names the claims whose statements the derivation may use, if they differ from `needs`: a reprint needs its
    original, whose derivation needs others.  `read` is true if the statement was read from the print's LaTeX.
    """

    id: str
    kind: Kind
    title: str
    latex: str
    hypotheses: tuple[str, ...]
    needs: tuple[str, ...]
    derivation: Derivation | None
    statement: str
    undecidable: str | None = None
    module: str = ""
    line: int = 0
    twins: Mapping[str, Callable[[], Relation]] = field(default_factory=dict)
    repair: Derivation | None = None
    correction: Correction | None = None
    part_of: str | None = None
    grounds: tuple[str, ...] | None = None
    read: bool = False

    def __setattr__(self, name: str, value: object) -> None:
        if "_sealed" in self.__dict__:
            raise AttributeError(f"{name}: {self.id} is sealed; a claim cannot change after loading")
        object.__setattr__(self, name, value)

    def seal(self) -> None:
        """Freeze the entry: later assignments raise AttributeError."""
        if "_sealed" not in self.__dict__:
            self.twins = MappingProxyType(dict(self.twins))
            self.__dict__["_sealed"] = True

    @property
    def claim(self) -> Claim:
        """The frozen record."""
        return Claim(
            id=self.id,
            kind=self.kind,
            title=self.title,
            statement=Statement(self.latex, self.statement),
            hypotheses=self.hypotheses,
            needs=self.needs,
            twins=tuple(Twin(name) for name in self.twins),
            correction=self.correction,
            part_of=self.part_of,
        )

    def twin(self, name: str, wrong: Callable[[], Relation]) -> None:
        """Register a wrong version of the claim; `name` says what is wrong with it, `wrong` is called once to build it.

        Raises ValueError for an empty or repeated name, and if `wrong` is not callable.
        """
        if not is_worded(name) or not callable(wrong):
            raise ValueError(f"twin: expected a name and a function that returns a relation, got {name!r} and {wrong!r}")
        if name in self.twins:
            raise ValueError(f"twin: {self.id} already has a twin {name!r}")
        self.twins = {**self.twins, name: cache(wrong)}

    def corrected(
        self, latex: str, severity: Severity, under: str | None = None, replaces: str | None = None
    ) -> Callable[[Derivation], Derivation]:
        """Register the proof of a corrected statement, where the print is false.

        `under` names the missing hypothesis, `replaces` the part of the print that a correction with another left side
        stands for.  Raises ValueError for a second correction and for empty text.
        """
        if self.correction is not None:
            raise ValueError(f"corrected: {self.id} already has a correction")
        check_words(self.id, latex=latex, **given(under=under, replaces=replaces))

        def register(function: Derivation) -> Derivation:
            self.repair = checked_function("corrected", self.id, function)
            self.correction = Correction(Statement(latex, sentence(function)), Severity(severity), under, replaces)
            return function

        return register

    @property
    def where(self) -> str:
        """The file and line where the claim is registered."""
        return location(self.module, self.line)

    @property
    def modules(self) -> set[str]:
        """The modules that define the claim: where it is registered and where its functions are defined."""
        functions = filter(None, (self.derivation, self.repair, *self.twins.values()))
        return {self.module, *(function.__module__ for function in functions)}

    @property
    def supporting(self) -> tuple[str, ...]:
        """The claims whose proved statements the derivation may use."""
        return self.needs if self.grounds is None else self.grounds

    @property
    def original(self) -> str | None:
        """The claim that this one reprints; None if it is no reprint."""
        return None if self.grounds is None else self.needs[0]

    def printed(self) -> Relation | None:
        """Return the printed statement as the relation that was examined; None if there is no derivation."""
        return last.core if (last := last_relation(self.derivation)) else None

    def repaired(self) -> Relation | None:
        """Return the corrected statement as the relation that was examined; None if there is no correction."""
        return last_relation(self.repair)


def last_relation(derivation: Derivation | None) -> Relation | None:
    """Return the last relation of a derivation; None if it has none."""
    text = written(derivation) if derivation else None
    return text.relations[-1] if text and text.relations and not text.error else None


def checked_function(what: str, id: str, function: object) -> Derivation:
    """Return a derivation unchanged; raises ValueError if it is not a function."""
    if not isinstance(function, FunctionType):
        raise ValueError(f"{what}: expected a function for {id}, got {type(function).__name__}")
    return function


def given(**values: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def sentence(function: Callable[..., object]) -> str:
    """Return the docstring of a derivation on one line; raises ValueError if it has none."""
    text = " ".join((function.__doc__ or "").split())
    if not text:
        raise ValueError(f"docstring: missing in {function.__name__}, which has to say the statement in one sentence")
    return text
