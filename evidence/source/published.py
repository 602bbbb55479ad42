"""Facts about attention as published (Bahdanau, Luong, Vaswani, Ramsauer), compared with (18) and, where there is some,
with shipped code."""

import math

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.t5.modeling_t5 import T5Attention

from evidence.source.shipped import (
    Fact,
    allowed_error,
    bert_calls,
    generalized,
    location,
    output_residual,
    t5_calls,
    weights_residual,
    worst,
)
from numerics import tolerances
from numerics.attention import MeanProblem, attention_weights

QUERIES, WORDS, WIDTH, UNITS = 11, 12, 3, 8
EXACT = tolerances.rounding("float64", WORDS * UNITS, 8.0 * WORDS)
"""Rounding of the small float64 examples below, whose numbers are drawn below 8."""


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Normal numbers in float64, cut at ±2."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).clamp(-2.0, 2.0)


def uniform(templates: Tensor) -> Tensor:
    """The logarithm of a uniform prior, up to a constant."""
    return torch.zeros(templates.shape[-2], dtype=templates.dtype)


def luong_dot_is_a_uniform_prior() -> Fact:
    """Score h_tᵀh_s, and the annotations are keys and values at once: (18) with α = 1; scaled scores are not Luong's."""
    queries, annotations = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1)
    shipped = scaled_dot_product_attention(queries, annotations, annotations, scale=1.0)
    ours = attention_weights(annotations, queries, uniform(annotations)) @ annotations
    scaled = attention_weights(annotations, queries, uniform(annotations), WIDTH**-0.5) @ annotations
    return Fact(
        "Luong's dot score is (18) with u uniform, α = 1, the annotations as templates and the state as evidence",
        "Luong, Pham, Manning (2015), section 3.1",
        worst(ours - shipped, EXACT),
        worst(scaled - shipped, EXACT),
    )


def luong_general_is_a_uniform_prior() -> Fact:
    """Score h_tᵀWh_s: the evidence is Wᵀh_t, not Wh_t."""
    queries, annotations, w = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1), drawn(WIDTH, WIDTH, seed=2)
    expected = torch.einsum("ka,ab,ib->ki", queries, w, annotations).softmax(-1)
    ours = attention_weights(annotations, queries @ w, uniform(annotations))
    transposed = attention_weights(annotations, queries @ w.T, uniform(annotations))
    return Fact(
        "Luong's general score is (18) with u uniform, α = 1 and evidence Wᵀh_t",
        "Luong, Pham, Manning (2015), section 3.1",
        worst(ours - expected, EXACT),
        worst(transposed - expected, EXACT),
    )


def vaswani_is_a_uniform_prior_on_pairs() -> Fact:
    """With separate keys and values, a template must contain both; no linear map takes the mean key to the mean value."""
    queries, keys, values = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1), drawn(WORDS, WIDTH, seed=2)
    shipped = scaled_dot_product_attention(queries, keys, values)
    pairs, evidence = torch.cat((keys, values), -1), torch.cat((queries, torch.zeros_like(queries)), -1)
    mean = attention_weights(pairs, evidence, uniform(pairs), WIDTH**-0.5) @ pairs
    mean_key = attention_weights(keys, queries, uniform(keys), WIDTH**-0.5) @ keys
    best = mean_key @ torch.linalg.lstsq(mean_key, shipped).solution
    return Fact(
        "scaled dot-product attention is (18) with u uniform, α = 1/√d′ and key–value pairs as templates; "
        "keys alone will not do unless the values are a linear map of them",
        "torch scaled_dot_product_attention",
        worst(mean[:, WIDTH:] - shipped, EXACT),
        worst(best - shipped, EXACT),
    )


def additive_scores() -> tuple[Tensor, Tensor, Tensor]:
    """Bahdanau's scores vᵀtanh(Ws_k + Uh_i), the states s_k and the annotations h_i."""
    queries, annotations = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1)
    w, u, v = drawn(UNITS, WIDTH, seed=2), drawn(UNITS, WIDTH, seed=3), drawn(UNITS, seed=4)
    return torch.tanh((queries @ w.T)[:, None] + (annotations @ u.T)[None]) @ v, queries, annotations


def excess_rank(log_weights: Tensor, width: int) -> float:
    """How far log p_ki is from a_k + c_i + ⟨t_i, z_k⟩ with t_i in ℝ^width, whatever they are, in tolerances.

    Taking off the first row and column leaves ⟨t_i − t_0, z_k − z_0⟩, a matrix of at most that rank.
    """
    corner = log_weights - log_weights[:1] - log_weights[:, :1] + log_weights[:1, :1]
    return float(torch.linalg.svdvals(corner)[width]) / EXACT


