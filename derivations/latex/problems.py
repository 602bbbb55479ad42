"""Optimization problems over a simplex: what minimizes an entropic or quadratic objective, and its value.

Notation  q the rival; an entropic objective is factor · Σ q log q + Σ c_i q_i + rest, and its minimizer exp(−c_i/factor)
          normalized, by Gibbs' identity
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import Kind, Variable, index, rival, variables_of
from derivations.latex.elaboration import Reader
from derivations.latex.names import pattern
from derivations.latex.tree import Chain, LatexError, Node, Product, Scripted, Sum, product_node, spelled
from derivations.latex.values import Value, bound
from derivations.relations import Equation, Relation, UniqueMinimum


@dataclass(frozen=True)
class Problem:
    """minimize `objective` over q in a simplex, or maximize it: where `sign` is −1 the objective is negated."""

    name: str
    size: Variable
    objective: Node
    sign: int


def problem(reader: Reader, node: Node) -> tuple[Problem, bool] | None:
    """The optimization problem that a side is, and whether it stands for its value; None where it is none."""
    factors = list(node.factors) if isinstance(node, Product) else [node]
    if isinstance(node, Sum) and node.terms[0][0] == "+" and isinstance(node.terms[0][1], Product):
        first = node.terms[0][1]
        factors = (
            [
                *first.factors[: _head(first.factors)],
                Sum((("+", product_node(first.factors[_head(first.factors) :])), *node.terms[1:])),
            ]
            if _head(first.factors) < len(first.factors)
            else factors
        )
    names = [spelled(each.base) if isinstance(each, Scripted) else spelled(each) for each in factors[:2]]
    if not names:
        return None
    argument = names[0] == "\\arg" or names[0] in (
        "\\mathrm{argmin}",
        "\\mathrm{argmax}",
        "\\mathrm{arg,min}",
        "\\mathrm{arg,max}",
        "\\argmin",
        "\\argmax",
    )
    head = factors[1] if names[0] == "\\arg" and len(factors) > 1 else factors[0]
    word = spelled(head.base) if isinstance(head, Scripted) else spelled(head)
    if (
        not isinstance(head, Scripted)
        or head.sub is None
        or not any(word.endswith(each) for each in ("min}", "max}", "min", "max"))
    ):
        return None
    rest = factors[2:] if names[0] == "\\arg" else factors[1:]
    over, size = _feasible(reader, head.sub)
    return Problem(over, size, product_node(rest), 1 if "min" in word else -1), not argument


def _head(factors: Sequence[Node]) -> int:
    """How many factors name a problem: \\arg\\min_q, or \\min_q."""
    first = spelled(factors[0])
    return (
        2
        if first == "\\arg"
        else 1
        if any(first.startswith(each) for each in ("\\min", "\\max", "\\mathrm{argm", "\\argm"))
        else len(factors)
    )


def _feasible(reader: Reader, sub: Node) -> tuple[str, Variable]:
    """The rival's name and the size of the simplex: q ∈ Δ^{m−1}, or q where the notation says that it is a distribution."""
    name = spelled(sub.parts[0]) if isinstance(sub, Chain) else spelled(sub)
    whole = sub.parts[1] if isinstance(sub, Chain) else None
    if isinstance(sub, Chain) and not (sub.signs == ("\\in",) and spelled(whole).startswith(("\\Delta", "\\mathcal{P}"))):
        raise LatexError(f"min: expected a minimum over a simplex, q \\in \\Delta, got {spelled(sub)}")
    shown = pattern(name).name
    value = reader.meaning(shown)
    value = getattr(value, "value", value)
    if not isinstance(value, Value) or len(value.shape) != 1:
        raise LatexError(f"min: expected a point of a simplex that the notation declares, got {name}")
    label = getattr(value.entry(sp.Integer(1)), "base", None)
    kind = label.label.domain.kind if label is not None else None
    if kind not in (Kind.SIMPLEX, Kind.INTERIOR):
        raise LatexError(f"min: expected {name} to be declared a simplex, got {kind.words if kind else 'something else'}")
    dimension = whole.sup or whole.sub if isinstance(whole, Scripted) else None
    if dimension is not None and spelled(dimension) not in _dimensions(reader, value.shape[0]):
        raise LatexError(f"min: expected the simplex of {value.shape[0]} entries, that of {name}, got {spelled(whole)}")
    return shown, value.shape[0]


