"""The temperature of scaled dot-product attention as PyTorch ships it."""

import sympy as sp
import torch
from torch.nn.functional import scaled_dot_product_attention

from derivations.documents.eot.appendix_a_matrix import shipped
from derivations.documents.eot.notation import d
from derivations.relations import Equation
from evidence import Finding, Layer, Reading, Run, float64, hold
from numerics import tolerances

WIDTHS = (1, 2, 16, 64, 128)


def default_temperature(width: int) -> float:
    """The temperature at which the library's weights are a softmax: s_0 − s_1 over log p_0 − log p_1."""
    query, keys = torch.zeros(1, width, dtype=torch.float64), torch.zeros(2, width, dtype=torch.float64)
    query[0, 0], keys[0, 0] = 1.0, 1.0
    weights = scaled_dot_product_attention(query, keys, torch.eye(2, dtype=torch.float64))[0]
    return 1.0 / float(weights[0].log() - weights[1].log())


def typical_temperature(claim: str, run: Run) -> Finding:
    """√d for keys of width d."""
    scales = {width: default_temperature(width) for width in WIDTHS}
    readings = [
        Reading(
            {d.name: width, shipped.name: temperature},
            {"torch": float64(temperature)},
            tolerances.rounding("float64", width, float(width) ** 1.5),
        )
        for width, temperature in scales.items()
    ]
    vote = hold(claim, Layer.SOURCE, readings, statement=Equation(shipped, sp.sqrt(d)))
    return Finding(
        vote.outcome,
        f"torch {torch.__version__}: scaled_dot_product_attention with its default scale, widths {WIDTHS}",
        vote.why_not or "; ".join(f"width {width}: {temperature:.6g}" for width, temperature in scales.items()),
        refuted_twins=vote.refuted,
    )
