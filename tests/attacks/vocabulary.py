"""The variables that the attacks speak of.

Notation  m, n sizes; j, l, h indices over m, i over n, k over m but not j; x, w real, y, t, tau positive, z ≥ 0;
          a, s real vectors, b positive; u, v interior, r, q simplex; RR stochastic m × m, P a coupling of v and u
"""

import sympy as sp

from derivations.calculus.division import power, product
from derivations.calculus.variables import coupling, index, interior, positive, scalar, simplex, size, stochastic, vector
from derivations.domains import Nonnegative, Positive
from derivations.relations import Equation

m, n = size("m"), size("n")
i, j, l, h = index("i", n), index("j", m), index("l", m), index("h", m)  # noqa: E741
k = index("k", m, other_than=(j,))
x, w, y, t, tau = scalar("x"), scalar("w"), positive("y"), positive("t"), positive("tau")
z = scalar("z", Nonnegative)
a, s, b = vector("a", m), vector("s", m), vector("b", m, kind=Positive)
c = vector("c", m, kind=Nonnegative)
u, v, r, q = interior("u", m), interior("v", n), simplex("r", m), simplex("q", m)
A, QQ = vector("A", n, m), simplex("QQ", m, m)
RR, P = stochastic("RR", m, m), coupling("P", v, u)
K3 = (m - 1) * (m - 2) * (m - 3)  # 0 at every size from 1 to 3
half, one, two = sp.Rational(1, 2), sp.S.One, sp.Integer(2)


def wherever(expr: sp.Expr) -> Equation:
    """An identity that is true wherever the expression is defined and that is not trivial."""
    return Equation((expr + w) ** 2, power(expr, 2) + product(2 * expr, w) + w**2)
