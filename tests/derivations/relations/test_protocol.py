"""A new kind of statement says everything about itself: no other package has to know it, and none asks which kind it has."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import sympy as sp

import derivations
from derivations.calculus import sums
from derivations.calculus.balls import Point
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, index, positive, scalar, size, vector
from derivations.judge import examination
from derivations.judge.canonical import canonical
from derivations.judge.comparison import objections, related
from derivations.judge.examination import run
from derivations.judge.mutants import Fate, tried
from derivations.prints.agreement import check
from derivations.prints.tables import known_names
from derivations.reader.meaning.notation import Notation
from derivations.reader.writing import statement
from derivations.records.claims import Outcome, Witness
from derivations.records.normal_form import Sign
from derivations.records.prints import Standing
from derivations.relations import RELATIONS, AtLeast, Differs, Equation, Fails, ForAll, Limit, Relation, same
from derivations.relations.base import HYPOTHESES, PROVED, Side
from derivations.relations.exporter import Exporter, Result
from derivations.relations.witnesses import differ
from derivations.rocq.export import theorem
from derivations.rocq.readback import disagreement
from evidence.readings import Formula

m = size("m")
j, k = index("j", m), index("k", m)
s, tau, c, x, y = vector("s", m), positive("tau"), scalar("c"), scalar("x"), scalar("y")


@dataclass(frozen=True)
class Independent(Relation):
    """`expr` has the same value for all values of the scalar `of`."""

    sign: ClassVar[Sign] = Sign.EQUAL
    expr: sp.Expr
    of: Variable

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The expression at two values of the scalar."""
        return self.expr, self.expr.xreplace({self.of: Variable(f"{self.of.name}′", self.of.domain)})

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """The scalar."""
        return (self.of,)

    def remainder(self) -> str:
        """Whether the two values are equal in normal form."""
        return PROVED if sums.equal(*self.sides) else f"it is not shown that this does not depend on {self.of}"

    def contradicted_at(self, point: Point) -> Witness | None:
        """Two certified values that are different."""
        return differ(point, *self.sides)

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """The expression."""
        return self.expr, lambda new: replace(self, expr=new, about=(*self.about, *self.sides), at={})

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The expression at any value of the scalar."""
        return f"{super().latex(written)}\\text{{ for all }} {written(self.of)}"

    def exported(self, to: Exporter[Result]) -> Result:
        """The equality of two values."""
        return to.equality(Equation(*self.sides, given=self.given))

    def __str__(self) -> str:
        return f"{super().__str__()} for all {self.of}"


def softmax(shift: sp.Expr) -> sp.Expr:
    return sp.exp((s[j] + shift) / tau) / total(k, sp.exp((s[k] + shift) / tau))


SHIFTED = Independent(softmax(c), c)
FALSE = Independent(softmax(c) + c, c)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination.of_the_kernel, "__defaults__", (RELATIONS | {Independent},))


def test_it_proves_and_refutes() -> None:
    assert SHIFTED.prove()
    assert not FALSE.prove()
    assert FALSE.refute() is not None
    assert Fails(FALSE).prove()


@pytest.mark.usefixtures("known")
def test_it_is_examined() -> None:
    assert run(lambda: iter([SHIFTED]), tuple).outcome is Outcome.HOLDS
    assert run(lambda: iter([FALSE]), tuple).outcome is Outcome.REFUTED
    assert run(lambda: iter([Fails(FALSE)]), tuple).outcome is Outcome.REFUTED
    assert run(lambda: iter([Independent(sp.Abs(c + x) + sp.Abs(c - x), x)]), tuple).outcome is Outcome.REFUTED


def test_it_is_not_examined_unless_the_kernel_lists_it() -> None:
    assert "expected a relation of the kernel, got Independent" in run(lambda: iter([SHIFTED]), tuple).error


def test_it_is_compared() -> None:
    assert same(SHIFTED, Independent(softmax(c), c))
    assert not same(SHIFTED, Independent(softmax(c), tau))
    assert not same(SHIFTED, FALSE)
    assert related(FALSE, [SHIFTED])
    assert list(objections(FALSE, SHIFTED, None, None)) == [
        "the correction is not about the print's left side: expected the same left side, or "
        "`replaces` to say which part of the print it stands for"
    ]


def test_it_has_a_canonical_form() -> None:
    form = canonical(SHIFTED)
    assert (form.form.sign, form.form.parameters) == (Sign.EQUAL, ("c",))
    assert {*form.variables} == {"c", "c′", "j", "m", "s", "tau"}
    assert all(sample.left == sample.right for sample in form.values)
    assert canonical(Fails(FALSE)) == canonical(FALSE)


def test_its_mutants_are_refuted() -> None:
    fates = [trial.fate for trial in tried(SHIFTED)]
    assert fates.count(Fate.REFUTED) >= 4
    assert Fate.EQUIVALENT in fates  # twice as much does not depend on the scalar either


def test_it_is_written() -> None:
    assert statement(Independent(x * c, c)) == "c x = c' x\\text{ for all } c"
    assert str(Independent(x * c, c)) == "c*x = c′*x for all c"


def test_a_print_matches_it() -> None:
    table = Notation({"m": "size", "j, k": "index m", "c, y": "real", r"\tau": "positive", "s": "vector m"}, {r"\tau": "tau"})
    at = r"\frac{e^{(s_j + %s)/\tau}}{\sum_k e^{(s_k + %s)/\tau}}"
    true, wrong = (f"{at % ('c', 'c')} = {at % pair}" for pair in (("y", "y"), ("y", "c")))
    assert check(true, table, known_names(table), [SHIFTED]).standing is Standing.AGREES
    assert check(wrong, table, known_names(table), [SHIFTED]).standing is Standing.DIFFERS


def test_it_is_exported() -> None:
    made = theorem("shift", SHIFTED)
    assert made.statement.startswith("Theorem shift : forall (R : realType) (m : nat) (c : R) (c_prime : R)")
    assert disagreement(made, SHIFTED) == ""
    assert disagreement(made, FALSE) != ""


def test_a_vote_evaluates_it() -> None:
    formula = Formula(SHIFTED)
    assert (formula.left, formula.right) == SHIFTED.sides
    assert (formula.ordered, formula.strict, formula.apart) == (False,) * 3


# ── the answers of a statement that overrides none ──────────────────────────────────────────────────────────────────


def test_what_a_statement_says_unless_it_says_otherwise() -> None:
    plain = Differs(x, y)
    assert (plain.shown, plain.compared, plain.evaluated, plain.parts) == ((x, y),) * 4
    assert (plain.parameters, plain.places, plain.ranging, plain.identities()) == ((),) * 4
    assert (plain.moving, plain.disproved, plain.problem, plain.expansion, plain.stricter(), plain.editable("left")) == (
        None,
    ) * 6
    assert plain.core is plain.stated is plain.rebuilt(lambda part: pytest.fail(f"{part} is no part")) is plain
    assert plain.implied() == (plain,)
    assert plain.plain
    assert not plain.ordered


def test_a_disproof_is_not_plain() -> None:
    false = Fails(Equation(x, y))
    assert (false.core, false.stated, false.sign) == (Equation(x, y), Equation(x, y), Sign.EQUAL)
    assert not false.plain


def test_what_an_inequality_implies() -> None:
    strict = AtLeast(x, y, strict=True)
    assert strict.implied() == (strict, AtLeast(x, y))
    assert AtLeast(x, y).implied() == (AtLeast(x, y),)
    assert AtLeast(x, y).stricter() == strict


def test_for_all_is_written_with_its_indices() -> None:
    assert statement(ForAll(AtLeast(s[j], 0), (j,))) == "s_{j} \\ge 0\\text{ for all } j"


def test_a_statement_with_other_expressions_keeps_its_variables() -> None:
    moved = Limit(1 / tau + x, tau, sp.oo, x).mapped(lambda expr: expr.xreplace({x: sp.Integer(2)}))
    assert (moved.limit, moved.to) == (2, sp.oo)
    assert x in moved.variables()


# ── nobody asks which kind it is ────────────────────────────────────────────────────────────────────────────────────

KINDS = {kind.__name__ for kind in (*RELATIONS, *HYPOTHESES)}
BUILDS = {"derivations/reader/meaning/statements.py"}  # makes a hypothesis for all indices of an inequality that it has read


def asked(tree: ast.AST) -> Iterator[str]:
    """Yield the kinds of statements that code asks for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            yield from (each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name) and each.id in KINDS)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in KINDS:
            yield node.cls.id


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("isinstance(x, Equation | Limit)", ["Equation", "Limit"]),
        ("isinstance(x, (int, Fails))", ["Fails"]),
        ("match x:\n    case Follows():\n        pass", ["Follows"]),
        ("isinstance(x, Relation)", []),
    ],
)
def test_a_question_for_a_kind_is_found(code: str, kinds: list[str]) -> None:
    assert list(asked(ast.parse(code))) == kinds


def test_no_package_asks_which_kind_of_statement_it_has() -> None:
    root = Path(derivations.__file__).parents[1]
    files = (path for room in ("derivations", "evidence") for path in (root / room).rglob("*.py"))
    found = {str(path.relative_to(root)) for path in files if list(asked(ast.parse(path.read_text(encoding="utf-8"))))}
    assert found == BUILDS
