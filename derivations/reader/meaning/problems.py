"""Optimization problems over a simplex: the minimizer of an entropic or quadratic objective, and its value.

Notation  q the rival; an entropic objective is factor · Σ q log q + Σ c_i q_i + rest, and its minimizer exp(−c_i/factor)
          normalized, by Gibbs' identity
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import sympy as sp

from derivations.calculus.division import product, quotient
from derivations.calculus.functions import kl, xlogx
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import Variable, index, rival, variables_of
from derivations.domains import Simplex
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, bound
from derivations.reader.syntax.names import pattern
from derivations.reader.syntax.tree import Chain, LatexError, Node, Product, Scripted, Sum, product_node, spelled
from derivations.relations import Equation, Relation, UniqueMinimum

VALUES = ("\\min", "\\max", "\\mathrm{min}", "\\mathrm{max}")
ARGUMENTS = ("\\argmin", "\\argmax", "\\mathrm{argmin}", "\\mathrm{argmax}", "\\mathrm{arg,min}", "\\mathrm{arg,max}")


@dataclass(frozen=True)
class Problem:
    """Minimize `objective` over q in a simplex, or maximize it: `sign` is −1 for a maximum."""

    name: str
    size: Variable
    objective: Node
    sign: int


def problem(reader: Reader, node: Node) -> tuple[Problem, bool] | None:
    """Read a side as an optimization problem, and whether the side is its value; None if it is not one."""
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
    head = factors[1] if names[0] == "\\arg" and len(factors) > 1 else factors[0]
    word = spelled(head.base) if isinstance(head, Scripted) else spelled(head)
    if not isinstance(head, Scripted) or head.sub is None or word not in (*VALUES, *ARGUMENTS):
        return None
    rest = factors[2:] if names[0] == "\\arg" else factors[1:]
    over, size = _feasible(reader, head.sub)
    return Problem(over, size, product_node(rest), 1 if "min" in word else -1), names[0] in VALUES


def _head(factors: Sequence[Node]) -> int:
    """Return how many factors name a problem: \\arg\\min_q or \\min_q."""
    first = spelled(factors[0])
    return (
        2
        if first == "\\arg"
        else 1
        if any(first.startswith(each) for each in ("\\min", "\\max", "\\mathrm{argm", "\\argm"))
        else len(factors)
    )


def _feasible(reader: Reader, sub: Node) -> tuple[str, Variable]:
    """Return the rival's name and the size of the simplex, from q ∈ Δ^{m−1}, or from q if declared as a distribution."""
    name = spelled(sub.parts[0]) if isinstance(sub, Chain) else spelled(sub)
    chain = sub.parts[1] if isinstance(sub, Chain) else None
    if isinstance(sub, Chain) and not (sub.signs == ("\\in",) and spelled(chain).startswith(("\\Delta", "\\mathcal{P}"))):
        raise LatexError(f"min: expected a minimum over a simplex, q \\in \\Delta, got {spelled(sub)}")
    shown = pattern(name).name
    value = reader.meaning(shown)
    value = getattr(value, "value", value)
    if not isinstance(value, Value) or len(value.shape) != 1:
        raise LatexError(f"min: expected a point of a simplex that the notation declares, got {name}")
    label = getattr(value.entry(sp.Integer(1)), "base", None)
    own = label.label.domain if label is not None else None
    if own is None or not own.is_distribution:
        raise LatexError(f"min: expected {name} to be declared a simplex, got {own.words if own else 'something else'}")
    dimension = chain.sup or chain.sub if isinstance(chain, Scripted) else None
    if dimension is not None and spelled(dimension) not in _dimensions(reader, value.shape[0]):
        raise LatexError(f"min: expected the simplex of {value.shape[0]} entries, that of {name}, got {spelled(chain)}")
    return shown, value.shape[0]


def _dimensions(reader: Reader, size: Variable) -> list[str]:
    """Return the printed dimensions of a simplex of this many entries: m or m − 1."""
    names = [name for name, each in reader.notation.sizes.items() if each == size]
    return [text for name in names for text in (name, f"{name} - 1")]


def _objective(reader: Reader, problem: Problem, entries: Value) -> sp.Expr:
    return problem.sign * reader.within(**{problem.name: entries}).value(problem.objective).number


