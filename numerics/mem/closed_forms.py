"""Maximum entropy on the mean: the dual problem, its tilts, and the closed forms that attention is.

    primal  P(p) = α/2 ‖μ + z − Σ_i p_i t_i‖² + KL(p ‖ u)   over the simplex
    dual    D(λ) = ⟨λ, μ + z⟩ − ‖λ‖²/(2α) − log Σ_i u_i e^{⟨t_i, λ⟩}

For every p of the simplex and every λ,  P(p) − D(λ) = KL(p ‖ tilt(λ)) + (α/2)‖μ + z − Σ_i p_i t_i − λ/α‖²  ≥ 0,  with
equality at one pair: p* = tilt(λ*), λ* = α(μ + z − ĥ), ĥ = Σ_i p*_i t_i.  At λ = αz the tilt is the attention of (18).

Claims      deciphering.4, deciphering.9, deciphering.10, deciphering.11, deciphering.12, deciphering.15,
            deciphering.18
Notation    t_i = templates; u = prior; μ = Σ_i u_i t_i; z = evidence; λ = dual; p = weights; ĥ = mean;
            Σ = Σ_i u_i (t_i − μ)(t_i − μ)ᵀ
Shapes      templates (..., n, d), shared or one set per row; evidence and dual (..., d); prior (..., n), uniform if None,
            renormalized. Dtypes and other conventions: ``numerics.arguments``
Masks       Boolean, or floating and added to log u. A mask changes the prior, which is renormalized: μ and Σ are those of the
            prior that the mask leaves. A row with nothing left has means and objectives that are zero, too. A template of
            prior zero counts as absent: the derivative with respect to that zero is zero.
"""

import torch
from torch import Tensor

from numerics import one_sided
from numerics.arguments import result_dtype, without_autocast
from numerics.mem.arguments import Alpha, check, mean, positive, products, weighted


