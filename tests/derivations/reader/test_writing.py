"""Written formulas can be read back with the same meaning: steps of derivations, and expressions with awkward names."""

from collections.abc import Iterator

import pytest
import sympy as sp

from derivations import index, positive, scalar, size, total, vector, xlogx
from derivations.calculus.sums import alike, equal
from derivations.calculus.variables import Variable, Vector, variables_of
from derivations.judge.examination import written as steps_of
from derivations.reader.meaning.elaboration import Elaborator
from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.syntax import parse
from derivations.reader.writing import name, statement, written
from derivations.register.catalogue import entries
from derivations.relations import AtLeast, Equation, Fails

EVERY = 12  # of the claims, one in so many
m, lam, e = size("m"), scalar("lam"), scalar("e")
j, k = index("j", m), index("k", m)
s, t1 = vector("s", m), positive("t1")


def declared(variable: Variable) -> sp.Basic:
    scalar = not variable.domain.shape or variable.domain.is_index
    return variable if scalar else Vector(variable, shape=variable.domain.shape)


def same(expr: sp.Expr) -> bool:
    notation = Notation({name(v).strip(): declared(v) for v in variables_of(expr)})
    back = Elaborator(notation).value(parse(written(expr))).number
    return alike(back, expr) or equal(back, expr)


@pytest.mark.parametrize(
    "expr",
    [
        -s[j],
        s[j] ** 2 / lam,
        sp.exp(s[j] / lam),
        e * sp.exp(e),
        total(j, -s[j]),
        total(j, s[j] * total(k, s[k])),
        t1 + 1,
        xlogx(s[j] ** 2),
        total((j, k), s[j] - s[k]),
        sp.sqrt(t1),
        1 / (1 + t1),
        total(j, s[j]) ** 2,
        sp.Abs(lam - e),
    ],
)
def test_an_expression_survives_a_round_trip(expr: sp.Expr) -> None:
    assert same(sp.sympify(expr))


def sampled() -> Iterator[tuple[str, sp.Expr]]:
    for number, (id, entry) in enumerate(entries().items()):
        if number % EVERY == 0 and entry.derivation is not None:
            for relation in steps_of(entry.derivation).relations:
                core = relation.core
                if isinstance(core, Equation | AtLeast):
                    yield from ((id, side) for side in core.sides)


def test_steps_of_derivations_come_back() -> None:
    changed = [(id, written(side)) for id, side in sampled() if not same(side)]
    assert changed == []


def test_printed_names_are_conventional() -> None:
    assert [name(each) for each in (lam, t1, positive("τ"), positive("tau"), scalar("p⋆"))] == [
        r"\lambda",
        "t_{1}",
        r"\tau",
        r"\tau",
        r"p^{\star}",
    ]


def test_statements_are_written_with_their_signs() -> None:
    assert statement(Equation(lam, t1)) == r"\lambda = t_{1}"
    assert statement(AtLeast(lam, t1, strict=True)) == r"\lambda > t_{1}"
    assert statement(Fails(Equation(lam, t1))) == r"\lambda = t_{1}"


def test_a_power_of_a_logarithm_is_in_parentheses() -> None:
    x = positive("x")
    assert written(sp.log(x) ** 2) == r"\left(\log{\left(x \right)}\right)^{2}"
    assert written(sp.sqrt(sp.log(x))) == r"\sqrt{\log{\left(x \right)}}"
    assert written(1 / sp.log(x)) == r"\frac{1}{\log{\left(x \right)}}"
