"""The exact solution of (24) through its dual, and how far the closed form (25) is from it.

Claims      deciphering.24, deciphering.34, deciphering.39, and the approximation λ* ≈ αz behind deciphering.25;
            deciphering.s9.one-pass-bound, beyond.ot-mean-smooth, beyond.ot-query-bound
Notation    λ = dual, h(λ) = Σ_i p_i t_i for p = ∇W*_γ(Tλ), h* = h(λ*); ∇D(λ) = μ̃ + z − λ/α − h(λ), the residual
Dual        D(λ) = ⟨μ̃ + z, λ⟩ − ‖λ‖²/2α − W*_γ(Tλ; u, M) is 1/α-strongly concave, so ‖λ − λ*‖ ≤ α‖∇D(λ)‖. Any λ gives the
            coupling X_ij = u_j softmax_i((⟨t_i, λ⟩ − M_ij)/γ), feasible for (24), and there the primal objective exceeds
            D(λ) by exactly α/2 ‖∇D(λ)‖²: the certificate is the residual, and needs no second computation.
Bounds      What column j may reach has diameter 2ρ_j. A variable in an interval of length s has a variance ≤ s²/4
            (Popoviciu), so ∇²_λ W*_γ(Tλ) = (1/γ) Σ_j u_j Cov_j ≤ L/γ, L = Σ_j u_j ρ_j², at every λ. With e = λ − λ*,
            δ = h(λ) − h*, r = −∇D(λ):  e/α + δ = r, and ⟨e, δ⟩ ≥ (γ/L)‖δ‖² because ∇W* is co-coercive. Hence
                ‖e‖ ≤ α‖r‖,    ‖δ‖ ≤ ‖r‖ αL/(αL + γ),    ‖p − p*‖₁ ≤ Σ_j u_j 2 tanh(ρ_j α‖r‖ / 2γ),
            the last because log-ratios that spread over an interval of length s leave a total variation ≤ tanh(s/4).
            At λ = αz, r = h(αz) − μ̃: one pass. Also ‖e‖ ≥ α‖r‖/(1 + αL/γ). There, before any pass, ‖e‖ ≤ α‖z‖ αL/(αL + γ):
            ``beyond.ot-query-bound``, in which L ≤ D²/4 is the same for every cost. ``ApproximationBound.CLAIMS`` names
            the claims that prove each bound.
Solver      Newton's method, damped, for ν = λ/α in (1) ν + h(αν) − μ̃ = z: the same equation in units of length. Where there
            is little entropy, it follows the solution from more of it. A solution is differentiated by two more steps of
            Newton's method from where it stands: each squares the error, so derivatives up to the third are exact.
Dtypes      All here is computed in float64, a certificate being worth no more than its digits, and returned in the dtype of
            the inputs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from numerics import arguments, tolerances
from numerics.arguments import Positive, without_autocast
from numerics.line_search import backtrack
from numerics.ot_attention.problem import Problem, problem
from numerics.ot_attention.transport import covariance, mean, project, resolve
from numerics.solvers import INITIAL_TILT, RATE, ROUGH_TOLERANCE, check_converged

_DIRECT = "donot_use_mm_for_euclid_dist"


@dataclass(frozen=True)
class Solution:
    """The solution of (24) and how far from optimal it can be. ``gap`` and what follows carry no derivatives.

    Attributes:
        dual: λ, (..., d).
        weights: p, (..., N).
        mean: Σ_i p_i t_i, (..., d).
        residual: ‖∇D(λ)‖, (...).
        gap: the primal objective at p less the dual one at λ, α/2 ‖∇D‖², (...).
        distance: a bound on ‖λ − λ*‖, α‖∇D‖, (...).
        certified: whether the residual is down to rounding, boolean, (...).
    """

    dual: Tensor
    weights: Tensor
    mean: Tensor
    residual: Tensor
    gap: Tensor
    distance: Tensor
    certified: Tensor


@dataclass(frozen=True)
class ApproximationBound:
    """Bounds of the distances between the quantities at a λ and at the λ* that maximizes the dual of (24).

    Attributes:
        dual: of ‖λ − λ*‖, (...).
        mean: of ‖h(λ) − h*‖, (...).
        weights: of ‖p(λ) − p*‖₁, (...), at most 2.
    """

    CLAIMS: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {
            "dual": ("deciphering.s9.one-pass-bound", "beyond.ot-query-bound"),
            "mean": ("beyond.ot-mean-smooth",),
            "weights": ("beyond.stability",),
        }
    )
    """The claims that prove each bound, by attribute."""

    dual: Tensor
    mean: Tensor
    weights: Tensor


@without_autocast
def solve(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor,
    cost: Tensor,
    alpha: Positive = 1.0,
    temperature: Positive = 1.0,
    *,
    max_steps: int = 200,
    strict: bool = True,
) -> Solution:
    """Solve (24), min over p of α/2 ‖μ̃ + z − Σ_i p_i t_i‖² + W_γ(p, u; M), with a certificate.

    Differentiable twice in every tensor, also under ``torch.func`` (but for ``vmap``: the batch is what it is for).

    Args:
        templates: t, floating, (..., N, d).
        evidence: z, floating, (..., d).
        prior: u, floating, (..., n), nonnegative. It may sum to anything.
        cost: M, floating, (..., N, n), +inf where forbidden, not throughout a column that holds prior.
        alpha: positive; a number, or a tensor that broadcasts over (...).
        temperature: γ, as ``alpha``.
        max_steps: of Newton's method, ≥ 1.
        strict: whether a problem without a certified solution is an error. Otherwise ``certified`` says which they are.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        RuntimeError: if ``strict``, and a problem was not solved, or has data that are not finite.
    """
    arguments.check_count("max_steps", max_steps)
    data = problem(templates, evidence, prior, cost, alpha, temperature, double=True)
    centred = _centre(data)
    fixed = _Centred(*(x.detach() for x in centred))
    nu = refined = _newton(fixed, max_steps)
    for _ in range(2):
        point = _evaluate(centred, refined)
        refined = refined + resolve(point.sigma, centred.ratio, point.residual)
    nearer = _length(_evaluate(fixed, refined.detach()).residual) < _length(_evaluate(fixed, nu).residual)
    nu = torch.where(nearer.unsqueeze(-1), refined.detach(), nu)
    point = _evaluate(centred, nu + (refined - refined.detach()))

    residual = _length(point.residual.detach())
    certified = residual <= _acceptable(fixed, nu)
    if strict:
        check_converged("solve", certified, residual, max_steps, "‖∇D‖")
    dtype = data.dtype
    return Solution(
        dual=(centred.alpha[..., None] * (nu + (refined - refined.detach()))).to(dtype),
        weights=point.weights.to(dtype),
        mean=(centred.preferred + point.shift).to(dtype),
        residual=residual.to(dtype),
        gap=(fixed.alpha / 2 * residual**2).to(dtype),
        distance=(fixed.alpha * residual).to(dtype),
        certified=certified,
    )


@without_autocast
def approximation_bound(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor,
    cost: Tensor,
    alpha: Positive = 1.0,
    temperature: Positive = 1.0,
    dual: Tensor | None = None,
) -> ApproximationBound:
    """Bound how far (25) is from the exact solution of (24), without solving it: one more pass than (25) itself.

    Args:
        templates: t, floating, (..., N, d).
        evidence: z, floating, (..., d).
        prior: u, floating, (..., n), nonnegative. It may sum to anything.
        cost: M, floating, (..., N, n), +inf where forbidden.
        alpha: positive; a number, or a tensor that broadcasts over (...).
        temperature: γ, as ``alpha``.
        dual: λ, floating, (..., d): what to measure from λ*; by default αz, as in (25).

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    x = problem(templates, evidence, prior, cost, alpha, temperature, double=True)
    centred = _centre(x)
    nu = x.evidence
    if dual is not None:
        (lam,), _ = arguments.tensors(dual=(dual, 1))
        if lam.shape[-1] != x.evidence.shape[-1]:
            raise ValueError(f"dual: expected (..., {x.evidence.shape[-1]}), got {tuple(lam.shape)}")
        nu = lam.to(nu) / x.alpha[..., None]
    residual = _length(_evaluate(centred, nu).residual)
    rho = _half_diameters(x.templates, x.cost)
    curvature = x.alpha * (x.prior * rho**2).sum(-1)
    distance = x.alpha * residual
    if dual is None:
        distance = torch.minimum(distance, x.alpha * _length(x.evidence) * curvature / (curvature + x.temperature))
    spread = 2 * rho * (distance / x.temperature)[..., None]
    return ApproximationBound(
        dual=distance.to(x.dtype),
        mean=(residual * curvature / (curvature + x.temperature)).to(x.dtype),
        weights=(x.prior * 2 * torch.tanh(spread / 4)).sum(-1).to(x.dtype),
    )


