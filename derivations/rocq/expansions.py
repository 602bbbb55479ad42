"""Expansions at 0 as theorems: the coefficients of a term, up to the third, by the rules of the script in the same order."""

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from derivations.relations import Expansion
from derivations.rocq.certificate import Certificate
from derivations.rocq.polynomials import alpha
from derivations.rocq.slopes import ONE, ZERO, opened
from derivations.rocq.statements import Statement
from derivations.rocq.statements import opened as declared
from derivations.rocq.terms import LEAVES, Names, NotExportedError, Term, children, mentions, number, term, written

HIGHEST = 3  # the order up to which the script expands

Coefficients = tuple[Term, Term, Term, Term]


def agreement(relation: Expansion, names: Names) -> tuple[Statement, list[str]]:
    """Both sides agree up to o(t^order): each has an expansion, and their coefficients are the same up to that order."""
    if relation.where:
        raise NotExportedError("an expansion of what an equation defines")
    if relation.order > HIGHEST:
        raise NotExportedError(f"an expansion beyond the order {HIGHEST}")
    statement, moving = declared(relation, names), names.of(relation.variable)
    sides = [alpha(opened(term(sp.sympify(side), names))) for side in (relation.left, relation.right)]
    functions = [f"(fun {moving} : R => {written(side)})" for side in sides]
    statement.conclusion = f"agrees {relation.order} {' '.join(functions)}"
    expanded = [expansion(side, moving) for side in sides]
    lines = [
        f"have {name} : series {function} {' '.join(map(written, coefficients))}.\n{{ expand. }}"
        for name, function, coefficients in zip(("left_side", "right_side"), functions, expanded, strict=True)
    ]
    certificate, ends = Certificate(statement.facts), []
    for degree, pair in enumerate(zip(*expanded, strict=True)):
        if degree <= relation.order:
            used = [n for each in pair for n in certificate.normal(each)[1]]
            ends.append(f"{{ {'move=> _; ' if degree else ''}{certificate.rewriting(used)}; fld. }}")
        else:
            ends.append("{ by []. }")
    use = f"apply: (@agrees_series R _ _ _ _ _ _ _ _ _ _ {relation.order} isT left_side right_side)."
    return statement, [*certificate.lines, *lines, use, *ends]


def expansion(part: Term, name: str) -> Coefficients:
    """The coefficients of 1, t, t², t³ for a variable t; raises NotExportedError for a function without a rule."""
    a, b, c, d = _raw(part, name)
    return _small(a), _small(b), _small(c), _small(d)


def _small(part: Term) -> Term:
    """A term simplified as by the script in every step: 0 and 1 in sums and products, and their powers and functions."""
    kind = part[0]
    if kind in LEAVES:
        return part
    inner = [_small(each) for each in children(part)]
    if kind in ("neg", "sum", "pow") and inner[0] == ZERO:
        return ZERO
    if kind == "exp" and inner[0] == ZERO:
        return ONE
    if kind == "ln" and inner[0] == ONE:
        return ZERO
    if kind in ("inv", "pow") and inner[0] == ONE:
        return ONE
    if kind == "mul" and ZERO in inner:
        return ZERO
    if kind in ("add", "mul"):
        rest = [each for each in inner if each != (ZERO if kind == "add" else ONE)]
        return (kind, *rest) if len(rest) > 1 else rest[0] if rest else ZERO if kind == "add" else ONE
    return (*part[:3], *inner) if kind == "sum" else (kind, *inner, part[2]) if kind == "pow" else (kind, *inner)


def _raw(part: Term, name: str) -> Coefficients:
    kind = part[0]
    if not mentions(part, name):
        return part, ZERO, ZERO, ZERO
    if kind == "var":
        return ZERO, ONE, ZERO, ZERO
    if kind == "neg":
        return _each(lambda x: ("neg", x), expansion(part[1], name))
    if kind == "sum":
        return _each(lambda x: (*part[:3], x), expansion(part[3], name))
    if kind == "add":
        a, b, c, d = zip(*(expansion(each, name) for each in part[1:]), strict=True)
        return ("add", *a), ("add", *b), ("add", *c), ("add", *d)
    if kind == "mul":
        return _product(part, name)
    if kind == "pow":
        inner = expansion(part[1], name)
        result = inner
        for _ in range(part[2] - 1):
            result = _times(inner, result)
        return result
    if kind in ("inv", "exp", "ln"):
        return _function(kind, expansion(part[1], name))
    raise NotExportedError(f"the expansion of {kind}")


def _each(change: Callable[[Term], Term], parts: Coefficients) -> Coefficients:
    a, b, c, d = parts
    return change(a), change(b), change(c), change(d)


def _product(part: Term, name: str) -> Coefficients:
    *others, last = part[1:]
    rest: Term = others[0] if len(others) == 1 else ("mul", *others)
    if not mentions(rest, name):
        return _each(lambda x: ("mul", rest, x), expansion(last, name))
    if not mentions(last, name):
        return _each(lambda x: ("mul", x, last), expansion(rest, name))
    return _times(expansion(rest, name), expansion(last, name))


def _times(f: Coefficients, g: Coefficients) -> Coefficients:
    def degree(n: int) -> Term:
        terms = [("mul", f[i], g[n - i]) for i in range(n + 1)]
        return terms[0] if n == 0 else ("add", *terms)

    return degree(0), degree(1), degree(2), degree(3)


def _n(value: int) -> Term:
    return number(Fraction(value))


def _over(part: Term, *below: Term) -> Term:
    return ("mul", part, ("inv", below[0] if len(below) == 1 else ("mul", *below)))


def _function(kind: str, inner: Coefficients) -> Coefficients:
    a, b, c, d = inner

    def to(x: Term, n: int) -> Term:
        return ("pow", x, n)

    def minus(*parts: Term) -> Term:
        return ("add", parts[0], *(("neg", each) for each in parts[1:]))

    if kind == "exp":
        top: Term = ("exp", a)
        return (
            top,
            ("mul", top, b),
            ("mul", top, ("add", c, _over(to(b, 2), _n(2)))),
            ("mul", top, ("add", d, ("mul", b, c), _over(to(b, 3), _n(6)))),
        )
    if kind == "inv":
        return (
            ("inv", a),
            _over(("neg", b), to(a, 2)),
            minus(_over(to(b, 2), to(a, 3)), _over(c, to(a, 2))),
            minus(_over(("mul", _n(2), b, c), to(a, 3)), _over(d, to(a, 2)), _over(to(b, 3), to(a, 4))),
        )
    return (
        ("ln", a),
        _over(b, a),
        minus(_over(c, a), _over(to(b, 2), _n(2), to(a, 2))),
        ("add", minus(_over(d, a), _over(("mul", b, c), to(a, 2))), _over(to(b, 3), _n(3), to(a, 3))),
    )