@without_autocast
def tilt(dual: Tensor, templates: Tensor, prior: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Return the weights p_i = u_i e^{⟨t_i, λ⟩} / Σ_l u_l e^{⟨t_l, λ⟩} (``deciphering.11``).

    Args:
        dual: λ, floating, (..., d).
        templates: floating, (..., n, d).
        prior: probabilities, floating, (..., n), or None for the uniform one. It is renormalized.
        mask: boolean or floating, broadcastable to the rows (..., n). See the module's notes.

    Returns:
        (..., n), in the widest dtype of ``dual``, ``templates`` and ``prior``.

    Raises:
        ValueError: for a shape or dtype other than these.
    """
    dtype = check(templates, prior, mask, dual=dual)
    x = weighted(templates, prior, mask, dtype)
    scores = products(x.templates, dual.to(dtype)) + x.log_prior
    return one_sided.plan(scores).to(result_dtype(dual, templates, prior))


@without_autocast
def log_partition(dual: Tensor, templates: Tensor, prior: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
    """Return log M(λ) = log Σ_i u_i e^{⟨t_i, λ⟩} (``deciphering.10``), which is zero at λ = 0.

    Arguments and errors as for ``tilt``.

    Returns:
        (...), in the widest dtype of ``dual``, ``templates`` and ``prior``; −inf where a row is fully masked.
    """
    dtype = check(templates, prior, mask, dual=dual)
    x = weighted(templates, prior, mask, dtype)
    scores = products(x.templates, dual.to(dtype)) + x.log_prior
    return one_sided.log_partition(scores).to(result_dtype(dual, templates, prior))


@without_autocast
def dual_objective(
    dual: Tensor,
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor | None = None,
    alpha: Alpha = 1.0,
    mask: Tensor | None = None,
) -> Tensor:
    """Return D(λ) = ⟨λ, μ + z⟩ − ‖λ‖²/(2α) − log M(λ) (``deciphering.9``).

    Args:
        dual: λ, floating, (..., d).
        templates: floating, (..., n, d).
        evidence: z, floating, (..., d).
        prior: probabilities, floating, (..., n), or None for the uniform one.
        alpha: positive; a number, or a tensor that broadcasts over the rows. A tensor is not read back from its device:
            its entries that are not positive give NaN.
        mask: boolean or floating, broadcastable to the rows (..., n).

    Returns:
        (...), in the widest dtype of the tensors; 0 where a row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    dtype = check(templates, prior, mask, dual=dual, evidence=evidence)
    x = weighted(templates, prior, mask, dtype)
    lam, z = dual.to(dtype), evidence.to(dtype)
    mu = mean(x.prior, x.templates)
    # ⟨λ, μ⟩ is taken inside the logarithm: what is left there is of second order in λ.
    scores = products(x.templates, lam) - (lam * mu).sum(-1, keepdim=True) + x.log_prior
    slack = lam * (z - lam / (2 * positive(alpha, lam + z)))
    value = slack.sum(-1) - one_sided.log_partition(scores)
    return torch.where(x.live.squeeze(-1), value, 0.0).to(result_dtype(dual, templates, evidence, prior))


@without_autocast
def dual_gradient(
    dual: Tensor,
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor | None = None,
    alpha: Alpha = 1.0,
    mask: Tensor | None = None,
) -> Tensor:
    """Return ∇D(λ) = μ + z − λ/α − Σ_i p_i t_i with p = tilt(λ), which vanishes at the solution (``deciphering.9``).

    Arguments and errors as for ``dual_objective``.

    Returns:
        (..., d), in the widest dtype of the tensors; zeros where a row is fully masked.
    """
    dtype = check(templates, prior, mask, dual=dual, evidence=evidence)
    x = weighted(templates, prior, mask, dtype)
    lam, z = dual.to(dtype), evidence.to(dtype)
    weights = one_sided.plan(products(x.templates, lam) + x.log_prior)
    gradient = z - lam / positive(alpha, lam + z) + mean(x.prior - weights, x.templates)
    return torch.where(x.live, gradient, 0.0).to(result_dtype(dual, templates, evidence, prior))


@without_autocast
def primal_objective(
    weights: Tensor,
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor | None = None,
    alpha: Alpha = 1.0,
    mask: Tensor | None = None,
) -> Tensor:
    """Return P(p) = α/2 ‖μ + z − Σ_i p_i t_i‖² + KL(p ‖ u) (``deciphering.4``).

    Args:
        weights: p, floating, (..., n). Rows are taken to be in the simplex; they are not checked.
        templates, evidence, prior, alpha, mask: as for ``dual_objective``.

    Returns:
        (...), in the widest dtype of the tensors; +inf where a weight is positive and the prior zero or masked; 0 where a
        row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    dtype = check(templates, prior, mask, weights=weights, evidence=evidence)
    x = weighted(templates, prior, mask, dtype)
    p, z = weights.to(dtype), evidence.to(dtype)
    residual = z + mean(x.prior - p, x.templates)
    a = positive(alpha, residual).squeeze(-1)
    value = a / 2 * residual.square().sum(-1) + one_sided.objective(p, x.log_prior)
    return torch.where(x.live.squeeze(-1), value, 0.0).to(result_dtype(weights, templates, evidence, prior))


@without_autocast
def moments(templates: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean Σ_i w_i t_i and the covariance Σ_i w_i (t_i − mean)(t_i − mean)ᵀ (``deciphering.13``).

    Args:
        templates: floating, (..., n, d).
        weights: probabilities, floating, (..., n); a row of zeros, as of a fully masked row, gives zeros.

    Returns:
        (..., d) and (..., d, d), in the wider dtype of the two. A covariance needs memory for one centred copy of the
        templates per row.

    Raises:
        ValueError: for a shape or dtype other than these.
    """
    dtype = check(templates, None, None, weights=weights)
    t, w, out = templates.to(dtype), weights.to(dtype), result_dtype(templates, weights)
    center = mean(w, t)
    deviations = t - center.unsqueeze(-2)
    covariance = deviations.mT @ (w.unsqueeze(-1) * deviations)
    return center.to(out), covariance.to(out)


@without_autocast
def closed_form(
    templates: Tensor, evidence: Tensor, prior: Tensor | None = None, alpha: Alpha = 1.0, mask: Tensor | None = None
) -> Tensor:
    """Return the printed estimate ĥ = Σ_i t_i u_i e^{α⟨t_i, z⟩} / Σ_l u_l e^{α⟨t_l, z⟩} (``deciphering.18``).

    Its weights are ``tilt(alpha * evidence)``: softmax attention with the keys and values t_i, the query αz and the bias
    log u. ``certificate`` bounds how far it is from the solution of (4).

    Args:
        templates, evidence, prior, alpha, mask: as for ``dual_objective``.

    Returns:
        (..., d), in the widest dtype of the tensors; zeros where a row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    dtype = check(templates, prior, mask, evidence=evidence)
    z = evidence.to(dtype)
    weights = tilt(positive(alpha, z) * z, templates, prior, mask)
    t = templates.to(dtype) if mask is None else weighted(templates, prior, mask, dtype).templates
    return mean(weights.to(dtype), t).to(result_dtype(templates, evidence, prior))


@without_autocast
def resolvent(
    templates: Tensor, evidence: Tensor, prior: Tensor | None = None, alpha: Alpha = 1.0, mask: Tensor | None = None
) -> Tensor:
    """Return λ = α(I + αΣ)⁻¹z, which maximizes D with log M cut after its second order (``deciphering.15``).

    One Cholesky factorization serves all rows that share templates, prior, mask and α. It is of I_d + αΣ or, where n < d,
    of I_n + αAAᵀ with A = diag(√u)(T − 1μᵀ), Σ = AᵀA:  (I + αAᵀA)⁻¹ = I − αAᵀ(I + αAAᵀ)⁻¹A. It costs log(1 + α‖Σ‖) digits,
    and gives NaN where none is left.

    Args:
        templates, evidence, prior, alpha, mask: as for ``dual_objective``.

    Returns:
        (..., d), in the widest dtype of the tensors; zeros where a row is fully masked.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    dtype = check(templates, prior, mask, evidence=evidence)
    x = weighted(templates, prior, mask, dtype)
    z = evidence.to(dtype)
    a = positive(alpha, z)
    n, d = x.templates.shape[-2:]
    root = torch.where(x.prior > 0, x.prior, 1.0).sqrt().where(x.prior > 0, 0.0).unsqueeze(-1)
    factor = root * (x.templates - mean(x.prior, x.templates).unsqueeze(-2))
    scaled = a.unsqueeze(-1).sqrt() * factor
    if n < d:
        inner = scaled @ scaled.mT + torch.eye(n, dtype=dtype, device=z.device)
        solved = z - mean(_solve(inner, products(scaled, z)), scaled)
    else:
        solved = _solve(scaled.mT @ scaled + torch.eye(d, dtype=dtype, device=z.device), z)
    return torch.where(x.live, a * solved, 0.0).to(result_dtype(templates, evidence, prior))


def _solve(matrices: Tensor, rows: Tensor) -> Tensor:
    """Return matrix⁻¹ row for every row; the matrices, symmetric and at least I, may be shared along the last row axis."""
    lower, info = torch.linalg.cholesky_ex(matrices)
    # Where I vanishes beside αΣ, what elimination leaves of a diagonal entry is rounding, of either sign.
    diagonal, pivot_roots = (x.diagonal(dim1=-2, dim2=-1) for x in (matrices, lower))
    significant = pivot_roots.square() > diagonal.shape[-1] * torch.finfo(diagonal.dtype).eps * diagonal
    lower = torch.where(((info == 0) & significant.all(-1))[..., None, None], lower, torch.nan)
    if lower.ndim == 2:
        flat = rows.reshape(-1, rows.shape[-1])
        return torch.cholesky_solve(flat.mT, lower).mT.reshape(rows.shape)
    if lower.shape[-3] == 1 and rows.ndim >= 2:
        return torch.cholesky_solve(rows.mT, lower.squeeze(-3)).mT
    return torch.cholesky_solve(rows.unsqueeze(-1), lower).squeeze(-1)