# ── the problem about the mean of the true preference ───────────────────────────────────────────────────────────────


class _Centred(NamedTuple):
    """(1) with templates t_i − μ̃/Σ_j u_j, and log q(i|j) in place of the cost: neither has an offset that costs digits."""

    templates: Tensor
    evidence: Tensor
    prior: Tensor
    log_kernel: Tensor
    alpha: Tensor
    ratio: Tensor  # α/γ
    preferred: Tensor  # μ̃


class _Point(NamedTuple):
    """The results of one pass at ν: h(αν) − μ̃, the residual z − ν − h + μ̃, the weights, Σ̄(ν), and the objective."""

    shift: Tensor
    residual: Tensor
    weights: Tensor
    sigma: Tensor
    objective: Tensor


def _centre(x: Problem) -> _Centred:
    u, allowed = x.prior.unsqueeze(-2), x.cost != torch.inf
    # A column that holds no prior may be forbidden altogether: what is in it then does not matter.
    live = allowed.any(-2, keepdim=True)
    scores = torch.where(allowed, x.cost, 0.0)
    least = torch.where(allowed, x.cost, torch.inf).amin(-2, keepdim=True)
    least = torch.where(live, least, torch.where(u == 0, 0.0, torch.nan)).detach()
    scaled = torch.where(allowed, (least - scores) / x.temperature[..., None, None], -torch.inf)
    log_kernel = torch.where(live, scaled, 0 * least).log_softmax(-2)
    mass = x.prior.sum(-1, keepdim=True)
    preference = torch.matmul(log_kernel.exp(), x.prior.unsqueeze(-1)).squeeze(-1)
    origin = mean(x.templates, preference) / torch.where(mass == 0, 1.0, mass)
    templates = x.templates - origin.unsqueeze(-2)
    return _Centred(templates, x.evidence, x.prior, log_kernel, x.alpha, x.alpha / x.temperature, origin * mass)


