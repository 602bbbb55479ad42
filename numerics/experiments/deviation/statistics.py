"""Eleven statistics, per head and query, of the distance between attention and the solution of its supposed problem.

Attention takes λ_c = αz for the dual solution λ*, hence p_c = tilt(αz) for p* and h_c = Σ p_c,i t_i for ĥ.  As
λ* = α(μ + z − ĥ), the first number below is ‖ĥ − μ‖ / ‖μ + z − ĥ‖: whatever the templates are, it is small wherever z is
large against the distance that the mean can move at all, and a part of z that no difference of templates can see makes it
smaller still.  It also depends on how αz is split: z/c and cα give the same attention.  The other numbers are there to
tell a good approximation from a large z.

``deviation``           ‖λ* − αz‖ / ‖λ*‖, the document's
``visible_deviation``   ‖λ* − αz‖ / ‖Pλ*‖, P projecting on the span of the differences of the templates with u_i > 0, where all
                        of λ* − αz lies
``logit_deviation``     the same ratio for the logits: the standard deviation of ⟨t, λ* − αz⟩ under u over that of ⟨t, λ*⟩;
                        a direction counts by how much templates differ along it
``output_error``        ‖h_c − ĥ‖ / ‖ĥ − μ‖: how much of the shift from the prior's mean is wrong
``total_variation``     ½‖p_c − p*‖₁
``kl``                  KL(p_c ‖ p*)
``kl_reverse``          KL(p* ‖ p_c)
``gap``                 P(p_c) − P(p*) = KL(p_c ‖ p*) + (α/2)‖h_c − ĥ‖², P the objective (4)
``relative_gap``        that over P(u) − P(p*), what the solution gains over the prior
``output_bound``        the certificate's bound on ``output_error``, known without solving (``BOUNDS`` names the claims)
``total_variation_bound``  the certificate's bound on ``total_variation``

Claims      deciphering.18, deciphering.fig4, deciphering.fig5, deciphering.fig6, deciphering.fig7, deciphering.fig8
Shapes      templates (n, d), evidence (R, d), prior (R, n); float64
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import mem, tolerances

STATISTICS = (
    "deviation",
    "visible_deviation",
    "logit_deviation",
    "output_error",
    "total_variation",
    "kl",
    "kl_reverse",
    "gap",
    "relative_gap",
    "output_bound",
    "total_variation_bound",
)
"""Names of the numbers above."""

BOUNDS = {
    "output_bound": mem.Certificate.CLAIMS["mean_error"],
    "total_variation_bound": mem.Certificate.CLAIMS["weights_error"],
}
"""The claims that prove the bounds among them."""

CONTEXT = ("evidence_norm", "visible_evidence_norm", "dual_norm", "shift_norm", "uncertainty")
"""Beside them: ‖z‖, ‖Pz‖, ‖λ*‖, ‖ĥ − μ‖, and the solver's bound on its error in ĥ over ‖ĥ − μ‖."""


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the differences of templates, in a basis in which that of every support is a leading part.

    Attributes:
        basis: orthonormal columns, (d, r).
        supports: boolean, (s, n), each a subset of the next.
        ranks: how many of the columns span the differences within each support, int64, (s,).
    """

    basis: Tensor
    supports: Tensor
    ranks: Tensor


def spans(templates: Tensor, supports: Tensor, resolution: float) -> list[Span]:
    """Return spans that together cover all supports: a single one where these are nested, as without a mask or causally.

    Args:
        templates: (n, d).
        supports: boolean, (s, n), all different.
        resolution: a difference that sticks out of the span of those before it by less adds no dimension.
    """
    order = supports.sum(-1).argsort(stable=True)
    ordered = supports[order]
    ordered = ordered[ordered.any(-1)]
    if len(ordered) == 0:
        return []
    nested = bool((ordered[:-1] <= ordered[1:]).all())
    return [_span(templates, chain, resolution) for chain in ([ordered] if nested else ordered.unsqueeze(1))]


def _span(templates: Tensor, chain: Tensor, resolution: float) -> Span:
    """Gram and Schmidt, twice over, from the templates of the smallest support to those of the largest."""
    arrival = torch.where(chain, 0, 1).sum(0)  # in how many supports each template is missing
    arrival = torch.where(chain[-1], arrival, len(chain))
    order = arrival.argsort(stable=True)[: int(chain[-1].sum())]
    differences = templates[order[1:]] - templates[order[0]]
    basis = templates.new_zeros(min(len(differences), templates.shape[1]), templates.shape[1])
    rank, ranks = 0, [0]
    for difference in differences:
        if rank < len(basis):
            left = difference
            for _ in range(2):
                left = left - (basis[:rank] @ left) @ basis[:rank]
            length = left.norm()
            if length > resolution:
                basis[rank] = left / length
                rank += 1
        ranks.append(rank)
    after = torch.tensor(ranks, device=chain.device)
    return Span(basis[:rank].T, chain, after[chain.sum(-1) - 1])


@dataclass(frozen=True, eq=False)
class Measured:
    """The numbers of some rows.

    Attributes:
        rows: which of the rows given, int64, (r,).
        values: ``STATISTICS`` and ``CONTEXT``, each (r,), float64.
        templates: with u_i > 0, int64, (r,).
        masked: how many rows had no template.
        undecided: how many rows had nothing to estimate: all templates alike, or no evidence that tells them apart.
        uncertified: how many rows the solver did not certify.
    """

    rows: Tensor
    values: dict[str, Tensor]
    templates: Tensor
    masked: int
    undecided: int
    uncertified: int


def measure(templates: Tensor, evidence: Tensor, prior: Tensor, alpha: float, basis_spans: list[Span]) -> Measured:
    """Return the numbers of every row that has something to estimate.

    Args:
        templates: t, (n, d).
        evidence: z, (R, d).
        prior: u, (R, n); each row sums to one, or is zero throughout where all is masked.
        alpha: α > 0.
        basis_spans: what ``spans`` returned for supports among which are those of all rows.
    """
    support = prior > 0
    live = support.any(-1)
    parts = []
    for span in basis_spans:
        of_span = live if len(basis_spans) == 1 else (support == span.supports[0]).all(-1)
        rows = of_span.nonzero()[:, 0]
        if len(rows):
            parts.append(_within(templates, evidence, prior, alpha, span, rows))
    empty = evidence.new_zeros(0, dtype=torch.int64)
    names = STATISTICS + CONTEXT
    return Measured(
        torch.cat([empty, *(part.rows for part in parts)]),
        {name: torch.cat([evidence.new_zeros(0), *(part.values[name] for part in parts)]) for name in names},
        torch.cat([empty, *(part.templates for part in parts)]),
        int((~live).sum()),
        sum(part.undecided for part in parts),
        sum(part.uncertified for part in parts),
    )


def _within(templates: Tensor, evidence: Tensor, prior: Tensor, alpha: float, span: Span, rows: Tensor) -> Measured:
    """The rows of one span, solved in its basis; in the orthogonal complement λ* = αz."""
    z, u = evidence[rows], prior[rows]
    counts = (u > 0).sum(-1)
    sizes = span.supports.sum(-1)
    rank = span.ranks[torch.searchsorted(sizes, counts)]
    inner = z @ span.basis
    visible = torch.arange(inner.shape[1], device=z.device) < rank.unsqueeze(-1)
    seen = torch.where(visible, inner, 0.0).norm(dim=-1)
    decided = seen > 0
    undecided = int((~decided).sum())
    rows, z, u, counts, inner, visible, seen = (x[decided] for x in (rows, z, u, counts, inner, visible, seen))
    if len(rows) == 0:
        return Measured(rows, {name: z.new_zeros(0) for name in STATISTICS + CONTEXT}, counts, 0, undecided, 0)
    # Only differences count: from a template of the span they are exact where templates are alike.
    t = (templates - templates[span.supports[0].nonzero()[0, 0]]) @ span.basis
    outside = (z - inner @ span.basis.T).norm(dim=-1)
    values, certain = _compare(t, inner, u, alpha, outside, visible)
    values |= {"evidence_norm": z.norm(dim=-1), "visible_evidence_norm": seen}
    uncertified = int((~certain).sum())
    return Measured(
        rows[certain], {name: value[certain] for name, value in values.items()}, counts[certain], 0, undecided, uncertified
    )


def _compare(
    t: Tensor, z: Tensor, u: Tensor, alpha: float, outside: Tensor, visible: Tensor
) -> tuple[dict[str, Tensor], Tensor]:
    solution, close = mem.solve(t, z, u, alpha, tolerance=tolerances.DUAL_ASKED), mem.certificate(t, z, u, alpha)
    log_u = u.log()
    exact, first = ((log_u + x @ t.T).log_softmax(-1) for x in (solution.dual, alpha * z))
    miss = solution.dual - alpha * z
    distance = miss.norm(dim=-1)
    dual_norm = (solution.dual.square().sum(-1) + (alpha * outside).square()).sqrt()
    shift = (solution.mean - u @ t).norm(dim=-1)
    error = (close.mean - solution.mean).norm(dim=-1)
    kl, kl_reverse = divergence(first, exact), divergence(exact, first)
    gap = kl + alpha / 2 * error.square()
    gain = divergence(log_u, exact) + alpha / 2 * shift.square()
    values = {
        "deviation": distance / dual_norm,
        "visible_deviation": distance / torch.where(visible, solution.dual, 0.0).norm(dim=-1),
        "logit_deviation": _spread(miss, t, u) / _spread(solution.dual, t, u),
        "output_error": error / shift,
        "total_variation": (close.weights - solution.weights).abs().sum(-1) / 2,
        "kl": kl,
        "kl_reverse": kl_reverse,
        "gap": gap,
        "relative_gap": gap / gain,
        "output_bound": close.mean_error / shift,
        "total_variation_bound": close.weights_error / 2,
        "dual_norm": dual_norm,
        "shift_norm": shift,
        "uncertainty": solution.mean_error / shift,
    }
    return values, solution.error <= tolerances.DUAL_CERTIFIED * (1 + solution.dual.norm(dim=-1))


def divergence(log_p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p ‖ q) for logarithms (..., n) of probabilities, as a sum of terms p log(p/q) − p + q, none of them negative."""
    p, q = log_p.exp(), log_q.exp()
    ratio = torch.where(p > 0, log_q - log_p, 0.0)
    near = ratio.clamp(-1, 1)
    terms = torch.where(ratio == near, p * (near.expm1() - near), q - p - p * ratio)
    return torch.where(p > 0, terms, q).clamp(min=0).sum(-1)


def _spread(vectors: Tensor, t: Tensor, u: Tensor) -> Tensor:
    """The standard deviation of ⟨t, v⟩ under u, (R,)."""
    logits = vectors @ t.T
    centred = logits - (u * logits).sum(-1, keepdim=True)
    return (u * centred.square()).sum(-1).sqrt()
