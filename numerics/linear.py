"""Linear attention: attention whose kernel is an inner product of features, so that no n × m matrix is needed.

For features φ(q), φ(k) ≥ 0 the weights are  W_ij = ⟨φ(q_i), φ(k_j)⟩ / Σ_l ⟨φ(q_i), φ(k_l)⟩: rows that sum to one, exactly,
whatever the features. W is no approximation of a plan; it *is* a one-sided plan, for the cost −log⟨φ(q_i), φ(k_j)⟩ at ε = 1.
It is near softmax attention as far as the features' kernel is near exp⟨q, k⟩.

Claims      transport.s4.linear-attention, transport.s4.linear-complexity, transport.s4.kernel,
            transport.s4.kernel-approximation, transport.s4.transport-reading, transport.s7.unification,
            transport.listing.LinearAttentionAsOT
Notation    q = query, k = key, d their width; φ = features, F of them; ω_r = projections, standard normal in ℝᵈ; κ = exp⟨q, k⟩
Features    φ_r(x) = exp(⟨ω_r, x⟩ − ‖x‖²/2)/√F are positive. With s_j = q + k_j, E exp⟨ω, s⟩ = exp(‖s‖²/2) gives
                E⟨φ(q), φ(k)⟩ = κ,      Cov(⟨φ(q), φ(k_j)⟩, ⟨φ(q), φ(k_l)⟩) = κ_j κ_l (exp⟨s_j, s_l⟩ − 1)/F:
            the kernel is unbiased, its relative variance is (exp(‖q + k‖²) − 1)/F. The quotient W is biased: to first order
            in 1/F, with p = softmax and E_jl = exp⟨s_j, s_l⟩,
                E W_j − p_j = p_j (Σ_lr p_l p_r E_lr − Σ_l p_l E_jl)/F + O(1/F²),
            which sums to zero over j, and vanishes where all keys are equal.
Masks       A key that is masked is left out after the feature map. A zero vector has features too: ⟨φ(q), φ(0)⟩ ≠ 0.
Shapes      Features are (..., n, F) and (..., m, F). Other conventions: ``numerics.arguments``
"""

import math

import torch
from torch import Tensor

from numerics import arguments
from numerics.arguments import Positive

_CHUNK = 64


def linear_attention(
    query_features: Tensor, key_features: Tensor, value: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> Tensor:
    """Return Σ_j W_ij v_j in O((n + m) F dv), the output of ``kernel_weights`` without its matrix.

    Args:
        query_features: φ(q), floating, (..., n, F).
        key_features: φ(k), floating, (..., m, F).
        value: v, floating, (..., m, dv).
        mask: of the keys, boolean, broadcastable to (..., m): True takes part.
        causal: whether query i sees keys j ≤ i only; then n = m.

    Returns:
        (..., n, dv), in the widest dtype of the three; zeros where a row of the kernel is zero.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    (q, k, v), dtype = arguments.tensors(query_features=(query_features, 2), key_features=(key_features, 2), value=(value, 2))
    k = _kept(q, k, mask, causal=causal)
    if v.shape[-2] != k.shape[-2]:
        raise ValueError(f"value: expected (..., {k.shape[-2]}, dv) for these keys, got {tuple(value.shape)}")
    arguments.broadcast(query_features=q.shape[:-2], key_features=k.shape[:-2], value=v.shape[:-2])
    if mask is not None:                                     # 0 · inf would be NaN
        v = torch.where(mask.unsqueeze(-1), v, 0.0)
    v = torch.cat((v, torch.ones_like(v[..., :1])), -1)      # the last column becomes the sum of the weights
    total = _causal(q, k, v) if causal else torch.matmul(q, torch.matmul(k.mT, v))
    numerator, mass = total[..., :-1], total[..., -1:]
    return torch.where(mass == 0, 0.0, numerator / torch.where(mass == 0, 1.0, mass)).to(dtype)


def kernel_weights(
    query_features: Tensor, key_features: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> Tensor:
    """Return W, (..., n, m): what ``linear_attention`` multiplies its values by. Arguments and errors as there."""
    (q, k), dtype = arguments.tensors(query_features=(query_features, 2), key_features=(key_features, 2))
    kernel = torch.matmul(q, _kept(q, k, mask, causal=causal).mT)
    kernel = kernel.tril() if causal else kernel
    mass = kernel.sum(-1, keepdim=True)
    return torch.where(mass == 0, 0.0, kernel / torch.where(mass == 0, 1.0, mass)).to(dtype)


def positive_random_features(x: Tensor, projections: Tensor) -> Tensor:
    """Return φ_r(x) = exp(⟨ω_r, x⟩ − ‖x‖²/2)/√F, whose kernel has the mean exp⟨q, k⟩ over standard normal ω_r.

    For attention at temperature τ, give x = q/√τ and k/√τ.

    Args:
        x: floating, (..., n, d).
        projections: ω, floating, (..., F, d).

    Returns:
        (..., n, F), in the wider dtype of the two.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    logits, dtype = _log_features(x, projections)
    return (logits - math.log(logits.shape[-1]) / 2).exp().to(dtype)


def random_feature_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    projections: Tensor,
    temperature: Positive = 1.0,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
) -> Tensor:
    """Return linear attention with positive random features, which tends to softmax attention as F grows.

    The largest logit of every query's features, and of all features of the keys, is taken off: neither changes a weight.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        value: floating, (..., m, dv).
        projections: ω, floating, (..., F, d).
        temperature: τ, positive; a number, or a tensor that broadcasts over (...).
        mask: of the keys, as for ``linear_attention``.
        causal: as for ``linear_attention``.

    Returns:
        (..., n, dv), in the widest dtype of the four.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    (q, k, v, omega), dtype = arguments.tensors(query=(query, 2), key=(key, 2), value=(value, 2), projections=(projections, 2))
    batch = arguments.broadcast(query=q.shape[:-2], key=k.shape[:-2])
    root = arguments.positive("temperature", temperature, batch, q).sqrt()[..., None, None]
    a, b = _log_features(q / root, omega)[0], _log_features(k / root, omega)[0]
    if mask is not None:
        arguments.check_mask(mask, k.shape[:-1], exact=True, boolean=True)
        b = torch.where(mask.unsqueeze(-1), b, -torch.inf)
    top = b.amax((-2, -1), keepdim=True).detach()
    a = a - a.amax(-1, keepdim=True).detach()
    b = b - torch.where(top == -torch.inf, 0.0, top)
    return linear_attention(a.exp(), b.exp(), v, mask, causal=causal).to(dtype)


def kernel_variance(query: Tensor, key: Tensor, features: int) -> Tensor:
    """Return Var⟨φ(q_i), φ(k_j)⟩ = exp(2⟨q, k⟩)(exp(‖q + k‖²) − 1)/F of the positive random features.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        features: F ≥ 1.

    Returns:
        (..., n, m), in the wider dtype of the two.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    q, k, dtype = _pair(query, key, features)
    sums = (q.unsqueeze(-2) + k.unsqueeze(-3)).square().sum(-1)
    return ((2 * torch.matmul(q, k.mT)).exp() * sums.expm1() / features).to(dtype)


