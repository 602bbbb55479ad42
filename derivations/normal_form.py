"""Records of statements in normal form: both sides, the comparison between them, domains, and values at sample points."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from derivations.calculus.variables import Kind
from derivations.records import Exact, Record


class Sample(Record, frozen=True):
    """The values of both sides of a statement, to thirty digits, at one exact point; None where one is not finite."""

    at: Mapping[str, Exact]
    left: str | None
    right: str | None


class Domain(Record, frozen=True, omit_defaults=True):
    """What a variable ranges over: the kind of its values, its sizes, its marginals, and what an index differs from."""

    kind: Kind
    shape: tuple[str, ...] = ()
    marginals: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()


class Sign(StrEnum):
    """How a statement compares its sides."""

    EQUAL = "equal"
    AT_LEAST = "at least"
    GREATER = "greater"
    GREATER_UNLESS_EQUAL = "greater unless equal"
    LIMIT = "limit"
    EXPANSION = "expansion"
    MINIMIZER = "unique minimizer"


class Form(Record, frozen=True, omit_defaults=True):
    """How a statement compares its sides, and given which premises.

    `parameters` are the two others that may be equal, the variable of a limit and its end, the variable of an expansion and
    its order, the indices for all values of which an inequality holds.
    """

    sign: Sign
    parameters: tuple[str, ...] = ()
    given: tuple[Premise, ...] = ()


class Premise(Record, frozen=True):
    """A premise of a statement in normal form."""

    left: str
    form: Form
    right: str


class Canonical(Record, frozen=True):
    """A statement in normal form: how it compares which sides, over which variables, and values at exact points."""

    form: Form
    left: str
    right: str
    variables: Mapping[str, Domain]
    values: tuple[Sample, ...]
