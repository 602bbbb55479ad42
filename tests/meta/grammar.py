"""Random expressions over the whole grammar of the kernel, to hold its answers against certified values.

Notation  m, n sizes; j, l, i indices over 1…m, k one of them with k ≠ j, h an index over 1…n; the base of each vector
          says its domain: q, S on a simplex, P a coupling, R with unit rows, b and y positive, z ≥ 0, the others real
"""

from __future__ import annotations

import random

import sympy as sp

from derivations.calculus.sums import delta, kl, total, xlogx
from derivations.calculus.variables import Kind, coupling, index, interior, positive, scalar, simplex, size, stochastic, vector

m, n = size("m"), size("n")
i, j, l, h = index("i", m), index("j", m), index("l", m), index("h", n)  # noqa: E741
k = index("k", m, other_than=(j,))
a, b, z = vector("a", m), vector("b", m, kind=Kind.POSITIVE), vector("z", m, kind=Kind.NONNEGATIVE)
B, C, c = vector("B", m, m), vector("C", m, n), vector("c", n)
q, w, S = simplex("q", m), interior("w", n), simplex("S", m, m)
P, R = coupling("P", q, w), stochastic("R", m, n)
x, y = scalar("x"), positive("y")
NAMES = [m, n, i, j, l, h, k, x, y, *(base.label for base in (a, b, z, B, C, c, q, w, S, P, R))]


class Grammar:
    """One random expression after another; `depth` bounds the nesting."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def key(self) -> sp.Expr:
        return self.rng.choice([i, j, k, l])

    def real(self, depth: int) -> sp.Expr:
        draw = self.rng.choice
        if depth == 0:
            number = sp.Rational(self.rng.randint(-3, 3), self.rng.randint(1, 2))
            key, other = self.key(), self.key()
            return draw([number, x, m, a[key], c[h], B[key, other], C[key, h], delta(key, other), self.nonnegative(0)])
        inner, second = self.real(depth - 1), self.real(depth - 1)
        return draw([
            inner + second, inner * second, inner**2, sp.log(self.positive(depth - 1)), self.nonnegative(depth - 1) - inner,
            total(draw([j, k, l]), inner), total(h, inner), total((j, k), inner), total((l, h), inner * second),
        ])

    def nonnegative(self, depth: int) -> sp.Expr:
        draw = self.rng.choice
        if depth == 0:
            key, other = self.key(), self.key()
            return draw([q[key], S[key, other], P[key, h], R[key, h], z[key], w[h], self.positive(0)])
        inner, second = self.nonnegative(depth - 1), self.nonnegative(depth - 1)
        return draw([
            inner + second, inner * second, total(draw([j, k, l, h]), inner), self.real(depth - 1) ** 2, sp.sqrt(inner),
            sp.Abs(self.real(depth - 1)), kl(inner, self.positive(depth - 1)), self.positive(depth - 1),
        ])

    def positive(self, depth: int) -> sp.Expr:
        draw = self.rng.choice
        if depth == 0:
            key, other = self.key(), self.key()
            return draw([y, b[key], w[h], sp.Integer(2), n, sp.exp(B[key, other]) / total(l, sp.exp(B[key, l]))])
        inner, second = self.positive(depth - 1), self.positive(depth - 1)
        return draw([
            inner + self.nonnegative(depth - 1), inner * second, total(draw([j, l, h]), inner), 1 / inner,
            sp.exp(self.real(depth - 1)), inner ** draw([sp.Rational(1, 2), -2, 2, x]), 10 + xlogx(self.nonnegative(depth - 1)),
        ])
