"""How far the printed closed form is from the solution it approximates: rigorous bounds from one extra attention pass.

``Certificate.CLAIMS`` names the claims that prove each bound; `python -m derivations show ID` shows their derivations.

The closed form takes λ_c = αz for the dual solution λ*. What it misses is a = ĥ_c − μ, the distance that its mean has moved
from the prior's: ∇D(αz) = μ + z − z − ĥ_c = −a.

Claims      deciphering.15, deciphering.16, deciphering.18, beyond.query-bound, beyond.weights-bound, beyond.objective-bound
Notation    as in ``closed_forms``; p_c = tilt(αz); ĥ_c = Σ_i p_c,i t_i; x = ĥ* − μ; y = ĥ_c − ĥ*; a = x + y;
            L ≥ ‖Cov_λ‖ for every λ; κ = αL. L = R² for a ball of radius R that holds all templates with u_i > 0: the variance
            of ⟨v, t⟩ is at most R² for ‖v‖ = 1. Here the ball is about μ.
Bounds      λ* = α(μ + z − ĥ*) = λ_c − αx.                                                                      (1)
            ∇log M is monotone, and 1/L-cocoercive as the gradient of a convex function with Hessian ≤ L, so by (1)
            α⟨x, y⟩ = ⟨λ_c − λ*, ĥ_c − ĥ*⟩ ≥ ‖y‖²/L, that is ‖y‖² ≤ κ⟨y, a − y⟩.                               (2)
            ‖y‖ ≤ κ/(1 + κ) ‖a‖, by Cauchy and Schwarz, and ‖x‖ ≥ ‖a‖ − ‖y‖ ≥ ‖a‖/(1 + κ).                      (3)
            ⟨x, a − x⟩ ≥ 0: ĥ* is in the ball that has μ and ĥ_c for poles, so ‖x‖ ≤ ‖a‖.                        (4)
            With (1): α‖a‖/(1 + κ) ≤ ‖λ_c − λ*‖ ≤ α‖a‖.                                                         (5)
            KL(p_c ‖ p*) + KL(p* ‖ p_c) = ⟨λ_c − λ*, ĥ_c − ĥ*⟩ = α⟨x, y⟩ ≤ α(‖a‖‖y‖ − ‖y‖²), which is at most
            α‖a‖²/4, and α‖a‖² κ/(1 + κ)² if κ ≤ 1, by (3).                                                      (6)
            ‖p_c − p*‖₁² ≤ KL(p_c ‖ p*) + KL(p* ‖ p_c), Pinsker's inequality twice.                              (7)
            By what is known before the pass, as D²/4 ≤ R² for the diameter D of the templates (``beyond.query-bound``,
            ``beyond.weights-bound``, ``beyond.objective-bound``; (3) is never worse than ``beyond.output-bound``):
            ‖λ_c − λ*‖ ≤ α‖z‖ κ/(1 + κ), the sum (6) is ≤ α‖z‖² κ³/(1 + κ)², and
            P(p_c) − P(p*) ≤ (α/2)‖z‖² κ³/(1 + κ), P the objective (4); it is also ≤ (α/2)‖a‖².                  (8)
            Logits ⟨t_i − t_j, λ⟩ change by at most ω = 2R‖λ_c − λ*‖, so ‖p_c − p*‖₁ ≤ 2 tanh(ω/4).                (9)
Tight       Two templates ±r with u = (½, ½), for which L = r²: as z → 0, both sides of (3) and the left side of (5) become
            equalities, and those of (8), for every κ (``beyond.output-attained``, ``beyond.objective-attained``); the right
            side of (5) as κ → 0.
Rounding    The bounds hold in exact arithmetic. What is computed is off by the rounding of ĥ_c − μ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from numerics import one_sided
from numerics.arguments import result_dtype, without_autocast
from numerics.mem.arguments import Alpha, check, mean, positive, products, weighted


@dataclass(frozen=True, eq=False)
class Certificate:
    """The closed form (18), and certified bounds of its distance to the solution of (4).

    Attributes:
        mean: ĥ_c, (..., d).
        weights: p_c, (..., n).
        shift: ‖a‖ = ‖ĥ_c − μ‖, (...).
        dual_error: a bound on ‖αz − λ*‖, (...).
        dual_distance: a lower bound on ‖αz − λ*‖, (...): the closed form is at least so far off.
        mean_error: a bound on ‖ĥ_c − ĥ*‖, (...).
        divergence: a bound on KL(p_c ‖ p*) + KL(p* ‖ p_c), (...).
        weights_error: a bound on ‖p_c − p*‖₁, (...).
        excess: a bound on P(p_c) − P(p*), P the objective (4), (...).
    """

    CLAIMS: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {
            "dual_error": ("beyond.pass-certificate", "beyond.query-bound"),
            "dual_distance": ("deciphering.s6.one-pass-dual", "beyond.cocoercive-pass"),
            "mean_error": ("deciphering.s6.one-pass-mean", "beyond.cocoercive-pass"),
            "divergence": ("beyond.pass-certificate", "beyond.weights-bound"),
            "weights_error": ("beyond.jeffreys", "beyond.stability"),
            "excess": ("deciphering.s6.one-pass-bound", "beyond.objective-bound"),
        }
    )
    """The claims that prove each bound, by attribute."""

    mean: Tensor
    weights: Tensor
    shift: Tensor
    dual_error: Tensor
    dual_distance: Tensor
    mean_error: Tensor
    divergence: Tensor
    weights_error: Tensor
    excess: Tensor


@without_autocast
def certificate(
    templates: Tensor, evidence: Tensor, prior: Tensor | None = None, alpha: Alpha = 1.0, mask: Tensor | None = None
) -> Certificate:
    """Return the closed form with bounds on its error, without solving (``deciphering.18``).

    Args:
        templates, evidence, prior, alpha, mask: as for ``closed_forms.dual_objective``.

    Returns:
        The certificate, in the widest dtype of the tensors; zeros where a row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    dtype = check(templates, prior, mask, evidence=evidence)
    x = weighted(templates, prior, mask, dtype)
    z = evidence.to(dtype)
    alpha_ = positive(alpha, z)
    # Only differences of templates count; those from their own mean are rounded least.
    middle = x.templates.mean(-2)
    t = x.templates - middle.unsqueeze(-2)
    weights = one_sided.plan(products(t, alpha_ * z) + x.log_prior)
    mu = mean(x.prior, t)
    shift = mean(weights - x.prior, t).norm(dim=-1)
    squares = t.square().sum(-1) - 2 * products(t, mu) + mu.square().sum(-1, keepdim=True)
    largest = torch.where(x.prior > 0, squares, 0.0).amax(-1).clamp(min=0)
    a = alpha_.squeeze(-1)
    kappa = a * largest
    share = kappa / (1 + kappa)
    known = z.norm(dim=-1) * share  # of ‖ĥ* − μ‖, before the pass
    dual_error = a * torch.minimum(shift, known)
    divergence = a * shift.square() * torch.where(kappa < 1, share * (1 - share), 0.25)
    divergence = torch.minimum(divergence, a * kappa * known.square())
    omega = 2 * _root(largest) * dual_error
    out = result_dtype(templates, evidence, prior)
    estimate = mean(weights, t) + torch.where(x.live, middle, 0.0)
    result = Certificate(
        mean=estimate,
        weights=weights,
        shift=shift,
        dual_error=dual_error,
        dual_distance=a * shift * (1 - share),
        mean_error=shift * share,
        divergence=divergence,
        weights_error=torch.minimum(_root(divergence), 2 * torch.tanh(omega / 4)),
        excess=a / 2 * torch.minimum(shift.square(), kappa * (1 + kappa) * known.square()),
    )
    return Certificate(**{name: value.to(out) for name, value in vars(result).items()})


def _root(x: Tensor) -> Tensor:
    """Return √x, with the derivative 0 where x is 0."""
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, 1.0).sqrt(), x)