def _dimensions(reader: Reader, size: Variable) -> list[str]:
    """What a simplex of so many entries is printed with: m or m − 1."""
    names = [name for name, each in reader.notation.sizes.items() if each == size]
    return [text for name in names for text in (name, f"{name} - 1")]


def _objective(reader: Reader, found: Problem, entries: Value) -> sp.Expr:
    return found.sign * reader.within(**{found.name: entries}).value(found.objective).number


def minimizer(reader: Reader, left: Node, found: Problem) -> Iterator[Relation]:
    """left = argmin of a problem: the only minimizer, entry by entry."""
    candidate = reader.value(left)
    if candidate.shape != (found.size,):
        raise LatexError(f"argmin: expected a vector [{found.size}] on the other side, got {candidate.words}")

    def objective(q: object) -> sp.Expr:
        return _objective(reader, found, Value((found.size,), q))  # type: ignore[arg-type]

    rival = _rival(found)
    factor, square = strength(objective(lambda i: rival[i]), rival)
    yield UniqueMinimum(objective, lambda i: candidate.entry(i), found.size, factor, alpha=sp.Integer(2) if square else None)


def _rival(found: Problem) -> sp.IndexedBase:
    return rival("q", Kind.SIMPLEX, found.size)


def strength(objective: sp.Expr, q: sp.IndexedBase) -> tuple[sp.Expr, bool]:
    """The factor of Σ q log q in an objective, or of Σ q²/2, and which of the two it is."""
    entropic = quadratic = sp.S.Zero
    for term in sp.Add.make_args(normal(objective)):
        for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum)]:
            body, bound = part.function, part.limits[0][0]
            if (rest := _entropy_factor(body, q[bound])) is not None:
                entropic += without(term, part) * rest
            elif q[bound] ** 2 in sp.Mul.make_args(body):
                quadratic += 2 * without(term, part) * without(body, q[bound] ** 2)
    if entropic == 0 and quadratic == 0:
        raise LatexError("min: expected an objective with an entropy or a square of the distribution, got neither")
    return (sp.simplify(entropic), False) if entropic != 0 else (sp.simplify(quadratic), True)


def _entropy_factor(body: sp.Expr, entry: sp.Expr) -> sp.Expr | None:
    """What multiplies q log q in a summand; None where that is no factor."""
    factors = sp.Mul.make_args(body)
    if xlogx(entry) in factors:
        return without(body, xlogx(entry))
    if sp.log(entry) in factors and entry in factors:
        return without(without(body, sp.log(entry)), entry)
    return None