def ratio_bias(query: Tensor, key: Tensor, features: int) -> Tensor:
    """Return the bias of the weights W_ij for softmax(⟨q_i, k_j⟩) to first order in 1/F: see the module's notes.

    Args:
        query: floating, (..., n, d).
        key: floating, (..., m, d).
        features: F ≥ 1.

    Returns:
        (..., n, m), in the wider dtype of the two.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    q, k, dtype = _pair(query, key, features)
    sums = q.unsqueeze(-2) + k.unsqueeze(-3)
    p = torch.matmul(q, k.mT).softmax(-1)
    mean = torch.matmul(torch.matmul(sums, sums.mT).exp(), p.unsqueeze(-1)).squeeze(-1)
    return (p * ((p * mean).sum(-1, keepdim=True) - mean) / features).to(dtype)


def _causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return Σ_{j≤i} ⟨q_i, k_j⟩ v_j, chunk by chunk: what came before a chunk is one F × dv matrix."""
    n = q.shape[-2]
    chunks = -(-n // _CHUNK)
    size = min(n, _CHUNK)
    padded = (torch.nn.functional.pad(x, (0, 0, 0, chunks * size - n)) for x in (q, k, v))
    q, k, v = (x.reshape(*x.shape[:-2], chunks, size, x.shape[-1]) for x in padded)
    states = torch.matmul(k.mT, v)
    before = torch.nn.functional.pad(states.cumsum(-3)[..., :-1, :, :], (0, 0, 0, 0, 1, 0))
    within = torch.matmul(torch.matmul(q, k.mT).tril(), v)
    return (within + torch.matmul(q, before)).flatten(-3, -2)[..., :n, :]


def _kept(q: Tensor, k: Tensor, mask: Tensor | None, *, causal: bool) -> Tensor:
    """Return the features of the keys, zero where masked, once shapes are known to fit."""
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"key_features: expected (..., m, {q.shape[-1]}) like the queries' features, got {tuple(k.shape)}")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError(f"causal: expected as many keys as queries, got {k.shape[-2]} and {q.shape[-2]}")
    arguments.broadcast(query_features=q.shape[:-2], key_features=k.shape[:-2])
    if mask is None:
        return k
    arguments.check_mask(mask, k.shape[:-1], exact=True, boolean=True)
    return torch.where(mask.unsqueeze(-1), k, 0.0)


def _log_features(x: Tensor, projections: Tensor) -> tuple[Tensor, torch.dtype]:
    (y, omega), dtype = arguments.tensors(x=(x, 2), projections=(projections, 2))
    if y.shape[-1] != omega.shape[-1]:
        raise ValueError(f"projections: expected (..., F, {y.shape[-1]}) for such vectors, got {tuple(projections.shape)}")
    arguments.broadcast(x=y.shape[:-2], projections=omega.shape[:-2])
    return torch.matmul(y, omega.mT) - y.square().sum(-1, keepdim=True) / 2, dtype


def _pair(query: Tensor, key: Tensor, features: int) -> tuple[Tensor, Tensor, torch.dtype]:
    (q, k), dtype = arguments.tensors(query=(query, 2), key=(key, 2))
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"key: expected (..., m, {q.shape[-1]}) like the queries {tuple(query.shape)}, got {tuple(key.shape)}")
    arguments.broadcast(query=q.shape[:-2], key=k.shape[:-2])
    arguments.check_count("features", features)
    return q, k, dtype
