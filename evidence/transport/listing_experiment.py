"""Votes on: The listings `OTAttentionExperiment` and `run_ot_attention_experiment`."""

import math

import torch
from torch import Tensor, nn

from evidence import Finding, Layer, Outcome, Reading, Run, confirms, observes
from evidence.transport import listings as models
from evidence.transport.listing import PAIRS, SEVERAL, Tokens
from numerics import one_sided


def heads_of(x: Tokens) -> Tensor:
    """Weights of n heads for one query."""
    return torch.softmax(x["S"] / x.epsilon, -1)


def mean_head(x: Tokens) -> Reading:
    return x.reading(x.point(H=x.n, A=heads_of(x)), closed_form=one_sided.entropy(heads_of(x).mean(0)))


@confirms(Layer.TORCH, "transport.listing.OTAttentionExperiment", on=PAIRS, corrected=mean_head)
def entropy_of_averaged_weights(x: Tokens) -> Reading:
    weights = torch.softmax(4 * torch.eye(x.n, dtype=torch.float64), -1)
    return Reading(x.point(H=x.n, A=weights), {"listing": models.row_entropies(weights.mean(0))}, 10 * x.m * models.GUARD)


def outputs(x: Tokens, other: float) -> Reading:
    """Both modules, of width 1, on the same tokens; the second one's projection of values is moved."""
    standard = nn.MultiheadAttention(1, 1, batch_first=True).to(x["V"])
    second_module = models.OptimalTransportAttention(1, 1).to(x["V"])
    with torch.no_grad():
        standard.in_proj_weight.copy_(torch.stack([x["x"][:1], x["y"][:1], x["w"].reshape(1)]))
        for bias in (standard.in_proj_bias, standard.out_proj.bias):
            bias.zero_()
        standard.out_proj.weight.fill_(1.0)
        models.share_projections(standard, second_module)
        second_module.value.weight.add_(other)
        seen = x["V"][None, :, None]
        first, weights = standard(seen, seen, seen)
        second, others = second_module(seen, seen, seen)
    point = x.point("w", P=weights[0, 0], B=others[0, 0, 0], X=x["V"], y=x["w"] + other)
    return x.reading(point, x["V"], x["w"] + other, modules=(first - second)[0, 0, 0])


@confirms(Layer.TORCH, "transport.listing.run_ot_attention_experiment", on=SEVERAL, corrected=lambda x: outputs(x, 0.0))
def independent_outputs(x: Tokens) -> Reading:
    return outputs(x, 1 + float(x["g"][0]))


@observes(Layer.TORCH, "transport.listing.run_ot_attention_experiment.printed")
def printed(claim: str, run: Run) -> Finding:
    report = models.run_experiment()
    gap = max(abs(each.transport_entropy - math.log(32)) for each in (report, *map(models.run_experiment, range(3))))
    return Finding(
        Outcome.HOLDS if report.shape == (4, 32, 128) else Outcome.REFUTED,
        "seed 42 as printed and three more seeds",
        "there is no task, only random tokens; "
        f"entropies {report.standard_entropy:.4f} (averaged over heads) and {report.transport_entropy:.4f} (each head), "
        f"shape {report.shape}, outputs close: {report.close}; the second is log 32 = {math.log(32):.4f} to {gap:.0e}: the "
        "iterations have made every row uniform; outputs of modules with independent weights are never close",
    )
