"""A relation as a theorem of Rocq: its variables, hypotheses about them, and its statement.

Theorem name (R : realType) (m : nat) (s : 'I_m -> R) (tau : R) (m_gt0 : (0 < m)%N) (tau_gt0 : 0 < tau) : left = right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sympy as sp

from derivations.calculus.variables import Variable
from derivations.domains import DOMAINS
from derivations.domains.base import Sign
from derivations.records import normal_form
from derivations.relations import Relation
from derivations.rocq.polynomials import alpha
from derivations.rocq.terms import Names, NotExportedError, Term, band_of, size_of, term, written

COMPARED = {
    normal_form.Sign.EQUAL: "({0} : R) = {1}",
    normal_form.Sign.DIFFERENT: "{0} != {1}",
    normal_form.Sign.AT_LEAST: "({1} : R) <= {0}",
    normal_form.Sign.GREATER: "({1} : R) < {0}",
}

Scope = tuple[tuple[str, str], ...]  # names that are bound around a term, with their types


@dataclass(frozen=True)
class Facts:
    """The known facts about a statement's variables, by name; masses and marginals by their hypothesis."""

    positive: frozenset[str] = frozenset()
    masses: Mapping[str, str] = field(default_factory=dict)  # the hypothesis of the whole sum, by vector
    marginals: Mapping[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    """By matrix and the axis that is summed over: the vector that comes out, or none for ones, and the hypothesis."""
    slacks: Mapping[str, str] = field(default_factory=dict)  # by slack variable: the vector that it is of


@dataclass
class Statement:
    """A theorem without its proof: binders and hypotheses by name, and the conclusion."""

    binders: list[tuple[str, str]] = field(default_factory=list)
    hypotheses: list[tuple[str, str]] = field(default_factory=list)
    conclusion: str = ""
    facts: Facts = field(default_factory=Facts)
    left: Term = ()
    right: Term = ()

    @property
    def given(self) -> list[str]:
        """The names of the hypotheses."""
        return [name for name, _ in self.hypotheses]

    @property
    def introduced(self) -> list[str]:
        """The names of all bound variables."""
        return ["R", *(name for name, _ in (*self.binders, *self.hypotheses))]


def stated(relation: Relation, names: Names) -> Statement:
    """The theorem that an equality or an inequality is; raises NotExportedError for a part of it that has no term."""
    statement = opened(relation, names)
    left, right = (alpha(term(sp.sympify(side), names)) for side in relation.sides)
    statement.left, statement.right = left, right
    statement.conclusion = COMPARED[relation.sign].format(written(left), written(right))
    return statement


def opened(relation: Relation, names: Names) -> Statement:
    """The variables and the hypotheses of a relation, without a conclusion."""
    statement = Statement()
    positive: set[str] = set()
    masses: dict[str, str] = {}
    marginals: dict[tuple[str, int], tuple[str, str]] = {}
    slacks: dict[str, str] = {}
    for v in sorted(relation.variables(), key=lambda v: (v.domain.is_index, DOMAINS.index(type(v.domain)))):
        name, domain = names.of(v), v.domain
        statement.binders.append((name, _type(v, names)))
        statement.hypotheses += _domain(v, name, names)
        if domain.sign is Sign.POSITIVE and not domain.is_integer:
            positive.add(name)
        if domain.is_distribution:
            masses[name] = f"{name}_mass"
        for axis, vector in domain.line_sums:
            sums = names.of(vector.label) if vector is not None else ""
            marginals[name, axis] = (sums, f"{name}_{'rows' if axis else 'columns'}")
        for vector in domain.complements:
            slacks[name] = names.of(vector.label)
    for n, hypothesis in enumerate(relation.given, start=1):
        statement.hypotheses.append((f"given{n}", assumed(hypothesis, names)))
    statement.facts = Facts(frozenset(positive), masses, marginals, slacks)
    return statement


def _type(v: Variable, names: Names) -> str:
    domain = v.domain
    if domain.is_size:
        return "nat"
    if domain.is_whole and band_of(domain.shape):  # nothing reads what is beyond its 2n − 1 entries
        return "nat -> R"
    sizes = [size_of(part, names) for part in domain.shape]
    if domain.is_index:
        return f"'I_{sizes[0]}"
    if domain.unexported:
        raise NotExportedError(f"{domain.unexported} {v.name}")
    return "".join(f"'I_{size} -> " for size in sizes) + "R"


def _domain(v: Variable, name: str, names: Names) -> Iterator[tuple[str, str]]:
    """The hypotheses that state the domain of a variable."""
    for other in v.domain.other_than:
        yield f"{name}_{names.of(other)}", f"{name} != {names.of(other)}"
    sizes = [size_of(part, names) for part in v.domain.shape if not band_of(v.domain.shape)]
    yield from v.domain.hypotheses(name, sizes, [names.of(vector.label) for vector in v.domain.marginals])


def assumed(hypothesis: Relation, names: Names) -> str:
    """A hypothesis or a premise, for all values of the indices that it ranges over."""
    bound = places(hypothesis)
    left, right = (written(term(sp.sympify(side), names, bound)) for side in hypothesis.sides)
    every = f"forall {' '.join(bound.values())}, " if bound else ""
    return every + COMPARED[hypothesis.sign].format(left, right)


def places(hypothesis: Relation) -> dict[Variable, str]:
    """Name the indices that a hypothesis quantifies over; raises NotExportedError if one excludes values."""
    if any(v.domain.other_than for v in hypothesis.ranging):
        raise NotExportedError(f"the hypothesis {hypothesis}, for some of the values")
    return {v: f"i{n}" for n, v in enumerate(hypothesis.ranging, start=1)}
