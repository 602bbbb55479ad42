"""A relation as a theorem of Rocq with its proof: the statement, and the lines of the proof."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import sympy as sp

from derivations.calculus.sums import normal
from derivations.calculus.variables import Variable
from derivations.records.normal_form import Sign
from derivations.relations import AtLeast, Equation, Expansion, Follows, ForAll, Relation, UniqueMinimum, UniquePlan
from derivations.relations.problem import Problem
from derivations.rocq.certificate import LONGEST_PROOF, Certificate
from derivations.rocq.expansions import agreement
from derivations.rocq.statements import Facts, Statement, assumed, opened, places, stated
from derivations.rocq.terms import Names, NotExportedError, Term, children, identifier, renamed, size_of, term, written

HEADER = """From AttentionProofs Require Import Script.
Local Open Scope ring_scope.
"""
DEPTHS = (0, 1, 2, None)  # of nested sums that a proof of a sign opens; the last: all
LONGEST_OPEN = 100_000  # letters of a proof that leaves a goal in our own normal form


@dataclass(frozen=True)
class Theorem:
    """An exported relation: its identifier, the theorem, the script that proves it, and the variables by identifier."""

    name: str
    statement: str
    proof: str
    variables: Mapping[str, Variable]

    @property
    def source(self) -> str:
        """All of it."""
        return f"{self.statement}\nProof.\n{self.proof}\nQed.\n"

    @property
    def content(self) -> str:
        """The theorem without its name, which is equal for claims with the same statement."""
        return self.source.replace(f"Theorem {self.name} ", "Theorem it ", 1)


def theorem(id: str, relation: Relation) -> Theorem:
    """The theorem of a relation; raises NotExportedError, naming the part that cannot be exported."""
    names = Names()
    statement, lines = relation.exported(_Exporter(names))
    name = identifier(id.replace(".", "_").replace("-", "_"))
    binders = " ".join(f"({each} : {type})" for each, type in (("R", "realType"), *statement.binders, *statement.hypotheses))
    proof = "\n".join([f"move=> {' '.join(statement.introduced)}.", *lines])
    if len(proof) > LONGEST_PROOF:
        raise NotExportedError(f"a proof of more than {LONGEST_PROOF} letters")
    text = f"Theorem {name} : forall {binders},\n  {statement.conclusion}."
    return Theorem(name, text, proof, {each: v for v, each in names.known.items()})


@dataclass(frozen=True)
class _Exporter:
    """Writes the statement of a relation and the lines of its proof; raises NotExportedError for what has no rule."""

    names: Names

    def equality(self, relation: Equation) -> tuple[Statement, list[str]]:
        """The proof that both sides have the same normal form."""
        statement = stated(relation, self.names)
        certificate = Certificate(statement.facts)
        left, right = certificate.normal(statement.left), certificate.normal(statement.right)
        return statement, _light([*certificate.lines, f"{certificate.rewriting([*left[1], *right[1]])}; fld."], statement.given)

    def inequality(self, relation: AtLeast) -> tuple[Statement, list[str]]:
        """The proof that the difference is a form with a visible sign."""
        statement = stated(relation, self.names)
        if relation.taylor is not None:
            raise NotExportedError("an inequality by derivatives at a point")
        gap = relation.because if relation.because is not None else normal(relation.left - relation.right)
        return statement, _signed(statement, term(sp.sympify(gap), self.names), relation.strict)

    def expansion(self, relation: Expansion) -> tuple[Statement, list[str]]:
        """The proof that both sides have the same coefficients."""
        statement, lines = agreement(relation, self.names)
        return statement, _light(lines, statement.given)

    def implication(self, relation: Follows) -> tuple[Statement, list[str]]:
        """The proof that the conclusion's gap is a nonnegative combination of the premises' gaps and of terms ≥ 0."""
        names = self.names
        statement = stated(replace(relation.conclusion, given=relation.given, about=tuple(relation.variables())), names)
        lines: list[str] = []
        summands: list[Term] = []
        for n, (premise, weight) in enumerate(zip(relation.premises, relation.weights, strict=True), start=1):
            statement.hypotheses.append((f"premise{n}", assumed(premise, names)))
            sign, gap = _gap(n, premise, sp.sympify(weight), names)
            lines.append(sign)
            summands.append(gap)
        if relation.slack != 0:
            summands.append(term(sp.sympify(relation.slack), names))
        form: Term = summands[0] if len(summands) == 1 else ("add", *summands)
        return statement, [*lines, *_signed(statement, form, relation.conclusion.strict)]

    def minimizer(self, relation: UniqueMinimum) -> tuple[Statement, list[str]]:
        """Objective(q) − objective(p) is a positive factor times Σ kl(q ‖ p), plus a term ≥ 0, for every q in the simplex."""
        names = self.names
        if relation.alpha is not None:
            raise NotExportedError("a minimizer by the divergence of a power")
        problem = _posed(relation, names, "only_minimizer")
        (position,), (size,), q = problem.places, problem.sizes, problem.rival
        factor, spare = term(sp.sympify(relation.factor), names), term(relation.spare, names)
        facts = replace(problem.statement.facts, masses={**problem.statement.facts.masses, q: f"{q}_mass"})
        terms: Term = ("sum", position, size, ("kl", ("entry", q, (position,)), problem.candidate))
        form: Term = ("add", problem.own, ("add", ("mul", factor, terms), spare))
        known = [f"{q}_ge0", f"{q}_mass"]
        rivals = f"move=> {q} {' '.join(known)}; cbv beta"
        return problem.statement, [
            f"apply: (@only_minimizer_kl R {size} {problem.function} {problem.point} {written(factor)} "
            f"(fun {q} : 'I_{size} -> R => {written(spare)})).",
            "{ positive. }",
            f"{{ move=> {position}; cbv beta; positive. }}",
            *problem.unit_mass("cbv beta."),
            f"{{ {rivals}; positive. }}",
            f"{rivals}.",
            *problem.gap(form, facts, known),
        ]

    def plan(self, relation: UniquePlan) -> tuple[Statement, list[str]]:
        """The same for a plan with unit rows and a positive factor for each row."""
        names = self.names
        problem = _posed(relation, names, "only_plan")
        (row, position), (rows, size), plan = problem.places, problem.sizes, problem.rival
        factor = term(relation.weight, names, {relation.places[0]: row})
        facts = replace(
            problem.statement.facts, marginals={**problem.statement.facts.marginals, (plan, 1): ("", f"{plan}_rows")}
        )
        terms: Term = ("mul", factor, ("kl", ("entry", plan, (row, position)), problem.candidate))
        form: Term = ("add", problem.own, ("sum", row, rows, ("sum", position, size, terms)))
        known = [f"{plan}_ge0", f"{plan}_rows"]
        return problem.statement, [
            f"apply: (@only_plan_kl R {rows} {size} {problem.function} {problem.point} "
            f"(fun {row} : 'I_{rows} => {written(factor)})).",
            f"{{ move=> {row}; cbv beta; positive. }}",
            f"{{ move=> {row} {position}; cbv beta; positive. }}",
            *problem.unit_mass(f"move=> {row}; cbv beta.", (row, f"'I_{rows}")),
            f"move=> {plan} {' '.join(known)}; cbv beta.",
            *problem.gap(form, facts, known),
        ]

    def other(self, relation: Relation) -> tuple[Statement, list[str]]:
        """Refuse a statement of another kind."""
        raise NotExportedError(f"a statement of the kind {type(relation).__name__}")


def _light(lines: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
    """The lines of a proof, each cleared from the context after its last use: tactics and elaboration read all of it."""
    cleared = f"(clear -{' '.join(hypotheses)}; fld)" if hypotheses else "fld"
    last = {name: n for n, line in enumerate(lines) for name in re.findall(r"\bH\d+\b", line)}
    unused: dict[int, list[str]] = {}
    for name, n in last.items():
        unused.setdefault(n, []).append(name)
    return [
        re.sub(r"\bfld\b", cleared, line)
        + (f"\nclear {' '.join(unused[n])}." if n in unused and line.startswith("have H") else "")
        for n, line in enumerate(lines)
    ]


def _signed(statement: Statement, form: Term, strict: bool) -> list[str]:
    certificate, used = _closing(statement, form)
    gap = f"have gap : ({written(statement.left)} - {written(statement.right)} : R) = {written(form)}."
    lines = _light([*certificate.lines, gap, f"{{ {used}; fld. }}"], statement.given)
    return [*lines, f"apply: ({'gap_gt0' if strict else 'gap_ge0'} gap); positive."]


def _closing(statement: Statement, form: Term) -> tuple[Certificate, str]:
    """Why left − right is a form: a certificate that opens no more nested sums than it has to, for they multiply."""
    gap: Term = ("add", statement.left, ("neg", statement.right), ("neg", form))
    for rules, depth in product(_rules(written(gap)), DEPTHS):
        certificate = Certificate(statement.facts, depth, *rules)
        with suppress(NotExportedError):
            rest, lines = certificate.normal(gap)
            if not rest:
                return certificate, certificate.rewriting(lines)
    certificate = Certificate(statement.facts)
    lines = certificate.normal(gap)[1]
    if certificate.letters > LONGEST_OPEN:
        certificate = Certificate(statement.facts, 0)
        lines = certificate.normal(gap)[1]
    return certificate, certificate.rewriting(lines)


class Rules(NamedTuple):
    """Rules of the normal form that only some proofs need, as arguments of a certificate."""

    settles: bool = True
    squares: bool = False
    halves: bool = False


def _rules(gap: str) -> list[Rules]:
    """Rules for sums, absolute values and positive parts, the simplest first."""
    values, parts = "`|" in gap, "(plus " in gap
    squares = [Rules(squares=True), Rules(settles=False, squares=True)] if values else []
    return [Rules(), Rules(settles=False), *squares, *([Rules(halves=True)] if values or parts else [])]


def _gap(number: int, premise: AtLeast | ForAll, weight: sp.Expr, names: Names) -> tuple[str, Term]:
    """Why a premise's left side is not below its right side, and the difference with its weight, summed over its indices."""
    bound = places(premise)
    left, right = (term(sp.sympify(side), names, bound) for side in premise.sides)
    sign, lemma = ("<", "subr_gt0") if premise.sign is Sign.GREATER else ("<=", "subr_ge0")
    difference: Term = ("add", left, ("neg", right))
    all_, these = (f"forall {' '.join(bound.values())}, ", f"move=> {' '.join(bound.values())}; ") if bound else ("", "")
    gap: Term = ("mul", term(weight, names, bound), difference)
    for v, name in reversed(bound.items()):
        gap = ("sum", name, size_of(v.domain.shape[0], names), gap)
    return f"have sign{number} : {all_}0 {sign} {written(difference)} by {these}rewrite {lemma}; apply: premise{number}.", gap