def minimizer(reader: Reader, left: Node, problem: Problem) -> Iterator[Relation]:
    """State that left is the unique minimizer of a problem, entry by entry."""
    candidate = reader.value(left)
    if candidate.shape != (problem.size,):
        raise LatexError(f"argmin: expected a vector [{problem.size}] on the other side, got {candidate.words}")

    def objective(q: object) -> sp.Expr:
        return _objective(reader, problem, Value((problem.size,), q))  # type: ignore[arg-type]

    rival = _rival(problem)
    factor, square = strength(objective(lambda i: rival[i]), rival)
    yield UniqueMinimum(objective, lambda i: candidate.entry(i), problem.size, factor, alpha=sp.Integer(2) if square else None)


def _rival(problem: Problem) -> sp.IndexedBase:
    return rival("q", Simplex, problem.size)


def strength(objective: sp.Expr, q: sp.IndexedBase) -> tuple[sp.Expr, bool]:
    """Return the factor of Σ q log q in an objective, or of Σ q²/2, and whether it is the latter."""
    entropic = quadratic = sp.S.Zero
    for term in sp.Add.make_args(normal(objective)):
        for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum)]:
            body, bound = part.function, part.limits[0][0]
            if (rest := _entropy_factor(body, q[bound])) is not None:
                entropic += without(term, part) * rest
            elif body == q[bound] ** 2:
                quadratic += 2 * without(term, part)
    if entropic == 0 and quadratic == 0:
        raise LatexError("min: expected an objective with an entropy or a square of the distribution, got neither")
    return (sp.simplify(entropic), False) if entropic != 0 else (sp.simplify(quadratic), True)


def _entropy_factor(body: sp.Expr, entry: sp.Expr) -> sp.Expr | None:
    """Return the coefficient of q log q in a summand; None if that is not a factor."""
    factors = sp.Mul.make_args(body)
    if xlogx(entry) in factors:
        return without(body, xlogx(entry))
    if sp.log(entry) in factors and entry in factors:
        return without(without(body, sp.log(entry)), entry)
    return None


