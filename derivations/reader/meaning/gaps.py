"""Forms of a difference that show its sign by Gibbs' inequality: c · Σ kl(q_i ‖ w_i), with q or w read off the difference.

Notation  w_i = E_i/Σ_l E_l for a sum of positive terms E_i under a logarithm or below a fraction bar; q a declared
          distribution, another w, or the uniform one
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice, permutations

import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import kl, xlogx
from derivations.calculus.points import points
from derivations.calculus.signs import strictly_positive
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import Variable, variables_of
from derivations.reader.meaning.problems import without
from derivations.reader.meaning.values import Value, bound

Law = Callable[[sp.Expr], sp.Expr]
SCREENED = 3  # points at which a form is compared before it is proved


def divergence_form(difference: sp.Expr, vectors: Sequence[Value]) -> sp.Expr | None:
    """Return c · Σ kl(q_i ‖ w_i), or c times a sum of it and of Σ kl(w_i ‖ q_i), if a difference equals it."""
    with suppress(ValueError):
        opened = normal(difference)
        for form in _forms(opened, difference, vectors):
            if _agree(difference, form) and equal(difference, form):
                return form
    return None


def _forms(opened: sp.Expr, difference: sp.Expr, vectors: Sequence[Value]) -> Iterator[sp.Expr]:
    yield from _unnormalized(opened)
    scales = _scales(opened)
    for mean in sorted({part for log in opened.atoms(sp.log) for part in log.atoms(sp.Sum)}, key=str):
        yield from (c * form for form in _jensen(mean) for c in scales)
    for (size, q), (other, w) in permutations(_laws(opened, difference, vectors), 2):
        if size == other:
            i = bound(size)
            one, back = total(i, kl(q(i), w(i))), total(i, kl(w(i), q(i)))
            yield from (c * one for c in scales)
            yield from (c * (one + back) for c in scales)


def _jensen(mean: sp.Sum) -> Iterator[sp.Expr]:
    """Yield Σ q_i kl(1 ‖ E_i/Σ q E) for a mean Σ q_i E_i of positive numbers, whose q_i may be 0."""
    ((name, _, _), *others) = mean.limits
    weights = [f for f in sp.Mul.make_args(mean.function) if isinstance(f, sp.Indexed) and f.is_nonnegative]
    if others or not weights:
        return
    i = Variable("i#gap", name.domain)
    weight = weights[0].xreplace({name: i})
    rest = without(mean.function, weights[0]).xreplace({name: i})
    if strictly_positive(rest):
        yield total(i, weight * kl(sp.S.One, rest / mean))


def _laws(opened: sp.Expr, difference: sp.Expr, vectors: Sequence[Value]) -> list[tuple[sp.Expr, Law]]:
    """Return sizes and entries of the distributions that may be compared."""
    bases = {each.base for each in opened.atoms(sp.Indexed)}
    simplices = [q for q in sorted(bases, key=str) if len(q.shape) == 1 and q.label.domain.is_distribution]
    laws: list[tuple[sp.Expr, Law]] = [(q.shape[0], q.__getitem__) for q in simplices]
    names = set(variables_of(difference))
    for each in vectors:
        i = bound(each.shape[0])
        free = {v for v in variables_of(each.entry(i)) if not v.domain.is_index}
        if free <= names and equal(total(i, each.entry(i)), sp.S.One):
            laws.append((each.shape[0], each.entry))
    seen: list[sp.Sum] = []
    inside = [part for node in difference.atoms(sp.log, sp.Pow) for part in node.args[0].atoms(sp.Sum)]
    for each in sorted(inside, key=str):
        if len(each.limits) == 1 and not any(equal(each, other) for other in seen) and strictly_positive(each.function):
            seen.append(each)
            laws.append((each.limits[0][2], _normalized(each)))
    return [*laws, *((size, _uniform(size)) for size in dict.fromkeys(size for size, _ in laws))]


def _normalized(summed: sp.Sum) -> Law:
    ((name, _, _),) = summed.limits
    return lambda i: summed.function.xreplace({name: i}) / summed


def _uniform(size: sp.Expr) -> Law:
    return lambda _: 1 / size


def _scales(opened: sp.Expr) -> list[sp.Expr]:
    """Return the numbers c that may stand before a divergence: coefficients of logarithms, scalars and their inverses."""
    scalars = [v for v in variables_of(opened) if v.domain.is_scale]
    logs = [sp.Abs(term.coeff(log)) for term in sp.Add.make_args(opened) for log in term.atoms(sp.log)]
    plain = [each for each in logs if each != 0 and not each.has(sp.Sum, sp.log, sp.Indexed)]
    return list(dict.fromkeys((sp.S.One, *plain, *scalars, *(1 / v for v in scalars))))


def _unnormalized(opened: sp.Expr) -> Iterator[sp.Expr]:
    """Yield c · Σ_ij kl(P_ij ‖ W_ij) for terms c · Σ P log P and c · Σ W of one shape."""
    sums = [(term, part) for term in sp.Add.make_args(opened) for part in sp.Mul.make_args(term) if isinstance(part, sp.Sum)]
    terms = [(without(term, part), part) for term, part in sums]
    for c, entropy in terms:
        names = [limit[0] for limit in entropy.limits]
        entries = [f.args[0] for f in sp.Mul.make_args(entropy.function) if isinstance(f, xlogx | sp.log)]
        entry = next((each for each in entries if isinstance(each, sp.Indexed) and {*each.indices} == {*names}), None)
        if entry is None:
            continue
        for other, masses in terms:
            shape = [limit[0] for limit in masses.limits]
            if other == c and len(shape) == len(names) and not masses.has(entry.base.label):
                for order in permutations(shape):
                    if all(a.domain.shape == b.domain.shape for a, b in zip(names, order, strict=True)):
                        weights = masses.function.xreplace(dict(zip(order, names, strict=True)))
                        fresh = [Variable(f"{name.name.split('#')[0]}#gap", name.domain) for name in names]
                        body = kl(entry, weights).xreplace(dict(zip(names, fresh, strict=True)))
                        yield c * total(tuple(fresh), body)


def _agree(one: sp.Expr, other: sp.Expr) -> bool:
    """Return whether two expressions may be equal: their values at some points are not apart."""
    try:
        gaps = [enclose(one - other, point) for point in islice(points(variables_of(sp.Tuple(one, other))), SCREENED)]
    except ValueError:
        return False
    return all(not gap.is_finite() or gap.contains(0) for gap in gaps)