@dataclass(frozen=True)
class _Problem:
    """A problem over points of a simplex, or row by row: the objective, and the candidate at its indices."""

    statement: Statement
    rival: str
    places: tuple[str, ...]
    sizes: tuple[str, ...]
    objective: Term
    candidate: Term
    function: str
    point: str

    @property
    def own(self) -> Term:
        """The objective at the candidate."""
        return _at(self.objective, self.rival, self.places, self.candidate)

    def unit_mass(self, begin: str, *scope: tuple[str, str]) -> list[str]:
        """The lines by which the candidate, or each of its rows, sums to 1."""
        mass = Certificate(self.statement.facts)
        total = mass.normal(("sum", self.places[-1], self.sizes[-1], self.candidate), scope)[1]
        return ["{", *_light([*mass.lines, begin, f"{mass.rewriting(total)}; fld. }}"], self.statement.given)]

    def gap(self, form: Term, facts: Facts, known: Sequence[str]) -> list[str]:
        """The lines by which the objective at a rival is a form that shows that it is larger."""
        gap = Certificate(facts)
        used = gap.rewriting([*gap.normal(self.objective)[1], *gap.normal(form)[1]])
        return _light([*gap.lines, f"{used}; fld."], [*self.statement.given, *known])


def _posed(relation: Problem, names: Names, property: str) -> _Problem:
    """The problem of a relation; its statement is that the candidate is the unique optimum."""
    statement = opened(relation, names)
    sizes, rival = tuple(names.of(axis) for axis in relation.axes), names.of(relation.base.label)
    places = tuple(names.of(position) for position in relation.places)
    for position in relation.places:
        names.known.pop(position)
    objective = term(relation.open_objective, names)
    candidate = term(relation.entry, names, dict(zip(relation.places, places, strict=True)))
    point = written(candidate)
    for name, size in reversed([*zip(places, sizes, strict=True)]):
        point = f"(fun {name} : 'I_{size} => {point})"
    domain = "".join(f"'I_{size} -> " for size in sizes)
    function = f"(fun {rival} : {domain}R => {written(objective)})"
    statement.conclusion = f"{property} {function} {point}"
    return _Problem(statement, rival, places, sizes, objective, candidate, function, point)


def _at(part: Term, vector: str, places: Sequence[str], entry: Term) -> Term:
    """A term with another expression in the place of each entry of a vector."""
    if part[0] == "entry" and part[1] == vector:
        return renamed(entry, dict(zip(places, part[2], strict=True)))
    if not children(part):
        return part
    if part[0] == "sum":
        return (*part[:3], _at(part[3], vector, places, entry))
    if part[0] == "pow":
        return ("pow", _at(part[1], vector, places, entry), part[2])
    return (part[0], *(_at(each, vector, places, entry) for each in part[1:]))
