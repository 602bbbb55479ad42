"""Random expressions over the grammar of the kernel, which compare its answers with certified values.

Notation  m, n sizes; j, l, i indices over 1…m, k one of them with k ≠ j, h an index over 1…n; the base of each vector
          says its domain: q, S on a simplex, P a coupling, R with unit rows, b and y positive, z ≥ 0, the others real
"""

import random
from collections.abc import Callable

import sympy as sp

from derivations.calculus.functions import kl, xlogx
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import coupling, index, interior, positive, scalar, simplex, size, stochastic, vector
from derivations.domains import Nonnegative, Positive

m, n = size("m"), size("n")
i, j, l, h = index("i", m), index("j", m), index("l", m), index("h", n)  # noqa: E741
k = index("k", m, other_than=(j,))
a, b, z = vector("a", m), vector("b", m, kind=Positive), vector("z", m, kind=Nonnegative)
B, C, c = vector("B", m, m), vector("C", m, n), vector("c", n)
q, w, S = simplex("q", m), interior("w", n), simplex("S", m, m)
P, R = coupling("P", q, w), stochastic("R", m, n)
x, y = scalar("x"), positive("y")
NAMES = [m, n, i, j, l, h, k, x, y, *(base.label for base in (a, b, z, B, C, c, q, w, S, P, R))]


class Grammar:
    """One random expression after another; `depth` bounds the nesting."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def one_of(self, *makers: Callable[[], sp.Expr]) -> sp.Expr:
        return self.rng.choice(makers)()

    def key(self) -> sp.Expr:
        return self.rng.choice([i, j, k, l])

    def real(self, depth: int) -> sp.Expr:
        if depth == 0:
            return self.one_of(
                lambda: sp.Rational(self.rng.randint(-3, 3), self.rng.randint(1, 2)),
                lambda: x,
                lambda: m,
                lambda: a[self.key()],
                lambda: c[h],
                lambda: B[self.key(), self.key()],
                lambda: C[self.key(), h],
                lambda: delta(self.key(), self.key()),
                lambda: self.nonnegative(0),
            )
        inner = self.real(depth - 1)
        return self.one_of(
            lambda: inner + self.real(depth - 1),
            lambda: inner * self.real(depth - 1),
            lambda: inner**2,
            lambda: total(self.rng.choice([j, k, l]), inner),
            lambda: total(h, inner),
            lambda: total((j, k), inner),
            lambda: total((l, h), inner * self.real(depth - 1)),
            lambda: self.nonnegative(depth - 1) - inner,
            lambda: sp.log(self.positive(depth - 1)),
        )

    def nonnegative(self, depth: int) -> sp.Expr:
        if depth == 0:
            return self.one_of(
                lambda: q[self.key()],
                lambda: S[self.key(), self.key()],
                lambda: P[self.key(), h],
                lambda: R[self.key(), h],
                lambda: z[self.key()],
                lambda: w[h],
                lambda: self.positive(0),
            )
        inner = self.nonnegative(depth - 1)
        return self.one_of(
            lambda: inner + self.nonnegative(depth - 1),
            lambda: inner * self.nonnegative(depth - 1),
            lambda: sp.sqrt(inner),
            lambda: total(self.rng.choice([j, k, l, h]), inner),
            lambda: self.real(depth - 1) ** 2,
            lambda: sp.Abs(self.real(depth - 1)),
            lambda: kl(inner, self.positive(depth - 1)),
            lambda: self.positive(depth - 1),
        )

    def positive(self, depth: int) -> sp.Expr:
        if depth == 0:
            return self.one_of(lambda: y, lambda: b[self.key()], lambda: w[h], lambda: n, lambda: sp.Integer(2), self.weight)
        inner = self.positive(depth - 1)
        return self.one_of(
            lambda: inner + self.nonnegative(depth - 1),
            lambda: inner * self.positive(depth - 1),
            lambda: 1 / inner,
            lambda: total(self.rng.choice([j, l, h]), inner),
            lambda: sp.exp(self.real(depth - 1)),
            lambda: inner ** self.rng.choice([sp.Rational(1, 2), -2, 2, x]),
            lambda: 10 + xlogx(self.nonnegative(depth - 1)),
        )

    def weight(self) -> sp.Expr:
        key = self.key()
        return sp.exp(B[key, self.key()]) / total(l, sp.exp(B[key, l]))
