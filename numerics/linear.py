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
Range       φ_r(x) falls below every number of a dtype where ‖x‖²/2 − ⟨ω_r, x⟩ is large. Attention needs quotients only:
            ‖q‖² cancels in each row, features are scaled one by one, so that each row has a term 1, and with k_j = c + x_j,
            ⟨ω_r, k_j⟩ − ‖k_j‖²/2 = ⟨ω_r − c, x_j⟩ − ‖x_j‖²/2 + ⟨ω_r, c⟩ less a constant, where a far c costs no digits.
Masks       A key that is masked is left out after the feature map. A zero vector has features too: ⟨φ(q), φ(0)⟩ ≠ 0. A mask
            is of the keys, one for all queries of a problem: it never adds axes to the result.
Shapes      Features are (..., n, F) and (..., m, F). Other conventions: ``numerics.arguments``
"""

import math

import torch
from torch import Tensor

from numerics import arguments
from numerics.arguments import Positive, without_autocast
from numerics.masks import causally_shielded, spoiled

_CHUNK = 64

_CAUSAL_CHUNK = 16
"""For features as logarithms: a chunk takes its square times F numbers."""

_TILE_NUMBERS = 2**23
"""The largest number of entries of an array of ``ratio_bias``, unless a single key has more: 32 MB in float32, which allocators
return once it is free; smaller ones would leave holes between the results."""


@without_autocast
def linear_attention(
    query_features: Tensor, key_features: Tensor, value: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> Tensor:
    """Return Σ_j W_ij v_j in O((n + m) F dv), the output of ``kernel_weights`` without its matrix.

    Args:
        query_features: φ(q), floating, (..., n, F).
        key_features: φ(k), floating, (..., m, F).
        value: v, floating, (..., m, dv).
        mask: of the keys, boolean, (..., m), with leading axes that broadcast to those of the rest: True takes part.
        causal: whether query i sees keys j ≤ i only; then n = m.

    Returns:
        (..., n, dv), in the widest dtype of the three; zeros where a row of the kernel is zero.

    Raises:
        ValueError: for other shapes or dtypes.
    """
    (q, k, v), dtype = arguments.tensors(query_features=(query_features, 2), key_features=(key_features, 2), value=(value, 2))
    _check_shapes(q, k, v, mask, causal=causal)
    k, v, seen = _unmasked(k, mask), _unmasked(v, mask), None
    if causal:
        (q, k, v), seen = causally_shielded(q, k, v)
    v = _with_ones(v)
    total = _causal(q, k, v) if causal else torch.matmul(q, torch.matmul(k.mT, v))
    return spoiled(_quotient(total), seen).to(dtype)


@without_autocast
def kernel_weights(query_features: Tensor, key_features: Tensor, mask: Tensor | None = None, *, causal: bool = False) -> Tensor:
    """Return the weights W, (..., n, m), of ``linear_attention``. Arguments and errors as there."""
    (q, k), dtype = arguments.tensors(query_features=(query_features, 2), key_features=(key_features, 2))
    _check_shapes(q, k, None, mask, causal=causal)
    k, seen = _unmasked(k, mask), None
    if causal:
        (q, k), seen = causally_shielded(q, k)
    kernel = torch.matmul(q, k.mT)
    kernel = kernel.tril() if causal else kernel
    return spoiled(_quotient(torch.cat((kernel, kernel.sum(-1, keepdim=True)), -1)), seen).to(dtype)


@without_autocast
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


@without_autocast
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

    Every row has weights, however large the scores: see the module's notes on the range of features.

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
    batch_shape = arguments.broadcast(batch=batch, value=v.shape[:-2], projections=omega.shape[:-2])
    for name, vectors in (("key", k), ("projections", omega)):
        arguments.floating(name, vectors, "m", "d", last=q.shape[-1])
    root = arguments.positive("temperature", temperature, batch, q).sqrt()[..., None, None]
    _check_mask(mask, (*batch_shape, k.shape[-2]))
    q, k, v, seen = q / root, _unmasked(k, mask) / root, _unmasked(v, mask), None
    if causal:
        (q, k, v), seen = causally_shielded(q, k, v)
    center = _center(k.detach(), mask, causal=causal)
    x = k - center
    a = torch.matmul(q, omega.mT) + torch.matmul(center, omega.mT)
    b = torch.matmul(x, (omega - center).mT) - x.square().sum(-1, keepdim=True) / 2
    # A logarithm beyond the range of the dtype does not mean a feature of zero.
    a, b = (torch.where(logarithm.isinf(), torch.nan, logarithm) for logarithm in (a, b))
    _check_shapes(a, b, v, mask, causal=causal)
    if mask is not None:
        b = torch.where(mask.unsqueeze(-1), b, -torch.inf)
    v = _with_ones(v)
    if causal:
        return spoiled(_quotient(_causal_logarithms(a, b, v)), seen).to(dtype)
    top = _finite_peak(b, -2)
    a = a + top
    total = torch.matmul((a - _finite_peak(a, -1)).exp(), torch.matmul((b - top).exp().mT, v))
    return _quotient(total).to(dtype)


@without_autocast
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
    # e^{2⟨q, k⟩}(e^s − 1) = e^{2⟨q, k⟩ + s}(1 − e^{−s}): the factors on the left may overflow where their product does not.
    return ((2 * torch.matmul(q, k.mT) + sums).exp() * -(-sums).expm1() / features).to(dtype)


@without_autocast
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
    log_p = torch.matmul(q, (k - k.mean(-2, keepdim=True).detach()).mT).log_softmax(-1)
    tile = max(1, _TILE_NUMBERS // max(1, log_p.numel()))
    tiles = (torch.matmul(part, sums.mT) + log_p.unsqueeze(-2) for part in torch.split(sums, tile, -2))
    each = torch.cat([part.logsumexp(-1) for part in tiles], -1)
    mean = (each + log_p).logsumexp(-1, keepdim=True)
    # p (e^mean − e^each), where e^mean alone may overflow and the difference may be small.
    difference = -(-(mean - each).abs()).expm1() * (mean - each).sign()
    size = log_p + torch.maximum(mean, each)
    size = torch.where(difference == 0, size.clamp(max=math.log(torch.finfo(size.dtype).max) / 2), size)
    return (size.exp() * difference / features).to(dtype)


def _causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return Σ_{j≤i} ⟨q_i, k_j⟩ v_j, chunk by chunk: everything before a chunk is summed in one F × dv matrix."""
    n = q.shape[-2]
    chunks = -(-n // _CHUNK)
    size = min(n, _CHUNK)
    padded = (torch.nn.functional.pad(x, (0, 0, 0, chunks * size - n)) for x in (q, k, v))
    q, k, v = (x.reshape(*x.shape[:-2], chunks, size, x.shape[-1]) for x in padded)
    states = torch.matmul(k.mT, v)
    prefix = torch.nn.functional.pad(states.cumsum(-3)[..., :-1, :, :], (0, 0, 0, 0, 1, 0))
    within = torch.matmul(torch.matmul(q, k.mT).tril(), v)
    return (within + torch.matmul(q, prefix)).flatten(-3, -2)[..., :n, :]


def _causal_logarithms(a: Tensor, b: Tensor, v: Tensor) -> Tensor:
    """Return Σ_{j≤i} Σ_r exp(a_ir + b_jr) v_j over the largest of these exponentials in each row i, chunk by chunk."""
    n = a.shape[-2]
    peak = torch.full_like(b[..., :1, :], -torch.inf)  # the largest b_jr of all chunks before
    state = torch.matmul(torch.zeros_like(b[..., :1, :]).mT, v[..., :1, :])
    outputs = []
    for start in range(0, n, _CAUSAL_CHUNK):
        rows, keys, values = (x[..., start : start + _CAUSAL_CHUNK, :] for x in (a, b, v))
        seen = torch.maximum(peak, keys.detach().cummax(-2).values)
        rows = rows - _finite_peak(rows + seen, -1)
        size = rows.shape[-2]
        past = torch.ones(size, size, dtype=torch.bool, device=a.device).tril()
        logits = torch.where(past.unsqueeze(-1), rows.unsqueeze(-2) + keys.unsqueeze(-3), -torch.inf)
        before = rows + peak
        # The peak of the very sums that follow: where the keys' logarithms are huge, too, the one above is off by more than 1.
        largest = _finite_peak(torch.maximum(logits.detach().amax(-2), before), -1)
        outputs.append(
            torch.matmul((before - largest).exp(), state) + torch.matmul((logits - largest.unsqueeze(-1)).exp().sum(-1), values)
        )
        top = seen[..., -1:, :]
        level = torch.where(top == -torch.inf, 0.0, top)
        state = state * (peak - level).exp().mT + torch.matmul((keys - level).exp().mT, values)
        peak = top
    return torch.cat(outputs, -2)


def _finite_peak(x: Tensor, dim: int) -> Tensor:
    """Return the largest entries along a dimension, held constant; 0 where all are −inf."""
    peak = x.detach().amax(dim, keepdim=True)
    return torch.where(peak == -torch.inf, 0.0, peak)


def _check_shapes(q: Tensor, k: Tensor, v: Tensor | None, mask: Tensor | None, *, causal: bool) -> None:
    """Refuse features, values and masks whose shapes do not agree."""
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"key_features: expected (..., m, {q.shape[-1]}) like the queries' features, got {tuple(k.shape)}")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError(f"causal: expected as many keys as queries, got {k.shape[-2]} and {q.shape[-2]}")
    if v is not None and v.shape[-2] != k.shape[-2]:
        raise ValueError(f"value: expected (..., {k.shape[-2]}, dv) for these keys, got {tuple(v.shape)}")
    shapes = {"query_features": q.shape[:-2], "key_features": k.shape[:-2]}
    batch = arguments.broadcast(**shapes, **({} if v is None else {"value": v.shape[:-2]}))
    _check_mask(mask, (*batch, k.shape[-2]))


