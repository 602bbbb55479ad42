"""Votes on: The listing `LinearAttentionAsOT`."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Value, confirms, float64
from evidence.eot.conic_appendix import ConicBatch, conic_batches
from evidence.transport import listings as models
from evidence.transport.listing import ANY, SEVERAL, Tokens
from numerics import linear, one_sided, tolerances
from numerics.primal import matrix
from numerics.primal.arguments import Array


def linear_output(x: Tokens, guard: float, scale: float = 1.0) -> Tensor:
    """One coordinate of what the listing's core returns."""
    return models.linear_attention(scale * x["X"][None], scale * x["Y"][None], x["V"][None, :, None], guard)[0, :, 0]


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT", on=SEVERAL)
def kernel_attention(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V"), x["X"], x["Y"], x["V"], listing=linear_output(x, models.GUARD))


def kernel_plan(x: Tokens) -> Reading:
    affinity = x["X"] @ x["Y"].mT
    values = torch.eye(x.m, dtype=torch.float64, device=x.device)
    listing = models.linear_attention(x["X"][None], x["Y"][None], values[None], 0.0)[0]
    return x.reading(
        x.point(G=affinity),
        affinity,
        listing=listing,
        closed_form=linear.kernel_weights(x["X"], x["Y"]),
        one_sided=one_sided.plan(affinity.log()),
    )


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT.plan", on=ANY, corrected=kernel_plan)
def plan_of_small_features(x: Tokens) -> Reading:
    """Features of 1e-4: the solution of the problem, against the quotient with 1e-8 below."""
    query, key = 1e-4 * x["X"], 1e-4 * x["Y"]
    return x.reading(x.point("V", X=query, Y=key), one_sided=one_sided.plan((query @ key.mT).log()))


def rows_of_kernel(x: Tokens) -> Reading:
    weights = linear.kernel_weights(x["X"], x["Y"])
    return x.reading(x.point(G=x["X"] @ x["Y"].mT), closed_form=weights.sum(-1))


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT.rows", on=ANY, corrected=rows_of_kernel)
def rows_of_features_cut_to_zero(x: Tokens) -> Reading:
    features = models.relu_features(-x["X"], torch.eye(2, dtype=torch.float64, device=x.device))
    weights = models.linear_attention(features[None], x["Y"][None], torch.ones_like(x["Y"][None, :, :1]))[0, :, 0]
    return x.reading(x.point("Y", X=features), listing=weights)


def energy(x: Tokens) -> Reading:
    """The smallest energy is that of the kernel's matrix, here at one vector c, which is 0 for one seed in three."""
    c = x["c"] if x.seed % 3 else torch.zeros_like(x["c"])
    features = models.relu_features(x["points"], torch.eye(2, dtype=torch.float64, device=x.device))
    return x.reading(x.point(c=c, z=x["points"]), c, features, model=c @ (features @ features.mT) @ c)


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT.kernel", on=SEVERAL, corrected=energy)
def least_energy_between_tokens(x: Tokens) -> Reading:
    """The least energy of the kernel between tokens, by the eigenvector of its symmetric part; keys are turned queries."""
    turn = float64([[0.0, 1.0], [-1.0, 0.0]]).to(x.device)
    keys = models.relu_features(x["points"], turn)
    queries = models.relu_features(x["points"], torch.eye(2, dtype=torch.float64, device=x.device))
    matrix = queries @ keys.mT
    c = torch.linalg.eigh(matrix + matrix.mT).eigenvectors[:, 0]
    return x.reading(x.point(c=c, z=x["points"], y=x["points"] @ turn.mT), queries, keys, model=c @ matrix @ c)


def kernel_of_features(x: Tokens) -> Reading:
    one = torch.eye(2, dtype=torch.float64, device=x.device)
    keys = x["points"].flip(-1)
    affinity = models.relu_features(x["points"], one) @ models.relu_features(keys, one).mT
    return x.reading(x.point(z=x["points"], y=keys), affinity, model=affinity)


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT.features", on=ANY, corrected=kernel_of_features)
def relu(x: Tokens) -> Reading:
    one, negative = float64([[1.0]]).to(x.device), -x["t"].abs()
    return x.reading(x.point(t=negative), listing=models.relu_features(negative.reshape(1, 1), one)[0, 0])


def rescaled_without_guard(x: Tokens) -> Reading:
    scale = 1 + float(x["g"][0])
    closed = linear.linear_attention(scale * x["X"], scale * x["Y"], x["V"][:, None])[:, 0]
    return x.reading(x.point("X", "Y", "V", s=scale), x["V"], scale, model=linear_output(x, 0.0, scale), closed_form=closed)


@confirms(Layer.TORCH, "transport.listing.LinearAttentionAsOT.stable", on=ANY, corrected=rescaled_without_guard)
def small_features(x: Tokens) -> Reading:
    return x.reading(x.point("X", "Y", "V", s=1e-4), x["V"], listing=linear_output(x, models.GUARD, 1e-4))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def features(drawn: ConicBatch) -> tuple[Array, Array]:
    """Features max(W x, 0) with a little added, so that the kernel is positive."""
    return np.maximum(drawn.queries, 0) + 0.2, np.maximum(drawn.keys, 0) + 0.2


def conic_kernel_plan(drawn: ConicBatch) -> Reading:
    """The plan for the cost −log κ at ε = 1."""
    query, key = features(drawn)
    affinity = query @ key.T
    solution = matrix.solve(np.log(affinity), 1.0)
    assert solution.certified, f"the solver left a gap of {solution.gap} with status {solution.status}"
    point = drawn.point() | {"G": float64(affinity)}
    return Reading(point, {"cvxpy": float64(solution.plan)}, tolerances.plan_from_gap(solution.gap, 1.0))


@confirms(Layer.PRIMAL, "transport.listing.LinearAttentionAsOT.plan", on=conic_batches(), corrected=conic_kernel_plan)
def kernel_plan_of_small_features(drawn: ConicBatch) -> Reading:
    """The same plan, as a factor does not change it, against what the listing makes of features 1e4 times as small."""
    query, key = features(drawn)
    base = conic_kernel_plan(drawn)
    point: dict[str, Value] = {"n": drawn.n, "m": drawn.m, "w": 2, "X": float64(1e-4 * query), "Y": float64(1e-4 * key)}
    return Reading(point, base.routes, base.tolerance)