def without(product: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """Return a product without one of its factors; raises LatexError if it does not have that factor."""
    factors = list(sp.Mul.make_args(product))
    if factor not in factors:
        raise LatexError("min: expected an entropy or a square as a factor of a term, got another expression")
    factors.remove(factor)
    return sp.Mul(*factors)


def optimal_value(reader: Reader, value: Node, problem: Problem) -> Iterator[Relation]:
    """State the minimum over a simplex: the minimizer computed from the objective, then the value there."""
    rival = _rival(problem)
    objective = _objective(reader, problem, Value((problem.size,), lambda i: rival[i]))
    weights = gibbs(objective, rival)
    if weights is None:
        raise LatexError("min: expected a linear objective with an entropy, got another one")

    def entry(i: sp.Expr) -> sp.Expr:
        return weights(i)

    def written(q: object) -> sp.Expr:
        return _objective(reader, problem, Value((problem.size,), q))  # type: ignore[arg-type]

    yield UniqueMinimum(written, entry, problem.size, strength(objective, rival)[0])
    own = _objective(reader, problem, Value((problem.size,), entry))
    yield Equation(problem.sign * own, reader.value(value).number)


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
        one, all_ = (sp.exp(quotient(-cost.xreplace({l: each}), factor)) for each in (i, other))
        return quotient(one, total(other, all_))

    return weights


def _linear(term: sp.Expr, q: sp.IndexedBase, l: Variable) -> sp.Expr | None:  # noqa: E741
    """The cost per unit of q_l in a term; 0 where q does not occur or only in its entropy; None if it is not linear."""
    if not term.has(q.label):
        return sp.S.Zero
    sums = [part for part in sp.Mul.make_args(term) if isinstance(part, sp.Sum) and part.has(q.label)]
    if len(sums) != 1 or without(term, sums[0]).has(q.label):
        return None
    body, names = sums[0].function, [limit[0] for limit in sums[0].limits]
    bound = next((name for name in names if q[name] in sp.Mul.make_args(body)), names[0])
    others = [name for name in names if name != bound]  # Σ_i q_i Σ_a x_a k_ia
    entropy = _entropy_factor(body, q[bound])
    if entropy is not None:
        return None if entropy.has(q.label) else sp.S.Zero
    if q[bound] not in sp.Mul.make_args(body) or (rest := without(body, q[bound])).has(q.label):
        return None
    rest = total(tuple(others), rest) if others else rest
    return without(term, sums[0]) * rest.xreplace({bound: l})


def because(difference: sp.Expr, weights_of: Sequence[Value] = ()) -> sp.Expr | None:
    """Return a manifestly nonnegative form of a difference, such as factor · Σ kl(q_i ‖ weights_i), if one is found.

    `weights_of` are vectors of the notation: their divergence from the uniform distribution is tried too, and Σ p(1 − p).
    """
    with suppress(ValueError):
        opened = normal(difference)
        for q in _distributions(opened):
            weights = gibbs(difference, q)
            if weights is not None:
                i = Variable("i#gap", index("i", q.shape[0]).domain)
                form = strength(difference, q)[0] * total(i, kl(q[i], weights(i)))
                if equal(difference, form):
                    return form
    simplices = [Value((q.shape[0],), q.__getitem__) for q in _distributions(difference)]
    for p in (*weights_of, *simplices):
        i, size = bound(p.shape[0]), p.shape[0]
        p_i = p.entry(i)
        mixed = total(i, p_i * (1 - p_i))
        for form in (total(i, kl(p_i, 1 / size)), mixed, mixed / 2, size * total(i, (p_i - 1 / size) ** 2)):
            with suppress(ValueError):
                if equal(difference, form):
                    return form
    return spread(difference) or squares(difference)


def divergence(difference: sp.Expr, weights_of: Sequence[Value]) -> sp.Expr | None:
    """Return c · Σ kl(p_i ‖ q_i) if a difference equals it for declared distributions p, q and a positive number c in it."""
    names = set(variables_of(difference))
    factors = [Value((q.shape[0],), q.__getitem__) for q in _distributions(difference)]
    own = [each for each in (*weights_of, *factors) if _named(each) <= names]
    scales = [v for v in variables_of(difference) if v.domain.is_scale]
    for p, q in ((p, q) for p in own for q in own if p is not q and p.shape == q.shape):
        i = bound(p.shape[0])
        gap = total(i, kl(p.entry(i), q.entry(i)))
        for scale in (sp.S.One, *scales, *(1 / each for each in scales)):
            with suppress(ValueError):
                if equal(difference, scale * gap):
                    return scale * gap
    return None


def _named(weights: Value) -> set[Variable]:
    """Return the variables on which a distribution depends."""
    return {v for v in variables_of(weights.entry(bound(weights.shape[0]))) if not v.domain.is_index}


def squares(difference: sp.Expr) -> sp.Expr | None:
    """Return Σ_l c_l (Σ_a x_la)² if a difference is its expansion Σ_lab c_l x_la x_lb."""
    factors = sp.Mul.make_args(normal(difference))
    double = next((part for part in factors if isinstance(part, sp.Sum) and 2 <= len(part.limits) <= 3), None)
    if double is None:
        return None
    names = [limit[0] for limit in double.limits]
    parts = sp.Mul.make_args(double.function)
    for a, b in combinations(names, 2):
        one, other = (sp.Mul(*(part for part in parts if part.has(own))) for own in (a, b))
        if a.domain.shape != b.domain.shape or one.has(b) or one.xreplace({a: b}) != other:
            continue
        rest = sp.Mul(*(part for part in parts if not part.has(a, b)), *(part for part in factors if part is not double))
        square = rest * total(a, one) ** 2
        form = total(tuple(each for each in names if each not in (a, b)), square)
        with suppress(ValueError):
            if equal(difference, form):
                return form
    return None


def spread(difference: sp.Expr) -> sp.Expr | None:
    """Return Σ w_i (x_i − mean)² if a difference equals it: a variance, or a sum of squares minus its minimum."""
    with suppress(ValueError):
        for term in sp.Add.make_args(normal(difference)):
            for part in [each for each in sp.Mul.make_args(term) if isinstance(each, sp.Sum) and len(each.limits) == 1]:
                bound = part.limits[0][0]
                for square in [f for f in sp.Mul.make_args(part.function) if f.is_Pow and f.exp == 2 and f.has(bound)]:
                    weight = product(without(term, part), without(part.function, square))
                    i = Variable("i#spread", bound.domain)
                    w, x = weight.xreplace({bound: i}), square.base.xreplace({bound: i})
                    centre = total(i, w * x) / total(i, w)
                    form = total(i, w * (x - centre) ** 2)
                    if equal(difference, form):
                        return form
    return None


def _distributions(expr: sp.Expr) -> list[sp.IndexedBase]:
    """The points of simplices that occur in an expression, by name."""
    bases = {each.base for each in expr.atoms(sp.Indexed)}
    return sorted((q for q in bases if len(q.shape) == 1 and q.label.domain.is_distribution), key=str)