def _check_mask(mask: Tensor | None, shape: tuple[int, ...]) -> None:
    """Refuse a mask that is not one of the keys of such problems."""
    if mask is not None:
        arguments.check_mask(mask, shape, exact=True, boolean=True)
        arguments.check_expands("mask", mask, shape)


def _center(k: Tensor, mask: Tensor | None, *, causal: bool) -> Tensor:
    """Return a vector (..., 1, d) near the keys: their mean, or the first unmasked one, which every causal row sees."""
    if mask is None:
        return k[..., :1, :] if causal else k.mean(-2, keepdim=True)
    if causal:
        shape = torch.broadcast_shapes(k.shape[:-1], mask.shape)  # type: ignore[no-untyped-call]
        first = mask.expand(shape).long().argmax(-1)[..., None, None].expand(*shape[:-1], 1, k.shape[-1])
        return _unmasked(k, mask).gather(-2, first)
    return _unmasked(k, mask).sum(-2, keepdim=True) / mask.sum(-1).clamp(min=1)[..., None, None]


def _unmasked(k: Tensor, mask: Tensor | None) -> Tensor:
    """Return keys, their features or values with zeros where masked, since 0 · inf would be NaN."""
    return k if mask is None else torch.where(mask.unsqueeze(-1), k, 0.0)


def _with_ones(v: Tensor) -> Tensor:
    """Return values with a last column that becomes the sum of the weights."""
    return torch.cat((v, torch.ones_like(v[..., :1])), -1)


def _quotient(total: Tensor) -> Tensor:
    """Return weighted sums over the sum of the weights in their last column: zeros where that is zero, NaN if infinite."""
    numerator, mass = total[..., :-1], total[..., -1:]
    quotient = numerator / torch.where(mass == 0, 1.0, mass)
    return torch.where(mass == 0, 0.0, torch.where(mass.isinf(), torch.nan, quotient))


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