def without(product: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """A product without one of its factors; raises LatexError where it is none of them."""
    factors = list(sp.Mul.make_args(product))
    if factor not in factors:
        raise LatexError("min: expected an entropy or a square as a factor of a term, got another expression")
    factors.remove(factor)
    return sp.Mul(*factors)


def optimal_value(reader: Reader, value: Node, found: Problem) -> Iterator[Relation]:
    """min over a simplex: the minimizer that the objective itself gives, then the objective there."""
    rival = _rival(found)
    objective = _objective(reader, found, Value((found.size,), lambda i: rival[i]))
    weights = gibbs(objective, rival)
    if weights is None:
        raise LatexError("min: expected a linear objective with an entropy, got another one")

    def entry(i: sp.Expr) -> sp.Expr:
        return weights(i)

    def written(q: object) -> sp.Expr:
        return _objective(reader, found, Value((found.size,), q))  # type: ignore[arg-type]

    yield UniqueMinimum(written, entry, found.size, strength(objective, rival)[0])
    own = _objective(reader, found, Value((found.size,), entry))
    yield Equation(found.sign * own, reader.value(value).number)


def gibbs(objective: sp.Expr, q: sp.IndexedBase) -> Callable[[sp.Expr], sp.Expr] | None:
    """The minimizer of factor · Σ q log q + Σ c_i q_i + rest, as a function of the index; None for another objective."""
    factor, square = strength(objective, q)
    if square:
        return None
    l = Variable("l#gibbs", index("l", q.shape[0]).domain)  # noqa: E741
    opened = normal(objective)
    cost = sp.S.Zero
    for term in sp.Add.make_args(opened):
        linear = _linear(term, q, l)
        if linear is None:
            return None
        cost += linear

    def weights(i: sp.Expr) -> sp.Expr:
        other = Variable("o#gibbs", l.domain)
        return sp.exp(-cost.xreplace({l: i}) / factor) / total(other, sp.exp(-cost.xreplace({l: other}) / factor))

    return weights


def _linear(term: sp.Expr, q: sp.IndexedBase, l: Variable) -> sp.Expr | None:  # noqa: E741
    """The cost per unit of q_l in a term; 0 where q does not occur or only in its entropy; None if it is not linear."""
    if not term.has(q.label):
        return sp.S.Zero
    sums = [part for part in sp.Mul.make_args(term) if isinstance(part, sp.Sum) and part.has(q.label)]
    if len(sums) != 1 or without(term, sums[0]).has(q.label) or len(sums[0].limits) != 1:
        return None
    body, bound = sums[0].function, sums[0].limits[0][0]
    entropy = _entropy_factor(body, q[bound])
    if entropy is not None:
        return None if entropy.has(q.label) else sp.S.Zero
    if q[bound] not in sp.Mul.make_args(body) or (rest := without(body, q[bound])).has(q.label):
        return None
    return without(term, sums[0]) * rest.xreplace({bound: l})


def because(difference: sp.Expr, weights_of: Sequence[Value] = ()) -> sp.Expr | None:
    """A form of a difference that is never negative: factor · Σ kl(q_i ‖ weights_i), where that is what it is.

    `weights_of` are vectors of the notation: their divergence from the uniform distribution is tried too, and what they lack of
    a corner.
    """
    with suppress(ValueError):
        opened = normal(difference)
        for q in _distributions(opened):
            weights = gibbs(difference, q)
            if weights is not None:
                i = Variable("i#gap", index("i", q.shape[0]).domain)
                found = strength(difference, q)[0] * total(i, kl(q[i], weights(i)))
                if equal(difference, found):
                    return found
    for p in weights_of:
        i = bound(p.shape[0])
        p_i = p.entry(i)
        for found in (total(i, kl(p_i, 1 / p.shape[0])), total(i, p_i * (1 - p_i))):
            with suppress(ValueError):
                if equal(difference, found):
                    return found
    return spread(difference)


def divergence(difference: sp.Expr, weights_of: Sequence[Value]) -> sp.Expr | None:
    """c · Σ kl(p_i ‖ q_i) of two distributions of the notation, where a difference is that for a positive number c in it."""
    names = set(variables_of(difference))
    given = [Value((q.shape[0],), q.__getitem__) for q in _distributions(difference)]
    own = [each for each in (*weights_of, *given) if _named(each) <= names]
    scales = [v for v in variables_of(difference) if v.domain.kind is Kind.POSITIVE and not v.domain.shape]
    for p, q in ((p, q) for p in own for q in own if p is not q and p.shape == q.shape):
        i = bound(p.shape[0])
        gap = total(i, kl(p.entry(i), q.entry(i)))
        for scale in (sp.S.One, *scales, *(1 / each for each in scales)):
            with suppress(ValueError):
                if equal(difference, scale * gap):
                    return scale * gap
    return None


def _named(weights: Value) -> set[Variable]:
    """The variables in which a distribution is defined."""
    return {v for v in variables_of(weights.entry(bound(weights.shape[0]))) if v.domain.kind is not Kind.INDEX}


def spread(difference: sp.Expr) -> sp.Expr | None:
    """Σ w_i (x_i − mean)², where a difference is that: a variance, or a sum of squares above its least value."""
    with suppress(ValueError):
        for term in sp.Add.make_args(normal(difference)):
            for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum) and len(each.limits) == 1]:
                bound = part.limits[0][0]
                for square in [f for f in sp.Mul.make_args(part.function) if f.is_Pow and f.exp == 2 and f.has(bound)]:
                    weight = without(term, part) * without(part.function, square)
                    i = Variable("i#spread", bound.domain)
                    w, x = weight.xreplace({bound: i}), square.base.xreplace({bound: i})
                    centre = total(i, w * x) / total(i, w)
                    found = total(i, w * (x - centre) ** 2)
                    if equal(difference, found):
                        return found
    return None


def _distributions(expr: sp.Expr) -> list[sp.IndexedBase]:
    """The points of simplices that occur in an expression, by name."""
    bases = {each.base for each in expr.atoms(sp.Indexed)}
    return sorted((q for q in bases if len(q.shape) == 1 and q.label.domain.kind in (Kind.SIMPLEX, Kind.INTERIOR)), key=str)
