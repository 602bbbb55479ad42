"""Votes on: Positive random features: exact covariances, and how far linear attention by them is off on average."""

from collections.abc import Mapping

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Value, choose, confirms
from evidence.beyond.search import Free, Problem, sought
from evidence.beyond.stability import shares
from numerics import linear, tolerances

Values = Mapping[str, Tensor]
NODES = 60
"""Of the Gauss–Hermite rule; exact to rounding for exponentials of at most three times ω."""


def moments(query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """E f_j and E f_j f_k of positive features by a quadrature rule over ω, in two dimensions."""
    points, weights = (torch.from_numpy(x) for x in np.polynomial.hermite_e.hermegauss(NODES))
    omega, mass = torch.cartesian_prod(points, points), torch.outer(weights, weights).flatten()
    mass = mass / mass.sum()
    vectors = torch.cat([query[None], keys])
    features = (omega @ vectors.T - vectors.square().sum(-1) / 2).exp()
    each = features[:, :1] * features[:, 1:]
    return mass @ each, torch.einsum("o,oj,ok->jk", mass, each, each)


@confirms(Layer.TORCH, "beyond.feature-covariance", on=choose(m=st.integers(1, 3), seed=st.integers(0, 2**31)), count=16)
def by_quadrature(drawn: dict[str, int]) -> Reading:
    generator = torch.Generator().manual_seed(drawn["seed"])
    vectors = 0.6 * torch.randn(drawn["m"] + 1, 2, generator=generator, dtype=torch.float64).tanh()
    query, keys = vectors[0], vectors[1:]
    mean, second = moments(query, keys)
    covariance = second - mean[:, None] * mean[None, :]
    closed = covariance.clone()
    closed.diagonal().copy_(linear.kernel_variance(query[None], keys, 1)[0])
    point: dict[str, Value] = {"m": drawn["m"], "d": 2, "Q": query, "K": keys}
    return Reading(
        point,
        {"quadrature": covariance, "its diagonal by the closed form": closed},
        tolerances.rounding("float64", NODES**2, 1e3),
    )


@confirms(
    Layer.TORCH, "beyond.ratio-bias", on=choose(m=st.integers(1, 3), N=st.integers(1, 4), seed=st.integers(0, 2**31)), count=16
)
def over_outcomes(drawn: dict[str, int]) -> Reading:
    generator = torch.Generator().manual_seed(drawn["seed"])
    features = torch.randn(drawn["N"], drawn["m"], generator=generator, dtype=torch.float64).exp()
    p = torch.softmax(torch.randn(drawn["N"], generator=generator, dtype=torch.float64), -1)
    values = torch.randn(drawn["m"], generator=generator, dtype=torch.float64)
    one, by_outcome = torch.ones(drawn["N"], 1, 1, dtype=torch.float64), values[:, None].expand(drawn["N"], -1, 1)
    outputs = linear.linear_attention(one, features[..., None], by_outcome)[:, 0, 0]
    deviation = p @ outputs - (p @ features @ values) / (p @ features).sum()
    point: dict[str, Value] = {"m": drawn["m"], "N": drawn["N"], "F": features, "p": p, "V": values}
    return Reading(point, {"outcomes": deviation}, tolerances.rounding("float64", drawn["N"] * drawn["m"], 100.0))


def bias_values(free: Free) -> Values:
    """Outcomes with their normalizers and outputs."""
    return {
        "p": torch.softmax(free["p"], -1),
        "Z": torch.tanh(free["Z"]).exp(),
        "g": shares(free["g"]),
        "L": torch.tanh(free["L"]).exp(),
        "c": torch.tanh(free["c"]),
    }


def bias_sides(x: Values) -> tuple[Tensor, Tensor]:
    """(L²/4) Var(Z)/E[Z]², and the squared bias of the quotient."""
    p, normalizers, outputs = x["p"], x["Z"], x["c"][:, None] + x["L"][:, None] * x["g"][..., 0]
    mean = (p * normalizers).sum(-1)
    variance = (p * (normalizers - mean[:, None]).square()).sum(-1)
    deviation = (p * outputs).sum(-1) - (p * normalizers * outputs).sum(-1) / mean
    return x["L"] ** 2 / 4 * variance / mean**2, deviation.square()


BIAS = Problem(
    lambda m: {"p": (m,), "Z": (m,), "g": (m,), "L": (), "c": ()},
    bias_values,
    bias_sides,
    least=1e-3,
    counts=lambda m: {"N": m, "M": 2},
)


VOTES = [sought("beyond.ratio-bias-bound", BIAS)]
