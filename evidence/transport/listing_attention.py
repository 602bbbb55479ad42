"""Votes on: The listing `AttentionAsOT`."""

import math

import torch
from torch import Tensor

from evidence import Layer, Reading, Value, confirms, float64
from evidence.eot.conic_appendix import ConicBatch, conic_batches
from evidence.transport import listings as models
from evidence.transport.listing import ANY, PAIRS, SEVERAL, Tokens
from numerics import one_sided, tolerances


def listed_weights(query: Tensor, key: Tensor, epsilon: float) -> Tensor:
    """The weights of the model's module."""
    return models.AttentionAsOT(1, 1, epsilon).weights(query, key)


@confirms(Layer.TORCH, "transport.listing.AttentionAsOT", on=ANY)
def row_softmax(x: Tokens) -> Reading:
    scores = models.similarities(x["Q"], x["K"])
    return x.reading(
        x.point(S=scores),
        scores,
        listing=listed_weights(x["Q"], x["K"], x.epsilon),
        closed_form=one_sided.plan(scores, x.epsilon),
    )


@confirms(Layer.TORCH, "transport.listing.AttentionAsOT.standard", on=ANY, count=12)
def multi_head(x: Tokens) -> Reading:
    """The module and torch's own one with its projections, (coordinate, token)."""
    heads, width, tokens = 1 + x.seed % 2, x.m, x.n
    wide = heads * width
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(x.seed)
        module = models.AttentionAsOT(wide, heads).double()
        library = torch.nn.MultiheadAttention(wide, heads, batch_first=True).double()
        inputs = torch.randn(tokens, wide, dtype=torch.float64)
    parts = (module.query, module.key, module.value)
    with torch.no_grad():
        library.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        library.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
        library.out_proj.load_state_dict(module.output.state_dict())
        routes = {"listing": module(inputs[None])[0].T, "library": library(inputs[None], inputs[None], inputs[None])[0][0].T}
    named = {f"W{name}": part.weight.detach().view(heads, width, wide) for name, part in zip("QKV", parts, strict=True)}
    named |= {f"b{name}": part.bias.detach().view(heads, width) for name, part in zip("QKV", parts, strict=True)}
    output = {"WO": module.output.weight.detach().view(wide, heads, width), "bO": module.output.bias.detach()}
    point: dict[str, Value] = {"N": tokens, "H": heads, "g": width, "D": wide, "X": inputs, **named, **output}
    return Reading(point, routes, tolerances.rounding("float64", tokens * wide**2, 64.0))


def odds_in_a_row(x: Tokens) -> Reading:
    plan = torch.softmax(x["S"] / x.epsilon, -1)
    return x.reading(x.point("S"), 10, listing=plan[:, :, None] / plan[:, None, :])


@confirms(Layer.TORCH, "transport.listing.AttentionAsOT.sorting", on=PAIRS, corrected=odds_in_a_row)
def columns_at_low_temperature(x: Tokens) -> Reading:
    eye = torch.eye(x.m, dtype=torch.float64, device=x.device)
    return x.reading(x.point("S"), listing=listed_weights(math.sqrt(x.m) * x["S"], eye, 1e-3).sum(0))


def all_heads(x: Tokens) -> Reading:
    module = models.AttentionAsOT(x.n * x.m, x.n)
    split_heads = module.split(torch.zeros(1, 3, x.n * x.m))
    return Reading({"N": 3, "H": x.n, "g": x.m}, {"listing": float64(split_heads.numel())}, tolerances.rounding("float64", 1))


@confirms(Layer.TORCH, "transport.listing.AttentionAsOT.heads", on=SEVERAL, corrected=all_heads)
def heads_and_a_rest(x: Tokens) -> Reading:
    module = models.AttentionAsOT(x.n * x.m + 1, x.n)
    return Reading(
        {"d_model": x.n * x.m + 1, "H": module.heads, "g": module.width},
        {"listing": float64(module.heads * module.width)},
        tolerances.rounding("float64", 1),
    )


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.listing.AttentionAsOT", on=conic_batches())
def attention(drawn: ConicBatch) -> Reading:
    solution = drawn.solved()
    point = drawn.point() | {"S": float64(drawn.scores)}
    return Reading(point, {"cvxpy": float64(solution.plan)}, drawn.error(solution))
