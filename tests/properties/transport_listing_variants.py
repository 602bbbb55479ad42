"""The listings on linear attention, temperature, and the experiment, in torch, against the proved expressions."""

from __future__ import annotations

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import linear, one_sided, tolerances
from tests.layers import Reading, confirms, float64
from tests.listings import models
from tests.properties.transport_listing import ANY, PAIRS, SEVERAL, Tokens

TORCH = Layer.TORCH


# ── LinearAttentionAsOT ─────────────────────────────────────────────────────────────────────────────────────────────


def linear_output(x: Tokens, guard: float, scale: float = 1.0) -> Tensor:
    """One coordinate of what the listing's core returns."""
    return models.linear_attention(scale * x["X"][None], scale * x["Y"][None], x["V"][None, :, None], guard)[0, :, 0]


@confirms(TORCH, "transport.listing.LinearAttentionAsOT", on=SEVERAL)
def kernel_attention(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V"), x["X"], x["Y"], x["V"], listing=linear_output(x, models.GUARD))


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.plan", on=ANY)
def kernel_plan(x: Tokens) -> Reading:
    affinity = x["X"] @ x["Y"].mT
    values = torch.eye(x.m, dtype=torch.float64, device=x.device)
    listing = models.linear_attention(x["X"][None], x["Y"][None], values[None], 0.0)[0]
    return x.reading(x.point(G=affinity), affinity, listing=listing, closed_form=linear.kernel_weights(x["X"], x["Y"]),
                     one_sided=one_sided.plan(affinity.log()))


def rows_of_kernel(x: Tokens) -> Reading:
    weights = linear.kernel_weights(x["X"], x["Y"])
    return x.reading(x.point(G=x["X"] @ x["Y"].mT), closed_form=weights.sum(-1))


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.rows", on=ANY, corrected=rows_of_kernel)
def rows_of_features_cut_to_zero(x: Tokens) -> Reading:
    features = models.relu_features(-x["X"], torch.eye(2, dtype=torch.float64, device=x.device))
    weights = models.linear_attention(features[None], x["Y"][None], torch.ones_like(x["Y"][None, :, :1]))[0, :, 0]
    return x.reading(x.point(), listing=weights)


def one_map(x: Tokens) -> Reading:
    energy = (x["c"] @ models.relu_features(x["X"], torch.eye(2, dtype=torch.float64, device=x.device))).square().sum()
    return x.reading(x.point("c", "X"), x["c"], x["X"], model=energy)


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.kernel", on=PAIRS, corrected=one_map)
def two_maps(x: Tokens) -> Reading:
    """Projections 1 for queries and −1 for keys, of tokens ±1: features 1, 0 and 0, 1."""
    places = float64([[1.0], [-1.0]]).to(x.device)
    query, key = (models.relu_features(places, sign * float64([[1.0]]).to(x.device)) for sign in (1.0, -1.0))
    odd = float64([1.0, -1.0]).to(x.device)
    return x.reading(x.point(c=odd), listing=(odd @ query) @ (odd @ key))


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.features", on=ANY)
def relu(x: Tokens) -> Reading:
    one = float64([[1.0]]).to(x.device)
    return x.reading(x.point("t"), listing=models.relu_features(x["t"].reshape(1, 1), one)[0, 0])


def rescaled_without_guard(x: Tokens) -> Reading:
    scale = 1 + float(x["g"][0])
    closed = linear.linear_attention(scale * x["X"], scale * x["Y"], x["V"][:, None])[:, 0]
    return x.reading(x.point("X", "Y", "V", s=scale), x["V"], scale, model=linear_output(x, 0.0, scale), closed_form=closed)


@confirms(TORCH, "transport.listing.LinearAttentionAsOT.stable", on=ANY, corrected=rescaled_without_guard)
def small_features(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V", s=1e-4), x["V"], listing=linear_output(x, models.GUARD, 1e-4))


# ── analyze_attention_temperature ───────────────────────────────────────────────────────────────────────────────────


def derivative(function, at: float) -> Tensor:  # type: ignore[no-untyped-def]
    """d/dε by autograd."""
    epsilon = torch.tensor(at, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(function(epsilon), epsilon)[0]


@confirms(TORCH, "transport.listing.analyze_attention_temperature", on=SEVERAL)
def slope_of_entropy(x: Tokens) -> Reading:
    listing = derivative(lambda e: models.row_entropies(torch.softmax(x["S"] / e, -1), 0.0).mean(), x.epsilon)
    closed = derivative(lambda e: one_sided.entropy(one_sided.plan(x["S"], e)).mean(), x.epsilon)
    return x.reading(x.point("S"), x["S"].square(), listing=listing, closed_form=closed)


@confirms(TORCH, "transport.listing.analyze_attention_temperature.entropy", on=ANY)
def reported_entropy(x: Tokens) -> Reading:
    weights = torch.softmax(x["S"] / x.epsilon, -1)
    return x.reading(x.point(A=weights), listing=models.row_entropies(weights))


@confirms(TORCH, "transport.listing.analyze_attention_temperature.max-attention", on=ANY)
def slope_of_largest(x: Tokens) -> Reading:
    gap = x["g"] - x["g"].min()
    listing = derivative(lambda e: torch.softmax(-gap / e, -1)[gap.argmin()], x.epsilon)
    return x.reading(x.point(g=gap), gap, listing=listing)


def log_size(x: Tokens) -> Reading:
    """log m against the logarithm of what is reported."""
    weights = torch.softmax(x["S"] / x.epsilon, -1)
    most = float64(x.m).log().expand(x.n)
    return x.reading(x.point(A=weights), listing=most)


def size_of_one_head(x: Tokens) -> Reading:
    """One head on the left; on the right the entropy of equal weights, whose exponential the listing reports."""
    even = torch.full((1, x.m), 1 / x.m, dtype=torch.float64)
    return x.reading(x.point(A=even, n=1, H=1.0), listing=float64([1.0]).log())


confirms(TORCH, "transport.listing.analyze_attention_temperature.effective-size", on=SEVERAL,
         corrected=log_size)(size_of_one_head)


def mean_of_sizes(x: Tokens) -> Reading:
    return x.reading(x.point("h"), x["h"].exp(), repaired=x["h"].exp().mean())


@confirms(TORCH, "transport.listing.analyze_attention_temperature.average", on=PAIRS, corrected=mean_of_sizes)
def size_of_the_mean(x: Tokens) -> Reading:
    """The queries are the first coordinate's scores of two keys, so that the rows differ in entropy."""
    query = torch.arange(x.n, dtype=torch.float64)[:, None]
    key = float64([[0.0], [2.0]])
    entropies = models.row_entropies(torch.softmax(query @ key.mT, -1), 0.0)
    size = models.analyze(query, key, key, (1.0,))[0].effective_size
    return Reading(x.point(h=entropies), {"listing": float64(size)}, 10 * models.GUARD)


# ── OTAttentionExperiment ───────────────────────────────────────────────────────────────────────────────────────────


def heads_of(x: Tokens) -> Tensor:
    """Weights of n heads for one query."""
    return torch.softmax(x["S"] / x.epsilon, -1)


def mean_head(x: Tokens) -> Reading:
    return x.reading(x.point(H=x.n, A=heads_of(x)), closed_form=one_sided.entropy(heads_of(x).mean(0)))


@confirms(TORCH, "transport.listing.OTAttentionExperiment", on=PAIRS, corrected=mean_head)
def entropy_of_averaged_weights(x: Tokens) -> Reading:
    weights = torch.softmax(4 * torch.eye(x.n, dtype=torch.float64), -1)
    return Reading(x.point(H=x.n, A=weights), {"listing": models.row_entropies(weights.mean(0))}, 10 * x.m * models.GUARD)


# ── OptimalTransportAttention ───────────────────────────────────────────────────────────────────────────────────────


def all_odds(plan: Tensor) -> Tensor:
    """A_ij A_kl/(A_il A_kj) with the axes i, j, k, l."""
    ratio = plan[:, :, None] / plan[:, None, :]              # A_ij/A_il, with the axes i, j, l
    return torch.einsum("ijl,kjl->ijkl", ratio, 1 / ratio)


def divided(x: Tokens) -> Reading:
    rows = x["A"] / x["A"].sum(-1, keepdim=True)
    columns = rows / rows.sum(-2, keepdim=True)
    again = columns / columns.sum(-1, keepdim=True)
    return x.reading(x.point("A"), 1e3, repaired=all_odds(again))


@confirms(TORCH, "transport.listing.OptimalTransportAttention", on=PAIRS, count=12, corrected=divided)
def softened(x: Tokens) -> Reading:
    return x.reading(x.point("A"), listing=all_odds(models.resharpened(x["A"], x.epsilon, rounds=1)),
                     three=all_odds(models.resharpened(x["A"], x.epsilon)))


def repaired_start(x: Tokens) -> Reading:
    parameter = float64(x.epsilon).expm1().log()
    return x.reading(x.point(), repaired=torch.nn.functional.softplus(parameter))


@confirms(TORCH, "transport.listing.OptimalTransportAttention.epsilon", on=ANY, corrected=repaired_start)
def start_at_log_two(x: Tokens) -> Reading:
    module = models.OptimalTransportAttention(2, 1, epsilon=x.epsilon)
    return Reading(x.point(y=0.0), {"listing": module.temperature.detach().double().flatten()[0]},
                   tolerances.rounding("float32", 1))


@confirms(TORCH, "transport.listing.OptimalTransportAttention.temperature", on=ANY)
def temperature(x: Tokens) -> Reading:
    module = models.OptimalTransportAttention(2, 1).double()
    with torch.no_grad():
        module.log_epsilon.fill_(float(x["t"]))
    return x.reading(x.point(y=float(x["t"])), listing=module.temperature.flatten()[0])


def uniform(x: Tokens) -> Reading:
    weights = models.resharpened(x["row"], x.epsilon, guard=0.0)[0]
    return x.reading(x.point(A=x["row"]), model=weights)


@confirms(TORCH, "transport.listing.OptimalTransportAttention.single-query", on=SEVERAL, corrected=uniform)
def single_query(x: Tokens) -> Reading:
    weights = torch.softmax(float64([[1.0] + [0.0] * (x.m - 1)]), -1)
    return x.reading(x.point(A=weights), listing=models.resharpened(weights, x.epsilon)[0])


@confirms(TORCH, "transport.listing.OptimalTransportAttention.rows", on=ANY)
def rows_at_the_end(x: Tokens) -> Reading:
    return x.reading(x.point("A"), listing=models.resharpened(x["A"], x.epsilon).sum(-1),
                     none=torch.softmax(x["S"] / x.epsilon, -1).sum(-1))


# ── run_ot_attention_experiment ─────────────────────────────────────────────────────────────────────────────────────


def outputs(x: Tokens, other: Tensor) -> Reading:
    """Σ_j P_j w X_j − Σ_j B_j w' X_j."""
    values = x["V"]
    found = (x["P"] * x["w"] * values).sum() - (x["B"] * other * values).sum()
    return x.reading(x.point("P", "B", "w", X=values, y=other), values, modules=found)


@confirms(TORCH, "transport.listing.run_ot_attention_experiment", on=SEVERAL, corrected=lambda x: outputs(x, x["w"]))
def independent_outputs(x: Tokens) -> Reading:
    return outputs(x, x["w"] + 1 + x["g"][0])