def _evaluate(x: _Centred, nu: Tensor, annealing_factor: Tensor | None = None) -> _Point:
    """Evaluate (1) at ν; ``annealing_factor`` multiplies γ, in the entropy of (24) but not in μ̃."""
    annealing = torch.ones_like(x.ratio) if annealing_factor is None else annealing_factor
    forbidden = x.log_kernel == -torch.inf
    tilt = (x.ratio[..., None] * project(x.templates, nu)).unsqueeze(-1)
    logits = (torch.where(forbidden, 0.0, x.log_kernel) + tilt) / annealing[..., None, None]
    logits = torch.where(forbidden, -torch.inf, logits)
    conditional = logits.softmax(-2)
    weights = torch.matmul(conditional, x.prior.unsqueeze(-1)).squeeze(-1)
    shift = mean(x.templates, weights)
    partition = (x.prior * logits.logsumexp(-2)).sum(-1) * annealing / x.ratio
    objective = nu.square().sum(-1) / 2 - (nu * x.evidence).sum(-1) + partition
    return _Point(shift, x.evidence - nu - shift, weights, covariance(x.templates, x.prior, conditional), objective)


def _acceptable(x: _Centred, nu: Tensor) -> Tensor:
    """Return the largest residual that rounding alone can cause, (...).

    ν and z are rounded, and with ν the logits α⟨t, ν⟩/γ, of size ratio · R‖ν‖; a logit that is off by ε moves h by ε R at
    most, and so does log q, which among the templates that matter is no larger than the tilt and log N. Where all this
    leaves less than half of the digits, nothing is accepted.
    """
    N, d = x.templates.shape[-2:]
    unit = tolerances.rounding(x.templates.dtype, N + x.prior.shape[-1] + d)
    reach = _length(x.templates).amax(-1)
    data = _length(x.evidence) + reach
    length = _length(nu)
    scale = data + (1 + 4 * x.ratio * reach**2) * length + math.log(N) * reach
    return torch.minimum(unit * scale, math.sqrt(unit) * data)


