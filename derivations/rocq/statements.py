"""A relation as a theorem of Rocq: its variables, hypotheses about them, and its statement.

Theorem name (R : realType) (m : nat) (s : 'I_m -> R) (tau : R) (m_gt0 : (0 < m)%N) (tau_gt0 : 0 < tau) : left = right.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import sympy as sp

from derivations.calculus.variables import Kind, Variable
from derivations.relations import AtLeast, Differs, Equation, ForAll, Relation
from derivations.rocq.polynomials import alpha
from derivations.rocq.terms import Names, NotExportedError, Term, band_of, size_of, term, written

SIGN = {
    Kind.POSITIVE: ("<", "gt0"),
    Kind.INTERIOR: ("<", "gt0"),
    Kind.NONNEGATIVE: ("<=", "ge0"),
    Kind.SIMPLEX: ("<=", "ge0"),
    Kind.STOCHASTIC: ("<=", "ge0"),
    Kind.COUPLING: ("<=", "ge0"),
    Kind.SLACK: ("<=", "ge0"),
}
MASSES = (Kind.SIMPLEX, Kind.INTERIOR)


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
    """The theorem that an equality or an inequality is; raises NotExportedError for another relation, or a part of it."""
    if not isinstance(relation, Equation | AtLeast):
        raise NotExportedError(type(relation).__name__)
    statement = opened(relation, names)
    left, right = (alpha(term(sp.sympify(side), names)) for side in relation.sides)
    statement.left, statement.right = left, right
    if isinstance(relation, Equation):
        statement.conclusion = f"({written(left)} : R) = {written(right)}"
    else:
        statement.conclusion = f"({written(right)} : R) {'<' if relation.strict else '<='} {written(left)}"
    return statement


def opened(relation: Relation, names: Names) -> Statement:
    """The variables and the hypotheses of a relation, without a conclusion."""
    statement = Statement()
    positive: set[str] = set()
    masses: dict[str, str] = {}
    marginals: dict[tuple[str, int], tuple[str, str]] = {}
    slacks: dict[str, str] = {}
    order = [Kind.SIZE, *(kind for kind in Kind if kind not in (Kind.SIZE, Kind.INDEX)), Kind.INDEX]
    for v in sorted(relation.variables(), key=lambda v: order.index(v.domain.kind)):
        name = names.of(v)
        statement.binders.append((name, _type(v, names)))
        statement.hypotheses += _domain(v, name, names)
        if v.domain.kind in (Kind.POSITIVE, Kind.INTERIOR):
            positive.add(name)
        if v.domain.kind in MASSES:
            masses[name] = f"{name}_mass"
        if v.domain.kind is Kind.STOCHASTIC:
            marginals[name, 1] = ("", f"{name}_rows")
        if v.domain.kind is Kind.COUPLING:
            a, b = (names.of(vector.label) for vector in v.domain.marginals)
            marginals |= {(name, 1): (a, f"{name}_rows"), (name, 0): (b, f"{name}_columns")}
        if v.domain.kind is Kind.SLACK:
            slacks[name] = names.of(v.domain.marginals[0].label)
    for n, hypothesis in enumerate(relation.given, start=1):
        statement.hypotheses.append((f"given{n}", assumed(hypothesis, names)))
    statement.facts = Facts(frozenset(positive), masses, marginals, slacks)
    return statement


def _type(v: Variable, names: Names) -> str:
    kind, shape = v.domain.kind, v.domain.shape
    if kind is Kind.SIZE:
        return "nat"
    if kind is Kind.REAL and band_of(shape):  # nothing reads what is beyond its 2n − 1 entries
        return "nat -> R"
    sizes = [size_of(part, names) for part in shape]
    if kind is Kind.INDEX:
        return f"'I_{sizes[0]}"
    if kind is Kind.RANDOM:
        raise NotExportedError(f"the random variable {v.name}")
    if kind in (Kind.UNIT, Kind.NONZERO):
        raise NotExportedError(f"the length of {v.name}")
    return "".join(f"'I_{size} -> " for size in sizes) + "R"


def _domain(v: Variable, name: str, names: Names) -> Iterator[tuple[str, str]]:
    """The hypotheses that state the domain of a variable."""
    kind, sizes = v.domain.kind, [size_of(part, names) for part in v.domain.shape if not band_of(v.domain.shape)]
    if kind is Kind.SIZE:
        yield f"{name}_gt0", f"(0 < {name})%N"
    for other in v.domain.other_than:
        yield f"{name}_{names.of(other)}", f"{name} != {names.of(other)}"
    index_names = [f"i{n}" for n in range(1, len(sizes) + 1)]
    if kind in SIGN:
        sign, word = SIGN[kind]
        entry = f"{name} {' '.join(index_names)}" if index_names else name
        yield f"{name}_{word}", (f"forall {' '.join(index_names)}, " if index_names else "") + f"0 {sign} {entry}"
    if kind in MASSES:
        sums = "".join(f"\\Sum_({index} < {size}) " for index, size in zip(index_names, sizes, strict=True))
        yield f"{name}_mass", f"{sums}{name} {' '.join(index_names)} = 1"
    if kind in (Kind.STOCHASTIC, Kind.COUPLING):
        ends = [f"{names.of(vector.label)} {index}" for vector, index in zip(v.domain.marginals, index_names, strict=False)]
        yield f"{name}_rows", f"forall i1, \\Sum_(i2 < {sizes[1]}) {name} i1 i2 = {ends[0] if ends else '1'}"
        if ends:
            yield f"{name}_columns", f"forall i2, \\Sum_(i1 < {sizes[0]}) {name} i1 i2 = {ends[1]}"
    if kind is Kind.SLACK:
        yield f"{name}_slack", f"forall i1, {name} i1 * {names.of(v.domain.marginals[0].label)} i1 = 0"


def assumed(hypothesis: Relation, names: Names) -> str:
    """A hypothesis; raises NotExportedError unless it is an inequality or an inequation."""
    if isinstance(hypothesis, ForAll):
        bound = places(hypothesis)
        return f"forall {' '.join(bound.values())}, {_compared(hypothesis.bound, names, bound)}"
    return _compared(hypothesis, names, {})


def places(hypothesis: ForAll) -> dict[Variable, str]:
    """Names of the indices that a hypothesis is about; raises NotExportedError if some of their values are left out."""
    if any(v.domain.other_than for v in hypothesis.over):
        raise NotExportedError(f"the hypothesis {hypothesis}, for some of the values")
    return {v: f"i{n}" for n, v in enumerate(hypothesis.over, start=1)}


def _compared(hypothesis: Relation, names: Names, bound: Mapping[Variable, str]) -> str:
    left, right = (written(term(sp.sympify(side), names, bound)) for side in hypothesis.sides)
    if isinstance(hypothesis, Differs):
        return f"{left} != {right}"
    if isinstance(hypothesis, AtLeast):
        return f"({right} : R) {'<' if hypothesis.strict else '<='} {left}"
    raise NotExportedError(f"the hypothesis {hypothesis}")
