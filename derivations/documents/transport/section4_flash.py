"""Section 4, FlashAttention: tiles, the running peak, and what Sinkhorn has to do with them.

Claims     transport.s4.flash-tiles        A_j = (Z_T/Σ_T' Z_T') (exp(s_j)/Z_T) for j in the tile T
           transport.s4.flash-online       streamed output = output, for any tiles and peaks  (corrected)
           transport.s4.shift-invariance   softmax(S − o) = softmax(S), whatever number o_i is taken off row i
Notation   one query; two tiles of t1 and t2 keys with scores x and y and values X and Y (several tiles: one after the other);
           xm, ym, xym the peaks that are taken off in a tile and in both, and o_i off row i, any numbers; Z = Σ exp
References the list on FlashAttention in section 4 of the document; Dao, Fu, Ermon, Rudra and Ré (2022)
"""

import sympy as sp

from derivations.documents.transport.notation import S, i, j, l, m, n, softmax
from derivations.documents.transport.section3_sinkhorn import one_iteration
from derivations.vocabulary import *

t1, t2 = size("t1"), size("t2")
p, q = index("p", t1), index("q", t2)
first = index("a", t1)
x, y, X, Y = vector("x", t1), vector("y", t2), vector("X", t1), vector("Y", t2)
xm, ym, xym = scalar("xm"), scalar("ym"), scalar("xym")
shift = vector("o", n)


@claim(
    "transport.s4.flash-efficiency",
    "empirical",
    title="IO-aware tiles save memory",
    latex=r"\text{memory of tiles} < \text{memory of } n\times m\text{ weights}",
)
def flash_efficiency() -> None:
    """FlashAttention is said to be efficient as it minds what is read and written; memory is measured, time on a GPU not."""


# ── tiles ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def mass(scores: sp.IndexedBase, over: Variable, peak: sp.Expr) -> sp.Expr:
    """Σ exp(score − peak) over a tile."""
    return total(over, sp.exp(scores[over] - peak))


def weighted(scores: sp.IndexedBase, values: sp.IndexedBase, over: Variable, peak: sp.Expr) -> sp.Expr:
    """Σ exp(score − peak) value over a tile."""
    return total(over, sp.exp(scores[over] - peak) * values[over])


whole = mass(x, p, sp.S.Zero) + mass(y, q, sp.S.Zero)


def of_first_tile(share: sp.Expr) -> Equation:
    """The weight of a key in the first tile against its local weight times a share of the tile."""
    local = sp.exp(x[first]) / mass(x, p, sp.S.Zero)
    return Equation(sp.exp(x[first]) / whole, share * local, reason="A_j = (Z_1/Z) · A_j within the tile")


@claim(
    "transport.s4.flash-tiles",
    "identity",
    title="Local plans and one global normalization",
    needs=("transport.lem1",),
    latex=r"A_j=\frac{Z_1}{Z_1+Z_2}\cdot\frac{e^{x_j}}{Z_1}",
)
def flash_tiles() -> Steps:
    """Each tile solves its own problem, and the shares of the tiles put the plans together."""
    yield Equation(
        total(p, sp.exp(x[p]) / mass(x, p, sp.S.Zero)),
        1,
        reason="the tile's own plan is the softmax of its scores",
        about=(x[p],),
    )
    yield of_first_tile(mass(x, p, sp.S.Zero) / whole)


flash_tiles.twin("equal shares", lambda: of_first_tile(sp.S.Half))
flash_tiles.twin("by the number of keys", lambda: of_first_tile(t1 / (t1 + t2)))
flash_tiles.twin("no normalization", lambda: of_first_tile(sp.S.One))


# ── online ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def streamed(rescale: bool = True) -> sp.Expr:
    """The output from the tiles' sums, each over its own peak, rescaled to a common one."""
    left, right = (sp.exp(xm - xym), sp.exp(ym - xym)) if rescale else (sp.S.One, sp.S.One)
    above = left * weighted(x, X, p, xm) + right * weighted(y, Y, q, ym)
    return above / (left * mass(x, p, xm) + right * mass(y, q, ym))


def at_once() -> sp.Expr:
    """The output from all keys."""
    return (weighted(x, X, p, sp.S.Zero) + weighted(y, Y, q, sp.S.Zero)) / whole


