"""Many problems on the same templates: conjugate gradients in the space of weights, where a step costs one n × n product.

Every λ of use is λ = α(b − Tᵀw) for some w ∈ Rⁿ, with logits s = α(Tb − Gw) and G = TTᵀ, which all rows share; λ is the
solution when w = p(s) = softmax(log u + s). In the metric of G, v = p − w is minus the gradient of −D, and its Hessian is
αG + α²GΠG with Π = diag(p) − ppᵀ: next to the identity unless α‖Σ‖ is large. Where it is, a preconditioner puts most of that
right (see ``search``).

Claims      deciphering.9, deciphering.18
Notation    as in ``rows``; G = gram; v = residual; u = eps/2, and u₃₂ that of float32; γ = max_i ‖G_i‖, over the rows of G
Precision   The way is float32, the place where it ends is not: w is found in float32 to the end of what that can do; then s, p
            and v are worked out from w in float64, and (I + αΠG)e = v, a correction of a relative precision of some digits,
            again is for float32. As e is small, so is what float32 loses of Ge: s becomes s − αGe without another product in
            float64, unless e is too large for that. Nothing else that float32 has left behind goes into s, p and v.
Bounds      Of the last w, from the last float64 s, p and v alone: g = b − λ/α − Tᵀp = −Tᵀv, and ‖Tᵀv‖ ≤ √‖G‖ ‖v‖, where
            ‖G‖ ≤ ‖G²‖_F^{1/2}. To this is added the most that rounding can lose, with r = max_i ‖t_i‖ and ω = ‖w‖₁, however
            sums are made up: in n roundings, a sum of n products loses at most nu times the sum of what is added.
            b − λ/α is off from b − Tᵀw by at most ρ = u(2‖b‖ + 3‖λ‖/α + (n + 4)rω): Tᵀw by nurω, templates that were centred
            by urω there and ur in b; and μ by its drift (see ``Batch``).
            Logits are off from ⟨t_i, λ⟩, by λ, by two roundings of it and α⟨t_i, what Tᵀw has lost⟩; by the products with b and
            w, G, α and the centring; by one rounding as they are put together; and for up to three w + e by one of w + e and
            one of themselves: η = uα((d + n + 4)r‖b‖ + (2n + d + 8)r²ω) + 3ur‖λ‖; and by what is lost of each e. It is found in
            k steps d = ay + bd′ with the images g = am + bg′, of which only m = −αGy is a product: it loses u₃₂(n + 3)αγ‖y‖ in
            every entry, as |G||y| ≤ γ‖y‖, with G and α rounded, and 4nα times the least normal number, for each of its n
            products, their sums and the entries of G may be flushed to zero. That, and what is lost of ‖y‖ in the same way,
            counts as a longer y. d and g each lose at most two roundings of both of what is added, so that for
            x = |a|‖y‖ + |b|x′ ≥ ‖d‖, g is off from −αGd by u₃₂(n + 3 + 4k)αγx; and as e and its image are sums of k, by
            u₃₂(n + 3 + 6k)αγΣx in all, and a little more for terms of higher order. By which p changes by as much and η in the
            ℓ1 norm.
            What else is lost depends on i: by log u_i 4u|log u_i| and the blur, by adding it, once and for each e,
            4u(|log p_i| + r‖λ‖), by the differences that softmax makes u|log p_i|. With |log u_i| ≤ |log p_i| + 2r‖λ‖ and the
            norm of L²(p), see ``bounds``, p changes by at most 9u(1 + log n) + 12ur‖λ‖ and the blur; by exponentials, their sum
            and quotients by (n + 8)u. In all that is η + u(n + 17 + 9 log n + 12r‖λ‖) and the blur; what is taken for it is a
            little more, and Tᵀp is off by r times as much. Rows for which the bound is not good enough are left to Newton's
            method.
"""

import math

import torch
from torch import Tensor

from numerics.mem import compiled, search
from numerics.mem.batch import Batch
from numerics.mem.bounds import Bounds
from numerics.mem.task import Found, Task

SHARE = 0.7
"""How much of the diagonal of G − ffᵀ stands for it, in the preconditioner: on the layers of BERT, 0.5 and 0.85 take as many
steps, but for some per cent more or less."""

_SMALL = 2.0**-250
"""The least row of a Gram matrix other than zero whose square's norm does not underflow."""

_UNSEEN = 2.0**-63
"""The largest number whose square may be flushed to zero in float32."""

_ROWS = 2048
"""The largest number of rows of a tile on other devices than the CPU."""


def solve(batch: Batch, gram: Tensor, tolerance: float, dual: Tensor, mean: Tensor, bounds: Bounds) -> None:
    """Write λ and μ + z − λ/α into ``dual`` and ``mean``, (r, d) each, and into ``bounds`` those of λ, good or not."""
    task, found = _task(batch, gram, tolerance, dual), Found(dual, mean, *vars(bounds).values())
    if gram.device.type == "cpu":
        compiled.solve(task, found, torch.get_num_threads())
    else:
        search.solve(task, found, _ROWS)


def _task(batch: Batch, gram: Tensor, tolerance: float, spare: Tensor) -> Task:
    n, d = batch.size
    eps = torch.finfo(gram.dtype).eps
    row, root, lead = spectrum(gram)
    sound = row > _SMALL or not bool(gram.any())
    dtype = _narrow(gram.device)
    target, drift = batch.target(spare)
    loss, least = torch.finfo(dtype).eps / 2 * row, 4 * n * torch.finfo(dtype).tiny
    return Task(
        target=target,
        alpha=batch.alpha.squeeze(-1),
        log_prior=batch.log_prior.reshape(-1, n),
        drift=drift,
        blur=batch.blur,
        center=batch.center,
        templates=batch.templates,
        columns=batch.templates.mT,
        gram=gram,
        narrow=-gram.to(dtype),
        lead=lead.to(dtype),
        diagonal=(SHARE * (gram.diagonal() - lead.square())).to(dtype),
        radius=float(batch.radius) * (1 + (d + 8) * eps),
        root=(root * (1 + (n + 8) * (n + d + 8) * eps)) ** 0.5 if sound else math.inf,
        loss=loss,
        least=_UNSEEN * n**0.5 + least + (least / (loss * (n + 4)) if row > 0 else 0.0),
        tolerance=tolerance,
    )


def spectrum(gram: Tensor) -> tuple[float, float, Tensor]:
    """Return γ, ‖G²‖_F^{1/2}, and f = Gq/√⟨q, Gq⟩, (n,), for a q near the leading eigenvector, or 0.

    G − ffᵀ is positive semidefinite, whatever q is.
    """
    rows, square = gram.norm(dim=-1), gram @ gram
    q = square @ square[rows.argmax()]
    q /= q.norm()
    image = gram @ q
    lead = (image / (image @ q).sqrt()).nan_to_num(0.0, 0.0, 0.0)
    return float(rows.amax()), float(square.norm()) ** 0.5, lead


def _narrow(device: torch.device) -> torch.dtype:
    """What to search in; on a GPU, a user may let float32 products be rounded to TF32: float64 then needs fewer rounds."""
    rounded = device.type != "cpu" and torch.get_float32_matmul_precision() != "highest"
    return torch.float64 if rounded else torch.float32
