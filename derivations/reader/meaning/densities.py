"""Read densities proportional for all vectors, p(a) ∝ e^{⟨a, λ⟩}, as equal ratios."""

import sympy as sp

from derivations.calculus.division import quotient
from derivations.calculus.variables import Variable, vector
from derivations.domains.base import Sign
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import bound
from derivations.reader.syntax.names import parts
from derivations.reader.syntax.tree import Bracket, Node, Product, spelled
from derivations.relations import Equation


def moving_vector(reader: Reader, first: Node | None) -> Variable | None:
    """Return the vector a if a formula begins with a density p(a), p(a | b) or p(a − b); None otherwise."""
    call = first.factors[-1] if isinstance(first, Product) and len(first.factors) == 2 else None
    if not isinstance(call, Bracket) or call.kind != "()" or spelled(parts(call.inside)[0]) in reader.notation.indices:
        return None
    value = reader.value(parts(call.inside)[0])
    added = sp.Add.make_args(value.entry(bound(value.shape[0]))) if len(value.shape) == 1 else ()
    labels = [each.base.label for each in added if isinstance(each, sp.Indexed) and len(each.base.shape) == 1]
    free = [each for each in labels if isinstance(each, Variable) and _moves(each)]
    return free[0] if len(free) == 1 else None


def _moves(label: Variable) -> bool:
    """Whether a vector is any one, or any point of a closed simplex."""
    return label.domain.is_whole or (label.domain.is_distribution and label.domain.sign is Sign.NONNEGATIVE)


def proportional_density(reader: Reader, left: Node, right: Node, moving: Variable) -> Equation:
    """f(a) ∝ g(a) for all vectors a: f(a)/f(b) = g(a)/g(b)."""
    other = vector(f"other {moving.name}", *moving.domain.shape, kind=type(moving.domain))

    def ratio(side: Node) -> sp.Expr:
        here = reader.value(side).number
        entries = [each for each in here.atoms(sp.Indexed) if each.base.label == moving]
        return quotient(here, here.xreplace({each: other[each.indices] for each in entries}))

    return Equation(ratio(left), ratio(right))