def bahdanau_is_not_a_uniform_prior() -> Fact:
    """Nor one with any other prior that the query does not change, with any evidence, for the annotations as templates."""
    scores, queries, annotations = additive_scores()
    dot = attention_weights(annotations, queries, drawn(WORDS, seed=5)).log()
    return Fact(
        "Bahdanau's score vᵀtanh(Ws + Uh) is no inner product of the annotations with any evidence: its log weights "
        "have a higher rank than (18) allows, for every u that does not depend on the query",
        "Bahdanau, Cho, Bengio (2015), section 3.1 and appendix A.1.2",
        excess_rank(dot, WIDTH),
        excess_rank(scores.log_softmax(-1), WIDTH),
    )


def bahdanau_is_a_prior_per_query() -> Fact:
    """(18) with z = 0 and u_i ∝ exp(score): true of any positive weights, so it is empty; and u is not uniform."""
    scores, queries, annotations = additive_scores()
    ours = attention_weights(annotations, torch.zeros_like(queries), scores)
    fixed = attention_weights(annotations, torch.zeros_like(queries), scores.mean(0)).expand_as(ours)
    return Fact(
        "Bahdanau's weights are (18) with no evidence and the prior u_i ∝ exp(score), a prior that depends on the query",
        "Bahdanau, Cho, Bengio (2015), section 3.1",
        worst(ours - scores.softmax(-1), EXACT),
        worst(fixed - scores.softmax(-1), EXACT),
    )


def luong_local_has_a_gaussian_prior() -> Fact:
    """softmax(score)·exp(−(i − p_k)²/(2σ²)), not normalized afterwards: up to its sum, (18) with a prior of the position."""
    queries, annotations = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1)
    centers = (drawn(QUERIES, seed=6).sigmoid() * WORDS).unsqueeze(-1)
    log_prior = -(torch.arange(WORDS) - centers).square() / (2 * 2.0**2)
    local = (queries @ annotations.T).softmax(-1) * log_prior.exp()
    ours = attention_weights(annotations, queries, log_prior)
    flat = attention_weights(annotations, queries, uniform(annotations))
    wrong = min(worst(ours - local, EXACT), worst(flat - local / local.sum(-1, keepdim=True), EXACT))
    return Fact(
        "Luong's local-p attention prefers positions by a Gaussian, so u is not uniform; and it is (18) only after "
        "its weights are divided by their sum",
        "Luong, Pham, Manning (2015), section 3.2",
        worst(ours - local / local.sum(-1, keepdim=True), EXACT),
        wrong,
    )


def weights_are_not_identifiable() -> Fact:
    """More than width + 1 templates: what is orthogonal to them and to the constant can be added to the weights."""
    queries, templates = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1)
    weights = attention_weights(templates, queries, uniform(templates))
    constraints = torch.cat((templates, torch.ones(WORDS, 1).double()), -1)
    free = torch.linalg.qr(constraints, mode="complete").Q[:, WIDTH + 1]
    other = weights + 0.9 * (weights / free.abs()).amin(-1, keepdim=True) * free
    same = ((other - weights) @ templates, other.sum(-1) - 1.0, other.clamp(max=0.0))
    return Fact(
        "with more than width + 1 templates different weights give the same mean",
        "Brunner et al. (2020)",
        max(worst(x, EXACT) for x in same),
        worst(other - weights, EXACT),
    )


def hopfield_update_is_a_uniform_prior() -> Fact:
    """ξ ← X softmax(βXᵀξ): α is β."""
    states, patterns, beta = drawn(QUERIES, WIDTH), drawn(WORDS, WIDTH, seed=1), 2.5
    shipped = scaled_dot_product_attention(states, patterns, patterns, scale=beta)
    ours, without = (attention_weights(patterns, states, uniform(patterns), alpha) @ patterns for alpha in (beta, 1.0))
    return Fact(
        "the update of the modern Hopfield network is (18) with u uniform, the stored patterns as templates, the "
        "state as evidence and α = β",
        "Ramsauer et al. (2021), the update rule",
        worst(ours - shipped, EXACT),
        worst(without - shipped, EXACT),
    )


