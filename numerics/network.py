"""A transport problem in NumPy: plans of least cost, and potentials whose reduced costs are exact.

Notation    as in ``numerics.linear_program``; all masses here are positive, and every row and column has an allowed pair
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ot.lp import emd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from numerics import tolerances

Array = NDArray[Any]

_WHOLE, _PIVOTS = 2.0**52, 10**8
_EPS = tolerances.eps("float64")
_CANCELLED = 2.0**-26
"""A difference that is larger, relatively, keeps half of its digits."""


class Optimum(NamedTuple):
    """P (n, m), potentials f (n,) and g (m,), and ⟨R, P⟩ on the allowed pairs."""

    plan: Array
    row_potential: Array
    column_potential: Array
    gap: float


def transport(C: Array, a: Array, b: Array) -> Optimum:
    """Return an optimal plan between a (n,) and b (m,), which agree but for rounding, at a cost (n, m), +inf where forbidden.

    Where rounding lets no plan keep to the allowed pairs, mass is missing.

    Raises:
        RuntimeError: if the gap does not fall to the rounding of the value.
    """
    A, B = _whole(a), _whole(b)
    allowed, k = np.isfinite(C), min(C.shape)
    R, f, g = _tightened(C, [C.min(1)], [np.zeros_like(b)], 0)
    least, delta, gap = R, float(R[allowed].max()), np.inf
    while True:
        cut = (k + 1) * delta or 1.0
        tree, shifts = _basis(np.minimum(R, cut), A, B, cut)
        i, j = tree.i, tree.j
        f, g = (_distilled([*x, shift]) for x, shift in zip((f, g), shifts, strict=True))
        inside = R[i, j] < cut
        exact = _exact_sum([np.where(inside, C[i, j], cut), *(-x[i] for x in f), *(-x[j] for x in g)])
        left = np.where(inside, exact, cut - shifts[0][i] - shifts[1][j])
        f, g = (_distilled([*x, shift]) for x, shift in zip((f, g), tree.potentials(left), strict=True))
        R, f, g = _tightened(C, f, g, 1)
        used, flow, last = allowed[i, j], tree.flows(a, b), gap
        i, j, flow = i[used], j[used], flow[used]
        gap = float(flow @ R[i, j])
        if gap <= tolerances.rounding("float64", sum(C.shape), float(flow @ least[i, j])):
            break
        if gap > last / 2:
            raise RuntimeError(f"exact_plan: expected a gap down to rounding, got {gap:.3g} times the largest cost")
        delta = float(R[i, j][flow > 0].max())
    plan = np.zeros_like(C)
    plan[i, j] = flow
    return Optimum(plan, _exact_sum(f), _exact_sum(g), gap)


# ── bases ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _whole(mass: Array) -> Array:
    """Return positive whole numbers in proportion to positive masses; their sum is the same for all."""
    whole = np.maximum(np.rint(mass / mass.sum() * _WHOLE), 1.0)
    whole[mass.argmax()] += _WHOLE - whole.sum()
    return np.asarray(whole)


def _basis(cost: Array, a: Array, b: Array, largest: float) -> tuple["_Tree", tuple[Array, Array]]:
    """Return the pairs of an optimal plan, with further ones that cost what the potentials say, and the potentials."""
    unit = 2.0 ** np.ceil(np.log2(largest))  # POT's own numbers are of the size of one
    scaled, (n, m) = cost / unit, cost.shape
    P, log = emd(a, b, scaled, numItermax=_PIVOTS, log=True, center_dual=False)
    if log["warning"] is not None:
        raise RuntimeError(f"exact_plan: {log['warning']}")
    slack = scaled - log["u"][:, None] - log["v"]
    i, j = np.nonzero((slack <= 8 * (n + m) * _EPS) | (P > 0))
    weight = np.where(P[i, j] > 0, 1.0, 2.0 + np.maximum(slack[i, j], 0.0))
    tree = minimum_spanning_tree(coo_array((weight, (i, j + n)), shape=(n + m, n + m))).tocoo()
    return _Tree(tree.row, tree.col - n, (n, m)), (log["u"] * unit, log["v"] * unit)


class _Tree:
    """Pairs (i, j) without a cycle, in rounds: those that end in a leaf, a row or a column that no other pair left has."""

    def __init__(self, i: Array, j: Array, shape: tuple[int, ...]) -> None:
        self.i, self.j, self.shape = i, j, shape
        self.rounds, left = [], np.arange(i.size)
        while left.size:
            alone = [np.bincount(at[left], minlength=size)[at[left]] == 1 for at, size in zip((i, j), shape, strict=True)]
            self.rounds.append((left[alone[0]], left[alone[1] & ~alone[0]]))
            left = left[~alone[0] & ~alone[1]]

    def flows(self, a: Array, b: Array) -> Array:
        """Return what each pair carries, where a and b agree."""
        i, j, flow = self.i, self.j, np.zeros(self.i.size)
        a, b = a.copy(), b.copy()
        for rows, columns in self.rounds:
            flow[rows], flow[columns] = a[i[rows]], b[j[columns]]
            both = np.concatenate([rows, columns])
            a -= np.bincount(i[both], flow[both], a.size)
            b -= np.bincount(j[both], flow[both], b.size)
        return np.maximum(flow, 0.0)

    def potentials(self, cost: Array) -> tuple[Array, Array]:
        """Return f and g with f_i + g_j = cost at every pair."""
        f, g = (np.zeros(size) for size in self.shape)
        for rows, columns in reversed(self.rounds):
            g[self.j[columns]] = cost[columns] - f[self.i[columns]]
            f[self.i[rows]] = cost[rows] - g[self.j[rows]]
        return f, g


# ── sums that are exact ─────────────────────────────────────────────────────────────────────────────────────────────


def _reduced(C: Array, f: Sequence[Array], g: Sequence[Array]) -> Array:
    """Return C_ij − f_i − g_j for potentials that are sums: from the exact sum, where much of it cancels."""
    rows, columns = _exact_sum(f), _exact_sum(g)
    R = C - rows[:, None] - columns
    i, j = np.nonzero(np.abs(R) <= _CANCELLED * (np.abs(rows).max() + np.abs(columns).max()))
    R[i, j] = _exact_sum([C[i, j], *(-x[i] for x in f), *(-x[j] for x in g)])
    return R


def _tightened(C: Array, f: list[Array], g: list[Array], axis: int) -> tuple[Array, list[Array], list[Array]]:
    """Return R ≥ 0 with a zero in every row (``axis`` 1) or column (0), and the potentials: f or g is as large as may be."""
    while (least := (R := _reduced(C, f, g)).min(axis)).any():
        f, g = (_distilled([*f, least]), g) if axis else (f, _distilled([*g, least]))
    return R, f, g


def _exact_sum(terms: Sequence[Array]) -> Array:
    """Return the exact sum, rounded."""
    small, *larger = _passed(terms)
    for term in larger:
        small = small + term
    return small


def _distilled(terms: Sequence[Array]) -> list[Array]:
    """Return numbers with the same sum, the largest last."""
    *small, largest = _passed(terms)
    return [*(x for x in small if x.any()), largest]


def _passed(terms: Sequence[Array]) -> list[Array]:
    """Return the terms after enough passes that add each to the next, whose rounding errors stay behind."""
    terms = list(terms)
    for _ in terms[1:]:
        for k in range(1, len(terms)):
            total = terms[k - 1] + terms[k]
            part = total - terms[k - 1]
            terms[k - 1] = (terms[k - 1] - (total - part)) + (terms[k] - part)
            terms[k] = total
    return terms