def _newton(x: _Centred, max_steps: int) -> Tensor:
    """Return ν, (..., d), that solves (1).

    With little entropy the objective has kinks, which Newton's method does not see from afar. So γ starts as large as
    makes the tilt mild, and falls whenever a row is nearly solved; a row that is done stays where it is.
    """
    batch = arguments.broadcast(
        templates=x.templates.shape[:-2],
        evidence=x.evidence.shape[:-1],
        prior=x.prior.shape[:-1],
        cost=x.log_kernel.shape[:-2],
        alpha=x.ratio.shape,
    )
    nu = torch.zeros_like(x.evidence).expand(*batch, x.evidence.shape[-1])
    reach = _length(x.templates).amax(-1)
    rough = ROUGH_TOLERANCE * (_length(x.evidence) + reach)
    annealing = (x.ratio * reach**2 / INITIAL_TILT).clamp(min=1).expand(batch)
    for _ in range(max_steps):
        point = _evaluate(x, nu, annealing)
        residual = _length(point.residual)
        final = annealing == 1
        done = residual <= torch.where(final, _acceptable(x, nu), rough)
        if bool((done & final).all()):
            break
        nu = torch.where(done.unsqueeze(-1), nu, _damped(x, nu, annealing, point))
        annealing = torch.where(done, (annealing / RATE).clamp(min=1), annealing)
    return nu


def _damped(x: _Centred, nu: Tensor, annealing: Tensor, point: _Point) -> Tensor:
    """Return ν after a step that lowers the objective enough, or by less than its own rounding."""
    step = resolve(point.sigma, x.ratio / annealing, point.residual)
    slope = (step * point.residual).sum(-1)
    unit = tolerances.rounding(nu.dtype, x.templates.shape[-2])
    logarithms = (1 + math.log(x.templates.shape[-2])) * annealing / x.ratio
    slack = unit * (point.objective.abs() + nu.square().sum(-1) + (nu * x.evidence).sum(-1).abs() + logarithms)
    size, _, _ = backtrack(
        lambda size: _evaluate(x, nu + size * step, annealing),
        lambda trial: -trial.objective,
        -point.objective,
        slope,
        slack,
        slope.isnan(),
    )
    return nu + size.unsqueeze(-1) * step


def _half_diameters(templates: Tensor, cost: Tensor) -> Tensor:
    """Return ρ_j, (..., n), at least half the diameter of what a column may reach, and exact where nothing is forbidden.

    It is the smaller of half the diameter of all templates and the radius of what is reached around its centroid: no
    tensor is larger than the cost, as it would have to be for the diameter of every column.
    """
    reached = (cost != torch.inf).to(templates.dtype)
    centres = torch.matmul(reached.mT, templates) / reached.sum(-2).clamp(min=1).unsqueeze(-1)
    radius = torch.where(reached > 0, torch.cdist(templates, centres, compute_mode=_DIRECT), 0.0).amax(-2)
    diameter = torch.cdist(templates, templates, compute_mode=_DIRECT).amax((-2, -1)).unsqueeze(-1)
    return torch.minimum(radius, diameter / 2)


def _length(x: Tensor) -> Tensor:
    length: Tensor = torch.linalg.vector_norm(x, dim=-1)
    return length