def hopfield_values_are_maps_of_keys() -> Fact:
    """A pretrained head is the update only on inputs as patterns; with keys as patterns no value map fits."""
    residual, counter = 0.0, math.inf
    for call in bert_calls(True):
        module, heads = call.module, call.weights.shape[1]
        key, value = (m.weight.detach().unflatten(0, (heads, -1)) for m in (module.key, module.value))
        best = torch.linalg.lstsq(key.mT.double(), value.mT.double()).solution.mT @ key.double()
        mean = call.weights.double() @ call.source.double().unsqueeze(-3)
        output = mean @ best.mT + module.value.bias.detach().double().view(heads, 1, -1)
        residual = max(residual, output_residual(generalized(call), call))
        counter = min(counter, worst(output.transpose(1, 2).flatten(-2) - call.output, allowed_error(call)[0]))
    return Fact(
        "values computed from the keys, as in the Hopfield layer, cannot be those of a pretrained head: templates "
        "are its inputs",
        "Ramsauer et al. (2021), the Hopfield layer",
        residual,
        counter,
    )


def evidence_can_hold_the_scale() -> Fact:
    """(23) of inference with τ = d is T5 only if the evidence is √d times KᵀQy, which undoes it."""
    residual, counter = 0.0, math.inf
    for call in t5_calls():
        with torch.no_grad():
            p = generalized(call).problem(call.hidden, call.source, call.padding)
        templates, width = p.templates[..., 0, :, :], p.templates.shape[-1]
        for factor in (math.sqrt(width), 1.0):
            deviation = weights_residual(attention_weights(templates, p.evidence * factor, p.prior.log(), width**-0.5), call)
            residual, counter = (max(residual, deviation), counter) if factor > 1 else (residual, min(counter, deviation))
    return Fact("τ = d with z = KᵀQy is not T5; with z = √d KᵀQy it is", location(T5Attention.forward), residual, counter)


def deviation_is_a_choice_of_alpha() -> Fact:
    """(18) sees αz alone, so the same layer has a problem for each α, and ‖λ* − αz‖ ≤ α·diameter: as small as one likes."""
    call = bert_calls(False, torch.float64)[0]
    weights, deviations, excess = [], [], 0.0
    for alpha in (1.0, 2.0**-8):
        with torch.no_grad():
            problem = generalized(call).problem(call.hidden, mask=call.padding, alpha=alpha)
        weights.append(attention_weights(problem.templates[..., 0, :, :], problem.evidence, problem.prior.log(), alpha))
        dual = solved(problem)
        distance = (dual - alpha * problem.evidence).norm(dim=-1)
        diameter = torch.cdist(problem.templates, problem.templates).amax((-1, -2))
        excess = max(excess, float((distance / (alpha * diameter)).max()))
        deviations.append(float((distance / dual.norm(dim=-1)).mean()))
    return Fact(
        "the relative deviation of λ* from αz is no property of a network: dividing α by 256 and multiplying z by "
        f"256 keeps every weight and takes the mean deviation from {deviations[0]:.3g} to {deviations[1]:.3g}",
        "section 8",
        max(excess, worst(weights[0] - weights[1], allowed_error(call)[1] + EXACT)),
        deviations[0] / deviations[1],
    )


def solved(problem: MeanProblem, steps: int = 60) -> Tensor:
    """λ* of each problem, by Newton's method on the dual with halved steps, in float64."""
    t, z, alpha = problem.templates.double(), problem.evidence.double(), problem.alpha
    log_prior = problem.prior.double().log()
    center = z + (problem.prior.double().unsqueeze(-2) @ t).squeeze(-2)

    def value(dual: Tensor) -> Tensor:
        scores = (t @ dual.unsqueeze(-1)).squeeze(-1) + log_prior
        return (center * dual).sum(-1) - dual.square().sum(-1) / (2 * alpha) - scores.logsumexp(-1)

    dual = torch.zeros_like(z)
    for _ in range(steps):
        p = ((t @ dual.unsqueeze(-1)).squeeze(-1) + log_prior).softmax(-1)
        mean = (p.unsqueeze(-2) @ t).squeeze(-2)
        spread = t - mean.unsqueeze(-2)
        curvature = torch.eye(t.shape[-1]).double() / alpha + (spread * p.unsqueeze(-1)).mT @ spread
        step = torch.linalg.solve(curvature, center - dual / alpha - mean)
        size = torch.ones_like(dual[..., :1])
        for _ in range(30):
            size = torch.where((value(dual + size * step) < value(dual)).unsqueeze(-1), size / 2, size)
        dual = dual + size * step
    return dual


FACTS = (
    weights_are_not_identifiable,
    luong_dot_is_a_uniform_prior,
    luong_general_is_a_uniform_prior,
    vaswani_is_a_uniform_prior_on_pairs,
    luong_local_has_a_gaussian_prior,
    bahdanau_is_not_a_uniform_prior,
    bahdanau_is_a_prior_per_query,
    hopfield_update_is_a_uniform_prior,
    hopfield_values_are_maps_of_keys,
    evidence_can_hold_the_scale,
    deviation_is_a_choice_of_alpha,
)
