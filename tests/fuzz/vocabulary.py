"""The names that generated statements use: every domain of the calculus, several variables of each.

Notation  m, n sizes; i, j, l indices over m, k ≠ j and o ∉ {i, j} too; h, g over n, e ≠ h; f over 3; one over 1;
          x, v real; y, t, theta positive; s ≥ 0; the base of each vector says its domain
"""

from typing import Any

import sympy as sp

from derivations.calculus.functions import derivative, kl, pinsker, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import (
    Variable,
    complementary,
    coupling,
    index,
    interior,
    positive,
    scalar,
    simplex,
    size,
    stochastic,
    unit,
    vector,
)
from derivations.domains import Nonnegative, Nonzero, Positive
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Follows,
    Limit,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)

m, n, three = size("m"), size("n"), sp.Integer(3)
i, j, l = (index(name, m) for name in "ijl")  # noqa: E741
k, o = index("k", m, other_than=(j,)), index("o", m, other_than=(i, j))
h, g = index("h", n), index("g", n)
e = index("e", n, other_than=(h,))
f, one = index("f", three), index("one", sp.S.One)
x, v, s = scalar("x"), scalar("v"), scalar("s", Nonnegative)
y, t, theta = positive("y"), positive("t"), positive("theta")
a, d = vector("a", m), vector("d", m)
b, u = vector("b", m, kind=Positive), interior("u", m)
z = vector("z", m, kind=Nonnegative)
c, w, p = vector("c", n), interior("w", n), simplex("p", n)
B, C, D = vector("B", m, m), vector("C", m, n), vector("D", m, n, kind=Positive)
q, r, S = simplex("q", m), simplex("r", m), simplex("S", m, m)
P, G, T = coupling("P", q, w), coupling("G", u, p), coupling("T", q, r)
R, U = stochastic("R", m, n), stochastic("U", m, m)
N, O = unit("N", m), unit("O", m, m)  # noqa: E741
K, W = vector("K", m, kind=Nonzero), vector("W", n, m, kind=Nonzero)
mu = complementary("mu", q)
E3, Q3, V1 = vector("E3", three), simplex("Q3", three), simplex("V1", sp.S.One)

VECTORS: dict[str, sp.IndexedBase] = {
    str(base.label): base for base in (a, d, b, u, z, c, w, p, B, C, D, q, r, S, P, G, T, R, U, N, O, K, W, mu, E3, Q3, V1)
}
SCALARS: dict[str, Variable] = {str(name): name for name in (x, v, s, y, t, theta)}
SIZES: dict[str, Variable] = {"m": m, "n": n}
INDICES: dict[str, Variable] = {str(name): name for name in (i, j, k, l, o, h, g, e, f, one)}
AXES = {name: str(var.domain.shape[0]) for name, var in INDICES.items()}
APART = {name: tuple(str(other) for other in var.domain.other_than) for name, var in INDICES.items()}

NAMESPACE: dict[str, Any] = {
    **VECTORS,
    **SCALARS,
    **SIZES,
    **INDICES,
    "sp": sp,
    "total": total,
    "delta": delta,
    "derivative": derivative,
    "kl": kl,
    "pinsker": pinsker,
    "xlogx": xlogx,
    "bregman": bregman,
    "plus": plus,
    "Equation": Equation,
    "Differs": Differs,
    "AtLeast": AtLeast,
    "Follows": Follows,
    "Limit": Limit,
    "StrictUnlessEqual": StrictUnlessEqual,
    "UniqueMinimum": UniqueMinimum,
    "UniquePlan": UniquePlan,
    "Expansion": Expansion,
}