SIMPLE: dict[Variable, Value] = {t1: 1, t2: 1, x.label: [0], y.label: [0], X.label: [0], Y.label: [1], xm: 0, ym: 0, xym: 0}


@claim(
    "transport.s4.flash-online",
    "identity",
    title="The online algorithm approximates by streaming",
    latex=r"|o_{\text{streamed}}-o|>0",
    needs=("transport.s4.flash-tiles",),
)
def flash_online() -> Steps:
    """What is computed tile by tile is called a streaming approximation of the transport problem."""
    yield Fails(
        AtLeast(sp.Abs(streamed() - at_once()), 0, strict=True, at=SIMPLE), reason="½ either way: nothing is approximated"
    )


def is_exact(right: sp.Expr) -> Equation:
    """The streamed output against another."""
    return Equation(streamed(), right, reason="the peaks cancel, whatever they are; so tiles may come in any order")


@flash_online.corrected(r"o_{\text{streamed}}=o", Severity.WORDING, replaces="the difference that an approximation would have")
def flash_exact() -> Steps:
    """Streaming is exact: tiles in any number and order, with any peaks taken off, give the output of all keys at once."""
    yield Equation(
        sp.exp(xm - xym) * mass(x, p, xm) + sp.exp(ym - xym) * mass(y, q, ym),
        sp.exp(-xym) * whole,
        reason="sums over disjoint sets of keys add up, over any common peak",
    )
    yield is_exact(at_once())


flash_online.twin("peaks not reconciled", lambda: is_exact(streamed(rescale=False)))
flash_online.twin(
    "the mean of the tiles' outputs",
    lambda: is_exact(weighted(x, X, p, xm) / mass(x, p, xm) / 2 + weighted(y, Y, q, ym) / mass(y, q, ym) / 2),
)


# ── stability ───────────────────────────────────────────────────────────────────────────────────────────────────────


def stabilized(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """softmax(S − c) with any number c_i taken off each row."""
    return softmax(lambda a, b: S[a, b] - shift[a], sp.S.One)(query, key)


weights = softmax(S, sp.S.One)


def unchanged(right: sp.Expr) -> Equation:
    """The stabilized weights against others."""
    return Equation(stabilized(i, j), right, reason="e^{−c_i} cancels: a constant in a row potential, which no plan sees")


@claim(
    "transport.s4.flash-stability",
    "equivalence",
    title="Numerical stability as the meaning of an outer iteration",
    latex=r"\text{numerical stability}=\text{physical meaning of Sinkhorn's outer iteration}",
    needs=("transport.s4.shift-invariance",),
)
def flash_stability() -> Undecidable:
    """Numerical stability is said to be the physical meaning of an outer iteration of Sinkhorn's algorithm."""
    return Undecidable(
        "a meaning has no truth value.  A stabilized Sinkhorn absorbs scalings into potentials in an outer "
        "loop, as a running peak is taken off here, and neither changes the plan "
        "(transport.s4.shift-invariance); a further iteration in the usual sense does"
    )


@claim(
    "transport.s4.shift-invariance",
    "identity",
    title="Addition: taking off the peak leaves the weights",
    latex=r"\mathrm{softmax}(S-c\mathbf 1^\top)=\mathrm{softmax}(S)\ \text{for every } c",
    needs=("transport.lem1",),
)
def shift_invariance() -> Steps:
    """Taking off the running peak is free, as absorbing scalings in a stabilized Sinkhorn is: the weights do not see it."""
    yield Equation(
        sp.log(total(l, sp.exp(S[i, l] - shift[i]))) + shift[i],
        sp.log(total(l, sp.exp(S[i, l]))),
        reason="and the log-sum-exp gets the peak back",
    )
    yield Fails(
        Equation(stabilized(i, j), one_iteration(i, j), at={n: 1, m: 2, S.label: [[0, 1]], shift.label: [1], i: 1, j: 1}),
        reason="a further iteration, rows and columns, is another thing: it changes the plan towards both marginals",
    )
    yield unchanged(weights(i, j))


shift_invariance.twin("the mass changes", lambda: unchanged(sp.exp(-shift[i]) * weights(i, j)))
shift_invariance.twin("the scores are halved", lambda: unchanged(softmax(S, sp.Integer(2))(i, j)))
