"""The document's symbols.

Notation  m = |S| locations, numbered j, k, l (t in print); d the width of V(t), c its coordinate; D the width of the data
          at one location, r its coordinate; M basis functions, b their number; p a point of the simplex;
          x the data where they are scalars, X[j, r] where they are vectors; f the summary of X; V[j, c] = V_c(t)
"""

import sympy as sp

from derivations.documents.eot.notation import j, m, softmax
from derivations.vocabulary import *

D, M, d = size("D"), size("M"), size("d")
c, r, b = index("c", d), index("r", D), index("b", M)
best = index("best", m)
x, f = vector("x", m), vector("f", m)
X, V = vector("X", m, D), vector("V", m, d)
p = simplex("p", m)
theta, eta, phi = vector("theta", M), vector("eta", M), vector("phi", m, M)


def uniform(location: sp.Expr) -> sp.Expr:
    """1/|S| for every location."""
    return 1 / m


def corner(location: sp.Expr) -> sp.Expr:
    """The basis vector e_best."""
    return delta(location, best)


def soft(of: Entry) -> Entry:
    """softmax(x), at temperature 1."""
    return softmax(of, sp.S.One)


def mean(of: Entry) -> sp.Expr:
    """The mean over the locations, by equal weights."""
    return total(j, of(j)) / m


def inner(first: Entry, second: Entry) -> sp.Expr:
    """⟨a, b⟩ = Σ_j a_j b_j."""
    return total(j, first(j) * second(j))


def magnitude(of: Entry) -> sp.Expr:
    """‖a‖."""
    return sp.sqrt(total(j, of(j) ** 2))


def nonzero(of: Entry) -> AtLeast:
    """‖a‖² > 0: a has a direction."""
    return AtLeast(total(j, of(j) ** 2), 0, strict=True)


def cosine(first: Entry, second: Entry) -> sp.Expr:
    """The cosine of the angle between a and b, by the law of cosines in the triangle 0, a, b."""
    opposite = total(j, (first(j) - second(j)) ** 2)
    return (total(j, first(j) ** 2) + total(j, second(j) ** 2) - opposite) / (2 * magnitude(first) * magnitude(second))


def combination(coefficients: Entry, location: sp.Expr) -> sp.Expr:
    """Σ_b θ_b φ_b(j)."""
    return total(b, coefficients(b) * phi[location, b])
