"""The closed forms: kernel, true preference, conjugate of the transport cost, and the weights (25).

Claims      deciphering.25, deciphering.35, deciphering.36, deciphering.37, deciphering.38, deciphering.40, deciphering.41,
            deciphering.47, deciphering.prop1
Notation    See the package. Column j of X is what becomes of u_j: the problem falls apart into one softmax a column, so
            every formula normalizes over the destination i, which is the first index of M. (In print, some normalize over
            the second; the two agree for symmetric M only.)
"""

import torch
from torch import Tensor

from numerics import arguments
from numerics.arguments import Positive, without_autocast
from numerics.one_sided import entropy
from numerics.ot_attention.problem import check_cost, problem

_TILE_NUMBERS = 2**22
"""The largest number of entries of an array of a covariance, unless a single source has more."""


def kernel(cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return q(i|j) = exp(−M_ij/γ) / Σ_k exp(−M_kj/γ).

    Args:
        cost: M, floating, (..., N, n), +inf where forbidden.
        temperature: γ, positive; a number, or a tensor that broadcasts over (...). A tensor is not read back from its
            device: its entries that are not positive give NaN.

    Returns:
        (..., N, n), columns that sum to one (to zero, if all of M's column is +inf), in the dtype of ``cost``.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    (M,), dtype = arguments.tensors(cost=(cost, 2))
    gamma = arguments.positive("temperature", temperature, M.shape[:-2], M)
    return _conditional(M.new_zeros(M.shape[-2]), M, gamma).to(dtype)


@without_autocast
def true_preference(prior: Tensor, cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return ũ_i = Σ_j u_j q(i|j), which minimizes W_γ(p, u; M) over p (``deciphering.prop1``, ``deciphering.40``).

    As γ → 0, u_j moves to the cheapest i of its column, in equal parts if several are: ũ → u if the diagonal is the
    strict minimum of every column that holds prior, and for every u only then. As γ → ∞, u_j is spread evenly over the i
    that are not forbidden.

    Args:
        prior: u, floating, (..., n).
        cost: M, floating, (..., N, n).
        temperature: γ, as for ``kernel``.

    Returns:
        (..., N), in the wider dtype of the two.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    u, M, gamma, dtype = _transport(prior, cost, temperature)
    return _carry(_conditional(M.new_zeros(M.shape[-2]), M, gamma), u).to(dtype)


@without_autocast
def conjugate(potential: Tensor, prior: Tensor, cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return W*_γ(g; u, M) = γ (H(u) + Σ_j u_j log Σ_i exp((g_i − M_ij)/γ)) (``deciphering.36``).

    Args:
        potential: g, floating, (..., N).
        prior: u, floating, (..., n).
        cost: M, floating, (..., N, n).
        temperature: γ, as for ``kernel``.

    Returns:
        (...), in the widest dtype of the three; −inf where prior may go nowhere, for no p is then feasible.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    g, u, M, gamma, dtype = _with_potential(potential, prior, cost, temperature)
    logits, peak, live = _columns(g, M, gamma)
    total = gamma[..., None] * logits.logsumexp(-2) + peak.squeeze(-2)
    total = torch.where(live.squeeze(-2), total, torch.where(u == 0, 0.0, -torch.inf))
    return (gamma * entropy(u) + (u * total).sum(-1)).to(dtype)


@without_autocast
def coupling(potential: Tensor, prior: Tensor, cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return X_ij = u_j softmax over i of (g_i − M_ij)/γ: the optimal coupling between u and ∇W*_γ(g).

    Arguments and errors as for ``conjugate``.

    Returns:
        (..., N, n), in the widest dtype of the three.
    """
    g, u, M, gamma, dtype = _with_potential(potential, prior, cost, temperature)
    return (_conditional(g, M, gamma) * u.unsqueeze(-2)).to(dtype)


@without_autocast
def transported(potential: Tensor, prior: Tensor, cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return ∇_g W*_γ(g; u, M), p_i = Σ_j u_j exp((g_i − M_ij)/γ) / Σ_k exp((g_k − M_kj)/γ) (``deciphering.37``).

    With g_i = ⟨t_i, λ⟩ this is ``deciphering.38``. Arguments and errors as for ``conjugate``.

    Returns:
        (..., N), in the widest dtype of the three.
    """
    g, u, M, gamma, dtype = _with_potential(potential, prior, cost, temperature)
    return _carry(_conditional(g, M, gamma), u).to(dtype)


@without_autocast
def weights(
    templates: Tensor, evidence: Tensor, prior: Tensor, cost: Tensor, alpha: Positive = 1.0, temperature: Positive = 1.0
) -> Tensor:
    """Return p_i = Σ_j u_j softmax over i of (α⟨t_i, z⟩ − M_ij)/γ (``deciphering.25``, ``deciphering.47``).

    They solve (24) up to O((α/γ)²); ``approximation_bound`` says how well, ``solve`` is exact.

    Args:
        templates: t, floating, (..., N, d).
        evidence: z, floating, (..., d).
        prior: u, floating, (..., n).
        cost: M, floating, (..., N, n).
        alpha: positive; a number, or a tensor that broadcasts over (...).
        temperature: γ, as ``alpha``.

    Returns:
        (..., N), in the widest dtype of the tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    x = problem(templates, evidence, prior, cost, alpha, temperature)
    g = project(x.templates, x.alpha[..., None] * x.evidence)
    return _carry(_conditional(g, x.cost, x.temperature), x.prior).to(x.dtype)


@without_autocast
def attend(
    templates: Tensor, evidence: Tensor, prior: Tensor, cost: Tensor, alpha: Positive = 1.0, temperature: Positive = 1.0
) -> Tensor:
    """Return the mean Σ_i p_i t_i of the weights (25): attention by optimal transport.

    Arguments and errors as for ``weights``.

    Returns:
        (..., d), in the widest dtype of the tensors.
    """
    x = problem(templates, evidence, prior, cost, alpha, temperature)
    g = project(x.templates, x.alpha[..., None] * x.evidence)
    return mean(x.templates, _carry(_conditional(g, x.cost, x.temperature), x.prior)).to(x.dtype)


@without_autocast
def attend_by_inner_products(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor,
    alpha: Positive = 1.0,
    temperature: Positive = 1.0,
    sources: Tensor | None = None,
) -> Tensor:
    """Return the mean of (25) for M_ij = C − ⟨t_i, s_j⟩, as scaled dot-product attention with the queries αz + s_j.

    Then α⟨t_i, z⟩ − M_ij = ⟨t_i, αz + s_j⟩ − C, and C cancels in every column. So the result is the average over u of n
    ordinary attentions, whose keys and values are the templates.

    Args:
        templates: t, floating, (..., N, d).
        evidence: z, floating, (..., d).
        prior: u, floating, (..., n).
        alpha: positive; a number, or a tensor that broadcasts over (...).
        temperature: γ, as ``alpha``.
        sources: s, floating, (..., n, d); by default the templates.

    Returns:
        (..., d), in the widest dtype of the tensors.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    points = templates if sources is None else sources
    (t, z, u, s), dtype = arguments.tensors(
        templates=(templates, 2), evidence=(evidence, 1), prior=(prior, 1), sources=(points, 2)
    )
    if s.shape[-2:] != (u.shape[-1], t.shape[-1]) or z.shape[-1] != t.shape[-1]:
        raise ValueError(
            f"sources: expected (..., {u.shape[-1]}, {t.shape[-1]}) for this prior, and evidence of that width; "
            f"got {tuple(s.shape)} and {tuple(z.shape)}"
        )
    batch = arguments.broadcast(templates=t.shape[:-2], evidence=z.shape[:-1], prior=u.shape[:-1], sources=s.shape[:-2])
    a, gamma = (arguments.positive(name, x, batch, t) for name, x in (("alpha", alpha), ("temperature", temperature)))
    queries = (a[..., None] * z).unsqueeze(-2) + s
    each = torch.softmax(torch.matmul(queries / gamma[..., None, None], t.mT), -1)
    return mean(t, mean(each, u)).to(dtype)


@without_autocast
def mean_covariance(templates: Tensor, prior: Tensor, cost: Tensor, temperature: Positive = 1.0) -> Tensor:
    """Return Σ̄ = Σ_j u_j Σ_j, with Σ_j the covariance of the templates under q(·|j) (``deciphering.45``).

    Args:
        templates: t, floating, (..., N, d).
        prior: u, floating, (..., n).
        cost: M, floating, (..., N, n).
        temperature: γ, as for ``kernel``.

    Returns:
        (..., d, d), in the widest dtype of the three.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    evidence = arguments.floating("templates", templates, "N", "d")[..., 0, :]
    x = problem(templates, evidence, prior, cost, 1.0, temperature)
    q = _conditional(x.cost.new_zeros(x.cost.shape[-2]), x.cost, x.temperature)
    return _covariance(x.templates, x.prior, q).to(x.dtype)


@without_autocast
def resolvent(
    templates: Tensor, evidence: Tensor, prior: Tensor, cost: Tensor, alpha: Positive = 1.0, temperature: Positive = 1.0
) -> Tensor:
    """Return λ = (I/α + Σ̄/γ)⁻¹ z, which is the maximizer of the dual up to O(α³): one order better than λ = αz.

    Arguments and errors as for ``weights``. The weights that belong to it are ``transported`` with g = Tλ.

    Returns:
        (..., d), in the widest dtype of the tensors.
    """
    x = problem(templates, evidence, prior, cost, alpha, temperature)
    q = _conditional(x.cost.new_zeros(x.cost.shape[-2]), x.cost, x.temperature)
    return (x.alpha[..., None] * resolve(_covariance(x.templates, x.prior, q), x.alpha / x.temperature, x.evidence)).to(x.dtype)


# ── pieces that the solver shares: tensors of one dtype, scalars shaped (...) ───────────────────────────────────────


def project(templates: Tensor, dual: Tensor) -> Tensor:
    """Return g_i = ⟨t_i, λ⟩, (..., N)."""
    return torch.matmul(templates, dual.unsqueeze(-1)).squeeze(-1)


def mean(templates: Tensor, p: Tensor) -> Tensor:
    """Return Σ_i p_i t_i, (..., d), of the rows t_i of a matrix."""
    return torch.matmul(p.unsqueeze(-2), templates).squeeze(-2)


def covariance(templates: Tensor, prior: Tensor, conditional: Tensor) -> Tensor:
    """Return Σ_j u_j Σ_j, (..., d, d), from moments about the common mean: fast, and off by rounding of the templates' spread,
    which is good enough for a step of a solver."""
    p = _carry(conditional, prior)
    centred = templates - mean(templates, p).unsqueeze(-2)
    means = torch.matmul(conditional.mT, centred)
    second = torch.matmul(centred.mT * p.unsqueeze(-2), centred)
    return second - torch.matmul(means.mT * prior.unsqueeze(-2), means)


def _covariance(templates: Tensor, prior: Tensor, conditional: Tensor) -> Tensor:
    """Return Σ_j u_j Σ_j, (..., d, d), from the templates about the mean of each source: each Σ_j keeps its digits, however
    small it is beside the spread of all templates."""
    size = max(1, _TILE_NUMBERS // max(1, conditional.shape[:-1].numel() * templates.shape[-1]))
    centred = templates - templates.mean(-2, keepdim=True).detach()
    total = templates.new_zeros(())
    for start in range(0, prior.shape[-1], size):
        q, u = conditional[..., start : start + size], prior[..., None, start : start + size]
        apart = centred.unsqueeze(-3) - torch.matmul(q.mT, centred).unsqueeze(-2)
        total = total + torch.matmul(apart.mT, (q * u).mT.unsqueeze(-1) * apart).sum(-3)
    return total


def resolve(sigma: Tensor, ratio: Tensor, x: Tensor) -> Tensor:
    """Return (I + ratio Σ)⁻¹ x."""
    system = torch.eye(sigma.shape[-1], dtype=sigma.dtype, device=sigma.device) + ratio[..., None, None] * sigma
    batch = arguments.broadcast(covariance=system.shape[:-2], evidence=x.shape[:-1])
    right = x.expand(*batch, x.shape[-1]).unsqueeze(-1)
    solution: Tensor = torch.linalg.solve_ex(system.expand(*batch, *system.shape[-2:]), right).result
    return solution.squeeze(-1)


def _transport(prior: Tensor, cost: Tensor, temperature: Positive) -> tuple[Tensor, Tensor, Tensor, torch.dtype]:
    (u, M), dtype = arguments.tensors(prior=(prior, 1), cost=(cost, 2))
    check_cost(M, None, u.shape[-1])
    batch = arguments.broadcast(prior=u.shape[:-1], cost=M.shape[:-2])
    return u, M, arguments.positive("temperature", temperature, batch, M), dtype


def _with_potential(
    potential: Tensor, prior: Tensor, cost: Tensor, temperature: Positive
) -> tuple[Tensor, Tensor, Tensor, Tensor, torch.dtype]:
    (g, u, M), dtype = arguments.tensors(potential=(potential, 1), prior=(prior, 1), cost=(cost, 2))
    check_cost(M, g.shape[-1], u.shape[-1])
    batch = arguments.broadcast(potential=g.shape[:-1], prior=u.shape[:-1], cost=M.shape[:-2])
    return g, u, M, arguments.positive("temperature", temperature, batch, M), dtype


def _columns(g: Tensor, M: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return (g_i − M_ij − peak_j)/γ, −inf where forbidden (0 throughout a column that is all forbidden), peaks, live columns.

    The peak is taken off before the division, and what is forbidden is replaced before every operation that could make
    inf − inf or 0 · inf of it, here or backwards.
    """
    allowed = ~(torch.isposinf(M) | torch.isneginf(g).unsqueeze(-1))
    scores = torch.where(allowed, g.unsqueeze(-1), 0.0) - torch.where(allowed, M, 0.0)
    live = allowed.any(-2, keepdim=True)
    peak = torch.where(allowed, scores, -torch.inf).amax(-2, keepdim=True)
    peak = torch.where(live, peak, 0.0).detach()
    logits = (torch.where(allowed, scores, peak) - peak) / gamma[..., None, None]
    logits = torch.where(allowed, logits, -torch.inf)
    return torch.where(live, logits, 0.0), peak, live


def _conditional(g: Tensor, M: Tensor, gamma: Tensor) -> Tensor:
    logits, _, live = _columns(g, M, gamma)
    return torch.where(live, logits.softmax(-2), 0.0)


def _carry(conditional: Tensor, prior: Tensor) -> Tensor:
    """Return p_i = Σ_j q(i|j) u_j."""
    return torch.matmul(conditional, prior.unsqueeze(-1)).squeeze(-1)
