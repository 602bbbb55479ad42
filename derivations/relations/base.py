"""The base class of all statements: what the other packages ask of a relation, and how it is proved and refuted.

A proof is symbolic and holds for every size, at every point of the declared domain.  A refutation is an exact point of that
domain where certified values contradict the statement.  A statement with neither is undecided, which never counts as a
success.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

import sympy as sp

from derivations.calculus import admission
from derivations.calculus.balls import Point, Value, enclose_all
from derivations.calculus.defined import strangers, undefined
from derivations.calculus.points import points
from derivations.calculus.printing import text
from derivations.calculus.screening import Fact, Facts
from derivations.calculus.sums import alike, normal
from derivations.calculus.variables import NAME, Variable, apart, assumed_beyond, variables_of
from derivations.records import rendering
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.records.theorems import Theorem
from derivations.relations.exporter import Exporter, Result
from derivations.relations.sameness import agree
from derivations.relations.witnesses import inputs

Entry = Callable[[sp.Expr], sp.Expr]  # j ↦ the j-th entry of a vector
Side = Literal["left", "right"]

DRAWS = 4  # samples in which points that satisfy hypotheses are looked for
PROVED = ""  # nothing is left to explain

ORDERS = frozenset({Sign.AT_LEAST, Sign.GREATER})  # of plain inequalities
ORDERED = ORDERS | {Sign.GREATER_UNLESS_EQUAL}
POINTWISE = ORDERED | {Sign.EQUAL, Sign.DIFFERENT}  # both sides have a value at each point, and are compared there
LATEX = {Sign.EQUAL: "=", Sign.DIFFERENT: "\\neq", Sign.AT_LEAST: "\\ge", Sign.GREATER: ">"}

EXPRESSIONS = (sp.Expr, sp.Expr | None)
"""The types of the fields of a statement that are single expressions; annotations have to be types for that, and no texts."""


@dataclass(frozen=True)
class Counterexample:
    """A point of the declared domain at which a statement fails, and the record of the failure."""

    point: dict[Variable, Value]
    witness: Witness


@dataclass(frozen=True)
class Relation(ABC):
    """A statement with a reason.

    `at` fixes values of some variables (of a vector by itself or by its label) at which to search for a refutation; `about`
    holds expressions whose variables belong to the statement even if its sides no longer contain them; `given` holds the
    hypotheses, which are inequalities; `quotes` lists external theorems that the reason relies on.
    """

    reason: str = field(default="", kw_only=True)
    at: Mapping[Variable, Value] = field(default_factory=dict, kw_only=True, hash=False)
    about: tuple[sp.Expr, ...] = field(default=(), kw_only=True)
    given: tuple["Hypothesis", ...] = field(default=(), kw_only=True)
    quotes: tuple[Theorem, ...] = field(default=(), kw_only=True)
    premises: tuple["Relation", ...] = field(default=(), init=False)  # used by the proof, and proved elsewhere

    def __post_init__(self) -> None:
        """Turn numbers into expressions, once: what is printed, proved and refuted is the same object."""
        for part in fields(self):
            value = getattr(self, part.name)
            if part.type == tuple[sp.Expr, ...]:
                object.__setattr__(self, part.name, tuple(apart(sp.sympify(each)) for each in value))
            elif part.type in EXPRESSIONS and value is not None:
                object.__setattr__(self, part.name, apart(sp.sympify(value)))
        at = {key.label if isinstance(key, sp.IndexedBase) else key: value for key, value in self.at.items()}
        object.__setattr__(self, "at", at)

    # ── what a statement consists of ────────────────────────────────────────────────────────────────────────────────

    @property
    @abstractmethod
    def sign(self) -> Sign:
        """How the statement compares its sides."""

    @property
    @abstractmethod
    def sides(self) -> tuple[sp.Expr, ...]:
        """The expressions that the relation compares."""

    @property
    def shown(self) -> tuple[sp.Expr, ...]:
        """The expressions that a reader sees compared, the subject of the statement first."""
        return self.sides

    @property
    def compared(self) -> tuple[sp.Expr, sp.Expr]:
        """Both sides of the canonical form."""
        left, right = self.sides
        return left, right

    @property
    def evaluated(self) -> tuple[sp.Expr, ...]:
        """The sides that have a value at a point; those at indices of `places` have one for each value of these."""
        return self.sides

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """What the statement says besides its sides and its sign, such as the variable of a limit and its end."""
        return ()

    @property
    def parts(self) -> tuple[sp.Expr, ...]:
        """What distinguishes it from statements of the same kind with the same hypotheses."""
        return *self.shown, *self.parameters

    @property
    def places(self) -> tuple[Variable, ...]:
        """The indices at which the entry of a candidate is shown."""
        return ()

    @property
    def ranging(self) -> tuple[Variable, ...]:
        """The indices for all values of which `stated` holds."""
        return ()

    @property
    def moving(self) -> Variable | None:
        """The variable that goes to an end, if there is one."""
        return None

    @property
    def disproved(self) -> "Relation | None":
        """The statement that this one disproves; None for anything but a disproof."""
        return None

    @property
    def core(self) -> "Relation":
        """The statement itself; of a disproof, the one that it disproves."""
        return self.disproved or self

    @property
    def stated(self) -> "Relation":
        """What is said under the premises, if there are some, and at each value of the indices that it ranges over."""
        return self

    @property
    def problem(self) -> Any:
        """The statement as a `Problem` with its solution; None if it is no such statement."""
        return None

    @property
    def expansion(self) -> Any:
        """The statement as an `Expansion`; None if it is no such statement."""
        return None

    @property
    def ordered(self) -> bool:
        """Whether the sides are compared by order at each point."""
        return self.sign in ORDERED

    @property
    def plain(self) -> bool:
        """Whether it says no more than how its two sides compare at each point."""
        return self.sign in POINTWISE and self.stated is self and not self.parameters

    @property
    def relies_on(self) -> tuple[Theorem, ...]:
        """The theorems that it quotes, and those that its kind of statement relies on."""
        return self.quotes

    @property
    def value(self) -> sp.Expr:
        """The expression that the numeric layers compare with what they computed."""
        return self.sides[-1]

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """Every expression that occurs in the statement or its proof; each has to be defined on the domain."""
        return self.sides

    def variables(self) -> list[Variable]:
        """The free variables of the statement, its hypotheses and premises included."""
        others = [v for relation in (*self.given, *self.premises) for v in relation.variables()]
        return variables_of(sp.Tuple(*self.sides, *self.about, *others))

    def facts(self) -> Facts:
        """The hypotheses, as expressions of known sign."""
        written = [hypothesis.fact for hypothesis in self.given]
        with suppress(ValueError):  # without a normal form, keep the expression as written
            written += [(normal(expr), sense, over) for expr, sense, over in written]
        return tuple(written)

    # ── versions of it ──────────────────────────────────────────────────────────────────────────────────────────────

    def says_the_same(self, other: Self) -> bool:
        """Whether another statement of the same kind, with the same hypotheses, is the same one; False if not established."""
        return len(self.parts) == len(other.parts) and all(map(agree, self.parts, other.parts))

    def implied(self) -> tuple["Relation", ...]:
        """The statement, and weaker ones that it implies as they stand."""
        return (self,)

    def stricter(self) -> "Relation | None":
        """The statement with > for ≥; None for anything but an inequality that is not strict."""
        return None

    def rebuilt(self, change: Callable[["Relation"], "Relation"]) -> "Relation":
        """The same statement with the statements inside of it changed."""
        return self

    def mapped(self, change: Callable[[sp.Expr], sp.Expr]) -> Self:
        """The same statement with its expressions changed; it keeps its variables, and forgets at which point it may fail."""
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.type in EXPRESSIONS}
        own = {name: change(value) for name, value in values.items() if value is not None}
        return replace(self, at={}, about=(*self.about, *self.sides), **own)

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], "Relation"]] | None:
        """The expression that one-edit mutants edit, and a function that puts another one in its place; None if none is.

        The side is of no account where only one can be edited.
        """
        return None

    def _with_sides(self, side: Side, **own: object) -> tuple[sp.Expr, Callable[[sp.Expr], "Relation"]]:
        """One of two sides that are fields, and a function that changes it; the variables stay the same."""
        own |= {"about": (*self.about, *self.sides), "at": {}}
        return self.sides[side == "right"], lambda new: replace(self, **own, **{side: new})  # type: ignore[arg-type]

    # ── in other languages ──────────────────────────────────────────────────────────────────────────────────────────

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The statement as LaTeX, from that of its expressions."""
        return f" {LATEX[self.sign]} ".join(map(written, self.sides))

    def exported(self, to: "Exporter[Result]") -> Result:
        """What an exporter makes of the statement."""
        return to.other(self)

    def __str__(self) -> str:
        left, right = self.sides
        return f"{text(left)} {rendering.SIGNS[self.sign]} {text(right)}"

    # ── proof ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def prove(self) -> bool:
        """Whether the relation is proved for all sizes and values; False means undecided."""
        return self.explain() == PROVED

    def explain(self) -> str:
        """Why the relation is not proved; empty if it is."""
        return self.ill_posed() or self.remainder()

    @abstractmethod
    def remainder(self) -> str:
        """Return why a well-posed statement is not proved; empty if it is."""

    def ill_posed(self) -> str:
        """Return why the statement is not well posed; empty if it is."""
        return self.malformed() or self._empty() or self._undefined() or self._vacuous()

    def trivial(self) -> bool:
        """Whether both sides are the same expression as written, up to the names of bound indices."""
        return len(self.sides) == 2 and alike(*self.sides)

    def malformed(self) -> str:
        """Return why the statement has no value at any point, such as a part that the calculus has no rules for; else empty."""
        if wrong := [hypothesis for hypothesis in self.given if type(hypothesis) not in HYPOTHESES]:
            return f"given: expected inequalities, got {type(wrong[0]).__name__}"
        written = (*self.expressions, *(side for hypothesis in self.given for side in hypothesis.sides))
        if strange := foreign(written):
            return strange
        for part in assumed_beyond(sp.Tuple(*written)):
            return f"{text(part)}: expected the assumptions of its domain, got others, which were added to the symbol"
        names = self.variables()
        if reserved := [v for v in names if NAME.fullmatch(v.name) is None]:
            return f"{reserved[0].name!r} is no name of a variable"
        for part in (*self.given, *self.premises):  # at a point, such an index would restrict the hypothesis
            over = part.fact[2] if isinstance(part, Hypothesis) else ()
            if differing := [v for v in names if v not in over and not set(over).isdisjoint(v.domain.other_than)]:
                return f"{differing[0]}: expected an index that differs from none that a hypothesis ranges over, got {part}"
        called: dict[str, Variable] = {}
        for variable in [*names, *variables_of(sp.Tuple(*self.expressions)), *self.moving_names()]:
            if called.setdefault(variable.name, variable) != variable:
                one, other = called[variable.name], variable
                return f"two variables are called {one.name}: {_described(one)} and {_described(other)}"
        return ""

    def moving_names(self) -> tuple[Variable, ...]:
        """The displayed variables that are not parameters, because they vary or are solved for."""
        return ()

    def _empty(self) -> str:
        return "both sides are the same expression" if self.trivial() else ""

    def _undefined(self) -> str:
        facts = self.facts()
        missing = [condition for expr in self.expressions for condition in undefined(expr, facts)]
        return f"it is not shown that {missing[0]}" if missing else ""

    def _vacuous(self) -> str:
        return "" if self.example() is not None else "no sample point lies in the domain and satisfies the hypotheses"

    def example(self) -> Point | None:
        """A sample point of the domain where hypotheses and premises hold and both sides have values."""
        for point in self.points():
            if all(premise.holds_at(point) for premise in self.premises) and self._finite_at(point):
                return point
        return None

    def _finite_at(self, point: Point) -> bool:
        return all(side.is_finite() for side in enclose_all(self.sides, point))

    def identities(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """Pairs of expressions that have to be equal for the proof, where that is decided sooner at points than in general."""
        return ()

    def consequences(self) -> tuple["Relation", ...]:
        """Return statements about points that a proof of this one implies: itself, or what the proof rests on."""
        return (self,)

    # ── refutation ──────────────────────────────────────────────────────────────────────────────────────────────────

    def refute(self) -> Witness | None:
        """The record of an exact point where the relation certifiably fails, or None."""
        example = self.counterexample()
        return example.witness if example else None

    def counterexample(self) -> Counterexample | None:
        """An exact point of the declared domain where the relation certifiably fails, or None, as for a malformed statement.

        Raises NotAdmittedError for an `at` that is outside of the domain or names no variable of the statement.
        """
        for point in () if self.malformed() else self.points():
            if all(premise.holds_at(point) for premise in self.premises) and (witness := self.contradicted_at(point)):
                self.admit(point)
                return Counterexample(dict(point), witness)
        return None

    def fails_at(self, point: Point) -> Witness | None:
        """The certified failure at an exact point, if there is one; raises NotAdmittedError for a point outside."""
        self.admit(point)
        return self.contradicted_at(point)

    @abstractmethod
    def contradicted_at(self, point: Point) -> Witness | None:
        """The certified failure at an exact point of the domain, if there is one."""

    def holds_at(self, point: Point) -> bool:
        """Whether the relation is certain at an exact point; no relation is, unless it can say so."""
        return False

    def points(self) -> Iterator[dict[Variable, Value]]:
        """Exact sample points for all free variables, where the hypotheses hold, at the values of `at` where given.

        For each point of the first sample where a hypothesis fails, another one is drawn, from a few more samples at most.
        """
        missing = 0
        for draw in range(DRAWS if self.given else 1):
            for point in points(self.variables(), self.at, draw):
                if draw and not missing:
                    return
                if admissible := all(hypothesis.holds_at(point) for hypothesis in self.given):
                    yield point
                missing += (not admissible) if draw == 0 else -admissible

    def admit(self, point: Point) -> None:
        """Check that a point belongs to the declared domain; raises NotAdmittedError where it does not."""
        admission.admit(point, self.variables())
        for relation in (*self.given, *self.premises):
            if not relation.holds_at(point):
                raise admission.NotAdmittedError(f"at: expected a point with {relation}, got {rendering.inputs(inputs(point))}")

    # ── how general it is ───────────────────────────────────────────────────────────────────────────────────────────

    def general(self) -> bool:
        """Whether a proof is one for every size: no vector and no sum of the statement has a fixed length beyond 1."""
        parts = [sp.sympify(side) for side in self.sides]
        shapes = [entry.base.shape for part in parts for entry in part.atoms(sp.Indexed)]
        shapes += [(high,) for part in parts for total in part.atoms(sp.Sum) for _, _, high in total.limits]
        return all(size.free_symbols or size == 1 for shape in shapes for size in shape)

    def scope(self) -> str:
        """The free variables with their ranges and the hypotheses, in words."""
        names = self.variables()
        sizes = [f"{v} {v.domain.words}" for v in names if v.domain.is_size]
        rest = [_described(v) for v in names if not v.domain.is_integer]
        apart = [f"{v} ≠ {other}" for v in names if v.domain.is_index for other in v.domain.other_than]
        everything = [*sizes, *rest, *apart]
        hypotheses = f", given {' and '.join(map(str, self.given))}" if self.given else ""
        return ("all " + ", ".join(everything) if everything else "no free variable") + hypotheses


@dataclass(frozen=True)
class Hypothesis(Relation):
    """A relation that can be a hypothesis: it has a sign, and holds or fails at a point."""

    @property
    @abstractmethod
    def fact(self) -> Fact:
        """An expression that is ≥ 0 (False), > 0 (True) or ≠ 0 (None), and the indices for all values of which it is."""


HYPOTHESES: list[type[Hypothesis]] = []  # the kernel's classes; subclasses defined elsewhere are rejected


def foreign(exprs: Iterable[sp.Expr]) -> str:
    """Name the first part of some expressions that the calculus has no rules for; empty if there is none."""
    parts = (part for expr in exprs for part in strangers(sp.sympify(expr)))
    return next((f"{part} ({type(part).__name__}) is no part of the calculus" for part in parts), "")


def remaining(difference: sp.Expr) -> str:
    """Render the nonzero difference of two sides that should be equal."""
    return f"left − right = {text(difference)} in normal form, expected 0"


def first(reasons: Iterable[str]) -> str:
    """The first reason that is not empty."""
    return next(filter(None, reasons), PROVED)


def _described(var: Variable) -> str:
    shape = "×".join(map(str, var.domain.shape))
    return f"{var.name} {var.domain.words}" + (f" (length {shape})" if shape else "")
