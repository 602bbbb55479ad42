"""Domains of variables, one module each; a domain is added by its module and its place in `DOMAINS`."""

from derivations.domains.base import Domain
from derivations.domains.coupling import Coupling
from derivations.domains.index import Index
from derivations.domains.interior import Interior
from derivations.domains.nonnegative import Nonnegative
from derivations.domains.nonzero import Nonzero
from derivations.domains.positive import Positive
from derivations.domains.random import Random
from derivations.domains.real import Real
from derivations.domains.simplex import Simplex
from derivations.domains.size import Size
from derivations.domains.slack import Slack
from derivations.domains.stochastic import Stochastic
from derivations.domains.unit import Unit

__all__ = [
    "DOMAINS",
    "NAMED",
    "Coupling",
    "Domain",
    "Index",
    "Interior",
    "Nonnegative",
    "Nonzero",
    "Positive",
    "Random",
    "Real",
    "Simplex",
    "Size",
    "Slack",
    "Stochastic",
    "Unit",
]

DOMAINS: tuple[type[Domain], ...] = (
    Size,
    Index,
    Real,
    Nonnegative,
    Positive,
    Simplex,
    Interior,
    Coupling,
    Stochastic,
    Slack,
    Unit,
    Nonzero,
    Random,
)
"""All domains; only these are domains of variables, and they are declared to Rocq in this order, indices last."""

NAMED = {domain.name: domain for domain in DOMAINS}
