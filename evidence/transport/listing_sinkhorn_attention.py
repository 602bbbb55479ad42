"""Votes on: The listing `sinkhorn_attention`."""

import math

import pytest
import torch
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.transport import listings as models
from evidence.transport.listing import ANY, PAIRS, SEVERAL, SQUARE, Tokens
from numerics import tolerances, transport


def tokens_with(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys in a batch of one that have these scores, which are square."""
    n = scores.shape[-1]
    return scores[None] * math.sqrt(n), torch.eye(n, dtype=torch.float64, device=scores.device)[None]


def attention_plan(
    x: Tokens, rounds: int, guard: float = models.GUARD, start: Tensor | None = None, shift: float = 0.0
) -> Tensor:
    """γ for the scores O in float64; the start is handed in, as the printed one has another dtype."""
    initial = torch.full_like(x["O"][0], 1 / x.n) if start is None else start
    return models.sinkhorn_attention_plan(*tokens_with(x["O"] + shift), x.epsilon, rounds, guard, initial[None])[0]


def repaired_rows(x: Tokens) -> Reading:
    solution = transport.sinkhorn(-x["O"], temperature=x.epsilon)
    scaling = (solution.column_potential / x.epsilon).exp()
    rows = transport.sinkhorn_weights(x["O"], x.epsilon, math.inf).sum(-1)
    return x.reading(x.point(S=x["O"], v=scaling), 1e3, replacement=rows, solver=x.n * solution.plan.sum(-1))


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention", on=PAIRS, corrected=repaired_rows)
def rows_of_sinkhorn_attention(x: Tokens) -> Reading:
    """As printed: float32, its own start, ten rounds."""
    query, key = (part.float() for part in tokens_with(x["O"]))
    plan = models.sinkhorn_attention_plan(query, key, x.epsilon)[0].double()
    start = models.start_of_keys(query)[0].double()
    return Reading(x.point(S=x["O"], b=start), {"listing": plan.sum(-1)}, tolerances.plan("float32", x.n, 8.0))


def half_a_round(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), 10, replacement=transport.sinkhorn_weights(x["O"], x.epsilon, 0))


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.one-iteration", on=PAIRS, corrected=half_a_round)
def one_round(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), listing=attention_plan(x, 1))


def columns_of_a_round(x: Tokens) -> Reading:
    return x.reading(x.point(v=x["start"], S=x["O"]), 10, model=attention_plan(x, 1, 0.0, x["start"]).sum(0))


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.marginals", on=PAIRS, corrected=columns_of_a_round)
def columns_of_attention(x: Tokens) -> Reading:
    return x.reading(x.point(S=x["O"]), listing=attention_plan(x, 10).sum(0))


def lifted_without_guard(x: Tokens) -> Reading:
    plan = attention_plan(x, 1, 0.0, x["start"], float(x["t"]))
    return x.reading(x.point("t", S=x["O"], v=x["start"]), 1e2, model=plan)


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.shift", on=SQUARE, corrected=lifted_without_guard)
def lowered_with_guard(x: Tokens) -> Reading:
    shift = -25.0 * x.epsilon
    return x.reading(x.point(S=x["O"], v=x["start"], t=shift), listing=attention_plan(x, 1, models.GUARD, x["start"], shift))


def shares_of_a_key(x: Tokens) -> Reading:
    """Scores that overflow the kernel in float32, in the log domain."""
    scores = (x["O"] + 100 * x.epsilon).float()
    logits = x["start"].log()[:, None] + scores.double() / x.epsilon
    return Reading(
        x.point(S=scores.double(), phi=x["start"].log()),
        {"log domain": torch.softmax(logits.float(), 0).double()},
        tolerances.plan("float32", x.n, float(logits.abs().max())),
        "right",
    )


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.overflow", on=ANY, corrected=shares_of_a_key)
def kernel_in_float32(x: Tokens) -> Reading:
    """The listing returns NaN; the intended kernel is computed in float64."""
    scores = x["O"] + 100 * x.epsilon
    query, key = (part.float() for part in tokens_with(scores))
    assert bool(models.sinkhorn_attention_plan(query, key, x.epsilon).isnan().any())
    exact = models.kernel(-scores, x.epsilon)
    return Reading(x.point(S=scores), {"listing": exact}, tolerances.rounding("float64", 1, 200 * float(exact.max())), "right")


def started(x: Tokens, *shape: int) -> Reading:
    """How long b is, for queries of this shape; there are more heads than tokens, as equal numbers go through."""
    start = models.start_of_keys(torch.zeros(*shape, x.n, 2, device=x.device))
    return Reading({"H": x.n + x.m, "N": x.n}, {"listing": float64(start.shape[-1])}, tolerances.rounding("float64", 1))


def tokens_of_a_head(x: Tokens) -> Reading:
    return started(x, 2 * (x.n + x.m))


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.heads", on=SEVERAL, corrected=tokens_of_a_head)
def heads_for_tokens(x: Tokens) -> Reading:
    query = torch.zeros(2, x.n + x.m, x.n, 2, device=x.device)
    with pytest.raises(RuntimeError):
        models.sinkhorn_attention(query, query, query)
    return started(x, 2, x.n + x.m)


def typed(x: Tokens) -> tuple[Tensor, Tensor, int]:
    """Queries and keys in one of three dtypes, and its bits."""
    dtype = (torch.float64, torch.float16, torch.bfloat16)[x.seed % 3]
    query, key = (part.to(dtype) for part in tokens_with(x["O"]))
    return query, key, 8 * query.element_size()


def start_in_the_dtype(x: Tokens) -> Reading:
    query, key, bits = typed(x)
    plan = models.sinkhorn_attention_plan(query, key, x.epsilon, 1, start=models.start_of_keys(query).to(query.dtype))
    return Reading({"bits": bits}, {"repaired": float64(8 * plan.element_size())}, tolerances.rounding("float64", 1))


@confirms(Layer.TORCH, "transport.listing.sinkhorn_attention.dtype", on=SQUARE, corrected=start_in_the_dtype)
def start_in_float32(x: Tokens) -> Reading:
    query, key, bits = typed(x)
    with pytest.raises(RuntimeError):
        models.sinkhorn_attention_plan(query, key, x.epsilon)
    return Reading(
        {"bits": bits}, {"listing": float64(8 * models.start_of_keys(query).element_size())}, tolerances.rounding("float64", 1)
    )
