"""Records of statements in normal form: both sides, the comparison between them, domains, and values at sample points."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from derivations.domains import NAMED
from derivations.records.base import Exact, Record

Digits = Annotated[str, msgspec.Meta(pattern=r"\A(-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,9})?|-?oo|zoo)\Z")]
"""A number in decimal digits, or an infinite limit; `Infinity` and `NaN` would agree with every number, or with none."""


class Sample(Record, frozen=True):
    """The values of both sides of a statement, to thirty digits, at one exact point; None where one is not finite."""

    at: Mapping[str, Exact]
    left: Digits | None
    right: Digits | None


DomainName = Annotated[str, msgspec.Meta(pattern=rf"\A({'|'.join(NAMED)})\Z")]


class Declared(Record, frozen=True, omit_defaults=True):
    """The domain of a variable in writing: its name, sizes, marginals, and the indices that an index must differ from."""

    kind: DomainName
    shape: tuple[str, ...] = ()
    marginals: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()


class Sign(StrEnum):
    """How a statement compares its sides."""

    EQUAL = "equal"
    DIFFERENT = "different"
    AT_LEAST = "at least"
    GREATER = "greater"
    GREATER_UNLESS_EQUAL = "greater unless equal"
    LIMIT = "limit"
    EXPANSION = "expansion"
    MINIMIZER = "unique minimizer"


class Form(Record, frozen=True, omit_defaults=True):
    """How a statement compares its sides, and under which premises.

    `parameters` are the two expressions that may be equal, the variable of a limit and its end, the variable of an expansion
    and its order, or the indices over which an inequality is universal.
    """

    sign: Sign
    parameters: tuple[str, ...] = ()
    given: "tuple[Premise, ...]" = ()


class Premise(Record, frozen=True):
    """A premise of a statement in normal form."""

    left: str
    form: Form
    right: str


class Canonical(Record, frozen=True):
    """A statement in normal form: form, sides, variables, and values at exact points."""

    form: Form
    left: str
    right: str
    variables: Mapping[str, Declared]
    values: tuple[Sample, ...]
